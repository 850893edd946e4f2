"""Two bodies that can touch: the rows of their contacts, and what these add to the problem.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 11.1.

Contacts of the same two bodies share J: their forces are summed to one wrench, and their s'' to one
6x6 matrix, before they meet its columns. Motions and wrenches are in the world's axes, at a point
`o` of the second body. The normal points from the first body to the second.

    symbol    code         meaning
    J         columns      the velocity of the second body relative to the first, for each velocity
                           of the robot that moves them
    E         axes         of a contact: the normal and two tangents
    r         r            the point of contact, from o

Cost: O(c + k^2) for c contacts and k columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows
from kinetree.algorithms.dense import dot
from kinetree.algorithms.tree import along
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Twist, Vector3


@dataclass(frozen=True)
class Contact:
    """One point at which two bodies can touch.

    axes: the normal; with friction, the tangents after it.
    aref: the reference acceleration of each row.
    """

    r: Vector3
    axes: tuple[Vector3, ...]
    aref: tuple[Scalar, ...]
    law: Law

    def rows(self, A: Twist) -> list[Scalar]:
        """The rows of a motion of the couple: along the axes, then about them."""
        at_point = A.linear + A.angular.cross(self.r)
        slid = [axis.dot(at_point) for axis in self.axes]
        turned = [axis.dot(A.angular) for axis in self.axes[: len(self.aref) - len(slid)]]
        return [*slid, *turned]

    def wrenches(self) -> list[Force]:
        """The wrench of a unit force of each row, at o."""
        pushes = [Force(axis, self.r.cross(axis)) for axis in self.axes]
        twists = self.axes[: len(self.aref) - len(pushes)]
        return [*pushes, *(Force(Vector3.zero(), axis) for axis in twists)]


@dataclass(frozen=True)
class Couple(Part):
    """Two bodies that can touch at some points."""

    columns: list[Twist]
    contacts: list[Contact]

    def moved(self, a: Sequence[Scalar]) -> Rows:
        """J a."""
        A = along(self.columns, a)
        return [contact.rows(A) for contact in self.contacts]

    @property
    def arefs(self) -> Rows:
        """aref of each row."""
        return [list(contact.aref) for contact in self.contacts]

    @property
    def laws(self) -> list[Law]:
        """The law of each contact."""
        return [contact.law for contact in self.contacts]

    def forces(self, f: Rows) -> list[Scalar]:
        """J^T f."""
        total = _sum_of_forces(self.contacts, f)
        return [column.dot(total) for column in self.columns]

    def places(self) -> list[tuple[int, int]]:
        """The rows and columns of what `stiffness` gives."""
        return [(i, j) for i in range(len(self.columns)) for j in range(i + 1)]

    def stiffness(self, C: Sequence[Matrix]) -> list[Scalar]:
        """The lower triangle of J^T C J."""
        K = [[0] * 6 for _ in range(6)]
        for contact, C_c in zip(self.contacts, C, strict=True):
            _add_square(K, [list(wrench) for wrench in contact.wrenches()], C_c)
        columns = [list(column) for column in self.columns]
        pushed = [[dot(row, column) for row in K] for column in columns]
        return [dot(columns[j], pushed[i]) for i, j in self.places()]


def _sum_of_forces(contacts: Sequence[Contact], f: Rows) -> Force:
    total = Force.zero()
    for contact, f_c in zip(contacts, f, strict=True):
        count = len(contact.axes)
        push = _combined(contact.axes, f_c[:count])
        twist = _combined(contact.axes, f_c[count:])
        total = total + Force(push, contact.r.cross(push) + twist)
    return total


def _combined(axes: Sequence[Vector3], f: Sequence[Scalar]) -> Vector3:
    total = Vector3.zero()
    for axis, f_j in zip(axes, f, strict=False):
        total = total + axis * f_j
    return total


def _add_square(K: Matrix, T: Sequence[Sequence[Scalar]], C: Matrix) -> None:
    """K <- K + T^T C T, symmetric."""
    for i, row in enumerate(T):
        weighted = [sum((C[i][j] * T[j][c] for j in range(len(T))), start=0) for c in range(6)]
        for a in range(6):
            for b in range(a + 1):
                K[a][b] = K[a][b] + row[a] * weighted[b]
    for a in range(6):
        for b in range(a):
            K[b][a] = K[a][b]
