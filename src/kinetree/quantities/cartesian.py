"""Between the states of links and generalised coordinates: rows for `Robot.cartesian`.

Arrays of links have a row for each body, in the order of `Robot.bodies`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.algorithms import (
    AXES,
    body_torques,
    joint_torques,
    link_configuration,
    link_dynamics,
    link_forces,
    link_states,
    link_velocities,
    relative_velocities,
)
from kinetree.citations import LECTURE, TUTORIAL
from kinetree.model import Model
from kinetree.model.prepare import Preparation
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
from kinetree.spatial import Motion, Rotation, Vector3
from kinetree.spatial.angles import quat_of

NOTHING = Preparation.NOTHING
POINTS = Argument("points", Kind.LINK_POINTS)
POSITIONS = Argument("x", Kind.LINK_POINTS)
MATRICES = Argument("R", Kind.LINK_MATRICES)
QUATERNIONS = Argument("R", Kind.LINK_QUATERNIONS)
LINEAR = Argument("v", Kind.LINK_VELOCITIES)
ANGULAR = Argument("w", Kind.LINK_VELOCITIES)
WEIGHTS = Argument("weights", Kind.LINK_WEIGHTS)
FORCES = Argument("f", Kind.LINK_FORCES)
TORQUES = Argument("torque", Kind.LINK_FORCES)
ORIENTATIONS = ("matrix", "quaternion")
PARTS = ("both", "angular", "linear")
ROWS = {"both": (1, 1), "angular": (0, 1), "linear": (1, 0)}
SOLVERS = {"aba": link_velocities.by_articulated_bodies, "crba": link_velocities.by_factor}
"""Ways to solve with the stacked Jacobian's normal equations; only the second takes mimics."""


def vectors(flat: Sequence[Any]) -> list[Vector3]:
    """The rows of an array (bodies, 3)."""
    return [Vector3(*flat[k : k + 3]) for k in range(0, len(flat), 3)]


def rotations(flat: Sequence[Any], bodies: int) -> list[Rotation]:
    """Orientations, from an array (bodies, 3, 3) or (bodies, 4)."""
    if len(flat) == 4 * bodies:
        return [Rotation.quat_xyzw(*flat[k : k + 4]) for k in range(0, len(flat), 4)]
    rows = vectors(flat)
    return [Rotation(*rows[k : k + 3]) for k in range(0, len(rows), 3)]


def motions(linear: Sequence[Any], angular: Sequence[Any]) -> list[Motion]:
    """Motions from two arrays (bodies, 3)."""
    return [Motion(a, b) for a, b in zip(vectors(linear), vectors(angular), strict=True)]


