"""How a joint's motion changes with its own coordinates: derivatives need it where axes move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetree.algorithms.tree import along
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Twist, Vector3


@dataclass(frozen=True)
class Change:
    """The derivatives of a joint's motion by one of its coordinates, in its body's frame.

    Where q is not a vector (a quaternion), they are along the direction of a unit velocity.

    number: the index of that velocity in v.
    axes: E, the derivative of Phi.
    velocity: the derivative of Phi qd.
    acceleration: the derivative of Phi qdd + Phi' qd, at constant qd and qdd.
    rate: the time derivative of the axis of this velocity.
    """

    number: int
    axes: Sequence[Twist]
    velocity: Twist
    acceleration: Twist
    rate: Twist


def changes(
    model: Model,
    i: int,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> Iterator[Change]:
    """The derivatives of joint i's motion by each of its coordinates."""
    joint, q_i, at = model.bodies[i].joint, q[model.q_slices[i]], model.v_slices[i]
    n, v, a = joint.nv, qd[at], qdd[at]
    zero = Twist.zero()
    for d in range(n):
        if joint.has_constant_axes:
            yield Change(at.start + d, (zero,) * n, zero, zero, zero)
            continue
        unit = [1 if k == d else 0 for k in range(n)]
        E = joint.subspace_rate(q_i, unit)
        moving = [Dual(x, r) for x, r in zip(q_i, joint.coordinate_rates(q_i, unit), strict=True)]
        steady = [Dual(x, 0) for x in v]
        bent = along([_rate(m) for m in joint.subspace_rate(moving, steady)], v)
        rate = joint.subspace_rate(q_i, v)[d]
        yield Change(at.start + d, E, along(E, v), along(E, a) + bent, rate)


def _rate(m: Twist) -> Twist:
    linear, angular = ([lift(x).rate for x in part] for part in (m.linear, m.angular))
    return Twist(Vector3(*linear), Vector3(*angular))
