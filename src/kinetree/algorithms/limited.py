"""The coordinates of a robot that have limits.

Cost: none; it does not depend on the state.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetree.model import Model
from kinetree.scalar import Scalar, less, minimum, select


def limited_coordinates(model: Model) -> Iterator[tuple[int, int, float, float]]:
    """Coordinates with a limit: their place in q and in v, the lower limit and the upper one.

    Only those whose velocities are their rates; an infinite limit is none.
    """
    for i in model.coordinate_order:
        body, at, along = model.bodies[i], model.q_slices[i], model.v_slices[i]
        lower, upper = body.limits.lower, body.limits.upper
        if body.joint.nq == body.joint.nv and (math.isfinite(lower) or math.isfinite(upper)):
            for k in range(body.joint.nv):
                yield at.start + k, along.start + k, lower, upper


def limited_balls(model: Model) -> list[int]:
    """The bodies whose ball joints have limits."""
    ranges = ((i, model.bodies[i].limits.ball) for i in model.coordinate_order)
    return [i for i, given in ranges if given is not None and given.names]


def nearer_bound(x: Scalar, lower: float, upper: float) -> tuple[Scalar, Scalar]:
    """The direction away from the nearer bound, and the distance to it; one may be infinite."""
    if math.isinf(lower):
        return -1.0, upper - x
    if math.isinf(upper):
        return 1.0, x - lower
    below, above = x - lower, upper - x
    return select(less(below, above), 1.0, -1.0), minimum(below, above)
