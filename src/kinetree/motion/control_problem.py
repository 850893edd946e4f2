"""Optimal control problems: a robot's step, costs over scalars, bounds on controls.

symbol   code      meaning
x        q, v      state; derivatives by it are along (dq, dv), 2 nv numbers
u        u         forces of the joints that have motors
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.algorithms import difference, frame_pose
from kinetree.errors import KinetreeError, ShapeError, SimulationWarning
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.model.prepare import Preparation, prepared
from kinetree.motion.arrays import Array
from kinetree.scalar import Scalar, maximum, minimum
from kinetree.typing import ArrayLike, StepMethod

if TYPE_CHECKING:
    from kinetree.motion.ilqr import Controlled
    from kinetree.robot import Robot

COMPILED = 8
"""Up to so many velocities the backward pass is compiled."""
Cost = Callable[..., Any]
"""(t, q, v, tau, pose) over scalars, or of a final state (q, v, pose)."""


class Quadratic(NamedTuple):
    """Costs along a motion to second order: by x (2 nv) and u, the last axes theirs."""

    x: Array
    u: Array
    xx: Array
    ux: Array
    uu: Array


class ControlProblem:
    """Motions of a robot over some steps, and what they cost.

    Arguments:
        robot: what moves.
        cost: (t, q, v, tau, pose) over scalars, a second; pose is a function from a frame's name to
            its Transform.
        final: (q, v, pose) over scalars, of the last state; none if None.
        steps, dt: how many steps, and their length, s.
        method: of the step.
        actuated: which joints have motors, (nv,) of truth values; all if None.
        lower, upper: bounds of their forces, (nu,) or (nv,); by default the limits of the robot.
    """

    def __init__(
        self,
        robot: Robot,
        cost: Cost,
        final: Cost | None,
        steps: int,
        dt: float,
        method: StepMethod = "euler",
        actuated: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> None:
        if steps < 1 or not dt > 0.0:
            raise KinetreeError(
                f"steps={steps!r}, dt={dt!r}: a whole number of steps and a positive time are "
                "expected"
            )
        self.robot, self.steps, self.dt, self.method = robot, steps, float(dt), method
        drives = np.ones(robot.nv, bool) if actuated is None else np.asarray(actuated, bool)
        if drives.shape != (robot.nv,) or not drives.any():
            raise ShapeError(
                f"actuated has shape {drives.shape}; ({robot.nv},) is expected, one true"
            )
        self.motors = np.flatnonzero(drives)
        self.nu = len(self.motors)
        limit = np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)
        self.lower = self._bound("lower", -limit if lower is None else lower)
        self.upper = self._bound("upper", limit if upper is None else upper)
        if (self.lower > self.upper).any():
            i = int(np.argmax(self.lower > self.upper))
            raise KinetreeError(
                f"the lower bound of {robot.velocity_names[self.motors[i]]!r} is above the upper "
                f"one: {self.lower[i]:g} > {self.upper[i]:g}"
            )
        self._cost, self._final = cost, final

    def _bound(self, name: str, given: ArrayLike) -> Array:
        array = np.asarray(given, float)
        if array.ndim == 0:
            array = np.full(self.nu, float(array))
        if array.shape == (self.robot.nv,) and self.nu != self.robot.nv:
            array = array[self.motors]
        if array.shape != (self.nu,):
            raise ShapeError(f"{name} has shape {array.shape}; ({self.nu},) is expected")
        return array

    @property
    def bounded(self) -> bool:
        """Whether any control is bounded."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def forces(self, u: Array) -> Array:
        """Joint forces (..., nv) of controls (..., nu)."""
        if self.nu == self.robot.nv:
            return u
        tau = np.zeros((*u.shape[:-1], self.robot.nv))
        tau[..., self.motors] = u
        return tau

    def solve(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        u: ArrayLike | None = None,
        tolerance: float = 1e-9,
        iterations: int = 100,
        progress: Callable[[float], object] | None = None,
    ) -> Controlled:
        """The best controls from each of a batch of states, by the iterative regulator (iLQR).

        Arguments:
            q0, v0: states, (..., nq) and (..., nv).
            u: controls to start from, (..., steps, nu); those that hold the first state if None.
            tolerance: of the relative decrease in which a problem has converged.
            iterations: at most so many.
            progress: called with the least cost after each iteration.
        """
        from kinetree.motion.ilqr import ilqr

        return ilqr(self, q0, v0, u, tolerance, iterations, 0.0, progress)

    # costs

    @cached_property
    def _running(self) -> Any:
        n, nq = self.robot.nv, self.robot.nq

        def cost(model: Model, t: Scalar, q: Any, v: Any, tau: Any) -> Scalar:
            return self._cost(t, q, v, tau, lambda frame: frame_pose(model, q, frame))

        lengths = {"t": None, "q": nq, "v": n, "tau": n}
        return self.robot.custom_kernel(cost, lengths, "running_cost")

    @cached_property
    def _last(self) -> Any:
        def cost(model: Model, q: Any, v: Any) -> Scalar:
            if self._final is None:
                return 0.0 * q[0]
            return self._final(q, v, lambda frame: frame_pose(model, q, frame))

        return self.robot.custom_kernel(
            cost, {"q": self.robot.nq, "v": self.robot.nv}, "final_cost"
        )

    @cached_property
    def times(self) -> Array:
        """When each step starts, s, (steps,)."""
        return np.arange(self.steps) * self.dt

    def costs(self, q: Array, v: Array, u: Array, start: float = 0.0) -> Array:
        """The costs of motions: q (..., steps + 1, nq), v, u (..., steps, nu) to (...)."""
        t = self.times + start
        running = self._running(t, q[..., :-1, :], v[..., :-1, :], self.forces(u))
        return running.sum(axis=-1) * self.dt + self._last(q[..., -1, :], v[..., -1, :])

    def quadratics(
        self, q: Array, v: Array, u: Array, start: float = 0.0
    ) -> tuple[Quadratic, Array, Array]:
        """Running costs to second order, and the final one's gradient and second derivatives."""
        by = ("q", "v", "tau")
        given = (self.times + start, q[..., :-1, :], v[..., :-1, :], self.forces(u))
        first = self._running.jacobian(by)
        gq, gv, gu = first(*given)
        H = first.jacobian(by)(*given)
        m = self.motors
        x = np.concatenate([gq, gv], axis=-1) * self.dt
        xx = _square(H[0], H[1], H[4]) * self.dt
        ux = np.concatenate([H[2].swapaxes(-1, -2), H[5].swapaxes(-1, -2)], axis=-1)[..., m, :]
        uu = H[8][..., m[:, None], m] * self.dt
        ends = (q[..., -1, :], v[..., -1, :])
        first = self._last.jacobian(("q", "v"))
        last = np.concatenate(first(*ends), axis=-1)
        E = first.jacobian(("q", "v"))(*ends)
        found = Quadratic(x, gu[..., m] * self.dt, xx, ux * self.dt, uu)
        return found, last, _square(E[0], E[1], E[3])

    # motion

    @cached_property
    def _feedback(self) -> Callable[..., list[Scalar]]:
        """The controller u = u0 + K (x (-) x0), cut off at the bounds; p = (u0, K, q0, v0)."""
        nu, nq, nv = self.nu, self.robot.nq, self.robot.nv
        model = prepared(self.robot.model, Preparation.FRAMES)
        low, up = self.lower, self.upper

        def law(t: Scalar, q: Any, v: Any, p: Any) -> list[Scalar]:
            u0, rest = p[:nu], p[nu:]
            K, rest = rest[: nu * 2 * nv], rest[nu * 2 * nv :]
            q0, v0 = rest[:nq], rest[nq:]
            way = difference(model, q0, q)
            error = [*way, *(a - b for a, b in zip(v, v0, strict=True))]
            tau: list[Scalar] = [0.0] * nv
            for i, motor in enumerate(self.motors):
                row = K[i * 2 * nv : (i + 1) * 2 * nv]
                force = u0[i] + sum((k * e for k, e in zip(row, error, strict=True)), start=0.0)
                force = minimum(force, up[i]) if np.isfinite(up[i]) else force
                tau[motor] = maximum(force, low[i]) if np.isfinite(low[i]) else force
            return tau

        return law

    @cached_property
    def _feedback_rollout(self) -> Any:
        nu, nq, nv = self.nu, self.robot.nq, self.robot.nv
        count = nu + nu * 2 * nv + nq + nv
        return self.robot.rollout(
            self._feedback, self.steps, self.dt, method=self.method, inputs=count, series=True
        )

    @cached_property
    def _open_rollout(self) -> Any:
        def law(t: Scalar, q: Any, v: Any, p: Any) -> list[Scalar]:
            tau: list[Scalar] = [0.0] * self.robot.nv
            for i, motor in enumerate(self.motors):
                tau[motor] = p[i]
            return tau

        return self.robot.rollout(
            law, self.steps, self.dt, method=self.method, inputs=self.nu, series=True
        )

    def roll(self, q0: Array, v0: Array, u: Array) -> tuple[Array, Array]:
        """States (..., steps + 1, n) under controls (..., steps, nu)."""
        with _quiet():
            run = self._open_rollout(q0, v0, np.clip(u, self.lower, self.upper))
        return run.q, run.v

    def roll_feedback(
        self, q0: Array, v0: Array, u: Array, K: Array, q: Array, v: Array
    ) -> tuple[Array, Array, Array]:
        """States and controls under u + K (x (-) x0)."""
        shape = np.broadcast_shapes(u.shape[:-1], K.shape[:-2], q.shape[:-1])
        flat = K.reshape(*K.shape[:-2], -1)
        parts = [np.broadcast_to(x, (*shape, x.shape[-1])) for x in (u, flat, q, v)]
        with _quiet():
            run = self._feedback_rollout(q0, v0, np.concatenate(parts, axis=-1))
        return run.q, run.v, run.tau[..., :-1, self.motors]

    def linearized(self, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        """A (..., steps, 2 nv, 2 nv) and B (..., steps, 2 nv, nu) of every step."""
        given = q[..., :-1, :], v[..., :-1, :], self.forces(u)
        if self.method == "euler" and self.robot.nq == self.robot.nv:
            return self._euler(*given)
        A, B = self.robot.linearize(*given, self.dt, method=self.method)
        return A, B[..., self.motors]

    def _euler(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """A and B of v1 = v + dt a, q1 = q + dt v1, by the analytic derivatives of a."""
        n, dt, m = self.robot.nv, self.dt, self.motors
        by_q, by_v, by_tau = self.robot.forward_dynamics_derivatives(q, v, tau)
        A = np.empty((*by_q.shape[:-2], 2 * n, 2 * n))
        B = np.empty((*by_q.shape[:-2], 2 * n, len(m)))
        np.multiply(by_q, dt, out=A[..., n:, :n])
        np.multiply(by_v, dt, out=A[..., n:, n:])
        A[..., n:, n:] += np.eye(n)
        np.multiply(by_tau if len(m) == n else by_tau[..., m], dt, out=B[..., n:, :])
        np.multiply(A[..., n:, :], dt, out=A[..., :n, :])
        A[..., :n, :n] += np.eye(n)
        np.multiply(B[..., n:, :], dt, out=B[..., :n, :])
        return A, B

    # the backward pass

    @cached_property
    def backward(self) -> Callable[..., Any]:
        """The backward pass: compiled for small robots, else by arrays; see `ilqr.backward`."""
        from kinetree.motion.ilqr import backward

        if self.robot.nv > COMPILED:
            return backward
        from kinetree.motion.riccati import Riccati

        return Riccati(self.robot, self.nu, self.bounded)


@contextmanager
def _quiet() -> Iterator[None]:
    """Motions that are tried may diverge: their cost says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        yield


def _square(qq: Array, qv: Array, vv: Array) -> Array:
    """The symmetric matrix of second derivatives by (q, v)."""
    top = np.concatenate([0.5 * (qq + qq.swapaxes(-1, -2)), qv], axis=-1)
    bottom = np.concatenate([qv.swapaxes(-1, -2), vv], axis=-1)
    return np.concatenate([top, bottom], axis=-2)
