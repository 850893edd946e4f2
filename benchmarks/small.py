"""Calls from Python, in turn: one state, single precision, a batch of one, out, linearize.

Then the same after PyTorch is imported and used, which must change nothing, and large results in
new arrays beside the same with `out=`.

python -m benchmarks.small
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import kinetree as kt
from benchmarks.timing import seconds_in_turn

CALLS = 2000


def repeated(call: Callable[[], Any], count: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            call()

    return run


def calls() -> dict[str, tuple[Callable[[], Any], int]]:
    """What is timed, and how often it is called in a run."""
    robot, rng = kt.robots.arm(), np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, robot.nv))
    single = [x.astype(np.float32) for x in (q, v, a)]
    batch = [x[None] for x in (q, v, a)]
    many = rng.standard_normal((3, 1000, robot.nv))
    out = np.empty(robot.nv)
    expected = robot.inverse_dynamics(q, v, a)
    assert np.array_equal(robot.inverse_dynamics(*batch)[0], expected)
    assert np.allclose(robot.inverse_dynamics(*single), expected, rtol=1e-4, atol=1e-4)
    return {
        "inverse dynamics, one state": (lambda: robot.inverse_dynamics(q, v, a), CALLS),
        "in float32": (lambda: robot.inverse_dynamics(*single), CALLS),
        "a batch of one": (lambda: robot.inverse_dynamics(*batch), CALLS),
        "into out=": (lambda: robot.inverse_dynamics(q, v, a, out=out), CALLS),
        "linearize, 1,000 states": (lambda: robot.linearize(*many), 5),
        "linearize with dt, 1,000 states": (lambda: robot.linearize(*many, dt=0.01), 5),
    }


def main() -> None:
    named = calls()
    runs = [repeated(call, count) for call, count in named.values()]
    table = Table("", "µs a call", title="small calls of the built-in arm")
    for (name, (_, count)), taken in zip(named.items(), seconds_in_turn(runs, 7), strict=True):
        table.add_row(name, f"{1e6 * taken / count:.3g}")
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
