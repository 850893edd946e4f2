"""Transitions: motions of least effort between two states.

Source: A. Witkin & M. Kass, Spacetime constraints (1988); C. Rose, B. Guenter, B. Bodenheimer & M.
Cohen, Efficient generation of motion transitions using spacetime constraints (1996); Guenter &
Rose, MSR-TR-2000-80: minimise P, the integral of the sum of squared joint forces, over the
coefficients of B-splines.

differs: the report minimises by BFGS. P is a sum of squares and splines have local support, so here
it is Newton's method with a band matrix, for many problems at once (`newton.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.control.pose import POSE, POSITION, seven_numbers
from kinetree.errors import KinetreeError, ShapeError, unknown
from kinetree.lazy import cached_property
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion, MotionState, same_robot
from kinetree.motion.newton import Found, minimize
from kinetree.motion.objective import Part, SplineObjective
from kinetree.motion.splines import Basis, Grid, checked_basis, scipy_module
from kinetree.motion.terms import (
    Bounds,
    Constraint,
    Held,
    Squares,
    Term,
    Traced,
    turned_squares,
)
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.motion.result import Transition
    from kinetree.robot import Robot

METHODS = {"newton": "late", "exact-newton": "always", "gauss-newton": "never", "l-bfgs": ""}
"""Maps a method's name to when its second derivatives are exact."""
LIMITS = ("q", "v", "tau")
GROWTH, ROUNDS = 10.0, 12
"""What a penalty grows by, and how often multipliers are moved at most."""
VIOLATION = 1e-6
"""Relative to the scale of a constraint, below which it is met."""


@dataclass(frozen=True)
class Hold:
    """A frame that stays where it is, or is led along a path, for some time.

    Arguments:
        frame: its name.
        target: its pose, a 4x4 matrix, or its position, (3,); a function from the time to one of
            them; by default where the frame is when the transition starts.
        first, last: from when to when, s; by default the whole transition.
        rows: "pose" or "position".
        weight: None holds it exactly; a number adds this times the squared error to the cost, in
            1/m^2 and 1/rad^2, each second.
    """

    frame: str
    target: Any = None
    first: float = 0.0
    last: float = np.inf
    rows: str = "pose"
    weight: float | None = None


@dataclass(frozen=True)
class Settings:
    """How a transition is computed; see `Robot.transition`."""

    weights: ArrayLike | None = None
    root: float | str = "passive"
    limits: Sequence[str] = ()
    hold: Sequence[Hold] = ()
    cost: Callable[..., Any] | None = None
    degree: int = 3
    coefficients: int = 16
    points: int | None = 4
    samples: int | None = None
    starts: int = 1
    seed: int = 0
    spread: float = 0.3
    method: str = "newton"
    tolerance: float = 1e-8
    iterations: int = 300
    progress: Callable[[float], object] | None = field(default=None, compare=False)


class Flat:
    """A robot in charts in which velocities are the rates of coordinates.

    Arguments:
        robot: in any charts.
    """

    def __init__(self, robot: Robot) -> None:
        self.original = robot
        self.same = robot.nq == robot.nv
        self.robot = robot if self.same else robot.rechart("exponential")
        self.terms: dict[Any, Any] = {}

    @cached_property
    def _into(self) -> Any:
        return self.original.conversion(self.robot)

    @cached_property
    def _back(self) -> Any:
        return self.robot.conversion(self.original)

    @cached_property
    def turns(self) -> list[int]:
        """The first coordinate of each rotation vector."""
        model, flat = self.original.model, self.robot.model
        joints = ((i, model.bodies[i].joint) for i in model.coordinate_order)
        return [flat.v_slices[i].stop - 3 for i, joint in joints if joint.nq != joint.nv]

    def state(self, state: Sequence[Array], near: Array | None = None) -> list[Array]:
        """q and as many of its rates as are given, with q near another configuration."""
        if self.same:
            return list(state)
        q, *rates = state
        y = self._into.configuration(q)
        if near is not None:
            pairs = np.stack([near, y], axis=1)
            y = np.stack([self.robot.continuous(pair)[1] for pair in pairs])
        found = [y]
        if rates:
            found.append(self._into.velocity(q, rates[0], y))
        if len(rates) > 1:
            found.append(self._into.acceleration(q, rates[0], rates[1], y))
        return found

    def back(self, y: Array, dy: Array, ddy: Array) -> MotionState:
        """The same motion in the robot's own charts."""
        if self.same:
            return MotionState(y, dy, ddy)
        q = self._back.configuration(y)
        v = self._back.velocity(y, dy, q)
        return MotionState(q, v, self._back.acceleration(y, dy, ddy, q))

    def effort(self, weights: Array) -> Term:
        """The squared joint forces, weighted."""
        if not any(weights[i : i + 3].any() for i in self.turns):
            return Squares(weights)
        key = ("effort", *weights.tolist())
        if key not in self.terms:
            self.terms[key] = turned_squares(self.robot, self.turns, weights)
        return self.terms[key]

    def cost(self, function: Callable[..., Any]) -> Term:
        """A cost (t, q, v, a, tau, poses) of the user."""
        if function not in self.terms:
            self.terms[function] = _users_cost(self.robot, function)
        return self.terms[function]


