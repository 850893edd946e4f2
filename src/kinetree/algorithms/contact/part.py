"""A part of a problem of soft constraints: a couple of bodies, rows, or a crowd of couples.

Source: E. Todorov (2014), as in `reference`, and MuJoCo's documentation, "Computation".

A part knows the columns of its Jacobian J, maps accelerations a of the robot to those of its rows,
x = J a - aref, and adds what its laws give to the gradient and the Hessian of the problem:

    g <- g - J^T f(x),    H <- H + J^T s''(x) J                                              (8)

    symbol    code        meaning
    J a       moved       accelerations of the rows
    J^T f     forces      on the velocities that move the part
    J^T C J   stiffness   the entries of `places`

Parts are dataclasses of scalars, so that they can be arguments of a function of a program.

Cost: that of its methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.dense import dot
from kinetree.scalar import Scalar

Rows = list[list[Scalar]]
"""A number for each row, grouped by contact."""
Sums = tuple[list[Scalar], list[Scalar], Rows]
"""g and H of a part's velocities, and x of its rows."""


class Part(ABC):
    """A group of soft constraints in a problem."""

    @abstractmethod
    def moved(self, a: Sequence[Scalar]) -> Rows:
        """J a."""

    @property
    @abstractmethod
    def arefs(self) -> Rows:
        """aref of each row."""

    @property
    @abstractmethod
    def laws(self) -> list[Law]:
        """The law of each contact, or of each row."""

    @abstractmethod
    def forces(self, f: Rows) -> list[Scalar]:
        """J^T f."""

    @abstractmethod
    def places(self) -> list[tuple[int, int]]:
        """The rows and columns of what `stiffness` gives."""

    @abstractmethod
    def stiffness(self, C: Sequence[Matrix]) -> list[Scalar]:
        """Entries of the lower triangle of J^T C J."""

    @property
    def zeros(self) -> Rows:
        """A zero for each row."""
        return [[0.0 for _ in rows] for rows in self.arefs]

    def residuals(self, a: Sequence[Scalar]) -> Rows:
        """x = J a - aref."""
        return [
            [u - ref for u, ref in zip(*pair, strict=True)]
            for pair in zip(self.moved(a), self.arefs, strict=True)
        ]

    def responses(self, x: Rows) -> Iterator[tuple[list[Scalar], Matrix]]:
        """The force and s'' of each contact, or of each row."""
        return (law.response(x_c) for law, x_c in zip(self.laws, x, strict=True))

    def added(self, a: Sequence[Scalar], g: Sequence[Scalar], H: Sequence[Scalar]) -> Sums:
        """g and H with the part in them, and x (8)."""
        x = self.residuals(a)
        answers = list(self.responses(x))
        forces = self.forces([f for f, _ in answers])
        stiffness = self.stiffness([C for _, C in answers])
        return (
            [s - f for s, f in zip(g, forces, strict=True)],
            [h + more for h, more in zip(H, stiffness, strict=True)],
            x,
        )

    def slope(self, x: Rows, y: Rows, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The first and second derivative of s by alpha, at x + alpha y."""
        slope: Scalar = 0
        rise: Scalar = 0
        there = [
            [u + alpha * d for u, d in zip(*pair, strict=True)] for pair in zip(x, y, strict=True)
        ]
        for (force, C), y_c in zip(self.responses(there), y, strict=True):
            slope = slope - dot(force, y_c)
            rise = rise + dot(y_c, [dot(row, y_c) for row in C])
        return slope, rise


# The methods as module-level functions: a program has one routine for equal functions and parts.


def added(part: Part, a: Sequence[Scalar], g: Sequence[Scalar], H: Sequence[Scalar]) -> Sums:
    """`Part.added`."""
    return part.added(a, g, H)


def moved(part: Part, a: Sequence[Scalar]) -> Rows:
    """`Part.moved`."""
    return part.moved(a)


def part_slope(part: Part, x: Rows, y: Rows, alpha: Scalar) -> tuple[Scalar, Scalar]:
    """`Part.slope`."""
    return part.slope(x, y, alpha)
