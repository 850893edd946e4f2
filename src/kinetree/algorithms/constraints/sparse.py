"""Sparse rows of constraints, and products with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kinetree.algorithms.ltl import Row
from kinetree.scalar import Scalar, sqrt
from kinetree.spatial import Rotation, Vector3


@dataclass(frozen=True)
class Rows:
    """The rows of constraints at a state.

    J: a sparse row each.
    error: of each row, m or rad.
    bias: J' qd; empty if there is no velocity.
    turns: maps the index of the first of three rows that replace three others to the rotation from
        forces along these rows to forces along the others.
    """

    J: list[Row] = field(default_factory=list)
    error: list[Scalar] = field(default_factory=list)
    bias: list[Scalar] = field(default_factory=list)
    turns: dict[int, Rotation] = field(default_factory=dict)

    def add(self, J: Row, error: Scalar, bias: Scalar) -> None:
        """Append a row."""
        self.J.append(J)
        self.error.append(error)
        self.bias.append(bias)

    def velocity(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """J qd."""
        return [times(row, qd) for row in self.J]

    def weighted(self, weights: Sequence[Scalar]) -> Rows:
        """The rows, each times its weight."""
        J = weighted_rows(self.J, weights)
        error, bias = (
            [x * w for x, w in zip(part, weights, strict=True)] for part in (self.error, self.bias)
        )
        return Rows(J, error, bias, self.turns)

    def turned(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The forces of the constraints' original rows, from those of the rows here."""
        result = list(forces)
        for k, R in self.turns.items():
            result[k : k + 3] = R @ Vector3(*forces[k : k + 3])
        return result

    def force(self, forces: Sequence[Scalar], nv: int) -> list[Scalar]:
        """J^T times the forces of the rows."""
        total: list[Scalar] = [0] * nv
        for row, force in zip(self.J, forces, strict=True):
            for k, entry in row.items():
                total[k] = total[k] + entry * force
        return total


def weighted_rows(rows: Sequence[Row], weights: Sequence[Scalar]) -> list[Row]:
    """Sparse rows, each times its weight."""
    return [{k: x * w for k, x in row.items()} for row, w in zip(rows, weights, strict=True)]


def times(row: Row, x: Sequence[Scalar]) -> Scalar:
    """A sparse row times a vector."""
    return sum((entry * x[k] for k, entry in row.items()), start=0)


def weighted_products(J: Sequence[Row], weights: Sequence[Scalar]) -> list[list[Scalar]]:
    """J W J^T, with the diagonal W."""
    A: list[list[Scalar]] = [[0] * len(J) for _ in J]
    for r, row in enumerate(J):
        for s in range(r + 1):
            terms = (x * J[s][k] * weights[k] for k, x in row.items() if k in J[s])
            A[r][s] = A[s][r] = sum(terms, start=0)
    return A


def filled(rows: Sequence[Row], entries: Sequence[Scalar]) -> list[Row]:
    """Rows with the same columns and other entries."""
    rest = iter(entries)
    return [{k: next(rest) for k in row} for row in rows]


def transposed(rows: Sequence[Row], count: int) -> list[Row]:
    """The columns of sparse rows, as sparse rows."""
    columns: list[Row] = [{} for _ in range(count)]
    for i, row in enumerate(rows):
        for k, entry in row.items():
            columns[k][i] = entry
    return columns


def product(a: Row, b: Row) -> Scalar:
    """The product of two sparse rows."""
    if len(b) < len(a):
        a, b = b, a
    return sum((x * b[k] for k, x in a.items() if k in b), start=0)


def plus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def square(columns: Sequence[Sequence[Scalar]]) -> Scalar:
    """The sum of squares."""
    return sum((u * u for x in columns for u in x), start=0)


def norm(x: Sequence[Scalar]) -> Scalar:
    """The Euclidean norm."""
    return sqrt(square([x]))
