"""The fastest speeds along a path: backward and forward passes of reachability analysis.

Source: H. Pham & Q.-C. Pham, A new approach to time-optimal path parameterization based on
reachability analysis (2018), Algorithm 1, with its first-order interpolation scheme (section V-A).

    paper     code         meaning
    s         s            the path's parameter
    x, u      x u          s'^2 and s''; along an interval of length D, x grows by 2 D u
    K_i       low high     the speeds x from which the end can be reached: an interval
    a, b, c   k, c         constraints, solved for u: low_c + k x <= u <= high_c + k x

Each row is imposed at both ends of its interval, for the u of that interval. The largest x of K_i
is the root of a concave, piecewise linear function of x, found by Newton's method from above; the
smallest likewise from below.

Cost: a few operations for each row, in each of at most `ROOTS` steps of Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.model import Model
from kinetree.motion.arrays import Array
from kinetree.scalar import (
    Scalar,
    absolute,
    call_if,
    less,
    less_equal,
    logical_and,
    maximum,
    minimum,
    select,
)

if TYPE_CHECKING:
    from kinetree.robot import Robot

ROOTS = 12
"""The most steps of Newton's method."""
EMPTY = -1.0
"""`high` of an empty set."""
ROUNDING = 1e-12
"""The tolerance of a negative gap, as a share of its terms."""

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class Gap:
    """The gap between the least and the largest u at x: its size, slope, and terms' size."""

    size: Scalar
    slope: Scalar
    scale: Scalar


@dataclass(frozen=True)
class Root:
    """An x, and whether it was shown to be admissible."""

    x: Scalar
    done: Scalar


def gap(x: Scalar, k: Scalars, high: Scalars, low: Scalars) -> Gap:
    """The room for u: the least upper bound less the largest lower one."""
    top, top_slope = high[0] + k[0] * x, k[0]
    bottom, bottom_slope = low[0] + k[0] * x, k[0]
    for slope, h, l in zip(k[1:], high[1:], low[1:], strict=True):
        rise = slope * x
        below, above = less(h + rise, top), less(bottom, l + rise)
        top, top_slope = select(below, h + rise, top), select(below, slope, top_slope)
        bottom, bottom_slope = select(above, l + rise, bottom), select(above, slope, bottom_slope)
    scale = absolute(top_slope * x) + absolute(bottom_slope * x)
    scale = scale + absolute(top) + absolute(bottom)
    return Gap(top - bottom, top_slope - bottom_slope, scale)


class Newton:
    """One step towards the nearest x with room for u: a function of scalars alone.

    Arguments:
        sign: 1 to come from above, -1 from below.
    """

    def __init__(self, sign: float) -> None:
        self.sign = sign

    def __call__(self, at: Root, k: list[Scalar], high: list[Scalar], low: list[Scalar]) -> Root:
        g = gap(at.x, k, high, low)
        fine = less_equal(-ROUNDING * g.scale, g.size)
        # the slope leads away from admissible x: there are none
        lost = less(-1e-300, g.slope * self.sign)
        x = at.x - g.size / select(lost, 1.0, g.slope)
        x = select(fine, at.x, select(lost, EMPTY, x))
        return Root(x, select(fine, 1.0, select(lost, 2.0, 0.0)))


DOWN, UP = Newton(1.0), Newton(-1.0)


def root(step: Newton, start: Scalar, k: Scalars, high: Scalars, low: Scalars) -> Root:
    """The nearest x with room for u, from a start; not `done` if there is none."""
    at = Root(start, start * 0.0)
    for _ in range(ROOTS):
        ahead = less(at.done, 0.5)
        at = call_if(ahead, step, at, list(k), list(high), list(low), otherwise=at)
    return at


def backward(
    model: Model,
    low: Scalar,
    high: Scalar,
    most: Scalar,
    D: Scalar,
    k: Scalars,
    cu: Scalars,
    cl: Scalars,
) -> dict[str, Scalar]:
    """K_i from K_(i+1), with the rows of the interval between them."""
    share = 0.5 / D
    slopes = [*k, -share]  # x + 2 D u within K_(i+1)
    tops, bottoms = [*cu, high * share], [*cl, low * share]
    above = root(DOWN, most, slopes, tops, bottoms)
    below = root(UP, most * 0.0, slopes, tops, bottoms)
    exists = less(-0.5, high)
    for one in (above, below):
        exists = logical_and(exists, logical_and(less(0.5, one.done), less(one.done, 1.5)))
    exists = logical_and(exists, less_equal(below.x, above.x))
    return {
        "next_low": select(exists, below.x, 0.0),
        "next_high": select(exists, above.x, EMPTY),
    }


def forward(
    model: Model,
    x: Scalar,
    low: Scalar,
    high: Scalar,
    D: Scalar,
    k: Scalars,
    cu: Scalars,
    cl: Scalars,
) -> dict[str, Scalar]:
    """The fastest x at the end of an interval from which the end of the path is reachable."""
    u = (high - x) / (2.0 * D)
    for slope, c in zip(k, cu, strict=True):
        u = minimum(u, c + slope * x)
    after = x + 2.0 * D * u
    return {"next_x": minimum(maximum(after, low), high), "u": u}


class Passes:
    """Both passes for paths of a robot with a number of rows, compiled.

    Arguments:
        robot: for its kernels.
        rows: the number of constraints of an interval.
    """

    def __init__(self, robot: Robot, rows: int) -> None:
        lengths: dict[str, int | None] = {"D": None, "k": rows, "cu": rows, "cl": rows}
        back = robot.custom_kernel(
            backward, {"low": None, "high": None, "most": None, **lengths}, "reachable_speeds"
        )
        fore = robot.custom_kernel(
            forward, {"x": None, "low": None, "high": None, **lengths}, "fastest_speeds"
        )
        self._backward, self._forward = TimeLoop(back, 2, 5), TimeLoop(fore, 1, 6)

    def controllable(
        self, last: float, most: Array, D: Array, k: Array, cu: Array, cl: Array
    ) -> tuple[Array, Array]:
        """The least and largest speeds from which the end can be reached, (N + 1,) each.

        Arguments:
            last: x at the end.
            most: the largest x at each start of an interval, (N,).
            D: lengths of the intervals, (N,).
            k, cu, cl: of each row, (N, rows).
        """
        start = [np.array([last]), np.array([last])]
        rolled = self._backward(
            [*start, most, D, k, cu, cl], 1, len(D), 1, ("low", "high"), backwards=True
        )
        return tuple(
            np.concatenate([rolled.final[name].ravel(), rolled.records[name].ravel()])
            for name in ("low", "high")
        )  # type: ignore[return-value]

    def fastest(
        self, first: float, low: Array, high: Array, D: Array, k: Array, cu: Array, cl: Array
    ) -> Array:
        """The fastest speeds, (N + 1,).

        Arguments:
            first: x at the start.
            low, high: of `controllable`, (N + 1,).
            D, k, cu, cl: as there.
        """
        given = [np.array([first]), low[1:], high[1:], D, k, cu, cl]
        rolled = self._forward(given, 1, len(D), 1, ("x",))
        return np.concatenate([rolled.records["x"].ravel(), rolled.final["x"].ravel()])
