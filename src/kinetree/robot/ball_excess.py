"""How far ball joints turn beyond their ranges, at many configurations at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from kinetree.algorithms.ball_limits import angles, bounds
from kinetree.algorithms.limited import limited_balls
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot.core import Core


def ball_excess(robot: Core, q: Array) -> Iterator[tuple[str, Array]]:
    """The joints whose orientation has a range, and how far they are outside of it, rad.

    Arguments:
        robot: whose joints they are.
        q: configurations, (..., nq).

    Returns:
        Names, and (...) for each; not positive within the range.
    """
    model = robot.model
    for i in limited_balls(model):
        body, at = model.bodies[i], model.q_slices[i]
        given = body.limits.ball
        assert given is not None
        rotation = body.joint.transform(list(np.moveaxis(q[..., at], -1, 0))).rotation
        excess = [
            np.maximum(low - x, x - high)
            for x, (low, high) in zip(angles(given, rotation), bounds(given), strict=True)
        ]
        yield body.joint_name, np.max(np.broadcast_arrays(*excess), axis=0)
