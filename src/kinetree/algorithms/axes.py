"""How a joint's own motion changes with its coordinates: what derivatives need where axes move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetree.algorithms.tree import along
from kinetree.dual import Dual, lift
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Motion, Vector3


@dataclass(frozen=True)
class Change:
    """Of a joint's motion in its body's frame, by one of its coordinates (or their directions).

    number: where its velocity stands in v.
    axes: E, of Phi.
    velocity: of Phi qd.
    acceleration: of Phi qdd + Phi' qd, at constant qd and qdd.
    rate: of this axis, as the joint moves.
    """

    number: int
    axes: Sequence[Motion]
    velocity: Motion
    acceleration: Motion
    rate: Motion


def changes(
    model: Model,
    i: int,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> Iterator[Change]:
    """The change of joint i's motion with each of its coordinates."""
    joint, own, at = model.bodies[i].joint, q[model.q_slices[i]], model.v_slices[i]
    n, v, a = joint.nv, qd[at], qdd[at]
    zero = Motion.zero()
    for d in range(n):
        if joint.has_constant_axes:
            yield Change(at.start + d, (zero,) * n, zero, zero, zero)
            continue
        unit = [1 if k == d else 0 for k in range(n)]
        E = joint.subspace_rate(own, unit)
        moving = [Dual(x, r) for x, r in zip(own, joint.coordinate_rates(own, unit), strict=True)]
        steady = [Dual(x, 0) for x in v]
        bent = along([_rate(m) for m in joint.subspace_rate(moving, steady)], v)
        rate = joint.subspace_rate(own, v)[d]
        yield Change(at.start + d, E, along(E, v), along(E, a) + bent, rate)


def _rate(m: Motion) -> Motion:
    linear, angular = ([lift(x).rate for x in part] for part in (m.linear, m.angular))
    return Motion(Vector3(*linear), Vector3(*angular))
