"""A robot under its constraints: `robot.constraints`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.constraints import NO_STABILIZATION, Baumgarte
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import KinetreeError
from kinetree.model.joints.answers import Label
from kinetree.quantities.settings import joint_names
from kinetree.robot.closing import close
from kinetree.robot.derivatives import ConstrainedDerivatives, ConstrainedInverseDerivatives
from kinetree.robot.switched import ALL, Names, Switched
from kinetree.typing import Array, ArrayLike, External, ForwardDerivativesMethod, Out, Outs


class Constrained(Switched):
    """Errors and Jacobians of a robot's constraints, and its dynamics with their forces.

    Every method takes `constraints`, the names of those that count; all of them by default.
    """

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the constraints, in the order of their rows."""
        return tuple(c.name for c in self._robot.model.constraints)

    @cached_property
    def rows(self) -> tuple[Label, ...]:
        """The name of each row, such as "loop.x", and the unit of its error."""
        return self._robot.model.constraint_labels

    def errors(self, q: ArrayLike, *, constraints: Names = ALL, out: Out = None) -> Array:
        """How far each row is from what it demands.

        Arguments:
            q: configuration, (..., nq).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., rows), m or rad; zero for rows that only forbid velocities.
        """
        return self._robot._compute("constraint_errors", (q,), out, settings=(constraints,))

    def jacobian(self, q: ArrayLike, *, constraints: Names = ALL, out: Out = None) -> Array:
        """The Jacobian J of the constraints; velocities that they allow have J v = 0.

        Arguments:
            q: configuration, (..., nq).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., rows, nv).
        """
        return self._robot._compute("constraint_jacobian", (q,), out, settings=(constraints,))

    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, *, constraints: Names = ALL, out: Out = None
    ) -> Array:
        """The time derivative of `jacobian`.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., rows, nv).
        """
        settings = (constraints,)
        return self._robot._compute("constraint_jacobian_rate", (q, v), out, settings=settings)

    def bias(
        self, q: ArrayLike, v: ArrayLike, *, constraints: Names = ALL, out: Out = None
    ) -> Array:
        """The acceleration of the rows when the joints do not accelerate: J' v.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., rows), m/s^2 or rad/s^2.
        """
        return self._robot._compute("constraint_bias", (q, v), out, settings=(constraints,))

    def delassus_matrix(self, q: ArrayLike, *, constraints: Names = ALL, out: Out = None) -> Array:
        """The inverse inertia that the constraints feel, J M^-1 J^T.

        Arguments:
            q: configuration, (..., nq).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., rows, rows).
        """
        return self._robot._compute("delassus_matrix", (q,), out, settings=(constraints,))

    def delassus_inverse(self, q: ArrayLike, *, constraints: Names = ALL, out: Out = None) -> Array:
        """The inertia that the constraints feel, (J M^-1 J^T)^-1.

        Where rows are dependent there is no inverse; the result is then large along what they have
        in common, and finite.

        Arguments:
            q: configuration, (..., nq).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., rows, rows).
        """
        return self._robot._compute("delassus_inverse", (q,), out, settings=(constraints,))

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        constraints: Names = ALL,
        stabilization: Baumgarte = NO_STABILIZATION,
        external: External | None = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array]:
        """The accelerations that joint forces give, and the forces of the constraints.

        Where rows are dependent, the accelerations are unique, and of all forces those of least
        norm are returned.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            constraints: the names of the constraints that act; fixed when the kernel is compiled.
            stabilization: how errors decay, `kinetree.Baumgarte(rate=...)`; by default they are
                left as they are.
            external: the external loads, as in `Robot.inverse_dynamics`.
            out: three arrays to write into.

        Returns:
            Accelerations (..., nv); forces (..., rows), N or N m, each along the wrench of its
            row; and the norm of the acceleration that is left in the rows, (...).
        """
        a, forces, residual = self._robot._compute(
            "constrained_dynamics",
            (q, v, tau),
            out,
            external=external,
            settings=(constraints, stabilization),
        )
        return a, forces, residual

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        constraints: Names = ALL,
        stabilization: Baumgarte = NO_STABILIZATION,
        external: External | None = None,
        method: ForwardDerivativesMethod = "auto",
        out: Outs = None,
    ) -> ConstrainedDerivatives:
        """The derivatives of `forward_dynamics`: of accelerations and of constraint forces.

        Where rows are dependent, those of forces are the changes of least norm: how forces that
        cancel each other turn with q is left out. Accelerations do not depend on it.

        Arguments:
            q, v, tau, constraints, stabilization, external: as in `forward_dynamics`.
            method: "analytic" (the optimality conditions, differentiated; with the factors of the
                dynamics) or "graph" (the program of `forward_dynamics`, differentiated).
            out: six arrays to write into.

        Returns:
            dq, dv, dtau of the accelerations, each (..., nv, nv), and forces_dq, forces_dv,
            forces_dtau, each (..., rows, nv). By q they are along q (+) delta.
        """
        results = self._robot._compute(
            "constrained_dynamics_derivatives",
            (q, v, tau),
            out,
            method,
            external,
            (constraints, stabilization),
        )
        return ConstrainedDerivatives(*results)

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        constraints: Names = ALL,
        actuated: Sequence[str] = (),
        external: External | None = None,
        out: Outs = None,
    ) -> ConstrainedInverseDerivatives:
        """The derivatives of `inverse_dynamics`: of joint forces and of constraint forces.

        Arguments:
            q, v, a, constraints, actuated, external: as in `inverse_dynamics`.
            out: six arrays to write into.

        Returns:
            dq, dv, da of the joint forces, each (..., nv, nv), and forces_dq, forces_dv,
            forces_da, each (..., rows, nv). By q they are along q (+) delta.
        """
        motors = joint_names("actuated", actuated) or self.actuated
        results = self._robot._compute(
            "constrained_inverse_dynamics_derivatives",
            (q, v, a),
            out,
            external=external,
            settings=(constraints, motors),
        )
        return ConstrainedInverseDerivatives(*results)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        constraints: Names = ALL,
        actuated: Sequence[str] = (),
        external: External | None = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array]:
        """The least joint forces that give an acceleration, with the forces of the constraints.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv); the acceleration
                should respect the constraints.
            constraints: the names of the constraints.
            actuated: the joints with motors; by default all joints of one degree of freedom.
            external: the external loads, as in `Robot.inverse_dynamics`.
            out: three arrays to write into.

        Returns:
            Joint forces (..., nv), zero where there is no motor; forces of the rows (..., rows);
            and the norm of what neither motors nor constraints give, (...): not zero if the motion
            is impossible.
        """
        motors = joint_names("actuated", actuated) or self.actuated
        tau, forces, residual = self._robot._compute(
            "constrained_inverse_dynamics",
            (q, v, a),
            out,
            external=external,
            settings=(constraints, motors),
        )
        return tau, forces, residual

    @cached_property
    def actuated(self) -> tuple[str, ...]:
        """The joints that are taken to have motors: those of one degree of freedom."""
        m = self._robot.model
        bodies = [m.bodies[i] for i in m.coordinate_order]
        return tuple(b.joint_name for b in bodies if b.joint.nv == 1)

    def impact(
        self,
        q: ArrayLike,
        v: ArrayLike,
        restitution: ArrayLike = 0.0,
        *,
        constraints: Names = ALL,
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """The velocity after an impact at the constraints, and its impulses.

        Arguments:
            q, v: configuration (..., nq) and the velocity before, (..., nv).
            restitution: from 0, if the rows come to rest, to 1, if they bounce back as fast, (...).
            constraints: the names of the constraints.
            out: two arrays to write into.

        Returns:
            The velocity after, (..., nv); the impulses of the rows, (..., rows), N s or N m s.
        """
        _check_ratio("restitution", restitution)
        after, impulses = self._robot._compute(
            "impact", (q, v, restitution), out, settings=(constraints,)
        )
        return after, impulses

    def projection(self, q: ArrayLike, *, constraints: Names = ALL, out: Out = None) -> Array:
        """N = 1 - M^-1 J^T (J M^-1 J^T)^-1 J, which takes a velocity to the nearest allowed one.

        Distances are measured by the mass matrix. N^T takes joint forces to what they do along the
        allowed velocities.

        Arguments:
            q: configuration, (..., nq).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._robot._compute("null_space_projection", (q,), out, settings=(constraints,))

    def inertia(self, q: ArrayLike, *, constraints: Names = ALL, out: Out = None) -> Array:
        """The mass matrix along the velocities that the constraints allow, N^T M N.

        Arguments:
            q: configuration, (..., nq).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._robot._compute("constrained_inertia", (q,), out, settings=(constraints,))

    def project_velocity(
        self, q: ArrayLike, v: ArrayLike, *, constraints: Names = ALL, out: Out = None
    ) -> Array:
        """The velocity nearest to v that the constraints allow, measured by the mass matrix.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            constraints: the names of the constraints.
            out: an array to write into.

        Returns:
            (..., nv).
        """
        return self._robot._compute("projected_velocity", (q, v), out, settings=(constraints,))

    @through_numpy
    def assemble(
        self, q: ArrayLike, *, held: Names = (), tolerance: float = 1e-12, iterations: int = 100
    ) -> Array:
        """The configuration nearby at which all constraints are satisfied.

        Arguments:
            q: configuration to start from, (..., nq).
            held: the names of joints that do not move.
            tolerance: the largest error of a row that is left, m or rad.
            iterations: at most so many steps.

        Returns:
            (..., nq), within the limits of the joints.

        Raises:
            AssemblyError: where a loop cannot be closed; it names the constraint.
        """
        return close(self._robot, q, held, tolerance, iterations)


def _check_ratio(name: str, given: ArrayLike) -> None:
    """Refuse numbers outside [0, 1]; arrays of other libraries, which may have none yet, pass."""
    if not isinstance(given, (int, float, list, tuple, np.ndarray)):
        return
    try:
        found = np.asarray(given, float)
    except (ValueError, TypeError):  # refused with the other arguments
        return
    outside = found[(found < 0.0) | (found > 1.0)]
    if outside.size:
        raise KinetreeError(f"{name}={outside.flat[0]:g}: a number from 0 to 1 is expected")
