"""What a joint says about itself; only its size and its transform have no default."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar

from kinetree.model.joints.answers import Chart, MjcfElement, Transmission, UrdfElement
from kinetree.model.joints.kinematics import JointKinematics
from kinetree.model.rounding import is_identity
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Transform, Twist


class Joint(JointKinematics):
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
        cls.code_token = "" if inside else os.urandom(16).hex()

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
        """The joint that a drive acts on, and how that one follows q.

        The ratio is zero where it varies: see `ratios`.
        """
        return Transmission(self)

    @property
    def has_varying_ratio(self) -> bool:
        """Whether the joint that a drive acts on follows q by a ratio that depends on q."""
        return False

    def inner_coordinates(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The coordinates of the joint that a drive acts on, where the ratio varies.

        Arguments:
            q: coordinates, nq scalars.

        Returns:
            As many scalars as `transmission.joint` has coordinates.
        """
        return list(q)

    def inner_velocity(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The velocity of the joint that a drive acts on, where the ratio varies.

        Arguments:
            q, v: coordinates and velocities, nq and nv scalars.

        Returns:
            As many scalars as `transmission.joint` has velocities.
        """
        return list(v)

    def ratios(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        """The velocity of the joint that a drive acts on for each unit velocity.

        Arguments:
            q: coordinates, nq scalars.

        Returns:
            nv lists of as many scalars as `transmission.joint` has velocities.
        """
        return [[1 if i == k else 0 for i in range(self.nv)] for k in range(self.nv)]

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

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        return (Twist.zero(),) * self.nv
