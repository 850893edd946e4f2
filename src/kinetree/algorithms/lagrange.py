"""The Lagrangian form: the mass matrix and the Coriolis term from Jacobians alone.

Source: Liu & Jain, section 4 (eq. 27 to 48) and eq. 59: with J_k the Jacobian of link k in the
world, and M_k its inertia turned into the world's axes,

    M = sum_k J_k^T M_k J_k        C = sum_k (J_k^T M_k J_k' + J_k^T N_k J_k)

    paper       code       meaning
    x, R        x R        origin and orientation of link k, functions of q
    m c         h          first moment of link k, in the world's axes
    M_k         m h I      m v + w x h, and I w + h x v, of a velocity (v, w)
    N_k                    w x (omega_k x h), and omega_k x I w: what turning with omega_k adds
    J_v         v[j]       dx/dq_j (28)
    [j_j]       w[j]       (dR/dq_j) R^T, as a vector (29)
    J'          dJ         sum_k dJ/dq_k q_k', with the second derivatives of x and R (45)

J and J' come from differentiating poses with dual numbers, once and twice, and nothing else: a way
to M and C that shares no step with the recursions. For quaternions the derivatives are along the
velocities of the joint; the same derivation applies.

differs: the paper has J_k of the centre of mass, for which h is zero, M_k = blockdiag(m, I_c) and
N_k = [omega~_k] M_k. Here it is the link's origin, which a link without mass has, too.

Cost: O(N^2 d). For teaching and for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.blocks import rotor_coriolis_matrix, rotor_matrix
from kinetree.algorithms.kinematics import poses
from kinetree.algorithms.manifold import coordinate_rates
from kinetree.algorithms.rate import rate
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Inertia, Rotation, Transform, Twist, Vector3


@dataclass(frozen=True)
class Column:
    """A column of J_k: the link's origin and orientation along one velocity."""

    v: Vector3
    w: Vector3


def link_jacobians(model: Model, q: Sequence[Scalar]) -> list[list[list[Scalar]]]:
    """J_k of every link, as rows of columns: [link][velocity] = (J_v, J_omega)."""
    by_velocity = []
    for j in range(model.nv):
        unit = [1 if k == j else 0 for k in range(model.nv)]
        rates = coordinate_rates(model, q, unit)
        moving = [Dual(x, dx) for x, dx in zip(q, rates, strict=True)]
        columns = []
        for X in poses(model, moving):
            x, R = X.translation, X.rotation
            columns.append([*(lift(e).rate for e in x), *_angular(R)])  # (28), (29)
        by_velocity.append(columns)
    return [[columns[k] for columns in by_velocity] for k in range(len(model.bodies))]


def lagrange_mass(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """M(q) (48, 59), with the rotors of drives."""
    J = _columns(link_jacobians(model, q))
    M = rotor_matrix(model)
    for k, inertia in enumerate(_inertias(model, q)):
        for j, b in enumerate(J[k]):
            p = inertia @ Twist(b.v, b.w)
            for i, a in enumerate(J[k]):
                M[i][j] = M[i][j] + a.v.dot(p.linear) + a.w.dot(p.angular)
    return M


def lagrange_coriolis(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[list[Scalar]]:
    """The matrix of eq. 48 and 59 whose product with qd is C(q, qd)."""
    J = _columns(link_jacobians(model, q))
    dJ = _columns(rate(link_jacobians, model, q, qd))
    C = rotor_coriolis_matrix(model, qd)
    for k, inertia in enumerate(_inertias(model, q)):
        w = Vector3.zero()
        for column, speed in zip(J[k], qd, strict=True):
            w = w + column.w * speed  # (30)
        for j, (b, db) in enumerate(zip(J[k], dJ[k], strict=True)):
            f = inertia @ Twist(db.v, db.w)  # M J'
            pulled = f.linear + b.w.cross(w.cross(inertia.moment))  # and N J
            turned = f.angular + w.cross(inertia.rotational @ b.w)
            for i, a in enumerate(J[k]):
                C[i][j] = C[i][j] + a.v.dot(pulled) + a.w.dot(turned)
    return C


def lagrange_coriolis_forces(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Scalar]:
    """C(q, qd) (48)."""
    C = lagrange_coriolis(model, q, qd)
    return [sum((c * v for c, v in zip(row, qd, strict=True)), start=0) for row in C]


def _angular(R: Rotation) -> list[Scalar]:
    """The vector of R' R^T, which is skew-symmetric (29)."""
    still = [Vector3(*(lift(e).value for e in row)) for row in R.rows]
    rates = [Vector3(*(lift(e).rate for e in row)) for row in R.rows]
    return [rates[2].dot(still[1]), rates[0].dot(still[2]), rates[1].dot(still[0])]


def _columns(J: list[list[list[Scalar]]]) -> list[list[Column]]:
    return [[Column(Vector3(*c[:3]), Vector3(*c[3:])) for c in link] for link in J]


def _inertias(model: Model, q: Sequence[Scalar]) -> list[Inertia]:
    """The inertia of every link about its origin, in the world's axes: R I_0 R^T (21)."""
    pairs = zip(model.bodies, poses(model, q), strict=True)
    return [Transform(X.rotation, Vector3.zero()).to_parent(body.inertia) for body, X in pairs]
