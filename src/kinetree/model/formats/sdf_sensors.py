"""Sensors of SDF's joints: the transmitted force and torque."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kinetree.model.description import Connection, Link
from kinetree.model.disassemble import fresh
from kinetree.model.formats.sdf_frames import Frames
from kinetree.model.formats.sdf_joints import SdfJoint
from kinetree.model.formats.sdf_values import pose_of, text
from kinetree.model.formats.xml import Element
from kinetree.model.place import Place
from kinetree.model.problem import Problem
from kinetree.model.sensors import Carried, Sensor
from kinetree.spatial import Inertia, Transform

AXES = ("child", "parent", "sensor")
DIRECTIONS = ("child_to_parent", "parent_to_child")


@dataclass
class JointSensors:
    """Reads the sensors of joints, and collects remarks.

    Arguments:
        frames: the poses of all nodes.
        links, connections: of the robot.
        sensors: a list to which these are appended.
    """

    frames: Frames
    links: Sequence[Link]
    connections: Sequence[Connection]
    sensors: dict[str, Sensor]
    remarks: list[Problem] = field(default_factory=list)

    def add(self, joint: SdfJoint) -> None:
        """Read the sensors of a joint."""
        for element in joint.node.element.all("sensor"):
            name, kind = element.name(default="sensor"), element.attributes.get("type", "")
            what = f"its sensor {name!r} ({kind[:80]}) is left out"
            if kind != "force_torque":
                self._remark(joint, what, element)
                continue
            beyond = self._beyond(joint)
            if beyond is None:
                self._remark(joint, f"{what}: the joint closes a loop", element)
                continue
            self._force_torque(joint, element, name, beyond)

    def _force_torque(
        self, joint: SdfJoint, element: Element, name: str, beyond: tuple[str, bool]
    ) -> None:
        """A force and a torque, of the parent on the child or the other way round."""
        settings = element.first("force_torque")
        axes = _chosen(settings, "frame", AXES)
        against = _chosen(settings, "measure_direction", DIRECTIONS) == "child_to_parent"
        link, backwards = beyond
        at = self._place(joint, element, axes)
        carried = carried_by(self.links, self.connections, link)
        for kind in ("force", "torque"):
            unique = fresh(f"{name}_{kind}", self.sensors)
            self.sensors[unique] = Sensor(
                name=unique,
                kind=kind,
                place=Place(link, self.frames_of(joint, link).inverse() @ at),
                carried=carried,
                opposite=against != backwards,
            )

    def _place(self, joint: SdfJoint, element: Element, axes: str) -> Transform:
        """The pose of a sensor in the world, with its measuring axes."""
        home = self.frames.pose(joint.node)
        at = home @ pose_of(element)
        if axes == "sensor":
            return at
        of = self.frames.pose(joint.child if axes == "child" else joint.parent)
        return Transform(of.rotation, at.translation)

    def frames_of(self, joint: SdfJoint, link: str) -> Transform:
        """The pose of one of the two links of a joint in the world."""
        return self.frames.pose(joint.child if joint.child.name == link else joint.parent)

    def _beyond(self, joint: SdfJoint) -> tuple[str, bool] | None:
        """The link beyond a joint in the tree, and whether that is its parent; None in a loop."""
        names = {joint.node.name, *joint.names}
        ends = {c.child for c in self.connections if c.name in names}
        if joint.child.name in ends:
            return joint.child.name, False
        return (joint.parent.name, True) if joint.parent.name in ends else None

    def _remark(self, joint: SdfJoint, message: str, element: Element) -> None:
        said = Problem("note", f"joint {joint.node.name!r}", message, element.where)
        self.remarks.append(said)


def _chosen(settings: Element | None, tag: str, among: tuple[str, ...]) -> str:
    """A setting; the first choice by default."""
    if settings is None or settings.first(tag) is None:
        return among[0]
    word = text(settings, tag)
    if word not in among:
        raise settings.error(f"<{tag}> is {word[:80]!r}; one of {', '.join(among)} is expected")
    return word


def carried_by(links: Sequence[Link], connections: Sequence[Connection], link: str) -> Carried:
    """The part that a link carries rigidly, and the joints below it.

    Arguments:
        links, connections: of a robot.
        link: the name of the link.
    """
    inertias = {x.name: x.inertia for x in links}
    below: dict[str, list[Connection]] = {}
    for c in connections:
        below.setdefault(c.parent, []).append(c)
    joints: list[str] = []
    total, names = Inertia.zero(), []
    for name, at in _fixed(below, link, joints):
        total = total + at.to_parent(inertias[name])
        names.append(name)
    return Carried(total, tuple(names), tuple(joints))


def _fixed(
    below: dict[str, list[Connection]], link: str, joints: list[str]
) -> Iterator[tuple[str, Transform]]:
    """The links fixed to a link, with their poses in it; names of joints are collected."""
    pending = [(link, Transform.identity())]
    while pending:
        name, at = pending.pop(0)
        yield name, at
        for c in below.get(name, ()):
            if c.joint is None:
                pending.append((c.child, at @ c.placement))
            else:
                joints.append(c.name)
