"""`kinetree ops`: the operation counts of every algorithm for a robot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

from kinetree.errors import KinetreeError
from kinetree.quantities import QUANTITIES
from kinetree.quantities.cartesian import CARTESIAN
from kinetree.robot import Robot

SLOW = {"lagrange", "implicit-midpoint", "rk4", "variational"}
"""Methods whose programs are large: counted only if asked for."""
LARGE = {name for name in QUANTITIES if "second" in name or "inverse_derivatives" in name} | {
    "held_linearization",
    "step_derivatives",
    "step_from",
}
"""Quantities whose programs are: for small robots."""


class Count(NamedTuple):
    """The operations of one quantity by one method, for one state."""

    quantity: str
    method: str
    multiplications: int
    additions: int
    divisions: int
    functions: int
    """Sines, cosines, roots and the like."""

    @property
    def total(self) -> int:
        return self.multiplications + self.additions + self.divisions + self.functions


def counts(robot: Robot, everything: bool = False) -> Iterator[Count]:
    """The counts of every quantity and method; of frames, the robot's last."""
    for quantity, row in QUANTITIES.items():
        settings: dict[str, Any] = {
            name: robot.frames[-1] if name == "frame" else valid[0]
            for name, valid in row.settings.items()
            if name != "accelerated"
        }
        if "accelerated" in row.settings or quantity == "chart_volumes" or quantity in CARTESIAN:
            continue
        for method in row.methods:
            if (method in SLOW or quantity in LARGE) and not everything:
                continue
            try:
                operations = robot.kernel(quantity, method, **settings).operations
            except KinetreeError:  # a method that does not take this robot
                continue
            multiplications = operations.pop("mul", 0)
            additions = sum(operations.pop(name, 0) for name in ("add", "sub"))
            divisions = operations.pop("div", 0)
            others = sum(operations.values())
            yield Count(quantity, method, multiplications, additions, divisions, others)


def summary(robot: Robot, everything: bool) -> list[dict[str, Any]]:
    """The counts as values that JSON has."""
    return [{**c._asdict(), "total": c.total} for c in counts(robot, everything)]


def report(robot: Robot, everything: bool, markdown: bool) -> None:
    """Print the table."""
    console = Console(highlight=False)
    rows = list(
        track(counts(robot, everything), "counting", console=Console(stderr=True), transient=True)
    )
    if markdown:
        console.print(markdown_table(rows), soft_wrap=True, markup=False)
        return
    title = f"{robot.name}: {robot.nv} degrees of freedom; operations for one state"
    table = Table(
        title=title, caption="×: multiplications, ±: additions, ÷: divisions, f: sines..."
    )
    table.add_column("quantity", overflow="fold")
    table.add_column("method", no_wrap=True)
    for head in ("×", "±", "÷", "f", "total"):
        table.add_column(head, justify="right", no_wrap=True)
    for c in rows:
        table.add_row(*(str(x) for x in (*c, c.total)))
    console.print(table)


def markdown_table(rows: list[Count]) -> str:
    """The counts as a table in Markdown."""
    lines = [
        "| quantity | method | multiplications | additions | divisions | functions | total |",
        "|-|-|-:|-:|-:|-:|-:|",
    ]
    lines += [f"| {' | '.join(str(x) for x in (*c, c.total))} |" for c in rows]
    return "\n".join(lines)
