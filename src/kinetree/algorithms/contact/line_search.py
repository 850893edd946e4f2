"""The line search of Newton's method: where a convex function is smallest along a direction.

Source: MuJoCo's documentation, "Computation", section "Algorithms".

Along a + alpha p the function of `newton` has the slope

    phi'(alpha) = p^T (M a - f) + alpha p^T M p - sum of y f_c(x + alpha y)                     (25)

which increases. Its root is found by Newton's method, started at one, in a bracket.

    symbol    code         meaning
    x, y      x, y         J a - aref and J p of each part
    p^T M p   curve        p^T H p less the stiffness of the parts

Cost: a few operations for each row, at each alpha.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.algorithms.contact.part import Part, Rows, part_slope
from kinetree.scalar import (
    Scalar,
    absolute,
    call_if,
    less,
    less_equal,
    logical_and,
    maximum,
    select,
)

SEARCHES = 4
"""The number of evaluations of the slope along p after that at alpha = 1."""
FLAT = 0.01
"""alpha = 1 is taken if the slope there is less than this share of that at zero."""
LONGEST = 8.0
"""The largest alpha."""
EXACT = 1e-12
"""A step is known to be exact if the slope at one is less than this share of that at zero."""
FINE, COARSE = 1e-10, 0.1
"""With a tolerance above FINE, a step counts as exact at the share COARSE times the tolerance:
such tolerances are for single precision, in which slopes are not accurate to 1e-12."""
LEVEL = 1e-9
"""An alpha is accepted if the slope there is less than this share of that at zero."""
TINY = 1e-300


@dataclass(frozen=True)
class LineSearch:
    """Equation (9) along p.

    x, y: of each part, J a - aref and J p.
    start: the slope of its smooth terms at zero.
    decrement: p^T H p.
    noise: below it, slopes are rounding errors.
    """

    parts: list[Part]
    near: list[Scalar]
    x: list[Rows]
    y: list[Rows]
    start: Scalar
    decrement: Scalar
    noise: Scalar

    def result(self, exactly: float = EXACT) -> tuple[Scalar, Scalar]:
        """alpha, one or where the slope is zero; and the decrement, zero if (9) is quadratic.

        If no law has changed its branch, the slope at one is zero up to rounding.

        Arguments:
            exactly: as `EXACT`.
        """
        bent = self._sum(0.0)[1]
        curve = self.decrement - bent  # p^T M p
        slope, rise = self.slope(1.0, curve)
        significant = less(self.noise, self.decrement)  # slopes are more than rounding
        steep = logical_and(significant, less(self.decrement * FLAT, absolute(slope)))
        exact = less_equal(absolute(slope), self.decrement * exactly)
        alpha = call_if(steep, refined, self, curve, slope, rise, otherwise=1.0)
        return alpha, select(exact, 0.0, self.decrement)

    def slope(self, alpha: Scalar, curve: Scalar) -> tuple[Scalar, Scalar]:
        """The first and second derivative of (9) by alpha."""
        slope, rise = self._sum(alpha)
        return slope + self.start + alpha * curve, rise + curve

    def _sum(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The parts' share of the first and second derivative."""
        total: tuple[Scalar, Scalar] = (0.0, 0.0)
        for part, near, x, y in zip(self.parts, self.near, self.x, self.y, strict=True):
            more = call_if(less(0.5, near), part_slope, part, x, y, alpha, otherwise=(0.0, 0.0))
            total = total[0] + more[0], total[1] + more[1]
        return total


def exact_share(tolerance: float) -> float:
    """`EXACT` for a solver's tolerance."""
    return EXACT if tolerance <= FINE else COARSE * tolerance


def refined(search: LineSearch, curve: Scalar, slope: Scalar, rise: Scalar) -> Scalar:
    """alpha by Newton's method, started at one; by bisection where a step leaves the bracket."""
    alpha: Scalar = 1.0
    lower: Scalar = 0.0
    upper: Scalar = LONGEST
    for count in range(SEARCHES + 1):
        if count:
            slope, rise = search.slope(alpha, curve)
        beyond = less(0.0, slope)
        lower, upper = select(beyond, lower, alpha), select(beyond, alpha, upper)
        there = alpha - slope / maximum(rise, TINY)
        inside = logical_and(less(lower, there), less(there, upper))
        better = select(inside, there, (lower + upper) * 0.5)
        level = less_equal(absolute(slope), search.decrement * LEVEL)
        alpha = select(level, alpha, better)
    return alpha
