"""The pivots of the mass matrix: how much inertia each coordinate moves.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3, whose numbers (7.x)
these are, for the articulated-body inertias; section 6.5 for H = L^T D L, whose D are the pivots.

The pivot of a coordinate is the inertia that it feels while all coordinates further out are free.
It is compared with the inertia that the coordinate feels while they are held: the diagonal of H. If
a pivot is zero, H is singular; the smaller the quotient, the more digits of accelerations are lost.

    book      code      meaning
    I_i^A     IA[i]     articulated-body inertia: of body i and all it carries, joints free
    I_i^C     IC[i]     composite inertia: the same, joints held
    U_i       U         I_i^A S_i, for one degree of freedom at a time, the last first
    D_i       free      S_i^T U_i, and the rotor's inertia

differs: a coordinate whose pivot is zero up to rounding takes nothing from the articulated inertia,
where Featherstone divides by D, so that the pivots further in are right, too.
differs: the terms of the diagonal of H are summed by their absolute values, so that the sum is also
the scale of the rounding errors of the pivot.

Cost: O(N); where joints share coordinates, O(N d^2) for depth d.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.model import Model
from kinetree.model.equipment import shares_inertia
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import ArticulatedInertia, Inertia, Twist

SINGULAR = 1e-13
"""A pivot below this share of the inertia felt with the others held is rounding noise."""


@dataclass(frozen=True)
class Pivot:
    """The inertia that a coordinate feels while all coordinates further out are free, or held."""

    free: Scalar
    held: Scalar

    @property
    def inverse(self) -> Scalar:
        """1 / free; zero where that is rounding."""
        sound = less(self.held * SINGULAR, size(self.free))
        return select(sound, 1 / select(sound, self.free, 1), 0)


def pivots(
    model: Model,
    q: Sequence[Scalar],
    accelerated: Collection[int] = (),
    bodies: Collection[int] | None = None,
) -> dict[int, Pivot]:
    """The pivot of each coordinate of v.

    Arguments:
        accelerated: bodies whose joints' accelerations are given: they are held in any case, and
            have no pivot.
        bodies: those to examine, with everything they carry; by default all of them, and always
            all if joints share coordinates.
    """
    if shares_inertia(model):
        return _by_factor(model, q, accelerated)
    return _by_inertias(model, q, accelerated, bodies)


def _by_inertias(
    model: Model,
    q: Sequence[Scalar],
    accelerated: Collection[int],
    bodies: Collection[int] | None,
) -> dict[int, Pivot]:
    results: dict[int, Pivot] = {}
    chosen = range(len(model.bodies)) if bodies is None else bodies
    IA = {i: ArticulatedInertia.of_body(model.bodies[i].inertia) for i in chosen}
    IC = {i: model.bodies[i].inertia for i in chosen}
    for i in sorted(chosen, reverse=True):
        body, at = model.bodies[i], model.q_slices[i]
        if i not in accelerated:
            axes, rotor = body.joint.subspace(q[at]), model.drives[i].armature
            joint, IA[i] = joint_pivots(IA[i], IC[i], axes, rotor)
            results |= dict(enumerate(joint, model.v_slices[i].start))
        if body.parent in IA:
            X = body.placement @ body.joint.transform(q[at])
            IA[body.parent] = IA[body.parent] + X.to_parent(IA[i])
            IC[body.parent] = IC[body.parent] + X.to_parent(IC[i])
    return results


def joint_pivots(
    IA: ArticulatedInertia, IC: Inertia, axes: Sequence[Twist], rotor: Scalar
) -> tuple[list[Pivot], ArticulatedInertia]:
    """The pivots of a joint, and the articulated inertia that remains for its parent."""
    results = []
    for axis in reversed(axes):
        U = IA @ axis  # (7.43)
        results.append(Pivot(axis.dot(U) + rotor, _felt(IC, axis) + size(rotor)))  # (7.44)
        IA = IA - ArticulatedInertia.outer(U, U * results[-1].inverse)  # (7.47)
    return results[::-1], IA


def _by_factor(model: Model, q: Sequence[Scalar], accelerated: Collection[int]) -> dict[int, Pivot]:
    """The same from H = L^T D L, for joints that share coordinates."""
    H = crba(model, q)
    held = {k for i in accelerated for k in range(*model.v_slices[i].indices(model.nv))}
    order = [k for k in elimination_order(model) if k not in held]
    results: dict[int, Pivot] = {}

    def inverse(k: int, free: Scalar) -> Scalar:
        results[k] = Pivot(free, size(H[k][k]))
        return results[k].inverse

    factor(H, order, inverse)
    return results


def size(x: Scalar) -> Scalar:
    """The absolute value."""
    return abs(x) if isinstance(x, (int, float)) else select(less(x, 0), -x, x)


def _felt(I: Inertia, axis: Twist) -> Scalar:
    """S^T I S: m v.v + 2 w.(h x v) + w.I w, the size of each term."""
    v, w, h = ([size(x) for x in part] for part in (axis.linear, axis.angular, I.moment))
    total = size(I.mass) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    for row, a in zip(I.rotational.rows, w, strict=True):
        for entry, b in zip(row, w, strict=True):
            total = total + a * size(entry) * b
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        total = total + 2 * w[i] * (h[j] * v[k] + h[k] * v[j])
    return total
