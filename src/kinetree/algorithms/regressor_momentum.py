"""Momentum and energy as matrices times the inertial parameters: no acceleration is needed.

Source: M. Gautier & W. Khalil, On the identification of the inertial parameters of robots (1988):
the increase of the energy is the work of the joint forces. For the momentum p = M v, after C. G.
Atkeson and others (1986): p' = tau + C^T v - g, integrated over time.

    symbol     code    meaning
    V_i        V[i]    velocity of body i
    G_i        G[i]    acceleration against gravity of body i, the robot at rest
    S, phi             as in `regressor`

Cost: O(N d) for the momentum, O(N) for the energy.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.regressor import (
    Row,
    body_motions,
    carried,
    numbered,
    powers,
    rows_of,
)
from kinetree.algorithms.rnea import forward_pass
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Twist, Vector3


def momentum_regressor(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Row], list[Row]]:
    """Two regressors: of p = M v, and of p' - tau = C^T v - g, in which no acceleration occurs."""
    still = [0] * model.nv
    X, Phi, V, _ = body_motions(model, q, qd, still)
    rest = Twist(-model.gravity, Vector3.zero())
    _, G = forward_pass(model, X, Phi, q, still, still, rest)
    axes = [numbered(model, i, axes_of_joint) for i, axes_of_joint in enumerate(Phi)]
    rates = []
    for i, body in enumerate(model.bodies):
        at = model.v_slices[i]
        bending = body.joint.subspace_rate(q[model.q_slices[i]], qd[at])
        turning = [V[i].cross(axis) + rate for axis, rate in zip(Phi[i], bending, strict=True)]
        rates.append(numbered(model, i, turning))
    seen, changing = carried(model, X, axes), carried(model, X, rates)
    p = rows_of(model.nv, seen, lambda i, S: powers(S, V[i]))
    moved = rows_of(model.nv, changing, lambda i, S: powers(S, V[i]))
    weight = rows_of(model.nv, seen, lambda i, S: powers(S, G[i]))
    pairs = zip(moved, weight, strict=True)
    return p, [[x - y for x, y in zip(a, b, strict=True)] for a, b in pairs]


def energy_regressor(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """One row: the kinetic and potential energy of the bodies."""
    X, _, V, _ = body_motions(model, q, qd, [0] * model.nv)
    row: Row = []
    pulls: list[tuple[Vector3, Scalar]] = []  # gravity in each frame, and g . p of its origin
    for i, body in enumerate(model.bodies):
        g, depth = pulls[body.parent] if body.parent >= 0 else (model.gravity, 0)
        pulls.append((X[i].rotation.T @ g, depth + g.dot(X[i].translation)))
        kinetic = [x * 0.5 for x in powers(V[i], V[i])]
        potential = [-pulls[i][1], *(-pulls[i][0]), 0, 0, 0, 0, 0, 0]
        row += [t + u for t, u in zip(kinetic, potential, strict=True)]
    return row
