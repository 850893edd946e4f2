"""Sensors of touch, of distances along a ray, and of the limits of joints and tendons.

Source: MuJoCo's documentation, "Sensors", whose conventions these are: a contact of the sensor's
link counts if the ray from its point into the link meets the sensor's zone, and a rangefinder that
sees nothing shows -1.

Cost: O(1) for each pair of shapes that can touch on the sensor's link, or that is in sight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms.rays import nearest_along, ray
from kinetree.algorithms.sensing.situation import Situation
from kinetree.model.geometry import Collider
from kinetree.model.sensors import Sensor
from kinetree.scalar import Scalar, less, logical_and, logical_not, select
from kinetree.spatial import Transform, Vector3


def _touch(s: Situation, sensor: Sensor) -> Any:
    """The sum of the normal forces whose line of action meets the zone."""
    (zone,) = sensor.shapes
    total: Scalar = 0.0
    X = _pose(s, zone)
    for push in s.pushes(zone.frame):
        into = -push.touch.normal if push.second.frame == zone.frame else push.touch.normal
        meets = logical_not(less(ray(zone.shape, X, push.touch.point, into), 0.0))
        pressed = logical_and(less(0.0, push.normal_force), meets)
        total = total + select(pressed, push.normal_force, 0.0)
    return (total,)


def _rangefinder(s: Situation, sensor: Sensor) -> Any:
    """The distance along z of the place to the nearest shape."""
    assert sensor.place is not None
    X = s.pose(sensor.place)
    seen = [(x.shape, _pose(s, x)) for x in sensor.shapes]
    return (nearest_along(seen, X.translation, X.rotation @ Vector3(0.0, 0.0, 1.0)),)


def _pose(s: Situation, shape: Collider) -> Transform:
    at: Any = shape.at
    return at if shape.frame is None else s.posture.pose(shape.frame) @ at


def _joint_limit(which: str) -> Callable[[Situation, Sensor], Any]:
    def shown(s: Situation, sensor: Sensor) -> Any:
        k = s.model.v_slices[s.posture.body_of_joint(sensor.of)].start
        return (getattr(s.soft().joint_limit(k), which),)

    return shown


def _tendon_limit(which: str) -> Callable[[Situation, Sensor], Any]:
    def shown(s: Situation, sensor: Sensor) -> Any:
        return (getattr(s.soft().tendon_limit(sensor.of), which),)

    return shown


OF_CONTACTS: dict[str, Callable[[Situation, Sensor], Any]] = {
    "touch": _touch,
    "rangefinder": _rangefinder,
    "jointlimitpos": _joint_limit("r"),
    "jointlimitvel": _joint_limit("rate"),
    "jointlimitfrc": _joint_limit("force"),
    "tendonlimitpos": _tendon_limit("r"),
    "tendonlimitvel": _tendon_limit("rate"),
    "tendonlimitfrc": _tendon_limit("force"),
}
