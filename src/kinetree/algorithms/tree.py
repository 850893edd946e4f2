"""What recursions share: joint transforms and axes at a configuration, loads, sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kinetree.model import Model
from kinetree.model.loads import PointForce
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3

Loads = Sequence[tuple[str, Force | PointForce]]
"""External loads: pairs of a frame's name and a wrench in its coordinates, or a PointForce."""


def parent_transforms(model: Model, q: Sequence[Scalar]) -> list[Transform]:
    """X_i: the pose of body i in its parent's frame."""
    return [
        body.placement @ body.joint.transform(q[at])
        for body, at in zip(model.bodies, model.q_slices, strict=True)
    ]


def subspaces(model: Model, q: Sequence[Scalar]) -> list[tuple[Twist, ...]]:
    """Phi_i: the axes of joint i in the frame of body i."""
    return [
        body.joint.subspace(q[at]) for body, at in zip(model.bodies, model.q_slices, strict=True)
    ]


def ancestors(model: Model, body: int) -> Iterator[int]:
    """A body and its ancestors, the nearest first."""
    while body >= 0:
        yield body
        body = model.bodies[body].parent


def along(Phi: Iterable[Twist], rates: Iterable[Scalar]) -> Twist:
    """Phi r: the motion of a joint whose velocities (or accelerations) are r."""
    total = Twist.zero()
    for axis, rate in zip(Phi, rates, strict=True):
        total = total + axis * rate
    return total


def joint_motion(
    model: Model,
    i: int,
    Phi: Sequence[Twist],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> tuple[Twist, Twist]:
    """The velocity of joint i in its body's frame, and its rate, with the rate of the axes."""
    at = model.v_slices[i]
    Phi_rate = model.bodies[i].joint.subspace_rate(q[model.q_slices[i]], qd[at])
    return along(Phi, qd[at]), along(Phi, qdd[at]) + along(Phi_rate, qd[at])


def combine(forces: Iterable[Force], weights: Iterable[Scalar]) -> Force:
    """The weighted sum of forces."""
    total = Force.zero()
    for force, weight in zip(forces, weights, strict=True):
        total = total + force * weight
    return total


def carry_to_base(
    model: Model,
    X: Sequence[Transform],
    Phi: Sequence[Sequence[Twist]],
    F: list[Force],
    tau: list[Scalar],
) -> None:
    """Tips to base: add to F what each joint carries, and its component along the axes to tau."""
    for i, body in reversed(list(enumerate(model.bodies))):
        for k, axis in enumerate(Phi[i], model.v_slices[i].start):
            tau[k] = tau[k] + axis.dot(F[i])
        if body.parent >= 0:
            F[body.parent] = F[body.parent] + X[i].to_parent(F[i])


def body_poses(model: Model, X: Sequence[Transform]) -> Iterator[Transform]:
    """The pose of every body in the world, W_k^0 = W_p(k)^0 W_k (Liu & Jain, section 5.2)."""
    X0: list[Transform] = []
    for body, X_i in zip(model.bodies, X, strict=True):
        X0.append(X_i if body.parent < 0 else X0[body.parent] @ X_i)
        yield X0[-1]


def wrenches_on_bodies(model: Model, X: Sequence[Transform], loads: Loads) -> list[Force]:
    """The sum of the external loads on each body, in the body's frame."""
    total = [Force.zero() for _ in model.bodies]
    for name, load in loads:
        frame = model.frame(name)
        if isinstance(load, Force) and frame.body >= 0:  # what acts on the world moves nothing
            total[frame.body] = total[frame.body] + frame.placement.to_parent(load)
    for i, pulls in enumerate(point_forces(model, X, loads)):
        for force, point in pulls:
            total[i] = total[i] + Force(force, point.cross(force))
    return total


def point_forces(
    model: Model, X: Sequence[Transform], loads: Loads
) -> list[list[tuple[Vector3, Vector3]]]:
    """The forces on points of each body, and the points, in the body's frame."""
    by_body: list[list[tuple[Vector3, Vector3]]] = [[] for _ in model.bodies]
    X0 = list(body_poses(model, X)) if any(isinstance(x, PointForce) for _, x in loads) else []
    for name, load in loads:
        frame = model.frame(name)
        if isinstance(load, PointForce) and frame.body >= 0:
            force = X0[frame.body].rotation.T @ load.force
            by_body[frame.body].append((force, frame.placement.point(load.point)))
    return by_body
