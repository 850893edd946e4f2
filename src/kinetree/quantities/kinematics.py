"""Configurations, poses, velocities, Jacobians, the centre of mass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree import algorithms
from kinetree.algorithms import AXES
from kinetree.algorithms.manifold import velocity_of_rates
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import LECTURE, RIGID_MOTIONS, TUTORIAL
from kinetree.quantities.row import (
    ANY_FRAME,
    MOTION,
    SIX_ROWS,
    A,
    Argument,
    Kind,
    Q,
    Quantity,
    V,
    one,
)

NOTHING, WHOLE = Preparation.NOTHING, Preparation.WHOLE_INERTIAS
FRAME = {"frame": ANY_FRAME, "axes": AXES}


def rate_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rate of a function of the configuration, as a function of q and v."""

    def rate(model: Model, q: Any, v: Any, *settings: Any) -> Any:
        return algorithms.rate(function, model, q, v, *settings)

    return rate


KINEMATICS: dict[str, Quantity] = {
    # configurations
    "integrate": Quantity(
        "The configuration to which a constant velocity leads in one unit of time",
        one(algorithms.integrate, RIGID_MOTIONS),
        (Q, Argument("dv", Kind.DISPLACEMENT)),
        {"q": Kind.CONFIGURATION},
        rigid=True,
    ),
    "difference": Quantity(
        "The constant velocity from one configuration to another in one unit of time",
        one(algorithms.difference, RIGID_MOTIONS),
        (Argument("q0", Kind.CONFIGURATION), Argument("q1", Kind.CONFIGURATION)),
        {"dv": Kind.DISPLACEMENT},
        rigid=True,
    ),
    "normalize": Quantity(
        "The same configuration with unit quaternions",
        one(algorithms.normalize, RIGID_MOTIONS),
        (Q,),
        {"unit": Kind.CONFIGURATION},
        rigid=True,
    ),
    "coordinate_rates": Quantity(
        "The rate of the coordinates at a velocity",
        one(algorithms.coordinate_rates, TUTORIAL),
        (Q, V),
        {"dq": Kind.COORDINATE_RATE},
        rigid=True,
        called="charts.coordinate_rates",
    ),
    "velocity_of_rates": Quantity(
        "The velocity at which the coordinates change at some rates",
        one(velocity_of_rates, TUTORIAL),
        (Q, Argument("dq", Kind.COORDINATE_RATE)),
        {"velocity": Kind.VELOCITY},
        public=False,
    ),
    "chart_volumes": Quantity(
        "How far the coordinates of each chart are from a singularity",
        one(algorithms.chart_volumes, TUTORIAL),
        (Q,),
        {"volumes": "one for each chart, zero where it is singular"},
        public=False,
    ),
    # frames
    "poses": Quantity(
        "The pose of every body in the world",
        one(algorithms.poses, TUTORIAL, NOTHING),
        (Q,),
        {"poses": "for each body a homogeneous matrix, its translation in m"},
        rigid=True,
    ),
    "pose": Quantity(
        "The pose of a frame in the world",
        one(algorithms.frame_pose, TUTORIAL),
        (Q,),
        {"pose": "homogeneous matrix, its translation in m"},
        settings={"frame": ANY_FRAME},
        rigid=True,
    ),
    "velocities": Quantity(
        "The velocity of every body",
        one(algorithms.velocities, LECTURE, NOTHING),
        (Q, V),
        {"velocities": f"for each body {MOTION}"},
        settings={"axes": AXES},
        rigid=True,
    ),
    "velocity": Quantity(
        "The velocity of a frame",
        one(algorithms.frame_velocity, LECTURE),
        (Q, V),
        {"velocity": MOTION},
        settings=FRAME,
        rigid=True,
    ),
    "acceleration": Quantity(
        "The acceleration of a frame",
        one(algorithms.frame_acceleration, LECTURE),
        (Q, V, A),
        {"acceleration": "linear x y z in m/s^2, then angular x y z in rad/s^2"},
        settings=FRAME | {"kind": ("classical", "spatial")},
        rigid=True,
    ),
    "jacobian": Quantity(
        "The Jacobian of a frame",
        one(algorithms.jacobian, TUTORIAL),
        (Q,),
        {"jacobian": SIX_ROWS},
        settings=FRAME,
    ),
    "jacobian_rate": Quantity(
        "The time derivative of the Jacobian of a frame",
        one(rate_of(algorithms.jacobian), TUTORIAL),
        (Q, V),
        {"rate": SIX_ROWS},
        settings=FRAME,
    ),
    "jacobians": Quantity(
        "The Jacobians of all bodies",
        one(algorithms.jacobians, TUTORIAL, NOTHING),
        (Q,),
        {"jacobians": f"for each body {SIX_ROWS}"},
        settings={"axes": AXES},
    ),
    # the centre of mass
    "center_of_mass": Quantity(
        "The centre of mass",
        one(algorithms.center_of_mass, TUTORIAL, WHOLE),
        (Q,),
        {"center": "x y z in the world, m"},
        rigid=True,
    ),
    "center_of_mass_velocity": Quantity(
        "The velocity of the centre of mass",
        one(algorithms.center_of_mass_velocity, TUTORIAL, WHOLE),
        (Q, V),
        {"velocity": "x y z in the world, m/s"},
        called="centroidal.velocity",
    ),
    "center_of_mass_acceleration": Quantity(
        "The acceleration of the centre of mass",
        one(algorithms.center_of_mass_acceleration, TUTORIAL, WHOLE),
        (Q, V, A),
        {"acceleration": "x y z in the world, m/s^2"},
        called="centroidal.acceleration",
    ),
    "center_of_mass_jacobian": Quantity(
        "The Jacobian of the centre of mass",
        one(algorithms.center_of_mass_jacobian, TUTORIAL, WHOLE),
        (Q,),
        {"jacobian": "rows x y z, columns in the order of v"},
        called="centroidal.jacobian",
    ),
    "center_of_mass_jacobian_rate": Quantity(
        "The time derivative of the Jacobian of the centre of mass",
        one(rate_of(algorithms.center_of_mass_jacobian), TUTORIAL, WHOLE),
        (Q, V),
        {"rate": "rows x y z, columns in the order of v"},
        called="centroidal.jacobian_rate",
    ),
}