def pairs(flat: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The rows of an array (bodies, 2)."""
    return [(flat[k], flat[k + 1]) for k in range(0, len(flat), 2)]


def numbers(model: Model, names: Sequence[str]) -> list[int]:
    """The numbers of bodies, by their names; all of them if none is named."""
    return [k for k, body in enumerate(model.bodies) if not names or body.name in names]


def solvers(
    algorithm: Callable[..., Any], sources: tuple[str, ...] = TUTORIAL
) -> dict[str, Method | Any]:
    """The methods of an algorithm that takes a solver as its last argument."""

    def by(name: str) -> Callable[..., Any]:
        return lambda *arguments: algorithm(*arguments, SOLVERS[name])

    return {name: Method(by(name), NOTHING, sources, mimics=name == "crba") for name in SOLVERS}


def _states(model: Model, q: Any, v: Any, points: Any, orientation: str) -> Any:
    x, R, linear, angular = link_states.link_states(model, q, v, vectors(points))
    turned = [list(quat_of(turn)) for turn in R] if orientation == "quaternion" else R
    return x, turned, linear, angular


def _configuration(model: Model, x: Any, R: Any, points: Any) -> Any:
    turned = rotations(R, len(model.bodies))
    measured = link_configuration.link_poses(vectors(x), turned, vectors(points))
    return link_configuration.link_configuration(model, measured)


def _pose_residual(model: Model, q: Any, x: Any, R: Any, points: Any) -> Any:
    turned = rotations(R, len(model.bodies))
    measured = link_configuration.link_poses(vectors(x), turned, vectors(points))
    return link_configuration.configuration_residuals(model, q, measured)


def _step(model: Model, q: Any, x: Any, R: Any, points: Any, weights: Any, solve: Any) -> Any:
    at = vectors(points)
    measured = link_configuration.link_poses(vectors(x), rotations(R, len(model.bodies)), at)
    return link_configuration.configuration_step(model, q, measured, at, pairs(weights), solve)


def _stacked(
    model: Model,
    q: Any,
    v: Any,
    w: Any,
    points: Any,
    weights: Any,
    links: Any,
    parts: str,
    solve: Any,
) -> Any:
    on = ROWS[parts]
    counted = [(a * on[0], b * on[1]) for a, b in pairs(weights)]
    some = numbers(model, links)
    return link_velocities.stacked_velocity(
        model, q, motions(v, w), vectors(points), counted, some, solve
    )


def _relative(model: Model, q: Any, v: Any, w: Any, points: Any, links: Any, parts: str) -> Any:
    on = ("linear", "angular") if parts == "both" else (parts,)
    some = numbers(model, links)
    return relative_velocities.relative_velocity(model, q, motions(v, w), vectors(points), some, on)


def _generalized(model: Model, q: Any, f: Any, points: Any, torque: Any) -> Any:
    return link_forces.generalized_forces(model, q, vectors(f), vectors(points), vectors(torque))


def _of_joint_torques(model: Model, q: Any, f: Any, torque: Any) -> Any:
    return link_forces.forces_of_joint_torques(model, q, motions(f, torque))


def _body_wrenches(model: Model, q: Any, f: Any, torque: Any, points: Any) -> Any:
    return body_torques.body_wrenches(model, q, motions(f, torque), vectors(points))


def _joint_torques_of(model: Model, q: Any, torque: Any) -> Any:
    return body_torques.joint_torques_of_body_torques(model, q, vectors(torque))


def _link_forces(model: Model, q: Any, tau: Any, points: Any, solve: Any) -> Any:
    return joint_torques.link_forces(model, q, tau, vectors(points), solve)


def _known_points(model: Model, q: Any, tau: Any, points: Any) -> Any:
    return joint_torques.link_forces_and_joint_torques(model, q, tau, vectors(points))


def _jacobians(model: Model, q: Any, points: Any) -> Any:
    return link_states.link_jacobians_at(model, q, vectors(points))


def _point_jacobian(model: Model, q: Any, point: Any, frame: str, axes: str) -> Any:
    return link_states.point_jacobian(model, q, Vector3(*point), frame, axes)


def _row(
    summary: str,
    algorithm: Callable[..., Any],
    arguments: tuple[Argument, ...],
    results: dict[str, str],
    sources: tuple[str, ...] = TUTORIAL,
    **more: Any,
) -> Quantity:
    """A row of one method, not a method of Robot."""
    methods = one(algorithm, sources, NOTHING)
    return Quantity(summary, methods, arguments, results, public=False, **more)


WRENCHES = {"f": "forces, one row for each body", "torque": "torques, one row for each body"}
RESIDUAL = "of each joint what slides and what turns and does not fit"
LINKS = {"links": SOME_BODIES, "parts": PARTS}

CARTESIAN: dict[str, Quantity] = {
    "generalized_forces": Quantity(
        "The generalised forces of what acts on the robot",
        one(link_forces.generalized_forces_of_loads, TUTORIAL, NOTHING),
        (Q,),
        {"forces": "N or N m"},
        loads=True,
    ),
    # states
    "link_states": _row(
        "Position, orientation and velocities of every link in the world",
        _states,
        (Q, V, POINTS),
        {"x": "m", "R": "orientations", "v": "m/s", "w": "rad/s"},
        settings={"orientation": ORIENTATIONS},
    ),
    **{
        f"link_configuration{suffix}": _row(
            "The configuration from the poses of links, joint by joint",
            _configuration,
            (POSITIONS, given, POINTS),
            {"q": "configuration", "residual": RESIDUAL},
        )
        for suffix, given in (("", MATRICES), ("_of_quaternions", QUATERNIONS))
    },
    **{
        f"pose_residual{suffix}": _row(
            "How far each joint is from what the poses of its links say",
            _pose_residual,
            (Q, POSITIONS, given, POINTS),
            {"residual": RESIDUAL},
        )
        for suffix, given in (("", MATRICES), ("_of_quaternions", QUATERNIONS))
    },
    **{
        f"configuration_step{suffix}": Quantity(
            "A step towards the configuration nearest to the poses of links",
            solvers(_step),
            (Q, POSITIONS, given, POINTS, WEIGHTS),
            {"dq": "the step", "total": "sum of squares before it"},
            public=False,
        )
        for suffix, given in (("", MATRICES), ("_of_quaternions", QUATERNIONS))
    },
    "stacked_velocity": Quantity(
        "The velocity from those of links, by the stacked Jacobian",
        solvers(_stacked),
        (Q, LINEAR, ANGULAR, POINTS, WEIGHTS),
        {"velocity": "generalised velocity", "residual": RESIDUAL},
        settings=LINKS,
        regular=True,
        public=False,
    ),
    "relative_velocity": _row(
        "The velocity from those of links, joint by joint",
        _relative,
        (Q, LINEAR, ANGULAR, POINTS),
        {"velocity": "generalised velocity", "residual": RESIDUAL},
        settings=LINKS,
        regular=True,
    ),
    # forces
    "forces_of_links": _row(
        "Generalised forces of forces at points of links and torques on links",
        _generalized,
        (Q, FORCES, POINTS, TORQUES),
        {"forces": "N or N m"},
    ),
    "forces_of_joints": _row(
        "Generalised forces of joint forces and torques in the parents' axes",
        _of_joint_torques,
        (Q, FORCES, TORQUES),
        {"forces": "N or N m"},
    ),
    "body_wrenches": _row(
        "What joint forces and torques do to each link",
        _body_wrenches,
        (Q, FORCES, TORQUES, POINTS),
        WRENCHES,
    ),
    "joint_torques_of_body_torques": _row(
        "The joint torques that torques on links amount to",
        _joint_torques_of,
        (Q, TORQUES),
        {"torque": "in the parents' axes"},
    ),
    "link_forces": Quantity(
        "The least forces and torques on links that give generalised forces",
        solvers(_link_forces),
        (Q, TAU, POINTS),
        WRENCHES,
        regular=True,
        public=False,
    ),
    "link_forces_and_joint_torques": _row(
        "The least forces at points of links and joint torques that give generalised forces",
        _known_points,
        (Q, TAU, POINTS),
        WRENCHES,
    ),
    "joint_torques": _row(
        "The least force and torque of each joint that give generalised forces",
        joint_torques.joint_torques,
        (Q, TAU),
        WRENCHES,
        regular=True,
    ),
    # on the way
    "link_jacobians": _row(
        "The Jacobian of every link at one of its points",
        _jacobians,
        (Q, POINTS),
        {"jacobians": "linear rows, then angular ones, for each body"},
    ),
    "point_jacobian": _row(
        "The Jacobian of a point of a frame",
        _point_jacobian,
        (Q, Argument("point", Kind.POINT)),
        {"jacobian": "linear rows, then angular ones"},
        settings={"frame": ANY_FRAME, "axes": AXES},
    ),
    "local_jacobians": _row(
        "The Jacobian of every joint in its parent's axes",
        link_dynamics.local_jacobians,
        (Q,),
        {"jacobians": "linear rows, then angular ones, for each joint"},
    ),
    "link_intermediates": _row(
        "Velocities, accelerations and joint forces of every link in its own axes",
        link_dynamics.link_intermediates,
        (Q, V, A),
        dict.fromkeys(("v", "w", "dv", "dw", "f", "torque"), "one row for each body"),
    ),
    "link_momenta": _row(
        "The momentum of every link about its centre of mass, in the world's axes",
        link_dynamics.link_momenta,
        (Q, V),
        {"momenta": "linear, then angular, one row for each body"},
    ),
    "link_energies": _row(
        "The kinetic energy of every link",
        link_dynamics.link_energies,
        (Q, V),
        {"energies": "J"},
    ),
    "torque_shares": _row(
        "The share of each body in each joint force",
        link_dynamics.torque_shares,
        (Q, V, A),
        {"shares": "a row for each body, a column for each velocity"},
        TUTORIAL + LECTURE,
    ),
    "coriolis_by_energy": _row(
        "Coriolis and centrifugal forces from the kinetic energy",
        link_dynamics.coriolis_by_energy,
        (Q, V),
        {"forces": "N or N m"},
    ),
}
