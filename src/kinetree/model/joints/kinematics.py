"""The motion of a joint and its coordinates: what is computed at a configuration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from kinetree.model.joints.answers import Label
from kinetree.model.joints.inverse import nearest_coordinates
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Transform, Twist, Vector3


class JointKinematics(ABC):
    """How a joint moves its body, in which coordinates.

    The subspace and its rate come from differentiating the transform. The other defaults are
    correct for every joint whose v is the rate of its q and whose transform is the identity at
    q = 0.
    """

    # size and motion

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
        """J(q): the pose of the body in the joint frame.

        Arguments:
            q: coordinates, nq scalars.

        Returns:
            The pose.
        """

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        """Phi(q): the body's velocity for each unit velocity.

        Arguments:
            q: coordinates, nq scalars.

        Returns:
            The nv columns of Phi, in the body's frame.
        """
        columns = []
        for k in range(self.nq):
            moving = [Dual(x, 1 if i == k else 0) for i, x in enumerate(q)]
            columns.append(_velocity(self.transform(moving)))
        return tuple(columns)

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        """The rate of Phi's columns.

        Arguments:
            q, v: coordinates and velocities, nq and nv scalars.

        Returns:
            nv columns, in the body's frame.
        """
        moving = [Dual(x, rate) for x, rate in zip(q, v, strict=True)]
        return tuple(
            Twist(Vector3(*_rates(column.linear)), Vector3(*_rates(column.angular)))
            for column in self.subspace(moving)
        )

    # coordinates

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the transform is the identity.

        Returns:
            nq numbers.
        """
        return (0.0,) * self.nq

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        """Valid coordinates from numbers that a user gave.

        Arguments:
            values: the numbers; a ValueError says what is wrong with them.

        Returns:
            nq numbers.
        """
        return values

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The same configuration, with quaternions of length one.

        Arguments:
            q: coordinates, nq scalars.

        Returns:
            nq scalars.
        """
        return list(q)

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The rate of q at the velocity v.

        Arguments:
            q, v: coordinates and velocities, nq and nv scalars.

        Returns:
            nq scalars.
        """
        return list(v)

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The coordinates after moving with the constant velocity v for one unit of time.

        Arguments:
            q, v: coordinates and velocities, nq and nv scalars.

        Returns:
            nq scalars.
        """
        return [a + b for a, b in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """The constant velocity that takes q0 to q1 in one unit of time.

        Arguments:
            q0, q1: coordinates, nq scalars each.

        Returns:
            nv scalars.
        """
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def transported(
        self, q0: Sequence[Scalar], q1: Sequence[Scalar], v: Sequence[Scalar]
    ) -> list[Scalar]:
        """The velocity at q0 that keeps `difference(q0, q1)` constant while q1 moves with v.

        Arguments:
            q0, q1: coordinates, nq scalars each.
            v: the velocity at q1, nv scalars.

        Returns:
            nv scalars.
        """
        return list(v)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        """The coordinates at which the transform is X, or as near to X as the joint can get.

        Arguments:
            X: the pose of the body in the joint frame.

        Returns:
            nq scalars.
        """
        return nearest_coordinates(self, X)

    def continued(self, path: Any) -> Any:
        """The same transforms at successive times, in coordinates without jumps.

        Arguments:
            path: coordinates, (times, nq).

        Returns:
            (times, nq).
        """
        return path

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        """How far a spring that is relaxed at `rest` is stretched at q.

        It is the gradient of half its own square along q (+) delta. Multiplied by the stiffness, it
        is the force of a spring with that energy.

        Arguments:
            rest, q: coordinates, nq scalars each.

        Returns:
            nv scalars.
        """
        return self.difference(rest, q)

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        """Random coordinates, uniform within the limits.

        Arguments:
            rng: NumPy's random generator.
            batch: the shape of the batch.
            lower, upper: the limits, finite.

        Returns:
            (*batch, nq).
        """
        return rng.uniform(lower, upper, (*batch, self.nq))

    def coordinate_labels(self) -> tuple[Label, ...]:
        """The name and unit of each coordinate.

        Returns:
            nq labels.
        """
        if self.nq != self.nv:
            return tuple(Label(f"q{k + 1}", "") for k in range(self.nq))
        names = _numbered("coordinate", "q", self.nq)
        return tuple(map(Label, names, self._units()))

    def velocity_labels(self) -> tuple[Label, ...]:
        """The name and unit of each velocity.

        Returns:
            nv labels.
        """
        names, units = _numbered("velocity", "v", self.nv), self._units()
        return tuple(Label(name, f"{unit}/s") for name, unit in zip(names, units, strict=True))

    def _units(self) -> list[str]:
        """The unit of each velocity times a second: radians if it turns the body at all."""
        return ["rad" if any(axis.angular) else "m" for axis in self.subspace(self.neutral())]


def _numbered(name: str, letter: str, count: int) -> list[str]:
    """A name for one thing, numbered letters for several."""
    return [name] if count == 1 else [f"{letter}{k + 1}" for k in range(count)]


def _rates(v: Vector3) -> list[Scalar]:
    return [lift(x).rate for x in v]


def _velocity(X: Transform) -> Twist:
    """The body velocity of a moving transform: (R^T p', the vector of R^T R')."""
    still = [Vector3(*(lift(x).value for x in row)) for row in X.rotation.T.rows]
    rate = [Vector3(*_rates(row)) for row in X.rotation.T.rows]
    p = Vector3(*_rates(X.translation))
    linear = Vector3(*(column.dot(p) for column in still))
    # [w] = R^T R': its entry (i, j) is column i of R times the rate of column j
    angular = Vector3(still[2].dot(rate[1]), still[0].dot(rate[2]), still[1].dot(rate[0]))
    return Twist(linear, angular)
