"""Rows of tendons: limits of their lengths, and their dry friction.

Source: MuJoCo's documentation, "Computation", sections "Limit" and "Friction loss".

    symbol    code         meaning
    L, J      stretched    the length of a tendon and its gradient
    A         of_tendon    about J M^-1 J^T, of `weights`

    limits         one-sided along +-J, with the distance to the nearer limit                   (13)
    dry friction   holds J v with at most the friction of the tendon                           (14)

Cost: that of the tendons' lengths, and O(k^2) for k velocities that change one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.actuation.posture import Posture
from kinetree.algorithms.actuation.tendons import stretched
from kinetree.algorithms.contact.joint_rows import Entry, LimitRow, nearer_limit
from kinetree.algorithms.contact.laws import Huber
from kinetree.algorithms.contact.reference import impedance, reference, regularisation
from kinetree.algorithms.contact.row_parts import Equality, Row
from kinetree.algorithms.contact.solver import ContactSolver
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.dense import dot
from kinetree.model import Model
from kinetree.model.ranges import UNBOUNDED
from kinetree.model.tendons import Tendon
from kinetree.scalar import Scalar, known


def has_tendon_rows(model: Model) -> bool:
    """Whether a tendon has a limit or dry friction."""
    return any(t.limits != UNBOUNDED or t.friction for t in model.equipment.tendons)


def tendon_rows(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    solver: ContactSolver,
    shortest: Scalar,
) -> Iterator[Entry]:
    """Limits and dry friction of tendons, if they act."""
    if solver.limits and model.contact_options.limits:
        yield from tendon_limit_rows(model, q, qd, weights, shortest)
    if solver.friction:
        yield from tendon_friction_rows(model, q, qd, weights, shortest)


def tendon_limit_rows(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    shortest: Scalar,
) -> Iterator[Entry]:
    """A row for each tendon with a limit (13)."""
    for tendon in model.equipment.tendons:
        if tendon.limits != UNBOUNDED:
            found = tendon_limit(model, tendon, q, qd, weights, shortest)
            yield found.at, Equality(found.row), found.acts


def tendon_limit(
    model: Model,
    tendon: Tendon,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    shortest: Scalar,
) -> LimitRow:
    """The row of a tendon's nearer limit (13)."""
    length, at, J = _moved(model, tendon, q)
    moving = at, J, [qd[k] for k in at]
    A = weights.of_tendon(tendon)
    return nearer_limit(length, tendon.limits, moving, tendon.limit_softness, A, shortest)


def tendon_friction_rows(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    shortest: Scalar,
) -> Iterator[Entry]:
    """A row for each tendon with dry friction (14)."""
    for tendon in model.equipment.tendons:
        if not tendon.friction:
            continue
        _, at, J = _moved(model, tendon, q)
        soft = tendon.friction_softness
        of, d = reference(soft.solref, soft.solimp, shortest), impedance(soft.solimp, 0.0)
        law = Huber(1 / regularisation(d, weights.of_tendon(tendon)), tendon.friction)
        yield at, Equality(Row(tuple(J), -of.b * dot(J, [qd[k] for k in at]), law)), True


def _moved(
    model: Model, tendon: Tendon, q: Sequence[Scalar]
) -> tuple[Scalar, tuple[int, ...], list[Scalar]]:
    """The length of a tendon, the velocities that change it, and its gradient along these."""
    length, row = stretched(Posture(model, q), tendon)
    at = tuple(k for k, x in enumerate(row) if known(x) != 0)
    return length, at, [row[k] for k in at]
