"""Derivatives of a robot's dynamics.

By a configuration they are along q (+) delta, in the directions of velocities: the last axis of
each has length nv, whatever the chart. `robot.kernel(...)` differentiates every other quantity: its
`jvp`, `vjp` and `jacobian` are kernels, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.algorithms.hold import DEGREE, SMALL
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.memory import empty
from kinetree.errors import KinetreeError, among
from kinetree.robot import uses
from kinetree.robot.checks import number
from kinetree.robot.core import Core
from kinetree.typing import (
    About,
    AccelerationKind,
    Array,
    ArrayLike,
    Axes,
    External,
    ForwardDerivativesMethod,
    InverseDerivativesMethod,
    Out,
    Outs,
    StepMethod,
)

STATE = ("q", "v", "tau")
COMPILED_JACOBIAN = 10_000
"""Operations of a step times velocities: beyond, its derivatives are found row by row."""
COMPILED_HOLD = 10
"""Up to so many velocities, the linearised motion over a step is one kernel."""


class Derivatives(NamedTuple):
    """Derivatives of one result with respect to q, v and a."""

    dq: Array
    dv: Array
    da: Array


class ForwardDerivatives(NamedTuple):
    """Derivatives of accelerations with respect to q, v and tau."""

    dq: Array
    dv: Array
    dtau: Array


class SecondDerivatives(NamedTuple):
    """Second derivatives: `qv` is the derivative by v of the derivative by q. All others vanish.

    u is what enters linearly: the acceleration of inverse dynamics, the force of forward dynamics.
    Where v is the rate of q, qq and vv are symmetric; elsewhere qq is not, as directions turn.
    """

    qq: Array
    qv: Array
    vv: Array
    qu: Array


class Differential(Core):
    """Derivatives of first and second order, and what optimisation and control build on them."""

    # first order

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external: External | None = None,
        method: InverseDerivativesMethod = "",
        out: Outs = None,
    ) -> Derivatives:
        """The derivatives of joint forces by q, v and a: [i, j] of tau_i by j.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`; wrenches stay the same in their frames,
                forces on points in the world.
            method: "analytic" (in O(N d)), "balafoutis-patel" (link by link, as Guenter & Rose
                have it) or "graph" (the program of inverse dynamics, differentiated); by default
                the cheapest, which `robot.kernel("inverse_dynamics_derivatives").method` names.
            out: three arrays to write into.

        Returns:
            dq, dv, da, each (..., nv, nv); the last is the mass matrix.
        """
        results = self._compute("inverse_dynamics_derivatives", (q, v, a), out, method, external)
        return Derivatives(*results)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external: External | None = None,
        method: ForwardDerivativesMethod = "",
        out: Outs = None,
    ) -> ForwardDerivatives:
        """The derivatives of accelerations by q, v and tau.

        Arguments:
            q, v, tau, external: as in `forward_dynamics`.
            method: "analytic" (by those of inverse dynamics and the factors of the mass matrix) or
                "graph" (the articulated-body algorithm, differentiated); by default the cheaper.
            out: three arrays to write into.

        Returns:
            dq, dv, dtau, each (..., nv, nv); the last is the inverse of the mass matrix.
        """
        results = self._compute("forward_dynamics_derivatives", (q, v, tau), out, method, external)
        return ForwardDerivatives(*results)

    def gravity_forces_derivatives(
        self, q: ArrayLike, external: External | None = None, out: Out = None
    ) -> Array:
        """The derivative by q of the forces that hold the robot at rest.

        Arguments:
            q: configuration, (..., nq).
            external: what acts on it, as in `inverse_dynamics`: a wrench f at a frame adds the
                derivative of -J^T f.
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._compute("gravity_forces_derivatives", (q,), out, external=external)

    def mass_matrix_derivatives(self, q: ArrayLike, out: Out = None) -> Array:
        """The derivative of the mass matrix: [i, j, k] of M_ij along k.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv, nv, nv).
        """
        return self._compute("mass_matrix_derivatives", (q,), out)

    def mass_matrix_inverse_derivatives(self, q: ArrayLike, out: Out = None) -> Array:
        """The derivative of the mass matrix's inverse; for small robots.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv, nv, nv).
        """
        return self._compute("mass_matrix_inverse_derivatives", (q,), out)

    def velocity_derivatives(
        self, q: ArrayLike, v: ArrayLike, frame: str, axes: Axes = "origin", out: Outs = None
    ) -> tuple[Array, Array]:
        """The derivatives by q and v of a frame's velocity J v.

        Arguments:
            q, v, frame, axes: as in `velocity`.
            out: two arrays to write into.

        Returns:
            dq, dv, each (..., 6, nv).
        """
        dq, dv = self._compute("velocity_derivatives", (q, v), out, settings=(frame, axes))
        return dq, dv

    def acceleration_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        axes: Axes = "origin",
        kind: AccelerationKind = "classical",
        out: Outs = None,
    ) -> Derivatives:
        """The derivatives by q, v and a of a frame's acceleration.

        Arguments:
            q, v, a, frame, axes, kind: as in `acceleration`.
            out: three arrays to write into.

        Returns:
            dq, dv, da, each (..., 6, nv).
        """
        settings = (frame, axes, kind)
        results = self._compute("acceleration_derivatives", (q, v, a), out, settings=settings)
        return Derivatives(*results)

    def momentum_derivatives(
        self, q: ArrayLike, v: ArrayLike, about: About = "center", out: Outs = None
    ) -> tuple[Array, Array]:
        """The derivatives by q and v of `momentum`.

        Arguments:
            q, v, about: as in `momentum`.
            out: two arrays to write into.

        Returns:
            dq, dv, each (..., 6, nv).
        """
        dq, dv = self._compute("momentum_derivatives", (q, v), out, settings=(about,))
        return dq, dv

    def momentum_rate_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        about: About = "center",
        out: Outs = None,
    ) -> Derivatives:
        """The derivatives by q, v and a of `momentum_rate`.

        Arguments:
            q, v, a, about: as in `momentum_rate`.
            out: three arrays to write into.

        Returns:
            dq, dv, da, each (..., 6, nv).
        """
        results = self._compute("momentum_rate_derivatives", (q, v, a), out, settings=(about,))
        return Derivatives(*results)

    # second order

    def inverse_dynamics_second_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        weights: ArrayLike | None = None,
        external: External | None = None,
        out: Outs = None,
    ) -> SecondDerivatives:
        """The second derivatives of joint forces.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`.
            weights: (..., nv): those of the sum of joint forces times weights, each (..., nv, nv),
                which is what optimal control needs. Without, those of every joint force, each
                (..., nv, nv, nv), [i, j, k] of tau_i by j and then k: for small robots.
            out: four arrays to write into.

        Returns:
            qq, qv, vv, qu, u being a.
        """
        return self._second("inverse_dynamics", (q, v, a), weights, external, out)

    def forward_dynamics_second_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        weights: ArrayLike | None = None,
        external: External | None = None,
        out: Outs = None,
    ) -> SecondDerivatives:
        """The second derivatives of accelerations.

        Arguments:
            q, v, tau, external: as in `forward_dynamics`.
            weights, out: as in `inverse_dynamics_second_derivatives`.

        Returns:
            qq, qv, vv, qu, u being tau.
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
        return SecondDerivatives(*self._compute(name, arrays, out, external=external))

    # what optimisation and control do with them

    def effort(
        self,
        trajectory: Any,
        points: int | None = None,
        weights: ArrayLike | None = None,
        tolerance: float = 1e-8,
    ) -> uses.Effort:
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
        return uses.Effort(self, trajectory, points, weights, tolerance)  # type: ignore[arg-type]

    def linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: float | None = None,
        external: External | None = None,
        method: StepMethod = "",
        limits: Enforcement = FREE,
    ) -> tuple[Array, Array]:
        """A and B of the motion near a state: x' = A x + B u for x = (dq, dv) and u = dtau.

        Arguments:
            q, v, tau, external: the state, what drives it, and what acts on it.
            dt: if given, A and B of x(t + dt) = A x(t) + B u instead, exact for constant u.
            method, limits: with dt: the derivatives of `step` by this method, instead.

        Returns:
            A: (..., 2 nv, 2 nv), B: (..., 2 nv, nv). dq is along q (+) dq.
        """
        of_step = not (among(method, ("", None)) and among(limits, (FREE,)))
        if dt is None and of_step:
            raise KinetreeError("linearize: method and limits are those of a step, which needs dt")
        if of_step:
            return self._linearized_step((q, v, tau, dt), external, method, limits)
        if dt is not None and self.nv <= COMPILED_HOLD:
            return self._held((q, v, tau), number("dt", dt, above=0.0), external)
        dq, dv, dtau = self.forward_dynamics_derivatives(q, v, tau, external)
        transport = 0.0 if self.nq == self.nv else self._compute("transport", (q, v), None)
        A, B = _blocks([[transport, np.eye(self.nv)], [dq, dv]]), _blocks([[0.0], [dtau]])
        return (A, B) if dt is None else zero_order_hold(A, B, number("dt", dt, above=0.0))

    def _linearized_step(
        self, state: Any, external: External | None, method: StepMethod, limits: Enforcement
    ) -> tuple[Array, Array]:
        """A and B of `step`."""
        q1, _ = self._compute("step", state, None, method, external, (limits,))
        loads = external or {}
        kernel = self._kernels.ask("step_from", method, tuple(loads), (limits,))
        given = (*state, q1, *loads.values())
        if sum(kernel.operations.values()) * self.nv > COMPILED_JACOBIAN:
            return self._by_rows(kernel, given)
        q_q, q_v, q_tau, v_q, v_v, v_tau = kernel.jacobian(STATE)(*given)
        return _blocks([[q_q, q_v], [v_q, v_v]]), _blocks([[q_tau], [v_tau]])

    def _by_rows(self, kernel: Kernel, given: Sequence[ArrayLike]) -> tuple[Array, Array]:
        """A and B row by row, in reverse: much less to compile where a step is long."""
        shapes = kernel.interface.inputs
        rows = [
            np.expand_dims(np.asarray(x, float), -1 - len(shape))
            for x, (_, shape) in zip(given, shapes, strict=True)
        ]
        way, velocity = np.split(np.eye(2 * self.nv), 2, axis=-1)
        dq, dv, dtau = kernel.vjp(STATE)(*rows, way, velocity)
        return np.concatenate([dq, dv], axis=-1), dtau

    def _held(self, state: Any, dt: float, external: External | None) -> tuple[Array, Array]:
        """A and B over a step with constant forces, compiled; large steps are several."""
        A, B, rate = self._compute("held_linearization", (*state, dt), None, external=external)
        doublings = _doublings(rate * abs(dt))
        if doublings:
            small = dt / 2.0**doublings
            A, B, _ = self._compute("held_linearization", (*state, small), None, external=external)
        return _doubled(A, B, doublings)


