"""Dual numbers: a scalar and its rate, for differentiating code by running it.

A `Dual` is a scalar over any other scalar, so what is written over scalars can be differentiated
along a direction: call it with Dual(q_i, v_i) and read the rates. Duals nest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinetree import scalar
from kinetree.scalar import OPERATIONS, Scalar


@dataclass(frozen=True, slots=True)
class Dual:
    """value + rate e, with e^2 = 0."""

    value: Scalar
    rate: Scalar

    __array_ufunc__ = None  # NumPy numbers leave arithmetic with duals to us

    def __add__(self, other: Any) -> Dual:
        b = lift(other)
        return Dual(self.value + b.value, self.rate + b.rate)

    def __radd__(self, other: Any) -> Dual:
        return lift(other) + self

    def __sub__(self, other: Any) -> Dual:
        b = lift(other)
        return Dual(self.value - b.value, self.rate - b.rate)

    def __rsub__(self, other: Any) -> Dual:
        return lift(other) - self

    def __mul__(self, other: Any) -> Dual:
        b = lift(other)
        return Dual(self.value * b.value, self.rate * b.value + self.value * b.rate)

    def __rmul__(self, other: Any) -> Dual:
        return lift(other) * self

    def __truediv__(self, other: Any) -> Dual:
        b = lift(other)
        quotient = self.value / b.value
        return Dual(quotient, (self.rate - quotient * b.rate) / b.value)

    def __rtruediv__(self, other: Any) -> Dual:
        return lift(other) / self

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)


def lift(x: Any) -> Dual:
    """A dual; a plain scalar does not change."""
    return x if isinstance(x, Dual) else Dual(x, 0)


def _apply(op: str, args: tuple[Any, ...]) -> Any:
    """A function of duals, by its row of the table of operations."""
    row = OPERATIONS[op]
    if row.result == "b":
        return row.compute(*(x.value if isinstance(x, Dual) else x for x in args))
    if op == "select":  # chosen, not weighted: what is not chosen may be infinite
        condition, a, b = args[0], lift(args[1]), lift(args[2])
        return Dual(*(row.compute(condition, *x) for x in ((a.value, b.value), (a.rate, b.rate))))
    duals = [lift(x) for x in args]
    values = [x.value for x in duals]
    result = row.compute(*values)
    assert row.partials is not None
    terms = zip(row.partials(result, *values), duals, strict=True)
    moving = ((factor, x.rate) for factor, x in terms if factor is not None)
    return Dual(result, sum((factor * rate for factor, rate in moving), start=0))


def _known(x: Dual) -> float | None:
    return scalar.known(x.value) if scalar.known(x.rate) == 0.0 else None


scalar.register(Dual, _apply)
scalar.known.register(Dual, _known)
