"""Springs, damping and friction of joints that follow others by a ratio that varies.

Source: A. Jain, Multibody graph transformations and analysis: part II: closed-chain constraint
embedding, Nonlinear Dynamics 67 (2012): forces on dependent coordinates act on the independent ones
through the transpose of the velocity map.

    symbol      code       meaning
    s(q)        s          coordinates of the dependent joint
    A           ratios     its velocity is A^T v, a row of A for each velocity of the robot
    f           f          k d(s) + c A^T v + dry friction: the force that its drive takes
                           the joint forces take A f

The armature of a dependent joint is a body of its own in the model: see `model.embedding`.

Cost: O(1) for each such drive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kinetree.model import Drive, Model
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar, less, select
from kinetree.scalar.dual import Dual, lift

Forces = list[Scalar]
Law = Callable[[Joint, Drive, Forces, Forces], Forces]
"""The force of a drive, from the coordinates and the velocity of its joint."""


def spring_law(joint: Joint, drive: Drive, s: Forces, u: Forces) -> Forces:
    """The force of a spring."""
    if not drive.stiffness:
        return [0] * joint.nv
    return [d * drive.stiffness for d in joint.displacement(drive.rest, s)]


def damping_law(joint: Joint, drive: Drive, s: Forces, u: Forces) -> Forces:
    """The force of a damper."""
    return [x * drive.damping for x in u]


def friction_law(joint: Joint, drive: Drive, s: Forces, u: Forces) -> Forces:
    """Dry friction."""
    if not drive.friction:
        return [0] * joint.nv
    return [select(less(x, 0), -1, select(less(0, x), 1, 0)) * drive.friction for x in u]


def transmitted_forces(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], *laws: Law
) -> list[Scalar]:
    """What the joint forces take of these laws, by drives behind a varying ratio."""
    forces: list[Scalar] = [0] * model.nv
    for i, drive in _driven(model):
        along = model.v_slices[i]
        for k, force in enumerate(_felt(model, i, drive, q, v, laws), along.start):
            forces[k] = forces[k] + force
    return forces


def transmitted_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """The energy of springs behind a varying ratio, J."""
    twice: Scalar = 0
    for i, drive in _driven(model):
        joint = model.bodies[i].joint
        if drive.stiffness:
            s = joint.inner_coordinates(q[model.q_slices[i]])
            for d in joint.transmission.joint.displacement(drive.rest, s):
                twice = twice + d * d * drive.stiffness
    return twice * 0.5


def add_transmitted_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    K: list[list[Scalar]],
    D: list[list[Scalar]],
) -> None:
    """Add the derivatives of drives behind a varying ratio to those by q and by v.

    Dry friction changes with q, as the ratio does.
    """
    laws = (spring_law, damping_law, friction_law)
    for i, drive in _driven(model):
        joint, at, along = model.bodies[i].joint, model.q_slices[i], model.v_slices[i]
        for j, column in enumerate(range(along.start, along.stop)):
            unit = [1 if k == j else 0 for k in range(joint.nv)]
            by_q, by_v = list(q), list(v)
            rates = joint.coordinate_rates(q[at], unit)
            by_q[at] = [Dual(x, rate) for x, rate in zip(q[at], rates, strict=True)]
            by_v[along] = [Dual(x, rate) for x, rate in zip(v[along], unit, strict=True)]
            for M, state in ((K, (by_q, list(v))), (D, (list(q), by_v))):
                q_, v_ = ([lift(x) for x in part] for part in state)
                for row, f in enumerate(_felt(model, i, drive, q_, v_, laws), along.start):
                    M[row][column] = M[row][column] + lift(f).rate


def _driven(model: Model) -> Iterator[tuple[int, Drive]]:
    """The bodies whose drives act behind a varying ratio, and these drives."""
    for i, body in enumerate(model.bodies):
        drive = body.explicit_drive
        if body.joint.has_varying_ratio and (drive.stiffness or drive.damping or drive.friction):
            yield i, drive


def _felt(
    model: Model,
    i: int,
    drive: Drive,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    laws: Sequence[Law],
) -> list[Scalar]:
    """A f, for the velocities that body i takes."""
    joint, at, along = model.bodies[i].joint, model.q_slices[i], model.v_slices[i]
    s, A = joint.inner_coordinates(q[at]), joint.ratios(q[at])
    inner = joint.transmission.joint
    u = [_sum(a[r] * x for a, x in zip(A, v[along], strict=True)) for r in range(inner.nv)]
    f = [_sum(parts) for parts in zip(*(law(inner, drive, s, u) for law in laws), strict=True)]
    return [_sum(x * y for x, y in zip(a, f, strict=True)) for a in A]


def _sum(terms: Iterator[Scalar] | Sequence[Scalar]) -> Scalar:
    return sum(terms, start=0)
