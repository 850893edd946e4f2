"""The derivatives of a step with contact, by the state and the joint forces.

Source: the steps are those of E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for
model-based control (2012); du is that of `contact.derivatives`, by the implicit function theorem,
as in J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS
(2018).

A step has two parts: the velocity w = v + h a at its end, and the state that a joint reaches with
it. `euler` has a = u + still. The steps of `implicit_drives` have

    (M + E) a = M u - h K v,    E = h (D + h K)                                                (1)

so that x = u - a, the deceleration by damping and springs, is (M + E)^-1 (E u + h K v), and

    (M + E) dx = E du + h K dv - d(M x)                                                        (2)

where d(M x) is the derivative by q of inverse dynamics without gravity, at rest, at constant x.

    symbol    code      meaning
    D, K      D, K      dampings and stiffnesses of the joints
    dw        w_q w_v   columns of the derivatives of w by q, by v and by tau
              w_tau
    A, B      A, B      derivatives of the state at the end, seen from that state

Joints of more than one coordinate are differentiated by dual numbers, each by its own state.

Cost: O(N^2 d), and that of `contact.derivatives`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.contact import ContactSolver
from kinetree.algorithms.contact.derivatives import Slope, contact_slope
from kinetree.algorithms.crba import crba
from kinetree.algorithms.factored_inverse import inverted
from kinetree.algorithms.ltl import elimination_order, factor, is_zero
from kinetree.algorithms.momentum_slopes import momentum_slopes
from kinetree.algorithms.steps.end_slopes import end_slopes, speeds_of
from kinetree.algorithms.steps.implicit_drives import damping_slopes, drive_slopes
from kinetree.algorithms.steps.limits import FREE
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar

Scalars = list[Scalar]
Matrix = list[Scalars]


def euler_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads,
    solver: ContactSolver,
) -> tuple[Matrix, Matrix]:
    """A and B of `euler`."""
    found = contact_slope(model, q, v, tau, external, solver, dt)
    a = [u + s for u, s in zip(found.solution.u, found.solution.still, strict=True)]
    a_v = _sums(found.by_v, found.still)
    speeds = speeds_of(v, a, (found.by_q, a_v, found.inverse.matrix()), dt)

    def end(
        joint: Joint, q: Sequence[Scalar], w: Sequence[Scalar], dt: Scalar
    ) -> tuple[Scalars, Scalars]:
        return joint.integrate(q, [x * dt for x in w]), list(w)

    return end_slopes(model, q, speeds, dt, end)


def implicit_damping_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads,
    solver: ContactSolver,
) -> tuple[Matrix, Matrix]:
    """A and B of `implicit_damping`."""
    D = damping_slopes(model, q, v, FREE)
    return _implicit(model, q, v, tau, dt, external, solver, D, [0] * model.nv)


def implicit_springs_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads,
    solver: ContactSolver,
) -> tuple[Matrix, Matrix]:
    """A and B of `implicit_springs`."""
    return _implicit(model, q, v, tau, dt, external, solver, *drive_slopes(model, q, v, FREE))


def _implicit(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads,
    solver: ContactSolver,
    D: Sequence[Scalar],
    K: Sequence[Scalar],
) -> tuple[Matrix, Matrix]:
    found = contact_slope(model, q, v, tau, external, solver, dt)
    slopes = (found.by_q, found.by_v, found.inverse.matrix())
    a = found.solution.u
    if not all(is_zero(x) for x in (*D, *K)):
        a, slopes = _slowed(model, q, v, dt, found, slopes, D, K)
    speeds = speeds_of(v, a, slopes, dt)
    return end_slopes(model, q, speeds, dt, lambda joint, q, w, dt: joint.advance(q, w, dt))


def _slowed(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    dt: Scalar,
    found: Slope,
    slopes: Sequence[Matrix],
    D: Sequence[Scalar],
    K: Sequence[Scalar],
) -> tuple[list[Scalar], tuple[Matrix, Matrix, Matrix]]:
    """a and the columns of its derivatives (1, 2)."""
    u = found.solution.u
    hK = [k * dt for k in K]
    E = [(d + k) * dt for d, k in zip(D, hK, strict=True)]
    M = crba(model, q)
    H = [[m + E[i] if i == j else m for j, m in enumerate(row)] for i, row in enumerate(M)]
    inverse = inverted(factor(H, elimination_order(model)))
    pushed = [e * a + k * s for e, a, k, s in zip(E, u, hK, v, strict=True)]
    [minus_x] = inverse.times_negative([pushed])
    turned = momentum_slopes(model, q, minus_x)
    columns = [[e * a for e, a in zip(E, column, strict=True)] for A in slopes for column in A]
    for k in range(model.nv):
        columns[k] = [a + b for a, b in zip(columns[k], turned[k], strict=True)]
        columns[model.nv + k][k] = columns[model.nv + k][k] + hK[k]
    slowed = inverse.times_negative(columns)
    n = model.nv
    by_q, by_v, by_tau = (_sums(A, slowed[i * n : (i + 1) * n]) for i, A in enumerate(slopes))
    return [a + b for a, b in zip(u, minus_x, strict=True)], (by_q, by_v, by_tau)


def _sums(A: Matrix, B: Matrix) -> Matrix:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]
