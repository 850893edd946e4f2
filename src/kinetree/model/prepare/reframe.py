"""The same robot with body frames that leave zeros and ones in its transforms.

Frames move to their joints, and slanted joint axes become z axes. Frames also turn about these axes
and move along them until their x axis is the common normal of a joint's axis and the next one:
J. Denavit & R. S. Hartenberg, A kinematic notation for lower-pair mechanisms based on matrices,
J. Applied Mechanics 22 (1955).

Named frames stay where they are. Joint positions, velocities and forces do not change.
"""

from __future__ import annotations

import math
from dataclasses import replace

from kinetree.model.joints import Joint
from kinetree.model.joints.axis import Z
from kinetree.model.model import Body, Model
from kinetree.model.rounding import TOLERANCE
from kinetree.spatial import Rotation, Transform, Vector3

PLAIN = 4
"""A rotation with at most this many entries other than 0 and +-1 is left as it is."""


def reframe(model: Model) -> Model:
    """The same robot in frames that save arithmetic."""
    return align_common_normals(align(recenter(model)))


def recenter(model: Model) -> Model:
    """The same robot with the frame of each body at its joint, if that was elsewhere in the body.

    Named frames stay where they are.
    """
    return _reframed(model, [body.joint.recentered() for body in model.bodies])


def align(model: Model) -> Model:
    """The same robot with slanted joint axes along the z axes of their bodies' frames.

    A rotation about z has zeros and ones, and the axis picks one column of an inertia.
    """
    return _reframed(model, [body.joint.aligned() for body in model.bodies])


def align_common_normals(model: Model) -> Model:
    """The same robot, x axes of frames along the common normals of successive joint axes.

    Frames turn about and move along the joint axes that are z axes. Between a body and its first
    child there is then a rotation about x only, and no translation along z. The rotation of a frame
    about its joint's axis is added to the joint's angle.
    """
    shift = [Transform.identity() for _ in model.bodies]
    first = {body.parent: i for i, body in reversed(list(enumerate(model.bodies)))}
    for i, c in sorted(first.items(), reverse=True):
        if i >= 0 and all(map(_rotates_at_a_slant, (model.bodies[i], model.bodies[c]))):
            shift[i] = _common_normal_frame(model.bodies[c].placement @ shift[c])
    joints = (body.joint for body in model.bodies)
    turned = _reframed(model, list(zip(shift, joints, strict=True)))
    return replace(turned, bodies=tuple(map(_with_turn_in_joint, turned.bodies)))


def _rotates_at_a_slant(body: Body) -> bool:
    """Whether a body rotates about its z axis and its placement is a general rotation."""
    entries = [abs(x) for row in body.placement.rotation.rows for x in row]
    slanted = sum(min(x, abs(x - 1.0)) > TOLERANCE for x in entries) > PLAIN
    return body.joint.rotates_about_z and slanted


def _common_normal_frame(X: Transform) -> Transform:
    """The frame on the z axis, at the height of X, whose x axis is normal to both z axes."""
    x, y, _ = (row.z for row in X.rotation.rows)
    turn = Rotation.about(Z, math.atan2(x, -y))
    return Transform(turn, Z * X.translation.z)


def _with_turn_in_joint(body: Body) -> Body:
    """A body with the rotation of its placement about z moved into its joint's angle."""
    if not _rotates_at_a_slant(body):
        return body
    last = body.placement.rotation.rows[2]
    angle = math.atan2(last.x, last.y)
    back = Transform(Rotation.about(Z, -angle), Vector3.zero())
    return replace(
        body,
        placement=body.placement @ back,
        joint=body.joint.with_offset(angle),
        drive=body.explicit_drive,  # the neutral position is another now
    )


def _reframed(model: Model, seen: list[tuple[Transform, Joint]]) -> Model:
    """The same robot with other frames in its bodies.

    seen: for each body, the new frame's pose in the old one, and the joint as seen from there.
    """
    if all(Transform.identity() == X for X, _ in seen):
        return model
    back = [X.inverse() for X, _ in seen]
    back.append(Transform.identity())  # of the world
    return replace(
        model,
        bodies=tuple(
            replace(
                b,
                placement=back[b.parent] @ b.placement @ X,
                joint=joint,
                limits=b.limits.relocated(X.rotation.T),
                inertia=back[i].to_parent(b.inertia),
            )
            for i, (b, (X, joint)) in enumerate(zip(model.bodies, seen, strict=True))
        ),
        frames=tuple(replace(f, placement=back[f.body] @ f.placement) for f in model.frames),
    )
