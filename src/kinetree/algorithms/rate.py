"""Rates: the time derivative of a function of the configuration.

Source: Liu & Jain, after eq. 45: J' = sum_k dJ/dq_k q_k'. The function is run on dual numbers, q
and its rate, so that the rate of any Jacobian or matrix follows from the function itself.

    paper     code       meaning
    q, q'     moving     dual numbers
    J         function   what is differentiated

Cost: two to three times the function's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.algorithms.manifold import coordinate_rates
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift


def rate(
    function: Callable[..., Any],
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    *settings: Any,
) -> Any:
    """The rate of function(model, q, *settings), nested lists as it gives them."""
    moving = [Dual(x, dx) for x, dx in zip(q, coordinate_rates(model, q, qd), strict=True)]
    return _rates(function(model, moving, *settings))


def _rates(value: Any) -> Any:
    return [_rates(x) for x in value] if isinstance(value, list) else lift(value).rate
