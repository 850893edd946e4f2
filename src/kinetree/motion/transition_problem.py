"""Transitions of one robot between pairs of states: what is minimised, and from where."""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError, ShapeError
from kinetree.motion.arrays import Array
from kinetree.motion.flat import Flat, check_ends
from kinetree.motion.objective import Part, SplineObjective
from kinetree.motion.splines import Basis, Grid, checked_basis
from kinetree.motion.terms import Constraint, Term
from kinetree.motion.transition_constraints import constrain
from kinetree.motion.transition_settings import Settings, check

VIOLATION = 1e-6
"""Relative to the scale of a constraint, below which it is met."""


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
        check(settings)
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
            check_ends(flat.original, ends[0][0], "first")
            check_ends(flat.original, ends[1][0], "second")
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
        constrain(self)
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

    def add(self, grid: Grid, term: Constraint, exact: bool = True) -> None:
        """Add a term; if it is exact, it is a constraint."""
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

    # how good it is

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


def _same(one: Grid, other: Grid) -> bool:
    return np.array_equal(one.u, other.u) and np.array_equal(one.weights, other.weights)
