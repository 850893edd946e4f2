"""Intermediate quantities of Liu & Jain's tutorial, link by link: part of `robot.cartesian`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.robot.links import At, LinkArrays
from kinetree.typing import Array, ArrayLike, Axes


class Intermediates(NamedTuple):
    """The intermediate results of Liu & Jain, eq. 72 to 85.

    Each is (..., bodies, 3), in the link's own axes.

    Attributes:
        v, dv: velocity (m/s) and acceleration (m/s^2) of the centre of mass; gravity is subtracted
            from the latter.
        w, dw: angular velocity (rad/s) and acceleration (rad/s^2).
        f, torque: the force (N) and the torque (N m) of the joint on its link, at the link's
            origin.
    """

    v: Array
    w: Array
    dv: Array
    dw: Array
    f: Array
    torque: Array


class CartesianQuantities(LinkArrays):
    """Jacobians, momenta, energies and intermediates of links."""

    def jacobian(
        self, q: ArrayLike, link: str, point: ArrayLike = (0.0, 0.0, 0.0), *, axes: Axes = "origin"
    ) -> Array:
        """The Jacobian of any point of any link.

        Arguments:
            q: configuration, (..., nq).
            link: the name of the link, or of any frame.
            point: in the coordinates of that frame, (..., 3), m.
            axes: as in `Robot.jacobian`, the point being the origin.

        Returns:
            (..., 6, nv), linear rows first.
        """
        return self._compute("point_jacobian", (q, point), settings=(link, axes))

    def jacobians(self, q: ArrayLike, *, at: At = "center") -> Array:
        """The Jacobians of all links (58), which eq. 60 stacks.

        Arguments:
            q: configuration, (..., nq).
            at: the point of each link, as in `state`.

        Returns:
            (..., bodies, 6, nv), linear rows first, in the world's axes.
        """
        return self._compute("link_jacobians", (q, self.points(at)))

    def local_jacobians(self, q: ArrayLike) -> Array:
        """The Jacobian J^ of every joint in its parent's axes (63); zero off the joint's columns.

        Arguments:
            q: configuration, (..., nq).

        Returns:
            (..., bodies, 6, nv), linear rows first; [..., 3:, :] are the blocks of J^_omega.
        """
        return self._compute("local_jacobians", (q,))

    def connectivity(self) -> Array:
        """D of eq. 64, which maps angular velocities of links to those relative to their parents.

        Returns:
            (3 bodies, 3 bodies).
        """
        D = np.eye(self._count)
        for k, body in enumerate(self._robot.model.bodies):
            if body.parent >= 0:
                D[k, body.parent] = -1.0
        return np.kron(D, np.eye(3))

    def intermediates(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Intermediates:
        """The intermediate results of Liu & Jain's inverse dynamics (72 to 85), link by link.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).

        Returns:
            Velocities, accelerations, forces and torques, each (..., bodies, 3) and in the link's
            axes.
        """
        return Intermediates(*self._compute("link_intermediates", (q, v, a)))

    def momenta(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The momentum of every link: m v and I_c omega.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).

        Returns:
            (..., bodies, 6), linear (kg m/s), then angular (kg m^2/s), in the world's axes and
            about the link's centre of mass.
        """
        return self._compute("link_momenta", (q, v))

    def kinetic_energies(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The kinetic energy of every link; rotors of drives are not counted.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).

        Returns:
            (..., bodies), J.
        """
        return self._compute("link_energies", (q, v))

    def torque_shares(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The share of each body in each joint force, such as the torque at joint 1 due to body 2.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).

        Returns:
            (..., bodies, nv), N or N m. Summed over bodies, it is `inverse_dynamics` without the
            drives.
        """
        return self._compute("torque_shares", (q, v, a))

    def coriolis_by_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) v from the kinetic energy alone: M' v - dT/dq (17).

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv), which must be the rate of q.

        Returns:
            (..., nv), N or N m: the same as `Robot.coriolis_forces`.
        """
        robot = self._robot
        if robot.nq != robot.nv:
            raise KinetreeError(
                f"coriolis_by_energy: eq. 17 is for velocities that are rates of coordinates, and "
                f"robot {robot.name!r} has quaternions: robot.edit.rechart('exponential') has none"
            )
        return self._compute("coriolis_by_energy", (q, v))
