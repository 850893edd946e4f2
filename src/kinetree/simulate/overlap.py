"""Shapes that overlap deeply where a simulation starts: the warning that names them."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from kinetree.algorithms.contact import distances, touch_labels, touch_pairs
from kinetree.errors import SimulationWarning
from kinetree.model import Model
from kinetree.simulate.start import Start

if TYPE_CHECKING:
    from kinetree.robot import Robot

LOOKED_AT = 4
"""How many systems of a batch are looked at."""
SHARE = 0.25
"""Shapes overlap deeply by more than this share of the radius around the smaller one,"""
LEAST = 0.01
"""and by more than this, m."""


def warn_of_overlap(robot: Robot, start: Start) -> None:
    """Say which pairs overlap so deeply that contacts will throw them apart.

    Arguments:
        robot: with contacts.
        start: of the simulation.
    """
    model = robot.model
    if not model.contacts:
        return
    limits = _limits(model)
    labels = [label.name for label in touch_labels(model)]
    pairs = dict(zip(labels, touch_pairs(model), strict=True))
    for k, q in enumerate(start.backend.on_host(start.q[:LOOKED_AT]).tolist()):
        try:
            found = distances(model, q)
        except ZeroDivisionError:  # a quaternion of zeros: the simulation says that it diverges
            continue
        depths = {name: -float(d) for name, d in zip(labels, found, strict=True) if d < 0.0}
        deep = {x: d for x, d in depths.items() if d > limits[pairs[x]]}
        if deep:
            worst = max(deep, key=lambda x: deep[x])
            more = f" (and {len(deep) - 1} more)" if len(deep) > 1 else ""
            where = f"environment {k}: " if start.batch else ""
            speed = _speed(model, pairs[worst], deep[worst])
            warnings.warn(
                f"{where}at the start, {worst} overlap by {deep[worst]:.3g} m{more}: contacts push "
                f"them apart{speed}. Start farther apart, set a longer "
                "time constant (solref), or leave the pair out",
                SimulationWarning,
                stacklevel=5,
            )
            return


def _speed(model: Model, pair: str, depth: float) -> str:
    """How fast a critically damped spring lets go of shapes that overlap at rest."""
    time_constant = next(x.solref[0] for x in model.contacts if x.name == pair)
    if not time_constant > 0.0:  # a stiffness is given instead
        return ""
    return f" at up to {depth / (math.e * time_constant):.2g} m/s"


def _limits(model: Model) -> dict[str, float]:
    """How deep shapes may overlap, by pairs."""
    radius = {c.name: c.shape.bounding_radius for c in model.colliders}
    found = {}
    for pair in model.contacts:
        radii = [r for r in (radius[pair.first], radius[pair.second]) if r is not None]
        found[pair.name] = max(SHARE * min(radii, default=1.0), LEAST)
    return found
