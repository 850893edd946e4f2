"""Dynamics of a robot: forces, masses, accelerations, energies, momenta."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.quantities.settings import joint_names
from kinetree.robot.core import Core
from kinetree.typing import (
    About,
    Array,
    ArrayLike,
    Axes,
    CoriolisForcesMethod,
    External,
    ForwardDynamicsMethod,
    HybridDynamicsMethod,
    InverseDynamicsMethod,
    Loading,
    MassMatrixInverseMethod,
    MassMatrixMethod,
    Out,
    Outs,
    Rows,
)


class Dynamics(Core):
    """Inverse and forward dynamics, the mass matrix, energies and momenta."""

    # inverse dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: External | None = None,
        method: InverseDynamicsMethod = "auto",
        out: Out = None,
    ) -> Array:
        """The joint forces that cause an acceleration.

        Arguments:
            q: configuration, (..., nq).
            v: velocity, (..., nv).
            a: acceleration, (..., nv).
            external: the external loads. Maps a frame's name to the wrench (force, moment) at its
                origin and in its axes, (..., 6); or Point(frame) to a force in the world's axes and
                the point where it acts, in the frame's coordinates, (..., 6).
            method: "balafoutis-patel" (the default, with the least arithmetic), "rnea" or
                "liu-jain"; they differ by rounding.
            out: an array to write into.

        Returns:
            Joint forces, (..., nv), N or N m.
        """
        return self._compute("inverse_dynamics", (q, v, a), out, method, external)

    def joint_wrenches(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: External | None = None,
        out: Out = None,
    ) -> Array:
        """The wrench that each joint transmits to its body.

        The drive supplies the components along the joint's axes; the bearings carry the others.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`.
            out: an array to write into.

        Returns:
            Wrenches (force in N, moment in N m) at the bodies' origins and in their axes, (...,
            nbodies, 6).
        """
        return self._compute("joint_wrenches", (q, v, a), out, external=external)

    def gravity_forces(
        self, q: ArrayLike, *, method: InverseDynamicsMethod = "auto", out: Out = None
    ) -> Array:
        """The joint forces that hold the robot at rest, against gravity and the joints' springs.

        They are the gradient of `potential_energy` along the velocities.

        Arguments:
            q: configuration, (..., nq).
            method: as in `inverse_dynamics`.
            out: an array to write into.

        Returns:
            (..., nv), N or N m.
        """
        return self._compute("gravity_forces", (q,), out, method)

    def coriolis_forces(
        self, q: ArrayLike, v: ArrayLike, *, method: CoriolisForcesMethod = "auto", out: Out = None
    ) -> Array:
        """Coriolis and centrifugal forces, C(q, v) v: without gravity, friction and springs.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            method: as in `inverse_dynamics`, or "lagrange".
            out: an array to write into.

        Returns:
            (..., nv), N or N m.
        """
        return self._compute("coriolis_forces", (q, v), out, method)

    def bias_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        external: External | None = None,
        method: InverseDynamicsMethod = "auto",
        out: Out = None,
    ) -> Array:
        """The joint forces at zero acceleration: gravity, Coriolis, friction, springs, loads.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            external, method: as in `inverse_dynamics`.
            out: an array to write into.

        Returns:
            (..., nv), N or N m.
        """
        return self._compute("bias_forces", (q, v), out, method, external)

    # the mass matrix

    def mass_matrix(
        self, q: ArrayLike, *, method: MassMatrixMethod = "auto", out: Out = None
    ) -> Array:
        """The mass matrix M(q), both triangles.

        Arguments:
            q: configuration, (..., nq).
            method: "crba" (the default), "rnea" (column by column) or "lagrange" (by Jacobians).
            out: an array to write into.

        Returns:
            (..., nv, nv), kg m^2, kg m or kg.
        """
        return self._compute("mass_matrix", (q,), out, method)

    def mass_matrix_inverse(
        self, q: ArrayLike, *, method: MassMatrixInverseMethod = "auto", out: Out = None
    ) -> Array:
        """The inverse of the mass matrix.

        Arguments:
            q: configuration, (..., nq).
            method: "ltl" (by the sparse factors of M, the default) or "aba" (without M).
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._compute("mass_matrix_inverse", (q,), out, method)

    def mass_matrix_factor(self, q: ArrayLike, *, out: Out = None) -> Array:
        """L with M = L^T L: lower triangular, with the sparsity of the kinematic tree.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._compute("mass_matrix_factor", (q,), out)

    def operational_space_inertia(
        self,
        q: ArrayLike,
        frame: str,
        *,
        axes: Axes = "origin",
        rows: Rows = "pose",
        out: Out = None,
    ) -> Array:
        """The inertia that a frame feels, (J M^-1 J^T)^-1, after Khatib (1987).

        A wrench F on the frame changes its acceleration by the inverse of this matrix times F.

        Arguments:
            q: configuration, (..., nq).
            frame: the name of the frame.
            axes: as in `velocity`.
            rows: "pose", or "position" for the three linear rows of J alone.
            out: an array to write into.

        Returns:
            (..., 6, 6), linear first, or (..., 3, 3). It grows without bound towards singular
            configurations, where rows of J become dependent.

        Raises:
            SingularModelError: where they are dependent in every configuration, as for fewer than
                six velocities.
        """
        settings = (frame, axes, rows)
        return self._compute("operational_space_inertia", (q,), out, settings=settings)

    # forward dynamics

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        method: ForwardDynamicsMethod = "auto",
        out: Out = None,
    ) -> Array:
        """The acceleration that joint forces cause.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            external: as in `inverse_dynamics`.
            method: "aba", or "crba", which factors the mass matrix; by default the first, unless
                joints mimic others.
            out: an array to write into.

        Returns:
            (..., nv), rad/s^2 or m/s^2.

        Raises:
            SingularChartError: where the coordinates of a joint are singular.
        """
        return self._compute("forward_dynamics", (q, v, tau), out, method, external)

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        accelerated: str | Sequence[str],
        *,
        external: External | None = None,
        method: HybridDynamicsMethod = "auto",
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """The motion if the acceleration of some joints is given, and the force of the others.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            a: accelerations, (..., nv); only the entries of the accelerated joints are read.
            tau: joint forces, (..., nv); only the entries of the other joints are read.
            accelerated: the names of the joints whose acceleration is given.
            external, method: as in `forward_dynamics`.
            out: two arrays to write into.

        Returns:
            a and tau, both complete, (..., nv) each; rad/s^2 or m/s^2, and N m or N.
        """
        settings = (joint_names("accelerated", accelerated),)
        results = self._compute("hybrid_dynamics", (q, v, a, tau), out, method, external, settings)
        return results[0], results[1]

    # energy and momentum

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The kinetic energy of bodies and rotors, v^T M v / 2.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (...), J.
        """
        return self._compute("kinetic_energy", (q, v), out)

    def potential_energy(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The energy of gravity and of the joints' springs.

        Zero if the centre of mass is at the world's origin and every spring is relaxed.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (...), J.
        """
        return self._compute("potential_energy", (q,), out)

    def momentum(
        self, q: ArrayLike, v: ArrayLike, *, about: About = "center", out: Out = None
    ) -> Array:
        """Linear and angular momentum in the world's axes.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            about: the reference point of the angular part: the "center" of mass, or the origin of
                the "world".
            out: an array to write into.

        Returns:
            (..., 6), linear (kg m/s), then angular (kg m^2/s).
        """
        return self._compute("momentum", (q, v), out, settings=(about,))

    def momentum_matrix(self, q: ArrayLike, *, about: About = "center", out: Out = None) -> Array:
        """The matrix A that maps velocities to momentum; centroidal by default.

        Arguments:
            q: configuration, (..., nq).
            about: as in `momentum`.
            out: an array to write into.

        Returns:
            (..., 6, nv), linear rows first.
        """
        return self._compute("momentum_matrix", (q,), out, settings=(about,))

    def generalized_forces(self, q: ArrayLike, external: Loading, *, out: Out = None) -> Array:
        """The generalised forces Q of external loads (Liu & Jain eq. 3, 48, 67 and 69).

        Arguments:
            q: configuration, (..., nq).
            external: maps each load to its numbers, (..., 6) or (..., 3). A load is a frame's name
                or a `Wrench` (a wrench on a frame), a `Point` (a force at a point), a
                `CenterWrench` (force and torque tau at the centre of mass, eq. 48), a `BodyTorque`
                (torque tau' without that of forces, eq. 67) or a `JointTorque` (eq. 69).
            out: an array to write into.

        Returns:
            (..., nv), N or N m: the joint forces that do the same work as the loads.
        """
        return self._compute("generalized_forces", (q,), out, external=external)
