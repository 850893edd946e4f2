"""Transitions of one robot between pairs of states: costs, constraints and initial guesses."""

from __future__ import annotations

import numpy as np

from kinetree._lazy import cached_property
from kinetree.errors import ShapeError
from kinetree.motion.arrays import Array
from kinetree.motion.flat import Flat, check_ends
from kinetree.motion.objective import Integral, SplineObjective
from kinetree.motion.splines import Basis, Grid, checked_basis
from kinetree.motion.supported import Alone, Ground, Supported, SupportedEffort
from kinetree.motion.terms import Constraint, SquaredAccelerations, Term
from kinetree.motion.transition_constraints import rules, soft_holds
from kinetree.motion.transition_settings import Settings
from kinetree.motion.transition_supports import (
    MARGIN,
    UNCHECKED,
    ground_of,
    support_rules,
)
from kinetree.motion.violation import Violation
from kinetree.robot.checks import finite_array

VIOLATION = 1e-6
"""The violation below which a constraint is met at a sample, relative to its scale."""
DENSE = 32
"""Times at which constraints are checked, for each sample."""


DENSE_GROUND = 8
"""The same with supports, whose forces must be solved for at every time."""


USUAL = 0.1
"""Usual joint torques on supports, over the weight times the height of the centre of mass."""


