"""Dynamics of a robot: forces, masses, accelerations, energies, momenta."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.robot.core import Array, Core, External


class Dynamics(Core):
    """What forces a motion takes, and what motion forces give."""

    # inverse dynamics

    def inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> Array:
        """The joint forces that give an acceleration.

        Arguments:
            q: configuration, (..., nq).
            v: velocity, (..., nv).
            a: acceleration, (..., nv).
            external: what acts on the robot. A frame's name -> the wrench (force, moment) at its
                origin and in its own axes, (..., 6); or Point(frame) -> a force in the world's
                axes and the point of the frame's body where it acts, in the frame's coordinates,
                (..., 6).
            method: "balafoutis-patel" (the default, with the least arithmetic), "rnea" or
                "liu-jain"; they differ by rounding.

        Returns:
            tau: joint forces, (..., nv), N or N m.
        """
        if external is None and not method:
            return self._kernels["inverse_dynamics"](q, v, a, out=out)
        return self._loaded("inverse_dynamics", method, external)(q, v, a, out=out)

    def joint_wrenches(
        self, q: Array, v: Array, a: Array, external: External | None = None, out: Array = None
    ) -> Array:
        """All that each joint transmits onto its body: (..., nbodies, 6).

        A wrench (force, moment) at the body's origin and in its axes: along the joint's axes what
        its drive gives, across them what its bearings carry.
        """
        return self._loaded("joint_wrenches", "", external)(q, v, a, out=out)

    def gravity_forces(self, q: Array, method: str = "", out: Array = None) -> Array:
        """The joint forces that hold the robot at rest, (..., nv).

        They hold it against gravity and against the springs of its joints: the slope of
        `potential_energy` along each velocity.
        """
        return self._kernels[("gravity_forces", method) if method else "gravity_forces"](q, out=out)

    def coriolis_forces(self, q: Array, v: Array, method: str = "", out: Array = None) -> Array:
        """Coriolis and centrifugal forces, (..., nv): C(q, v) v, and nothing else.

        Gravity, friction and springs take no part.

        Arguments:
            method: a way of inverse dynamics, or "lagrange".
        """
        key = ("coriolis_forces", method) if method else "coriolis_forces"
        return self._kernels[key](q, v, out=out)

    def bias_forces(
        self,
        q: Array,
        v: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> Array:
        """The joint forces at zero acceleration, (..., nv).

        They are those of gravity, velocities, friction, springs and loads.
        """
        if external is None and not method:
            return self._kernels["bias_forces"](q, v, out=out)
        return self._loaded("bias_forces", method, external)(q, v, out=out)

    # the mass matrix

    def mass_matrix(self, q: Array, method: str = "", out: Array = None) -> Array:
        """The mass matrix M(q), (..., nv, nv), both triangles.

        Arguments:
            method: "crba" (the default), "rnea" (column by column) or "lagrange" (by Jacobians).
        """
        if not method:
            return self._kernels["mass_matrix"](q, out=out)
        return self._kernels["mass_matrix", method](q, out=out)

    def mass_matrix_rate(self, q: Array, v: Array, out: Array = None) -> Array:
        """The time derivative of the mass matrix, (..., nv, nv)."""
        return self._kernels["mass_matrix_rate"](q, v, out=out)

    def mass_matrix_inverse(self, q: Array, method: str = "", out: Array = None) -> Array:
        """The inverse of the mass matrix, (..., nv, nv).

        Arguments:
            method: "ltl" (by the sparse factors of M, the default) or "aba" (without M).
        """
        if self._charts:
            self._check_charts(q)
        key = ("mass_matrix_inverse", method) if method else "mass_matrix_inverse"
        return self._kernels[key](q, out=out)

    def mass_matrix_factor(self, q: Array, out: Array = None) -> Array:
        """L with M = L^T L, sparse as the robot branches: (..., nv, nv)."""
        if self._charts:
            self._check_charts(q)
        return self._kernels["mass_matrix_factor"](q, out=out)

    # forward dynamics

    def forward_dynamics(
        self,
        q: Array,
        v: Array,
        tau: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> Array:
        """The acceleration that joint forces give, (..., nv).

        Arguments:
            q, v, tau: configuration, velocity, joint forces.
            external: as in `inverse_dynamics`.
            method: "aba", or "crba", which factors the mass matrix; by default the first, unless
                joints mimic others.

        Raises:
            SingularChartError: where the coordinates of a joint are singular.
        """
        if self._charts:
            self._check_charts(q)
        if external is None and not method:
            return self._kernels["forward_dynamics"](q, v, tau, out=out)
        return self._loaded("forward_dynamics", method, external)(q, v, tau, out=out)

    def hybrid_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        tau: Array,
        accelerated: Sequence[str],
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> tuple[Array, Array]:
        """The motion when some joints are given their acceleration, the others their force.

        Arguments:
            a: of which the entries of the accelerated joints are read.
            tau: of which the entries of the other joints are read.
            accelerated: the names of the joints whose acceleration is given.
            external, method: as in `forward_dynamics`.

        Returns:
            a, tau: both complete, (..., nv) each.
        """
        if self._charts:
            self._check_charts(q)
        settings = (tuple(accelerated),)
        kernel = self._loaded("hybrid_dynamics", method, external, settings)
        return kernel(q, v, a, tau, out=out)

    # energy and momentum

    def kinetic_energy(self, q: Array, v: Array, out: Array = None) -> Array:
        """The kinetic energy, J: of bodies and rotors, v^T M v / 2."""
        return self._kernels["kinetic_energy"](q, v, out=out)

    def potential_energy(self, q: Array, out: Array = None) -> Array:
        """The energy of gravity and of the joints' springs, J.

        Zero if the centre of mass is at the world's origin and every spring is relaxed.
        """
        return self._kernels["potential_energy"](q, out=out)

    def momentum(self, q: Array, v: Array, about: str = "center", out: Array = None) -> Array:
        """Linear and angular momentum in the world's axes: (..., 6), linear first.

        Arguments:
            about: the point of the angular part: "center" (of mass) or "origin" (of the world).
        """
        return self._kernels["momentum", "", (), (about,)](q, v, out=out)

    def momentum_matrix(self, q: Array, about: str = "center", out: Array = None) -> Array:
        """The matrix A with momentum = A v: (..., 6, nv), centroidal by default."""
        if about == "center":
            return self._kernels["momentum_matrix"](q, out=out)
        return self._kernels["momentum_matrix", "", (), (about,)](q, out=out)

    def momentum_matrix_rate(
        self, q: Array, v: Array, about: str = "center", out: Array = None
    ) -> Array:
        """The time derivative of `momentum_matrix`: (..., 6, nv)."""
        return self._kernels["momentum_matrix_rate", "", (), (about,)](q, v, out=out)

    def momentum_rate(
        self, q: Array, v: Array, a: Array, about: str = "center", out: Array = None
    ) -> Array:
        """How fast the momentum changes at the acceleration a: (..., 6)."""
        return self._kernels["momentum_rate", "", (), (about,)](q, v, a, out=out)
