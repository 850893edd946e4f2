"""The iterative linear-quadratic regulator with bounded controls, for many problems at once.

Source: W. Li & E. Todorov, Iterative linear quadratic regulator design for nonlinear biological
movement systems (2004); Y. Tassa, N. Mansard & E. Todorov, Control-limited differential dynamic
programming (2014): the bounds, and the damping of the backward pass.

    paper        code      meaning
    V_x, V_xx    s, S      the value's gradient and second derivatives
    k, K         k, K      feedforward and feedback of each step
    alpha        ALPHAS    step lengths; all but the first are tried at once, lanes of one rollout
    mu           damping   added to Q_uu

differs: where Q_uu is not positive, the costs are first taken without their negative curvature; the
quadratic program of each step is solved by a fixed number of rounds, in each of which
controls whose bound the gradient pushes across are held there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.control_problem import ControlProblem, Quadratic
from kinetree.motion.motion import Motion
from kinetree.typing import ArrayLike

ALPHAS = 0.5 ** np.arange(8)
ROUNDS = 4
"""Of the search for the controls at their bounds."""
SMALLEST, LARGEST = 1e-9, 1e9
"""Of the damping."""
ENOUGH = 1e-4
"""The share of the predicted decrease that a step must reach."""


@dataclass
class Controlled:
    """Optimal motions, one or a batch.

    times: of the states, s, (steps + 1,).
    q, v: states, (..., steps + 1, n).
    u: controls of the motors, (..., steps, nu).
    K: feedback gains: u + K (x (-) x0) is optimal near the motion, (..., steps, nu, 2 nv).
    value: the costs, (...).
    converged: whether the last step changed the cost no more, (...).
    message: if one did not converge, why.
    iterations: how many each took, (...).
    history: the costs after each iteration, (iterations, ...).
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
    message: str = ""

    def motion(self, index: int | tuple[int, ...] = ()) -> Motion:
        """The motion of one problem.

        Arguments:
            index: of the problem, in a batch.
        """
        return Motion(self.problem.robot, self.times, self.q[index], self.v[index])


def ilqr(
    problem: ControlProblem,
    q0: ArrayLike,
    v0: ArrayLike,
    u: ArrayLike | None = None,
    tolerance: float = 1e-9,
    iterations: int = 100,
    start: float = 0.0,
    progress: Callable[[float], object] | None = None,
) -> Controlled:
    """Minimise the costs from each of a batch of states.

    Arguments:
        problem: what moves, and what it costs.
        q0, v0: states, (..., nq) and (..., nv).
        u: controls to start from, (..., steps, nu); those that hold the first state if None.
        tolerance: of the relative decrease in which a problem has converged.
        iterations: at most so many.
        start: the time of the first state, s.
        progress: called with the least cost after each iteration. KeyboardInterrupt ends the
            computation with the best so far.
    """
    robot = problem.robot
    given = [np.asarray(q0, float), np.asarray(v0, float)]
    batch = np.broadcast_shapes(given[0].shape[:-1], given[1].shape[:-1])
    q_first, v_first = (
        np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]))
        for x in given
    )
    shape = (len(q_first), problem.steps, problem.nu)
    if u is None:
        held = robot.gravity_forces(q_first)[:, None, problem.motors]
        controls = np.broadcast_to(held, shape)
    else:
        controls = np.broadcast_to(np.asarray(u, float), (*batch, *shape[1:])).reshape(shape)
    solver = _Solver(problem, q_first, v_first, np.clip(controls, problem.lower, problem.upper))
    solver.start = start
    history = solver.run(tolerance, iterations, progress)

    def shaped(x: Array) -> Array:
        return x.reshape((*batch, *x.shape[1:]))

    message = "converged"
    if not solver.done.all():
        k = int(np.argmin(solver.done))
        which = f"problem {k}: " if batch else ""
        message = f"{which}not converged after {int(solver.count[k])} iterations"
        if solver.damping[k] > LARGEST:
            message = f"{which}not converged: no step along the gradient lowers the cost"
    return Controlled(
        problem,
        start + np.arange(problem.steps + 1) * problem.dt,
        shaped(solver.q),
        shaped(solver.v),
        shaped(solver.u),
        shaped(solver.K),
        shaped(solver.value),
        shaped(solver.done),
        shaped(solver.count),
        np.array([shaped(x) for x in history]),
        message,
    )


