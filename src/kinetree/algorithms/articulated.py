"""One joint of the articulated-body algorithm, on the way from the tips to the base.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3, Table 7.1; the
symbols are those of `aba`.

    book        code      meaning
    U, D, u     U D u     I^A S, S^T U and tau - S^T p^A of the joint
    I^a, p^a    Ia pa     what the joint leaves to its parent of I^A and p^A

Cost: O(1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dense import dot, inverse_symmetric
from kinetree.algorithms.tree import combine
from kinetree.scalar import Scalar
from kinetree.spatial import ArticulatedInertia, Force, Twist


class Articulated(NamedTuple):
    """What a joint's forces move, and what it leaves to its parent: see `aba`."""

    U: list[Force]
    D_inv: list[list[Scalar]]
    u: list[Scalar]
    Ia: ArticulatedInertia
    pa: Force


def articulated(
    Phi: Sequence[Twist],
    IA: ArticulatedInertia,
    pA: Force,
    c: Twist,
    tau: Sequence[Scalar],
    armature: Scalar,
) -> Articulated:
    """One joint of the pass from the tips to the base.

    Arguments:
        tau: the joint's force, less what its drive takes.
        armature: of its drive.
    """
    U = [IA @ axis for axis in Phi]  # (7.43)
    D = [[axis.dot(force) for force in U] for axis in Phi]  # (7.44)
    for k in range(len(D)):
        D[k][k] = D[k][k] + armature
    D_inv = inverse_symmetric(D)
    u = [t - axis.dot(pA) for t, axis in zip(tau, Phi, strict=True)]  # (7.45)
    Ia = IA
    for row, force in zip(D_inv, U, strict=True):
        share = combine(U, row)  # U D^-1, one column
        Ia = Ia - ArticulatedInertia.outer(force, share)  # (7.47)
    pa = pA + Ia @ c + combine(U, [dot(row, u) for row in D_inv])  # (7.48)
    return Articulated(U, D_inv, u, Ia, pa)
