"""States of a robot in other charts of its joints: quaternions, rotation vectors, Euler angles.

Source: Liu & Jain eq. 52 to 56, the charts and their local Jacobians; Echeandia & Wensing eq. 31
to 35, joint by joint.

    code     meaning
    Phi, Psi the axes of a joint in the old and the new chart: Phi v = Psi w is the same motion
    A        v = A w, block diagonal (31)

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.tree import along
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.model.joints.inverse import solve_normal_equations
from kinetree.scalar import Scalar
from kinetree.spatial import Twist


class Pair(NamedTuple):
    """A joint in two charts, with its coordinates and where its velocities stand."""

    old: Joint
    new: Joint
    q: Sequence[Scalar]
    y: Sequence[Scalar]
    old_at: slice
    new_at: slice


def other_coordinates(model: Model, other: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The configuration q of a robot in the charts of another that differs in nothing else.

    A joint whose chart is the same keeps its coordinates: a pose does not tell its whole turns.
    """
    y: list[Scalar] = [0] * other.nq
    for i in model.coordinate_order:
        old, new, q_i = model.bodies[i].joint, other.bodies[i].joint, q[model.q_slices[i]]
        y[other.q_slices[i]] = q_i if old == new else new.coordinates_at(old.transform(q_i))
    return y


def changed_joints(model: Model, other: Model) -> list[int]:
    """The bodies whose joints have another chart in the other robot."""
    return [i for i in model.coordinate_order if model.bodies[i].joint != other.bodies[i].joint]


def pairs(model: Model, other: Model, q: Sequence[Scalar], y: Sequence[Scalar]) -> Iterator[Pair]:
    """The joints of both robots, at coordinates q and y of the same configuration."""
    for i in model.coordinate_order:
        joints = model.bodies[i].joint, other.bodies[i].joint
        coordinates = q[model.q_slices[i]], y[other.q_slices[i]]
        yield Pair(*joints, *coordinates, model.v_slices[i], other.v_slices[i])


def other_velocity(
    model: Model, other: Model, q: Sequence[Scalar], y: Sequence[Scalar], v: Sequence[Scalar]
) -> list[Scalar]:
    """The velocity v of the first robot as the second has it."""
    w: list[Scalar] = [0] * other.nv
    for pair in pairs(model, other, q, y):
        V = along(pair.old.subspace(pair.q), v[pair.old_at])
        w[pair.new_at] = _solved(pair.new.subspace(pair.y), V)
    return w


def other_acceleration(
    model: Model,
    other: Model,
    q: Sequence[Scalar],
    y: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
) -> list[Scalar]:
    """The acceleration of the first robot as the second has it."""
    b: list[Scalar] = [0] * other.nv
    w = other_velocity(model, other, q, y, v)
    for pair in pairs(model, other, q, y):
        v_k, w_k = v[pair.old_at], w[pair.new_at]
        A = along(pair.old.subspace(pair.q), a[pair.old_at])
        A = A + along(pair.old.subspace_rate(pair.q, v_k), v_k)
        A = A - along(pair.new.subspace_rate(pair.y, w_k), w_k)
        b[pair.new_at] = _solved(pair.new.subspace(pair.y), A)
    return b


def chart_derivative(
    model: Model, other: Model, q: Sequence[Scalar], y: Sequence[Scalar]
) -> list[list[Scalar]]:
    """A with v = A w (31)."""
    A: list[list[Scalar]] = [[0] * other.nv for _ in range(model.nv)]
    for pair in pairs(model, other, q, y):
        Phi = pair.old.subspace(pair.q)
        for j, axis in enumerate(pair.new.subspace(pair.y), pair.new_at.start):
            for i, x in enumerate(_solved(Phi, axis), pair.old_at.start):
                A[i][j] = x
    return A


def chart_derivative_rate(
    model: Model, other: Model, q: Sequence[Scalar], y: Sequence[Scalar], v: Sequence[Scalar]
) -> list[list[Scalar]]:
    """A', as the robot moves with v: Phi A' = Psi' - Phi' A."""
    rate: list[list[Scalar]] = [[0] * other.nv for _ in range(model.nv)]
    A, w = chart_derivative(model, other, q, y), other_velocity(model, other, q, y, v)
    for pair in pairs(model, other, q, y):
        Phi, dPhi = pair.old.subspace(pair.q), pair.old.subspace_rate(pair.q, v[pair.old_at])
        dPsi = pair.new.subspace_rate(pair.y, w[pair.new_at])
        for j, change in enumerate(dPsi, pair.new_at.start):
            column = [row[j] for row in A[pair.old_at]]
            for i, x in enumerate(_solved(Phi, change - along(dPhi, column)), pair.old_at.start):
                rate[i][j] = x
    return rate


def _solved(axes: Sequence[Twist], V: Twist) -> list[Scalar]:
    return solve_normal_equations([list(axis) for axis in axes], list(V))
