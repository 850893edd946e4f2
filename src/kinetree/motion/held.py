"""A frame that is held: the error of its pose as a constraint, or as a cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.algorithms import frame_pose
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.control.pose import pose_error
from kinetree.model import Model
from kinetree.motion.arrays import Array
from kinetree.motion.terms import Constraint, Sampled, State
from kinetree.scalar import Scalar

if TYPE_CHECKING:
    from kinetree.robot import Robot


class Held(Constraint):
    """A frame held at a pose, or along a path of poses.

    Arguments:
        error: gives the error from q and seven numbers of a target; see `frame_error`.
        frame: its name.
        target: seven numbers at each sample, (*samples, 7), or the same for all.
        rows: 3 for the position, 6 for the whole pose.
        inside: the samples at which it counts, of their shape.
        weight: None if it is a constraint; else that of the squared error.
        slack: the allowed error of a constraint, m and rad.
        scale: the error that counts as one, m and rad.
    """

    exact = True

    def __init__(
        self,
        error: Kernel,
        frame: str,
        target: Array,
        rows: int,
        inside: Array,
        weight: float | None = None,
        slack: float = 0.0,
        scale: float = 0.1,
    ) -> None:
        self.name, self.labels = f"frame {frame!r}", ("x", "y", "z", "rx", "ry", "rz")[:rows]
        self.target, self.inside, self.weight = target, inside, weight
        self.scale = np.full(rows, scale)
        within = np.where(inside[..., None], slack / scale, np.inf) * np.ones(rows)
        self._limits, self._error = (-within, within), error

    def _targets(self, which: Array) -> Array:
        """The targets of some problems."""
        many = self.target.ndim == 4 and len(self.target) > 1
        return self.target[which] if many else self.target

    def bounds(self) -> tuple[Array, Array]:
        return self._limits

    def measured(self, state: State, which: Array) -> Array:
        return self._error(state.q, self._targets(which))

    def slopes(self, state: State, which: Array) -> dict[str, Array]:
        return {"q": self._error.jacobian("q")(state.q, self._targets(which))}

    def _parts(self, x: Array, which: Array) -> tuple[Array, Array, Array]:
        if self.weight is None:
            return self._elements(x, which)
        share = np.where(self.inside[..., None], self.weight * self.scale**2, 0.0)
        return share * x**2, 2.0 * share * x, 2.0 * share * np.ones_like(x)

    def value(self, state: State, which: Array) -> Array:
        return self._parts(self.measured(state, which), which)[0].sum(axis=-1)

    def derivatives(self, state: State, which: Array) -> Sampled:
        return self._expanded(state, which, True)

    def approximate(self, state: State, which: Array) -> Sampled:
        return self._expanded(state, which, not self.kept)

    def _expanded(self, state: State, which: Array, exact: bool) -> Sampled:
        value, slope, curvature = self._parts(self.measured(state, which), which)
        J = self.slopes(state, which)["q"]
        second = J.swapaxes(-1, -2) @ (curvature[..., None] * J)
        if exact:
            bent = self._error.vjp("q").jacobian("q")(state.q, self._targets(which), slope)
            second += 0.5 * (bent + bent.swapaxes(-1, -2))
        first = (slope[..., None, :] @ J)[..., 0, :]
        return Sampled(value.sum(axis=-1), {"q": first}, {}, {("q", "q"): second})


def frame_error(robot: Robot, frame: str, rows: int, scale: float) -> Kernel:
    """The error of a frame, (rows,), as a kernel of q and the target's seven numbers.

    Arguments:
        robot: whose frame it is, with rates of coordinates as velocities.
        frame, rows, scale: as in `Held`.
    """

    def error(model: Model, q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
        return [-x / scale for x in pose_error(frame_pose(model, q, frame), p)[:rows]]

    return robot.custom_kernel(error, {"q": robot.nv, "p": 7}, f"error of {frame}")
