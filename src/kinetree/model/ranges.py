"""Ranges of numbers, whose ends may be infinite."""

from __future__ import annotations

import math

from kinetree.scalar import Scalar, maximum, minimum

Range = tuple[float, float]
UNBOUNDED: Range = (-math.inf, math.inf)


def within(x: Scalar, bounds: Range) -> Scalar:
    """The number of a range that is nearest to a scalar.

    Arguments:
        x: the scalar.
        bounds: the ends of the range.

    Returns:
        A scalar.
    """
    lower, upper = bounds
    above = maximum(x, lower) if math.isfinite(lower) else x
    return minimum(above, upper) if math.isfinite(upper) else above
