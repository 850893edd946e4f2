"""Closures solved by Newton's method: a fixed number of steps from a fitted start.

Source: Newton, and the implicit function theorem; for dual numbers A. Griewank &
A. Walther, Evaluating Derivatives (2008), section 15.3: a step at the solution, with the Jacobian
there, gives the exact first derivative, and each further step the next order.

The steps are on plain values. If coordinates are dual numbers, one more step is taken for each
level of nesting, with the last Jacobian: each makes one more order exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.embedding.closures import Closure
from kinetree.model.embedding.loop_map import Stage
from kinetree.model.embedding.start import Fit, lifted_values, plain_values
from kinetree.model.joints import Joint
from kinetree.model.joints.inverse import solve_normal_equations
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift


@dataclass(frozen=True)
class Newton(Stage):
    """Newton's method on the rows of closures.

    With more rows than unknown velocities it is the Gauss-Newton method; at a solution, all rows
    vanish.

    Arguments:
        closures: their errors become zero.
        joints: the unknown coordinates' joints, in their order.
        start: gives the first values from the independent coordinates.
        steps: their number.
    """

    closures: tuple[Closure, ...]
    joints: tuple[Joint, ...]
    start: Fit
    steps: int

    def solve(self, known: Sequence[Scalar]) -> list[Scalar]:
        plain, levels = plain_values(known)
        s = self._normalized(self.start.values(plain[: len(self.start.axes)]))
        for _ in range(self.steps):
            s = self._step(s, self._columns(plain, s), self._error(plain, s))
        if levels:
            columns = [lifted_values(column, levels) for column in self._columns(plain, s)]
            moving, s = lifted_values(known, levels), lifted_values(s, levels)
            for _ in range(levels):
                s = self._step(s, columns, self._error(moving, s))
        return s

    def _error(self, known: Sequence[Scalar], s: Sequence[Scalar]) -> list[Scalar]:
        values = [*known, *s]
        return [x for closure in self.closures for x in closure.error(values)]

    def _columns(self, known: Sequence[Scalar], s: Sequence[Scalar]) -> list[list[Scalar]]:
        """The derivative of the errors by each unknown velocity."""
        columns = []
        still = [Dual(x, 0) for x in known]
        for joint, first in self._parts():
            q = s[first : first + joint.nq]
            for k in range(joint.nv):
                rates = joint.coordinate_rates(q, [1 if i == k else 0 for i in range(joint.nv)])
                moving = [Dual(x, 0) for x in s]
                moving[first : first + joint.nq] = map(Dual, q, rates)
                columns.append([lift(x).rate for x in self._error(still, moving)])
        return columns

    def _step(
        self, s: Sequence[Scalar], columns: list[list[Scalar]], error: Sequence[Scalar]
    ) -> list[Scalar]:
        step = solve_normal_equations(columns, [-e for e in error])
        moved: list[Scalar] = []
        at = 0
        for joint, first in self._parts():
            moved += joint.integrate(s[first : first + joint.nq], step[at : at + joint.nv])
            at += joint.nv
        return moved

    def _normalized(self, s: Sequence[Scalar]) -> list[Scalar]:
        return [
            x
            for joint, first in self._parts()
            for x in joint.normalized(s[first : first + joint.nq])
        ]

    def _parts(self) -> list[tuple[Joint, int]]:
        """Each joint and the index of its first coordinate."""
        parts, first = [], 0
        for joint in self.joints:
            parts.append((joint, first))
            first += joint.nq
        return parts
