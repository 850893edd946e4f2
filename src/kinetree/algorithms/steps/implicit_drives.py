"""Euler's step, implicit in what the drives of joints do.

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

Smoothed dry friction and spring stops are part of D and K: friction with the damping of its secant
through rest, so that it slows a joint and never reverses it, and stands still without chatter.
In the step that leaves a stop, the linear law may pull.

Order 1; stable for any damping (and any stiffness). Cost: O(N d^2), as `forward_crba`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.manifold import advance
from kinetree.algorithms.steps.acceleration import plus
from kinetree.algorithms.steps.limits import FREE, Enforcement, clamped, saturated
from kinetree.algorithms.steps.passive import limited, passive_forces, passive_slopes
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
    limits: Enforcement = FREE,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, implicit in the damping."""
    D, _ = _slopes(model, q, v, limits)
    return _step(model, q, v, tau, dt, external, limits, D, [0] * model.nv)


def implicit_springs(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    limits: Enforcement = FREE,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, implicit in the damping and the springs."""
    D, K = _slopes(model, q, v, limits)
    return _step(model, q, v, tau, dt, external, limits, D, K)


def _step(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads,
    limits: Enforcement,
    D: Sequence[Scalar],
    K: Sequence[Scalar],
) -> tuple[list[Scalar], list[Scalar]]:
    """(M + h D + h^2 K) (v' - v) = h (f - h K v)."""
    given = plus(saturated(model, tau, limits), passive_forces(model, q, v, limits))
    still: list[Scalar] = [0] * model.nv  # the rates of velocities that are constant there
    for body, at in zip(model.bodies, model.v_slices, strict=True):
        for k, x in enumerate(body.joint.turning(v[at], v[at]), at.start):
            still[k] = -x
    bias = balafoutis_patel(limited(model, limits), q, v, still, external)
    H = [list(row) for row in crba(model, q)]
    for k in range(model.nv):
        H[k][k] = H[k][k] + (D[k] + K[k] * dt) * dt
    f = [t - b - s * w * dt for t, b, s, w in zip(given, bias, K, v, strict=True)]
    a = factor(H, elimination_order(model)).solve(f)
    return clamped(model, *advance(model, q, plus(v, a, dt), dt), limits)


def _slopes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], limits: Enforcement
) -> tuple[list[Scalar], list[Scalar]]:
    """D and K: of the drives, of friction and of stops."""
    D, K = passive_slopes(model, q, v, limits)
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            D[k], K[k] = D[k] + drive.damping, K[k] + drive.stiffness
    return D, K
