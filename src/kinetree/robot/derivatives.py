"""Derivatives of a robot's dynamics.

By a configuration they are along q (+) delta, in the directions of velocities: the last axis of
each has length nv, whatever the chart. What has no method here, `robot.kernel(...)` differentiates:
its `jvp`, `vjp` and `jacobian` are kernels, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import MissingExtraError
from kinetree.robot.core import Array, Core, External
from kinetree.trajectory import TOLERANCE, Effort


class Derivatives(NamedTuple):
    """Of one array by three."""

    dq: Array
    dv: Array
    da: Array


class ForwardDerivatives(NamedTuple):
    """Of accelerations by q, v and tau."""

    dq: Array
    dv: Array
    dtau: Array


class Seconds(NamedTuple):
    """Second derivatives: xy by y of the derivatives by x. All that are not here vanish.

    u is what enters linearly: the acceleration of inverse dynamics, the force of forward dynamics.
    Where v is the rate of q, qq and vv are symmetric; elsewhere qq is not, as directions turn.
    """

    qq: Array
    qv: Array
    vv: Array
    qu: Array


class Differential(Core):
    """How things change with the state."""

    # first order

    def inverse_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        a: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> Derivatives:
        """The derivatives of joint forces by q, v and a, each (..., nv, nv): [i, j] of tau_i by j.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`; wrenches stay the same in their frames,
                forces on points in the world.
            method: "analytic" (in O(N d)), "balafoutis-patel" (link by link, as Guenter & Rose
                have it) or "graph" (the program of inverse dynamics, differentiated); by default
                the cheapest, which `robot.kernel("inverse_dynamics_derivatives").method` names.

        Returns:
            dq, dv, da; the last is the mass matrix.
        """
        if external is None and not method:
            return Derivatives(*self._kernels["inverse_dynamics_derivatives"](q, v, a, out=out))
        call = self._loaded("inverse_dynamics_derivatives", method, external)
        return Derivatives(*call(q, v, a, out=out))

    def forward_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        tau: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> ForwardDerivatives:
        """The derivatives of accelerations by q, v and tau, each (..., nv, nv).

        Arguments:
            q, v, tau, external: as in `forward_dynamics`.
            method: "analytic" (by those of inverse dynamics and the factors of the mass matrix) or
                "graph" (the articulated-body algorithm, differentiated); by default the cheaper.

        Returns:
            dq, dv, dtau; the last is the inverse of the mass matrix.
        """
        if external is None and not method:
            kernel = self._kernels["forward_dynamics_derivatives"]
            return ForwardDerivatives(*kernel(q, v, tau, out=out))
        call = self._loaded("forward_dynamics_derivatives", method, external)
        return ForwardDerivatives(*call(q, v, tau, out=out))

    def gravity_forces_derivatives(
        self, q: Array, external: External | None = None, out: Array = None
    ) -> Array:
        """The derivative by q of the forces that hold the robot at rest, (..., nv, nv).

        Arguments:
            external: what acts on it, as in `inverse_dynamics`: a wrench f at a frame adds the
                derivative of -J^T f.
        """
        return self._loaded("gravity_forces_derivatives", "", external)(q, out=out)

    def mass_matrix_derivatives(self, q: Array, out: Array = None) -> Array:
        """The derivative of the mass matrix, (..., nv, nv, nv): [i, j, k] of M_ij along k."""
        return self._kernels["mass_matrix_derivatives"](q, out=out)

    def mass_matrix_inverse_derivatives(self, q: Array, out: Array = None) -> Array:
        """The derivative of the mass matrix's inverse, (..., nv, nv, nv); for small robots."""
        return self._kernels["mass_matrix_inverse_derivatives"](q, out=out)

    def velocity_derivatives(
        self, q: Array, v: Array, frame: str, axes: str = "origin", out: Array = None
    ) -> tuple[Array, Array]:
        """The derivatives by q and v of a frame's velocity J v, each (..., 6, nv).

        Arguments:
            q, v, frame, axes: as in `velocity`.
        """
        kernel = self._kernels["velocity_derivatives", "", (), (frame, axes)]
        dq, dv = kernel(q, v, out=out)
        return dq, dv

    def acceleration_derivatives(
        self,
        q: Array,
        v: Array,
        a: Array,
        frame: str,
        axes: str = "origin",
        kind: str = "classical",
        out: Array = None,
    ) -> Derivatives:
        """The derivatives by q, v and a of a frame's acceleration, each (..., 6, nv).

        Arguments:
            q, v, a, frame, axes, kind: as in `acceleration`.
        """
        kernel = self._kernels["acceleration_derivatives", "", (), (frame, axes, kind)]
        return Derivatives(*kernel(q, v, a, out=out))

    def momentum_derivatives(
        self, q: Array, v: Array, about: str = "center", out: Array = None
    ) -> tuple[Array, Array]:
        """The derivatives by q and v of `momentum`, each (..., 6, nv)."""
        dq, dv = self._kernels["momentum_derivatives", "", (), (about,)](q, v, out=out)
        return dq, dv

    def momentum_rate_derivatives(
        self, q: Array, v: Array, a: Array, about: str = "center", out: Array = None
    ) -> Derivatives:
        """The derivatives by q, v and a of `momentum_rate`, each (..., 6, nv)."""
        kernel = self._kernels["momentum_rate_derivatives", "", (), (about,)]
        return Derivatives(*kernel(q, v, a, out=out))

    # second order

    def inverse_dynamics_second_derivatives(
        self,
        q: Array,
        v: Array,
        a: Array,
        weights: Array | None = None,
        external: External | None = None,
        out: Array = None,
    ) -> Seconds:
        """The second derivatives of joint forces.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`.
            weights: (..., nv): those of the sum of joint forces times weights, each (..., nv, nv),
                which is what optimal control needs. Without, those of every joint force, each
                (..., nv, nv, nv), [i, j, k] of tau_i by j and then k: for small robots.

        Returns:
            qq, qv, vv, qu, u being a.
        """
        return self._second("inverse_dynamics", (q, v, a), weights, external, out)

    def forward_dynamics_second_derivatives(
        self,
        q: Array,
        v: Array,
        tau: Array,
        weights: Array | None = None,
        external: External | None = None,
        out: Array = None,
    ) -> Seconds:
        """The second derivatives of accelerations, as `inverse_dynamics_second_derivatives` has
        those of joint forces; u is tau.
        """
        return self._second("forward_dynamics", (q, v, tau), weights, external, out)

    def _second(
        self,
        quantity: str,
        state: tuple[Array, ...],
        weights: Array | None,
        external: External | None,
        out: Array,
    ) -> Seconds:
        if weights is None:
            call = self._loaded(f"{quantity}_second_derivatives", "", external)
            return Seconds(*call(*state, out=out))
        loads = {} if external is None else dict(external)
        kernel = self._kernels[f"{quantity}_weighted_second_derivatives", "", tuple(loads), ()]
        return Seconds(*kernel(*state, *loads.values(), weights, out=out))

    # what optimisation and control do with them

    def effort(
        self,
        trajectory: Any,
        points: int | None = None,
        weights: Array | None = None,
        tolerance: float = TOLERANCE,
    ) -> Effort:
        """The energy functional of Guenter & Rose, P: the integral of the sum of tau_i^2.

        Arguments:
            trajectory: SciPy's BSpline or PPoly of values of length nv; for robots whose
                velocities are the rates of their coordinates.
            points: samples between each two knots, by Gauss and Legendre's rule; by default as
                many as `tolerance` takes, from 4 to 64.
            weights: of the joints, (nv,); one for each if None. Zeros leave out a free base.
            tolerance: of the relative error of P for this trajectory.

        Returns:
            P with its value, its gradient by the trajectory's coefficients, and the estimated
            relative `error` of the value.
        """
        return Effort(self, trajectory, points, weights, tolerance)  # type: ignore[arg-type]

    def linearize(
        self,
        q: Array,
        v: Array,
        tau: Array,
        dt: float | None = None,
        external: External | None = None,
    ) -> tuple[Array, Array]:
        """A and B of the motion near a state: x' = A x + B u for x = (dq, dv) and u = dtau.

        Arguments:
            q, v, tau, external: the state, what drives it, and what acts on it.
            dt: if given, A and B of x(t + dt) = A x(t) + B u instead, exact for constant u.

        Returns:
            A: (..., 2 nv, 2 nv), B: (..., 2 nv, nv). dq is along q (+) dq.
        """
        n = self.nv
        dq, dv, dtau = self.forward_dynamics_derivatives(q, v, tau, external)
        A = np.zeros((*dq.shape[:-2], 2 * n, 2 * n))
        B = np.zeros((*dq.shape[:-2], 2 * n, n))
        A[..., :n, :n] = self._kernels["transport"](q, v) if self.nq != n else 0.0
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = dq, dv, dtau
        return (A, B) if dt is None else _discrete(A, B, dt)


def _discrete(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """The exponential of [[A, B], [0, 0]] dt, its upper rows."""
    try:
        from scipy.linalg import expm
    except ImportError:
        raise MissingExtraError(
            "a step in time needs SciPy, which is not installed: run pip install "
            "'kinetree[trajectory]', or leave out dt"
        ) from None
    n, m = B.shape[-2:]
    both = np.zeros((*A.shape[:-2], n + m, n + m))
    both[..., :n, :n], both[..., :n, n:] = A, B
    step = expm(both * dt)
    return step[..., :n, :n], step[..., :n, n:]
