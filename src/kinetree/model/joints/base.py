"""What a joint says about itself; only its size and its transform have no default."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar

from kinetree.model.joints.answers import Chart, Label, MjcfElement, Transmission, UrdfElement
from kinetree.model.joints.inverse import nearest_coordinates
from kinetree.model.rounding import is_identity
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Inertia, Motion, Transform, Vector3


class Joint(ABC):
    """A joint between a parent's joint frame and a body, with its coordinates.

    A joint has nq coordinates q and nv velocities v. Where the two numbers agree, v is the rate of
    q; a quaternion has one coordinate more. Joints are frozen dataclasses. What is computed at a
    configuration, from `transform` to `displacement`, runs on any scalar.

    Only nq, nv and `transform` must be given. The subspace and its rate come from differentiating
    the transform. The other defaults are correct for every joint whose v is the rate of its q and
    whose transform is the identity at q = 0; a joint overrides them to save arithmetic, or to be
    written to files.
    """

    code_token: ClassVar[str] = ""
    """Part of a model's digest: tells apart classes of one name that are defined elsewhere."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        inside = cls.__module__.startswith("kinetree.")
        # the digest covers this package's source; code elsewhere may change between two processes
        cls.code_token = "" if inside else uuid.uuid4().hex

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

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
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

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        """The rate of Phi's columns.

        Arguments:
            q, v: coordinates and velocities, nq and nv scalars.

        Returns:
            nv columns, in the body's frame.
        """
        moving = [Dual(x, rate) for x, rate in zip(q, v, strict=True)]
        return tuple(
            Motion(Vector3(*_rates(column.linear)), Vector3(*_rates(column.angular)))
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

    # structure that algorithms use

    @property
    def has_constant_axes(self) -> bool:
        """Whether Phi is the same at every configuration."""
        return False

    @property
    def velocity_is_twist(self) -> bool:
        """Whether v is the body's spatial velocity, (linear, angular) in the body's frame."""
        return False

    def turning(self, v: Sequence[Scalar], w: Sequence[Scalar]) -> Sequence[Scalar]:
        """What the turning of a velocity's axes adds to its rate.

        w' + turning(v, w) is the rate of w in the parent's axes, given in the body's.

        Arguments:
            v, w: velocities, nv scalars each; the axes turn with v.

        Returns:
            nv scalars; empty if they vanish.
        """
        return ()

    def advance(
        self, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar
    ) -> tuple[list[Scalar], list[Scalar]]:
        """The state after a motion whose velocity is constant in the parent's axes.

        Arguments:
            q, v: coordinates and velocities, nq and nv scalars.
            dt: the duration.

        Returns:
            q and v at its end, v in the axes there.
        """
        return self.integrate(q, [x * dt for x in v]), list(v)

    def lumped(self, inertia: Inertia) -> Inertia:
        """The part of the body's inertia that can be counted as the parent's.

        The joint's motion leaves it unchanged and gives it no momentum, so moving it to the parent
        changes no joint force.

        Arguments:
            inertia: the body's, in its frame.

        Returns:
            The part, in the body's frame.
        """
        return Inertia.zero()

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        """A bound on the distance between the origins of the body's frame and the joint frame.

        Arguments:
            lower, upper: the range of each coordinate.

        Returns:
            m.
        """
        return inf

    def singular_part(self) -> Joint:
        """The part of the joint whose axes can become dependent; its coordinates are the last.

        Changes of frame and a free body's translation are stripped.

        Returns:
            A joint.
        """
        return self

    @property
    def transmission(self) -> Transmission:
        """The joint that a drive acts on, and how that one follows q."""
        return Transmission(self)

    # the same joint in another form

    def snapped(self) -> Joint:
        """The joint without rounding noise in its constants.

        Returns:
            A joint.
        """
        return self

    def recentered(self) -> tuple[Transform, Joint]:
        """A body frame X at the joint's centre, and the joint J' there: J = X J' X^-1.

        Returns:
            X and J'.
        """
        return Transform.identity(), self

    def aligned(self) -> tuple[Transform, Joint]:
        """A body frame X with z along the joint's axis, and the joint J' there: J = X J' X^-1.

        Returns:
            X and J'.
        """
        return Transform.identity(), self

    def relocated(self, at: Transform) -> Joint:
        """X J(q) X^-1: the joint for a body frame in which its own frame is at X.

        Arguments:
            at: X.

        Returns:
            A joint.
        """
        return self if is_identity(at) else self._relocated(at)

    def _relocated(self, at: Transform) -> Joint:
        from kinetree.model.joints.wrapped import Relocated  # a joint, too: it imports this file

        return Relocated(self, at)

    def reversed(self) -> Joint:
        """J(q)^-1: the joint with its two bodies exchanged.

        Returns:
            A joint.
        """
        from kinetree.model.joints.wrapped import Reversed

        return Reversed(self)

    @property
    def rotates_about_z(self) -> bool:
        """Whether it is a rotation about the z axis, by its coordinate and perhaps an offset."""
        return False

    def with_offset(self, offset: float) -> Joint:
        """J(q + offset): the joint whose coordinate is counted from elsewhere.

        Arguments:
            offset: what is added to the coordinate.

        Returns:
            A joint.
        """
        from kinetree.model.joints.offset import Offset

        return Offset(self, offset)

    def factors(self) -> tuple[Joint | Transform, ...]:
        """Joints and constant transforms whose product is J(q), with the coordinates in order.

        Returns:
            The factors, from the parent to the body.
        """
        return (self,)

    def in_chart(self, chart: Chart) -> Joint | None:
        """The joint with its free orientation in another chart.

        Arguments:
            chart: the joints that have the other coordinates.

        Returns:
            A joint; None if this one has no free orientation.
        """
        return None

    # file formats

    def urdf(self) -> UrdfElement | None:
        """The joint as an element of URDF.

        Returns:
            The element; None if URDF has no such joint.
        """
        return None

    def mjcf(self) -> MjcfElement | None:
        """The joint as an element of MJCF.

        Returns:
            The element; None if MJCF has no such joint.
        """
        return None


class ConstantAxes(Joint):
    """A joint whose axes are fixed in its body: Phi does not change."""

    @property
    def has_constant_axes(self) -> bool:
        return True

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        return (Motion.zero(),) * self.nv


def _numbered(name: str, letter: str, count: int) -> list[str]:
    """A name for one thing, numbered letters for several."""
    return [name] if count == 1 else [f"{letter}{k + 1}" for k in range(count)]


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
