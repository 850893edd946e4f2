"""Rows of joints and of constraints, as parts of a problem of soft constraints.

Source: E. Todorov (2014), as in `reference`, and MuJoCo's documentation, "Computation".

    symbol    code       meaning
    J         entries    of a row, for each velocity that moves it

Cost: O(k^2) for k entries of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows
from kinetree.algorithms.dense import dot
from kinetree.scalar import Scalar


@dataclass(frozen=True)
class Row:
    """One row: its entries, its reference acceleration and its law."""

    entries: tuple[Scalar, ...]
    aref: Scalar
    law: Law


@dataclass(frozen=True)
class Equality(Part):
    """One row with any number of entries: a row of a loop, a held frame or a coupling."""

    row: Row

    def moved(self, a: Sequence[Scalar]) -> Rows:
        """J a."""
        return [[dot(self.row.entries, a)]]

    @property
    def arefs(self) -> Rows:
        """aref of the row."""
        return [[self.row.aref]]

    @property
    def laws(self) -> list[Law]:
        """The law of the row."""
        return [self.row.law]

    def forces(self, f: Rows) -> list[Scalar]:
        """J^T f."""
        return [entry * f[0][0] for entry in self.row.entries]

    def places(self) -> list[tuple[int, int]]:
        """The rows and columns of what `stiffness` gives."""
        return [(i, j) for i in range(len(self.row.entries)) for j in range(i + 1)]

    def stiffness(self, C: Sequence[Matrix]) -> list[Scalar]:
        """The lower triangle of J^T C J."""
        entries, c = self.row.entries, C[0][0][0]
        return [entries[i] * c * entries[j] for i, j in self.places()]


@dataclass(frozen=True)
class JointRows(Part):
    """Rows of one entry each, all of different velocities: limits or dry friction of joints."""

    rows: list[Row]

    def moved(self, a: Sequence[Scalar]) -> Rows:
        """J a."""
        return [[row.entries[0] * x] for row, x in zip(self.rows, a, strict=True)]

    @property
    def arefs(self) -> Rows:
        """aref of each row."""
        return [[row.aref] for row in self.rows]

    @property
    def laws(self) -> list[Law]:
        """The law of each row."""
        return [row.law for row in self.rows]

    def forces(self, f: Rows) -> list[Scalar]:
        """J^T f."""
        return [row.entries[0] * force for row, (force,) in zip(self.rows, f, strict=True)]

    def places(self) -> list[tuple[int, int]]:
        """The rows and columns of what `stiffness` gives."""
        return [(i, i) for i in range(len(self.rows))]

    def stiffness(self, C: Sequence[Matrix]) -> list[Scalar]:
        """The diagonal of J^T C J, whose entries of J are 1 or -1."""
        return [c[0][0] for c in C]
