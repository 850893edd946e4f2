"""What every joint gives: its transform, its motion subspace and the rate of that, its chart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from kinetree.dual import Dual, lift
from kinetree.model.joints.inverse import nearest_coordinates
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Transform, Vector3


class Joint(ABC):
    """A joint between a parent's joint frame and a body, with its coordinates.

    A joint has nq coordinates q and nv velocities v. Where the two numbers agree, v is the rate of
    q; a quaternion has one coordinate more. All methods but `sample` run on any scalar.

    Only `transform` must be given: the subspace and its rate then come from differentiating it.
    """

    @property
    @abstractmethod
    def nq(self) -> int:
        """How many coordinates it has."""

    @property
    @abstractmethod
    def nv(self) -> int:
        """How many velocities it has: its degrees of freedom."""

    @abstractmethod
    def transform(self, q: Sequence[Scalar]) -> Transform:
        """The pose of the body in the joint frame."""

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        """Phi(q): the body's velocity for each unit velocity, in the body's frame."""
        columns = []
        for k in range(self.nq):
            moving = [Dual(x, 1 if i == k else 0) for i, x in enumerate(q)]
            columns.append(_velocity(self.transform(moving)))
        return tuple(columns)

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        """The rate of Phi's columns in body coordinates."""
        moving = [Dual(x, rate) for x, rate in zip(q, v, strict=True)]
        return tuple(
            Motion(Vector3(*_rates(column.linear)), Vector3(*_rates(column.angular)))
            for column in self.subspace(moving)
        )

    def lumped(self, inertia: Inertia) -> Inertia:
        """The part of the body's inertia that may as well be the parent's.

        It is unchanged by the joint's motion, which gives it no momentum: moved to the parent, no
        joint force is different. Every joint may say zero.
        """
        return Inertia.zero()

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the transform is the identity."""
        return (0.0,) * self.nq

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        """Coordinates as they must be, from numbers a user gave; ValueError if they cannot be."""
        return values

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The same configuration, its quaternions of length one."""
        return list(q)

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The rate of q at the velocity v."""
        return list(v)

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The coordinates after moving with the constant velocity v for one unit of time."""
        return [a + b for a, b in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """The constant velocity that takes q0 to q1 in one unit of time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        """The coordinates whose transform is X, or the nearest to it: `transform` backwards."""
        return nearest_coordinates(self, X)

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        """How far a spring that is relaxed at `rest` is stretched at q, one entry a velocity.

        It is the slope of half of its own square along q (+) delta, so a spring of this energy
        (times its stiffness) takes this force.
        """
        return self.difference(rest, q)

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        """Random coordinates (..., nq), uniform within the limits, which are finite."""
        return rng.uniform(lower, upper, (*batch, self.nq))


class ConstantAxes(Joint):
    """A joint whose axes are fixed in its body: Phi does not change."""

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        return (Motion.zero(),) * self.nv


def _rates(v: Vector3) -> list[Scalar]:
    return [lift(x).rate for x in v]


def _velocity(X: Transform) -> Motion:
    """The body velocity of a moving transform: (R^T p', the vector of R^T R')."""
    still = [Vector3(*(lift(x).value for x in row)) for row in X.rotation.T.rows]
    rate = [Vector3(*_rates(row)) for row in X.rotation.T.rows]
    p = Vector3(*_rates(X.translation))
    linear = Vector3(*(column.dot(p) for column in still))
    # [w] = R^T R': its entry (i, j) is column i of R times the rate of column j
    angular = Vector3(still[2].dot(rate[1]), still[0].dot(rate[2]), still[1].dot(rate[0]))
    return Motion(linear, angular)
