"""The memory of a Riccati recursion: its matrices, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetree.compiler.native.layout import RiccatiPlan


class RiccatiRoom:
    """The offsets of a recursion's matrices; the symbols are those of `riccati.py`.

    Arguments:
        plan: the arguments of the function.
        tile: rows and columns are rounded up to multiples of it.
        right: the columns of a row of [Q_uu Q_ux Q_u] that hold Q_u.

    Attributes:
        nx, nu, nz: the numbers of states, of controls and of both.
        n: of velocities, half of nx.
        head, rows: of a step by Euler's method: the head of W, and the number of rows R of W.
        x, u, z: the same, rounded up.
        width: of a row of [Q_uu Q_ux Q_u].
        shared: the sizes of the matrices that every recursion has.
        starts: the offset of each matrix.
        total: the size of all.
    """

    def __init__(self, plan: Any, tile: int, right: int) -> None:
        nx, nu = plan[RiccatiPlan.NX], plan[RiccatiPlan.NU]
        self.nx, self.nu, self.nz = nx, nu, nx + nu
        self.n, self.head = nx // 2, plan[RiccatiPlan.HEAD]
        self.rows = self.head + self.n
        self.x, self.u, self.z = ((n + (tile - 1)) // tile * tile for n in (nx, nu, nx + nu))
        self.width = self.u + self.x + right
        self.shared = {
            "S": self.x * self.x,
            "s": self.x,
            "W": self.x * self.z,
            "SW": self.x * self.z,
            "FS": self.x * self.x,
            "FSW": self.x * self.z,
            "Fs": self.x,
            "H": self.z * self.z,
            "g": self.z,
            "rows": self.u * self.width,
            "K": self.u * self.x,
            "T": self.u * self.x,
            "k": self.u,
            "r": self.u,
        }
        self.starts: dict[str, Any] = {}
        self.total: Any = nx * 0

    def place(self, sizes: Mapping[str, Any]) -> None:
        """Place matrices after those that are already placed.

        Arguments:
            sizes: of each matrix, by name.
        """
        for name, size in sizes.items():
            self.starts[name] = self.total
            self.total = self.total + size
