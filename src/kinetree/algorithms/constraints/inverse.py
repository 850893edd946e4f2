"""Inverse dynamics of a constrained robot: the least joint forces, with the constraints' forces.

Source: M. Mistry, J. Buchli & S. Schaal, Inverse dynamics control of floating base systems using
orthogonal decomposition, IEEE International Conference on Robotics and Automation (2010), section
III, with the sum of squared joint forces as the cost.

    paper       code        meaning
    S           actuated    the velocities along which joints have motors
    f           needed      M qdd + bias, what joints and constraints must give together
    tau         tau         joint forces; zero where there is no motor
    lambda      forces      of the rows

Of all forces that give the motion, those with the least sum of squares are wanted:

    min |f_a - J_a^T forces|^2   subject to   f_u = J_u^T forces

with a the actuated velocities and u the others. The equation's residual can be added to the cost,
which is then |f - J^T x|^2 and as well conditioned as the rows are. With multipliers nu, and
proximal terms as in `proximal`, so that dependent rows do no harm, each iteration solves

    (J J^T + mu) x_{k+1} = J f + mu x_k + J_u nu,    J_u^T x_{k+1} = f_u

by elimination of x: S nu = f_u - J_u^T H^-1 (J f + mu x_k), H = J J^T + mu, S = J_u^T H^-1 J_u.

Cost: O(m^2 N + m^3) beyond inverse dynamics and the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.constraints.proximal import ITERATIONS, damped_factor
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.constraints.sparse import norm, times, weighted_products
from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import Row
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar

TINY = 1e-6
"""The size assumed for a matrix that is zero, if every joint has a motor."""


def constrained_inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
    names: Sequence[str] = (),
    actuated: Collection[str] = (),
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """tau, the forces of the rows, and the norm of what neither motors nor rows can give.

    actuated: the joints with motors.
    """
    needed = balafoutis_patel(model, q, qd, qdd, external)
    J = constraint_rows(model, q, names=names).J
    motors = [
        k
        for i in model.coordinate_order
        if model.bodies[i].joint_name in actuated
        for k in range(model.v_slices[i].start, model.v_slices[i].stop)
    ]
    passive = [k for k in range(model.nv) if k not in motors]
    forces = _least_forces(J, needed, passive)
    left = list(needed)
    for row, force in zip(J, forces, strict=True):
        for k, entry in row.items():
            left[k] = left[k] - entry * force
    tau = [left[k] if k in motors else 0 for k in range(model.nv)]
    return tau, forces, norm([left[k] for k in passive])


def _least_forces(
    J: Sequence[Row], needed: Sequence[Scalar], passive: Sequence[int]
) -> list[Scalar]:
    """The forces x of the rows."""
    rows = range(len(J))
    H, mu = damped_factor(weighted_products(J, [1] * len(needed)), TINY)
    columns = [[row.get(k, 0) for row in J] for k in passive]  # of J_u
    solved = [H.solve(column) for column in columns]
    S, nu_damping = damped_factor([[dot(a, b) for b in solved] for a in columns], TINY)
    wanted = [times(row, needed) for row in J]
    x: list[Scalar] = [0] * len(J)
    for _ in range(ITERATIONS + 1):
        x = H.solve([w + mu * old for w, old in zip(wanted, x, strict=True)])
        missing = [needed[k] - dot(c, x) for k, c in zip(passive, columns, strict=True)]
        nu = S.solve(missing)
        for _ in range(ITERATIONS):
            nu = S.solve([m + nu_damping * old for m, old in zip(missing, nu, strict=True)])
        x = [x[r] + sum((c[r] * n for c, n in zip(solved, nu, strict=True)), start=0) for r in rows]
    return x
