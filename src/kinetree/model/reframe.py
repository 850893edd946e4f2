"""Frames for arithmetic: the same robot, its bodies' frames where they leave zeros and ones.

Frames move to their joints, slanted axes become z axes, and frames turn about these and move along
them so that the x axis is across a joint's axis and the next one: J. Denavit & R. S. Hartenberg, A
kinematic notation for lower-pair mechanisms based on matrices, J. Applied Mechanics 22 (1955).

Named frames stay where they are, and so do joints' velocities, forces and positions.
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
"""So many entries of a rotation may be neither zero nor one for it to be left alone."""


def convenient(model: Model) -> Model:
    """The same robot in frames that save arithmetic."""
    return across_axes(align(recenter(model)))


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


def across_axes(model: Model) -> Model:
    """The same robot, frames turned about and moved along the joint axes that are z axes.

    Between a body and the first it carries there is then a turn about x only, and no step along z.
    What a frame is turned by before its joint turns it is added to the joint's angle.
    """
    shift = [Transform.identity() for _ in model.bodies]
    first = {body.parent: i for i, body in reversed(list(enumerate(model.bodies)))}
    for i, c in sorted(first.items(), reverse=True):
        if i >= 0 and all(map(_is_turned, (model.bodies[i], model.bodies[c]))):
            shift[i] = _across(model.bodies[c].placement @ shift[c])
    joints = (body.joint for body in model.bodies)
    turned = _reframed(model, list(zip(shift, joints, strict=True)))
    return replace(turned, bodies=tuple(map(_absorbed, turned.bodies)))


def _is_turned(body: Body) -> bool:
    """Whether a body turns about its z axis, placed at a slant."""
    entries = [abs(x) for row in body.placement.rotation.rows for x in row]
    slanted = sum(min(x, abs(x - 1.0)) > TOLERANCE for x in entries) > PLAIN
    return body.joint.rotates_about_z and slanted


def _across(X: Transform) -> Transform:
    """The frame about z whose x axis is across z and the z axis of X, and whose origin is level."""
    x, y, _ = (row.z for row in X.rotation.rows)
    turn = Rotation.about(Z, math.atan2(x, -y))
    return Transform(turn, Z * X.translation.z)


def _absorbed(body: Body) -> Body:
    """A body whose placement's turn about z is part of its joint's angle."""
    if not _is_turned(body):
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
                inertia=back[i].to_parent(b.inertia),
            )
            for i, (b, (X, joint)) in enumerate(zip(model.bodies, seen, strict=True))
        ),
        frames=tuple(replace(f, placement=back[f.body] @ f.placement) for f in model.frames),
    )
