"""The softness of a constraint: its impedance, its regularisation and its reference acceleration.

Source: E. Todorov, Convex and analytically-invertible dynamics with contacts and constraints:
theory and implementation in MuJoCo, ICRA (2014); MuJoCo's documentation, "Computation", sections
"Impedance" and "Reference acceleration", and "Modeling", "Solver parameters".

A row of a soft constraint with the residual r (m or rad) and the speed r' wants the acceleration

    aref = - b r' - k d r                                                                (1)

and resists other accelerations x = J a - aref with the force x / R, R = (1 - d) / d A,    (2)

where A is about the row's J M^-1 J^T. A contact, a limit and an equality differ in how the force
depends on x, which is their law (`laws`).

    MuJoCo         code        meaning
    solref         solref      time constant (s), damping ratio; or -stiffness, -damping
    solimp         solimp      d_0, d_width, width, midpoint, power: of the impedance
    d              d           impedance, in (0, 1): near one the constraint enforces (1) rigidly
    k, b           k, b        stiffness and damping of the reference
    refsafe        shortest    time constants are not shorter than this

Cost: a few operations for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.scalar import (
    Scalar,
    absolute,
    exp,
    known,
    less_equal,
    log,
    maximum,
    minimum,
    select,
)

LEAST_IMPEDANCE, MOST_IMPEDANCE = 1e-4, 0.9999
TINY = 1e-15


class Reference(NamedTuple):
    """k and b of equation (1)."""

    k: Scalar
    b: Scalar


def reference(solref: Sequence[float], solimp: Sequence[float], shortest: Scalar) -> Reference:
    """k and b from solref.

    Arguments:
        shortest: the shortest time constant: two steps of time; zero allows any.
    """
    most = _clipped(solimp[1])
    time_constant, damping_ratio = solref
    if time_constant <= 0:
        return Reference(-time_constant / most**2, -damping_ratio / most)
    lasting = maximum(time_constant, shortest)
    scaled = lasting * most
    k = 1 / maximum(scaled * scaled * damping_ratio**2, TINY)
    return Reference(k, 2 / maximum(scaled, TINY) if damping_ratio > 0 else -damping_ratio / most)


def impedance(solimp: Sequence[float], r: Scalar) -> Scalar:
    """d at the residual r: from d_0 at zero to d_width at the distance of a width."""
    first, last = _clipped(solimp[0]), _clipped(solimp[1])
    width = max(0.0, solimp[2])
    midpoint, power = _clipped(solimp[3]), max(1.0, solimp[4])
    if first == last or width <= TINY:
        return 0.5 * (first + last)
    x = minimum(absolute(r) * (1 / width), 1.0)
    if power == 1.0:
        return first + x * (last - first)
    below = _power(x, power) * midpoint ** (1 - power)
    above = 1 - _power(1 - x, power) * (1 - midpoint) ** (1 - power)
    return first + select(less_equal(x, midpoint), below, above) * (last - first)


def regularisation(d: Scalar, A: Scalar) -> Scalar:
    """R of equation (2)."""
    return maximum((1 - d) * A / d, TINY)


def _clipped(d: float) -> float:
    return min(max(d, LEAST_IMPEDANCE), MOST_IMPEDANCE)


def _power(x: Scalar, power: float) -> Scalar:
    """x to a power, for x of zero or more."""
    if power == int(power) and power <= 6:
        product = x
        for _ in range(int(power) - 1):
            product = product * x
        return product
    value = known(x)
    if value is not None:
        return value**power
    return exp(log(maximum(x, 1e-300)) * power)
