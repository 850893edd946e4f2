"""The derivatives of constrained dynamics, by the configuration, the velocity and joint forces.

Source: J. Carpentier, R. Budhiraja & N. Mansard, Proximal and sparse resolution of constrained
dynamic equations, Robotics: Science and Systems (2021), section V; J. Carpentier & N. Mansard,
Analytical derivatives of rigid body dynamics algorithms, RSS (2018). Along the solutions of

    ID(q, qd, qdd) - J^T forces = tau,    J qdd + J' qd = 0

both equations stay true, so, with X and Y the derivatives of both left sides at constant qdd and
forces,

    M dqdd - J^T dforces = - X,    J dqdd = - Y

    paper         code      meaning
    M             H         the mass matrix
    X             dq dv     as in `inverse_derivatives`, less the derivative of J^T forces
    Y             change    as in `row_derivatives`

which `response` solves, column by column. If - M^-1 x is known, for columns of a free base, it is
added to the solution for y - J M^-1 x.

differs: if rows are dependent, forces are not unique, and dforces is the change of least norm. It
omits the rotation of forces that cancel each other. Accelerations do not depend on that.

Cost: O(N^2 (d + m)) for m rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.constraints.forward import (
    NO_STABILIZATION,
    rows_switched_on,
    solution,
)
from kinetree.algorithms.constraints.proximal import factored
from kinetree.algorithms.constraints.response import response
from kinetree.algorithms.constraints.row_derivatives import row_derivatives
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.constraints.sparse import weighted_rows
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.forward_derivatives import (
    base_columns,
    forward_derivatives,
    forward_derivatives_in_own_frames,
)
from kinetree.algorithms.frames import Frames, framed, in_one_frame, in_own_frames
from kinetree.algorithms.inverse_derivatives import Matrix, derivatives
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.model.softness import Baumgarte
from kinetree.scalar import Scalar


def solved(
    parts: Frames,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
    names: Sequence[str] = (),
    stabilization: Baumgarte = NO_STABILIZATION,
    on: Sequence[Scalar] = (),
) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]:
    """The derivatives of qdd by q, qd and tau, then those of the forces.

    on: 1 for each row that acts, 0 for the others; all act if empty.
    """
    model, n = parts.model, parts.model.nv
    rows = constraint_rows(model, q, qd, names)
    rows = rows.weighted(on) if on else rows
    H = factor(mass_matrix(parts), elimination_order(model))
    factors = factored(H, rows.J, [1 - s for s in on])
    bias = balafoutis_patel(model, q, qd, [0] * n, external)
    qdd, forces, _ = solution(factors, rows, qd, tau, bias, stabilization)
    dq, dv, _ = derivatives(parts, q, qd, qdd, external)
    change = row_derivatives(parts, q, qd, qdd, forces, names, stabilization)
    slopes = [weighted_rows(x, on) if on else x for x in (change.by_q, change.by_v)]
    maps, turned = response(factors), change.force_by_q
    X, Y, known = [], [], []
    free = base_columns(parts, qd, external)
    for k in range(n):
        for name, own, of_rows in (("q", dq, slopes[0]), ("qd", dv, slopes[1])):
            x = [-row[k] for row in turned] if name == "q" else [0] * n
            y = [row.get(k, 0) for row in of_rows]
            column = free.get((name, k))
            if column is None:
                x = [part + row[k] for part, row in zip(x, own, strict=True)]
            else:
                y = [part + speed for part, speed in zip(y, rows.velocity(column), strict=True)]
            X.append(x)
            Y.append(y)
            known.append(column or [0] * n)
    moved = [
        ([x + c for x, c in zip(a, column, strict=True)], f)
        for (a, f), column in zip(maps.columns(X, Y), known, strict=True)
    ]
    by_q, by_v = moved[::2], moved[1::2]
    a_q, a_v, f_q, f_v = (
        [list(row) for row in zip(*(column[part] for column in by), strict=True)]
        for part in (0, 1)
        for by in (by_q, by_v)
    )
    a_tau, f_tau = maps.by_tau()
    return a_q, a_v, a_tau, f_q, f_v, f_tau


def switched(
    parts: Frames,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    active: Sequence[Scalar],
    external: Loads = (),
    names: Sequence[str] = (),
    stabilization: Baumgarte = NO_STABILIZATION,
) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]:
    """The same for constraints of which those act that have a 1 in `active`, not a 0."""
    on = rows_switched_on(parts.model, active, names)
    return solved(parts, q, qd, tau, external, names, stabilization, on)


switched_derivatives = framed(switched, in_one_frame)
"""With constraints that are switched on and off, in one common frame."""
switched_derivatives_in_own_frames = framed(switched, in_own_frames)
"""The same in the bodies' frames."""
constrained_derivatives = framed(solved, in_one_frame)
"""On a model, in one common frame."""
constrained_derivatives_in_own_frames = framed(solved, in_own_frames)
"""On a model, in the bodies' frames."""


def _acceleration_derivatives(
    free: Callable[..., Any], constrained: Callable[..., Any]
) -> Callable[..., tuple[Matrix, Matrix, Matrix]]:
    """The derivatives of qdd alone, under the constraints that a robot has."""

    def run(
        model: Model,
        q: Sequence[Scalar],
        qd: Sequence[Scalar],
        tau: Sequence[Scalar],
        external: Loads = (),
    ) -> tuple[Matrix, Matrix, Matrix]:
        derive = constrained if model.constraints else free
        by_q, by_v, by_tau, *_ = derive(model, q, qd, tau, external)
        return by_q, by_v, by_tau

    run.__name__ = constrained.__name__
    return run


acceleration_derivatives = _acceleration_derivatives(forward_derivatives, constrained_derivatives)
"""Of any robot: under its constraints if it has some; in one common frame."""
acceleration_derivatives_in_own_frames = _acceleration_derivatives(
    forward_derivatives_in_own_frames, constrained_derivatives_in_own_frames
)
"""The same in the bodies' frames."""
