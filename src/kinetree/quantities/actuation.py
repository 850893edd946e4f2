"""Tendons, actuators and sensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms import actuation
from kinetree.algorithms.actuation import forces
from kinetree.algorithms.actuation.passive import tendon_tensions
from kinetree.algorithms.drives import passive_joint_forces
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import MUJOCO
from kinetree.quantities.row import ACT, CTRL, A, Kind, Q, Quantity, V, one

EACH_TENDON, EACH_ACTUATOR = "one for each tendon", "one for each actuator"
ROWS = "columns in the order of v, SI units"


def _rate_along(moments: Callable[..., Any]) -> Callable[..., Any]:
    """The rates of lengths, from the rows of their moment arms."""

    def velocities(model: Model, q: Any, v: Any) -> Any:
        rows = moments(model, q)
        return [sum((r * x for r, x in zip(row, v, strict=True)), start=0) for row in rows]

    return velocities


def _readings(*arguments: Any) -> Any:
    """What all sensors show."""
    from kinetree.algorithms.sensing import readings  # most robots have no sensors

    return readings(*arguments)


ACTUATION: dict[str, Quantity] = {
    "passive_forces": Quantity(
        "The joint forces of springs, dampers, carried weights and fluids",
        one(passive_joint_forces, MUJOCO),
        (Q, V),
        {"tau": Kind.FORCE},
        called="actuation.passive_forces",
    ),
    "tendon_lengths": Quantity(
        "The lengths of the tendons",
        one(actuation.tendon_lengths, MUJOCO),
        (Q,),
        {"lengths": f"{EACH_TENDON}, m (or the unit of its coordinates)"},
        equipped="tendons",
        called="tendons.lengths",
    ),
    "tendon_velocities": Quantity(
        "The rates of the tendons' lengths",
        one(_rate_along(actuation.tendon_jacobian), MUJOCO),
        (Q, V),
        {"velocities": f"{EACH_TENDON}, m/s (or that of its coordinates)"},
        equipped="tendons",
        called="tendons.velocities",
    ),
    "tendon_jacobian": Quantity(
        "The moment arms of the tendons",
        one(actuation.tendon_jacobian, MUJOCO),
        (Q,),
        {"jacobian": f"a row for each tendon; {ROWS}"},
        equipped="tendons",
        called="tendons.jacobian",
    ),
    "tendon_tensions": Quantity(
        "The forces along tendons of their own springs, dampers and friction",
        one(tendon_tensions, MUJOCO),
        (Q, V),
        {"tensions": f"{EACH_TENDON}, N"},
        equipped="tendons",
        called="tendons.tensions",
    ),
    "actuator_lengths": Quantity(
        "The lengths of the actuators, along their transmissions",
        one(forces.actuator_lengths, MUJOCO),
        (Q,),
        {"lengths": EACH_ACTUATOR},
        equipped="actuators",
        called="actuation.lengths",
    ),
    "actuator_velocities": Quantity(
        "The rates of the actuators' lengths",
        one(forces.actuator_velocities, MUJOCO),
        (Q, V),
        {"velocities": EACH_ACTUATOR},
        equipped="actuators",
        called="actuation.velocities",
    ),
    "actuator_moments": Quantity(
        "The moment arms of the actuators",
        one(forces.actuator_moments, MUJOCO),
        (Q,),
        {"moments": f"a row for each actuator; {ROWS}"},
        equipped="actuators",
        called="actuation.moments",
    ),
    "actuator_forces": Quantity(
        "The forces of the actuators, along their transmissions",
        one(forces.actuator_forces, MUJOCO),
        (Q, V, ACT, CTRL),
        {"forces": EACH_ACTUATOR},
        equipped="actuators",
        called="actuation.actuator_forces",
    ),
    "actuation_forces": Quantity(
        "The joint forces of the actuators",
        one(forces.joint_forces_of_actuators, MUJOCO),
        (Q, V, ACT, CTRL),
        {"tau": Kind.FORCE},
        equipped="actuators",
        called="actuation.forces",
    ),
    "activation_rates": Quantity(
        "The rates of the actuators' activations",
        one(actuation.activation_rates, MUJOCO),
        (ACT, CTRL),
        {"rates": "one for each activation, 1/s"},
        equipped="activations",
        called="actuation.activation_rates",
    ),
    "sensors": Quantity(
        "What the sensors measure",
        one(_readings, MUJOCO, Preparation.NOTHING),
        (Q, V, A, ACT, CTRL),
        {"readings": "the numbers of each sensor, in their order"},
        equipped="sensors",
        called="sensors.readings",
    ),
}
