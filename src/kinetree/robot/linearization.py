"""Derivatives of inverse and forward dynamics, and the linearised motion near a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.algorithms.constraints import PROJECTION, Stabilization
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.contact.tendon_rows import has_tendon_rows
from kinetree.algorithms.hold import DEGREE, SMALL
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.memory import empty
from kinetree.errors import KinetreeError, among
from kinetree.quantities.simulation import CONTACT_DERIVATIVES
from kinetree.robot.checks import number
from kinetree.robot.core import Core
from kinetree.robot.derivatives import Derivatives, ForwardDerivatives
from kinetree.typing import (
    Array,
    ArrayLike,
    External,
    ForwardDerivativesMethod,
    InverseDerivativesMethod,
    Outs,
    StepMethod,
)

STATE = ("q", "v", "tau")
COMPILED_JACOBIAN = 10_000
"""Operations of a step times velocities: beyond, its derivatives are found row by row."""
COMPILED_HOLD = 10
"""Up to so many velocities, the linearised motion over a step is one kernel."""


class Linearized(Core):
    """Derivatives of dynamics, and what optimisation and control build on them."""

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: External | None = None,
        method: InverseDerivativesMethod = "auto",
        out: Outs = None,
    ) -> Derivatives:
        """The derivatives of joint forces with respect to q, v and a.

        Arguments:
            q, v, a, external: as in `inverse_dynamics`. Wrenches stay constant in their frames,
                forces at points in the world.
            method: "analytic" (in O(N d)), "balafoutis-patel" (link by link, as Guenter & Rose
                have it) or "graph" (the program of inverse dynamics, differentiated); by default
                the cheapest, which `robot.kernel("inverse_dynamics_derivatives").method` names.
            out: three arrays to write into.

        Returns:
            dq, dv, da, each (..., nv, nv): entry [i, j] is the derivative of tau_i. The last is the
            mass matrix.
        """
        results = self._compute("inverse_dynamics_derivatives", (q, v, a), out, method, external)
        return Derivatives(*results)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        method: ForwardDerivativesMethod = "auto",
        out: Outs = None,
    ) -> ForwardDerivatives:
        """The derivatives of accelerations with respect to q, v and tau.

        Arguments:
            q, v, tau, external: as in `forward_dynamics`.
            method: "analytic" (from those of inverse dynamics and the factors of the mass matrix)
                or "graph" (the articulated-body algorithm, differentiated); by default the cheaper
                one.
            out: three arrays to write into.

        Returns:
            dq, dv, dtau, each (..., nv, nv); the last is the inverse of the mass matrix. Under
            constraints, accelerations are those that the constraints allow, as in
            `constraints.forward_dynamics_derivatives`.
        """
        results = self._compute("forward_dynamics_derivatives", (q, v, tau), out, method, external)
        return ForwardDerivatives(*results)

    @through_numpy
    def linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: float | None = None,
        *,
        external: External | None = None,
        method: StepMethod = "auto",
        enforcement: Enforcement = FREE,
        stabilization: Stabilization = PROJECTION,
        contact: ContactSolver | bool = SOLVER,
    ) -> tuple[Array, Array]:
        """The linear model of the motion near a state: x' = A x + B u, x = (dq, dv), u = dtau.

        Arguments:
            q, v, tau, external: the state, the joint forces and the external loads, as in
                `forward_dynamics`.
            dt: if given, A and B of x(t + dt) = A x(t) + B u instead, exact for constant u.
            method, enforcement, stabilization, contact: with dt, the derivatives of this `step`
                instead.

        Returns:
            A: (..., 2 nv, 2 nv), B: (..., 2 nv, nv). dq is along q (+) dq.
        """
        settings = (enforcement, stabilization, contact)
        plain = among(method, ("auto",)) and among(settings, ((FREE, PROJECTION, SOLVER),))
        of_step = not plain or (bool(self.model.contacts) and dt is not None)
        if dt is None and of_step:
            raise KinetreeError(
                "linearize: method, enforcement, stabilization and contact apply to a step; pass dt"
            )
        if of_step:
            return self._linearized_step((q, v, tau, dt), external, method, settings)
        if dt is not None and self.nv <= COMPILED_HOLD:
            return self._held((q, v, tau), number("dt", dt), external)
        dq, dv, dtau = self.forward_dynamics_derivatives(q, v, tau, external=external)
        transport = 0.0 if self.nq == self.nv else self._compute("transport", (q, v), None)
        A, B = _blocks([[transport, np.eye(self.nv)], [dq, dv]]), _blocks([[0.0], [dtau]])
        return (A, B) if dt is None else zero_order_hold(A, B, number("dt", dt))

    def _linearized_step(
        self, state: Any, external: External | None, method: StepMethod, settings: tuple[Any, ...]
    ) -> tuple[Array, Array]:
        """A and B of `step`."""
        by = self._kernels.tracer.method("step") if among(method, ("auto",)) else method
        if self._known_at_contact(by, settings):
            found = self._compute("step_derivatives", state, None, by, external, settings[2:])
            return found[0], found[1]
        q1, _ = self._compute("step", state, None, method, external, settings)
        loads = external or {}
        kernel = self._kernels.ask("step_from", method, tuple(loads), settings)
        given = (*state, q1, *loads.values())
        if sum(kernel.operations.values()) * self.nv > COMPILED_JACOBIAN:
            return self._by_rows(kernel, given)
        q_q, q_v, q_tau, v_q, v_v, v_tau = kernel.jacobian(STATE)(*given)
        return _blocks([[q_q, q_v], [v_q, v_v]]), _blocks([[q_tau], [v_tau]])

    def _known_at_contact(self, method: str, settings: tuple[Any, ...]) -> bool:
        """Whether the derivatives of a step are known from the solution of its contacts."""
        enforcement, _, contact = settings
        return (
            bool(self.model.contacts)
            and not self.model.constraints
            and not has_tendon_rows(self.model)
            and among(method, CONTACT_DERIVATIVES)
            and among(enforcement, (FREE,))
            and not among(contact, (False, None))
        )

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
    """How often to halve a step, so that the series converges fast for the largest matrix."""
    largest = float(np.max(sizes, initial=0.0))
    finite = math.isfinite(largest) and largest > SMALL
    return math.ceil(math.log2(largest / SMALL)) if finite else 0


def _doubled(A: Array, B: Array, doublings: int) -> tuple[Array, Array]:
    """The result of a step 2^doublings times as long."""
    for _ in range(doublings):
        A, B = A @ A, B + A @ B
    return A, B
