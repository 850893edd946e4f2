"""The joints of an SDF document: their freedoms, limits and drives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.model.description import Mimicry
from kinetree.model.formats.sdf_frames import MODEL, Frames, Node, Scope, end
from kinetree.model.formats.sdf_values import direction, maybe_infinite, number
from kinetree.model.formats.xml import Element, brief
from kinetree.model.joints import Ball, Joint, Prismatic, Revolute, Screw
from kinetree.model.model import Drive, Limits
from kinetree.spatial import Rotation, Vector3

UNLIMITED = 1e16  # SDF's default for a limit
Z = Vector3(0.0, 0.0, 1.0)
AXES = {
    "revolute": ("axis",),
    "continuous": ("axis",),
    "prismatic": ("axis",),
    "screw": ("axis",),
    "universal": ("axis", "axis2"),
    "revolute2": ("axis", "axis2"),
    "ball": (),
    "fixed": (),
    "gearbox": (),
}
"""The axes of each type of joint along or about which it moves."""


class Freedom(NamedTuple):
    """One degree of freedom of a joint, or the three of a ball.

    Attributes:
        joint: how it moves.
        hinge: the axis of a hinge, in the frame of the joint; None for others.
        limits, drive, mimicry: of the coordinate.
    """

    joint: Joint
    hinge: Vector3 | None = None
    limits: Limits = Limits()
    drive: Drive = Drive()
    mimicry: Mimicry | None = None


@dataclass(frozen=True)
class SdfJoint:
    """A joint between two links.

    Arguments:
        node: the joint.
        type: a key of `AXES`.
        parent, child: the links, or the world.
        freedoms: in the order from the parent to the child; none if it is fixed.
    """

    node: Node
    type: str
    parent: Node
    child: Node
    freedoms: tuple[Freedom, ...]

    @property
    def names(self) -> list[str]:
        """The names of its freedoms."""
        name = self.node.name
        return [name if k == 0 else f"{name}_{k + 1}" for k in range(len(self.freedoms))]


def read_joint(node: Node, frames: Frames, mimic: bool) -> SdfJoint:
    """The joint of an element.

    Arguments:
        node: the joint.
        frames: the poses of all nodes.
        mimic: whether <mimic> is read.
    """
    element, scope = node.element, node.scope
    assert scope is not None  # only the world has none
    kind = element.text("type")
    if kind not in AXES:
        raise element.error(
            f"the joint type {brief(kind)!r} is unknown; known types are {', '.join(AXES)}"
        )
    parent, child = (
        frames.link(scope.find(end(element, role), element)) for role in ("parent", "child")
    )
    if parent is child:
        raise element.error(f"its parent and its child are both {parent}")
    freedoms = [Freedom(Ball())] if kind == "ball" else []
    for tag in AXES[kind]:
        freedoms.append(_freedom(node, scope, kind, tag, frames, mimic))
    return SdfJoint(node, kind, parent, child, tuple(freedoms))


def _freedom(node: Node, scope: Scope, kind: str, tag: str, frames: Frames, mimic: bool) -> Freedom:
    element = node.element
    axis = element.first(tag)
    if axis is None:
        if kind in ("universal", "revolute2"):
            raise element.error(f"a {kind} joint needs <{tag}>")
        axis = Element(tag, {}, element.line, element.file)
    u = axis_of(node, scope, axis, frames)
    hinge = None
    if kind == "prismatic":
        joint: Joint = Prismatic(u)
    elif kind == "screw":
        joint = Screw(u, _pitch(element))
    else:
        joint, hinge = Revolute(u), u
    limits = Limits() if kind == "continuous" else _limits(axis)
    copies = _mimicry(axis, scope) if mimic else None
    return Freedom(joint, hinge, limits, _drive(element, axis), copies)


def axis_of(node: Node, scope: Scope, axis: Element, frames: Frames) -> Vector3:
    """The direction of an axis in the frame of its joint.

    Arguments:
        node: the joint.
        scope: of the joint.
        axis: its <axis> or <axis2>.
        frames: where everything is.
    """
    xyz = axis.first("xyz")
    if xyz is None:
        return Z
    u, other = direction(xyz), xyz.attributes.get("expressed_in", "")
    if not other:
        return u
    home = scope.node if other == MODEL else scope.find(other, xyz)
    turn: Rotation = frames.pose(node).rotation.T @ frames.pose(home).rotation
    return turn @ u


def _pitch(element: Element) -> float:
    """The travel of a screw per radian, m."""
    if element.first("screw_thread_pitch") is not None:  # m per turn
        return number(element, "screw_thread_pitch", 1.0) / (2 * math.pi)
    radians = number(element, "thread_pitch", 1.0)  # radians per metre, in the opposite direction
    if not radians or not math.isfinite(1.0 / radians):
        raise element.error(f"<thread_pitch> is {radians:g}: rad/m other than zero is expected")
    return -1.0 / radians


def _limits(axis: Element) -> Limits:
    limit = axis.first("limit")
    if limit is None:
        return Limits()
    lower = maybe_infinite(limit, "lower", -UNLIMITED)
    upper = maybe_infinite(limit, "upper", UNLIMITED)
    # a negative limit means none
    effort, velocity = (maybe_infinite(limit, tag, -1.0) for tag in ("effort", "velocity"))
    return Limits(
        -math.inf if lower <= -UNLIMITED else lower,
        math.inf if upper >= UNLIMITED else upper,
        velocity=math.inf if velocity < 0.0 or velocity >= UNLIMITED else velocity,
        effort=math.inf if effort < 0.0 or effort >= UNLIMITED else effort,
    )


def _drive(joint: Element, axis: Element) -> Drive:
    dynamics = axis.first("dynamics")
    rotor, gear = number(joint, "drake:rotor_inertia", 0.0), number(joint, "drake:gear_ratio", 1.0)
    armature = rotor * gear * gear
    if not math.isfinite(armature):
        raise joint.error("the inertia of its rotor is too large for a number")
    if dynamics is None:
        return Drive(armature)
    stiffness = number(dynamics, "spring_stiffness", 0.0)
    rest = number(dynamics, "spring_reference", 0.0)
    return Drive(
        armature,
        number(dynamics, "damping", 0.0),
        number(dynamics, "friction", 0.0),
        stiffness,
        (rest,) if stiffness and rest else (),
    )


def _mimicry(axis: Element, scope: Scope) -> Mimicry | None:
    """The follower is multiplier (leader - reference) + offset."""
    mimic = axis.first("mimic")
    if mimic is None:
        return None
    leader = scope.joint(mimic.name("joint"), mimic)
    second = mimic.attributes.get("axis", "axis") == "axis2"
    name = f"{leader.name}_2" if second else leader.name
    ratio = number(mimic, "multiplier", 1.0)
    start, reference = number(mimic, "offset", 0.0), number(mimic, "reference", 0.0)
    return Mimicry(name, ratio, start - ratio * reference)


def lost_in_loops(joint: SdfJoint) -> Iterator[str]:
    """The properties that a loop-closing joint loses: it has no coordinate of its own.

    Arguments:
        joint: the joint.
    """
    for freedom in joint.freedoms:
        if freedom.drive != Drive():
            yield "its damping, friction, spring and armature"
        if freedom.limits.lower > -math.inf or freedom.limits.upper < math.inf:
            yield "its limits"
        if freedom.mimicry is not None:
            yield "what it mimics"
