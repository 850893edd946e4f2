"""M a_r + C v_r + g as a matrix times the inertial parameters.

Source: J.-J. E. Slotine & W. Li, On the adaptive control of robot manipulators, Int. J. Robotics
Research 6 (1987). The recursion is that of `passivity_forces`.

    symbol     code       meaning
    V, V_r     V Vr       velocities of bodies, and those of the reference velocities v_r
    A_r        Ar         accelerations of the reference, less gravity
    S, phi                as in `regressor`

Cost: O(N d) for depth d.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.regressor import Row, carried, numbered, powers, rows_of
from kinetree.algorithms.tree import along, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Twist, Vector3


def passivity_regressor(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vr: Sequence[Scalar],
    ar: Sequence[Scalar],
) -> list[Row]:
    """Y with M a_r + C v_r + g = Y phi, with C of the Christoffel symbols.

    The factor of Echeandia & Wensing eq. 12 is B = (V x* I + (I V) x~* - I V x) / 2, so
    S . B V_r = -(<V x S, V_r> + <V_r x S, V> + <S, V x V_r>) phi / 2.
    """
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    V: list[Twist] = []
    Vr: list[Twist] = []
    Ar: list[Twist] = []
    for i, body in enumerate(model.bodies):
        at, parent = model.v_slices[i], body.parent
        reference = along(Phi[i], vr[at])
        bending = along(body.joint.subspace_rate(q[model.q_slices[i]], v[at]), vr[at])
        V.append((X[i].to_child(V[parent]) if parent >= 0 else Twist.zero()) + along(Phi[i], v[at]))
        Vr.append((X[i].to_child(Vr[parent]) if parent >= 0 else Twist.zero()) + reference)
        A_p = Ar[parent] if parent >= 0 else Twist(-model.gravity, Vector3.zero())
        Ar.append(X[i].to_child(A_p) + along(Phi[i], ar[at]) + V[i].cross(reference) + bending)

    def force(i: int, S: Twist) -> Row:
        first = powers(S, Ar[i] - V[i].cross(Vr[i]) * 0.5)
        second, third = powers(V[i].cross(S), Vr[i]), powers(Vr[i].cross(S), V[i])
        return [x - (y + z) * 0.5 for x, y, z in zip(first, second, third, strict=True)]

    seen = carried(model, X, [numbered(model, i, axes) for i, axes in enumerate(Phi)])
    return rows_of(model.nv, seen, force)
