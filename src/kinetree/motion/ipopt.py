"""Transitions by the Ipopt that comes with CasADi: an alternative to Newton's method.

Source: A. Wächter & L. T. Biegler, On the implementation of an interior-point filter line-search
algorithm for large-scale nonlinear programming (2006).

Ipopt calls the compiled P, its gradient and its exact second derivatives as a sparse matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree._optional import optional
from kinetree.motion.arrays import Array
from kinetree.motion.newton import Solutions
from kinetree.motion.transition_problem import Problem
from kinetree.motion.transition_solver import cost_floor, judged


def by_ipopt(problem: Problem, c: Array) -> tuple[Solutions, Array]:
    """The best coefficients of every problem, one after the other.

    Arguments:
        problem: without constraints.
        c: the initial guess, (problems, blocks, n).
    """
    cs = optional("casadi", "method 'ipopt'")
    every, floor = np.arange(problem.count), cost_floor(problem, c)
    solutions = Solutions.at(c.copy(), problem.objective.values(c, every))
    solutions.history.append(solutions.value.copy())
    for k in range(problem.count):
        one = _OneProblem(problem, k, c[k].shape)
        steepest = np.abs(one.gradient(c[k].ravel())[1]).max()
        tolerance = max(problem.settings.tolerance * steepest, 1e-300)
        x, steps = one.minimum(cs, c[k].ravel(), tolerance, problem.settings.iterations)
        solutions.c[k] = x.reshape(c.shape[1:])
        solutions.iterations[k], solutions.evaluations[k] = steps, one.evaluations
    return judged(problem, solutions, floor), np.zeros(problem.count)


class _OneProblem:
    """One of the problems as functions of a vector."""

    def __init__(self, problem: Problem, number: int, shape: tuple[int, ...]) -> None:
        self.problem, self.which, self.shape = problem, np.array([number]), shape
        self.evaluations = 0

    def value(self, x: Array) -> float:
        self.evaluations += 1
        return float(self.problem.objective.values(x.reshape(1, *self.shape), self.which)[0])

    def gradient(self, x: Array) -> tuple[float, Array]:
        c = x.reshape(1, *self.shape)
        value, gradient = self.problem.objective.value_and_gradient(c, self.which)
        progress = self.problem.settings.progress
        if progress is not None:
            progress(float(value[0]))
        return float(value[0]), gradient.ravel()

    def hessian(self, x: Array) -> Array:
        """The upper triangle of the second derivatives, as a whole matrix."""
        at = self.problem.objective.expansion(x.reshape(1, *self.shape), self.which, True)
        blocks, wide, n = at.bands.shape[1:4]
        H = np.zeros((blocks, n, blocks, n))
        for d in range(wide):
            for k in range(blocks - d):
                H[k, :, k + d, :] = at.bands[0, k, d].T
        return np.triu(H.reshape(blocks * n, blocks * n))

    def pattern(self) -> Array:
        """The sparsity pattern of the upper triangle."""
        blocks, n = self.shape
        block = np.arange(blocks * n) // n
        near = np.abs(block[:, None] - block) <= self.problem.basis.degree
        return np.triu(near)

    def minimum(self, cs: Any, start: Array, tolerance: float, most: int) -> tuple[Array, int]:
        """Ipopt's result, and the number of iterations."""
        size = len(start)
        row, column = np.nonzero(self.pattern().T)[::-1]  # in CasADi's column order
        upper = cs.Sparsity.triplet(size, size, row.tolist(), column.tolist())
        dense, one, none = (cs.Sparsity.dense(n, 1) for n in (size, 1, 0))

        def slopes(x: Any, p: Any) -> list[Any]:
            return list(self.gradient(np.array(x).ravel()))

        def bends(x: Any, p: Any, factor: Any, others: Any) -> list[Any]:
            H = self.hessian(np.array(x).ravel())
            return [cs.DM(upper, float(factor) * H[row, column])]

        value = _callback(cs, "P", [dense], [one], lambda x: [self.value(np.array(x).ravel())])
        names = ["x", "p", "f", "grad_f_x"]
        gradient = _callback(cs, "gradient", [dense, none], [one, dense], slopes, names)
        names = ["x", "p", "lam_f", "lam_g", "triu_hess_gamma_x_x"]
        hessian = _callback(cs, "hessian", [dense, none, one, none], [upper], bends, names)
        x = cs.MX.sym("x", size)
        options = {
            "grad_f": gradient,
            "hess_lag": hessian,
            "calc_lam_p": False,
            "no_nlp_grad": True,
            "print_time": False,
            "ipopt": {
                "print_level": 0,
                "sb": "yes",
                "tol": tolerance,
                "nlp_scaling_method": "none",
                "max_iter": most,
            },
        }
        solver = cs.nlpsol("transition", "ipopt", {"x": x, "f": value(x)}, options)
        solved = solver(x0=start)
        return np.array(solved["x"]).ravel(), int(solver.stats()["iter_count"])


def _callback(
    cs: Any,
    name: str,
    inputs: list[Any],
    outputs: list[Any],
    evaluate: Callable[..., list[Any]],
    names: list[str] | None = None,
) -> Any:
    """A Python function as one of CasADi's, its inputs' names first."""

    class Called(cs.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_sparsity_in(self, i: int) -> Any:
            return inputs[i]

        def get_sparsity_out(self, i: int) -> Any:
            return outputs[i]

        def get_name_in(self, i: int) -> str:
            return names[i] if names else f"i{i}"

        def get_name_out(self, i: int) -> str:
            return names[len(inputs) + i] if names else f"o{i}"

        def eval(self, arguments: Any) -> list[Any]:
            return evaluate(*arguments)

    return Called()