def _users_cost(robot: Robot, function: Callable[..., Any]) -> Traced:
    from kinetree.algorithms import frame_pose

    def cost(model: Any, t: Any, q: Any, v: Any, a: Any, tau: Any) -> Any:
        return function(t, q, v, a, tau, lambda frame: frame_pose(model, q, frame))

    return Traced(robot, cost, ("t", "q", "v", "a", "tau"), name="cost")


def states_of(robot: Robot, given: Any, which: str) -> list[Array]:
    """q and perhaps v and a, each (problems, n), of what a user gives as an end of a transition."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Motion):
        motion, t = given
        same_robot(robot, motion.robot)
        given = tuple(motion.at(t))
    elif isinstance(given, Motion):
        same_robot(robot, given.robot)
        given = tuple(given.at(given.times[-1] if which == "first" else given.times[0]))
    parts = list(given) if isinstance(given, tuple) else [given, np.zeros(robot.nv)]
    if not 1 <= len(parts) <= 3:
        raise ShapeError(f"the {which} state has {len(parts)} arrays; q, v and a are expected")
    if len(parts) == 1:
        parts.append(np.zeros(robot.nv))
    found = []
    for name, part, n in zip("qva", parts, (robot.nq, robot.nv, robot.nv), strict=False):
        array = np.asarray(part, float)
        if array.shape[-1:] != (n,) or not np.isfinite(array).all():
            raise ShapeError(
                f"{name} of the {which} state has shape {array.shape}; finite numbers are "
                f"expected, with {n} on the last axis"
            )
        found.append(array)
    return found


class Problem:
    """Transitions of one robot between pairs of states.

    Arguments:
        flat: the robot in flat charts.
        first, second: the states, lists of q, v, a that broadcast.
        duration: s.
        settings: how.
    """

    def __init__(
        self,
        flat: Flat,
        first: list[Array],
        second: list[Array],
        duration: float,
        settings: Settings,
    ) -> None:
        _check(settings)
        if not (np.isfinite(duration) and duration > 0.0):
            raise KinetreeError(f"duration={duration!r}: a positive number of seconds is expected")
        self.flat, self.robot, self.duration = flat, flat.robot, float(duration)
        self.settings = settings
        shapes = [x.shape[:-1] for x in (*first, *second)]
        self.batch = np.broadcast_shapes(*shapes)
        starts = (settings.starts,)
        # (batch..., starts) in one axis
        ends = [
            [
                np.broadcast_to(x[..., None, :], (*self.batch, *starts, x.shape[-1])).reshape(
                    -1, x.shape[-1]
                )
                for x in state
            ]
            for state in (first, second)
        ]
        self.first = flat.state(ends[0])
        self.second = flat.state(ends[1], self.first[0])
        self.count = len(self.first[0])
        if "q" in settings.limits:
            _check_ends(flat.original, ends[0][0], "first")
            _check_ends(flat.original, ends[1][0], "second")
        fixed = len(first) + len(second)
        self.basis = checked_basis(settings.coefficients, settings.degree, fixed)
        self.grid = self._grid(self.basis)
        self.ends = tuple(
            self.basis.end(np.stack(state, axis=1), self.duration, last)
            for state, last in ((self.first, False), (self.second, True))
        )
        self.effort = Part(self.robot, self.grid, self._costs(), self.duration)
        self.constraints: list[tuple[Part, Constraint]] = []
        self.parts = [self.effort]
        self._constrain()
        self.objective = SplineObjective(self.parts, self.ends)

    def _grid(self, basis: Basis) -> Grid:
        if self.settings.samples is not None:
            n = self.settings.samples
            return Grid.at(basis, (np.arange(n) + 0.5) / n, 1.0 / n)
        return Grid.gauss(basis, self.settings.points or 4)

    # what is minimised

    @property
    def root(self) -> slice:
        """The velocities of a free root; none if there is none."""
        model = self.robot.model
        for i in model.coordinate_order:
            if model.bodies[i].parent < 0 and model.bodies[i].joint.nv == 6:
                return model.v_slices[i]
        return slice(0, 0)

    def _costs(self) -> list[Term]:
        weights = self.settings.weights
        given = np.ones(self.robot.nv) if weights is None else np.asarray(weights, float)
        if given.shape != (self.robot.nv,) or not (given >= 0.0).all():
            raise ShapeError(
                f"weights has shape {given.shape}; ({self.robot.nv},) is expected, none negative"
            )
        given = given.copy()
        root = self.settings.root
        # where no force may act it is exactly zero at some times, and its square small in between
        given[self.root] *= 1.0 if root == "passive" else float(root)
        terms: list[Term] = [self.flat.effort(given)]
        if self.settings.cost is not None:
            terms.append(self.flat.cost(self.settings.cost))
        return terms

    def _constrain(self) -> None:
        """Add limits, held frames, and the root on which no force acts."""
        original, nv = self.flat.original, self.robot.nv
        lower, upper, velocity, effort = original.limits
        names = original.velocity_names
        for kind in self.settings.limits:
            if kind == "q" and self.flat.same:
                scale = np.where(np.isfinite(upper - lower), np.maximum(upper - lower, 1e-3), 1.0)
                self._add(self.grid, Bounds("q", lower, upper, scale, names, "position"))
            elif kind == "q":
                low, up = _spread_limits(original, nv)
                self._add(self.grid, Bounds("q", low, up, np.ones(nv), names, "position"))
            else:
                bound, of = (velocity, "velocity") if kind == "v" else (effort, "joint force")
                bound = np.where(bound > 0.0, bound, np.inf)
                scale = np.where(np.isfinite(bound), bound, 1.0)
                self._add(self.grid, Bounds(kind, -bound, bound, scale, names, of))
        root = self.root
        if self.settings.root == "passive" and root.stop > root.start:
            bound = np.full(nv, np.inf)
            bound[root] = 0.0
            weight = self.robot.total_mass * max(float(np.linalg.norm(self.robot.gravity)), 1.0)
            scale = np.full(nv, weight)
            self._add(self.sparse, Bounds("tau", -bound, bound, scale, names, "root force"))
        for hold in self.settings.hold:
            self._hold(hold)

    @cached_property
    def sparse(self) -> Grid:
        """Where equalities hold exactly all the time."""
        return self._exact_times(0.0, 1.0)

    def _exact_times(self, first: float, last: float, density: int = 1) -> Grid:
        """Times for equalities between two: so many for each free coefficient.

        Near the ends, where the states are given, there are none.
        """
        before, after = (end.shape[1] for end in self.ends)
        free = self.basis.greville[before : self.basis.count - after]
        low, high = max(first, free[0]), min(last, free[-1])
        if high <= low:
            return Grid.at(self.basis, free[:1], 0.0)
        count = max(3, round(density * (high - low) / (free[-1] - free[0]) * len(free)))
        count = min(count, density * len(free))
        return Grid.at(self.basis, np.linspace(low, high, count), 1.0)

    def _density(self, frame: str, rows: int) -> int:
        """How many times for each free coefficient a frame can be held exactly.

        Two, if its joints (without a free root) have twice as many coordinates as equalities.
        """
        J = self.robot.jacobian(self.first[0][0] + 0.1, frame)
        moving = np.abs(J).max(axis=0) > 1e-9
        moving[self.root] = False
        return 2 if 2 * rows <= moving.sum() else 1

    def _hold(self, hold: Hold) -> None:
        """A frame is held exactly at some times, or with a weight at all samples."""
        if hold.frame not in self.robot.frames:
            raise unknown("frame", hold.frame, self.robot.frames, f"robot {self.robot.name!r}")
        rows = {"pose": POSE, "position": POSITION}
        if hold.rows not in rows:
            raise unknown("value of rows", hold.rows, rows, "Hold")
        density = self._density(hold.frame, rows[hold.rows])
        window = hold.first / self.duration, hold.last / self.duration
        grid = self.grid if hold.weight is not None else self._exact_times(*window, density)
        t = grid.u * self.duration
        slack = 1e-9 * self.duration
        inside = (t >= hold.first - slack) & (t <= hold.last + slack) & (grid.weights > 0.0)
        if not inside.any():
            raise KinetreeError(
                f"frame {hold.frame!r} is held from {hold.first:g} to {hold.last:g} s: no sample "
                f"of the transition, which lasts {self.duration:g} s, is in between"
            )
        if callable(hold.target):
            path = np.array([[hold.target(x) for x in row] for row in t], float)
            target = seven_numbers(self.robot, hold.frame, path)[None]
        else:
            given = hold.target
            if given is None:
                given = self.robot.pose(self.first[0], hold.frame)[:, None, None]
            target = seven_numbers(self.robot, hold.frame, given)
        held = Held(self.robot, hold.frame, target, rows[hold.rows], inside, hold.weight)
        key = ("held", hold.frame, hold.rows)
        held.kernels = self.flat.terms.setdefault(key, held.kernels)
        self._add(grid, held, exact=hold.weight is None)

    def _add(self, grid: Grid, term: Constraint, exact: bool = True) -> None:
        same = [part for part in self.parts if _same(part.grid, grid)]
        if same:  # shares what is computed at the samples
            part = same[0]
            part.terms.append(term)
        else:
            part = Part(self.robot, grid, [term], self.duration)
            self.parts.append(part)
        if exact:
            self.constraints.append((part, term))

    # where it starts

    def start(self) -> Array:
        """Free coefficients: a smooth step between the ends, and for further starts others near it.

        Returns:
            (problems, free coefficients, n).
        """
        before, after = (end.shape[1] for end in self.ends)
        u = self.basis.greville[before : self.basis.count - after]
        share = (3.0 * u**2 - 2.0 * u**3)[:, None]
        q0, q1 = self.first[0][:, None], self.second[0][:, None]
        c = q0 + share * (q1 - q0)
        rng = np.random.default_rng(self.settings.seed)
        noise = self.settings.spread * rng.standard_normal((self.count, *c.shape[1:]))
        noise.reshape(-1, self.settings.starts, *c.shape[1:])[:, 0] = 0.0
        return c + noise

    # solving

    def solve(self) -> tuple[Found, Array]:
        """The best coefficients of every problem, and how far its constraints are violated."""
        if self.settings.method == "l-bfgs":
            return self._quasi_newton()
        c = self.start()
        every = np.arange(self.count)
        settings = self.settings
        for part, term in self.constraints:
            shape = part.state(self.objective.whole(c[:1], every[:1])).q.shape[1:]
            size = shape if isinstance(term, Bounds) else (*shape[:-1], len(term.labels))
            term.prepare(self.count, size, np.ones(self.count))
        rate = self._rates(c)
        for _, term in self.constraints:
            term.penalty = (10.0 * rate).reshape(-1, 1, 1, 1)
        reference = self._reference(c)
        exact = METHODS[settings.method]

        def progress(values: Array) -> None:
            if settings.progress is not None:
                settings.progress(float(values.min()))

        found = minimize(
            self.objective,
            c,
            settings.tolerance if not self.constraints else max(settings.tolerance, 1e-5),
            settings.iterations,
            reference,
            exact,
            progress,
        )
        worst, last = self.violation(found.c), np.full(self.count, np.inf)
        rounds = 0
        while self.constraints and not found.interrupted and rounds < ROUNDS:
            open_ = (worst > VIOLATION) | (found.optimality > settings.tolerance)
            if not open_.any():
                break
            self._move_multipliers(found.c)  # with the penalties that they were found with
            slow = worst > np.maximum(0.25 * last, VIOLATION)
            for _, term in self.constraints:
                term.penalty[slow] *= GROWTH
            again = minimize(
                self.objective,
                found.c,
                settings.tolerance,
                settings.iterations,
                reference,
                exact,
                progress,
                before=found,
            )
            found = _continued(found, again)
            last, worst = worst, self.violation(found.c)
            rounds += 1
        return found, worst

    def _reference(self, c: Array) -> Array:
        """The size of the cost's gradient at the start, without constraints."""
        every = np.arange(self.count)
        gradient = self.objective.expansion(c, every, False).gradient
        size = np.abs(gradient).max(axis=(1, 2))
        return np.where(size > 0.0, size, 1.0)

    def _rates(self, c: Array) -> Array:
        """The cost a second at the start, which penalties are relative to."""
        return np.maximum(self.cost(c) / self.duration, 1e-6)

    def cost(self, c: Array) -> Array:
        """The cost without the terms of constraints, (problems,)."""
        every = np.arange(self.count)
        whole = self.objective.whole(c, every)
        exact = {id(term) for _, term in self.constraints}
        total = np.zeros(self.count)
        for part in self.parts:
            state = part.state(whole)
            for term in part.terms:
                if id(term) not in exact:
                    sampled = np.broadcast_to(term.value(state, every), state.q.shape[:-1])
                    total += (sampled * part.weights).sum(axis=(-1, -2))
        return total

    def _move_multipliers(self, c: Array) -> None:
        every = np.arange(self.count)
        whole = self.objective.whole(c, every)
        for part, term in self.constraints:
            term.update(part.state(whole), every)

    def violation(self, c: Array) -> Array:
        """The largest violation of any constraint, relative to its scale, (problems,)."""
        worst = np.zeros(self.count)
        every = np.arange(self.count)
        whole = self.objective.whole(c, every)
        for part, term in self.constraints:
            found = term.violation(part.state(whole), every) * (part.weights > 0.0)[..., None]
            worst = np.maximum(worst, found.max(axis=(1, 2, 3)))
        return worst

    def worst(self, c: Array, problem: int) -> str:
        """Which constraint is violated most, by how much and when; empty if there is none."""
        whole = self.objective.whole(c, np.arange(self.count))[problem : problem + 1]
        words, largest = "", VIOLATION
        for part, term in self.constraints:
            state = part.state(whole)
            found = term.violation(state, np.array([problem])) * (part.weights > 0.0)[..., None]
            at = np.unravel_index(np.argmax(found), found.shape)
            if found[at] > largest:
                largest, t = found[at], float(part.grid.u[at[1], at[2]] * self.duration)
                scale = np.broadcast_to(term.scale, found.shape[-1:])[at[-1]]
                label = term.labels[at[-1]]
                words = (
                    f"{term.name} of {label!r} is violated by {float(found[at] * scale):.3g} at "
                    f"t = {t:.3g} s"
                )
        return words

    def _quasi_newton(self) -> tuple[Found, Array]:
        """Limited-memory BFGS, as the report has it but for the memory; for comparison."""
        if self.constraints:
            raise KinetreeError(
                "method 'l-bfgs' takes no limits and holds no frame exactly: use 'newton'"
            )
        optimize = scipy_module("optimize")
        c = self.start()
        reference = self._reference(c)
        every = np.arange(self.count)
        found = Found(
            c, self.objective.values(c, every), 0 * reference, reference < 0, 0 * every, 0 * every,
            0 * reference, reference < 0,
        )  # fmt: skip
        found.history.append(found.value.copy())
        for k in range(self.count):
            which = every[k : k + 1]

            def cost(x: Array, which: Array = which) -> tuple[float, Array]:
                value, gradient = self.objective.value_and_gradient(
                    x.reshape(1, *c.shape[1:]), which
                )
                return float(value[0]), gradient.ravel()

            options = {"maxiter": self.settings.iterations, "maxfun": 10**6, "ftol": 0.0}
            options |= {"gtol": self.settings.tolerance * reference[k], "maxcor": 20}
            got = optimize.minimize(
                cost, c[k].ravel(), jac=True, method="L-BFGS-B", options=options
            )
            found.c[k], found.value[k] = got.x.reshape(c.shape[1:]), got.fun
            found.optimality[k] = np.abs(got.jac).max() / reference[k]
            found.iterations[k], found.evaluations[k] = got.nit, got.nfev
            found.converged[k] = found.optimality[k] <= self.settings.tolerance
        found.history.append(found.value.copy())
        return found, np.zeros(self.count)


