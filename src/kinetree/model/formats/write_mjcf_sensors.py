"""Sensors in MJCF."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from kinetree.model.formats.write_xml import number, numbers
from kinetree.model.model import Model
from kinetree.model.sensors import KINDS, Sensor

AT_SITE = (
    "accelerometer",
    "velocimeter",
    "gyro",
    "force",
    "torque",
    "magnetometer",
    "rangefinder",
)
"""Sensors that refer to a site only."""


class SensorElements:
    """The elements of a robot's sensors.

    Arguments:
        model: the robot.
        site: from the names of a part and of a frame, and a pose in it, to the name of a site.

    Attributes:
        elements: tags and attributes.
        lost: the sensors that MJCF cannot express, in words.
    """

    def __init__(self, model: Model, site: Callable[..., str]) -> None:
        self._model, self._site = model, site
        self.lost = [f"sensor {x.name!r}" for x in model.equipment.sensors if self._loses(x)]
        written = [x for x in model.equipment.sensors if not self._loses(x)]
        self.elements = [(x.kind, dict(self._attributes(x))) for x in written]

    def _loses(self, x: Sensor) -> bool:
        """Whether MJCF cannot express a sensor's zone, sign, or part of a body."""
        if x.kind in ("touch", "contact") or x.opposite:
            return True
        if x.carried is None or x.place is None:
            return False
        home = self._model.frame(x.carried.frames[0])
        on_body = {f.name for f in self._model.frames if f.body == home.body}
        named = x.place.frame == self._body_name(home.body)
        return set(x.carried.frames) != on_body or (x.kind.startswith("subtree") and not named)

    def is_whole_body(self, link: str | None) -> bool:
        """Whether a link has the name of its body, and all shapes of it that can touch."""
        if link is None:
            return True
        frames = {x.name: x.body for x in self._model.frames}
        own = {x.frame for x in self._model.colliders if x.frame is not None}
        on_body = {x for x in own if frames[x] == frames[link]}
        return self._body_name(frames[link]) == link and on_body <= {link}

    def _body_name(self, body: int) -> str:
        return "world" if body < 0 else self._model.bodies[body].name

    def _attributes(self, x: Sensor) -> Iterator[tuple[str, str]]:
        yield "name", x.name
        of = KINDS[x.kind].of
        if x.place is None:
            if x.of:
                yield of, x.of
        elif x.kind.startswith("subtree"):
            yield "body", x.place.frame
        else:
            site = self._site(x.name, x.place.frame, x.place.at)
            if x.kind in AT_SITE:
                yield "site", site
            else:
                yield "objtype", "site"
                yield "objname", site
        if x.reference is not None:
            yield "reftype", "site"
            yield "refname", self._site(x.name, x.reference.frame, x.reference.at)
        if math.isfinite(x.cutoff):
            yield "cutoff", number(x.cutoff)
        if x.noise:
            yield "noise", number(x.noise)


def magnetic_field(model: Model) -> dict[str, str]:
    """The magnetic field, if anything measures it."""
    fields = {x.field for x in model.equipment.sensors if x.kind == "magnetometer"}
    return {"magnetic": numbers(fields.pop())} if fields else {}
