"""The results of optimal control: motions, their controls, feedback and forces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.lagrangian import Multipliers
from kinetree.motion.motion import Motion

if TYPE_CHECKING:
    from kinetree.motion.control_problem import ControlProblem


@dataclass
class Controlled:
    """Optimal motions, one or a batch.

    Attributes:
        times: of the states, s, (steps + 1,).
        q, v: states, (..., steps + 1, n).
        u: controls: forces of the motors, or controls of actuators, (..., steps, nu).
        K: feedback gains, (..., steps, nu, 2 nv): u + K (x (-) x0) is optimal near the motion.
        value: the costs, (...).
        converged: whether the last iteration no longer changed the cost, (...).
        message: "converged", or why the first problem that did not converge did not.
        iterations: the number each took, (...).
        history: the costs after each iteration, (iterations, ...).
        gap: the distance of the states from those under the controls, (...). Zero, unless the
            initial guess had gaps that are not closed yet.
        violation: the largest violation of equalities, inequalities and bounds of states, (...), in
            its own unit.
        drift: the largest error of held frames, or their motion in their phases, m or rad, (...).
        y: the multipliers of conditions; None if there are none.
        problem: what was solved.
    """

    problem: ControlProblem = field(repr=False)
    times: Array
    q: Array
    v: Array
    u: Array
    K: Array
    value: Array
    converged: Array
    iterations: Array
    history: Array
    gap: Array
    violation: Array
    drift: Array
    y: Multipliers | None = field(default=None, repr=False)
    message: str = ""

    def forces(self) -> dict[str, Array]:
        """The forces of constraints or contacts in each step, by their names.

        Returns:
            Maps each name to (..., steps, n): the rows of a constraint, N or N m, each along the
            wrench of its row; or x, y, z of a contact pair in the world's axes, N.
        """
        problem = self.problem
        state = self.q[..., :-1, :], self.v[..., :-1, :]
        tau = problem.forces(*state, self.u)
        found = problem.step.forces(*state, tau, problem.active(float(self.times[0])))
        return {name: found[..., places] for name, places in problem.step.groups.items()}

    def motion(self, index: int | tuple[int, ...] = ()) -> Motion:
        """The motion of one problem.

        Arguments:
            index: the problem's index in the batch.

        Returns:
            The motion, sampled at each step.
        """
        return Motion(self.problem.robot, self.times, self.q[index], self.v[index])


class Plan(NamedTuple):
    """A motion and its feedback gains.

    q, v: (steps + 1, nq) and (steps + 1, nv).
    u, K: (steps, nu) and (steps, nu, 2 nv).
    """

    q: Array
    v: Array
    u: Array
    K: Array

    def later(self, last: Array) -> Plan:
        """The plan a step later, with a last control, (nu,), and no feedback there."""
        q, v, u, K = (np.concatenate([x[1:], x[-1:]]) for x in self)
        u[-1], K[-1] = last, 0.0
        return Plan(q, v, u, K)
