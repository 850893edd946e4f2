"""Regressors: matrices that times the inertial parameters give joint forces and wrenches.

Source: C. G. Atkeson, C. H. An & J. M. Hollerbach, Estimation of inertial parameters of
manipulator loads and links, Int. J. Robotics Research 5 (1986).

    symbol     code           meaning
    phi_i      ten numbers    mass, first moment m c, rotational inertia about the origin of body i
                              (xx, yy, zz, xy, xz, yz), in its frame
    S_ik       S              axis k in the frame of body i: its motion for a unit velocity k
    <S, V>     powers(S, V)   the ten numbers with S . (I_i V) = <S, V> phi_i

Each row is a virtual power. The force of velocity k is the sum over the bodies that it moves of
S . (I A + V x* I V), and V x* is minus the transpose of V x:

    tau_k = sum_i (<S, A> - <V x S, V>) phi_i                                            (1)

differs: axes are carried to the bodies (one motion a pair) instead of ten wrenches a body to the
axes. Rotors, friction and springs have their own columns, see `drive_regressor`.

Cost: O(N d) for depth d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.rnea import forward_pass
from kinetree.algorithms.tree import parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Transform, Twist, Vector3

Row = list[Scalar]
Axes = dict[int, Twist]
SIX = tuple(tuple(1 if i == k else 0 for i in range(6)) for k in range(6))


def regressor(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Row]:
    """Y with tau = Y phi: a row for each velocity, ten columns for each body."""
    X, Phi, V, A = body_motions(model, q, qd, qdd)
    seen = carried(model, X, [numbered(model, i, axes) for i, axes in enumerate(Phi)])
    return rows_of(model.nv, seen, lambda i, S: _force(S, V[i], A[i]))


def base_wrench_regressor(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Row]:
    """Six rows: the wrench from the world on the whole robot, in and about the world's frame."""
    X, _, V, A = body_motions(model, q, qd, qdd)
    units = {k: Twist(Vector3(*unit[:3]), Vector3(*unit[3:])) for k, unit in enumerate(SIX)}
    roots = [
        {k: X[i].to_child(S) for k, S in units.items()} if body.parent < 0 else {}
        for i, body in enumerate(model.bodies)
    ]
    return rows_of(6, carried(model, X, roots), lambda i, S: _force(S, V[i], A[i]))


def drive_regressor(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Row]:
    """For each velocity, what its joint force has of a unit of each number of its drive.

    Rotor inertia, viscous friction, dry friction, stiffness (from where the model's spring is
    relaxed) and a constant offset. A drive acts on its own velocity only.
    """
    rows: list[Row] = [[] for _ in range(model.nv)]
    for i in model.coordinate_order:
        joint, at = model.bodies[i].joint, model.v_slices[i]
        rest = model.drives[i].rest or joint.neutral()
        stretched = joint.displacement(rest, q[model.q_slices[i]])
        turning = joint.turning(qd[at], qd[at]) or [0] * joint.nv
        for k, (d, extra) in enumerate(zip(stretched, turning, strict=True), at.start):
            sign = select(less(qd[k], 0), -1, select(less(0, qd[k]), 1, 0))
            rows[k] = [qdd[k] + extra, qd[k], sign, d, 1]
    return rows


def powers(S: Twist, V: Twist) -> Row:
    """<S, V>: the ten numbers with S . (I V) = <S, V> phi; the same if S and V change places."""
    s, W, v, w = S.linear, S.angular, V.linear, V.angular
    return [
        s.dot(v),
        *(v.cross(W) - w.cross(s)),
        W.x * w.x,
        W.y * w.y,
        W.z * w.z,
        W.x * w.y + W.y * w.x,
        W.x * w.z + W.z * w.x,
        W.y * w.z + W.z * w.y,
    ]


def _force(S: Twist, V: Twist, A: Twist) -> Row:
    """One body's part of a row of (1)."""
    return [x - y for x, y in zip(powers(S, A), powers(V.cross(S), V), strict=True)]


def body_motions(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[list[Transform], list[tuple[Twist, ...]], list[Twist], list[Twist]]:
    """Transforms, axes, and the bodies' velocities and accelerations less gravity."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    A_0 = Twist(-model.gravity, Vector3.zero())
    return X, Phi, *forward_pass(model, X, Phi, q, qd, qdd, A_0)


def numbered(model: Model, i: int, axes: Sequence[Twist]) -> Axes:
    """The axes of joint i by the numbers of their velocities."""
    return dict(enumerate(axes, model.v_slices[i].start))


def carried(model: Model, X: Sequence[Transform], own: Sequence[Axes]) -> list[Axes]:
    """S_ik: for each body, the axes that move it, in its frame; those of one velocity are added."""
    seen: list[Axes] = []
    for i, body in enumerate(model.bodies):
        above = seen[body.parent] if body.parent >= 0 else {}
        axes = {k: X[i].to_child(S) for k, S in above.items()}
        for k, S in own[i].items():
            axes[k] = axes[k] + S if k in axes else S
        seen.append(axes)
    return seen


def rows_of(count: int, seen: Sequence[Axes], part: Callable[[int, Twist], Row]) -> list[Row]:
    """A matrix whose ten columns for a body are parts for the axes that move it, else zero."""
    blocks = [{k: part(i, S) for k, S in axes.items()} for i, axes in enumerate(seen)]
    return [[x for block in blocks for x in block.get(k, [0] * 10)] for k in range(count)]