class _Solver:
    """All problems between iterations."""

    start = 0.0

    def __init__(self, problem: ControlProblem, q0: Array, v0: Array, u: Array) -> None:
        self.problem, self.u = problem, u.copy()
        n = problem.robot.nv
        self.q, self.v = problem.roll(q0, v0, self.u)
        self.K = np.zeros((len(u), problem.steps, problem.nu, 2 * n))
        self.damping = np.full(len(u), 1e-6)
        self.growth = np.full(len(u), 2.0)
        self.done = np.zeros(len(u), bool)
        self.count = np.zeros(len(u), int)
        self.value: Array = np.zeros(0)

    def run(
        self, tolerance: float, iterations: int, progress: Callable[[float], object] | None
    ) -> list[Array]:
        """Iterate until all have converged or cannot go on."""
        problem = self.problem
        self.value = problem.costs(self.q, self.v, self.u, self.start)
        if not np.isfinite(self.value).all():
            k = int(np.argmin(np.isfinite(self.value)))
            raise KinetreeError(
                f"the motion that problem {k} starts from diverges: give other controls, or a "
                "smaller dt"
            )
        history = [self.value.copy()]
        try:
            for _ in range(iterations):
                active = np.flatnonzero(~self.done & (self.damping <= LARGEST))
                if not active.size:
                    break
                self._iterate(active, tolerance)
                history.append(self.value.copy())
                if progress is not None:
                    progress(float(self.value.min()))
        except KeyboardInterrupt:
            pass
        return history

    def _iterate(self, active: Array, tolerance: float) -> None:
        """One backward and one forward pass of the active problems."""
        problem = self.problem
        q, v, u = self.q[active], self.v[active], self.u[active]
        A, B = problem.linearized(q, v, u)
        costs, last, second = problem.quadratics(q, v, u, self.start)
        room = problem.lower - u, problem.upper - u
        damping = self.damping[active]
        found = problem.backward(A, B, costs, last, second, damping, *room)
        if found[-1].any():  # somewhere the costs curve downwards
            found = problem.backward(A, B, *_convex(costs, second, last), damping, *room)
        k, K, slope, bend, fault = found
        self.count[active] += 1
        self.K[active] = K
        rows = np.flatnonzero(~fault)
        better, whole = np.zeros(len(active), bool), np.zeros(len(active), bool)
        for alphas in (ALPHAS[:1], ALPHAS[1:]):  # a whole step is mostly right
            rows = rows[~better[rows]]
            if rows.size:
                some = (k[rows], K[rows], slope[rows], bend[rows])
                better[rows] = self._forward(active[rows], *some, alphas)
            whole |= better & (len(alphas) == 1)
        size = np.maximum(np.abs(self.value[active]), 1e-12)
        self.done[active] = (-(slope + 0.5 * bend) <= tolerance * size) & ~fault
        self._damp(active, better, whole)

    def _forward(
        self, which: Array, k: Array, K: Array, slope: Array, bend: Array, alphas: Array
    ) -> Array:
        """Take the best of some step lengths, where one lowers the cost enough."""
        problem = self.problem
        q, v, u = (x[which][:, None] for x in (self.q, self.v, self.u))
        tried = u + alphas[:, None, None] * k[:, None]
        ends = q[:, :, 0], v[:, :, 0]
        paths = problem.roll_feedback(*ends, tried, K[:, None], q[:, :, :-1], v[:, :, :-1])
        value = problem.costs(*paths, self.start)
        predicted = -(alphas * slope[:, None] + 0.5 * alphas**2 * bend[:, None])
        enough = self.value[which, None] - value >= ENOUGH * predicted
        value = np.where(np.isfinite(value) & enough, value, np.inf)
        best = np.argmin(value, axis=1)
        least = value[np.arange(len(which)), best]
        better = least < self.value[which]
        moved, taken = which[better], (np.flatnonzero(better), best[better])
        for name, path in zip(("q", "v", "u"), paths, strict=True):
            getattr(self, name)[moved] = path[taken]
        self.value[moved] = least[better]
        return better

    def _damp(self, active: Array, better: Array, whole: Array) -> None:
        """Less damping after a whole step, more after none; faster the more often there is none."""
        damping, growth = self.damping[active], self.growth[active]
        lowered = np.where(whole, np.maximum(damping / 3.0, SMALLEST), damping)
        self.damping[active] = np.where(better, lowered, np.maximum(damping, 1e-6) * growth)
        self.growth[active] = np.where(better, 2.0, 2.0 * growth)


