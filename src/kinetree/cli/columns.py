"""The columns of a table for the arguments and results of a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError
from kinetree.files.column_names import find_column
from kinetree.model import Model
from kinetree.quantities import QUANTITIES, Kind
from kinetree.quantities.labels import labels
from kinetree.quantities.row import SIX_ROWS, SQUARE
from kinetree.robot import Robot

SIX = ("vx", "vy", "vz", "wx", "wy", "wz")


class Operand(NamedTuple):
    """An argument or a result of a kernel.

    shape: of one state's value.
    columns: the name of each of its numbers in a table, such as "q.elbow" or "M.elbow.wrist".
    """

    name: str
    shape: tuple[int, ...]
    columns: tuple[str, ...]

    @property
    def instead(self) -> str:
        """What a message adds if it is missing: an argument other than q may be zero."""
        free = self.name != "q" and self.columns != (self.name,)
        return f". --zero {self.name} takes {self.name} as zero" if free else ""


def operands(robot: Robot, kernel: Kernel) -> tuple[list[Operand], list[Operand]]:
    """The arguments and the results of a quantity's kernel.

    Arguments:
        robot, kernel: the latter by `robot.kernel`.
    """
    row = QUANTITIES[kernel.name]
    kinds = {**dict(row.arguments), **row.results}
    shapes = kernel.interface
    inputs, outputs = (
        [_operand(robot.model, name, tuple(shape), kinds.get(name)) for name, shape in part]
        for part in (shapes.inputs, shapes.outputs)
    )
    return inputs, outputs


def _operand(model: Model, name: str, shape: tuple[int, ...], what: Kind | str | None) -> Operand:
    if not shape:
        return Operand(name, shape, (name,))
    return Operand(name, shape, tuple(f"{name}.{x}" for x in _entries(model, shape, what)))


def _entries(model: Model, shape: tuple[int, ...], what: Kind | str | None) -> list[str]:
    """The name of each number of an array; its indices where nothing better is known."""
    if isinstance(what, Kind):
        names = [label.name for label in labels(model, what)]
        if len(names) == math.prod(shape):
            return names
    velocities = [label.name for label in model.velocity_labels]
    axes: list[Iterable[str]] = [[str(k) for k in range(n)] for n in shape]
    words = what if isinstance(what, str) else ""
    if words.endswith(SQUARE) and shape == (model.nv, model.nv):
        axes = [velocities, velocities]
    elif words.endswith(SIX_ROWS) and shape == (6, model.nv):
        axes = [SIX, velocities]
    return [".".join(words) for words in product(*axes)]


def find_columns(
    operand: Operand, present: Sequence[str], file: str, renamed: Mapping[str, str]
) -> list[str]:
    """The columns of a file that hold an argument, as `files.column_names` has it.

    Arguments:
        present: the columns of the file.
        file: its name, for the message.
        renamed: the names that columns have in the file, by what they are.
    """
    known = set(present)
    for what, name in renamed.items():
        if name not in known:
            swapped = f"; write --column {name}={what}" if what in known else ""
            raise KinetreeError(f"{file}: column {name!r} is missing (for {what!r}){swapped}")
    if operand.columns == (operand.name,):  # a number, or a column that is kept
        name = renamed.get(operand.name, operand.name)
        found = [name if name in known else None]
    else:
        found = [
            find_column(known, operand.name, name.removeprefix(f"{operand.name}."), k, renamed)
            for k, name in enumerate(operand.columns)
        ]
    if None not in found:
        return [name for name in found if name is not None]
    numbered = [f"{operand.name}_{k}" for k in range(len(operand.columns))]
    missing = operand.columns[found.index(None)]
    listed = ", ".join(present[:8]) + (", ..." if len(present) > 8 else "")
    raise KinetreeError(
        f"{file}: column {missing!r} is missing; the file has {listed}. Expected the columns "
        f"{_listed(operand.columns)}, or {_listed(numbered)}{operand.instead}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ..., {names[-1]}"
