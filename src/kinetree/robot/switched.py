"""Dynamics under constraints that are switched on and off in each state."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints import NO_STABILIZATION, Baumgarte
from kinetree.robot.derivatives import ConstrainedDerivatives
from kinetree.robot.embedded import Embeddable
from kinetree.typing import Array, ArrayLike, External, Outs

Names = str | Sequence[str]
ALL: Names = ()


class Switched(Embeddable):
    """Which feet stand may differ from state to state."""

    def switched_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        active: ArrayLike,
        *,
        constraints: Names = ALL,
        stabilization: Baumgarte = NO_STABILIZATION,
        external: External | None = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array]:
        """The same as `forward_dynamics`, with constraints switched on and off in each state.

        Which feet stand may differ from state to state; one kernel serves them all.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            active: 1 for each constraint of the robot that acts and 0 for the others, (...,
                constraints).
            constraints: the names of the constraints that can act.
            stabilization, external, out: as in `forward_dynamics`.

        Returns:
            As `forward_dynamics`; the forces of constraints that do not act are zero.
        """
        a, forces, residual = self._robot._compute(
            "switched_dynamics",
            (q, v, tau, active),
            out,
            external=external,
            settings=(constraints, stabilization),
        )
        return a, forces, residual

    def switched_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        active: ArrayLike,
        *,
        constraints: Names = ALL,
        stabilization: Baumgarte = NO_STABILIZATION,
        external: External | None = None,
        out: Outs = None,
    ) -> ConstrainedDerivatives:
        """The derivatives of `switched_dynamics`: of accelerations and of constraint forces.

        Arguments:
            q, v, tau, active, constraints, stabilization, external: as in `switched_dynamics`.
            out: six arrays to write into.

        Returns:
            As `forward_dynamics_derivatives`; zeros for the forces of constraints that do not act.
        """
        results = self._robot._compute(
            "switched_dynamics_derivatives",
            (q, v, tau, active),
            out,
            external=external,
            settings=(constraints, stabilization),
        )
        return ConstrainedDerivatives(*results)
