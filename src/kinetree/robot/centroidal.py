"""How the centre of mass moves, and what changes a robot's momentum: `robot.centroidal`."""

from __future__ import annotations

from kinetree.robot.core import Door
from kinetree.typing import About, Array, ArrayLike, Out


class Centroidal(Door):
    """Velocity, acceleration and Jacobians of the centre of mass; rates of momentum."""

    def velocity(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The velocity of the centre of mass.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., 3), m/s.
        """
        return self._robot._compute("center_of_mass_velocity", (q, v), out)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """The acceleration of the centre of mass.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            out: an array to write into.

        Returns:
            (..., 3), m/s^2.
        """
        return self._robot._compute("center_of_mass_acceleration", (q, v, a), out)

    def jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The Jacobian of the centre of mass, which maps v to its velocity.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., 3, nv).
        """
        return self._robot._compute("center_of_mass_jacobian", (q,), out)

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The time derivative of `jacobian`.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., 3, nv).
        """
        return self._robot._compute("center_of_mass_jacobian_rate", (q, v), out)

    def momentum_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        about: About = "center",
        out: Out = None,
    ) -> Array:
        """The rate of the momentum.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            about: as in `Robot.momentum`.
            out: an array to write into.

        Returns:
            (..., 6), linear (N), then angular (N m), in the world's axes.
        """
        return self._robot._compute("momentum_rate", (q, v, a), out, settings=(about,))

    def momentum_matrix_rate(
        self, q: ArrayLike, v: ArrayLike, *, about: About = "center", out: Out = None
    ) -> Array:
        """The time derivative of `Robot.momentum_matrix`.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            about: as in `Robot.momentum`.
            out: an array to write into.

        Returns:
            (..., 6, nv), linear rows first.
        """
        settings = (about,)
        return self._robot._compute("momentum_matrix_rate", (q, v), out, settings=settings)
