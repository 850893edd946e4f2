"""The laws of soft constraints: the force of a few rows as a function of their accelerations.

Source: MuJoCo's documentation, "Computation", section "Constraint model"; E. Todorov (2014), as in
`reference`.

Each law is the negative gradient of a convex function s of x = J a - aref, with D = 1 / R:

    Quadratic    s = D/2 x^2                       equalities: they pull and push              (3)
    OneSided     s = D/2 min(x, 0)^2               limits, frictionless contacts               (4)
    Huber        s = D/2 x^2 while |D x| <= h      dry friction of at most h; linear beyond    (5)
    Pyramid      s = sum of OneSided over          contact, a polyhedral cone
                 the edges e = x_0 +- mu_j x_j                                                 (6)
    Ellipse      s = 0 above the dual cone,        contact, an elliptic cone
                 D/2 |x|^2 below the polar one, and between them
                 s = D_0 / (2 mu^2 (1 + mu^2)) (mu x_0 - mu |t|)^2, t_j = mu_j x_j             (7)

    rows of a contact: x_0 along the normal, x_1 x_2 sliding, x_3 spinning about the normal,
    x_4 x_5 rolling about the tangents; as many as the contact's dimension

Cost: a few operations for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.elliptic import Ellipse
from kinetree.scalar import (
    Scalar,
    absolute,
    less,
    maximum,
    minimum,
    select,
)

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Quadratic:
    """Equation (3), of one row."""

    D: Scalar

    def response(self, x: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """The force -s', and s''."""
        return [-self.D * x[0]], [[self.D]]


@dataclass(frozen=True)
class OneSided:
    """Equation (4), of one row."""

    D: Scalar

    def response(self, x: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """The force -s', and s''."""
        acting = select(less(x[0], 0.0), self.D, 0.0)
        return [-acting * x[0]], [[acting]]


@dataclass(frozen=True)
class Huber:
    """Equation (5), of one row.

    most: h, the largest force.
    """

    D: Scalar
    most: Scalar

    def response(self, x: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """The force -s', and s''."""
        force = maximum(minimum(-self.D * x[0], self.most), -self.most)
        sticks = less(absolute(self.D * x[0]), self.most)
        return [force], [[select(sticks, self.D, 0.0)]]


@dataclass(frozen=True)
class Pyramid:
    """Equation (6).

    friction: mu_1, mu_2, ..., one for each row after the first.
    """

    D: Scalar
    friction: tuple[Scalar, ...]

    def response(self, x: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """The force -s', and s''."""
        n = len(x)
        force: list[Scalar] = [0] * n
        C: Matrix = [[0] * n for _ in x]
        for j, mu in enumerate(self.friction, 1):
            rises, falls = x[0] + x[j] * mu, x[0] - x[j] * mu
            a, b = (select(less(edge, 0.0), self.D, 0.0) for edge in (rises, falls))
            f_a, f_b = -a * rises, -b * falls
            force[0] = force[0] + f_a + f_b
            force[j] = (f_a - f_b) * mu
            C[0][0] = C[0][0] + a + b
            C[0][j] = C[j][0] = (a - b) * mu
            C[j][j] = (a + b) * (mu * mu)
        return force, C


Law = Quadratic | OneSided | Huber | Pyramid | Ellipse
