"""The derivatives of accelerations with contact, by the configuration, velocity and joint forces.

Source: the implicit function theorem at the solution of (9) in `newton`, as in J. Carpentier & N.
Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS (2018). There

    g(q, v, tau, u) = ID(q, v, u + still) - tau - sum of J^T f(J u - aref) = 0                 (23)

stays zero, so, with X and Y the derivatives of g by q and v at constant u,

    du/dq = - H^-1 X,    du/dv = - H^-1 Y,    du/dtau = H^-1,    H = M + J^T s'' J             (24)

    symbol    code          meaning
    u, still  u, still      as in `forward`
    ID        derivatives   of `inverse_derivatives`
    J^T f     touching rows of couples that touch, `crowd_slopes`; of limits and dry friction

Couples that do not touch cost a branch each.

Cost: O(N^2 d), and O(k^2) for each couple that touches with k velocities on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.contact.couple_slopes import Matrix
from kinetree.algorithms.contact.crowd_slopes import CrowdSlopes
from kinetree.algorithms.contact.forward import Solution, contact_accelerations
from kinetree.algorithms.contact.newton import NewtonStep
from kinetree.algorithms.contact.row_parts import JointRows
from kinetree.algorithms.contact.solver import (
    SOLVER,
    ContactSolver,
    contact_laws,
    joint_entries,
)
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.dense import dot
from kinetree.algorithms.factored_inverse import Inverse, inverted
from kinetree.algorithms.frames import in_one_frame
from kinetree.algorithms.inverse_derivatives import derivatives
from kinetree.algorithms.limited import limited_balls
from kinetree.algorithms.ltl import factor
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift


class Slope(NamedTuple):
    """The derivatives of u, and the parts they are made of.

    by_q, by_v: columns of du/dq and du/dv, a list for each direction.
    inverse: H^-1.
    still: columns of the derivative of qdd = u + still by v, at constant u.
    """

    solution: Solution
    by_q: Matrix
    by_v: Matrix
    inverse: Inverse
    still: Matrix


def contact_slope(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
    solver: ContactSolver = SOLVER,
    dt: Scalar | None = None,
) -> Slope:
    """The derivatives of u (24)."""
    dt = model.contact_options.timestep if dt is None else dt
    found = contact_accelerations(model, q, qd, tau, external, solver, dt)
    qdd = [u + s for u, s in zip(found.u, found.still, strict=True)]
    X, Y, M = derivatives(in_one_frame(model, q), q, qd, qdd, external)
    still = resting_slopes(model, qd)
    for i, row in enumerate(Y):  # (23)
        for k, column in enumerate(still):
            row[k] = row[k] + dot(M[i], column)
    laws = contact_laws(model, solver, dt)
    touching = CrowdSlopes(model, q, qd, found, laws).derivatives()
    rows = _joint_slopes(model, q, qd, found.u, solver, laws.shortest)
    for A, more, diagonal in zip((X, Y), touching, rows, strict=True):
        for i, (row, own) in enumerate(zip(A, more, strict=True)):
            row[:] = [a - b for a, b in zip(row, own, strict=True)]
            row[i] = row[i] - diagonal[i]
    if limited_balls(model):
        from kinetree.algorithms.contact.ball_slopes import ball_slopes  # few robots need it

        own_slopes = ball_slopes(model, q, qd, found.u, solver, laws)
        for A, entries in zip((X, Y), own_slopes, strict=True):
            for i, k, slope in entries:
                A[i][k] = A[i][k] - slope
    H = NewtonStep(found.layout).curvature(found.u, found.problem)
    inverse = inverted(factor(H, found.layout.order))
    columns = [list(column) for A in (X, Y) for column in zip(*A, strict=True)]
    solved = inverse.times_negative(columns)
    return Slope(found, solved[: model.nv], solved[model.nv :], inverse, still)


def resting_slopes(model: Model, v: Sequence[Scalar]) -> Matrix:
    """The columns of the derivative of `manifold.resting_rates`."""
    found: Matrix = [[0] * model.nv for _ in range(model.nv)]
    for body, at in zip(model.bodies, model.v_slices, strict=True):
        for j in range(at.start, at.stop):
            moving = [Dual(x, float(k == j)) for k, x in enumerate(v[at], at.start)]
            for k, x in enumerate(body.joint.turning(moving, moving), at.start):
                found[j][k] = found[j][k] - lift(x).rate
    return found


def _joint_slopes(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    u: Sequence[Scalar],
    solver: ContactSolver,
    shortest: Scalar,
) -> tuple[list[Scalar], list[Scalar]]:
    """The derivatives of the forces of limits and dry friction, each by its own q and by its v.

    Those of ball joints are left to `ball_slopes`.
    """
    weights = InverseWeights(model)
    still, moving = ([[Dual(x, rate) for x in values] for values in (q, qd)] for rate in (0.0, 1.0))
    found: list[list[Scalar]] = []
    for x, v in ((moving[0], still[1]), (still[0], moving[1])):
        total: list[Scalar] = [0] * model.nv
        for at, part, _ in joint_entries(model, x, v, weights, solver, shortest):
            if not isinstance(part, JointRows):
                continue
            answers = part.responses(part.residuals([u[k] for k in at]))
            for k, force in zip(at, part.forces([f for f, _ in answers]), strict=True):
                total[k] = total[k] + lift(force).rate
        found.append(total)
    return found[0], found[1]
