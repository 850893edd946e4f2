"""`kinetree info`: what a robot consists of."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from kinetree.cli.info_equipment import equipment, equipment_tables
from kinetree.model.constraints import Constraint, FrameConstraint, LoopJoint
from kinetree.model.model import WORLD, Body
from kinetree.robot import Robot


def tree(robot: Robot) -> Tree:
    """The bodies under their parents."""
    top = Tree("world")
    nodes: list[Tree] = []
    for body in robot.model.bodies:
        parent = top if body.parent == WORLD else nodes[body.parent]
        words = f"{body.joint_name}, {_kind(body)}, {float(body.inertia.mass):.3g} kg"
        nodes.append(parent.add(f"{escape(body.name)}  [dim]{escape(words)}[/]"))
    return top


def summary(robot: Robot) -> dict[str, Any]:
    """Everything that the report shows, as values that JSON has; null where there is no limit."""
    model = robot.model
    return {
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": sum(float(body.inertia.mass) for body in model.bodies),
        "gravity": robot.gravity.tolist(),
        "bodies": [_body(robot, body) for body in model.bodies],
        "coordinates": _rows(
            robot.labels.q,
            robot.labels.q_units,
            lower=robot.limits.lower,
            upper=robot.limits.upper,
        ),
        "velocities": _rows(
            robot.labels.v,
            robot.labels.v_units,
            limit=robot.limits.velocity,
            effort=robot.limits.effort,
        ),
        "frames": [
            {"name": frame.name, "body": _name(robot, frame.body)} for frame in model.frames
        ],
        "constraints": [_constraint(c) for c in model.constraints],
        **equipment(model),
    }


def report(robot: Robot, console: Console | None = None) -> None:
    """Print the tree, the masses, the limits, the frames, the constraints and the equipment."""
    console = console or Console(highlight=False)
    found = summary(robot)
    freedom = f"{robot.nv} degrees of freedom, nq={robot.nq}, nv={robot.nv}"
    console.rule(f"[bold]{escape(robot.name)}[/]: {freedom}")
    console.print(tree(robot))
    gravity = ", ".join(f"{x:g}" for x in found["gravity"])
    console.print(f"\nmoving mass {found['mass']:.4g} kg; gravity ({gravity}) m/s²\n")
    console.print(_limits("coordinate", found["coordinates"], "lower", "upper"))
    console.print()
    console.print(_limits("velocity", found["velocities"], "limit", "effort"))
    fixed = [f for f in found["frames"] if f["name"] != f["body"]]
    console.print(f"\n{len(found['frames'])} frames; besides the bodies' own:")
    for frame in fixed:
        console.print(f"  {escape(frame['name'])}  [dim]on {escape(frame['body'])}[/]")
    if found["constraints"]:
        console.print()
        console.print(_constraints(found["constraints"]))
    for table in equipment_tables(found):
        console.print()
        console.print(table)


def _constraint(c: Constraint) -> dict[str, Any]:
    joint = c.joint if isinstance(c, LoopJoint) else None
    base = ["world"] if isinstance(c, FrameConstraint) and c.base is None else []
    return {
        "name": c.name,
        "kind": type(c).__name__.lower() + (f" ({type(joint).__name__.lower()})" if joint else ""),
        "between": [*c.frames, *base, *c.joints],
        "rows": [label.name for label in c.row_labels()],
    }


def _body(robot: Robot, body: Body) -> dict[str, Any]:
    center, _ = body.inertia.center_and_rotational()
    follows = {} if body.follows is None else {"follows": _name(robot, body.follows)}
    return {
        "name": body.name,
        "parent": _name(robot, body.parent),
        "joint": body.joint_name,
        "kind": _kind(body),
        "mass": float(body.inertia.mass),
        "center_of_mass": [float(x) for x in center],
        **follows,
    }


def _kind(body: Body) -> str:
    return type(body.joint).__name__.lower()


def _name(robot: Robot, body: int) -> str:
    return "world" if body == WORLD else robot.bodies[body]


def _rows(names: Any, units: Any, **columns: Any) -> list[dict[str, Any]]:
    """One row a name, with its unit and finite numbers or None."""
    rows = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        numbers = {key: _finite(float(values[k])) for key, values in columns.items()}
        rows.append({"name": name, "unit": unit, **numbers})
    return rows


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _limits(title: str, rows: list[dict[str, Any]], *keys: str) -> Table:
    table = Table(title, "unit", *keys, box=None)
    for row in rows:
        shown = ("-" if row[key] is None else f"{row[key]:.4g}" for key in keys)
        table.add_row(escape(row["name"]), row["unit"], *shown)
    return table


def _constraints(rows: list[dict[str, Any]]) -> Table:
    table = Table("constraint", "kind", "between", "rows", box=None)
    for row in rows:
        between, names = ", ".join(row["between"]), " ".join(row["rows"])
        table.add_row(*map(escape, (row["name"], row["kind"], between, names)))
    return table
