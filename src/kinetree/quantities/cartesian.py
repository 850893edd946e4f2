"""Conversion between states of links and generalised coordinates: rows for `Robot.cartesian`.

Arrays of links have a row for each body, in the order of `Robot.bodies`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from kinetree.algorithms import AXES
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import LECTURE, TUTORIAL
from kinetree.quantities.row import (
    ANY_FRAME,
    SOME_BODIES,
    TAU,
    A,
    Argument,
    Kind,
    Method,
    Q,
    Quantity,
    V,
    one,
)

NOTHING = Preparation.NOTHING
POINTS = Argument("points", Kind.LINK_POINTS)
POSITIONS = Argument("x", Kind.LINK_POINTS)
MATRICES = Argument("R", Kind.LINK_MATRICES)
QUATERNIONS = Argument("R", Kind.LINK_QUATERNIONS)
LINEAR = Argument("v", Kind.LINK_VELOCITIES)
ANGULAR = Argument("w", Kind.LINK_ANGULAR_VELOCITIES)
WEIGHTS = Argument("weights", Kind.LINK_WEIGHTS)
FORCES = Argument("f", Kind.LINK_FORCES)
TORQUES = Argument("torque", Kind.LINK_TORQUES)
ORIENTATIONS = ("matrix", "quaternion")
PARTS = ("both", "angular", "linear")


def late(name: str, module: str = "quantities.links") -> Callable[..., Any]:
    """An algorithm that is imported when it is first traced: most sessions need none of these."""

    def run(*arguments: Any) -> Any:
        return getattr(import_module(f"kinetree.{module}"), name)(*arguments)

    return run


def solvers(name: str) -> dict[str, Method | Any]:
    """The methods of an algorithm that takes the name of a solver as its last argument."""

    def by(solver: str) -> Callable[..., Any]:
        algorithm = late(name)
        return lambda *arguments: algorithm(*arguments, solver)

    return {x: Method(by(x), NOTHING, TUTORIAL, mimics=x == "crba") for x in ("aba", "crba")}


def _row(
    summary: str,
    algorithm: Callable[..., Any],
    arguments: tuple[Argument, ...],
    results: dict[str, Kind | str],
    sources: tuple[str, ...] = TUTORIAL,
    **more: Any,
) -> Quantity:
    """A row of one method, not a method of Robot."""
    methods = one(algorithm, sources, NOTHING)
    return Quantity(summary, methods, arguments, results, public=False, **more)


WRENCHES: dict[str, Kind | str] = {"f": Kind.LINK_FORCES, "torque": Kind.LINK_TORQUES}
RESIDUAL = "a row for each joint: what does not fit of what slides, and of what turns, SI units"
LINKS = {"links": SOME_BODIES, "parts": PARTS}

CARTESIAN: dict[str, Quantity] = {
    "generalized_forces": Quantity(
        "The generalised forces of what acts on the robot",
        one(late("generalized_forces_of_loads", "algorithms.link_forces"), TUTORIAL, NOTHING),
        (Q,),
        {"forces": Kind.FORCE},
        loads=True,
    ),
    # states
    "link_states": _row(
        "Position, orientation and velocities of every link in the world",
        late("states_of_arrays"),
        (Q, V, POINTS),
        {
            "x": Kind.LINK_POINTS,
            "R": "orientations of links, matrices or quaternions (x y z w)",
            "v": Kind.LINK_VELOCITIES,
            "w": Kind.LINK_ANGULAR_VELOCITIES,
        },
        settings={"orientation": ORIENTATIONS},
    ),
    **{
        f"link_configuration{suffix}": _row(
            "The configuration from the poses of links, joint by joint",
            late("configuration_of_arrays"),
            (POSITIONS, given, POINTS),
            {"q": Kind.CONFIGURATION, "residual": RESIDUAL},
        )
        for suffix, given in (("", MATRICES), ("_of_quaternions", QUATERNIONS))
    },
    **{
        f"pose_residual{suffix}": _row(
            "How far each joint is from what the poses of its links say",
            late("pose_residual_of_arrays"),
            (Q, POSITIONS, given, POINTS),
            {"residual": RESIDUAL},
        )
        for suffix, given in (("", MATRICES), ("_of_quaternions", QUATERNIONS))
    },
    **{
        f"configuration_step{suffix}": Quantity(
            "A step towards the configuration nearest to the poses of links",
            solvers("step_of_arrays"),
            (Q, POSITIONS, given, POINTS, WEIGHTS),
            {"dq": Kind.DISPLACEMENT, "total": "the weighted sum of squares before the step"},
            closed_form=False,
            public=False,
        )
        for suffix, given in (("", MATRICES), ("_of_quaternions", QUATERNIONS))
    },
    "stacked_velocity": Quantity(
        "The velocity from those of links, by the stacked Jacobian",
        solvers("stacked_of_arrays"),
        (Q, LINEAR, ANGULAR, POINTS, WEIGHTS),
        {"velocity": Kind.VELOCITY, "residual": RESIDUAL},
        settings=LINKS,
        regular=True,
        public=False,
    ),
    "relative_velocity": _row(
        "The velocity from those of links, joint by joint",
        late("relative_of_arrays"),
        (Q, LINEAR, ANGULAR, POINTS),
        {"velocity": Kind.VELOCITY, "residual": RESIDUAL},
        settings=LINKS,
        regular=True,
    ),
    # forces
    "forces_of_links": _row(
        "Generalised forces of forces at points of links and torques on links",
        late("generalized_of_arrays"),
        (Q, FORCES, POINTS, TORQUES),
        {"forces": Kind.FORCE},
    ),
    "forces_of_joints": _row(
        "Generalised forces of joint forces and torques in the parents' axes",
        late("of_joint_torques_of_arrays"),
        (Q, FORCES, TORQUES),
        {"forces": Kind.FORCE},
    ),
    "body_wrenches": _row(
        "What joint forces and torques do to each link",
        late("body_wrenches_of_arrays"),
        (Q, FORCES, TORQUES, POINTS),
        WRENCHES,
    ),
    "joint_torques_of_body_torques": _row(
        "The joint torques that torques on links amount to",
        late("joint_torques_of_of_arrays"),
        (Q, TORQUES),
        {"torque": Kind.LINK_TORQUES},
    ),
    "link_forces": Quantity(
        "The least forces and torques on links that give generalised forces",
        solvers("link_forces_of_arrays"),
        (Q, TAU, POINTS),
        WRENCHES,
        regular=True,
        public=False,
    ),
    "link_forces_and_joint_torques": _row(
        "The least forces at points of links and joint torques that give generalised forces",
        late("known_points_of_arrays"),
        (Q, TAU, POINTS),
        WRENCHES,
    ),
    "joint_torques": _row(
        "The least force and torque of each joint that give generalised forces",
        late("joint_torques", "algorithms.joint_torques"),
        (Q, TAU),
        WRENCHES,
        regular=True,
    ),
    # on the way
    "link_jacobians": _row(
        "The Jacobian of every link at one of its points",
        late("jacobians_of_arrays"),
        (Q, POINTS),
        {"jacobians": "linear rows, then angular ones, for each body"},
    ),
    "point_jacobian": _row(
        "The Jacobian of a point of a frame",
        late("point_jacobian_of_arrays"),
        (Q, Argument("point", Kind.POINT)),
        {"jacobian": "linear rows, then angular ones"},
        settings={"frame": ANY_FRAME, "axes": AXES},
    ),
    "local_jacobians": _row(
        "The Jacobian of every joint in its parent's axes",
        late("local_jacobians", "algorithms.link_dynamics"),
        (Q,),
        {"jacobians": "linear rows, then angular ones, for each joint"},
    ),
    "link_intermediates": _row(
        "Velocities, accelerations and joint forces of every link in its own axes",
        late("link_intermediates", "algorithms.link_dynamics"),
        (Q, V, A),
        {
            "v": Kind.LINK_VELOCITIES,
            "w": Kind.LINK_ANGULAR_VELOCITIES,
            "dv": Kind.LINK_ACCELERATIONS,
            "dw": Kind.LINK_ANGULAR_ACCELERATIONS,
            **WRENCHES,
        },
    ),
    "link_momenta": _row(
        "The momentum of every link about its centre of mass, in the world's axes",
        late("link_momenta", "algorithms.link_dynamics"),
        (Q, V),
        {"momenta": "linear, then angular, one row for each body"},
    ),
    "link_energies": _row(
        "The kinetic energy of every link",
        late("link_energies", "algorithms.link_dynamics"),
        (Q, V),
        {"energies": "J"},
    ),
    "torque_shares": _row(
        "The share of each body in each joint force",
        late("torque_shares", "algorithms.link_dynamics"),
        (Q, V, A),
        {"shares": "a row for each body, a column for each velocity"},
        TUTORIAL + LECTURE,
    ),
    "coriolis_by_energy": _row(
        "Coriolis and centrifugal forces from the kinetic energy",
        late("coriolis_by_energy", "algorithms.link_dynamics"),
        (Q, V),
        {"forces": Kind.FORCE},
    ),
}