def _same(one: Grid, other: Grid) -> bool:
    return np.array_equal(one.u, other.u) and np.array_equal(one.weights, other.weights)


def _continued(before: Found, after: Found) -> Found:
    """What both minimisations did together."""
    after.iterations += before.iterations
    after.evaluations += before.evaluations
    after.history = before.history + after.history
    return after


def _check(settings: Settings) -> None:
    if settings.method not in METHODS:
        raise unknown("method", settings.method, METHODS, "transition")
    for kind in settings.limits:
        if kind not in LIMITS:
            raise unknown("limit", kind, LIMITS, "transition")
    if settings.starts < 1:
        raise KinetreeError(f"starts={settings.starts!r}: a whole number, at least 1, is expected")
    root = settings.root
    if root != "passive" and not (isinstance(root, (int, float)) and root >= 0.0):
        raise KinetreeError(
            f"root={root!r}: 'passive' (no force acts there) or the weight of its force is "
            "expected, such as 0.0"
        )


def _check_ends(robot: Robot, q: Array, which: str) -> None:
    """Raise an error if an end lies outside of the limits of a joint."""
    lower, upper = robot.limits.lower, robot.limits.upper
    outside = (q < lower - 1e-9) | (q > upper + 1e-9)
    if outside.any():
        k, i = np.argwhere(outside)[0]
        raise KinetreeError(
            f"{robot.coordinate_names[i]!r} is {q[k, i]:.6g} in the {which} state, outside of its "
            f"limits {lower[i]:.6g} to {upper[i]:.6g}"
        )


