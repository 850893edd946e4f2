"""The least effort of joints that stand on the ground, as a term of the cost at an instant.

    symbol      code     meaning
    e(q, n)     effort   squared joint forces n = tau - G^T lambda, those of the root left out
    lambda      lam      ground forces P w + Z z, which produce the root's wrench w exactly
    h(lambda)   rows     friction cones and centres of pressure, at most zero
    A(h)                 their augmented Lagrangian (`terms.Constraint`)
    L           value    min over z of e + A: internal forces are those of least effort

At every sample the internal forces z are found by Newton's method (`internal_forces.py`). L is then
a function of (q, tau) alone. Its gradient is that at constant z (the envelope theorem); its second
derivatives are those of the Schur complement (`supported_derivatives.py`): with u = (q, tau),

    L_uu = F_uu + F_ul D + (F_ul D)^T + D^T F_ll D + f_l . P w_uu,      D = P w_u + Z z_u,

F = e + A at constant lambda, f_l its gradient by lambda, and z_u from 0 = Z^T (F_lu + F_ll D).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.internal_forces import (
    apply,
    apply_transposed,
    cone_rows,
    expanded_rows,
    least_effort,
)
from kinetree.motion.reactions import Reaction, RootWrench
from kinetree.motion.splines import Grid
from kinetree.motion.stance import ENTRIES, Stance, Standing
from kinetree.motion.supported_derivatives import dense_curvature, ground_derivatives
from kinetree.motion.terms import LEAST_MULTIPLIER, Constraint, Sampled, State, Term

ROUNDS, GROWTH = 10, 8.0
"""The most multiplier updates at single times, and the growth factor of penalties."""
LIGHT = 1e-3
"""The share of the effort at samples that only add constraints: it still selects their forces."""
MET = 2e-7
"""The allowed violation of the original cones and areas: small forces have no margin."""
INSIDE = 1e-4
"""The allowed violation of cones and areas with a margin, at single times, over the weight."""


class Balance(NamedTuple):
    """Ground forces at samples, and the remaining joint forces.

    lam: (..., M).
    net: joint forces, (..., n).
    effort: e, (...).
    """

    lam: Array
    net: Array
    effort: Array


@dataclass(frozen=True)
class Ground:
    """The data shared by all terms of one problem with supports.

    stance: the supports over time.
    wrench, reactions: kernels; those of the frames of `stance`.
    effort: the squared joint forces, of weight zero at the root.
    root: the velocities of the root.
    weight: of the robot, N.
    duration: of the motion, s.
    regular: the weight of squared ground forces, some of which no joint force balances.
    """

    stance: Stance
    wrench: RootWrench
    reactions: tuple[Reaction, ...]
    effort: Term
    root: slice
    weight: float
    duration: float
    regular: float = 1e-9

    def lightly(self) -> Ground:
        """The same with a small share of the effort: for samples that only add constraints."""
        return replace(self, effort=Scaled(self.effort, LIGHT), regular=LIGHT * self.regular)


class Scaled(Term):
    """A share of another term."""

    def __init__(self, term: Term, share: float) -> None:
        self.term, self.share, self.needs_forces = term, share, term.needs_forces

    def value(self, state: State, which: Array) -> Array:
        return self.share * self.term.value(state, which)

    def derivatives(self, state: State, which: Array) -> Sampled:
        of = self.term.derivatives(state, which)
        first, diagonal = (
            {key: self.share * x for key, x in given.items()} for given in (of.first, of.diagonal)
        )
        second = {key: self.share * x for key, x in of.second.items()}
        return Sampled(self.share * of.value, first, diagonal, second, of.blocks)


class Supported(Constraint):
    """The least joint effort over all ground forces, with cones and pressures as constraints.

    Arguments:
        ground: the supports of the problem.
        grid: the samples.
        margin: the share by which friction and areas are reduced.
    """

    needs_forces = True
    name = "ground force"
    slack = 1e-5  # over the weight: the tolerance of forces at samples

    def __init__(self, ground: Ground, grid: Grid, margin: float) -> None:
        self.ground, self.grid, self.margin = ground, grid, margin
        self.labels = ground.stance.labels
        self.scale = np.full(len(self.labels), ground.weight)
        self._z: Array = np.zeros(0)
        self.standing = ground.stance.on(grid.u * ground.duration, margin)
        self._true = ground.stance.on(grid.u * ground.duration, 0.0)
        upper = np.where(self.standing.active[0], 0.0, np.inf)
        self._limits = np.full(upper.shape, -np.inf), upper

    def bounds(self) -> tuple[Array, Array]:
        return self._limits

    def measured(self, state: State, which: Array) -> Array:
        lam = self.balance(state, which).lam
        return cone_rows(self.standing.of(which), lam, self.ground.weight)

    def violation(self, state: State, which: Array) -> Array:
        """The violation of the original cones and areas, without a margin."""
        lam = self.balance(state, which).lam
        rows = cone_rows(self._true.of(which), lam, self.ground.weight, tip=0.0)
        return np.maximum(rows - self._limits[1] - self.slack, 0.0)

    def value(self, state: State, which: Array) -> Array:
        balance, ground = self.balance(state, which), self.ground
        rows = cone_rows(self.standing.of(which), balance.lam, ground.weight)
        penalty = self._elements(rows, which)[0].sum(axis=-1)
        return balance.effort + penalty + ground.regular * (balance.lam**2).sum(axis=-1)

    def derivatives(self, state: State, which: Array) -> Sampled:
        return self._expanded(state, which, True)

    def approximate(self, state: State, which: Array) -> Sampled:
        return self._expanded(state, which, False)

    def _expanded(self, state: State, which: Array, exact: bool) -> Sampled:
        maps, balance = self.standing.of(which), self.balance(state, which)
        e = self.ground.effort.derivatives(state._replace(tau=balance.net), which)
        rows = expanded_rows(maps, balance.lam, self.ground.weight)
        elements, G = self._elements(rows[0], which), self.by_ground(maps, state.q)
        return ground_derivatives(self.ground, maps, state, balance, e, G, rows, elements, exact)

    def balance(self, state: State, which: Array) -> Balance:
        """The ground forces of least effort at the samples, and the remaining joint forces."""
        maps, q, tau, ground = self.standing.of(which), state.q, state.tau, self.ground
        assert tau is not None
        w = ground.wrench.value(q, tau, ground.stance.reference)
        z = self._found_last(which, q.shape[1:-1])
        lam = apply(maps.P, w) + apply(maps.Z, z)
        G = self.by_ground(maps, q)
        net = tau - apply_transposed(G, lam)
        e = ground.effort.derivatives(state._replace(tau=net), which)
        H = G @ dense_curvature(e) @ G.swapaxes(-1, -2)
        H[..., np.arange(G.shape[-2]), np.arange(G.shape[-2])] += 2.0 * ground.regular
        g = 2.0 * ground.regular * lam - apply(G, e.first["tau"])
        step = least_effort(
            maps, lam, g, H, lambda h: self._elements(h, which), ground.weight, np.abs(e.value)
        )
        self._z[which] = z + step
        lam = lam + apply(maps.Z, step)
        net = tau - apply_transposed(G, lam)
        return Balance(lam, net, ground.effort.value(state._replace(tau=net), which))

    def by_ground(self, maps: Standing, q: Array) -> Array:
        """G: the joint forces that each ground force balances, (..., M, n)."""
        reactions = self.ground.reactions
        G = np.zeros((*q.shape[:-1], ENTRIES * len(reactions), q.shape[-1]))
        for k, reaction in enumerate(reactions):
            part = maps.B[..., k, :, :].swapaxes(-1, -2) @ reaction.jacobian(q)
            G[..., ENTRIES * k : ENTRIES * (k + 1), reaction.joints] = part
        return G

    def _found_last(self, which: Array, samples: tuple[int, ...]) -> Array:
        """The last internal forces, as a warm start."""
        if not self._z.size:
            self._z = np.zeros((len(self.penalty), *samples, self.standing.Z.shape[-1]))
        return self._z[which]


class SupportedEffort(Term):
    """The joint effort of a supported motion, without the terms of constraints.

    Arguments:
        supported: gives the ground forces.
    """

    needs_forces = True

    def __init__(self, supported: Supported) -> None:
        self.supported = supported

    def value(self, state: State, which: Array) -> Array:
        return self.supported.balance(state, which).effort


class Alone(Supported):
    """The ground forces of least effort at single times, within cones and areas.

    They are found by a separate augmented Lagrangian, and used to check motions at any times.

    Arguments:
        ground, grid, margin: as in `Supported`.
        problems: the number of motions.
    """

    slack = 0.0

    def __init__(self, ground: Ground, grid: Grid, margin: float, problems: int) -> None:
        super().__init__(ground, grid, margin)
        self._problems = problems

    def balance(self, state: State, which: Array) -> Balance:
        rough = self.ground.effort.value(state, which).max()
        penalty = np.full(self._problems, max(float(rough), 1.0))
        self.prepare(self.grid.u.shape, penalty, 1e-3 * penalty)
        for _ in range(ROUNDS):
            balance = super().balance(state, which)
            rows = cone_rows(self.standing.of(which), balance.lam, self.ground.weight)
            true = cone_rows(self._true.of(which), balance.lam, self.ground.weight, tip=0.0)
            free = ~self.standing.padded.all(axis=-1)[..., None] & np.isfinite(self._limits[1])
            if all((free * x).max(initial=0.0) < most for x, most in ((rows, INSIDE), (true, MET))):
                break
            self._move(rows, which)
        return balance

    def _move(self, rows: Array, which: Array) -> None:
        """Update the multipliers and raise penalties."""
        pushed = self._side(rows, self.above[which], self.penalty[which])[1]
        self.above[which] = np.maximum(pushed, LEAST_MULTIPLIER * self.penalty[which])
        self.penalty *= GROWTH


class Unsupported(Constraint):
    """The wrench on the root that no support produces: zero, as in flight.

    Arguments:
        ground: the supports of the problem.
        grid: the samples.
        slack: the allowed wrench, over the weight.
    """

    needs_forces = True
    exact = True
    name = "unsupported root force"
    labels = ("fx", "fy", "fz", "mx", "my", "mz")

    def __init__(self, ground: Ground, grid: Grid, slack: float) -> None:
        self.ground = ground
        self.scale = np.full(6, ground.weight)
        self.lost = ground.stance.on(grid.u * ground.duration, 0.0).lost
        within = np.full((*grid.u.shape, 6), slack)
        self._limits = -within, within

    def bounds(self) -> tuple[Array, Array]:
        return self._limits

    def _rows(self, which: Array) -> Array:
        lost = self.lost if len(self.lost) == 1 else self.lost[which]
        return lost / self.ground.weight

    def measured(self, state: State, which: Array) -> Array:
        assert state.tau is not None
        w = self.ground.wrench.value(state.q, state.tau, self.ground.stance.reference)
        return apply(self._rows(which), w)

    def slopes(self, state: State, which: Array) -> dict[str, Array]:
        assert state.tau is not None
        w = self.ground.wrench.expand(state.q, state.tau, self.ground.stance.reference)
        J = self._rows(which) @ w.first
        slopes = {x: np.zeros((*state.q.shape[:-1], 6, state.q.shape[-1])) for x in ("q", "tau")}
        slopes["q"][..., self.ground.root] = J[..., :6]
        slopes["tau"][..., self.ground.root] = J[..., 6:]
        return slopes

    def value(self, state: State, which: Array) -> Array:
        return self._elements(self.measured(state, which), which)[0].sum(axis=-1)

    def derivatives(self, state: State, which: Array) -> Sampled:
        return self._expanded(state, which, True)

    def approximate(self, state: State, which: Array) -> Sampled:
        return self._expanded(state, which, False)

    def _expanded(self, state: State, which: Array, exact: bool) -> Sampled:
        assert state.tau is not None
        about, root, rows = self.ground.stance.reference, self.ground.root, self._rows(which)
        w = self.ground.wrench.expand(state.q, state.tau, about)
        value, slope, bend = self._elements(apply(rows, w.value), which)
        J = rows @ w.first
        pull = apply_transposed(rows, slope)
        second = J.swapaxes(-1, -2) @ (bend[..., None] * J)
        if exact:
            second += self.ground.wrench.second(state.q, state.tau, about, pull)
        first = apply_transposed(J, slope)
        names, n = ("q", "tau"), state.q.shape[-1]
        slopes = {x: np.zeros(state.q.shape) for x in names}
        pairs = {}
        for i, one in enumerate(names):
            slopes[one][..., root] = first[..., 6 * i : 6 * i + 6]
            for k, other in enumerate(names[i:], i):
                block = np.zeros((*state.q.shape, n))
                block[..., root, root] = second[..., 6 * i : 6 * i + 6, 6 * k : 6 * k + 6]
                pairs[one, other] = block
        return Sampled(value.sum(axis=-1), slopes, {}, pairs)