def _blocks(rows: list[list[Any]]) -> Array:
    """A batch of matrices from square blocks; a block may be one number or one matrix for all."""
    last = rows[-1][-1]
    n = last.shape[-1]
    found = empty((*last.shape[:-2], n * len(rows), n * len(rows[0])), last.dtype)
    for i, row in enumerate(rows):
        for j, block in enumerate(row):
            found[..., n * i : n * (i + 1), n * j : n * (j + 1)] = block
    return found


def zero_order_hold(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """exp(A dt) and the integral of exp(A t) B over dt, of a batch of matrices."""
    doublings = _doublings(np.abs(A).sum(axis=-1).max(axis=-1) * abs(dt))
    h, one = dt / 2.0**doublings, np.eye(A.shape[-1])
    S = np.broadcast_to(one, A.shape)
    for k in range(DEGREE, 1, -1):
        S = one + (A @ S) * (h / k)
    return _doubled(one + (A @ S) * h, (S @ B) * h, doublings)


def _doublings(sizes: Array) -> int:
    """How often a step is to be halved, so that the series of the largest is short."""
    largest = float(np.max(sizes, initial=0.0))
    finite = math.isfinite(largest) and largest > SMALL
    return math.ceil(math.log2(largest / SMALL)) if finite else 0


def _doubled(A: Array, B: Array, doublings: int) -> tuple[Array, Array]:
    """Of a step 2^doublings times as long."""
    for _ in range(doublings):
        A, B = A @ A, B + A @ B
    return A, B
