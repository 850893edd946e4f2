"""Exciting motions: periodic motions within limits, from which parameters can be identified.

Sources: J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter & H. Van Brussel, Optimal robot
excitation and identification, IEEE Transactions on Robotics and Automation 13 (1997), for the
determinant as a measure; M. Gautier & W. Khalil, Exciting trajectories for the identification of
base inertial parameters of robots, Int. J. Robotics Research 11 (1992), for the condition number.
The curves are in `curves`.

    symbol    code    meaning
    q(t)      q       a Fourier series or a spline, with v = a = 0 at t = 0
    W         W       base regressor of all samples, one above the other
    J         goal    -log det(W^T W), or log cond(W), and penalties for limits

The gradient of J by W goes back to the coefficients through the compiled `vjp` of the regressor.
The search is SciPy's L-BFGS-B from a random start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinetree.errors import KinetreeError, among, unknown
from kinetree.identify.base import BaseParameters, base_parameters
from kinetree.identify.curves import CURVES, Curve
from kinetree.identify.parameters import FRICTION
from kinetree.kinds import mapping
from kinetree.model.parameters import FIVE
from kinetree.robot.checks import count, number
from kinetree.robot.core import check_robot
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

CRITERIA = ("determinant", "condition")
MARGIN = 0.95
"""The fraction of each limit that a motion may use."""
FAR, FAST = 1.5, 2.0
"""rad (or m) and rad/s (or m/s): the range and speed of joints without limits."""
PENALTIES = (1e1, 1e3, 1e5)
Box = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Excitation:
    """A periodic motion.

    Arguments:
        robot: what moves.
        curve: the basis functions of each coordinate.
        coefficients: of the basis functions, (count, nv).
        condition: the condition number of the base regressor along the motion, with columns of
            length one.
    """

    robot: Robot
    curve: Curve
    coefficients: Array
    condition: float

    @property
    def duration(self) -> float:
        """The period, s."""
        return self.curve.duration

    def __call__(self, time: Array | float) -> tuple[Array, Array, Array]:
        """q, v and a at times.

        Arguments:
            time: s, (...); the motion repeats after `duration`.

        Returns:
            (..., nv) each.
        """
        basis = self.curve.basis(np.asarray(time, float))
        q, v, a = (part @ self.coefficients for part in basis)
        return q, v, a


def exciting_motion(
    robot: Robot,
    duration: float = 10.0,
    harmonics: int = 5,
    *,
    curve: Literal["fourier", "spline"] = "fourier",
    drives: Sequence[str] = FRICTION,
    criterion: Literal["determinant", "condition"] = "determinant",
    workspace: Mapping[str, Box] | None = None,
    samples: int = 100,
    iterations: int = 40,
    seed: int = 0,
) -> Excitation:
    """A motion within the robot's limits from which its parameters can be identified well.

    Arguments:
        robot: with a fixed base and one coordinate for each velocity. Positions, velocities and
            forces stay within its limits; a joint without limits has 1.5 rad (or m) and 2 rad/s (or
            m/s).
        duration: the period, s. It starts and ends at rest.
        harmonics: the number of multiples of 1 / duration, two or more. A spline has as many free
            coefficients.
        curve: "fourier", a finite Fourier series, whose frequencies are known; or "spline", a
            B-spline of degree 5, which uses the range of joints better.
        drives: which numbers of the drives are to be identified, too.
        criterion: what is minimised: "determinant" (the volume of the parameters' uncertainty) or
            "condition" (the condition number of the regressor).
        workspace: maps frames to the corners (lower, upper) of a box in the world, m, in which
            their origins stay; infinite where there is no wall.
        samples: the number of times at which the motion is judged during optimisation.
        iterations: of the optimiser, for each of three penalty weights.
        seed: for the random start.

    Returns:
        The motion, with the condition number of the base regressor along it.
    """
    check_robot(robot)
    if not among(criterion, CRITERIA):
        raise unknown("criterion", criterion, CRITERIA, "exciting_motion")
    if not among(curve, CURVES):
        raise unknown("curve", curve, CURVES, "exciting_motion")
    duration = number("duration", duration, above=0.0)
    harmonics = count("harmonics", harmonics, 2)  # fewer cannot start at rest
    samples, iterations = count("samples", samples, 1), count("iterations", iterations, 0)
    seed = count("seed", seed, 0)
    if robot.nq != robot.nv:
        free = next(b.joint_name for b in robot.model.bodies if b.joint.nq != b.joint.nv)
        raise KinetreeError(
            f"exciting_motion: joint {free!r} is free, so no drive can make it follow a motion; "
            "fix the base, or excite robot.edit.subtree(...)"
        )
    boxes = mapping("workspace", workspace, "boxes by the names of frames")
    chosen = CURVES[curve](duration, harmonics)
    search = _Search(robot, chosen, drives, criterion, boxes, samples)
    best = search.start(np.random.default_rng(seed))
    minimize = import_module("scipy.optimize").minimize
    for penalty in PENALTIES:
        options = {"maxiter": iterations}
        found = minimize(search.goal, best, (penalty,), "L-BFGS-B", jac=True, options=options)
        best = found.x
    coefficients = search.within(best)
    return Excitation(robot, chosen, coefficients, search.condition(coefficients))


def _check_limits(robot: Robot) -> None:
    """Refuse limits that leave a joint no motion or no force, such as zeros of a CAD exporter."""
    limits = robot.limits
    ranges = limits.upper - limits.lower
    for what, sizes in (
        ("range", ranges),
        ("velocity limit", limits.velocity),
        ("effort limit", limits.effort),
    ):
        for k in np.flatnonzero(~(sizes > 0.0))[:1]:
            raise KinetreeError(
                f"exciting_motion: the {what} of joint {robot.labels.v[k]!r} is {sizes[k]:g}, so "
                "the joint cannot move: correct the limit in the robot file, or remove it"
            )


class _Search:
    """The goal and its gradient, as a function of free coefficients x."""

    def __init__(
        self,
        robot: Robot,
        curve: Curve,
        drives: Sequence[str],
        criterion: str,
        workspace: Mapping[str, Box],
        samples: int,
    ) -> None:
        self.robot, self.criterion = robot, criterion
        self.base: BaseParameters = base_parameters(robot, drives=drives)
        if samples * robot.nv < len(self.base):
            raise KinetreeError(
                f"samples={samples}: they give {samples * robot.nv} forces, too few for "
                f"{len(self.base)} base parameters"
            )
        time = np.arange(samples) * (curve.duration / samples)
        self.basis = curve.basis(time)
        self.rest = curve.rest  # coefficients = rest @ x
        self.boxes = {name: _corners(name, box) for name, box in workspace.items()}
        limits = robot.limits
        _check_limits(robot)
        bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        lower, upper = np.where(bounded, limits.lower, -FAR), np.where(bounded, limits.upper, FAR)
        self.middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        speed = np.where(np.isfinite(limits.velocity), limits.velocity, FAST)
        self.half, self.speed = MARGIN * half, MARGIN * speed
        self.effort = MARGIN * limits.effort

    def start(self, rng: np.random.Generator) -> Array:
        x = rng.standard_normal((self.rest.shape[1], self.robot.nv))
        x[0] = 0.0
        q, v, _ = self._motion(self._coefficients(x))
        size = np.maximum(np.abs(q - self.middle).max(axis=0) / self.half, 1e-12)
        fast = np.maximum(np.abs(v).max(axis=0) / self.speed, 1e-12)
        return (0.6 * x / np.maximum(size, fast)).ravel()

    def _coefficients(self, x: Array) -> Array:
        return self.rest @ x.reshape(-1, self.robot.nv) + self.rest[:, :1] * self.middle

    def _motion(self, coefficients: Array) -> tuple[Array, Array, Array]:
        q, v, a = (part @ coefficients for part in self.basis)
        return q, v, a

    def goal(self, x: Array, penalty: float) -> tuple[float, Array]:
        """J and its gradient."""
        motion = self._motion(self._coefficients(x))
        value, slopes = self._information(motion)
        for part, by in self._violations(motion):
            value += penalty * part
            slopes = [s + penalty * g for s, g in zip(slopes, by, strict=True)]
        pairs = zip(self.basis, slopes, strict=True)
        gradient = self.rest.T @ sum(part.T @ slope for part, slope in pairs)
        return value, gradient.ravel()

    def _regressor(self, motion: Sequence[Array]) -> Array:
        """W with a row for each sample and velocity, (samples, nv, nb)."""
        parameters, pivots = self.base.parameters, self.base.pivots
        n = parameters.inertial_count
        Y = self.robot.regressor(*motion)[..., pivots[pivots < n]]
        if not parameters.drives:
            return Y
        D = self.robot.regressors.drive(*motion)
        of_drives = np.zeros((*Y.shape[:2], int((pivots >= n).sum())))
        for column, k, which in self._drive_columns():
            of_drives[:, k, column] = D[:, k, FIVE.index(which)]
        return np.concatenate([Y, of_drives], axis=-1)

    def _drive_columns(self) -> Iterator[tuple[int, int, str]]:
        """Columns of W after the inertial ones, the velocities they act on, and their numbers."""
        parameters, pivots = self.base.parameters, self.base.pivots
        n, drives = parameters.inertial_count, parameters.drives
        for column, place in enumerate(pivots[pivots >= n] - n):
            joint, which = divmod(int(place), len(drives))
            yield from (
                (column, k, drives[which]) for k, j in parameters.drive_of.items() if j == joint
            )

    def _information(self, motion: Sequence[Array]) -> tuple[float, list[Array]]:
        """The criterion, and its derivatives by q, v and a; the signs of v count as constant."""
        W = self._regressor(motion)
        flat = W.reshape(-1, W.shape[-1])
        u, s, vt = np.linalg.svd(flat, full_matrices=False)
        s = np.maximum(s, 1e-12 * s[0])
        if self.criterion == "determinant":
            value, by = -2.0 * float(np.log(s).sum()), -2.0 * (u / s) @ vt
        else:
            value = float(np.log(s[0] / s[-1]))
            by = np.outer(u[:, 0], vt[0]) / s[0] - np.outer(u[:, -1], vt[-1]) / s[-1]
        return value, self._back(motion, by.reshape(W.shape))

    def _back(self, motion: Sequence[Array], by: Array) -> list[Array]:
        parameters, pivots = self.base.parameters, self.base.pivots
        n = parameters.inertial_count
        inertial = pivots < n
        whole = np.zeros((*by.shape[:2], n))
        whole[..., pivots[inertial]] = by[..., inertial]
        slopes = list(self.robot.kernel("regressor").vjp()(*motion, whole))
        first = int(inertial.sum())
        for column, k, which in self._drive_columns():
            at = {"stiffness": 0, "damping": 1, "armature": 2}.get(which)
            if at is not None:
                slopes[at][:, k] += by[:, k, first + column]
        return slopes

    def _violations(self, motion: Sequence[Array]) -> list[tuple[float, list[Array]]]:
        """Mean squares of the excess beyond the limits, with derivatives by q, v and a."""
        q, v, a = motion
        none = np.zeros_like(q)
        far, by_q = _excess((q - self.middle) / self.half)
        fast, by_v = _excess(v / self.speed)
        found = [(far, [by_q / self.half, none, none]), (fast, [none, by_v / self.speed, none])]
        if np.isfinite(self.effort).any():
            strong, by_tau = _excess(self.robot.inverse_dynamics(q, v, a) / self.effort)
            back = self.robot.kernel("inverse_dynamics").vjp()(q, v, a, by_tau / self.effort)
            found.append((strong, list(back)))
        for frame, (lower, upper) in self.boxes.items():
            found.append(self._outside(frame, lower, upper, q))
        return found

    def _outside(
        self, frame: str, lower: Array, upper: Array, q: Array
    ) -> tuple[float, list[Array]]:
        point = self.robot.pose(q, frame)[:, :3, 3]
        over = np.maximum(point - upper, 0.0) - np.maximum(lower - point, 0.0)
        weight = np.zeros((len(q), 4, 4))
        weight[:, :3, 3] = 2.0 * over / len(q) * 100.0  # per dm
        by_q: Any = self.robot.kernel("pose", frame=frame).vjp()(q, weight)
        slope = by_q[0] if isinstance(by_q, tuple) else by_q
        none = np.zeros_like(q)
        return float((over**2).sum() / len(q) * 100.0), [slope, none, none]

    def within(self, x: Array) -> Array:
        """Coefficients of the motion, scaled down about its mean until no limit is exceeded."""
        free = x.reshape(-1, self.robot.nv).copy()
        free[0] = np.clip(free[0], -0.9 * self.half, 0.9 * self.half)
        for _ in range(60):
            coefficients = self._coefficients(free)
            motion = self._motion(coefficients)
            if all(part <= 0.0 for part, _ in self._violations(motion)):
                return coefficients
            free[1:] *= 0.95
        where = np.round(free[0] + self.middle, 3).tolist()
        raise KinetreeError(
            "exciting_motion: no motion was found within the force limits and the workspace; a "
            f"limit is exceeded even at rest at {where}"
        )

    def condition(self, coefficients: Array) -> float:
        W = self._regressor(self._motion(coefficients))
        flat = W.reshape(-1, W.shape[-1])
        length = np.linalg.norm(flat, axis=0)
        return float(np.linalg.cond(flat / np.maximum(length, 1e-300)))


def _corners(frame: str, box: Any) -> Array:
    """The corners of a box, (2, 3)."""
    try:
        corners = np.asarray(box, float)
    except (TypeError, ValueError, OverflowError):
        corners = np.zeros(0)
    if corners.shape != (2, 3) or not (corners[0] <= corners[1]).all():
        raise KinetreeError(
            f"workspace of {frame!r}: two corners, the lower one first, are expected, got {box!r}"
        )
    return corners


def _excess(ratio: Array) -> tuple[float, Array]:
    """The mean square of the excess beyond -1 and 1, and its derivative."""
    over = np.where(np.isfinite(ratio), np.sign(ratio) * np.maximum(np.abs(ratio) - 1.0, 0.0), 0.0)
    return float((over**2).mean()), 2.0 * over / over.size
