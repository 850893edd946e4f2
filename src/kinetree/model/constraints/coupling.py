"""Coordinates that are coupled: gears, differentials, cams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.arguments import given_number
from kinetree.model.constraints.base import Constraint
from kinetree.model.joints import Label
from kinetree.scalar import Scalar


@dataclass(frozen=True)
class Coupling(Constraint):
    """A sum of polynomials, each in one joint's coordinate, is zero: one row.

    A gear q1 = n q2 is {"q1": [0, 1], "q2": [0, -n]}; a differential q1 + q2 = 2 q3 is {"q1":
    [0, 1], "q2": [0, 1], "q3": [0, -2]}.

    Arguments:
        name: of the constraint; unique in a robot.
        polynomials: maps a joint of one coordinate to the coefficients of its polynomial, the
            constant one first.
        unit: of the sum.
        softness: as in `Constraint`.
    """

    polynomials: tuple[tuple[str, tuple[float, ...]], ...]
    unit: str = field(default="rad", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.polynomials
        if not isinstance(given, Mapping) and not _is_pairs(given):
            raise ModelError(
                f"{self.name}: polynomials={given!r}: the names of joints with coefficients are "
                "expected, such as {'wheel': [0, 1], 'motor': [0, -50]}"
            )
        pairs = given.items() if isinstance(given, Mapping) else given
        taken = tuple((joint, self._coefficients(joint, numbers)) for joint, numbers in pairs)
        if len({joint for joint, _ in taken}) < len(taken):
            raise ModelError(f"{self.name}: a joint is given two polynomials; one is expected")
        if not any(any(numbers[1:]) for _, numbers in taken):
            raise ModelError(f"{self.name}: no coordinate has an effect on the sum")
        object.__setattr__(self, "polynomials", taken)

    def _coefficients(self, joint: str, numbers: object) -> tuple[float, ...]:
        if not isinstance(numbers, (Sequence, np.ndarray)) or isinstance(numbers, str):
            raise ModelError(
                f"{self.name}: the polynomial of {joint!r} is {numbers!r}: a list of coefficients "
                "is expected, the constant one first"
            )
        return tuple(given_number(f"{self.name}: {joint}", x) for x in numbers)

    def row_labels(self) -> tuple[Label, ...]:
        return (Label("sum", self.unit),)

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(joint for joint, _ in self.polynomials)

    def renamed(self, prefix: str) -> Constraint:
        pairs = tuple((prefix + joint, numbers) for joint, numbers in self.polynomials)
        return replace(self, name=prefix + self.name, polynomials=pairs)


def polynomial(coefficients: Sequence[float], x: Scalar) -> Scalar:
    """The value of a polynomial, by Horner's scheme."""
    total: Scalar = 0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def substituted(coefficients: Sequence[float], ratio: float, offset: float) -> tuple[float, ...]:
    """The coefficients of the polynomial f(ratio x + offset), by Horner's scheme."""
    result: tuple[float, ...] = ()
    for c in reversed(coefficients):
        shifted = (0.0, *(ratio * x for x in result)) if result else ()
        result = total(total(shifted, tuple(offset * x for x in result)), (c,))
    return result


def total(f: Sequence[float], g: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of the sum of two polynomials."""
    return tuple(a + b for a, b in zip_longest(f, g, fillvalue=0.0))


def derivative(coefficients: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of a polynomial's derivative."""
    return tuple(k * c for k, c in enumerate(coefficients))[1:]


def _is_pairs(given: object) -> bool:
    return isinstance(given, tuple) and all(isinstance(x, tuple) and len(x) == 2 for x in given)
