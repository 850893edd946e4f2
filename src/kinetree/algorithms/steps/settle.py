"""The end of a step: stops first, then constraints.

Clamping a joint to its limit opens a loop that it is part of. So the constraints come last, and are
exact at the end of every step; the stop acts again in the next one.

Cost: that of `limits` and `constraints.drift`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints import projected
from kinetree.algorithms.steps.limits import clamped
from kinetree.algorithms.steps.rules import Rules
from kinetree.model import Model
from kinetree.scalar import Scalar


def settled(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    rules: Rules,
) -> tuple[list[Scalar], list[Scalar]]:
    """The state at the end of a step, within clamped limits and on the constraints."""
    q, v = clamped(model, q, v, rules.enforcement)
    return projected(model, q, v, rules.stabilization)
