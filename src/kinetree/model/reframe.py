"""Frames for arithmetic: the same robot, its bodies' frames where they leave zeros and ones.

Frames move to their joints, slanted axes become z axes, and frames turn about these and move along
them so that the x axis is across a joint's axis and the next one: J. Denavit & R. S. Hartenberg, A
kinematic notation for lower-pair mechanisms based on matrices, J. Applied Mechanics 22 (1955).

Named frames stay where they are, and so do joints' velocities, forces and positions.
"""

from __future__ import annotations

import math
from dataclasses import replace

from kinetree.model.across import across
from kinetree.model.joints import Joint, Mimic, Moved, Prismatic, Revolute, Screw
from kinetree.model.model import Body, Model
from kinetree.model.snap import TOLERANCE
from kinetree.spatial import Matrix3, Rotation, Transform, Vector3

Z = Vector3(0.0, 0.0, 1.0)
PLAIN = 4
"""So many entries of a rotation may be neither zero nor one for it to be left alone."""


def convenient(model: Model) -> Model:
    """The same robot in frames that save arithmetic."""
    return across_axes(align(recenter(model)))


def recenter(model: Model) -> Model:
    """The same robot with the frame of each body at its joint, if that was elsewhere in the body.

    Named frames stay where they are.
    """
    joints = [body.joint for body in model.bodies]
    shift = [j.at if isinstance(j, Moved) else Transform.identity() for j in joints]
    return _reframed(model, shift, [j.joint if isinstance(j, Moved) else j for j in joints])


def align(model: Model) -> Model:
    """The same robot with slanted joint axes along the z axes of their bodies' frames.

    Turning about z leaves zeros and ones in a rotation, and an inertia's column is its own.
    """
    turned = [_aligned(body.joint) for body in model.bodies]
    return _reframed(model, [X for X, _ in turned], [joint for _, joint in turned])


def _aligned(joint: Joint) -> tuple[Transform, Joint]:
    """How to turn a body's frame, and its joint as seen from there."""
    if isinstance(joint, Mimic):
        X, inner = _aligned(joint.joint)
        return X, replace(joint, joint=inner)
    if isinstance(joint, (Revolute, Prismatic, Screw)) and sum(map(bool, joint.axis)) > 1:
        x, y = across(joint.axis)
        turn = Rotation(*Matrix3(x, y, joint.axis).T.rows)
        return Transform(turn, Vector3(0.0, 0.0, 0.0)), replace(joint, axis=Z)
    return Transform.identity(), joint


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
    moved = _reframed(model, shift, [body.joint for body in model.bodies])
    return replace(moved, bodies=tuple(map(_absorbed, moved.bodies)))


def _is_turned(body: Body) -> bool:
    """Whether a body turns about its z axis, placed at a slant."""
    joint = body.joint.joint if isinstance(body.joint, Mimic) else body.joint
    entries = [abs(x) for row in body.placement.rotation.rows for x in row]
    slanted = sum(min(x, abs(x - 1.0)) > TOLERANCE for x in entries) > PLAIN
    return isinstance(joint, Revolute) and joint.axis == Z and slanted


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
    joint = body.joint
    if isinstance(joint, Mimic):
        joint = replace(joint, offset=joint.offset + angle)
    else:
        joint = Mimic(joint, 1.0, angle)
    drive = body.drive
    if drive.stiffness:  # it is relaxed at the same place, where the angle is now another
        drive = replace(drive, rest=tuple(x + angle for x in drive.rest or (0.0,)))
    return replace(body, placement=body.placement @ back, joint=joint, drive=drive)


def _reframed(model: Model, shift: list[Transform], joints: list[Joint]) -> Model:
    """The same robot with other frames in its bodies, and its joints as they are there."""
    if all(Transform.identity() == X for X in shift):
        return model
    back = [X.inverse() for X in shift]
    back.append(Transform.identity())  # of the world
    return replace(
        model,
        bodies=tuple(
            replace(
                b,
                placement=back[b.parent] @ b.placement @ shift[i],
                joint=joints[i],
                inertia=back[i].to_parent(b.inertia),
            )
            for i, b in enumerate(model.bodies)
        ),
        frames=tuple(replace(f, placement=back[f.body] @ f.placement) for f in model.frames),
    )
