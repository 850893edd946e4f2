"""The links of an SDF document: inertias, shapes, sensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kinetree.errors import FileFormatError, ModelError
from kinetree.model.body_forces import Compensation
from kinetree.model.description import WATER, Link
from kinetree.model.disassemble import fresh
from kinetree.model.formats.collision_shapes import solid_of
from kinetree.model.formats.packages import SCHEMES, Finder
from kinetree.model.formats.sdf_frames import Frames, Node
from kinetree.model.formats.sdf_values import (
    direction,
    is_true,
    number,
    numbers,
    pose_of,
    relative_to,
    text,
)
from kinetree.model.formats.shape_inertia import inertia_of_shapes
from kinetree.model.formats.xml import TEXT, Element
from kinetree.model.geometry import Collider, Plane
from kinetree.model.model import Shape
from kinetree.model.place import Place
from kinetree.model.plane import plane_axes
from kinetree.model.problem import Problem
from kinetree.model.sensors import Sensor
from kinetree.spatial import Inertia, Matrix3, Rotation, Symmetric3, Transform, Vector3

MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


@dataclass
class Links:
    """Reads links, and collects remarks.

    Arguments:
        frames: the poses of all nodes.
        finder: of meshes.
        from_geometry: whether links without inertia stay without, to get their shapes' later.
    """

    frames: Frames
    finder: Finder
    from_geometry: bool
    remarks: list[Problem] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    colliders: dict[str, Collider] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(default_factory=dict)
    weightless: dict[str, Compensation] = field(default_factory=dict)

    def add(self, node: Node, static: bool) -> Link:
        """Read a link with its shapes and sensors.

        Arguments:
            node: the link.
            static: whether it stands still.
        """
        element = node.element
        densities: list[tuple[Shape, float]] = []
        for role in ("visual", "collision"):
            for part in element.all(role):
                shape = self._shape(node, part, role, static)
                if shape is not None:
                    self.shapes.append(shape)
                    if role == "collision":
                        densities.append((shape, number(part, "density", 0.0)))
        for part in element.all("sensor"):
            self._sensor(node, part)
        kinematic = element.first("kinematic")
        if kinematic is not None and is_true(kinematic, kinematic.content):
            message = "<kinematic> is not read: the link still moves by its dynamics"
            self._remark("warning", node, message, kinematic)
        inertia = self._inertia(node, densities, static)
        self._weightless(node, inertia, static)
        return Link(node.name, inertia, element.where)

    def _weightless(self, node: Node, inertia: Inertia, static: bool) -> None:
        """Compensate the weight of a link without gravity."""
        gravity = node.element.first("gravity")
        if gravity is None or is_true(gravity, gravity.content) or static:
            return
        if not inertia.mass:  # it may get that of its shapes later
            message = "<gravity> is not read: gravity still acts on the link"
            self._remark("warning", node, message, gravity)
            return
        center, _ = inertia.center_and_rotational()
        at = Transform(Rotation.identity(), center)
        name = fresh(f"{node.name} compensation", self.weightless)
        place = Place(node.name, at)
        self.weightless[name] = Compensation(name=name, place=place, mass=inertia.mass)

    def _remark(self, severity: str, node: Node, message: str, at: Element) -> None:
        self.remarks.append(Problem(severity, str(node), message, at.where))

    # inertia

    def _inertia(self, node: Node, shapes: list[tuple[Shape, float]], static: bool) -> Inertia:
        inertial = node.element.first("inertial")
        if inertial is None:
            if static or self.from_geometry:
                return Inertia.zero()
            message = "it has no <inertial>: it gets SDF's default, 1 kg and 1 kg m² on each axis"
            self._remark("warning", node, message, node.element)
            return Inertia.about_center(1.0, Vector3.zero(), Symmetric3.diagonal(1.0))
        if is_true(inertial, inertial.attributes.get("auto", "")):
            return self._automatic(node, inertial, shapes)
        mass = number(inertial, "mass", 1.0)
        tensor = inertial.first("inertia")
        entries = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
        if tensor is not None:
            entries = [number(tensor, tag, entries[k]) for k, tag in enumerate(MOMENTS)]
        pose = self._pose(node, inertial)
        about = pose.rotation.turn_symmetric(Symmetric3(*entries))
        return Inertia.about_center(mass, pose.translation, about)

    def _automatic(
        self, node: Node, inertial: Element, shapes: list[tuple[Shape, float]]
    ) -> Inertia:
        """The inertia of the collision shapes; each may have a density of its own."""
        usual = number(inertial, "density", WATER)
        found, said = inertia_of_shapes([(s, d or usual) for s, d in shapes])
        for message in said:
            self._remark("warning", node, message, inertial)
        if inertial.first("mass") is not None and found.mass:  # SDF 1.12: a given mass scales it
            scale = number(inertial, "mass", 1.0) / found.mass
            found, _ = inertia_of_shapes([(s, scale * (d or usual)) for s, d in shapes])
        self._remark(
            "note", node, f"its inertia is that of its shapes: {found.mass:g} kg", inertial
        )
        return found

    # shapes

    def _pose(self, node: Node, element: Element) -> Transform:
        """The pose of something on a link, in the link's frame."""
        other = relative_to(element)
        if not other or node.scope is None:
            return pose_of(element)
        base = self.frames.pose(node.scope.find(other, element))
        return self.frames.pose(node).inverse() @ base @ pose_of(element)

    def _shape(self, node: Node, part: Element, role: str, static: bool) -> Shape | None:
        geometry = part.first("geometry")
        for element in () if geometry is None else geometry.children:
            try:
                if element.tag == "plane":
                    self._plane(node, part, element, role, static)
                    return None
                if element.tag in GEOMETRY:
                    size, file = GEOMETRY[element.tag](element)
                    shape = Shape(
                        node.name, role, element.tag, size, self._pose(node, part), file,
                        self._folder(element, file), _color(part) if role == "visual" else (),
                    )  # fmt: skip
                    self._touch(node, part, shape)
                    return shape
                if element.tag != "empty":
                    message = f"its {role} is left out: <{element.tag}> is not a shape that is read"
                    self._remark("note", node, message, element)
            except FileFormatError as e:
                self._remark("warning", node, f"its {role} is ignored: {e}", element)
        return None

    def _folder(self, element: Element, file: str) -> str:
        """The folder in which a mesh is looked for later."""
        if not file:
            return ""
        near = None if element.file == TEXT else Path(element.file).parent
        found = self.finder.folder_for(file) if file.startswith(SCHEMES) else near
        return "" if found is None else str(found.absolute())

    def _touch(self, node: Node, part: Element, shape: Shape) -> None:
        """A collider for a collision shape that is not a mesh."""
        if shape.role == "collision" and shape.kind != "mesh":
            name = fresh(f"{node.name}_collision", self.colliders)
            try:
                self.colliders[name] = Collider(name, node.name, solid_of(shape), shape.placement)
            except ModelError as e:
                self._remark("warning", node, f"its collision shape cannot touch: {e}", part)

    def _plane(self, node: Node, part: Element, element: Element, role: str, static: bool) -> None:
        """The plane of a static link becomes a part of the world."""
        if role == "visual":
            return
        if not static:
            message = "its plane is left out: only links that stand still can have one"
            self._remark("note", node, message, element)
            return
        at, normal = self.frames.pose(node) @ self._pose(node, part), element.first("normal")
        if normal is not None:
            z = direction(normal)
            turn = Rotation(*Matrix3(*plane_axes(z), z).T.rows)
            at = at @ Transform(turn, Vector3(0.0, 0.0, 0.0))
        name = fresh(f"{node.name}_collision", self.colliders)
        self.colliders[name] = Collider(name, None, Plane(), at)

    # sensors

    def _sensor(self, node: Node, element: Element) -> None:
        name = element.name(default="sensor")
        if element.attributes.get("type") != "imu":
            kind = element.attributes.get("type", "")
            self._remark("note", node, f"its sensor {name!r} ({kind[:80]}) is left out", element)
            return
        place = Place(node.name, self._pose(node, element))
        for kind in ("accelerometer", "gyro"):
            unique = fresh(f"{name}_{kind}", self.sensors)
            self.sensors[unique] = Sensor(name=unique, kind=kind, place=place)


