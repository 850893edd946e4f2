"""The rows of a robot's constraints: errors, Jacobian, and the velocity terms of accelerations.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.1 and 8.2: a loop joint
between frames of two bodies transmits the forces T, so that T^T v_rel = 0.

    book        code      meaning
    T           T         the wrenches on the frame, one a row, in the frame
    v_s - v_p   V         the velocity of the frame relative to its base, in the frame
    K           J         a row each: T^T times the axes of the joints between the two
    k           -bias     K qdd = k: bias = J' qd = T^T A + T'^T V, A the rate of V at qdd = 0
    delta       error     the gap of the loop

Joints that carry both frames do not move them relative to each other: rows have no entries there,
and motions are computed relative to the last body that carries both.

Three rows along the axes e of the base have T = R^T e. Three along the axes of the frame, T = e,
are equivalent and sparser; R turns their forces into those along the base's axes. Instead of T' V
they have (e x omega) V.

A polynomial coupling sum_j f_j(q_j) = 0 has the row f_j' and the bias sum_j f_j'' qd_j^2.

Cost: O(d) for each row, d the joints between the two frames.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.chains import Chains
from kinetree.algorithms.constraints.sparse import Rows
from kinetree.algorithms.ltl import Row, is_zero
from kinetree.model import Model
from kinetree.model.constraints import Constraint, Coupling, FrameConstraint
from kinetree.model.constraints.coupling import derivative, polynomial
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3


def constraint_rows(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar] | None = None,
    names: Sequence[str] = (),
    along_frames: bool = False,
) -> Rows:
    """The rows of constraints; of all of them if none is named.

    along_frames: whether rows along the axes of a base may be replaced by rows along those of the
        held frame, which cost less; `Rows.turned` gives the forces along the former.
    """
    rows = Rows()
    chains = Chains(model, q, qd)
    for constraint in chosen(model, names):
        if isinstance(constraint, Coupling):
            _add_coupled(chains, constraint, rows)
        elif isinstance(constraint, FrameConstraint):
            _add_between_frames(chains, constraint, along_frames, rows)
    return rows


def chosen(model: Model, names: Sequence[str]) -> list[Constraint]:
    """The constraints that are named, in the model's order; all of them if none is."""
    return [c for c in model.constraints if not names or c.name in names]


def constraint_errors(model: Model, q: Sequence[Scalar], names: Sequence[str] = ()) -> list[Scalar]:
    """The error of each row, m or rad."""
    return constraint_rows(model, q, names=names).error


def constraint_jacobian(
    model: Model, q: Sequence[Scalar], names: Sequence[str] = ()
) -> list[list[Scalar]]:
    """J with its zeros."""
    rows = constraint_rows(model, q, names=names).J
    return [[row.get(k, 0) for k in range(model.nv)] for row in rows]


def constraint_bias(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], names: Sequence[str] = ()
) -> list[Scalar]:
    """J' qd."""
    return constraint_rows(model, q, qd, names).bias


def _add_coupled(chains: Chains, constraint: Coupling, rows: Rows) -> None:
    model, q, qd = chains.model, chains.q, chains.qd
    number = {body.joint_name: i for i, body in enumerate(model.bodies)}
    J: Row = {}
    error: Scalar = 0
    bias: Scalar = 0
    for joint, f in constraint.polynomials:
        i = number[joint]
        x, k = q[model.q_slices[i].start], model.v_slices[i].start
        first = derivative(f)
        J[k] = polynomial(first, x)
        error = error + polynomial(f, x)
        if qd is not None:
            bias = bias + polynomial(derivative(first), x) * (qd[k] * qd[k])
    rows.add(J, error, bias)


def _add_between_frames(
    chains: Chains, constraint: FrameConstraint, along_frames: bool, rows: Rows
) -> None:
    b = chains.place(constraint.frame, constraint.at_frame)
    a = chains.place(constraint.base, constraint.at_base)
    common = chains.common(a, b)
    to_b, to_a = chains.chain(b, common), chains.chain(a, common)
    X = to_a.pose.inverse() @ to_b.pose
    T, errors = constraint.wrenches(X), constraint.error(X)
    V, A = Twist.zero(), Twist.zero()
    T_rates = [Force.zero()] * len(T)
    if chains.qd is not None:
        V, A = chains.relative_motion(b, a, common, X)
        T_rates = constraint.wrench_rates(X, V)
    for k in constraint.turned_triples if along_frames else ():
        three = slice(k, k + 3)
        T[three] = constraint.wrenches(Transform.identity())[three]
        T_rates[three] = [
            Force(*(e.cross(V.angular) for e in (t.linear, t.angular))) for t in T[three]
        ]
        errors[three] = X.rotation.T @ Vector3(*errors[three])
        rows.turns[len(rows.J) + k] = X.rotation
    for T_r, rate, error in zip(T, T_rates, errors, strict=True):
        J: Row = {}
        for k, column in to_b.columns:
            J[k] = J.get(k, 0) + T_r.dot(column)
        if to_a.columns:
            at_base = X.to_parent(T_r)
            for k, column in to_a.columns:
                J[k] = J.get(k, 0) - at_base.dot(column)
        bias = T_r.dot(A) + rate.dot(V)
        rows.add({k: x for k, x in J.items() if not is_zero(x)}, error, bias)
