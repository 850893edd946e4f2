"""Impacts of joints at their limits, without rebound.

Source: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988), section
6, for stops without friction; solved by projected Gauss-Seidel.

    symbol    code      meaning
    J         rows      J v is the rate of the limited coordinates, and angles of ball joints
    A         A         J M^-1 J^T
    s         sides     1 at a lower limit, -1 at an upper one, 0 within them
    u         u         J v
    p         p         impulses, pushing inwards

    u+ = u + A s p,    0 <= p  and  s u+ >= 0,  one of them zero                                (1)

(1) are the optimality conditions of the impulses p >= 0 after which the kinetic energy is least.
Each change of an impulse minimises it along that impulse, so an impact never adds energy.

Cost: O(n d^2) for A, O(m^2) a sweep for m joints with limits; nothing where no joint meets a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.ball_limits import outward_limits
from kinetree.algorithms.crba import crba
from kinetree.algorithms.limited import limited_balls, limited_coordinates
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.model import Model
from kinetree.scalar import Scalar, absolute, call_if, less, maximum, select

SWEEPS = 16
"""The most sweeps that are made."""
SETTLED = 1e-13
"""Sweeps end once no velocity changes by more than this in a sweep, rad/s or m/s."""


@dataclass(frozen=True)
class Impulses:
    """Impulses, the velocities after them, and the largest change of these in the last sweep."""

    p: list[Scalar]
    u: list[Scalar]
    change: Scalar


class Impact:
    """The velocities after an impact: a function of scalars alone.

    Arguments:
        model: what moves.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    def rows(self, q: Sequence[Scalar]) -> list[dict[int, Scalar]]:
        """J, row by row: those of coordinates, then those of ball joints, counted outwards."""
        rows: list[dict[int, Scalar]] = [{k: 1.0} for _, k, _, _ in limited_coordinates(self.model)]
        for i in limited_balls(self.model):
            at = self.model.v_slices[i]
            for _, slopes in outward_limits(self.model, q, (i,)):
                rows.append(dict(enumerate(slopes, at.start)))
        return rows

    def rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """u."""
        return [sum((x * v[k] for k, x in row.items()), start=0.0) for row in self.rows(q)]

    def __call__(self, q: list[Scalar], v: list[Scalar], sides: list[Scalar]) -> list[Scalar]:
        M = factor(crba(self.model, q), elimination_order(self.model))
        rows = self.rows(q)
        halves = [M.half(row) for row in rows]
        A = []
        for i, one in enumerate(halves):
            scaled = M.scaled(one)
            A.append([_product(scaled, other) for other in halves[: i + 1]])
        at = Impulses([0.0 * s for s in sides], self.rates(q, v), 1.0 + 0.0 * sides[0])
        for _ in range(SWEEPS):
            at = call_if(less(SETTLED, at.change), _sweep, at, A, sides, otherwise=at)
        pushes: dict[int, Scalar] = {}
        for row, s, p in zip(rows, sides, at.p, strict=True):
            for k, x in row.items():
                pushes[k] = pushes.get(k, 0.0) + x * (s * p)
        return [a + b for a, b in zip(v, M.back(M.half(pushes)), strict=True)]


def _sweep(at: Impulses, A: list[list[Scalar]], sides: list[Scalar]) -> Impulses:
    """One Gauss-Seidel sweep of (1), joint by joint."""
    p, u, most = list(at.p), list(at.u), 0.0 * at.change
    for k, s in enumerate(sides):
        felt = less(0.0, A[k][k])  # not where an angle has no slope, as in the middle of a range
        pushed = maximum(p[k] - s * u[k] / select(felt, A[k][k], 1.0), 0.0)
        change, p[k] = s * (pushed - p[k]), pushed
        for j in range(len(u)):
            u[j] = u[j] + (A[j][k] if k <= j else A[k][j]) * change
        most = maximum(most, absolute(A[k][k] * change))
    return Impulses(p, u, most)


def _product(one: dict[int, Scalar], other: dict[int, Scalar]) -> Scalar:
    return sum((x * other[i] for i, x in one.items() if i in other), start=0.0)
