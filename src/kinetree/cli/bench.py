"""`kinetree bench`: speed on this computer, beside the peers that are installed."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from kinetree.cli.bench_peers import PEERS, Peer
from kinetree.cli.timing import seconds
from kinetree.quantities import calling
from kinetree.robot import Robot
from kinetree.typing import Array, Effect

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
"""What is timed: in this order, of (q, v, a), (q, v, tau) and q."""
LEFT_OUT: tuple[Effect, ...] = (
    "armature",
    "constraints",
    "contacts",
    "damping",
    "friction",
    "limits",
    "springs",
    "tendons",
)
"""What not every library has."""
AGREEMENT = 1e-8
"""Relative: a peer whose results differ by more is not timed."""


class Row(NamedTuple):
    """The times of a quantity, s.

    one: of one call with one state.
    batch: of a state in a batch, on the threads that are set.
    peers: of one call of each peer that agrees, by name.
    """

    quantity: str
    one: float
    batch: float
    peers: dict[str, float]


def measure(robot: Robot, batch: int, total: float) -> tuple[list[Row], list[str]]:
    """Times of each quantity, and remarks on peers that were left out.

    Arguments:
        robot: what not every peer has (rotors, friction, springs, contacts, constraints) is left
            out.
        batch: how many states.
        total: how long to measure each time, s.
    """
    robot = robot.without(*LEFT_OUT)
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch)
    v, a = rng.standard_normal((2, batch, robot.nv))
    peers, remarks = _peers(robot)
    rows = []
    for quantity, arrays in zip(QUANTITIES, ((q, v, a), (q, v, a), (q,)), strict=True):
        state = [x[0].copy() for x in arrays]
        ours = attrgetter(calling(quantity))(robot)
        expected, out = ours(*state), ours(*arrays)
        times = {}
        for name, peer in peers.items():
            found = _peer_time(name, peer, quantity, state, expected, total)
            if isinstance(found, str):
                remarks.append(found)
            else:
                times[name] = found
        one = seconds(lambda f=ours, s=state: f(*s), total)  # type: ignore[misc]
        many = seconds(lambda f=ours, x=arrays, o=out: f(*x, out=o), total)  # type: ignore[misc]
        rows.append(Row(quantity, one, many / batch, times))
    return rows, remarks


def report(
    robot: Robot, rows: list[Row], remarks: list[str], batch: int, console: Console | None = None
) -> None:
    """Print times as a table."""
    console = console or Console(highlight=False)
    names = sorted({name for row in rows for name in row.peers})
    peers_titles = (f"{n}, one call" for n in names)
    table = Table(Column("quantity", no_wrap=True), "one call", *peers_titles, box=None)
    for title in (f"batch of {batch:,}, a state", "states/s"):
        table.add_column(title)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        peers = (f"{row.peers[n] * 1e6:.2f} µs" if n in row.peers else "-" for n in names)
        rate = f"{1e-6 / row.batch:.2f} M"
        table.add_row(
            row.quantity, f"{row.one * 1e6:.2f} µs", *peers, f"{row.batch * 1e9:.0f} ns", rate
        )
    console.rule(f"[bold]{escape(robot.name)}[/]: {robot.nv} degrees of freedom")
    console.print(table)
    for remark in remarks:
        console.print(escape(remark))


def _agrees(theirs: Array, ours: Array) -> bool:
    scale = np.abs(ours).max() or 1.0
    return theirs.shape == ours.shape and bool(np.abs(theirs - ours).max() < AGREEMENT * scale)


def _peers(robot: Robot) -> tuple[dict[str, Peer], list[str]]:
    """The peers that are installed and take this robot, and remarks on the others."""
    found, remarks = {}, []
    for name, make in PEERS.items():
        try:
            found[name] = make(robot)
        except ImportError:
            remarks.append(f"{name} is not installed")
        except Exception as e:  # whatever another library raises
            remarks.append(f"{name} does not take this robot: {str(e).splitlines()[0]}")
    return found, remarks


def _peer_time(
    name: str, peer: Peer, quantity: str, state: list[Array], expected: Array, total: float
) -> float | str:
    """The time of one call of a peer, s; or why there is none."""
    if quantity not in peer.calls:
        return f"{name}: no {quantity}: {peer.missing[quantity]}"
    call, entered = peer.calls[quantity], peer.enter(quantity, state)
    try:
        theirs = peer.leave(quantity, call(*entered))
    except Exception as e:  # whatever another library raises
        return f"{name}: no {quantity}: {str(e).splitlines()[0]}"
    if not _agrees(theirs, expected):
        return f"{name}: its {quantity} differs, so it is not timed"
    return seconds(lambda: call(*entered), total)


def as_json(robot: Robot, rows: list[Row], remarks: list[str], batch: int) -> dict[str, Any]:
    """The same as values that JSON has; times in seconds."""
    return {
        "robot": robot.name,
        "nv": robot.nv,
        "batch": batch,
        "rows": [row._asdict() for row in rows],
        "remarks": remarks,
    }
