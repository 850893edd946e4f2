"""Writing contacts as MJCF: geoms, hulls of meshes, pairs, settings, softness.

Geoms touch in the pairs that are written, and in no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kinetree.model.description import Description
from kinetree.model.formats.collision_shapes import shape_of
from kinetree.model.formats.write_xml import Writer, number, numbers
from kinetree.model.geometry import (
    Box,
    Capsule,
    Collider,
    ContactPair,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Solid,
    Sphere,
)
from kinetree.model.geometry.options import OPTIONS
from kinetree.model.model import Shape
from kinetree.model.softness import JointSoftness, Softness
from kinetree.spatial import Transform

SILENT = {"contype": "0", "conaffinity": "0"}
"""The attributes of a geom that touches only in explicit pairs."""


@dataclass
class ContactElements:
    """The elements of a robot's colliders and pairs.

    Attributes:
        description: the robot.
        lost: the names of the colliders that MJCF cannot express.
    """

    description: Description
    lost: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._kept: dict[str, Collider] = {}
        for c in self.description.colliders:
            if isinstance(c.shape, HeightField):
                self.lost.append(c.name)
            else:
                self._kept[c.name] = c

    def option(self) -> dict[str, str]:
        """The attributes of <option> that differ from MuJoCo's defaults."""
        given = self.description.contact_options
        found = {}
        for name in ("timestep", "impratio"):
            if getattr(given, name) != getattr(OPTIONS, name):
                found[name] = number(getattr(given, name))
        for name, written in (("cone", given.cone), ("integrator", _integrator(given.integrator))):
            if getattr(given, name) != getattr(OPTIONS, name):
                found[name] = written
        return found

    def flags(self) -> dict[str, str]:
        """The attributes of <flag>."""
        given = self.description.contact_options
        switched = {"limit": given.limits, "refsafe": given.refsafe, "eulerdamp": given.eulerdamp}
        off = {name: "disable" for name, on in switched.items() if not on}
        return off | ({"diagexact": "enable"} if given.diagexact else {})

    def assets(self, out: Writer) -> None:
        """Write the hulls of meshes."""
        solids = ((c.name, c.shape) for c in self._kept.values())
        meshes = {name: solid for name, solid in solids if isinstance(solid, ConvexMesh)}
        if meshes:
            with out.element("asset"):
                for name, mesh in meshes.items():
                    out.leaf("mesh", name=name, vertex=numbers(x for v in mesh.vertices for x in v))

    def on(self, link: str | None) -> Iterator[tuple[Transform, dict[str, str]]]:
        """The geoms of a link, or of the world if None: pose and attributes.

        Arguments:
            link: its name.
        """
        for c in self._kept.values():
            if c.frame == link:
                yield c.at, {"name": c.name, **_geom(c), **self._color(c)}

    def covers(self, shape: Shape) -> bool:
        """Whether a shape is written as a collider.

        Arguments:
            shape: of a link.
        """
        return shape.role == "collision" and replace(shape, color=()) in self._shapes

    @property
    def _shapes(self) -> list[Shape]:
        return [shape for c in self._kept.values() if (shape := shape_of(c)) is not None]

    def _color(self, collider: Collider) -> dict[str, str]:
        """The colour of the shape that a collider covers."""
        own = shape_of(collider)
        for shape in self.description.shapes:
            if shape.color and replace(shape, color=()) == own:
                return {"rgba": numbers(shape.color)}
        return {}

    def write(self, out: Writer) -> None:
        """Write the element <contact>, if there is anything in it."""
        pairs = [c for c in self.description.contacts if {c.first, c.second} <= self._kept.keys()]
        if pairs:
            with out.element("contact"):
                for pair in pairs:
                    out.leaf("pair", **_pair(pair))


def softness_of_joint(soft: JointSoftness) -> dict[str, str]:
    """The attributes of a joint whose softness of limits or friction is not MuJoCo's default.

    Arguments:
        soft: of the joint.
    """
    found = {**softness(soft.limit, "limit"), **softness(soft.friction, "friction")}
    if soft.limit.margin:
        found["margin"] = number(soft.limit.margin)
    return found


def softness(soft: Softness, what: str = "") -> dict[str, str]:
    """The attributes of softness that differ from MuJoCo's defaults.

    Arguments:
        soft: what is written.
        what: the end of the attributes' names.
    """
    usual = Softness()
    return {
        f"{name}{what}": numbers(getattr(soft, name))
        for name in ("solref", "solimp")
        if getattr(soft, name) != getattr(usual, name)
    }


def _integrator(name: str) -> str:
    return {"euler": "Euler", "rk4": "RK4"}.get(name, name)


def _geom(c: Collider) -> dict[str, str]:
    """The type and size of a collider's geom."""
    kind, size = c.shape.kind, _size(c.shape)
    mesh = {"mesh": c.name} if isinstance(c.shape, ConvexMesh) else {"size": numbers(size)}
    return {"type": kind, **mesh, **SILENT}


def _size(solid: Solid) -> tuple[float, ...]:
    if isinstance(solid, Sphere):
        return (solid.radius,)
    if isinstance(solid, (Capsule, Cylinder)):
        return (solid.radius, solid.half_length)
    if isinstance(solid, Box):
        return solid.half_edges
    return solid.half_axes if isinstance(solid, Ellipsoid) else (0.0, 0.0, 1.0)


def _pair(pair: ContactPair) -> dict[str, str]:
    usual = ContactPair(pair.first, pair.second)
    given = {"geom1": pair.first, "geom2": pair.second}
    for name in ("condim", "friction", "solref", "solimp", "solreffriction", "margin", "gap"):
        value = getattr(pair, name)
        if value != getattr(usual, name):
            given[name] = numbers(value) if isinstance(value, tuple) else number(value)
    return given
