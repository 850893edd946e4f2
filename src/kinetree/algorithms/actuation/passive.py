"""The passive forces of tendons: springs, dampers, dry friction, and the inertia of fixed ones.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Tendons".

    symbol    code        meaning
    L, J      stretched   length of a tendon, and its gradient
    k, c      stiffness damping
    [a, b]    rest        the lengths between which the spring is relaxed
    T         tension     k (L - nearest of [a, b]) + c J v + dry friction
    m         armature    of fixed tendons: adds m J^T J to the mass matrix

J^T T is subtracted from the joint forces, like the forces of joint drives: see `drives`.

Cost: O(d) for each part of a tendon; derivatives nv times that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.actuation.posture import Posture, Row
from kinetree.algorithms.actuation.tendons import constant_row, stretched
from kinetree.algorithms.dense import dot
from kinetree.algorithms.manifold import coordinate_rates
from kinetree.model import Model
from kinetree.model.ranges import within
from kinetree.model.tendons import FixedTendon, Tendon
from kinetree.scalar import Scalar, less, select, sqrt
from kinetree.scalar.dual import Dual, lift

Matrix = list[list[Scalar]]


def tendon_tensions(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """T of every tendon; positive where it resists a growing length."""
    posture, found = Posture(model, q), []
    for tendon in model.equipment.tendons:
        length, row = stretched(posture, tendon)
        found.append(_tension(tendon, length, dot(row, v)))
    return found


def tendon_springs(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The joint forces that balance the tendons' springs."""
    springs = [x for x in model.equipment.acting if x.stiffness]

    def tension(tendon: Tendon, length: Scalar, row: Row) -> Scalar:
        return _excess(tendon, length) * tendon.stiffness

    return _taken(model, q, springs, tension)


def tendon_drag(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """The joint forces that balance dampers, dry friction and inertia of the tendons."""
    slow = [x for x in model.equipment.acting if x.damping or x.friction or x.armature]

    def tension(tendon: Tendon, length: Scalar, row: Row) -> Scalar:
        return _drag(tendon, dot(row, v)) + dot(row, qdd) * tendon.armature

    return _taken(model, q, slow, tension)


def smooth_friction(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], speed: float
) -> list[Scalar]:
    """The joint forces that balance the dry friction of tendons, smoothed below a speed."""
    rubbing = [x for x in model.equipment.acting if x.friction]

    def tension(tendon: Tendon, length: Scalar, row: Row) -> Scalar:
        rate = dot(row, v)
        return rate * tendon.friction / sqrt(rate * rate + speed * speed)

    return _taken(model, q, rubbing, tension)


def _taken(
    model: Model,
    q: Sequence[Scalar],
    tendons: Sequence[Tendon],
    tension: Callable[[Tendon, Scalar, Row], Scalar],
) -> list[Scalar]:
    """J^T T, with T as a function of a tendon, its length and its row of J."""
    forces: list[Scalar] = [0] * model.nv
    posture = Posture(model, q) if tendons else None
    for tendon in tendons:
        assert posture is not None
        length, row = stretched(posture, tendon)
        T = tension(tendon, length, row)
        forces = [f + r * T for f, r in zip(forces, row, strict=True)]
    return forces


def tendon_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """The energy of the tendons' springs, J."""
    twice: Scalar = 0
    springs = [x for x in model.equipment.acting if x.stiffness]
    posture = Posture(model, q) if springs else None
    for tendon in springs:
        assert posture is not None
        d = _excess(tendon, stretched(posture, tendon)[0])
        twice = twice + d * d * tendon.stiffness
    return twice * 0.5


def tendon_inertia(model: Model) -> Matrix:
    """The constant contribution of the tendons' inertia to the mass matrix."""
    M: Matrix = [[0] * model.nv for _ in range(model.nv)]
    for tendon in model.equipment.acting:
        if isinstance(tendon, FixedTendon) and tendon.armature:
            row = constant_row(model, tendon)
            for i, a in enumerate(row):
                M[i] = [x + a * b * tendon.armature for x, b in zip(M[i], row, strict=True)]
    return M


def add_tendon_derivatives(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], K: Matrix, D: Matrix
) -> None:
    """Add the derivatives of the tendons' forces to those by q and by v."""
    if not model.equipment.acting:
        return
    none = [0] * model.nv
    for j in range(model.nv):
        unit = [1 if k == j else 0 for k in range(model.nv)]
        moving = list(map(Dual, q, coordinate_rates(model, q, unit)))
        faster = list(map(Dual, v, unit))
        for M, state in ((K, (moving, [lift(x) for x in v])), (D, ([lift(x) for x in q], faster))):
            springs, drag = tendon_springs(model, state[0]), tendon_drag(model, *state, none)
            for i, (s, d) in enumerate(zip(springs, drag, strict=True)):
                M[i][j] = M[i][j] + lift(s + d).rate


def _tension(tendon: Tendon, length: Scalar, rate: Scalar) -> Scalar:
    return _excess(tendon, length) * tendon.stiffness + _drag(tendon, rate)


def _drag(tendon: Tendon, rate: Scalar) -> Scalar:
    """Damping and dry friction."""
    if not tendon.friction:
        return rate * tendon.damping
    sign = select(less(rate, 0), -1, select(less(0, rate), 1, 0))
    return rate * tendon.damping + sign * tendon.friction


def _excess(tendon: Tendon, length: Scalar) -> Scalar:
    """The distance of a length from the range in which the spring is relaxed."""
    return length - within(length, tendon.rest)
