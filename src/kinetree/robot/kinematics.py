"""Kinematics of a robot: poses, velocities, accelerations, Jacobians, the centre of mass."""

from __future__ import annotations

from kinetree import algorithms
from kinetree._lazy import cached_property
from kinetree.robot.core import Core
from kinetree.typing import AccelerationKind, Array, ArrayLike, Axes, Out


class Kinematics(Core):
    """Poses, velocities, accelerations and Jacobians of a robot's frames.

    axes: "origin" (the world's axes, at the frame's origin), "body" (the frame's own axes, at its
    own origin), "world" (the world's axes, at its origin).
    """

    def poses(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The pose of every body in the world.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            Homogeneous matrices, (..., nbodies, 4, 4), in the order of `bodies`; origins in m.
        """
        return self._compute("poses", (q,), out)

    def pose(self, q: ArrayLike, frame: str, *, out: Out = None) -> Array:
        """The pose of a frame in the world.

        Arguments:
            q: configuration, (..., nq).
            frame: the name of the frame.
            out: an array to write into.

        Returns:
            Homogeneous matrix, (..., 4, 4): the frame's axes and its origin (m) in the world.
        """
        return self._compute("pose", (q,), out, settings=(frame,))

    def velocities(
        self, q: ArrayLike, v: ArrayLike, *, axes: Axes = "origin", out: Out = None
    ) -> Array:
        """The velocity of every body.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            axes: as in `velocity`.
            out: an array to write into.

        Returns:
            (..., nbodies, 6), linear (m/s), then angular (rad/s), in the order of `bodies`.
        """
        return self._compute("velocities", (q, v), out, settings=(axes,))

    def velocity(
        self, q: ArrayLike, v: ArrayLike, frame: str, *, axes: Axes = "origin", out: Out = None
    ) -> Array:
        """The velocity of a frame.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            frame: the name of the frame.
            axes: "origin" (the world's axes, at the frame's origin), "body" (the frame's own), or
                "world" (the world's axes, at the world's origin).
            out: an array to write into.

        Returns:
            (..., 6), linear (m/s), then angular (rad/s).
        """
        return self._compute("velocity", (q, v), out, settings=(frame, axes))

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        *,
        axes: Axes = "origin",
        kind: AccelerationKind = "classical",
        out: Out = None,
    ) -> Array:
        """The acceleration of a frame; gravity is not subtracted.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            frame: the name of the frame.
            axes: as in `velocity`.
            kind: "classical", the second derivative of the position of the point at the origin
                of the axes; or "spatial", the rate of the spatial velocity.
            out: an array to write into.

        Returns:
            (..., 6), linear (m/s^2), then angular (rad/s^2).
        """
        return self._compute("acceleration", (q, v, a), out, settings=(frame, axes, kind))

    def jacobian(
        self, q: ArrayLike, frame: str, *, axes: Axes = "origin", out: Out = None
    ) -> Array:
        """The Jacobian of a frame, which maps v to `velocity`.

        Arguments:
            q: configuration, (..., nq).
            frame: the name of the frame.
            axes: as in `velocity`.
            out: an array to write into.

        Returns:
            (..., 6, nv), linear rows first.
        """
        return self._compute("jacobian", (q,), out, settings=(frame, axes))

    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, frame: str, *, axes: Axes = "origin", out: Out = None
    ) -> Array:
        """The time derivative of `jacobian`.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            frame: the name of the frame.
            axes: as in `velocity`.
            out: an array to write into.

        Returns:
            (..., 6, nv), linear rows first.
        """
        return self._compute("jacobian_rate", (q, v), out, settings=(frame, axes))

    def jacobians(self, q: ArrayLike, *, axes: Axes = "origin", out: Out = None) -> Array:
        """The Jacobians of all bodies.

        Arguments:
            q: configuration, (..., nq).
            axes: as in `velocity`.
            out: an array to write into.

        Returns:
            (..., nbodies, 6, nv), linear rows first.
        """
        return self._compute("jacobians", (q,), out, settings=(axes,))

    def distances(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The distances of the shapes that can touch; negative where they overlap.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., ntouches), m, in the order of `contact.touch_names`.
        """
        return self._compute("distances", (q,), out)

    @cached_property
    def total_mass(self) -> float:
        """The mass of all moving bodies, kg."""
        return float(algorithms.total_mass(self.model))

    def center_of_mass(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The centre of mass of all moving bodies, in the world.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., 3), m.
        """
        return self._compute("center_of_mass", (q,), out)
