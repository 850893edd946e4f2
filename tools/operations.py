"""Write docs/operations.md: the arithmetic of each algorithm, beside the literature's.

The counts in tables of other pages are brought up to date, too.

python tools/operations.py
"""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import kinetree as kt
from kinetree.cli.operations import Count, counts
from kinetree.model.joints import Revolute
from kinetree.robots.building import random_inertia
from kinetree.spatial import Rotation, Transform, Vector3

PAGE = Path(__file__).parents[1] / "docs/operations.md"
ROW = re.compile(r"^\| `(\w+)`(?:, `([\w-]*)`)? \| (?:\d+|\?) \| (?:\d+|\?) \|$", re.MULTILINE)
"""A row in the table of another page: quantity, method, multiplications, additions."""
SHOWN = (
    "inverse_dynamics",
    "bias_forces",
    "gravity_forces",
    "mass_matrix",
    "mass_matrix_inverse",
    "forward_dynamics",
    "jacobian",
    "momentum_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "gravity_forces_derivatives",
    "mass_matrix_derivatives",
    "momentum_derivatives",
)


def manipulator(n: int) -> kt.Robot:
    """The literature's general manipulator: n revolute joints by Denavit and Hartenberg's rules."""
    rng = random.Random(1)
    assembly = kt.Assembly(f"general {n}R manipulator", "base", random_inertia(rng))
    parent = "base"
    for i in range(1, n + 1):
        twist = Rotation.about(Vector3(1.0, 0.0, 0.0), rng.uniform(-math.pi, math.pi))
        shift = Vector3(rng.uniform(0.1, 0.5), 0.0, 0.0) + twist @ Vector3(0.0, 0.0, 0.3)
        place = Transform(twist, shift) if i > 1 else Transform.identity()
        assembly.add(f"link{i}", parent, Revolute("z"), place, random_inertia(rng))
        parent = f"link{i}"
    return assembly.robot("fixed")


ROBOTS = {
    "general 6R manipulator": manipulator(6),
    "arm": kt.robots.arm(),
    "quadruped": kt.robots.quadruped(),
    "human": kt.robots.human(),
}

HEAD = """# Operations

The number of multiplications + additions that each algorithm needs for one state, after constant
folding and common subexpression elimination. `kinetree ops ROBOT` prints the full table for any
robot; `python tools/operations.py` writes this page.

Inverse dynamics has three methods that compute the same function and agree up to rounding. The
derivatives of inverse and of forward dynamics with respect to q, v and a (or tau) have several
methods, too: *graph* is automatic differentiation of the program; the others are recursions
([derivatives.md](derivatives.md)).
"""

LITERATURE = """
## Compared with the literature

Inverse dynamics of a general manipulator with six revolute joints. The papers count by hand and
ignore sines and cosines; so does this table.

| | multiplications | additions |
|-|-:|-:|
| Lagrange, recursive [1] | 2195 | 1719 |
| Newton–Euler [2] | 852 | 738 |
| Cartesian tensors [3] | 489 | 420 |
"""
SOURCES = """
1. J. M. Hollerbach, A recursive Lagrangian formulation of manipulator dynamics, IEEE Trans.
   Systems, Man, and Cybernetics 10 (1980): 412n − 277 and 320n − 201.
2. J. Y. S. Luh, M. W. Walker & R. P. C. Paul, On-line computational scheme for mechanical
   manipulators, J. Dynamic Systems, Measurement, and Control 102 (1980): 150n − 48 and 131n − 48.
3. C. A. Balafoutis, R. V. Patel & P. Misra, Efficient modeling and computation of manipulator
   dynamics using orthogonal Cartesian tensors, IEEE J. Robotics and Automation 4 (1988).
"""


def cell(c: Count) -> str:
    return f"{c.multiplications} + {c.additions}"


def page() -> str:
    """The page."""
    columns = {}
    for name, robot in ROBOTS.items():
        found = counts(robot)
        columns[name] = {(c.quantity, c.method): c for c in found if c.quantity in SHOWN}
    heads = [f"{name} ({robot.nv})" for name, robot in ROBOTS.items()]
    lines = [f"| | {' | '.join(heads)} |", f"|-|{'-:|' * len(ROBOTS)}"]
    for quantity, method in next(iter(columns.values())):
        label = f"{quantity}, {method}" if method else quantity
        cells = [cell(columns[name][quantity, method]) for name in ROBOTS]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    ours = [
        f"| Kinetree, {method} | {c.multiplications} | {c.additions} |"
        for (quantity, method), c in columns["general 6R manipulator"].items()
        if quantity == "inverse_dynamics"
    ]
    table = LITERATURE + "\n".join(ours) + "\n"
    return HEAD + "\n" + "\n".join(lines) + "\n" + table + SOURCES


def row(quantity: str, method: str) -> str:
    """A row in the table of another page: one way, counted for the arm."""
    operations = ROBOTS["arm"].kernel(quantity, method).operations
    additions = operations.get("add", 0) + operations.get("sub", 0)
    label = f"`{quantity}`, `{method}`" if method else f"`{quantity}`"
    return f"| {label} | {operations.get('mul', 0)} | {additions} |"


def counted(text: str) -> str:
    """A page with such rows as they are counted now."""
    return ROW.sub(lambda found: row(found[1], found[2] or ""), text)


if __name__ == "__main__":
    PAGE.write_text(page())
    for other in sorted(PAGE.parent.glob("*.md")):
        other.write_text(counted(other.read_text()))
    print(f"written to {PAGE.parent}")
