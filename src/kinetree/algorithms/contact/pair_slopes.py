"""The derivatives of the wrench of a pair of shapes, by their poses and their motions.

Source: E. Todorov (2014), as in `reference`, for the wrench; its derivatives follow by the chain
rule. Everything is in the world's axes, at the world's origin.

A pair pushes the second body with F = T^T f(x), x = T A + B T V + k d r e_0, and the first one with
-F. With C = s'' of its laws,

    dF/dA = - T^T C T,    dF/dV = - T^T C B T                                                  (17)

By the pose of the second body, F is differentiated by dual numbers, along six motions m. A pair
that moves as a whole carries its touches along. So the change by a motion m of the first body is
that by m of both bodies, less that by m of the second:

    d touch / d X_1 m = m x touch - d touch / d X_2 m                                          (18)

If a body moves by m, its velocity V_b and acceleration A_b stay constant:

    P_b m = dF/dX_b m -+ (dF/dV (V_b x m) + dF/dA (A_b x m)),    - for the second body         (18a)

    symbol    code           meaning
    A, V      A, V           acceleration and velocity of the second body, less those of the first
    T         wrenches       a row of a contact: its wrench for a unit force
    B         b              damping of the references (1), for each row
    m         UNITS          the six motions of a body

Cost: that of the pair's touches and rows, six or twelve times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kinetree.algorithms.contact.contact_rows import ContactLaws, Meeting, reach
from kinetree.algorithms.contact.couple import Contact
from kinetree.algorithms.contact.moved_touch import UNITS, carried, moved, rates
from kinetree.algorithms.contact.reference import Reference
from kinetree.algorithms.contact.sized import resized
from kinetree.algorithms.contact.slopes import Moving, Slopes
from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.contact.touches import touches
from kinetree.algorithms.dense import dot
from kinetree.algorithms.tree import combine
from kinetree.model.geometry import ContactPair, Solid
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist

Numbers = tuple[Scalar, tuple[Reference, Reference], tuple[Scalar, ...]]
"""A, references and friction of a `Meeting`."""


def slopes_added(
    laws: ContactLaws, pair: ContactPair, shapes: tuple[Solid, Solid]
) -> Callable[..., Slopes]:
    """The function that adds the slopes of a pair to those of a couple.

    Arguments:
        shapes: of the pair; the function serves those in `SIZED` at any size.
    """

    def function(
        X: tuple[Transform, Transform],
        sizes: tuple[list[Scalar], list[Scalar]],
        moving: tuple[Moving, Moving],
        numbers: Numbers,
        so_far: Slopes,
    ) -> Slopes:
        first, second = (resized(shape, x) for shape, x in zip(shapes, sizes, strict=True))

        def found(X2: Transform) -> list[Touch]:
            return touches(first, X[0], second, X2, reach(pair))

        turned = [found(moved(X[1], m)) for m in UNITS]
        for touch, *along in zip(found(X[1]), *turned, strict=True):
            so_far = _Wrench(laws, pair, moving, numbers).added(touch, along, so_far)
        return so_far

    return function


class _Wrench(NamedTuple):
    """The wrench of one touch, as a function of the touch's position."""

    laws: ContactLaws
    pair: ContactPair
    moving: tuple[Moving, Moving]
    numbers: Numbers

    def added(self, touch: Touch, along: Sequence[Touch], so_far: Slopes) -> Slopes:
        """The slopes with those of a touch added.

        Arguments:
            along: the touch, of dual numbers, for each unit motion of the second body.
        """
        contact, F, C = self._at(touch)
        by_V, by_A = self._by_motion(contact, C)
        first, second = self.moving

        def by_pose(where: Touch, m: Twist, body: Moving, sign: float) -> Force:  # (18a)
            left = combine(by_V, body.V.cross(m)) + combine(by_A, body.A.cross(m))
            return self._rate(where) - left * sign

        pairs = list(zip(UNITS, along, strict=True))
        by_first = (by_pose(carried(touch, m, t), m, first, -1.0) for m, t in pairs)
        return Slopes(
            so_far.F + F,
            _sums(so_far.by_first, by_first),
            _sums(so_far.by_second, (by_pose(t, m, second, 1.0) for m, t in pairs)),
            _sums(so_far.by_V, by_V),
            _sums(so_far.by_A, by_A),
        )

    def _at(self, touch: Touch) -> tuple[Contact, Force, list[list[Scalar]]]:
        """The rows of a touch, its wrench, and s''."""
        first, second = self.moving
        at = Meeting(touch, touch.point, second.V - first.V, *self.numbers)
        contact = self.laws.rows(self.pair, at)
        rows = contact.rows(second.A - first.A)
        x = [u - aref for u, aref in zip(rows, contact.aref, strict=True)]
        f, C = contact.law.response(x)
        return contact, combine(contact.wrenches(), f), C

    def _rate(self, touch: Touch) -> Force:
        """The rate of the wrench, from that of a touch."""
        _, F, _ = self._at(touch)
        return Force(rates(F.linear), rates(F.angular))

    def _by_motion(
        self, contact: Contact, C: Sequence[Sequence[Scalar]]
    ) -> tuple[list[Force], list[Force]]:
        """The derivatives by V and A (17)."""
        wrenches, (normal, tangent) = contact.wrenches(), self.numbers[1]
        b = [normal.b, *[tangent.b] * (len(wrenches) - 1)]
        by_V: list[Force] = []
        by_A: list[Force] = []
        for m in UNITS:
            y = [m.dot(wrench) for wrench in wrenches]
            z = [b_j * y_j for b_j, y_j in zip(b, y, strict=True)]
            for found, column in ((by_V, z), (by_A, y)):
                found.append(combine(wrenches, [-dot(row, column) for row in C]))
        return by_V, by_A


def _sums(a: Sequence[Force], b: Iterable[Force]) -> list[Force]:
    """Sums; empty if the first list is empty."""
    return [x + y for x, y in zip(a, b, strict=True)] if a else []
