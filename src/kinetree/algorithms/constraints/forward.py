"""Forward dynamics of a constrained robot: accelerations and the forces of the constraints.

Source: J. Carpentier, R. Budhiraja & N. Mansard (2021), as in `proximal`; the terms
of stabilisation are J. Baumgarte's, Stabilization of constraints and integrals of motion in
dynamical systems, Computer Methods in Applied Mechanics and Engineering 1 (1972).

    M qdd + bias = tau + J^T forces
    J qdd + J' qd = - 2 damping rate J qd - rate^2 error

    paper       code        meaning
    v_free      free        M^-1 (tau - bias), here as L^T y = tau - bias
    lambda      forces      the forces of the rows, positive along the wrenches of a constraint
    gamma       rows.bias   J' qd
    alpha, beta             2 damping rate and rate^2

Cost: O(N d^2 + m N + m^2 d + m^3) for m rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.constraints.proximal import Proximal, proximal
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.constraints.sparse import Rows, norm
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.model.softness import Baumgarte
from kinetree.scalar import Scalar

NO_STABILIZATION = Baumgarte()


def constrained_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
    names: Sequence[str] = (),
    stabilization: Baumgarte = NO_STABILIZATION,
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """qdd, the forces of the rows, and the norm of the rows' residual acceleration."""
    rows = constraint_rows(model, q, qd, names, along_frames=True)
    return _dynamics(model, q, qd, tau, external, rows, stabilization)


def switched_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    active: Sequence[Scalar],
    external: Loads = (),
    names: Sequence[str] = (),
    stabilization: Baumgarte = NO_STABILIZATION,
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """The same, with a 1 in `active` for each constraint that acts, and a 0 for the others.

    The rows of a constraint that does not act are zero, and so are their forces.
    """
    on = rows_switched_on(model, active, names)
    rows = constraint_rows(model, q, qd, names, along_frames=True).weighted(on)
    idle = [1 - s for s in on]
    return _dynamics(model, q, qd, tau, external, rows, stabilization, idle)


def rows_switched_on(
    model: Model, active: Sequence[Scalar], names: Sequence[str] = ()
) -> list[Scalar]:
    """1 for each row of a constraint that acts, 0 for the others."""
    return [
        s
        for s, c in zip(active, model.constraints, strict=True)
        if not names or c.name in names
        for _ in range(c.row_count)
    ]


def _dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads,
    rows: Rows,
    stabilization: Baumgarte,
    idle: Sequence[Scalar] = (),
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    bias = balafoutis_patel(model, q, qd, [0] * model.nv, external)
    factors = proximal(model, q, rows.J, idle)
    qdd, forces, left = solution(factors, rows, qd, tau, bias, stabilization)
    return qdd, rows.turned(forces), norm(left)


def solution(
    factors: Proximal,
    rows: Rows,
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    bias: Sequence[Scalar],
    stabilization: Baumgarte,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """qdd, the forces of the rows, and the residual acceleration of each row."""
    y = factors.M.half({k: t - b for k, (t, b) in enumerate(zip(tau, bias, strict=True))})
    wanted = wanted_accelerations(rows, qd, stabilization)
    free = factors.accelerations_along(y)
    forces, left = factors.forces([w - f for w, f in zip(wanted, free, strict=True)])
    return factors.solve(y, forces), forces, left


def constrained_accelerations(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
) -> list[Scalar]:
    """qdd under all constraints of the robot."""
    return constrained_dynamics(model, q, qd, tau, external)[0]


def wanted_accelerations(
    rows: Rows, qd: Sequence[Scalar], stabilization: Baumgarte
) -> list[Scalar]:
    """The J qdd that the constraints demand."""
    if not stabilization.rate:
        return [-b for b in rows.bias]
    alpha, beta = stabilization.gains
    return [
        -b - alpha * speed - beta * error
        for b, speed, error in zip(rows.bias, rows.velocity(qd), rows.error, strict=True)
    ]
