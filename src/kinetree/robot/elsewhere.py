"""Where a method is that is asked for on the robot itself: behind a door, or under another name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

ELSEWHERE = {
    "aba": "forward_dynamics",
    "computeJointJacobians": "jacobian",
    "crba": "mass_matrix",
    "createData": "a robot stores no state, and its methods need no data",
    "data": "a robot stores no state, and its methods need no data",
    "effortLimit": "limits.effort",
    "forwardKinematics": "poses",
    "forward_kinematics": "poses",
    "getBodyId": "frames, bodies and joints are addressed by their names",
    "getFrameId": "frames, bodies and joints are addressed by their names",
    "getJointId": "frames, bodies and joints are addressed by their names",
    "inverse_kinematics": "use kinetree.control.InverseKinematics(robot, frame)",
    "lowerPositionLimit": "limits.lower",
    "names": "joints",
    "nonLinearEffects": "bias_forces",
    "nu": "actuation.nu",
    "qM": "mass_matrix",
    "qfrc_bias": "bias_forces",
    "rnea": "inverse_dynamics",
    "upperPositionLimit": "limits.upper",
    "velocityLimit": "limits.velocity",
}
"""Maps names of other libraries to ours."""


def missing(robot: Any, name: str, doors: Iterable[str]) -> AttributeError:
    """The error of an attribute that a robot does not have; it says what has that name.

    Arguments:
        robot: a Robot.
        name: of the attribute.
        doors: the names of the groups of methods.
    """
    said = f"'Robot' object has no attribute {name!r}"
    if name.startswith("_"):  # asked for by Python
        return AttributeError(said, name=name, obj=robot)
    where = ELSEWHERE.get(name)
    for door in doors:
        if hasattr(type(getattr(robot, door)), name):
            where = f"{door}.{name}"
    return AttributeError(f"{said}: {_hint(where)}" if where else said, name=name, obj=robot)


def _hint(where: str) -> str:
    plain = where.replace(".", "").replace("_", "").isalnum()
    return f"use robot.{where}" if plain else where
