"""Impacts of joints at their limits, without rebound.

Source: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988), section
6, for stops without friction; solved by projected Gauss-Seidel.

    symbol    code      meaning
    A         A         M^-1 at the joints with limits
    s         sides     1 at a lower limit, -1 at an upper one, 0 within them
    u         u         velocities of these joints
    p         p         impulses, pushing inwards

    u+ = u + A s p,    0 <= p  and  s u+ >= 0,  one of them zero                                (1)

Each change of an impulse lowers the kinetic energy as far as it can, so an impact never adds any:
(1) are the conditions of the impulses p >= 0 after which the kinetic energy is least.

Cost: O(n d^2) for A, O(m^2) a sweep for m joints with limits; nothing where no joint meets a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.model import Model
from kinetree.scalar import Scalar, absolute, call_if, less, maximum

SWEEPS = 16
"""At most so many."""
SETTLED = 1e-13
"""The change of a velocity in a sweep, rad/s or m/s, after which there is no other."""


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
        joints: the coordinates with limits, as they are numbered among the velocities.
    """

    def __init__(self, model: Model, joints: Sequence[int]) -> None:
        self.model, self.joints = model, tuple(joints)

    def __call__(self, q: list[Scalar], v: list[Scalar], sides: list[Scalar]) -> list[Scalar]:
        M = factor(crba(self.model, q), elimination_order(self.model))
        halves = [M.half({k: 1.0}) for k in self.joints]
        A = []
        for i, one in enumerate(halves):
            scaled = M.scaled(one)
            A.append([_product(scaled, other) for other in halves[: i + 1]])
        at = Impulses([0.0 * s for s in sides], [v[k] for k in self.joints], 1.0 + 0.0 * sides[0])
        for _ in range(SWEEPS):
            at = call_if(less(SETTLED, at.change), _sweep, at, A, sides, otherwise=at)
        pushes = {k: s * p for k, s, p in zip(self.joints, sides, at.p, strict=True)}
        return [a + b for a, b in zip(v, M.back(M.half(pushes)), strict=True)]


def _sweep(at: Impulses, A: list[list[Scalar]], sides: list[Scalar]) -> Impulses:
    """(1) for one joint after the other."""
    p, u, most = list(at.p), list(at.u), 0.0 * at.change
    for k, s in enumerate(sides):
        pushed = maximum(p[k] - s * u[k] / A[k][k], 0.0)
        change, p[k] = s * (pushed - p[k]), pushed
        for j in range(len(u)):
            u[j] = u[j] + (A[j][k] if k <= j else A[k][j]) * change
        most = maximum(most, absolute(A[k][k] * change))
    return Impulses(p, u, most)


def _product(one: dict[int, Scalar], other: dict[int, Scalar]) -> Scalar:
    return sum((x * other[i] for i, x in one.items() if i in other), start=0.0)
