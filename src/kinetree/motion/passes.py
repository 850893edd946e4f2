"""The two passes of differential dynamic programming over a control problem, compiled.

The backward pass is a recursion over matrices (`runtime.cpu.riccati`). Its inputs, [A B] and the
costs to second order, come from kernels over all steps at once. The forward pass is a loop over
time in machine code, with the gains as series; each step length is a system of the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import difference, integrate
from kinetree.compiler.runtime.backend import backend
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.model import Model
from kinetree.motion.arrays import Array
from kinetree.motion.lagrangian import Multipliers
from kinetree.scalar import Scalar

if TYPE_CHECKING:
    from kinetree.motion.control_problem import ControlProblem

FUSED = 8
"""Up to this number of velocities, one kernel computes all inputs of the backward pass."""
ROUNDS = 4
"""The number of rounds that find the controls at their bounds."""


class Expansion(NamedTuple):
    """Motions and their costs to second order in z = (x, u), where x has 2 nv entries.

    Attributes:
        W: [A B] of every step, (problems, steps, nx, nz).
        H, g: Hessian and gradient of the running costs, (problems, steps, nz, nz) and (problems,
            steps, nz).
        S, s: Hessian and gradient of the final cost, (problems, nx, nx) and (problems, nx).
    """

    W: Array
    H: Array
    g: Array
    S: Array
    s: Array


class Gains(NamedTuple):
    """The result of a backward pass.

    Attributes:
        k, K: feedforward and feedback, (problems, steps, nu) and (problems, steps, nu, nx).
        slope, bend: first and second derivative of the cost along them, (problems,).
        fault: where Q_uu was not positive, (problems,).
        closing: the first-order change of the cost as gaps between steps close, (problems,).
        costate: the largest entry of the value's gradient, (problems,).
    """

    k: Array
    K: Array
    slope: Array
    bend: Array
    fault: Array
    closing: Array
    costate: Array


class Passes:
    """The backward and the forward pass of iLQR, for many problems at once.

    Arguments:
        problem: what moves, and what it costs.
    """

    def __init__(self, problem: ControlProblem) -> None:
        self.problem = problem
        robot = problem.robot
        flat = robot.nq == robot.nv
        simple = problem.step.plain and problem.inputs.plain
        self._fused = flat and simple and robot.nv <= FUSED

    # backward

    @cached_property
    def _euler(self) -> tuple[float, int] | None:
        """The length of steps by semi-implicit Euler, and the head of their W; else None."""
        head = self.problem.step.head
        return None if head is None else (self.problem.dt, head)

    def expansion(
        self,
        q: Array,
        v: Array,
        u: Array,
        start: float = 0.0,
        y: Multipliers | None = None,
    ) -> Expansion:
        """The derivatives of steps and costs along motions.

        Arguments:
            q, v: states, (problems, steps + 1, nq) and (problems, steps + 1, nv).
            u: controls, (problems, steps, nu).
            start: the time of the first state, s.
            y: the multipliers of conditions; None if there are none.

        Returns:
            The second-order expansion about the motions.
        """
        problem, costs = self.problem, self.problem.terms
        given = problem.step_arguments(q, v, u, start)
        running = [y.running] if y is not None and costs.row_count else []
        final = [y.final] if y is not None and costs.final_row_count else []
        end = self._final_kernel(q[..., -1, :], v[..., -1, :], *final)
        if self._fused:
            return Expansion(*self._expansion_kernel(*given, *running), *end)
        H, g = self._cost_kernel(*given, *running)
        _, before, speed, tau, *_ = given
        active, asked = problem.active(start), bool(costs.force_count)
        linear = problem.step.linear(before, speed, tau, active, asked)
        if linear.F is not None:
            H, g = _without_forces(H, g, linear.F)
        W, H, g = problem.inputs.chained(before, speed, u, linear.W, H, g)
        return Expansion(W, H, g, *end)

    @cached_property
    def _expansion_kernel(self) -> Any:
        """W, H and g of a step by Euler's method, of (t, q, v, tau)."""
        problem = self.problem
        dt, motors, n = problem.dt, list(problem.motors), problem.robot.nv
        dynamics = problem.robot.kernel("forward_dynamics_derivatives")

        def expand(model: Model, t: Scalar, q: Any, v: Any, tau: Any, *y: Any) -> dict[str, Any]:
            by_q, by_v, by_tau = dynamics.on_scalars(q, v, tau)
            below = [
                [dt * x for x in (*by_q[i], *by_v[i], *(by_tau[i][m] for m in motors))]
                for i in range(n)
            ]
            for i in range(n):
                below[i][n + i] = 1.0 + below[i][n + i]
            above = [[dt * x for x in row] for row in below]
            for i in range(n):
                above[i][i] = 1.0 + above[i][i]
            return {"W": above + below} | self._cost_quadratic(t, q, v, tau, *y)

        return self._kernel(expand, "expansion")

    @cached_property
    def _cost_kernel(self) -> Any:
        """H and g of a step, of (t, q, v, tau)."""
        return self._kernel(lambda model, *given: self._cost_quadratic(*given), "cost_expansion")

    def _kernel(self, function: Any, name: str) -> Any:
        robot, costs = self.problem.robot, self.problem.terms
        lengths: dict[str, int | None] = {"t": None, "q": robot.nq, "v": robot.nv, "tau": robot.nv}
        lengths |= {"forces": costs.force_count} if costs.force_count else {}
        lengths |= {"y": costs.row_count + 1} if costs.row_count else {}
        return robot.custom_kernel(function, lengths, name)

    def _cost_quadratic(self, t: Scalar, q: Any, v: Any, tau: Any, *rest: Any) -> dict[str, Any]:
        """The cost of a step to second order by (x, u), and by forces, over scalars."""
        problem, n, dt = self.problem, self.problem.robot.nv, self.problem.dt
        forces = problem.terms.force_count
        H, g = problem.terms.quadratic(t, q, v, tau, *rest)
        every = [*range(2 * n), *(2 * n + m for m in problem.motors)]
        every += range(3 * n, 3 * n + forces)
        return {
            "H": [[dt * H[i][j] for j in every] for i in every],
            "g": [dt * g[i] for i in every],
        }

    @cached_property
    def _final_kernel(self) -> Any:
        """S and s, of (q, v) and the multipliers."""
        costs, robot = self.problem.terms, self.problem.robot

        def expand(model: Model, q: Any, v: Any, *y: Any) -> dict[str, Any]:
            S, s = costs.final_quadratic(q, v, *y)
            return {"S": S, "s": s}

        lengths = {"q": robot.nq, "v": robot.nv}
        lengths |= {"y": costs.final_row_count + 1} if costs.final_row_count else {}
        return robot.custom_kernel(expand, lengths, "final_expansion")

    def backward(
        self, at: Expansion, damping: Array, lower: Array, upper: Array, gaps: Array | None = None
    ) -> Gains:
        """The gains of many problems.

        Arguments:
            at: the expansion about the motions.
            damping: added to the diagonal of Q_uu, (problems,).
            lower, upper: bounds on the change of controls, (problems, steps, nu).
            gaps: between the end of each step and the next state, (problems, steps, nx); zero if
                None.

        Returns:
            Feedforward and feedback gains of every step.
        """
        if not backend().compiles:
            from kinetree.motion.backward import backward

            return backward(at, damping, lower, upper, gaps)
        from kinetree.compiler.runtime.cpu.riccati import riccati

        rounds = ROUNDS if self.problem.bounded else 0
        k, K, sums = riccati(*at, damping, lower, upper, rounds, gaps, self._euler)
        slope, bend, fault, closing, costate = sums.T
        return Gains(k, K, slope, bend, fault > 0.0, closing, costate)

    # forward

    def forward(
        self,
        states: tuple[Array, Array],
        controls: Array,
        gains: tuple[Array, Array],
        alphas: Array,
        start: float = 0.0,
        gaps: Array | None = None,
        y: Multipliers | None = None,
        first: tuple[Array, Array] | None = None,
    ) -> tuple[Array, Array, Array, Array]:
        """The motions under u + alpha k + K (x (-) x0) for several alphas, and their costs.

        Arguments:
            states: q and v, (problems, steps + 1, n).
            controls: (problems, steps, nu).
            gains: k and K from `backward`.
            alphas: step lengths.
            start: the time of the first state, s.
            gaps: (problems, steps, nx), of which the share 1 - alpha stays open; none if None.
            y: the multipliers of conditions; None if there are none.
            first: q and v to start from, (problems, n); those of `states` if None.

        Returns:
            q, v, u and costs, (problems, alphas, ...); costs include the terms of conditions.
        """
        problem, costs = self.problem, self.problem.terms
        (q, v), (k, K) = states, gains
        problems, many = len(q), len(alphas)
        count = problems * many

        def spread(x: Array) -> Array:
            """An array for each system; that of a single problem is shared."""
            if problems == 1 or many == 1:
                return x
            return np.repeat(x, many, axis=0)

        series = [controls, k, K.reshape(*K.shape[:2], -1), q[:, :-1], v[:, :-1]]
        if problem.step.switches:
            series.append(np.tile(problem.active(start), (problems, 1, 1)))
        series += [y.running] if y is not None and costs.row_count else []
        series += [] if gaps is None else [gaps]
        begin = map(spread, (q[:, 0], v[:, 0]) if first is None else first)
        arguments = [np.zeros(count), *begin, np.zeros(count)]
        arguments += [np.tile(alphas, problems), np.full(count, start), *map(spread, series)]
        arrays = {
            "q": np.empty((count, problem.steps + 1, q.shape[-1])),
            "v": np.empty((count, problem.steps + 1, v.shape[-1])),
            "u": np.empty((count, problem.steps, problem.nu)),
        }
        kept = {"q": arrays["q"][:, :-1], "v": arrays["v"][:, :-1], "u": arrays["u"]}
        loop = self._loop if gaps is None else self._loop_with_gaps
        final = loop(arguments, count, problem.steps, 1, tuple(kept), kept).final
        for name in ("q", "v"):
            arrays[name][:, -1] = final[name]
        last = [spread(y.final)] if y is not None and costs.final_row_count else []
        cost = final["cost"] + costs.final_merit(final["q"], final["v"], *last)
        shape = (problems, many)
        return (*(x.reshape(*shape, *x.shape[1:]) for x in arrays.values()), cost.reshape(shape))

    @cached_property
    def _loop(self) -> TimeLoop:
        return self._forward_loop(False)

    @cached_property
    def _loop_with_gaps(self) -> TimeLoop:
        return self._forward_loop(True)

    def _forward_loop(self, gaps: bool) -> TimeLoop:
        """States count, q, v and cost; constants alpha and start; series u, k, K, q0, v0, ..."""
        problem, costs = self.problem, self.problem.terms
        nu, nv, nq, m = problem.nu, problem.robot.nv, problem.robot.nq, costs.row_count
        lengths: dict[str, int | None] = {"count": None, "q": nq, "v": nv, "cost": None}
        lengths |= {"alpha": None, "start": None, "u0": nu, "k": nu, "K": 2 * nu * nv}
        lengths |= {"q0": nq, "v0": nv}
        lengths |= {"active": problem.step.switches} if problem.step.switches else {}
        lengths |= ({"y": m + 1} if m else {}) | ({"gap": 2 * nv} if gaps else {})
        names = list(lengths)

        def step(model: Model, *values: Any) -> dict[str, Any]:
            x = dict(zip(names, values, strict=True))
            t, q, v, alpha = x["start"] + x["count"] * problem.dt, x["q"], x["v"], x["alpha"]
            moved = [a + alpha * b for a, b in zip(x["u0"], x["k"], strict=True)]
            u = problem.feedback(t, q, v, [*moved, *x["K"], *x["q0"], *x["v0"]])
            tau = problem.inputs.on_scalars(q, v, u)
            asked = bool(costs.force_count)
            active = x.get("active", ())
            q1, v1, forces = problem.step.advance(model, q, v, tau, active, asked)
            if gaps:
                left = [(alpha - 1.0) * gap for gap in x["gap"]]
                q1 = integrate(model, q1, left[:nv])
                v1 = [a + b for a, b in zip(v1, left[nv:], strict=True)]
            given = [[t], q, v, tau, *([forces] if asked else []), *([x["y"]] if m else [])]
            return {
                "next_count": x["count"] + 1.0,
                "next_q": q1,
                "next_v": v1,
                "next_cost": x["cost"] + problem.dt * costs.merit.on_scalars(*given)[0],
                "u": u,
            }

        kernel = problem.robot.custom_kernel(step, lengths, "forward_pass")
        return TimeLoop(kernel, states=4, series=len(names) - 6)

    def merit(
        self, q: Array, v: Array, u: Array, start: float = 0.0, y: Multipliers | None = None
    ) -> Array:
        """The costs of motions, with the terms of conditions.

        Arguments:
            q, v, u, start, y: as in `expansion`.

        Returns:
            (problems,).
        """
        problem, costs = self.problem, self.problem.terms
        running = [y.running] if y is not None and costs.row_count else []
        final = [y.final] if y is not None and costs.final_row_count else []
        total = costs.merit(*problem.step_arguments(q, v, u, start), *running).sum(axis=-1)
        return total * problem.dt + costs.final_merit(q[..., -1, :], v[..., -1, :], *final)

    # gaps

    def gaps(self, q: Array, v: Array, u: Array, start: float = 0.0) -> Array:
        """The gap between the end of each step and the next state.

        Arguments:
            q, v: states, (problems, steps + 1, nq) and (problems, steps + 1, nv).
            u: controls, (problems, steps, nu).
            start: the time of the first state, s.

        Returns:
            (problems, steps, nx).
        """
        problem = self.problem
        state = q[:, :-1], v[:, :-1]
        after = problem.step.after(*state, problem.forces(*state, u), problem.active(start))
        way = self._difference_kernel(q[:, 1:], after[0])
        return np.concatenate([way, after[1] - v[:, 1:]], axis=-1)

    @cached_property
    def _difference_kernel(self) -> Any:
        nq = self.problem.robot.nq
        return self.problem.robot.custom_kernel(difference, {"q0": nq, "q1": nq}, "difference")


def _without_forces(H: Array, g: Array, F: Array) -> tuple[Array, Array]:
    """Derivatives by (z, forces) as those by z, with F those of forces by z.

    Second derivatives of forces are left out (Gauss-Newton).
    """
    n = F.shape[-1]
    F_T = F.swapaxes(-1, -2)
    cross = H[..., :n, n:] @ F
    H = H[..., :n, :n] + cross + cross.swapaxes(-1, -2) + F_T @ H[..., n:, n:] @ F
    return H, g[..., :n] + (F_T @ g[..., n:, None])[..., 0]
