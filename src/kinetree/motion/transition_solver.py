"""Solves transitions by Newton's method and an augmented Lagrangian; or by L-BFGS, or Ipopt.

Source: J. Nocedal & S. J. Wright, Numerical Optimization (2006), section 17.4, the augmented
Lagrangian; R. Hettich & K. O. Kortanek, Semi-infinite programming (1993), section 7: constraints
over a time are imposed at samples, and where they are violated in between, samples are added.
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.newton import Solutions, decrement, minimize
from kinetree.motion.objective import Integral, SplineObjective
from kinetree.motion.splines import scipy_module
from kinetree.motion.supported import Supported
from kinetree.motion.surface import Surface
from kinetree.motion.terms import LEAST_MULTIPLIER
from kinetree.motion.transition_problem import VIOLATION, Problem
from kinetree.motion.transition_settings import METHODS

MINIMISERS = ("l-bfgs", "ipopt")
"""Methods that take no constraints."""
GROWTH, ROUNDS = 4.0, 40
"""The growth factor of penalties, and the most multiplier updates."""
REFINEMENTS = 12
"""The most times that samples are added."""
PATIENCE, LESS, APART = 5, 0.9, 10.0
"""A problem is given up if in so many rounds larger penalties did not reduce its violation to this
share, while its penalties became so many times the cost: it has reached the least violation."""
FIRST_PENALTY, MULTIPLIER = 10.0, 5e-2
"""The initial penalty, over the cost a second; multipliers of inequalities over the penalty."""
LOOSE, CLOSER = 1e-3, 1e-5
"""The tolerance of the first round, while multipliers are far off, and after adding samples."""
RESOLVED, SHARPEST = 0.5, 1e-8
"""While constraints are violated, the tolerance of a minimisation as a share of the violations'
penalties, and the least tolerance that results."""
GAP, GROUND_GAP = 1e-6, 1e-4
"""The largest product of multipliers and violations, relative to the cost; and with supports, where
the margin of the cones costs more than that."""
NOTHING = 1e-16
"""A cost below this share of the initial one counts as zero."""
RESTORED = 40
"""The most iterations to a start that meets the constraints."""


def solve(problem: Problem) -> tuple[Solutions, Array]:
    """The best coefficients of every problem, and the violation of its constraints."""
    method = problem.settings.method
    if method in MINIMISERS and problem.constraints:
        names = sorted({term.name for _, term in problem.constraints})
        raise KinetreeError(
            f"method {method!r} takes no limits and holds no frame exactly, but there are "
            f"constraints on {', '.join(names)}: use 'newton', or bounded=() and root=0.0"
        )
    c = problem.start()
    if method == "l-bfgs":
        return _quasi_newton(problem, c)
    if method == "ipopt":
        from kinetree.motion.ipopt import by_ipopt  # needs an extra

        return by_ipopt(problem, c)
    return _newton(problem, c)


class _Lagrangian:
    """The augmented Lagrangian of all problems, between minimisations."""

    def __init__(self, problem: Problem, c: Array) -> None:
        self.problem, self.settings = problem, problem.settings
        self.floor = cost_floor(problem, c)
        every = np.arange(problem.count)
        self.worst = np.full(problem.count, np.inf)
        self.surface, c = _surface(problem, c)
        if self.surface is None and problem.violation(c).any():
            c = _restored(problem, c)
        cost = np.minimum(np.maximum(problem.cost(c), self.floor), problem.usual_cost)
        self.penalty = FIRST_PENALTY * cost / problem.duration
        self.multiplier = MULTIPLIER * self.penalty
        self.last: dict[int, Array] = {}
        problem.prepare(self.penalty, self.multiplier)
        self.solutions = Solutions.at(c, problem.objective.values(c, every))

    @property
    def _exact(self) -> str:
        """When second derivatives are exact; on a surface Gauss-Newton suffices."""
        given = METHODS[self.settings.method]
        return "never" if given == "late" and self.surface is not None else given

    @property
    def left(self) -> int:
        """Iterations that may still be made with these samples."""
        return self.most - len(self.solutions.history)

    def minimize(self, tolerance: float, which: Array) -> None:
        """Minimise with the current multipliers."""
        progress = self.settings.progress

        def tell(values: Array) -> None:
            if progress is not None:
                progress(float(values.min()))

        self.solutions = minimize(
            self.problem.objective,
            self.solutions,
            tolerance,
            max(self.left, 1),
            self.floor,
            self._exact,
            tell,
            which,
            self.surface,
        )
        self.worst = self.problem.violation(self.solutions.c)

    def unresolved(self) -> Array:
        """The penalties of squared violations, relative to the cost, (problems,)."""
        problem, every, total = self.problem, np.arange(self.problem.count), 0.0
        whole = problem.objective.whole(self.solutions.c, every)
        for part, term in problem.constraints:
            broken = term.violation(part.state(whole), every)
            squares = term.penalty * np.where(broken > term.met, broken, 0.0) ** 2
            total = total + part.integrated(squares.sum(axis=-1))
        return total / np.maximum(np.abs(problem.cost(self.solutions.c)), self.floor)

    def gap(self) -> Array:
        """Multipliers times violations, relative to the cost, (problems,)."""
        cost = self.problem.cost(self.solutions.c)
        excess = self.problem.excess(self.solutions.c)
        return np.abs(excess) / np.maximum(np.abs(cost), self.floor)

    def solve(self, which: Array, tolerance: float) -> None:
        """Minimise and update multipliers in turn, with tolerances that tighten over time."""
        least, self.most = (
            self.settings.tolerance,
            len(self.solutions.history) + self.settings.iterations,
        )
        tolerance = max(tolerance, least) if self.problem.constraints else least
        violations, enough = [], GAP if self.problem.ground is None else GROUND_GAP
        for _ in range(ROUNDS):
            self.minimize(tolerance, which)
            if not self.problem.constraints or self.solutions.interrupted or self.left < 1:
                break
            gap, solutions = self.gap(), self.solutions
            done = solutions.converged & (solutions.optimality <= least)
            violations.append(self.worst)
            before = violations[-1 - PATIENCE] if len(violations) > PATIENCE else np.inf
            stuck = solutions.converged & (self.worst > LESS * before) & (gap > APART)
            unmet = ~done | (self.worst > VIOLATION) | (gap > enough)
            which = np.flatnonzero(unmet & ~stuck)
            if not which.size:
                break
            tolerance = min(max(1e-2 * float(gap[which].min()), least), tolerance)
            if (self.worst[which] > VIOLATION).any():  # light joints must feel their limits, too
                sharp = RESOLVED * float(self.unresolved()[which].min())
                tolerance = min(max(sharp, SHARPEST), tolerance)
            self._move_multipliers(which)

    def _move_multipliers(self, which: Array) -> None:
        """Update multipliers with their current penalties; then raise slow penalties.

        Violations after a minimisation that did not converge say nothing about the penalty.
        """
        problem = self.problem
        whole = problem.objective.whole(self.solutions.c[which], which)
        for part, term in problem.constraints:
            state = part.state(whole)
            broken = term.violation(state, which) * (part.weights > 0.0)[..., None]
            own, last = broken.max(axis=(1, 2, 3)), self.last.get(id(term))
            before = np.full(problem.count, np.inf) if last is None else last
            slow = which[
                (own > np.maximum(0.5 * before[which], term.met)) & self.solutions.converged[which]
            ]
            before[which] = own
            self.last[id(term)] = before
            term.update(state, which)
            term.penalty[slow] *= GROWTH


def _newton(problem: Problem, c: Array) -> tuple[Solutions, Array]:
    """By Newton's method, constraints by an augmented Lagrangian."""
    state = _Lagrangian(problem, c)
    which = np.arange(problem.count)
    state.solve(which, LOOSE)
    for _ in range(REFINEMENTS):
        if not problem.rules or state.solutions.interrupted:
            break
        broken = problem.inspect(state.solutions.c)
        worst = np.max([x.max(axis=(1, 2, 3)) for x in broken], axis=0)
        which = np.flatnonzero((worst > 1.0) & (state.worst <= VIOLATION))
        first = 1e-2 * state.multiplier
        if not which.size or not problem.tighten(broken, which, state.penalty, first):
            break
        state.solve(which, CLOSER)
    return state.solutions, state.worst


