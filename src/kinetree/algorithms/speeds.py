"""The equations of motion in generalised speeds.

Source: Echeandia & Wensing, Remark 4, with eq. 32 to 35; after Kane. The speeds nu need be rates of
no coordinates: v = A(q) nu with any matrix A that has full column rank.

    paper     code      meaning
    nu        nu        generalised speeds
    A         A         dv/dnu, a function of q
    A'        dA        its rate, as q moves with v = A nu
    H-bar     mass      A^T H A (32)
    C-bar     coriolis  A^T C A + A^T H A' (33), admissible if C is
    tau-bar   -         A^T tau (35)

An admissible C-bar has C-bar + C-bar^T = the rate of H-bar.

With fewer speeds than velocities A says which motions are allowed, and the forces that forbid the
others drop out: Kane's equations of a robot with constraints on its velocity.

differs: the text has A = dq'/dnu; here it is of the velocities v, which quaternions have, too.

Cost: that of the matrices, and O(n^3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.coordinates import product, transposed
from kinetree.algorithms.coordinates import sum_of as plus
from kinetree.algorithms.coriolis import FACTORIZATIONS, coriolis
from kinetree.algorithms.crba import crba
from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import factor
from kinetree.algorithms.rate import rate
from kinetree.algorithms.rnea import rnea
from kinetree.model import Model
from kinetree.scalar import Scalar

Matrix = list[list[Scalar]]
Speeds = Callable[[Sequence[Scalar]], Sequence[Sequence[Scalar]]]
"""A(q), its rows, written over any scalar."""


def velocity_of(A: Speeds, q: Sequence[Scalar], nu: Sequence[Scalar]) -> list[Scalar]:
    """v = A nu."""
    return [dot(row, nu) for row in A(q)]


def speeds_rate(A: Speeds, model: Model, q: Sequence[Scalar], nu: Sequence[Scalar]) -> Matrix:
    """A', as q moves with A nu."""

    def rows(model: Model, q: Sequence[Scalar]) -> Matrix:
        return [list(row) for row in A(q)]

    found: Matrix = rate(rows, model, q, velocity_of(A, q, nu))
    return found


def mass_in_speeds(A: Speeds, model: Model, q: Sequence[Scalar]) -> Matrix:
    """H-bar (32)."""
    rows = [list(row) for row in A(q)]
    return product(transposed(rows), product(crba(model, q), rows))


def coriolis_in_speeds(
    A: Speeds, factorization: str, model: Model, q: Sequence[Scalar], nu: Sequence[Scalar]
) -> Matrix:
    """C-bar (33), of an admissible factorisation of C."""
    rows, dA = [list(row) for row in A(q)], speeds_rate(A, model, q, nu)
    H, _, C = coriolis(model, q, velocity_of(A, q, nu), FACTORIZATIONS[factorization])
    return product(transposed(rows), plus(product(C, rows), product(H, dA)))


def inverse_in_speeds(
    A: Speeds, model: Model, q: Sequence[Scalar], nu: Sequence[Scalar], dnu: Sequence[Scalar]
) -> list[Scalar]:
    """tau-bar that gives nu'; with nu' = 0 the bias: A^T times what v' = A nu' + A' nu takes."""
    rows, dA = A(q), speeds_rate(A, model, q, nu)
    qdd = [dot(row, dnu) + dot(change, nu) for row, change in zip(rows, dA, strict=True)]
    return force_in_speeds(A, q, rnea(model, q, velocity_of(A, q, nu), qdd))


def force_in_speeds(A: Speeds, q: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """tau-bar (35)."""
    return [dot(column, tau) for column in transposed([list(row) for row in A(q)])]


def forward_in_speeds(
    A: Speeds, model: Model, q: Sequence[Scalar], nu: Sequence[Scalar], tau: Sequence[Scalar]
) -> list[Scalar]:
    """nu' of joint forces tau."""
    bias = inverse_in_speeds(A, model, q, nu, [0] * len(nu))
    free = [t - b for t, b in zip(force_in_speeds(A, q, tau), bias, strict=True)]
    return factor(mass_in_speeds(A, model, q), range(len(nu))).solve(free)
