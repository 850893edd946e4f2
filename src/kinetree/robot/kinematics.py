"""Kinematics of a robot: poses, velocities, accelerations, Jacobians, the centre of mass."""

from __future__ import annotations

from kinetree import algorithms
from kinetree.lazy import cached_property
from kinetree.robot.core import Array, Core


class Kinematics(Core):
    """Where a robot's frames are and how they move.

    axes: "origin" (the world's axes, at the frame's origin), "body" (the frame's own axes, at its
    own origin), "world" (the world's axes, at its origin). Pinocchio's LOCAL_WORLD_ALIGNED, LOCAL
    and WORLD are taken for them, too, as strings or as values of pinocchio.ReferenceFrame.
    """

    def poses(self, q: Array, out: Array = None) -> Array:
        """The pose of every body in the world: (..., nbodies, 4, 4), homogeneous matrices."""
        return self._kernels["poses"](q, out=out)

    def pose(self, q: Array, frame: str, out: Array = None) -> Array:
        """The pose of a frame in the world: (..., 4, 4)."""
        return self._kernels["pose", "", (), (frame,)](q, out=out)

    def velocities(self, q: Array, v: Array, axes: str = "origin", out: Array = None) -> Array:
        """The velocity of every body: (..., nbodies, 6), linear first."""
        return self._kernels["velocities", "", (), (axes,)](q, v, out=out)

    def velocity(
        self, q: Array, v: Array, frame: str, axes: str = "origin", out: Array = None
    ) -> Array:
        """The velocity of a frame: (..., 6), linear first.

        Arguments:
            axes: "origin" (the world's axes, at the frame's origin), "body" (the frame's own),
                or "world" (the world's axes, at the world's origin).
        """
        return self._kernels["velocity", "", (), (frame, axes)](q, v, out=out)

    def acceleration(
        self,
        q: Array,
        v: Array,
        a: Array,
        frame: str,
        axes: str = "origin",
        kind: str = "classical",
        out: Array = None,
    ) -> Array:
        """The acceleration of a frame: (..., 6), linear first, gravity not counted.

        Arguments:
            axes: as in `velocity`.
            kind: "classical", the second derivative of the position of the point at the origin
                of the axes; or "spatial", the rate of the spatial velocity.
        """
        return self._kernels["acceleration", "", (), (frame, axes, kind)](q, v, a, out=out)

    def jacobian(self, q: Array, frame: str, axes: str = "origin", out: Array = None) -> Array:
        """The Jacobian of a frame: (..., 6, nv), linear first; times v it is `velocity`."""
        return self._kernels["jacobian", "", (), (frame, axes)](q, out=out)

    def jacobian_rate(
        self, q: Array, v: Array, frame: str, axes: str = "origin", out: Array = None
    ) -> Array:
        """The time derivative of `jacobian`: (..., 6, nv)."""
        return self._kernels["jacobian_rate", "", (), (frame, axes)](q, v, out=out)

    def jacobians(self, q: Array, axes: str = "origin", out: Array = None) -> Array:
        """The Jacobians of all bodies: (..., nbodies, 6, nv)."""
        return self._kernels["jacobians", "", (), (axes,)](q, out=out)

    @cached_property
    def total_mass(self) -> float:
        """The mass of all that moves, kg."""
        return float(algorithms.total_mass(self.model))

    def center_of_mass(self, q: Array, out: Array = None) -> Array:
        """The centre of mass of all that moves, in the world: (..., 3).

        Of a robot without moving joints it is that of all its links.
        """
        return self._kernels["center_of_mass"](q, out=out)

    def center_of_mass_velocity(self, q: Array, v: Array, out: Array = None) -> Array:
        """The velocity of the centre of mass: (..., 3)."""
        return self._kernels["center_of_mass_velocity"](q, v, out=out)

    def center_of_mass_acceleration(self, q: Array, v: Array, a: Array, out: Array = None) -> Array:
        """The acceleration of the centre of mass: (..., 3)."""
        return self._kernels["center_of_mass_acceleration"](q, v, a, out=out)

    def center_of_mass_jacobian(self, q: Array, out: Array = None) -> Array:
        """The Jacobian of the centre of mass: (..., 3, nv)."""
        return self._kernels["center_of_mass_jacobian"](q, out=out)

    def center_of_mass_jacobian_rate(self, q: Array, v: Array, out: Array = None) -> Array:
        """The time derivative of `center_of_mass_jacobian`: (..., 3, nv)."""
        return self._kernels["center_of_mass_jacobian_rate"](q, v, out=out)
