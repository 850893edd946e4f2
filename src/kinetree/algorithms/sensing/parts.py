"""Sensors of joints, tendons and actuators, and of the energy of the whole robot.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Sensors".

Cost: O(1), besides that of `situation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms.actuation.tendons import stretched
from kinetree.algorithms.dense import dot
from kinetree.algorithms.energy import kinetic_energy, potential_energy
from kinetree.algorithms.sensing.situation import Situation
from kinetree.algorithms.tree import along
from kinetree.model.edit import without
from kinetree.model.sensors import Sensor
from kinetree.spatial.angles import quat_of


def _joint_position(s: Situation, sensor: Sensor) -> Any:
    return (s.posture.joint(s.posture.body_of_joint(sensor.of))[0],)


def _joint_velocity(s: Situation, sensor: Sensor) -> Any:
    _, row = s.posture.joint(s.posture.body_of_joint(sensor.of))
    return (dot(row, s.v),)


def _joint_force(s: Situation, sensor: Sensor) -> Any:
    at = s.model.v_slices[s.posture.body_of_joint(sensor.of)]
    return (s.joint_forces()[at.start],)


def _ball_quaternion(s: Situation, sensor: Sensor) -> Any:
    i = s.posture.body_of_joint(sensor.of)
    R = s.model.bodies[i].joint.transform(s.q[s.model.q_slices[i]]).rotation
    x, y, z, w = quat_of(R)
    return w, x, y, z


def _ball_velocity(s: Situation, sensor: Sensor) -> Any:
    i = s.posture.body_of_joint(sensor.of)
    Phi = s.model.bodies[i].joint.subspace(s.q[s.model.q_slices[i]])
    return along(Phi, s.v[s.model.v_slices[i]]).angular


def _tendon_length(s: Situation, sensor: Sensor) -> Any:
    return (stretched(s.posture, s.model.equipment.tendon(sensor.of))[0],)


def _tendon_velocity(s: Situation, sensor: Sensor) -> Any:
    return (dot(stretched(s.posture, s.model.equipment.tendon(sensor.of))[1], s.v),)


def _tendon_force(s: Situation, sensor: Sensor) -> Any:
    """The sum of the forces of the actuators that pull a tendon."""
    forces = s.forces()
    on = [x for x in s.model.equipment.actuators if sensor.of in x.references.tendons]
    return (sum((forces[x.name] for x in on), start=0),)


def _actuator_length(s: Situation, sensor: Sensor) -> Any:
    return (s.actuators()[sensor.of].length,)


def _actuator_velocity(s: Situation, sensor: Sensor) -> Any:
    return (s.actuators()[sensor.of].velocity,)


def _actuator_force(s: Situation, sensor: Sensor) -> Any:
    return (s.forces()[sensor.of],)


def _potential_energy(s: Situation, sensor: Sensor) -> Any:
    base = s.model.base_inertia.moment
    plain = without(s.model, "compensation")  # whose energy MuJoCo does not count
    return (potential_energy(plain, s.q) - s.model.gravity.dot(base),)


def _kinetic_energy(s: Situation, sensor: Sensor) -> Any:
    return (kinetic_energy(s.model, s.q, s.v),)


OF_PARTS: dict[str, Callable[[Situation, Sensor], Any]] = {
    "jointpos": _joint_position,
    "jointvel": _joint_velocity,
    "jointactuatorfrc": _joint_force,
    "ballquat": _ball_quaternion,
    "ballangvel": _ball_velocity,
    "tendonpos": _tendon_length,
    "tendonvel": _tendon_velocity,
    "tendonactuatorfrc": _tendon_force,
    "actuatorpos": _actuator_length,
    "actuatorvel": _actuator_velocity,
    "actuatorfrc": _actuator_force,
    "e_potential": _potential_energy,
    "e_kinetic": _kinetic_energy,
}