def _color(visual: Element) -> tuple[float, ...]:
    """The colour of a visual; empty if it has none that can be shown."""
    material = visual.first("material")
    for tag in ("diffuse", "ambient"):
        child = None if material is None else material.first(tag)
        try:
            rgba = () if child is None else child.values(len(child.words()))
        except FileFormatError:
            rgba = ()
        if len(rgba) in (3, 4):
            return tuple(min(max(x, 0.0), 1.0) for x in (*rgba, 1.0)[:4])
    return ()


def _mesh(element: Element) -> tuple[tuple[float, ...], str]:
    return numbers(element, "scale", 3, (1.0, 1.0, 1.0)), text(element, "uri")


def _box(element: Element) -> tuple[tuple[float, ...], str]:
    return numbers(element, "size", 3, (1.0, 1.0, 1.0)), ""


def _sphere(element: Element) -> tuple[tuple[float, ...], str]:
    return (number(element, "radius", 1.0),), ""


def _long(element: Element) -> tuple[tuple[float, ...], str]:
    return (number(element, "radius", 1.0), number(element, "length", 1.0)), ""


def _ellipsoid(element: Element) -> tuple[tuple[float, ...], str]:
    return numbers(element, "radii", 3, (1.0, 1.0, 1.0)), ""


GEOMETRY: dict[str, Callable[[Element], tuple[tuple[float, ...], str]]] = {
    "mesh": _mesh,
    "box": _box,
    "sphere": _sphere,
    "cylinder": _long,
    "capsule": _long,
    "ellipsoid": _ellipsoid,
}
"""The shapes that are read: their sizes and files."""
