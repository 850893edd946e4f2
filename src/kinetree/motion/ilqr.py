"""The iterative linear-quadratic regulator with bounded controls, for many problems at once.

Source: W. Li & E. Todorov, Iterative linear quadratic regulator design for nonlinear biological
movement systems (2004); Y. Tassa, N. Mansard & E. Todorov, Control-limited differential dynamic
programming (2014): the bounds, and the damping of the backward pass.

    paper        code      meaning
    V_x, V_xx    s, S      the value's gradient and second derivatives
    k, K         k, K      feedforward and feedback of each step
    alpha        ALPHAS    step lengths; few problems try all but the first at once, as lanes
    mu           damping   added to Q_uu

The initial guess may also be infeasible, with gaps between states: C. Mastalli et al., Crocoddyl:
an efficient and versatile framework for multi-contact optimal control (2020), section III-C. A step
of length alpha closes that share of the gaps.

differs: with gaps, a step is accepted by an exact penalty on them (J. Nocedal & S. J. Wright,
Numerical Optimization (2006), section 18.3), not by the expected decrease alone. Where Q_uu is not
positive, the costs are first taken without their negative curvature. The quadratic program of each
step is solved by a fixed number of rounds; each of them holds the controls at those bounds that the
gradient points beyond.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.kinds import optional_function
from kinetree.motion.arrays import Array
from kinetree.motion.control_problem import ControlProblem
from kinetree.motion.drift import ALLOWED_DRIFT, Drift
from kinetree.motion.lagrangian import Lagrangian, Multipliers
from kinetree.motion.passes import Expansion, Gains
from kinetree.motion.plans import Controlled, Plan
from kinetree.motion.starts import first_controls, first_states, guessed
from kinetree.robot.checks import count, number
from kinetree.typing import ArrayLike

ALPHAS = 0.5 ** np.arange(8)
LANES_FILLED = 8
"""From this number of problems on, step lengths are tried one by one: problems fill the lanes."""
SMALLEST, LARGEST = 1e-9, 1e9
"""Bounds and factors of the damping."""
GROUP = 16
"""The number of problems whose derivatives are computed and used together."""
CLOSED = 1e-9
"""The sum of gaps below which they count as closed."""
SUFFICIENT_DECREASE = 1e-4
"""The share of the predicted decrease that a step must reach (Armijo)."""


def ilqr(
    problem: ControlProblem,
    q0: ArrayLike,
    v0: ArrayLike,
    u: ArrayLike | None = None,
    tolerance: float = 1e-9,
    iterations: int = 100,
    start: float = 0.0,
    progress: Callable[[float], object] | None = None,
    states: tuple[ArrayLike, ArrayLike] | None = None,
    feasibility: float = 1e-6,
    y: Multipliers | None = None,
    plan: Plan | None = None,
) -> Controlled:
    """Minimise the costs from each of a batch of states.

    Arguments:
        problem: what moves, and what it costs.
        q0, v0: states, (..., nq) and (..., nv).
        u: the initial guess, (..., steps, nu); the controls that hold the first state if None.
        tolerance: the relative decrease of the cost below which a problem has converged.
        iterations: at most this many.
        start: the time of the first state, s.
        progress: called with the least cost after each iteration. KeyboardInterrupt ends the
            computation with the best so far.
        states: initial guess of q and v, (..., steps + 1, n); from the controls if None.
        feasibility: the allowed violation of conditions, each in its own unit.
        y: initial multipliers of conditions, with their penalties; zeros if None.
        plan: an initial motion instead of controls, tracked by its feedback. Drift of held frames
            is not measured then: the next plan follows at once.
    """
    batch, q_first, v_first = first_states(problem, q0, v0)
    tolerance = number("tolerance", tolerance, least=0.0)
    feasibility = number("feasibility", feasibility, above=0.0)
    iterations = count("iterations", iterations, 0)
    optional_function("progress", progress)
    controls = first_controls(problem, u, batch, q_first, start, plan)
    guess = None if states is None else guessed(problem, states, batch, q_first, v_first)
    lagrangian = Lagrangian(problem, feasibility, y) if problem.terms.constrained else None
    solver = _Solver(problem, q_first, v_first, controls, guess, start, lagrangian, plan)
    history = solver.run(tolerance, iterations, progress)
    drift = Drift(problem, solver.q, solver.v, start, plan is None)
    converged = solver.done & (drift.largest <= ALLOWED_DRIFT)

    def shaped(x: Array) -> Array:
        return x.reshape((*batch, *x.shape[1:]))

    value, violation = solver.value, np.zeros(len(q_first))
    if lagrangian is not None:
        value = problem.costs(solver.q, solver.v, solver.u, start)
        violation = lagrangian.violation
    return Controlled(
        problem,
        start + np.arange(problem.steps + 1) * problem.dt,
        shaped(solver.q),
        shaped(solver.v),
        shaped(solver.u),
        shaped(solver.K),
        shaped(value),
        shaped(converged),
        shaped(solver.count),
        np.array([shaped(x) for x in history]),
        shaped(solver.open),
        shaped(violation),
        shaped(drift.largest),
        None if lagrangian is None else lagrangian.y,
        solver.message(bool(batch), drift),
    )


class _Solver:
    """All problems between iterations."""

    def __init__(
        self,
        problem: ControlProblem,
        q0: Array,
        v0: Array,
        u: Array,
        guess: tuple[Array, Array] | None,
        start: float,
        lagrangian: Lagrangian | None,
        plan: Plan | None = None,
    ) -> None:
        self.problem, self.u = problem, u.copy()
        self.start, self.lagrangian = start, lagrangian
        self.passes = problem.passes
        n = problem.robot.nv
        self.gaps: Array | None = None
        self.open = np.zeros(len(u))
        followed = None
        if plan is not None:
            followed = self._followed(plan, q0, v0)
            if not np.isfinite(followed[-1]).all():
                followed, guess = None, guessed(problem, plan[:2], (1,), q0, v0)
        if followed is not None:
            self.q, self.v, self.u, _ = followed
        elif guess is None:
            self.q, self.v = problem.roll(q0, v0, self.u, start)
        else:
            self.q, self.v = guess
            self.gaps = self.passes.gaps(self.q, self.v, self.u, start)
            self.open = _sizes(self.gaps)
        self.price = np.zeros(len(u))  # the penalty on gaps, in the merit of a step
        self.K = np.zeros((len(u), problem.steps, problem.nu, 2 * n))
        self.damping = np.full(len(u), 1e-6)
        self.growth = np.full(len(u), 2.0)
        self.done = np.zeros(len(u), bool)
        self.count = np.zeros(len(u), int)
        self.value: Array = np.zeros(0)

    def _followed(self, plan: Plan, q0: Array, v0: Array) -> tuple[Array, ...]:
        """The motion from a state under a plan's feedback, and its cost."""
        q, v, u, K = (x[None] for x in plan)
        given = (q, v), u, (np.zeros_like(u), K), np.zeros(1), self.start
        passes, costs = self.problem.passes, self.problem.terms
        sizes = costs.row_count + 1, costs.final_row_count + 1
        y = Multipliers(np.ones((1, len(u[0]), sizes[0])), np.ones((1, sizes[1])))
        found = passes.forward(*given, None, y, (q0, v0))
        return tuple(x[:, 0] for x in found)

    def run(
        self, tolerance: float, iterations: int, progress: Callable[[float], object] | None
    ) -> list[Array]:
        """Iterate until all have converged or cannot go on."""
        self.value = self.problem.costs(self.q, self.v, self.u, self.start)
        if not np.isfinite(self.value).all():
            k = int(np.argmin(np.isfinite(self.value)))
            raise KinetreeError(
                f"the motion that problem {k} starts from diverges: give other controls, or a "
                "smaller dt"
            )
        if self.lagrangian is not None:
            self.lagrangian.begin(self.q, self.v, self.u, self.value, self.start)
            self.value = self._merit(np.arange(len(self.q)))
        history = [self.value.copy()]
        try:
            for _ in range(iterations):
                active = np.flatnonzero(~self.done & (self.damping <= LARGEST))
                if not active.size:
                    break
                self._iterate(active, self._tolerances(active, tolerance))
                if self.lagrangian is not None:
                    self._demand(active, tolerance)
                history.append(self.value.copy())
                if progress is not None:
                    progress(float(self.value.min()))
        except KeyboardInterrupt:
            pass
        return history

    def _tolerances(self, active: Array, tolerance: float) -> Array | float:
        """The tolerances of the current minimisations; with conditions, loose at first."""
        if self.lagrangian is None:
            return tolerance
        return np.maximum(self.lagrangian.level[active], tolerance)

    def _merit(self, which: Array) -> Array:
        """The augmented Lagrangians of some problems."""
        assert self.lagrangian is not None
        given = self.q[which], self.v[which], self.u[which]
        return self.problem.passes.merit(*given, self.start, self.lagrangian.y.of(which))

    def _demand(self, active: Array, tolerance: float) -> None:
        """Update the multipliers of minimised problems, until conditions hold."""
        assert self.lagrangian is not None
        ended = active[self.done[active] | (self.damping[active] > LARGEST)]
        if not ended.size:
            return
        exact = self.done[ended] & (self.lagrangian.level[ended] <= tolerance)
        given = self.q[ended], self.v[ended], self.u[ended]
        feasible = self.lagrangian.update(ended, *given, self.start)
        self.done[ended] = feasible & exact
        again = ended[~self.done[ended] & ~self.lagrangian.stuck[ended]]
        self.damping[again], self.growth[again] = 1e-6, 2.0
        self.damping[ended[self.lagrangian.stuck[ended]]] = np.inf
        self.value[again] = self._merit(again) if again.size else 0.0

    def message(self, batch: bool, drift: Drift) -> str:
        """Whether all have converged; if not, why the first failure did not."""
        converged = self.done & (drift.largest <= ALLOWED_DRIFT)
        if converged.all():
            return "converged"
        k = int(np.argmin(converged))
        which = f"problem {k}: " if batch else ""
        if self.done[k]:
            return f"{which}not converged: {drift.where(k)}"
        if self.lagrangian is not None and self.lagrangian.violation[k] > (
            self.lagrangian.feasibility
        ):
            lagrangian = self.lagrangian
            amount = f"{lagrangian.violation[k]:.2g}"
            return f"{which}not converged: {lagrangian.where[k]} is violated by {amount}"
        if self.damping[k] > LARGEST:
            return f"{which}not converged: no step along the gradient lowers the cost"
        left = f", gaps of {self.open[k]:.2g} are left" if self.open[k] > 0.0 else ""
        return f"{which}not converged after {int(self.count[k])} iterations{left}"

    def _iterate(self, active: Array, tolerance: Array | float) -> None:
        """One backward and one forward pass of the active problems."""
        everyone = len(active) == len(self.q)
        q, v, u = (x if everyone else x[active] for x in (self.q, self.v, self.u))
        gaps = None if self.gaps is None else self.gaps[active]
        y = None if self.lagrangian is None else self.lagrangian.y.of(active)
        gains = self._gains(q, v, u, self.damping[active], gaps, y)
        fault = gains.fault
        self.count[active] += 1
        if everyone and not fault.any():
            self.K = gains.K
        else:
            self.K[active[~fault]] = gains.K[~fault]
        self.price[active] = np.maximum(self.price[active], 2.0 * gains.costate)
        rows = np.flatnonzero(~fault)
        better, whole = np.zeros(len(active), bool), np.zeros(len(active), bool)
        tried = 0
        while tried < len(ALPHAS) and rows.size:  # a full step is mostly accepted
            several = tried > 0 and rows.size < LANES_FILLED
            alphas = ALPHAS[tried:] if several else ALPHAS[tried : tried + 1]
            some = Gains(*(x if len(rows) == len(active) else x[rows] for x in gains))
            better[rows] = self._forward(active[rows], some, alphas)
            whole |= better & (tried == 0)
            rows = rows[~better[rows]]
            tried += len(alphas)
        size = np.maximum(np.abs(self.value[active]), 1e-12)
        small = -(gains.slope + 0.5 * gains.bend) <= tolerance * size
        self.done[active] = small & ~fault & (self.open[active] <= CLOSED)
        if self.gaps is not None and not self.open.any():
            self.gaps = None
        self._damp(active, better, whole)

    def _gains(
        self,
        q: Array,
        v: Array,
        u: Array,
        damping: Array,
        gaps: Array | None,
        y: Multipliers | None,
    ) -> Gains:
        """The backward pass, in groups of problems whose derivatives fit into the cache."""
        parts = []
        for first in range(0, len(q), GROUP):
            k = slice(first, first + GROUP)
            some = None if gaps is None else gaps[k]
            multipliers = None if y is None else y.of(k)
            parts.append(self._backward(q[k], v[k], u[k], damping[k], some, multipliers))
        if len(parts) == 1:
            return parts[0]
        return Gains(*(np.concatenate(x) for x in zip(*parts, strict=True)))

    def _backward(
        self,
        q: Array,
        v: Array,
        u: Array,
        damping: Array,
        gaps: Array | None,
        y: Multipliers | None,
    ) -> Gains:
        """The gains of some problems."""
        room = self.problem.lower - u, self.problem.upper - u
        at = self.passes.expansion(q, v, u, self.start, y)
        gains = self.passes.backward(at, damping, *room, gaps)
        if gains.fault.any():  # somewhere Q_uu is not positive definite
            self._check_finite(at)
            gains = self.passes.backward(_convex(at), damping, *room, gaps)
        return gains

    def _check_finite(self, at: Expansion) -> None:
        """Refuse costs whose derivatives are not finite at the motion, and say when."""
        of_steps = [x.reshape(*x.shape[:2], -1) for x in (at.H, at.g, at.W)]
        steps = ~np.isfinite(np.concatenate(of_steps, axis=-1)).all(axis=(0, 2))
        if steps.any():
            place = f"at t = {self.start + int(np.argmax(steps)) * self.problem.dt:.4g} s"
        elif np.isfinite(at.S).all() and np.isfinite(at.s).all():
            return
        else:
            place = "at the last state"
        raise KinetreeError(
            f"the derivatives of the costs {place} are not finite: a square root, a norm or an "
            "angle may be at a value where it has none, as sqrt(x) at 0; sqrt(x + 1e-6) has one"
        )

    def _forward(self, which: Array, gains: Gains, alphas: Array) -> Array:
        """Take the best of some step lengths, where one lowers the cost enough."""
        q, v, u = (x if len(which) == len(x) else x[which] for x in (self.q, self.v, self.u))
        gaps = None if self.gaps is None else self.gaps[which]
        y = None if self.lagrangian is None else self.lagrangian.y.of(which)
        given = (q, v), u, (gains.k, gains.K), alphas, self.start, gaps, y
        *paths, value = self.passes.forward(*given)
        slope, before, merit = gains.slope[:, None], self.value[which, None], value
        if gaps is not None:
            gap = (self.price[which] * self.open[which])[:, None]
            slope = slope + gains.closing[:, None] - gap
            before, merit = before + gap, value + (1.0 - alphas) * gap
        predicted = -alphas * (slope + 0.5 * alphas * gains.bend[:, None])
        enough = before - merit >= np.maximum(SUFFICIENT_DECREASE * predicted, 0.0)  # never of NaN
        merit = np.where(enough, merit, np.inf)
        best = merit.argmin(axis=1)
        better = enough.any(axis=1) & (merit.min(axis=1) < before[:, 0])
        moved, taken = which[better], (np.flatnonzero(better), best[better])
        for name, path in zip(("q", "v", "u"), paths, strict=True):
            getattr(self, name)[moved] = path[taken]
        self.value[moved] = value[taken]
        if self.gaps is not None:
            share = 1.0 - alphas[best[better]]
            self.gaps[moved] *= share[:, None, None]
            self.open[moved] *= share
        return better

    def _damp(self, active: Array, better: Array, whole: Array) -> None:
        """Less damping after a full step, more after none; repeated failures raise it faster."""
        damping, growth = self.damping[active], self.growth[active]
        lowered = np.where(whole, np.maximum(damping / 3.0, SMALLEST), damping)
        self.damping[active] = np.where(better, lowered, np.maximum(damping, 1e-6) * growth)
        self.growth[active] = np.where(better, 2.0, 2.0 * growth)


def _sizes(gaps: Array) -> Array:
    """The sum of the sizes of gaps of each problem."""
    return np.abs(gaps).sum(axis=(1, 2))


def _convex(at: Expansion) -> Expansion:
    """The same with costs that have no negative curvature."""
    return at._replace(H=_clipped(at.H), S=_clipped(at.S))


def _clipped(H: Array) -> Array:
    """Symmetric matrices, their negative eigenvalues replaced by zero."""
    values, vectors = np.linalg.eigh(H)
    return (vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2)
