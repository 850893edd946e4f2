"""Sensors of a link and all that it carries: centre of mass, its velocity, angular momentum.

Source: Liu & Jain, eq. 27, for the momentum of each body; MuJoCo's documentation, "Sensors".

    symbol    code      meaning
    m, h      total     mass and first moment, in the world
    p, L      momentum  linear and angular momentum, about the world's origin

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms.sensing.situation import Situation
from kinetree.algorithms.tree import ancestors
from kinetree.model.sensors import Sensor
from kinetree.spatial import Force, Inertia, Vector3


def _parts(s: Situation, sensor: Sensor) -> tuple[Inertia, Force]:
    """The inertia and the momentum of all that a sensor carries, in the world."""
    carried = sensor.carried
    assert carried is not None
    X, frame = s.posture.pose(carried.frames[0]), s.model.frame(carried.frames[0])
    total, momentum = X.to_parent(carried.inertia), Force.zero()
    V, _ = s.motions()
    if frame.body >= 0:
        own = frame.placement.to_child(V[frame.body])
        momentum = X.to_parent(carried.inertia @ own)
    roots = {s.posture.body_of_joint(name) for name in carried.joints}
    for i, body in enumerate(s.model.bodies):
        if roots & set(ancestors(s.model, i)):
            X_i = s.posture.X0[i]
            total = total + X_i.to_parent(body.inertia)
            momentum = momentum + X_i.to_parent(body.inertia @ V[i])
    return total, momentum


def _center(total: Inertia) -> Vector3:
    return total.moment * (1.0 / total.mass)


def _subtree_com(s: Situation, sensor: Sensor) -> Any:
    return _center(_parts(s, sensor)[0])


def _subtree_velocity(s: Situation, sensor: Sensor) -> Any:
    total, momentum = _parts(s, sensor)
    return momentum.linear * (1.0 / total.mass)


def _subtree_angular_momentum(s: Situation, sensor: Sensor) -> Any:
    total, momentum = _parts(s, sensor)
    return momentum.angular - _center(total).cross(momentum.linear)


OF_SUBTREES: dict[str, Callable[[Situation, Sensor], Any]] = {
    "subtreecom": _subtree_com,
    "subtreelinvel": _subtree_velocity,
    "subtreeangmom": _subtree_angular_momentum,
}
