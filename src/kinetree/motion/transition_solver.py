"""Solving transitions: Newton's method and an augmented Lagrangian; L-BFGS and Ipopt besides."""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.newton import Found, minimize
from kinetree.motion.splines import scipy_module
from kinetree.motion.terms import Bounds
from kinetree.motion.transition_problem import VIOLATION, Problem
from kinetree.motion.transition_settings import METHODS

MINIMISERS = ("l-bfgs", "ipopt")
"""Methods that take no constraints."""
GROWTH, ROUNDS = 10.0, 12
"""What a penalty grows by, and how often multipliers are moved at most."""


def solve(problem: Problem) -> tuple[Found, Array]:
    """The best coefficients of every problem, and how far its constraints are violated."""
    method = problem.settings.method
    if method in MINIMISERS and problem.constraints:
        raise KinetreeError(
            f"method {method!r} takes no limits and holds no frame exactly: use 'newton'"
        )
    if method == "l-bfgs":
        return _quasi_newton(problem)
    if method == "ipopt":
        from kinetree.motion.ipopt import by_ipopt  # needs an extra

        return by_ipopt(problem, reference_gradient(problem, problem.start()))
    return _newton(problem)


def _newton(problem: Problem) -> tuple[Found, Array]:
    """By Newton's method, constraints by an augmented Lagrangian."""
    c = problem.start()
    every = np.arange(problem.count)
    settings = problem.settings
    for part, term in problem.constraints:
        shape = part.state(problem.objective.whole(c[:1], every[:1])).q.shape[1:]
        size = shape if isinstance(term, Bounds) else (*shape[:-1], len(term.labels))
        term.prepare(problem.count, size, np.ones(problem.count))
    rate = _rates(problem, c)
    for _, term in problem.constraints:
        term.penalty = (10.0 * rate).reshape(-1, 1, 1, 1)
    reference = reference_gradient(problem, c)
    exact = METHODS[settings.method]

    def progress(values: Array) -> None:
        if settings.progress is not None:
            settings.progress(float(values.min()))

    found = minimize(
        problem.objective,
        c,
        settings.tolerance if not problem.constraints else max(settings.tolerance, 1e-5),
        settings.iterations,
        reference,
        exact,
        progress,
    )
    worst, last = problem.violation(found.c), np.full(problem.count, np.inf)
    rounds = 0
    while problem.constraints and not found.interrupted and rounds < ROUNDS:
        open_ = (worst > VIOLATION) | (found.optimality > settings.tolerance)
        if not open_.any():
            break
        _move_multipliers(problem, found.c)  # with the penalties that they were found with
        slow = worst > np.maximum(0.25 * last, VIOLATION)
        for _, term in problem.constraints:
            term.penalty[slow] *= GROWTH
        again = minimize(
            problem.objective,
            found.c,
            settings.tolerance,
            settings.iterations,
            reference,
            exact,
            progress,
            before=found,
        )
        found = _continued(found, again)
        last, worst = worst, problem.violation(found.c)
        rounds += 1
    return found, worst


def reference_gradient(problem: Problem, c: Array) -> Array:
    """The size of the cost's gradient at the start, without constraints."""
    every = np.arange(problem.count)
    gradient = problem.objective.expansion(c, every, False).gradient
    size = np.abs(gradient).max(axis=(1, 2))
    return np.where(size > 0.0, size, 1.0)


def _rates(problem: Problem, c: Array) -> Array:
    """The cost a second at the start, which penalties are relative to."""
    return np.maximum(problem.cost(c) / problem.duration, 1e-6)


def _move_multipliers(problem: Problem, c: Array) -> None:
    every = np.arange(problem.count)
    whole = problem.objective.whole(c, every)
    for part, term in problem.constraints:
        term.update(part.state(whole), every)


def _quasi_newton(problem: Problem) -> tuple[Found, Array]:
    """Limited-memory BFGS, as the report has it but for the memory; for comparison."""
    optimize = scipy_module("optimize")
    c = problem.start()
    reference = reference_gradient(problem, c)
    every = np.arange(problem.count)
    found = Found.at(c, problem.objective.values(c, every))
    found.history.append(found.value.copy())
    for k in range(problem.count):
        which = every[k : k + 1]

        def cost(x: Array, which: Array = which) -> tuple[float, Array]:
            value, gradient = problem.objective.value_and_gradient(
                x.reshape(1, *c.shape[1:]), which
            )
            return float(value[0]), gradient.ravel()

        options = {"maxiter": problem.settings.iterations, "maxfun": 10**6, "ftol": 0.0}
        options |= {"gtol": problem.settings.tolerance * reference[k], "maxcor": 20}
        got = optimize.minimize(cost, c[k].ravel(), jac=True, method="L-BFGS-B", options=options)
        found.c[k], found.value[k] = got.x.reshape(c.shape[1:]), got.fun
        found.optimality[k] = np.abs(got.jac).max() / reference[k]
        found.iterations[k], found.evaluations[k] = got.nit, got.nfev
        found.converged[k] = found.optimality[k] <= problem.settings.tolerance
    found.history.append(found.value.copy())
    return found, np.zeros(problem.count)


def _continued(before: Found, after: Found) -> Found:
    """What both minimisations did together."""
    after.iterations += before.iterations
    after.evaluations += before.evaluations
    after.history = before.history + after.history
    return after
