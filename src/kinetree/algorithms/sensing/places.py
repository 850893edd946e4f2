"""Sensors at a place: inertial sensors, frames relative to others, forces between links.

Source: MuJoCo's documentation, "Sensors", whose conventions these are: an accelerometer at rest
shows the opposite of gravity, and so does the linear acceleration of a frame; a force is that of
the parent on the child, in the axes of the place.

Cost: O(1), besides that of `situation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms.sensing.situation import Situation
from kinetree.model.place import Place
from kinetree.model.sensors import Carried, Sensor
from kinetree.spatial import Force, Transform, Twist, Vector3
from kinetree.spatial.angles import quat_of


def _place(sensor: Sensor) -> Place:
    assert sensor.place is not None
    return sensor.place


def _accelerometer(s: Situation, sensor: Sensor) -> Any:
    return s.motion(_place(sensor))[1].linear


def _velocimeter(s: Situation, sensor: Sensor) -> Any:
    return s.motion(_place(sensor))[0].linear


def _gyro(s: Situation, sensor: Sensor) -> Any:
    return s.motion(_place(sensor))[0].angular


def _magnetometer(s: Situation, sensor: Sensor) -> Any:
    return s.pose(_place(sensor)).rotation.T @ sensor.field


def _seen(s: Situation, sensor: Sensor) -> Transform:
    """The pose of a place, relative to the sensor's reference if it has one."""
    X = s.pose(_place(sensor))
    return X if sensor.reference is None else s.pose(sensor.reference).inverse() @ X


def _position(s: Situation, sensor: Sensor) -> Any:
    return _seen(s, sensor).translation


def _quaternion(s: Situation, sensor: Sensor) -> Any:
    x, y, z, w = quat_of(_seen(s, sensor).rotation)
    return w, x, y, z


def _axis(k: int) -> Callable[[Situation, Sensor], Any]:
    def axis(s: Situation, sensor: Sensor) -> Any:
        return _seen(s, sensor).rotation.T.rows[k]

    return axis


def _velocity(s: Situation, sensor: Sensor) -> Twist:
    """The velocity of a place in the world's axes; relative to a reference, in the axes of that."""
    place, reference = _place(sensor), sensor.reference
    R = s.pose(place).rotation
    V, _ = s.motion(place)
    v, w = R @ V.linear, R @ V.angular
    if reference is None:
        return Twist(v, w)
    X_r = s.pose(reference)
    V_r, _ = s.motion(reference)
    v_r, w_r = X_r.rotation @ V_r.linear, X_r.rotation @ V_r.angular
    apart = s.pose(place).translation - X_r.translation
    back = X_r.rotation.T
    return Twist(back @ (v - v_r - w_r.cross(apart)), back @ (w - w_r))


def _linear_velocity(s: Situation, sensor: Sensor) -> Any:
    return _velocity(s, sensor).linear


def _angular_velocity(s: Situation, sensor: Sensor) -> Any:
    return _velocity(s, sensor).angular


def _linear_acceleration(s: Situation, sensor: Sensor) -> Any:
    return s.pose(_place(sensor)).rotation @ s.motion(_place(sensor))[1].linear


def _angular_acceleration(s: Situation, sensor: Sensor) -> Any:
    return s.pose(_place(sensor)).rotation @ s.motion(_place(sensor))[1].angular


def _wrench(s: Situation, sensor: Sensor) -> Force:
    """The wrench that supports everything the sensor carries, in the axes of its place."""
    carried, place = sensor.carried, _place(sensor)
    assert carried is not None
    X = s.posture.pose(carried.frames[0])
    total = _own_wrench(s, carried)
    for name, load in s.loads():
        if name in carried.frames:
            total = total - (X.inverse() @ s.posture.pose(name)).to_parent(load)
    for name in carried.joints:
        i = s.posture.body_of_joint(name)
        total = total + (X.inverse() @ s.posture.X0[i]).to_parent(s.wrenches()[i])
    return (X.inverse() @ s.pose(place)).to_child(total)


def _own_wrench(s: Situation, carried: Carried) -> Force:
    """I A + V x* I V of the rigidly carried part, in the first of its frames."""
    frame = s.model.frame(carried.frames[0])
    if frame.body < 0:
        felt = Twist(frame.placement.rotation.T @ -s.model.gravity, Vector3.zero())
        return carried.inertia @ felt
    V, A = (frame.placement.to_child(each[frame.body]) for each in s.motions())
    return carried.inertia.wrench(V, A)


def _force(s: Situation, sensor: Sensor) -> Any:
    return _wrench(s, sensor).linear


def _torque(s: Situation, sensor: Sensor) -> Any:
    return _wrench(s, sensor).angular


AT_PLACES: dict[str, Callable[[Situation, Sensor], Any]] = {
    "accelerometer": _accelerometer,
    "velocimeter": _velocimeter,
    "gyro": _gyro,
    "force": _force,
    "torque": _torque,
    "magnetometer": _magnetometer,
    "framepos": _position,
    "framequat": _quaternion,
    "framexaxis": _axis(0),
    "frameyaxis": _axis(1),
    "framezaxis": _axis(2),
    "framelinvel": _linear_velocity,
    "frameangvel": _angular_velocity,
    "framelinacc": _linear_acceleration,
    "frameangacc": _angular_acceleration,
}
