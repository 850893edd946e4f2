"""Model-predictive control: optimal control solved anew in every period, with a warm start."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import numpy_alone, through_numpy
from kinetree.errors import ShapeError, StateError, among, unknown
from kinetree.kinds import instance
from kinetree.motion.arrays import Array
from kinetree.motion.control_problem import ControlProblem
from kinetree.motion.ilqr import ilqr
from kinetree.motion.lagrangian import Multipliers
from kinetree.motion.motion import Motion
from kinetree.motion.plans import Plan
from kinetree.motion.sampling import KINDS, Sampler
from kinetree.robot.checks import count, finite_state, number, sample_count, spread
from kinetree.robot.core import Core
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

METHODS = ("ilqr", *KINDS)
OPTIONS = ("samples", "knots", "noise", "temperature", "seed")
"""Options of the sampling methods."""


@dataclass
class ClosedLoopRun:
    """A closed loop under model-predictive control.

    Attributes:
        times: s, (T,).
        q, v: states, (T, n).
        u: controls, (T - 1, nu).
        seconds: the computation time of each plan, s, (T - 1,).
        problem: the horizon of the controller.
    """

    problem: ControlProblem
    times: Array
    q: Array
    v: Array
    u: Array
    seconds: Array

    def percentile(self, share: float = 99.0) -> float:
        """A percentile of the plans' computation times.

        Arguments:
            share: in percent.

        Returns:
            s.
        """
        return float(np.percentile(self.seconds, share))

    def motion(self) -> Motion:
        """The motion of the robot under the controller.

        Returns:
            The motion, sampled at each step.
        """
        return Motion(self.problem.robot, self.times, self.q, self.v)


class ModelPredictiveControl:
    """A controller that makes a new plan in every period; made by `ControlProblem.mpc`.

    Arguments:
        problem: the horizon and its cost.
        method: "ilqr", "mppi" or "predictive".
        iterations: the number in each plan.
        options: settings of the sampling methods, as in `Sampler`.
    """

    def __init__(
        self, problem: ControlProblem, method: str = "ilqr", iterations: int = 2, **options: Any
    ) -> None:
        if not among(method, METHODS):
            raise unknown("method", method, METHODS, "mpc")
        instance("problem", problem, ControlProblem, "what robot.optimal_control makes")
        self.problem, self.method = problem, method
        self.iterations = count("iterations", iterations)
        for name in options:
            if not among(name, OPTIONS):
                raise unknown("option", name, OPTIONS, "mpc")
        self._sampler = None if method == "ilqr" else Sampler(problem, method, **options)
        self.u: Array = np.zeros((problem.steps, problem.nu))
        self.reset()

    @through_numpy
    def reset(self, u: ArrayLike | None = None) -> None:
        """Forget the last plan.

        Arguments:
            u: the initial controls, (steps, nu). If None, sampling begins with zeros, and "ilqr"
                with the controls that hold the first state.
        """
        shape = self.u.shape
        self._y: Multipliers | None = None
        self._plan: Plan | None = None
        self._held = u is None
        self.u = np.zeros(shape) if u is None else spread("u", u, shape).copy()

    @through_numpy
    def control(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """The controls for the next period, from a plan that begins at a state.

        Arguments:
            q, v: the state, (nq,) and (nv,).
            t: its time, s.

        Returns:
            (nu,).
        """
        robot = self.problem.robot
        state = finite_state("q", q, robot.nq), finite_state("v", v, robot.nv)
        t = number("t", t)
        if self._sampler is None:
            plan = self._planned(*state, t)
        else:
            plan = self.u
            for _ in range(self.iterations):
                plan, _ = self._sampler.improve(*state, plan, t)
        self.u = np.concatenate([plan[1:], plan[-1:]])
        return plan[0]

    def _planned(self, q: Array, v: Array, t: float) -> Array:
        """The controls of a plan by iLQR, which begins with the last one under its feedback."""
        u = None if self._held else self.u
        given = (self.problem, q, v, u, 1e-6, self.iterations, t)
        found = ilqr(*given, y=self._y, plan=self._plan)
        last = found.u[-1]
        if self.problem.step.switches:  # they switch: old forces do not hold
            after = self.problem.step.active(found.times[-1:])
            problem = self.problem
            last = problem.inputs.held(found.q[-1], problem.step.holding(found.q[-1], after))[0]
        self._plan = Plan(found.q, found.v, found.u, found.K).later(last)
        self._y = None if found.y is None else _later(found.y)
        return found.u

    @numpy_alone
    def run(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        duration: float,
        *,
        plant: Robot | None = None,
        substeps: int = 5,
    ) -> ClosedLoopRun:
        """Run the robot under this controller, with a new plan in every period dt of the problem.

        Arguments:
            q0, v0: the initial state, (nq,) and (nv,).
            duration: s.
            plant: the simulated robot, with the same coordinates, for example with contacts where
                plans have phases; that of the problem, with the same steps, if None.
            substeps: the number of steps of a plant in a period.

        Returns:
            Times, states, controls, and the computation time of each plan.
        """
        problem = self.problem
        length = number("duration", duration, 0.0)
        periods = sample_count(length, 1.0 / problem.dt, 1) - 1
        q = [finite_state("q0", q0, problem.robot.nq)]
        v = [finite_state("v0", v0, problem.robot.nv)]
        u, seconds = [], []
        body, substeps = _plant(problem.robot, plant), count("substeps", substeps)
        for k in range(periods):
            began = time.perf_counter()
            u.append(self.control(q[-1], v[-1], k * problem.dt))
            seconds.append(time.perf_counter() - began)
            state = self._moved(q[-1], v[-1], u[-1], k * problem.dt, body, substeps)
            if not all(np.isfinite(x).all() for x in state):
                raise StateError(
                    f"the motion diverged at t = {(k + 1) * problem.dt:.4g} s: a smaller dt, "
                    "narrower bounds of the controls or, for sampling, a smaller noise may help"
                )
            q.append(state[0])
            v.append(state[1])
        times = np.arange(periods + 1) * problem.dt
        arrays = (np.array(x) for x in (q, v, u, seconds))
        return ClosedLoopRun(problem, times, *arrays)

    def _moved(
        self, q: Array, v: Array, u: Array, t: float, plant: Robot | None, substeps: int
    ) -> tuple[Array, Array]:
        """The state a period later."""
        problem = self.problem
        if plant is None:
            tau = problem.forces(q, v, u)
            return problem.step.after(q, v, tau, problem.step.active(np.array([t]))[0])
        for _ in range(substeps):
            q, v = plant.step(q, v, problem.forces(q, v, u), problem.dt / substeps)
        return q, v


def _plant(robot: Robot, given: Any) -> Robot | None:
    """The simulated robot; refused if its coordinates differ from the planned one's."""
    if given is not None:
        instance("plant", given, Core, "a kinetree.Robot")
        if (given.nq, given.nv) != (robot.nq, robot.nv):
            raise ShapeError(
                f"plant: robot {given.name!r} has {given.nq} coordinates and {given.nv} velocities;"
                f" {robot.nq} and {robot.nv} are expected"
            )
    return given


def _later(y: Multipliers) -> Multipliers:
    """Multipliers for the horizon that begins a step later."""
    return y._replace(running=np.concatenate([y.running[:, 1:], y.running[:, -1:]], axis=1))
