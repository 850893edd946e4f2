"""The loads of contacts on the bodies that force sensors weigh.

Source: MuJoCo's documentation, "Sensors": forces of contacts are loads from outside.

Cost: that of the contacts of these bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kinetree.algorithms.actuation.posture import Posture
from kinetree.algorithms.contact.given_accelerations import GivenAccelerations
from kinetree.algorithms.tree import ancestors
from kinetree.model import Model
from kinetree.spatial import Force


def contact_loads(
    posture: Posture, soft: Callable[[], GivenAccelerations]
) -> Iterator[tuple[str, Force]]:
    """The loads on the frames in which colliders are fixed, each in its frame.

    Arguments:
        soft: gives the forces of contacts; called only if some body needs them.
    """
    bodies = _weighed(posture.model)
    if not posture.model.contacts or not bodies:
        return
    at = posture.model.collider_bodies
    for push in soft().pushes(lambda pair: bool(bodies & {at[pair.first], at[pair.second]})):
        for collider, sign in ((push.first, -1), (push.second, 1)):
            if collider.frame is not None:
                pose = posture.pose(collider.frame)
                yield collider.frame, pose.to_child(push.W * sign)


def _weighed(model: Model) -> set[int]:
    """The bodies whose loads reach a force sensor."""
    found: set[int] = set()
    numbers = {body.joint_name: i for i, body in enumerate(model.bodies)}
    for sensor in model.equipment.sensors:
        if sensor.kind in ("force", "torque") and sensor.carried is not None:
            found |= {model.frame(x).body for x in sensor.carried.frames}
            roots = {numbers[x] for x in sensor.carried.joints}
            bodies = range(len(model.bodies))
            found |= {i for i in bodies if roots & set(ancestors(model, i))}
    return found - {-1}
