"""A coupling that is linear in the coordinate that it determines: gears, differentials, cams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.constraints.coupling import polynomial
from kinetree.model.embedding.loop_map import Stage
from kinetree.scalar import Scalar


@dataclass(frozen=True)
class Coupled(Stage):
    """The coordinate s with c s + sum of polynomials of known coordinates = 0.

    Arguments:
        coefficient: c.
        polynomials: pairs of the index of a known coordinate and its coefficients.
        constant: what is added to the sum.
    """

    coefficient: float
    polynomials: tuple[tuple[int, tuple[float, ...]], ...]
    constant: float

    def solve(self, known: Sequence[Scalar]) -> list[Scalar]:
        total: Scalar = self.constant
        for k, f in self.polynomials:
            total = total + polynomial(f, known[k])
        return [total * (-1.0 / self.coefficient)]
