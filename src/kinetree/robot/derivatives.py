"""Derivatives of a robot's dynamics.

By a configuration they are along q (+) delta, in the directions of velocities: the last axis of
each has length nv, whatever the chart. `robot.kernel(...)` differentiates every other quantity: its
`jvp`, `vjp` and `jacobian` are kernels, too.
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.robot.core import Door
from kinetree.typing import (
    About,
    AccelerationKind,
    Array,
    ArrayLike,
    Axes,
    External,
    Out,
    Outs,
)


class Derivatives(NamedTuple):
    """Derivatives of one result with respect to q, v and a.

    Attributes:
        dq, dv, da: the result's axes, followed by one of length nv.
    """

    dq: Array
    dv: Array
    da: Array


class ForwardDerivatives(NamedTuple):
    """Derivatives of accelerations with respect to q, v and tau.

    Attributes:
        dq, dv, dtau: each (..., nv, nv).
    """

    dq: Array
    dv: Array
    dtau: Array


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of accelerations and constraint forces with respect to q, v and tau.

    Attributes:
        dq, dv, dtau: of the accelerations, each (..., nv, nv).
        forces_dq, forces_dv, forces_dtau: of the forces of the rows, each (..., rows, nv).
    """

    dq: Array
    dv: Array
    dtau: Array
    forces_dq: Array
    forces_dv: Array
    forces_dtau: Array


class ConstrainedInverseDerivatives(NamedTuple):
    """Derivatives of joint forces and constraint forces with respect to q, v and a.

    Attributes:
        dq, dv, da: of the joint forces, each (..., nv, nv).
        forces_dq, forces_dv, forces_da: of the forces of the rows, each (..., rows, nv).
    """

    dq: Array
    dv: Array
    da: Array
    forces_dq: Array
    forces_dv: Array
    forces_da: Array


class SecondDerivatives(NamedTuple):
    """Second derivatives of nv results; those that are not listed vanish.

    u is what enters linearly: the acceleration of inverse dynamics, the force of forward dynamics.
    Where v is the rate of q, qq and vv are symmetric. Elsewhere qq is not, because the directions
    of q turn.

    Attributes:
        qq, qv, vv, qu: `qv` is the derivative with respect to v of the derivative with respect to
            q. Each is (..., nv, nv, nv), or (..., nv, nv) if weights were given.
    """

    qq: Array
    qv: Array
    vv: Array
    qu: Array


class Differential(Door):
    """Derivatives of further quantities, and second derivatives: `robot.derivatives`."""

    def gravity_forces(
        self, q: ArrayLike, *, external: External | None = None, out: Out = None
    ) -> Array:
        """The derivative with respect to q of the forces that hold the robot at rest.

        Arguments:
            q: configuration, (..., nq).
            external: the external loads, as in `inverse_dynamics`: a wrench f at a frame adds the
                derivative of -J^T f.
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._robot._compute("gravity_forces_derivatives", (q,), out, external=external)

    def mass_matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The derivative of the mass matrix with respect to q.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv, nv, nv): entry [i, j, k] is that of M_ij along velocity k.
        """
        return self._robot._compute("mass_matrix_derivatives", (q,), out)

    def mass_matrix_inverse(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The derivative of the mass matrix's inverse; for small robots.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv, nv, nv).
        """
        return self._robot._compute("mass_matrix_inverse_derivatives", (q,), out)

    def velocity(
        self, q: ArrayLike, v: ArrayLike, frame: str, *, axes: Axes = "origin", out: Outs = None
    ) -> tuple[Array, Array]:
        """The derivatives by q and v of a frame's velocity J v.

        Arguments:
            q, v, frame, axes: as in `velocity`.
            out: two arrays to write into.

        Returns:
            dq, dv, each (..., 6, nv).
        """
        dq, dv = self._robot._compute("velocity_derivatives", (q, v), out, settings=(frame, axes))
        return dq, dv

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        *,
        axes: Axes = "origin",
        kind: AccelerationKind = "classical",
        out: Outs = None,
    ) -> Derivatives:
        """The derivatives of a frame's acceleration with respect to q, v and a.

        Arguments:
            q, v, a, frame, axes, kind: as in `Robot.acceleration`.
            out: three arrays to write into.

        Returns:
            dq, dv, da, each (..., 6, nv).
        """
        settings = (frame, axes, kind)
        results = self._robot._compute(
            "acceleration_derivatives", (q, v, a), out, settings=settings
        )
        return Derivatives(*results)

    def momentum(
        self, q: ArrayLike, v: ArrayLike, *, about: About = "center", out: Outs = None
    ) -> tuple[Array, Array]:
        """The derivatives by q and v of `momentum`.

        Arguments:
            q, v, about: as in `momentum`.
            out: two arrays to write into.

        Returns:
            dq, dv, each (..., 6, nv).
        """
        dq, dv = self._robot._compute("momentum_derivatives", (q, v), out, settings=(about,))
        return dq, dv

    def momentum_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        about: About = "center",
        out: Outs = None,
    ) -> Derivatives:
        """The derivatives of `centroidal.momentum_rate` with respect to q, v and a.

        Arguments:
            q, v, a, about: as in `Robot.centroidal.momentum_rate`.
            out: three arrays to write into.

        Returns:
            dq, dv, da, each (..., 6, nv).
        """
        results = self._robot._compute(
            "momentum_rate_derivatives", (q, v, a), out, settings=(about,)
        )
        return Derivatives(*results)

    def inverse_dynamics_second(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        external: External | None = None,
        out: Outs = None,
    ) -> SecondDerivatives:
        """The second derivatives of joint forces.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`.
            weights: (..., nv). With weights, the derivatives of the weighted sum of joint forces,
                which is what optimal control needs. Without, those of every joint force, [i, j, k]
                of tau_i with respect to j and then k; for small robots.
            out: four arrays to write into.

        Returns:
            qq, qv, vv, qu, where u is a.
        """
        return self._second("inverse_dynamics", (q, v, a), weights, external, out)

    def forward_dynamics_second(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        external: External | None = None,
        out: Outs = None,
    ) -> SecondDerivatives:
        """The second derivatives of accelerations.

        Arguments:
            q, v, tau, external: as in `forward_dynamics`.
            weights, out: as in `inverse_dynamics_second`.

        Returns:
            qq, qv, vv, qu, where u is tau.
        """
        return self._second("forward_dynamics", (q, v, tau), weights, external, out)

    def _second(
        self,
        quantity: str,
        state: tuple[ArrayLike, ...],
        weights: ArrayLike | None,
        external: External | None,
        out: Outs,
    ) -> SecondDerivatives:
        name, arrays = f"{quantity}_second_derivatives", state
        if weights is not None:
            name, arrays = f"{quantity}_weighted_second_derivatives", (*state, weights)
        return SecondDerivatives(*self._robot._compute(name, arrays, out, external=external))
