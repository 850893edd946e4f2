"""What every recursion starts from: each joint's transform and axes at a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinetree.model import Model
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Force, Motion, Transform

Wrenches = Mapping[str, Force]
"""Frame name -> the wrench that acts on it from outside, in that frame's own coordinates."""


def parent_transforms(model: Model, q: Sequence[Scalar]) -> list[Transform]:
    """X_i: the pose of body i in its parent's frame."""
    return [
        body.placement @ body.joint.transform(q[at])
        for body, at in zip(model.bodies, model.q_slices, strict=True)
    ]


def subspaces(model: Model, q: Sequence[Scalar]) -> list[tuple[Motion, ...]]:
    """Phi_i: the axes of joint i in the frame of body i."""
    return [
        body.joint.subspace(q[at]) for body, at in zip(model.bodies, model.q_slices, strict=True)
    ]


def along(Phi: Iterable[Motion], rates: Iterable[Scalar]) -> Motion:
    """Phi r: the motion of a joint whose velocities (or accelerations) are r."""
    total = Motion.zero()
    for axis, rate in zip(Phi, rates, strict=True):
        total = total + axis * rate
    return total


def drive_forces(model: Model, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """What the drives take: rotor inertia, viscous and dry friction, for each velocity."""
    forces: list[Scalar] = [0] * model.nv
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            sign = select(less(qd[k], 0), -1, select(less(0, qd[k]), 1, 0)) if drive.friction else 0
            taken = qdd[k] * drive.armature + qd[k] * drive.damping + sign * drive.friction
            forces[k] = forces[k] + taken
    return forces


def wrenches_on_bodies(model: Model, external: Wrenches) -> list[Force]:
    """The sum of the external wrenches on each body, in the body's frame."""
    total = [Force.zero() for _ in model.bodies]
    for name, wrench in external.items():
        frame = model.frame(name)
        if frame.body >= 0:  # what acts on the world moves nothing
            total[frame.body] = total[frame.body] + frame.placement.to_parent(wrench)
    return total