def _convex(costs: Quadratic, second: Array, last: Array) -> tuple[Quadratic, Array, Array]:
    """Costs without negative curvature, as `backward` takes them: with the final ones."""
    n = costs.x.shape[-1]
    top = np.concatenate([costs.xx, costs.ux.swapaxes(-1, -2)], axis=-1)
    H = _clipped(np.concatenate([top, np.concatenate([costs.ux, costs.uu], axis=-1)], axis=-2))
    parts = H[..., :n, :n], H[..., n:, :n], H[..., n:, n:]
    return Quadratic(costs.x, costs.u, *parts), last, _clipped(second)


def _clipped(H: Array) -> Array:
    """Symmetric matrices, their negative eigenvalues replaced by zero."""
    values, vectors = np.linalg.eigh(H)
    return (vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2)


def backward(
    A: Array,
    B: Array,
    costs: Quadratic,
    last: Array,
    second: Array,
    damping: Array,
    lower: Array,
    upper: Array,
) -> tuple[Array, Array, Array, Array, Array]:
    """The backward pass of many problems.

    Arguments:
        A, B, costs: (problems, steps, ...), of every step.
        last, second: the final cost's gradient and second derivatives.
        damping: (problems,).
        lower, upper: bounds of the change of controls, (problems, steps, nu).

    Returns:
        k, K, the slope and the curvature of the cost along them, and where Q_uu was not positive.
    """
    problems, steps, nx, nu = B.shape
    s, S = last, second
    k, K = np.zeros((problems, steps, nu)), np.zeros((problems, steps, nu, nx))
    slope, bend = np.zeros(problems), np.zeros(problems)
    fault = np.zeros(problems, bool)
    eye = damping[:, None, None] * np.eye(nu)
    for t in range(steps - 1, -1, -1):
        At, Bt = A[:, t].swapaxes(-1, -2), B[:, t].swapaxes(-1, -2)
        SA, SB = S @ A[:, t], S @ B[:, t]
        Qx = costs.x[:, t] + (At @ s[..., None])[..., 0]
        Qu = costs.u[:, t] + (Bt @ s[..., None])[..., 0]
        Qxx = costs.xx[:, t] + At @ SA
        Qux = costs.ux[:, t] + Bt @ SA
        Quu = costs.uu[:, t] + Bt @ SB
        regular = Quu + eye * np.maximum(np.abs(Quu).max(axis=(1, 2)), 1.0)[:, None, None]
        good = np.linalg.eigvalsh(regular)[:, 0] > 0.0
        fault |= ~good
        regular[~good] = np.eye(nu)
        k[:, t], K[:, t] = _bounded(regular, Qu, Qux, lower[:, t], upper[:, t])
        kt, Kt = k[:, t, :, None], K[:, t].swapaxes(-1, -2)
        slope += (k[:, t] * Qu).sum(axis=1)
        bend += (kt.swapaxes(-1, -2) @ Quu @ kt)[:, 0, 0]
        s = Qx + (Kt @ (Quu @ kt + Qu[..., None]) + Qux.swapaxes(-1, -2) @ kt)[..., 0]
        cross = Kt @ Qux
        S = Qxx + Kt @ Quu @ K[:, t] + cross + cross.swapaxes(-1, -2)
        S = 0.5 * (S + S.swapaxes(-1, -2))
    return k, K, slope, bend, fault


def _bounded(H: Array, g: Array, G: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The minimum of g.k + k.H.k / 2 within bounds, and the gains of the controls that are free."""
    k = -np.linalg.solve(H, g[..., None])[..., 0]
    held = np.zeros(k.shape, bool)
    if ((k < lower) | (k > upper)).any():
        for _ in range(ROUNDS):
            at = np.clip(k, lower, upper)
            gradient = g + (H @ at[..., None])[..., 0]
            held = ((at <= lower) & (gradient > 0.0)) | ((at >= upper) & (gradient < 0.0))
            free = ~held
            matrix = np.where(free[:, :, None] & free[:, None, :], H, 0.0)
            matrix += np.eye(k.shape[-1]) * held[:, :, None]
            fixed = np.where(held, at, 0.0)
            right = np.where(held, at, -g - (H @ fixed[..., None])[..., 0])
            k = np.linalg.solve(matrix, right[..., None])[..., 0]
        k = np.clip(k, lower, upper)
        free = (~held)[:, :, None]
        matrix = np.where(free & free.swapaxes(1, 2), H, 0.0)
        matrix += np.eye(k.shape[-1]) * held[:, :, None]
        return k, -np.linalg.solve(matrix, np.where(free, G, 0.0))
    return k, -np.linalg.solve(H, G)
