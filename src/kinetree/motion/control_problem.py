"""Optimal control problems: a robot's step, costs over scalars, bounds on controls.

symbol   code      meaning
x        q, v      state; derivatives by it are along (dq, dv), 2 nv numbers
u        u         controls: forces of joints with motors, or controls of actuators
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import difference
from kinetree.algorithms.constraints import Baumgarte
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.compiler.runtime.foreign.through_numpy import numpy_alone
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.errors import KinetreeError, ShapeError
from kinetree.model import Model
from kinetree.model.prepare import Preparation, prepared
from kinetree.motion.arrays import Array
from kinetree.motion.conditions import Cost, Demands
from kinetree.motion.control_costs import ControlCosts
from kinetree.motion.control_inputs import control_inputs
from kinetree.motion.control_steps import control_step
from kinetree.motion.phases import Phases
from kinetree.robot.checks import count, number, real_array
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar, maximum, minimum
from kinetree.typing import ArrayLike, StepMethod

if TYPE_CHECKING:
    from kinetree.motion.mpc import ModelPredictiveControl
    from kinetree.motion.passes import Passes
    from kinetree.motion.plans import Controlled
    from kinetree.robot import Robot
NOTHING = Demands()
"""No constraints but bounds of controls."""


class ControlProblem:
    """An optimal control problem: motions of a robot over some steps, and their costs.

    Arguments:
        robot: what moves.
        cost: (t, q, v, tau, pose) over scalars, a second; pose is a function from a frame's name to
            its Transform. With a sixth argument it takes `force`, a function from the name of a
            constraint or of a contact pair to a list of its forces.
        final: (q, v, pose) over scalars, of the last state; none if None.
        steps, dt: the number of steps, and their length, s.
        method: of the step.
        actuated: which joints have motors, (nv,) of truth values; all if None. "actuators": the
            controls are those of the robot's actuators.
        lower, upper: bounds of controls, (nu,) or (nv,); by default the limits of the robot.
        phases, stabilization, contact: of the step, as in `Robot.optimal_control`.
        demands: the conditions on the motion.
    """

    def __init__(
        self,
        robot: Robot,
        cost: Cost,
        final: Cost | None,
        steps: int,
        dt: float,
        method: StepMethod = "euler",
        actuated: ArrayLike | Literal["actuators"] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        *,
        phases: Phases | None = None,
        stabilization: Baumgarte | None = None,
        contact: ContactSolver | bool = SOLVER,
        demands: Demands = NOTHING,
    ) -> None:
        check_robot(robot)
        self.robot = robot
        self.steps, self.dt = count("steps", steps), number("dt", dt, above=0.0)
        self.inputs = control_inputs(robot, actuated)
        self.motors, self.nu = self.inputs.motors, len(self.inputs.names)
        self.lower = self._bound("lower", self.inputs.lower if lower is None else lower)
        self.upper = self._bound("upper", self.inputs.upper if upper is None else upper)
        if (self.lower > self.upper).any():
            i = int(np.argmax(self.lower > self.upper))
            raise KinetreeError(
                f"the lower bound of {self.inputs.names[i]!r} is above the upper "
                f"one: {self.lower[i]:g} > {self.upper[i]:g}"
            )
        how = (method, phases, stabilization, contact)
        self.step = control_step(robot, self.motors, self.dt, *how)
        self._acting: tuple[float, Array] | None = None
        self.terms = ControlCosts(robot, self.step, cost, final, demands)

    def _bound(self, name: str, given: ArrayLike) -> Array:
        array = real_array(name, given)
        if np.isnan(array).any():
            raise KinetreeError(f"{name} must be numbers, infinite where there is no bound")
        if array.ndim == 0:
            array = np.full(self.nu, float(array))
        if array.shape == (self.robot.nv,) and self.inputs.plain and self.nu != self.robot.nv:
            array = array[self.motors]
        if array.shape != (self.nu,):
            raise ShapeError(f"{name} has shape {array.shape}; ({self.nu},) is expected")
        return array

    @property
    def bounded(self) -> bool:
        """Whether any control is bounded."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def forces(self, q: Array, v: Array, u: Array) -> Array:
        """The joint forces of controls: zero where there is no motor.

        Arguments:
            q, v: states, (..., nq) and (..., nv).
            u: controls, (..., nu).

        Returns:
            (..., nv).
        """
        return self.inputs.forces(q, v, u)

    def holding(self, q: Array, start: float = 0.0) -> Array:
        """Controls that keep joints with motors at rest.

        Arguments:
            q: configurations, (..., nq).
            start: the time of the first step, s.

        Returns:
            (..., steps, nu), or (..., 1, nu) where nothing is switched.
        """
        return self.inputs.held(q, self.step.holding(q, self.active(start)))

    @numpy_alone
    def solve(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        u: ArrayLike | None = None,
        *,
        tolerance: float = 1e-9,
        iterations: int = 200,
        progress: Callable[[float], object] | None = None,
        states: tuple[ArrayLike, ArrayLike] | None = None,
        feasibility: float = 1e-6,
    ) -> Controlled:
        """The optimal controls from each of a batch of states, by iLQR.

        Arguments:
            q0, v0: states, (..., nq) and (..., nv).
            u: the initial guess, (..., steps, nu); the controls that hold the first state if None.
            tolerance: a problem has converged when the cost's relative decrease is below this.
            iterations: at most this many.
            progress: called with the least cost after each iteration.
            states: initial guess of q and v, (..., steps + 1, n), which need not be a motion under
                the controls (multiple shooting): gaps between them close as the cost falls. The
                states under the initial controls if None.
            feasibility: a problem has converged only if no equality, inequality and bound of states
                is violated by more than this, in its own unit.

        Returns:
            The optimal motions, their controls and feedback gains.
        """
        from kinetree.motion.ilqr import ilqr

        return ilqr(self, q0, v0, u, tolerance, iterations, 0.0, progress, states, feasibility)

    def mpc(
        self,
        *,
        method: Literal["ilqr", "mppi", "predictive"] = "ilqr",
        iterations: int = 2,
        **options: Any,
    ) -> ModelPredictiveControl:
        """Model-predictive control: `control(q, v)` plans, `run(q0, v0, duration)` is the loop.

        This problem is the horizon. Each plan starts from the last one, a step later.

        Arguments:
            method: "ilqr", "mppi" (path integrals) or "predictive" (the best of random controls).
            iterations: the number in each plan.
            options: settings of the sampling methods: samples, knots, noise, temperature, seed; see
                `kinetree.motion.sampling.Sampler`.

        Returns:
            The controller, with an empty plan.
        """
        from kinetree.motion.mpc import ModelPredictiveControl  # imports this module

        return ModelPredictiveControl(self, method, iterations, **options)

    # costs

    @property
    def running_cost(self) -> Any:
        """The kernel of the cost per second, of (t, q, v, tau), and of forces if it takes them."""
        return self.terms.cost

    @property
    def final_cost(self) -> Any:
        """The kernel of the cost of the last state, of (q, v)."""
        return self.terms.final

    @cached_property
    def times(self) -> Array:
        """The time at which each step starts, s, (steps,)."""
        return np.arange(self.steps) * self.dt

    def active(self, start: float = 0.0) -> Array:
        """Which constraints act in each step: 1 for those, 0 for the others.

        Arguments:
            start: the time of the first state, s.

        Returns:
            (steps, constraints that are switched).
        """
        if self._acting is None or self._acting[0] != start:
            self._acting = start, self.step.active(self.times + start)
        return self._acting[1]

    def step_arguments(self, q: Array, v: Array, u: Array, start: float = 0.0) -> list[Array]:
        """The arguments of the cost kernels: t, q, v, tau, and forces if any function takes them.

        Arguments:
            q, v: states, (..., steps + 1, nq) and (..., steps + 1, nv).
            u: controls, (..., steps, nu).
            start: the time of the first state, s.

        Returns:
            Arrays of all steps.
        """
        given = q[..., :-1, :], v[..., :-1, :]
        state = [*given, self.forces(*given, u)]
        if self.terms.force_count:
            before, speed, tau = state
            state.append(self.step.forces(before, speed, tau, self.active(start)))
        return [self.times + start, *state]

    def costs(self, q: Array, v: Array, u: Array, start: float = 0.0) -> Array:
        """The costs of motions.

        Arguments:
            q, v: states, (..., steps + 1, nq) and (..., steps + 1, nv).
            u: controls, (..., steps, nu).
            start: the time of the first state, s.

        Returns:
            (...).
        """
        running = self.terms.cost(*self.step_arguments(q, v, u, start))
        return running.sum(axis=-1) * self.dt + self.terms.final(q[..., -1, :], v[..., -1, :])

    # motion

    @cached_property
    def feedback(self) -> Callable[..., list[Scalar]]:
        """The controller u = u0 + K (x (-) x0), clipped to the bounds; p = (u0, K, q0, v0)."""
        nu, nq, nv = self.nu, self.robot.nq, self.robot.nv
        model = prepared(self.robot.model, Preparation.FRAMES)
        low, up = self.lower, self.upper

        def law(t: Scalar, q: Any, v: Any, p: Any) -> list[Scalar]:
            u0, rest = p[:nu], p[nu:]
            K, rest = rest[: nu * 2 * nv], rest[nu * 2 * nv :]
            q0, v0 = rest[:nq], rest[nq:]
            way = difference(model, q0, q)
            error = [*way, *(a - b for a, b in zip(v, v0, strict=True))]
            found: list[Scalar] = []
            for i in range(nu):
                row = K[i * 2 * nv : (i + 1) * 2 * nv]
                force = u0[i] + sum((k * e for k, e in zip(row, error, strict=True)), start=0.0)
                force = minimum(force, up[i]) if np.isfinite(up[i]) else force
                found.append(maximum(force, low[i]) if np.isfinite(low[i]) else force)
            return found

        return law

    @cached_property
    def _open_loop(self) -> TimeLoop:
        """The loop with states q and v; series u, and the active constraints."""

        def step(model: Model, q: Any, v: Any, u: Any, *active: Any) -> dict[str, Any]:
            tau = self.inputs.on_scalars(q, v, u)
            after = self.step.advance(model, q, v, tau, active[0] if active else (), False)
            return {"next_q": after[0], "next_v": after[1]}

        lengths = {"q": self.robot.nq, "v": self.robot.nv, "u": self.nu}
        lengths |= {"active": self.step.switches} if self.step.switches else {}
        kernel = self.robot.custom_kernel(step, lengths, "open_loop")
        return TimeLoop(kernel, 2, series=2 if self.step.switches else 1)

    def roll(self, q0: Array, v0: Array, u: Array, start: float = 0.0) -> tuple[Array, Array]:
        """The states that result from controls.

        Arguments:
            q0, v0: the first states, (..., nq) and (..., nv).
            u: controls, (..., steps, nu); clipped to their bounds.
            start: the time of the first states, s.

        Returns:
            q and v, (..., steps + 1, nq) and (..., steps + 1, nv).
        """
        batch = np.broadcast_shapes(q0.shape[:-1], v0.shape[:-1], u.shape[:-2])
        problems = math.prod(batch)
        core = [x.shape[k:] for x, k in ((q0, -1), (v0, -1), (u, -2))]
        first = [
            np.broadcast_to(x, (*batch, *n)).reshape(problems, *n)
            for x, n in zip((q0, v0, np.clip(u, self.lower, self.upper)), core, strict=True)
        ]
        states = {
            name: np.empty((problems, self.steps + 1, x.shape[-1]))
            for name, x in zip("qv", first, strict=False)
        }
        kept = {name: x[:, :-1] for name, x in states.items()}
        if self.step.switches:
            first.append(np.tile(self.active(start), (problems, 1, 1)))
        rolled = self._open_loop(first, problems, self.steps, 1, ("q", "v"), kept)
        for name, x in states.items():
            x[:, -1] = rolled.final[name]
        q, v = (x.reshape(*batch, *x.shape[1:]) for x in states.values())
        return q, v

    def linearized(self, q: Array, v: Array, u: Array, start: float = 0.0) -> Array:
        """The linear model [A B] of every step.

        Arguments:
            q, v: states, (..., steps + 1, nq) and (..., steps + 1, nv).
            u: controls, (..., steps, nu).
            start: the time of the first state, s.

        Returns:
            (..., steps, 2 nv, 2 nv + nu).
        """
        state = q[..., :-1, :], v[..., :-1, :]
        W = self.step.linear(*state, self.forces(*state, u), self.active(start), False).W
        return self.inputs.chained(*state, u, W)[0]

    @cached_property
    def passes(self) -> Passes:
        """The backward and the forward pass."""
        from kinetree.motion.passes import Passes

        return Passes(self)
