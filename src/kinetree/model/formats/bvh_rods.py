"""The inertias of a recorded skeleton's bones, as rods."""

from __future__ import annotations

import math

from kinetree.spatial import Inertia, Symmetric3, Vector3

ROUNDNESS = 0.1
"""The radius of a body's rods, relative to their length."""
Shares = list[tuple[int, float, float]]
"""For each bone the first bone of its segment, the segment's share of the mass, and its length."""


def rods(
    offsets: list[Vector3],
    reaches: list[tuple[int, Vector3]],
    mass: float,
    shares: Shares | None,
) -> list[Inertia]:
    """Each bone as the rods from its joint to the joints and end sites it carries.

    Arguments:
        offsets: of each bone in its parent.
        reaches: the bone, and what it carries in its axes.
        mass: of all, kg.
        shares: of segments in the mass; by the lengths of bones alone if None.
    """
    inertias = [Inertia.zero() for _ in offsets]
    ways = list(reaches)
    given = shares or [(0, 1.0, 0.0)] * len(inertias)
    lengths = dict.fromkeys([segment for segment, _, _ in given], 0.0)
    for k, way in ways:
        lengths[given[k][0]] += math.hypot(*way)
    for segment, _, length in given:
        if lengths[segment] == 0.0 < length:  # no children: along the bone above
            way = offsets[segment]
            ways.append((segment, way * (length / (math.hypot(*way) or 1.0))))
            lengths[segment] = length
    for k, way in ways:
        segment, share, _ = given[k]
        if mass and lengths[segment] > 0.0:
            each = mass * share * math.hypot(*way) / lengths[segment]
            inertias[k] = inertias[k] + _rod(each, way)
    return inertias


def _rod(mass: float, way: Vector3) -> Inertia:
    """A round rod from the origin."""
    square = way.dot(way)
    along = Symmetric3.outer(way, way)
    thick = ROUNDNESS * ROUNDNESS * mass / 4.0
    thin = (Symmetric3.diagonal(square) - along) * (mass / 12.0)
    about = thin + (Symmetric3.diagonal(square) + along) * thick
    return Inertia.about_center(mass, way * 0.5, about)