def _surface(problem: Problem, c: Array) -> tuple[Surface | None, Array]:
    """The equalities of a motion on supports, if it can meet them, and motions that do."""
    if problem.ground is None:
        return None, c
    surface = Surface(problem)
    near, met = surface.start(c) if surface.count else (c, False)
    if met:
        return surface, near
    for _, term in problem.constraints:
        term.kept = False
    return None, c


def cost_floor(problem: Problem, c: Array) -> Array:
    """Costs below this count as zero, (problems,); c is the initial guess."""
    return NOTHING * np.maximum(np.abs(problem.cost(c)), 1e-100)


def _restored(problem: Problem, c: Array) -> Array:
    """A start near another that meets the constraints at the samples, as far as possible."""
    ones = np.ones(problem.count)
    problem.prepare(ones, LEAST_MULTIPLIER * ones)
    parts = [
        Integral(problem.robot, part.grid, [term], problem.duration)
        for part, term in problem.constraints
        if not isinstance(term, Supported)  # its effort would lead away from the start
    ]
    alone = SplineObjective(parts, problem.ends)
    start = Solutions.at(c, alone.values(c, np.arange(problem.count)))
    floor = np.full(problem.count, VIOLATION**2)
    return minimize(alone, start, 1e-2, RESTORED, floor, "never").c


def judged(problem: Problem, solutions: Solutions, floor: Array) -> Solutions:
    """The result of another minimiser, with the Newton decrement."""
    every = np.arange(problem.count)
    at = problem.objective.expansion(solutions.c, every, True)
    left = decrement(at.bands, at.gradient)
    solutions.value = at.value
    solutions.optimality = left / np.maximum(np.abs(at.value), floor)
    solutions.converged = solutions.optimality <= problem.settings.tolerance
    solutions.history.append(solutions.value.copy())
    return solutions


def _quasi_newton(problem: Problem, c: Array) -> tuple[Solutions, Array]:
    """Limited-memory BFGS, for comparison; the report uses full BFGS."""
    optimize = scipy_module("optimize")
    every = np.arange(problem.count)
    floor = cost_floor(problem, c)
    solutions = Solutions.at(c.copy(), problem.objective.values(c, every))
    solutions.history.append(solutions.value.copy())
    for k in range(problem.count):
        which = every[k : k + 1]

        def cost(x: Array, which: Array = which) -> tuple[float, Array]:
            value, gradient = problem.objective.value_and_gradient(
                x.reshape(1, *c.shape[1:]), which
            )
            return float(value[0]), gradient.ravel()

        steepest = np.abs(cost(c[k].ravel())[1]).max()
        options = {"maxiter": problem.settings.iterations, "maxfun": 10**6, "ftol": 0.0}
        options |= {"gtol": problem.settings.tolerance * steepest, "maxcor": 20}
        got = optimize.minimize(cost, c[k].ravel(), jac=True, method="L-BFGS-B", options=options)
        solutions.c[k] = got.x.reshape(c.shape[1:])
        solutions.iterations[k], solutions.evaluations[k] = got.nit, got.nfev
    return judged(problem, solutions, floor), np.zeros(problem.count)
