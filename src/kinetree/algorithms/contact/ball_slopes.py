"""The derivatives of the forces of ball joints' limits.

Source: as in `derivatives`: rows J of one-sided limits at constant accelerations u.

    symbol    code       meaning
    J^T f     forces     of a limit, on the three velocities of its joint

Each force depends only on the orientation and the velocity of its own joint. Its derivatives are
computed with dual numbers along three directions of each.

Cost: a few hundred operations for each limited joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.contact.ball_rows import ball_limit_rows
from kinetree.algorithms.contact.contact_rows import ContactLaws
from kinetree.algorithms.contact.row_parts import Equality
from kinetree.algorithms.contact.solver import ContactSolver
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.limited import limited_balls
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift

Entry = tuple[int, int, Scalar]
"""(row, column, value)."""


def ball_slopes(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    u: Sequence[Scalar],
    solver: ContactSolver,
    laws: ContactLaws,
) -> tuple[list[Entry], list[Entry]]:
    """The derivatives of the forces of ball joints' limits: (row, column, slope), by q and v."""
    by_q: list[Entry] = []
    by_v: list[Entry] = []
    if not (solver.limits and model.contact_options.limits):
        return by_q, by_v
    weights = InverseWeights(model)
    for body in limited_balls(model):
        joint, at, along = model.bodies[body].joint, model.q_slices[body], model.v_slices[body]
        for k in range(along.start, along.stop):
            unit = [float(k == i) for i in range(along.start, along.stop)]
            x, v = ([Dual(a, 0.0) for a in values] for values in (q, qd))
            moved = zip(q[at], joint.coordinate_rates(q[at], unit), strict=True)
            x[at] = [Dual(a, rate) for a, rate in moved]
            by_q += [(i, k, f) for i, f in _ball_rates(model, body, x, qd, u, weights, laws)]
            v[along] = [Dual(a, rate) for a, rate in zip(qd[along], unit, strict=True)]
            by_v += [(i, k, f) for i, f in _ball_rates(model, body, q, v, u, weights, laws)]
    return by_q, by_v


def _ball_rates(
    model: Model,
    body: int,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    u: Sequence[Scalar],
    weights: InverseWeights,
    laws: ContactLaws,
) -> Iterator[tuple[int, Scalar]]:
    """The rates of the forces of one ball joint's limits: (velocity index, rate)."""
    for limit in ball_limit_rows(model, q, qd, weights, laws.shortest, (body,)):
        part = Equality(limit.row)
        answers = part.responses(part.residuals([u[k] for k in limit.at]))
        forces = part.forces([f for f, _ in answers])
        yield from ((k, lift(f).rate) for k, f in zip(limit.at, forces, strict=True))
