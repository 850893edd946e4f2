"""Rows of the limits of ball joints.

Source: MuJoCo's documentation, "Computation", section "Limit".

    limits         one-sided, with the distance to the nearer limit (13)

Cost: a few dozen operations for each limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kinetree.algorithms.ball_limits import ball_limits
from kinetree.algorithms.contact.joint_rows import LimitRow, nearer_limit
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.limited import limited_balls
from kinetree.model import Model
from kinetree.scalar import Scalar


def ball_limit_rows(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    shortest: Scalar,
    bodies: Iterable[int] | None = None,
) -> Iterator[LimitRow]:
    """The limits of ball joints, all or those of some bodies (13)."""
    owner = {model.v_slices[i].start: i for i in limited_balls(model)}
    for limit in ball_limits(model, q, bodies):
        i = owner[limit.at[0]]
        moving = limit.at, limit.slopes, [qd[k] for k in limit.at]
        soft, A = model.bodies[i].softness.limit, weights.of_joint(i)[0]
        yield nearer_limit(limit.value, limit.bounds, moving, soft, A, shortest)
