"""Forces on bodies in MJCF: gravcomp of bodies, and one fluid around all of them."""

from __future__ import annotations

import math

from kinetree.model.body_forces import Compensation, Fluid, FluidBox, Immersed
from kinetree.model.formats.write_xml import listed, number, numbers
from kinetree.model.model import Model
from kinetree.spatial import Inertia, Vector3

CLOSE = 1e-9
"""The relative tolerance for equal places and edges."""


class BodyForceElements:
    """The attributes of forces on bodies.

    MJCF compensates a share of a body's weight at its centre of mass, and has one fluid, whose drag
    acts on the box of each body's inertia. Other forces are lost.

    Arguments:
        model: the robot.

    Attributes:
        gravcomp: the compensated share of a body's weight, by the name of its link.
        option: attributes of the fluid.
        lost: what MJCF cannot express, in words.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.gravcomp: dict[str, dict[str, str]] = {}
        self.option: dict[str, str] = {}
        self.lost: list[str] = []
        for i, body in enumerate(model.bodies):
            self._carried(i, body.name)
        fluids = [x for x in model.equipment.body_forces if isinstance(x, Immersed)]
        if fluids and self._boxes(fluids):
            fluid = fluids[0].fluid
            for key in ("density", "viscosity"):
                self.option |= {key: number(getattr(fluid, key))} if getattr(fluid, key) else {}
            if fluid.wind != Vector3(0.0, 0.0, 0.0):
                self.option["wind"] = numbers(fluid.wind)
        elif fluids:
            self.lost.append(f"the fluid around {listed([x.place.frame for x in fluids])}")

    def _carried(self, i: int, name: str) -> None:
        """The share of a body's weight, if all of it acts at the centre of mass."""
        mass, moment = 0.0, Vector3(0.0, 0.0, 0.0)
        for part in self._model.equipment.body_forces:
            frame = self._model.frame(part.place.frame)
            if isinstance(part, Compensation) and frame.body == i:
                at = frame.placement.point(part.place.at.translation)
                mass, moment = mass + part.mass, moment + at * part.mass
        inertia = self._model.bodies[i].inertia
        apart = moment * inertia.mass - inertia.moment * mass
        if mass and max(map(abs, apart)) > CLOSE * abs(inertia.mass * mass):
            self.lost.append(f"the gravity compensation of {name!r}")
        elif mass:
            self.gravcomp[name] = {"gravcomp": number(mass / inertia.mass)}

    def _boxes(self, fluids: list[Immersed]) -> bool:
        """Whether each body has the box of its inertia in one fluid."""
        if len({x.fluid for x in fluids}) > 1:
            return False
        heavy = [b.name for b in self._model.bodies if b.inertia.mass]
        found = {x.place.frame: x for x in fluids}
        if sorted(found) != sorted(heavy) or len(found) < len(fluids):
            return False
        inertias = {b.name: b.inertia for b in self._model.bodies}
        return all(_is_box(x, inertias[name], x.fluid) for name, x in found.items())


def _is_box(part: Immersed, inertia: Inertia, fluid: Fluid) -> bool:
    """Whether a part has the edges of the box with an inertia."""
    if not isinstance(part, FluidBox):
        return False
    _, about = inertia.center_and_rotational()
    R, mass = part.place.at.rotation, inertia.mass
    turned = R.T.turn_symmetric(about)
    moments = [sum(x * x for k, x in enumerate(part.edges) if k != i) * mass / 12 for i in range(3)]
    own = [turned.xx, turned.yy, turned.zz]
    return all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(moments, own, strict=True))
