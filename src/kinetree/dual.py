"""Dual numbers: a scalar and its rate, for differentiating code by running it.

A `Dual` is a scalar over any other scalar, so what is written over scalars can be differentiated
along a direction: call it with Dual(q_i, v_i) and read the rates. Duals nest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinetree import scalar
from kinetree.scalar import Scalar


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


def _sin(x: Dual) -> Dual:
    return Dual(scalar.sin(x.value), scalar.cos(x.value) * x.rate)


def _cos(x: Dual) -> Dual:
    return Dual(scalar.cos(x.value), -(scalar.sin(x.value) * x.rate))


def _sqrt(x: Dual) -> Dual:
    root = scalar.sqrt(x.value)
    return Dual(root, x.rate / (root + root))


def _atan2(y: Any, x: Any) -> Dual:
    y, x = lift(y), lift(x)
    square = x.value * x.value + y.value * y.value
    rate = (x.value * y.rate - y.value * x.rate) / square
    return Dual(scalar.atan2(y.value, x.value), rate)


def _select(condition: Any, a: Any, b: Any) -> Dual:
    a, b = lift(a), lift(b)
    return Dual(
        scalar.select(condition, a.value, b.value), scalar.select(condition, a.rate, b.rate)
    )


def _known(x: Dual) -> float | None:
    return scalar.known(x.value) if scalar.known(x.rate) == 0.0 else None


scalar.sin.register(Dual, _sin)
scalar.cos.register(Dual, _cos)
scalar.sqrt.register(Dual, _sqrt)
scalar.atan2.register(Dual, _atan2)
scalar.less.register(Dual, lambda a, b: scalar.less(lift(a).value, lift(b).value))
scalar.register_choice(Dual, _select)
scalar.known.register(Dual, _known)
