"""The ranges of ball joints as constraints of a transition, in rotation vectors.

symbol   code   meaning
M        M      the rotation from the middle of a range, its third axis the twist axis
N, A     p      M = N R A for the rotation R of the joint: 18 of the numbers p of a range
a, b     p      the largest swings, as 1 / sin(a/2)^2 and 1 / sin(b/2)^2

The rows are smooth where angles are not. With s of `model.limits`,

    swing    (s_x / sin(a/2))^2 + (s_y / sin(b/2))^2 - 1
    twist    the angle from the middle between its limits, over its range
    angle    (1 - cos angle) / (1 - cos most) - 1
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.algorithms.limited import limited_balls
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.model.limits import BallRange
from kinetree.motion.arrays import Array
from kinetree.motion.terms import Constraint, Sampled, State
from kinetree.scalar import Scalar, atan2
from kinetree.spatial import Rotation, Vector3

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel
    from kinetree.robot import Robot

NUMBERS = 23
"""The number of entries of p for one range."""
NAMES = ("swing", "twist", "angle")


def range_rows(
    joint: Joint, inverse: bool, q: Sequence[Scalar], p: Sequence[Scalar]
) -> list[Scalar]:
    """The three rows of a ball joint; see the module.

    Arguments:
        joint: in any chart.
        inverse: as in `BallRange`.
        q: its coordinates.
        p: of `numbers`.
    """
    R = joint.transform(q).rotation
    R = R.T if inverse else R
    N, A = (Rotation(*(Vector3(*p[k + 3 * i : k + 3 * i + 3]) for i in range(3))) for k in (0, 9))
    (xx, xy, x), (yx, yy, y), (_, _, z) = ((N @ R) @ A).rows
    swing = (y * y * p[18] + x * x * p[19]) / (2 * (1 + z)) - 1
    trace, sine, cosine = xx + yy + z, yx - xy, xx + yy
    twist = atan2(sine * p[21] - cosine * p[22], cosine * p[21] + sine * p[22])
    return [swing, twist, 0.5 * (3 - trace) * p[20] - 1]


def numbers(given: BallRange) -> list[float]:
    """p of a range, for `range_rows`."""
    N, A = given.axes.T @ given.middle.T, given.axes
    turns = [float(x) for R in (N, A) for row in R.rows for x in row]
    a, b = given.sines
    most = 1.0 - math.cos(given.angle) if given.has_angle else 1.0
    middle = given.middle_twist
    return [*turns, a**-2, b**-2, 1.0 / most, math.cos(middle), math.sin(middle)]


class BallRanges(Constraint):
    """The ranges of a robot's ball joints.

    Arguments:
        robot: in flat charts.
        original: the robot in its own charts, which has the ranges.
        kernels: kept for later transitions, by joint and direction.
        slack: the relative amount by which each range may be exceeded.
    """

    name = "range"

    def __init__(
        self,
        robot: Robot,
        original: Robot,
        kernels: dict[tuple[Joint, bool], Kernel],
        slack: float,
    ) -> None:
        model = original.model
        groups: dict[tuple[Joint, bool], list[int]] = {}
        for i in limited_balls(model):
            key = robot.model.bodies[i].joint, model.bodies[i].limits.ball.inverse  # type: ignore[union-attr]
            groups.setdefault(key, []).append(i)
        self._groups = []
        labels: list[str] = []
        lower: list[float] = []
        upper: list[float] = []
        scale: list[float] = []
        for key, bodies in groups.items():
            if key not in kernels:
                kernels[key] = _kernel(robot, *key)
            at = np.array([np.arange(robot.nv)[robot.model.v_slices[i]] for i in bodies])
            ranges = [model.bodies[i].limits.ball for i in bodies]
            p = np.array([numbers(given) for given in ranges if given is not None])
            self._groups.append((kernels[key], at, p))
            for i, given in zip(bodies, ranges, strict=True):
                assert given is not None
                low, high = (
                    x - given.middle_twist if abs(x) < math.pi else math.copysign(np.inf, x)
                    for x in given.twist
                )
                wide = high - low if np.isfinite(high - low) else 1.0
                labels += [f"{model.bodies[i].joint_name} {name}" for name in NAMES]
                lower += [-np.inf, low / wide - slack, -np.inf]
                bounded = given.has_swing, np.isfinite(high), given.has_angle
                ends = (slack, high / wide + slack, slack)
                upper += [end if yes else np.inf for end, yes in zip(ends, bounded, strict=True)]
                scale += [1.0, wide, 1.0]
        self.labels, self.scale = tuple(labels), np.array(scale)
        self._limits = np.array(lower), np.array(upper)

    def bounds(self) -> tuple[Array, Array]:
        return self._limits

    def measured(self, state: State, which: Array) -> Array:
        rows = [
            kernel(state.q[..., at], p).reshape(*state.q.shape[:-1], -1)
            for kernel, at, p in self._groups
        ]
        return np.concatenate(rows, axis=-1) / self.scale

    def value(self, state: State, which: Array) -> Array:
        return self._elements(self.measured(state, which), which)[0].sum(axis=-1)

    def derivatives(self, state: State, which: Array) -> Sampled:
        q, n = state.q, state.q.shape[-1]
        value, slope, curvature = self._elements(self.measured(state, which), which)
        first, second = np.zeros(q.shape), np.zeros((*q.shape, n))
        begin = 0
        for kernel, at, p in self._groups:
            rows = slice(begin, begin + len(NAMES) * len(at))
            begin = rows.stop
            shape = (*q.shape[:-1], len(at), len(NAMES))
            pull, bend = (
                (x[..., rows] / self.scale[rows] ** k).reshape(shape)
                for k, x in enumerate((slope, curvature), 1)
            )
            J = kernel.jacobian("q")(q[..., at], p)
            first[..., at] = (pull[..., None, :] @ J)[..., 0, :]
            bent = kernel.vjp("q").jacobian("q")(q[..., at], p, pull)
            bent = 0.5 * (bent + bent.swapaxes(-1, -2))
            bent = bent + J.swapaxes(-1, -2) @ (bend[..., None] * J)
            second[..., at[:, :, None], at[:, None, :]] = bent
        return Sampled(value.sum(axis=-1), {"q": first}, {}, {("q", "q"): second})


def _kernel(robot: Robot, joint: Joint, inverse: bool) -> Kernel:
    def rows(model: Model, q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
        return range_rows(joint, inverse, q, p)

    return robot.custom_kernel(rows, {"q": joint.nq, "p": NUMBERS}, "ranges of ball joints")
