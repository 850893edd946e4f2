"""Euler's step, implicit in the forces of joint drives.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Numerical integration": Euler's method with implicit damping.

    symbol    code        meaning
    M         H           the mass matrix
    D, K      D, K        dampings and stiffnesses of the joints, diagonal
    f         f           tau less all forces at zero acceleration, damping and springs included

    (M + h D) (v' - v) = h f                            implicit_damping: MuJoCo's Euler
    (M + h D + h^2 K) (v' - v) = h (f - h K v)          implicit_springs
    q' = q (+) h v'

The linear velocity of a floating joint is in axes that turn with the body. As in MuJoCo, its
difference v' - v is taken in the parent's axes, in which it is constant over the step: f is at a
zero rate there, and v' is then given in the axes at q'.

Smoothed dry friction and spring stops are part of D and K: friction as the damping of its secant
through rest, which slows a joint, never reverses it, and holds it at rest without chatter. In the
step that leaves a stop, the linear law may pull.

Where a robot's file switches `eulerdamp` off, implicit_damping leaves the drives out of D, as in
MuJoCo.

Constraints add J^T forces on the right, with M + h D + h^2 K instead of M everywhere. Contacts are
solved with M alone, as in MuJoCo: M u, with their accelerations u, replaces f.

Order 1; stable for any damping (and any stiffness). Cost: O(N d^2), as `forward_crba`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.constraints import (
    Stabilization,
    acceleration_terms,
    constraint_rows,
)
from kinetree.algorithms.constraints.forward import wanted_accelerations
from kinetree.algorithms.constraints.proximal import factored
from kinetree.algorithms.contact import contact_accelerations
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import Factor, elimination_order, factor
from kinetree.algorithms.manifold import advance, resting_rates
from kinetree.algorithms.steps.acceleration import plus
from kinetree.algorithms.steps.limits import Enforcement, saturated
from kinetree.algorithms.steps.passive import limited, passive_forces, passive_slopes
from kinetree.algorithms.steps.rules import DEFAULT_RULES, Rules
from kinetree.algorithms.steps.settle import settled
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar


def implicit_damping(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, implicit in the damping."""
    D = damping_slopes(model, q, v, rules.enforcement)
    return _step(model, q, v, tau, dt, external, rules, D, [0] * model.nv)


def implicit_springs(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, implicit in the damping and the springs."""
    D, K = drive_slopes(model, q, v, rules.enforcement)
    return _step(model, q, v, tau, dt, external, rules, D, K)


def _step(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads,
    rules: Rules,
    D: Sequence[Scalar],
    K: Sequence[Scalar],
) -> tuple[list[Scalar], list[Scalar]]:
    """(M + h D + h^2 K) (v' - v) = h (f - h K v)."""
    limits = rules.enforcement
    applied = plus(saturated(model, tau, limits), passive_forces(model, q, v, limits))
    moved, still = limited(model, limits), resting_rates(model, v)
    H = [list(row) for row in crba(model, q)]
    implicit = [(d + s * dt) * dt for d, s in zip(D, K, strict=True)]
    for k in range(model.nv):
        H[k][k] = H[k][k] + implicit[k]
    H_factor = factor(H, elimination_order(model))
    pulled = [s * w * dt for s, w in zip(K, v, strict=True)]
    solver = rules.solver(model)
    if solver is not None:
        u = contact_accelerations(moved, q, v, applied, external, solver, dt).u
        lost = [h * x + s for h, x, s in zip(implicit, u, pulled, strict=True)]
        a = plus(u, H_factor.solve(lost), -1)  # H^-1 M u = u - H^-1 (h D + h^2 K) u
        return settled(model, *advance(model, q, plus(v, a, dt), dt), rules)
    bias = balafoutis_patel(moved, q, v, still, external)
    f = [t - b - s for t, b, s in zip(applied, bias, pulled, strict=True)]
    if model.constraints:
        a = _constrained(model, q, v, H_factor, f, still, rules.stabilization)
    else:
        a = H_factor.solve(f)
    return settled(model, *advance(model, q, plus(v, a, dt), dt), rules)


def _constrained(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    H: Factor,
    f: Sequence[Scalar],
    still: Sequence[Scalar],
    stabilization: Stabilization,
) -> list[Scalar]:
    """a with H a = f + J^T forces, where J (a + still) + J' v is what the constraints demand."""
    rows = constraint_rows(model, q, v, along_frames=True)
    wanted = wanted_accelerations(rows, v, acceleration_terms(stabilization))
    factors = factored(H, rows.J)
    y = H.half(dict(enumerate(f)))
    have = plus(factors.accelerations_along(y), rows.velocity(still))
    forces, _ = factors.forces(plus(wanted, have, -1))
    return factors.solve(y, forces)


def damping_slopes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], enforcement: Enforcement
) -> list[Scalar]:
    """D of `implicit_damping`: without the drives where a file switches `eulerdamp` off."""
    slopes = drive_slopes if model.contact_options.eulerdamp else passive_slopes
    return slopes(model, q, v, enforcement)[0]


def drive_slopes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], enforcement: Enforcement
) -> tuple[list[Scalar], list[Scalar]]:
    """D and K: of the drives, of friction and of stops."""
    D, K = passive_slopes(model, q, v, enforcement)
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            D[k], K[k] = D[k] + drive.damping, K[k] + drive.stiffness
    return D, K
