"""The algorithms of `cartesian`, on arrays with a row for each body as flat lists of scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms import (
    body_torques,
    joint_torques,
    link_configuration,
    link_forces,
    link_states,
    link_velocities,
    relative_velocities,
)
from kinetree.model import Model
from kinetree.spatial import Rotation, Twist, Vector3
from kinetree.spatial.angles import quat_of

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


def motions(linear: Sequence[Any], angular: Sequence[Any]) -> list[Twist]:
    """Motions from two arrays (bodies, 3)."""
    return [Twist(a, b) for a, b in zip(vectors(linear), vectors(angular), strict=True)]


def pairs(flat: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The rows of an array (bodies, 2)."""
    return [(flat[k], flat[k + 1]) for k in range(0, len(flat), 2)]


def numbers(model: Model, names: Sequence[str]) -> list[int]:
    """The numbers of bodies, by their names; all of them if none is named."""
    return [k for k, body in enumerate(model.bodies) if not names or body.name in names]


def states_of_arrays(model: Model, q: Any, v: Any, points: Any, orientation: str) -> Any:
    x, R, linear, angular = link_states.link_states(model, q, v, vectors(points))
    turned = [list(quat_of(turn)) for turn in R] if orientation == "quaternion" else R
    return x, turned, linear, angular


def configuration_of_arrays(model: Model, x: Any, R: Any, points: Any) -> Any:
    turned = rotations(R, len(model.bodies))
    measured = link_configuration.link_poses(vectors(x), turned, vectors(points))
    return link_configuration.link_configuration(model, measured)


def pose_residual_of_arrays(model: Model, q: Any, x: Any, R: Any, points: Any) -> Any:
    turned = rotations(R, len(model.bodies))
    measured = link_configuration.link_poses(vectors(x), turned, vectors(points))
    return link_configuration.configuration_residuals(model, q, measured)


def step_of_arrays(
    model: Model, q: Any, x: Any, R: Any, points: Any, weights: Any, solver: str
) -> Any:
    at = vectors(points)
    measured = link_configuration.link_poses(vectors(x), rotations(R, len(model.bodies)), at)
    return link_configuration.configuration_step(
        model, q, measured, at, pairs(weights), SOLVERS[solver]
    )


def stacked_of_arrays(
    model: Model,
    q: Any,
    v: Any,
    w: Any,
    points: Any,
    weights: Any,
    links: Any,
    parts: str,
    solver: str,
) -> Any:
    on = ROWS[parts]
    counted = [(a * on[0], b * on[1]) for a, b in pairs(weights)]
    some = numbers(model, links)
    return link_velocities.stacked_velocity(
        model, q, motions(v, w), vectors(points), counted, some, SOLVERS[solver]
    )


def relative_of_arrays(
    model: Model, q: Any, v: Any, w: Any, points: Any, links: Any, parts: str
) -> Any:
    on = ("linear", "angular") if parts == "both" else (parts,)
    some = numbers(model, links)
    return relative_velocities.relative_velocity(model, q, motions(v, w), vectors(points), some, on)


def generalized_of_arrays(model: Model, q: Any, f: Any, points: Any, torque: Any) -> Any:
    return link_forces.generalized_forces(model, q, vectors(f), vectors(points), vectors(torque))


def of_joint_torques_of_arrays(model: Model, q: Any, f: Any, torque: Any) -> Any:
    return link_forces.forces_of_joint_torques(model, q, motions(f, torque))


def body_wrenches_of_arrays(model: Model, q: Any, f: Any, torque: Any, points: Any) -> Any:
    return body_torques.body_wrenches(model, q, motions(f, torque), vectors(points))


def joint_torques_of_of_arrays(model: Model, q: Any, torque: Any) -> Any:
    return body_torques.joint_torques_of_body_torques(model, q, vectors(torque))


def link_forces_of_arrays(model: Model, q: Any, tau: Any, points: Any, solver: str) -> Any:
    return joint_torques.link_forces(model, q, tau, vectors(points), SOLVERS[solver])


def known_points_of_arrays(model: Model, q: Any, tau: Any, points: Any) -> Any:
    return joint_torques.link_forces_and_joint_torques(model, q, tau, vectors(points))


def jacobians_of_arrays(model: Model, q: Any, points: Any) -> Any:
    return link_states.link_jacobians_at(model, q, vectors(points))


def point_jacobian_of_arrays(model: Model, q: Any, point: Any, frame: str, axes: str) -> Any:
    return link_states.point_jacobian(model, q, Vector3(*point), frame, axes)