def _spread_limits(robot: Robot, nv: int) -> tuple[Array, Array]:
    """Limits of coordinates in flat charts; orientations have none."""
    low, up = np.full(nv, -np.inf), np.full(nv, np.inf)
    model = robot.model
    for i in model.coordinate_order:
        if model.bodies[i].joint.nq == model.bodies[i].joint.nv:
            low[model.v_slices[i]] = robot.limits.lower[model.q_slices[i]]
            up[model.v_slices[i]] = robot.limits.upper[model.q_slices[i]]
    return low, up


def transition(
    robot: Robot,
    known: dict[Any, Any],
    first: Any,
    second: Any,
    duration: float | tuple[float, float],
    settings: Settings,
) -> Transition:
    """The transition of least effort; see `Robot.transition`."""
    from kinetree.motion.result import Transition

    if "flat" not in known:
        known["flat"] = Flat(robot)
    flat = known["flat"]
    ends = states_of(robot, first, "first"), states_of(robot, second, "second")
    began = time.perf_counter()
    if isinstance(duration, tuple):
        duration = _best_duration(flat, ends, duration, settings)
    problem = Problem(flat, *ends, duration, settings)
    start = problem.cost(problem.start())
    found, worst = problem.solve()
    return Transition(problem, found, worst, start, time.perf_counter() - began)


def _best_duration(
    flat: Flat, ends: tuple[list[Array], list[Array]], between: tuple[float, float], how: Settings
) -> float:
    """The duration of least cost between two."""
    low, high = between
    if not 0.0 < low < high:
        raise KinetreeError(
            f"duration={between!r}: two positive times are expected, the less first"
        )

    def cost(duration: float) -> float:
        problem = Problem(flat, *ends, float(duration), how)
        found, _ = problem.solve()
        return float(problem.cost(found.c).min())

    optimize = scipy_module("optimize")
    options = {"xatol": 1e-3 * (high - low)}
    found = optimize.minimize_scalar(cost, bounds=(low, high), method="bounded", options=options)
    return float(found.x)