class Problem:
    """Transitions of one robot between pairs of states.

    Arguments:
        flat: the robot in flat charts.
        first, second: the states, lists of q, v, a that broadcast.
        duration: s.
        settings: of the computation.
    """

    def __init__(
        self,
        flat: Flat,
        first: list[Array],
        second: list[Array],
        duration: float,
        settings: Settings,
    ) -> None:
        self.flat, self.robot = flat, flat.robot
        self.duration = duration
        self.settings = settings
        self.ground: Ground | None = None
        self.supported: Supported | None = None
        self.batch = _common_batch([x.shape[:-1] for x in (*first, *second)])
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
        if "q" in settings.bounded:
            check_ends(flat.original, ends[0][0], "first")
            check_ends(flat.original, ends[1][0], "second")
        fixed = len(first) + len(second)
        self.basis = checked_basis(settings.coefficients, settings.degree, fixed)
        self.grid = self._grid(self.basis)
        self.ends = tuple(
            self.basis.end(np.stack(state, axis=1), self.duration, last)
            for state, last in ((self.first, False), (self.second, True))
        )
        self.constraints: list[tuple[Integral, Constraint]] = []
        self.rules = rules(self)
        effort = self._effort()
        self.alone = Integral(self.robot, self.grid, self.costs(self.grid), self.duration)
        self.effort = Integral(
            self.robot, self.grid, [effort, *self.alone.terms[1:]], self.duration
        )
        self.effort.terms += self._smoothness()
        self.parts = [self.effort]
        if isinstance(effort, Supported):
            self.constraints.append((self.effort, effort))
        for rule in self.rules:
            self._add(rule.grid, rule.first())
        if self.supported is not None:  # ground forces depend on penalties
            penalty = np.full(self.count, self.weight**2)
            self.prepare(penalty, 1e-6 * penalty)
        self.objective = SplineObjective(self.parts, self.ends)

    def _grid(self, basis: Basis) -> Grid:
        if self.settings.samples is not None:
            n = self.settings.samples
            return Grid.at(basis, (np.arange(n) + 0.5) / n, 1.0 / n)
        points = self.settings.points or 4
        # accelerations of cubic splines are largest at knots, where cones are violated first
        return (Grid.lobatto if self.settings.supports else Grid.gauss)(basis, points)

    # the objective

    @property
    def root(self) -> slice:
        """The velocities of a free root; none if there is none."""
        model = self.robot.model
        for i in model.coordinate_order:
            if model.bodies[i].parent < 0 and model.bodies[i].joint.nv == 6:
                return model.v_slices[i]
        return slice(0, 0)

    def _weights(self) -> Array:
        """The user's weights of squared joint forces, (nv,)."""
        given = self.settings.weights
        weights = np.ones(self.robot.nv) if given is None else finite_array("weights", given)
        if weights.shape != (self.robot.nv,) or not (weights >= 0.0).all():
            raise ShapeError(
                f"weights has shape {weights.shape}; ({self.robot.nv},) is expected, none negative"
            )
        return weights

    def _effort(self) -> Term:
        """The squared joint forces; of a robot on supports, the least with all ground forces."""
        weights = self._weights()
        if self.settings.supports:
            self.ground = ground_of(self, weights)
            self.supported = Supported(self.ground, self.grid, MARGIN)
            self.rules += support_rules(self, self.ground)
            return self.supported
        weights = weights.copy()
        root = self.settings.root
        # a passive root's force is exactly zero at some times; its square keeps it low between
        weights[self.root] *= 1.0 if root == "passive" else float(root)
        return self.flat.effort(weights)

    def _smoothness(self) -> list[Term]:
        """Squared accelerations of joints, with a small weight on supports; no part of P."""
        share = self.settings.smoothing or 0.0
        if not share:
            return []
        weights = np.full(self.robot.nv, (share * self.robot.total_mass * self.height**2) ** 2)
        weights[self.root] = 0.0
        return [SquaredAccelerations(weights)]

    def costs(self, grid: Grid) -> list[Term]:
        """The terms that are integrated over time, on a grid; the effort is the first."""
        if self.ground is None or self.supported is None:
            terms = [self._effort()]
        elif grid is self.grid:
            terms = [SupportedEffort(self.supported)]
        else:
            terms = [SupportedEffort(Alone(self.ground, grid, MARGIN, self.count))]
        if self.settings.cost is not None:
            terms.append(self.flat.cost(self.settings.cost))
        return [*terms, *soft_holds(self, grid)]

    def _add(self, grid: Grid, term: Constraint) -> Integral:
        """Impose a constraint on a grid."""
        same = [part for part in self.parts if _same(part.grid, grid)]
        if same:  # shares what is computed at the samples
            part = same[0]
            part.terms.append(term)
        else:
            part = Integral(self.robot, grid, [term], self.duration)
            self.parts.append(part)
        self.constraints.append((part, term))
        return part

    @property
    def weight(self) -> float:
        """The robot's weight; without gravity, as if it were 1 m/s^2, N."""
        return self.robot.total_mass * max(float(np.linalg.norm(self.robot.gravity)), 1.0)

    @property
    def usual_cost(self) -> float:
        """The cost of standing on bent legs; infinite without supports.

        An initial guess that is projected onto its supports may cost much more.
        """
        if self.ground is None:
            return np.inf
        return self.duration * (USUAL * self.weight * self.height) ** 2

    @property
    def height(self) -> float:
        """The initial height of the centre of mass above the supports, or the lowest body, m."""
        q = self.first[0][0]
        lowest = float(self.robot.poses(q)[:, 2, 3].min())
        ground = lowest if self.ground is None else float(self.ground.stance.reference[2])
        return max(float(self.robot.center_of_mass(q)[2]) - ground, 1e-3)

    def needed_wrench(self, problem: int) -> tuple[float, float]:
        """The constant force and torque on a free root that its end states require.

        Without them, the centre of mass falls freely, with constant angular momentum about it.

        Arguments:
            problem: its index.

        Returns:
            The sizes of both, N and N m.
        """
        robot, T, g = self.robot, self.duration, np.asarray(self.robot.gravity, float)
        (q0, v0), (q1, v1) = (
            (state[0][problem], state[1][problem]) for state in (self.first, self.second)
        )
        before, after = robot.momentum(q0, v0), robot.momentum(q1, v1)
        m, fall = robot.total_mass, robot.center_of_mass(q1) - robot.center_of_mass(q0)
        forces = (
            (after - before)[:3] / T - m * g,
            2.0 * (m * fall - before[:3] * T) / T**2 - m * g,
        )
        torque = (after - before)[3:] / T
        return max(float(np.linalg.norm(f)) for f in forces), float(np.linalg.norm(torque))

    def prepare(self, penalty: Array, multiplier: Array) -> None:
        """Give all constraints a penalty and inequalities a multiplier, (problems,) each."""
        for part, term in self.constraints:
            term.prepare(part.grid.u.shape, penalty, multiplier)

    # the initial guess

    def start(self) -> Array:
        """Free coefficients: a smooth step between the ends, and for further starts others near it.

        Returns:
            (problems, free coefficients, n).
        """
        c = self.smooth()
        rng = np.random.default_rng(self.settings.seed)
        noise = self.settings.spread * rng.standard_normal((self.count, *c.shape[1:]))
        noise.reshape(-1, self.settings.starts, *c.shape[1:])[:, 0] = 0.0
        return c + noise

    def smooth(self) -> Array:
        """Free coefficients: a smooth step between the ends, (problems, free coefficients, n)."""
        before, after = (end.shape[1] for end in self.ends)
        u = self.basis.greville[before : self.basis.count - after]
        share = (3.0 * u**2 - 2.0 * u**3)[:, None]
        q0, q1 = self.first[0][:, None], self.second[0][:, None]
        return q0 + share * (q1 - q0)

    # the quality of a solution

    def cost(self, c: Array, grid: Grid | None = None) -> Array:
        """The cost without the terms of constraints, (problems,).

        Arguments:
            c: free coefficients.
            grid: of its samples; `grid` of the problem if None.
        """
        every, part = np.arange(self.count), self.alone
        if grid is not None:
            part = Integral(self.robot, grid, self.costs(grid), self.duration)
        return part.values(self.objective.whole(c, every), every)

    def excess(self, c: Array) -> Array:
        """The sum of the constraints' cost terms, (problems,)."""
        every, total = np.arange(self.count), np.zeros(self.count)
        whole = self.objective.whole(c, every)
        for part, term in self.constraints:
            total = total + part.integrated(term.excess(part.state(whole), every))
        return total

    def violation(self, c: Array) -> Array:
        """The largest violation at a sample, relative to its constraint's scale, (problems,).

        Constraints with a looser tolerance count with a correspondingly smaller share.
        """
        worst = np.zeros(self.count)
        every = np.arange(self.count)
        whole = self.objective.whole(c, every)
        for part, term in self.constraints:
            broken = term.violation(part.state(whole), every) * (part.weights > 0.0)[..., None]
            worst = np.maximum(worst, broken.max(axis=(1, 2, 3)) * (VIOLATION / term.met))
        return worst

    @cached_property
    def dense(self) -> Integral:
        """The integral over many times, both ends included, with `checks`."""
        return Integral(self.robot, self._dense_grid, self.checks, self.duration)

    @cached_property
    def _dense_grid(self) -> Grid:
        each = DENSE if self.supported is None else DENSE_GROUND
        count = each * int((self.grid.weights > 0.0).sum()) + 1
        return Grid.at(self.basis, np.linspace(0.0, 1.0, count), 1.0)

    @cached_property
    def checks(self) -> list[Constraint]:
        """Each rule at the times of `dense`."""
        return [rule.term(self._dense_grid, 0.0) for rule in self.rules]

    def inspect(self, c: Array) -> list[Array]:
        """The violation of each rule at the times of `dense`, over its tolerance there.

        Returns:
            (problems, intervals, samples, rows) for each rule.
        """
        every = np.arange(self.count)
        part = self.dense
        state = part.state(self.objective.whole(c, every))
        counts = (part.weights > 0.0)[..., None]
        return [
            np.where(counts, term.violation(state, every), 0.0) / rule.between
            for rule, term in zip(self.rules, self.checks, strict=True)
        ]

    def tighten(self, broken: list[Array], which: Array, penalty: Array, multiplier: Array) -> bool:
        """Add samples where rules are violated most between samples; whether there were any.

        Arguments:
            broken: of `inspect`.
            which: the problems that count.
            penalty, multiplier: of the constraints at added samples, (problems,).
        """
        u = self.dense.grid.u[self.dense.weights > 0.0]
        chosen, peaks = [], np.zeros(len(u), bool)
        for rule, relative in zip(self.rules, broken, strict=True):
            over = relative[which].max(axis=(0, -1))[self.dense.weights > 0.0]
            padded = np.concatenate([[0.0], over, [0.0]])
            peak = (over > 1.0) & (over >= padded[:-2]) & (over > padded[2:])
            peak &= (u > 0.0) & (u < 1.0)  # the states at the ends are given
            if peak.any():
                chosen.append(rule)
                peaks |= peak
        if not chosen:
            return False
        grid = Grid.at(self.basis, u[peaks], 1.0 / len(self.grid.u.ravel()))
        for rule in chosen:
            term = rule.tightened(grid)
            self._add(grid, term)
            term.prepare(grid.u.shape, penalty, multiplier)
        self.objective = SplineObjective(self.parts, self.ends)
        return True

    def violations(self, broken: list[Array], problem: int) -> list[Violation]:
        """The worst violation of each rule in one problem, the largest first.

        Arguments:
            broken: of `inspect`.
            problem: its index.
        """
        violations = []
        for rule, term, over in zip(self.rules, self.checks, broken, strict=True):
            at = np.unravel_index(np.argmax(over[problem]), over.shape[1:])
            relative = float(over[problem][at])
            if relative > 0.0 and rule.between < UNCHECKED:
                amount = relative * rule.between * float(term.scale[at[-1]])
                t = float(self.dense.grid.u[at[:2]] * self.duration)
                violations.append(Violation(term.name, term.labels[at[-1]], amount, t, relative))
        return sorted(violations, key=lambda x: -x.relative)


def _same(one: Grid, other: Grid) -> bool:
    return np.array_equal(one.u, other.u) and np.array_equal(one.weights, other.weights)


def _common_batch(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The common batch shape of several states."""
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(
            f"the states have batches of shapes {', '.join(map(str, shapes))}: they do not "
            "broadcast"
        ) from None
    if 0 in batch:
        raise ShapeError(
            f"the states have a batch of shape {batch}: first and second have no problem to solve"
        )
    return batch
