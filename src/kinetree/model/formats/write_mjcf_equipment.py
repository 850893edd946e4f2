"""Tendons, actuators, sensors, keyframes and custom numbers in MJCF.

The sites and named shapes that they refer to are written before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kinetree.model.actuators import (
    Actuator,
    Adhesion,
    Affine,
    Filter,
    Integrator,
    JointTransmission,
    Law,
    MuscleActivation,
    MuscleForce,
    SiteTransmission,
    SliderCrank,
    TendonTransmission,
)
from kinetree.model.equipment import Equipment
from kinetree.model.formats.write_mjcf_contacts import softness
from kinetree.model.formats.write_mjcf_sensors import SensorElements
from kinetree.model.formats.write_xml import Writer, number, numbers
from kinetree.model.model import Shape
from kinetree.model.ranges import UNBOUNDED, Range
from kinetree.model.tendons import FixedTendon, Pulley, SpatialTendon, Tendon, Wrap

Attributes = dict[str, str]
Element = tuple[str, Attributes, list[tuple[str, Attributes]]]
"""A tag, its attributes, and its children."""


class EquipmentElements:
    """The elements of a robot's equipment.

    Arguments:
        equipment: what is written.
        site: from the names of a part and of a frame, and a pose in it, to the name of a site.
        shapes: of the links.
        sensors: the elements of sensors.

    Attributes:
        lost: what MJCF cannot express, in words.
        shapes: of the links, and those that tendons wrap around.
        shape_names: the names of the latter, by their identity.
    """

    def __init__(
        self,
        equipment: Equipment,
        site: Callable[..., str],
        shapes: Sequence[Shape],
        sensors: SensorElements,
    ) -> None:
        self._site, self._sensors = site, sensors
        self.shapes = list(shapes)
        self.shape_names: dict[int, str] = {}
        self.lost: list[str] = [
            f"the offset of tendon {x.name!r}"
            for x in equipment.tendons
            if isinstance(x, FixedTendon) and x.offset
        ]
        self._tendons = [self._tendon(x) for x in equipment.tendons]
        unsaid = [x for x in equipment.actuators if not self._can_say(x)]
        self.lost += [f"actuator {x.name!r}" for x in unsaid]
        self._actuators = [self._actuator(x) for x in equipment.actuators if x not in unsaid]
        self._numerics = equipment.numerics
        self.lost += sensors.lost

    def write(self, out: Writer) -> None:
        """Write the sections that have anything in them."""
        sensors: list[Element] = [(tag, given, []) for tag, given in self._sensors.elements]
        _section(out, "tendon", self._tendons)
        _section(out, "actuator", self._actuators)
        _section(out, "sensor", sensors)
        custom: list[Element] = [
            ("numeric", {"name": name, "data": numbers(values)}, [])
            for name, values in self._numerics
        ]
        _section(out, "custom", custom)

    def _tendon(self, x: Tendon) -> Element:
        shift = x.offset if isinstance(x, FixedTendon) else 0.0
        attributes = {"name": x.name}
        if x.stiffness:
            rest = (x.rest[0] - shift, x.rest[1] - shift)
            attributes |= {"stiffness": number(x.stiffness), "springlength": numbers(rest)}
        for key, value in (("damping", x.damping), ("frictionloss", x.friction)):
            attributes |= {key: number(value)} if value else {}
        attributes |= {"armature": number(x.armature)} if x.armature else {}
        limits = (x.limits[0] - shift, x.limits[1] - shift)
        attributes |= _bounds("range", limits) | _bounds("actuatorfrcrange", x.force_range)
        attributes |= _softness(x)
        if isinstance(x, SpatialTendon):
            return "spatial", attributes, list(self._path(x))
        assert isinstance(x, FixedTendon)
        over = [("joint", {"joint": j, "coef": number(w)}) for j, w in x.coefficients]
        return "fixed", attributes, over

    def _path(self, x: SpatialTendon) -> Iterator[tuple[str, Attributes]]:
        for part in x.path:
            if isinstance(part, Pulley):
                yield "pulley", {"divisor": number(part.divisor)}
            elif isinstance(part, Wrap):
                side = {} if part.side is None else {"sidesite": self._site(x.name, part.side)}
                yield "geom", {"geom": self._geom(x.name, part), **side}
            else:
                yield "site", {"site": self._site(x.name, part.frame)}

    def _geom(self, tendon: str, wrap: Wrap) -> str:
        """The name of the shape that a tendon wraps around; a new one is made if needed."""
        link, at = wrap.place.frame, wrap.place.at
        for i, x in enumerate(self.shapes):
            if (x.link, x.kind, x.placement) == (link, wrap.kind, at) and x.size[0] == wrap.radius:
                return self.shape_names.setdefault(i, f"{tendon}_wrap{i}")
        size = (wrap.radius,) if wrap.kind == "sphere" else (wrap.radius, 2.0 * wrap.radius)
        self.shapes.append(Shape(link, "visual", wrap.kind, size, at))
        return self._geom(tendon, wrap)

    def _actuator(self, x: Actuator) -> Element:
        attributes = {"name": x.name, **self._transmission(x)}
        attributes |= _bounds("ctrlrange", x.control_range)
        attributes |= _bounds("forcerange", x.force_range)
        attributes |= _bounds("actrange", x.activation_range)
        attributes |= _law("gain", x.gain) | _law("bias", x.bias) | _activation(x)
        attributes |= {"actearly": "true"} if x.early else {}
        return "general", attributes, []

    def _can_say(self, x: Actuator) -> bool:
        """Whether MJCF has a body of exactly the shapes that stick."""
        t = x.transmission
        return not isinstance(t, Adhesion) or self._sensors.is_whole_body(t.link)

    def _transmission(self, x: Actuator) -> Attributes:
        t = x.transmission
        if isinstance(t, JointTransmission):
            key = "jointinparent" if t.in_parent else "joint"
            return {key: t.joint, "gear": numbers(t.gear)}
        if isinstance(t, TendonTransmission):
            return {"tendon": t.tendon, "gear": number(t.gear)}
        if isinstance(t, Adhesion):
            return {"body": t.link or "world", "gear": number(t.gear)}
        if isinstance(t, SliderCrank):
            ends = {"cranksite": t.crank, "slidersite": t.slider}
            sites = {key: self._site(x.name, name) for key, name in ends.items()}
            return {**sites, "cranklength": number(t.rod), "gear": number(t.gear)}
        assert isinstance(t, SiteTransmission)
        ends = {"site": t.frame} | ({} if t.reference is None else {"refsite": t.reference})
        sites = {key: self._site(x.name, name) for key, name in ends.items()}
        return {**sites, "gear": numbers(t.gear)}


def _softness(x: Tendon) -> Attributes:
    limit, friction = x.limit_softness, x.friction_softness
    margin = {"margin": number(limit.margin)} if limit.margin else {}
    return softness(limit, "limit") | softness(friction, "friction") | margin


def _law(which: str, law: Law) -> Attributes:
    if isinstance(law, MuscleForce):
        shape = (law.shortest, law.longest, law.speed, law.passive, law.stretched)
        values: Sequence[float] = (*law.operating, law.force, 1.0, *shape)
        kind = {"lengthrange": numbers(law.length_range)} | {f"{which}type": "muscle"}
        return {**kind, f"{which}prm": numbers(values)}
    assert isinstance(law, Affine)
    values = (law.constant, law.by_length, law.by_velocity)
    if which == "gain" and not any(values[1:]):
        return {"gaintype": "fixed", "gainprm": number(law.constant)}
    if which == "bias" and not any(values):
        return {"biastype": "none"}
    return {f"{which}type": "affine", f"{which}prm": numbers(values)}


def _activation(x: Actuator) -> Attributes:
    a = x.activation
    if isinstance(a, Integrator):
        return {"dyntype": "integrator"}
    if isinstance(a, Filter):
        return {"dyntype": "filterexact" if a.exact else "filter", "dynprm": number(a.time)}
    if isinstance(a, MuscleActivation):
        return {"dyntype": "muscle", "dynprm": numbers((a.rise, a.fall, a.smoothing))}
    return {}


def _bounds(key: str, bounds: Range) -> Attributes:
    """The attribute of a range; a missing bound becomes a very large number."""
    if bounds == UNBOUNDED:
        return {}
    return {key: numbers(min(max(x, -FAR), FAR) for x in bounds)}


FAR = 1e15
"""The number that stands for no bound on one side."""


def _section(out: Writer, tag: str, elements: Sequence[Element]) -> None:
    if not elements:
        return
    with out.element(tag):
        for name, attributes, children in elements:
            if not children:
                out.leaf(name, **attributes)
                continue
            with out.element(name, **attributes):
                for child, own in children:
                    out.leaf(child, **own)
