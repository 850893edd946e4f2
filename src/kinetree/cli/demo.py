"""The report of `kinetree demo`: a robot, its dynamics at a state, and how fast they are."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from kinetree.cli.info import tree
from kinetree.cli.timing import seconds
from kinetree.compiler.runtime.cpu.threads import get_threads, set_threads
from kinetree.robot import Robot

BATCH = 10_000


def report(robot: Robot, console: Console | None = None) -> None:
    """Print the report."""
    console = console or Console(highlight=False)
    console.rule(
        f"[bold]{robot.name}[/]: {robot.nv} degrees of freedom, {len(robot.bodies)} bodies"
    )
    console.print(tree(robot))
    started = time.perf_counter()
    rng = np.random.default_rng(0)
    q = robot.random(rng)
    v, a = rng.standard_normal((2, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    qdd, M = robot.forward_dynamics(q, v, tau), robot.mass_matrix(q)
    took = time.perf_counter() - started
    console.print(f"\ncompiled (or read from the cache) and called in {took:.2f} s\n")
    if robot.nv <= 12:
        console.print(_vectors(robot, q, v, a, tau))
        console.print("\nmass matrix, kg m²")
        console.print(_matrix(M))
    console.print()
    console.print(_identities(robot, q, v, a, tau, qdd, M))
    console.print()
    console.print(_speeds(robot))


def _vectors(robot: Robot, q: Any, v: Any, a: Any, tau: Any) -> Table:
    table = Table("joint", "q", "v", "a", "tau = ID(q, v, a)", title="a random state", box=None)
    names = [
        name if nv == 1 else f"{name}[{k}]"
        for name, nv in (
            (robot.model.bodies[i].joint_name, robot.model.bodies[i].joint.nv)
            for i in robot.model.coordinate_order
        )
        for k in range(nv)
    ]
    shown = robot.difference(robot.neutral(), q)  # one number a degree of freedom
    for row in zip(names, shown, v, a, tau, strict=True):
        table.add_row(row[0], *(f"{x: .4f}" for x in row[1:]))
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _matrix(M: np.ndarray) -> str:
    return "\n".join("  " + " ".join(f"{x: 8.4f}" for x in row) for row in M)


def _identities(robot: Robot, q: Any, v: Any, a: Any, tau: Any, qdd: Any, M: Any) -> Table:
    """Identities between the quantities, and their residuals."""
    g, h = robot.gravity_forces(q), robot.bias_forces(q, v)
    rest = np.zeros(robot.nv)
    units = np.eye(robot.nv)
    columns = robot.inverse_dynamics(q, rest, units) - g
    scale, force = np.abs(M).max(), np.abs(tau).max()
    table = Table("identity", "relative residual", box=None)
    rows = (
        ("FD(q, v, ID(q, v, a)) = a", np.abs(qdd - a).max() / np.abs(a).max()),
        ("ID(q, v, a) = M a + bias", np.abs(M @ a + h - tau).max() / force),
        ("M = ∂ID/∂a, column by column", np.abs(columns.T - M).max() / scale),
        ("M = Mᵀ", np.abs(M - M.T).max() / scale),
        ("(q ⊕ v) ⊖ q = v", np.abs(robot.difference(q, robot.integrate(q, v)) - v).max()),
    )
    for name, residual in rows:
        table.add_row(name, f"{residual:.1e}")
    positive = float(np.linalg.eigvalsh(M).min())
    table.add_row("smallest eigenvalue of M", f"{positive:.3g} > 0" if positive > 0 else "not > 0")
    return table


def _speeds(robot: Robot) -> Table:
    """Operations and speed of each quantity: one call, and a batch on one thread and on all."""
    rng = np.random.default_rng(1)
    q = robot.random(rng, BATCH)
    v, a = rng.standard_normal((2, BATCH, robot.nv))
    table = Table(
        "quantity",
        "mul",
        "add",
        "other",
        "one call",
        f"batch of {BATCH:,}",
        "all threads",
        box=None,
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for quantity, arrays in (
        ("poses", (q,)),
        ("inverse_dynamics", (q, v, a)),
        ("mass_matrix", (q,)),
        ("forward_dynamics", (q, v, a)),
    ):
        kernel = robot.kernel(quantity)
        ops = kernel.operations
        multiplications, additions = ops.get("mul", 0), ops.get("add", 0) + ops.get("sub", 0)
        other = sum(ops.values()) - multiplications - additions
        out = kernel(*arrays)
        single = [x[0].copy() for x in arrays]
        one = seconds(lambda k=kernel, s=single: k(*s))  # type: ignore[misc]
        many = seconds(lambda k=kernel, x=arrays, o=out: k(*x, out=o)) / BATCH  # type: ignore[misc]
        before = get_threads()
        set_threads(None)
        threaded = seconds(lambda k=kernel, x=arrays, o=out: k(*x, out=o)) / BATCH  # type: ignore[misc]
        set_threads(before)
        table.add_row(
            quantity,
            f"{multiplications:,}",
            f"{additions:,}",
            f"{other:,}",
            f"{one * 1e6:.2f} µs",
            f"{1e-6 / many:.1f} M states/s",
            f"{1e-6 / threaded:.1f} M states/s",
        )
    return table
