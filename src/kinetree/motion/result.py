"""The result of an optimised transition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.motion.arrays import Array
from kinetree.motion.ground_forces import GroundForces, forces_at
from kinetree.motion.motion import Motion
from kinetree.motion.newton import LARGEST, Solutions
from kinetree.motion.splines import Grid
from kinetree.motion.states import MotionState
from kinetree.motion.transition_constraints import ROOT_BETWEEN
from kinetree.motion.transition_problem import VIOLATION
from kinetree.motion.violation import Violation
from kinetree.robot.checks import number, sample_count
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.motion.transition_problem import Problem


class Transition:
    """Transitions of a robot, one or a batch; made by `Robot.transition`.

    Of several starts, only the best is kept.

    Arguments:
        problem: what was solved.
        solutions: the coefficients of every problem and start.
        violation: of their constraints.
        start: their initial costs.
        seconds: the computation time.

    Attributes:
        value: the cost P, (...).
        start_value: P of the smooth step that the solution started from, (...).
        converged: whether a minimum was found and all constraints are met, also between samples,
            (...).
        optimality: the Newton decrement: the predicted decrease of the next step, relative to the
            cost, (...).
        violation: the largest violation of a constraint at any of many times, relative to its
            scale, (...). The scale is the limit or the range of a joint, the robot's weight, 0.1 m
            or 0.1 rad.
        iterations, evaluations: the numbers of Hessians and of values computed, (...).
        seconds: the computation time, s.
        history: the costs after each iteration, constraint terms included, (iterations, ...).
        duration: of the motion, s.
        coefficients: of the splines, (..., count, nv), in the coordinates of `chart`.
        robot, chart: the robot, and the same robot in coordinates whose rates are velocities.
        values_of_starts: P of every start, (..., starts).
        interrupted: whether Ctrl-C ended the search.
    """

    def __init__(
        self, problem: Problem, solutions: Solutions, violation: Array, start: Array, seconds: float
    ) -> None:
        self._problem = problem
        self.robot, self.chart = problem.flat.original, problem.robot
        self.duration, self.seconds = problem.duration, seconds
        starts, batch = problem.settings.starts, problem.batch
        self._broken = problem.inspect(solutions.c) if problem.rules else []
        between = np.zeros((2, problem.count))  # relative to the tolerance, and to the scale
        for rule, over in zip(problem.rules, self._broken, strict=True):
            most = over.max(axis=(1, 2, 3))
            between = np.maximum(between, [most, most * rule.between])
        costs = problem.cost(solutions.c)
        done = solutions.converged & (solutions.optimality <= problem.settings.tolerance)
        done &= (violation <= VIOLATION) & (between[0] <= 1.0)
        # the best of the converged starts; if there is none, the best of all
        rank = np.where(done, costs, costs + 1e3 * np.abs(costs).max() * (1.0 + between[1]))
        best = np.argmin(rank.reshape(-1, starts), axis=1) + starts * np.arange(
            len(costs) // starts
        )
        self._best = best
        self._solutions, self._violation = solutions, violation

        def pick(x: Array) -> Array:
            return x[best].reshape((*batch, *x.shape[1:]))

        self._pick = pick
        whole = problem.objective.whole(solutions.c, np.arange(problem.count))
        self.coefficients = pick(whole)
        self.value, self.start_value = pick(costs), pick(start)
        self.converged, self.optimality = pick(done), pick(solutions.optimality)
        self.violation = pick(np.maximum(violation, between[1]))
        self.iterations, self.evaluations = pick(solutions.iterations), pick(solutions.evaluations)
        self.history = np.array([pick(values) for values in solutions.history])
        self.values_of_starts = costs.reshape(*batch, starts)
        self.interrupted = solutions.interrupted

    def __repr__(self) -> str:
        if self.value.ndim:
            done = f"{int(self.converged.sum())} of {self.converged.size} converged"
            return f"<Transition: {self.value.shape} problems, {done}>"
        return f"<Transition of {self.duration:g} s: P = {self.value:.6g}, {self.message}>"

    @cached_property
    def message(self) -> str:
        """Whether it converged, or why not; for a batch, about the first problem that did not."""
        wrong = np.argwhere(~np.atleast_1d(self.converged).ravel())
        if not wrong.size:
            return "converged"
        k = int(wrong[0, 0])
        problem = int(self._best[k])
        which = f"problem {k}: " if self.converged.ndim else ""
        return which + self._why(problem)

    def _why(self, problem: int) -> str:
        solutions = self._solutions
        if solutions.interrupted:
            return "interrupted: the best so far"
        broken = [x for x in self._problem.violations(self._broken, problem) if x.relative > 1.0]
        if broken:
            return f"not converged: {broken[0]}; {self._reason(problem, broken[0])}"
        if self._violation[problem] > VIOLATION:
            return "not converged: constraints are nearly met; more iterations are needed"
        left = solutions.optimality[problem]
        if not np.isfinite(left):
            slope = "the second derivatives are not positive definite"
        else:
            slope = f"the next step would lower the cost by {left:.2g} of it"
        if solutions.damping[problem] >= LARGEST:
            return f"not converged: no step lowers the cost any more; {slope}"
        return f"not converged: {slope}, after {solutions.iterations[problem]} iterations"

    def _reason(self, problem: int, broken: Violation) -> str:
        """Why a constraint is broken."""
        transition = self._problem
        given_up = self._solutions.converged[problem] and self._violation[problem] > VIOLATION
        if broken.constraint == "ground force" and given_up:
            return (
                "no motion near this one keeps to the friction and the areas of its supports: "
                "give them more time, other places, or the states other velocities"
            )
        if broken.constraint == "root force":
            force, torque = transition.needed_wrench(problem)
            if max(force, torque) > 0.5 * ROOT_BETWEEN * transition.weight:
                return (
                    f"to get from the first state to the second, a mean force of {force:.3g} N and "
                    f"a mean torque of {torque:.3g} N m must act on the root; root='passive' "
                    "allows none, a number is their weight in the cost"
                )
        for t, which in ((0.0, "first"), (self.duration, "second")):
            if "force" not in broken.constraint and abs(broken.time - t) < 1e-9 * self.duration:
                return f"the {which} state itself does not meet it"
        solutions = self._solutions
        if self._violation[problem] > VIOLATION and solutions.converged[problem]:
            return "no motion near this one meets all constraints: their violation is least here"
        if self._violation[problem] > VIOLATION:
            return f"the search ended after {solutions.iterations[problem]} iterations"
        return "between samples: more coefficients can follow it more closely"

    def violations(self, index: int | tuple[int, ...] = ()) -> list[Violation]:
        """The worst violation of each constraint, the largest first.

        Constraints are checked at many times; those that are met at all of them are left out.

        Arguments:
            index: the problem's place in the batch.

        Returns:
            One violation for each such constraint.
        """
        return self._problem.violations(
            self._broken, int(self._best.reshape(self.value.shape)[index])
        )

    @cached_property
    def error(self) -> Array:
        """The estimated relative error of `value`, (...).

        It combines the differences from P by two finer quadrature rules with the remaining decrease
        of the minimisation. More coefficients may still give a motion of less effort.
        """
        problem, c = self._problem, self._solutions.c
        points = problem.grid.u.shape[1]
        finer = [problem.cost(c, Grid.gauss(problem.basis, k * points + 1)) for k in (2, 3)]
        value = problem.cost(c)
        apart = np.max([np.abs(value - x) for x in finer], axis=0)
        size = np.maximum(np.abs(finer[-1]), 1e-300)
        return self._pick(apart / size + self._solutions.optimality)

    @property
    def supported(self) -> bool:
        """Whether the ground carries the robot, by supports."""
        return self._problem.ground is not None

    @cached_property
    def root_force(self) -> Array:
        """The largest force on a free root that the motion needs, N, (...); 0 without such a root.

        Without supports such a force would have to carry the figure; on supports, the ground does.
        """
        times = np.linspace(0.0, self.duration, len(self._problem.dense.grid.u.ravel()))
        root = self._problem.root
        if root.stop == root.start:
            return np.zeros(self.value.shape)
        tau = self.robot.inverse_dynamics(*self.at(times))
        return np.linalg.norm(tau[..., root][..., :3], axis=-1).max(axis=-1)

    def ground_forces(self, times: ArrayLike, index: int | tuple[int, ...] = ()) -> GroundForces:
        """The forces of the ground on supports, and the remaining joint forces.

        At each time they are those of least effort that produce the wrench on the root.

        Arguments:
            times: s, (T,), from 0 to `duration`.
            index: the problem's place in the batch.

        Returns:
            Wrenches by frame, joint forces, centres of pressure and friction used.
        """
        return forces_at(self._problem, self.coefficients[index], np.asarray(times, float))

    def at(self, times: ArrayLike) -> MotionState:
        """The states at given times.

        Arguments:
            times: s, (T,), from 0 to `duration`.

        Returns:
            q (..., T, nq), v and a (..., T, nv).
        """
        u = np.clip(np.asarray(times, float) / self.duration, 0.0, 1.0)
        basis = self._problem.basis
        y, dy, ddy = (
            (basis.values(u, rate) @ self.coefficients) / self.duration**rate for rate in range(3)
        )
        return self._problem.flat.back(y, dy, ddy)

    def motion(self, rate: float = 100.0, index: int | tuple[int, ...] = ()) -> Motion:
        """The motion of one problem.

        Arguments:
            rate: samples per second.
            index: the problem's place in the batch.

        Returns:
            The motion from the first state to the second.
        """
        count = sample_count(self.duration, number("rate", rate, above=0.0))
        times = np.linspace(0.0, self.duration, count)
        q, v, a = (x[index] for x in self.at(times))
        return Motion(self.robot, times, q, v, a)

    def plot(self, path: str | Path | None = None) -> Any:
        """A plot of joint forces with their limits, and of P over the iterations.

        Arguments:
            path: where to save it; not saved if None.

        Returns:
            Matplotlib's figure.
        """
        from kinetree.motion.pictures import plot_transition

        return plot_transition(self, path)
