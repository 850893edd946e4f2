"""Calls from Python, in turn: one state, single precision, a batch of one, out, linearize.

Then the same after PyTorch is imported and used, which must change nothing, and large results in
new arrays beside the same with `out=`.

python -m benchmarks.small
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import kinetree as kt
from benchmarks.pinocchio_rows import ROBOTS
from benchmarks.rollouts import panda
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


def large() -> dict[str, tuple[Callable[[], Any], Callable[[], Any], int]]:
    """Calls whose results are large: into new arrays, the same with `out=`, and how many states."""
    humanoid = kt.load(ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf", base="floating")
    arm, n = panda(), 10_000
    q, p = humanoid.random(0, n), arm.random(0, n)
    v = np.ones((n, arm.nv))
    M, D = humanoid.mass_matrix(q), arm.forward_dynamics_derivatives(p, v, v)
    found = {
        "mass matrix of G1, floating": (
            lambda: humanoid.mass_matrix(q),
            lambda: humanoid.mass_matrix(q, out=M),
            n,
        ),
        "derivatives of Panda's forward dynamics": (
            lambda: arm.forward_dynamics_derivatives(p, v, v),
            lambda: arm.forward_dynamics_derivatives(p, v, v, out=D),
            n,
        ),
    }
    with contextlib.suppress(ImportError):
        import torch

        t, out = torch.tensor(q), torch.tensor(M)
        found["mass matrix of G1, floating, PyTorch"] = (
            lambda: humanoid.mass_matrix(t),
            lambda: humanoid.mass_matrix(t, out=out),
            n,
        )
    with contextlib.suppress(ImportError):
        import jax

        with jax.enable_x64(True):
            x = jax.numpy.asarray(q)

        def by_jax() -> Any:
            with jax.enable_x64(True):
                return jax.block_until_ready(humanoid.mass_matrix(x))

        found["mass matrix of G1, floating, JAX (beside NumPy's out=)"] = (
            by_jax,
            lambda: humanoid.mass_matrix(q, out=M),
            n,
        )
    return found


def small_table(title: str) -> Table:
    named = calls()
    runs = [repeated(call, count) for call, count in named.values()]
    table = Table("", "µs a call", title=title)
    for (name, (_, count)), taken in zip(named.items(), seconds_in_turn(runs, 7), strict=True):
        table.add_row(name, f"{1e6 * taken / count:.3g}")
    return table


def large_table() -> Table:
    table = Table("", "ns a state", "with out=", "ratio", title="large results, 10,000 states")
    for name, (plain, into, states) in large().items():
        a, b = (1e9 * t / states for t in seconds_in_turn([plain, into], 9))
        table.add_row(name, f"{a:.0f}", f"{b:.0f}", f"{a / b:.2f} ×")
    return table


def main() -> None:
    console = Console(highlight=False)
    console.print(small_table("small calls of the built-in arm"))
    with contextlib.suppress(ImportError):
        import torch

        robot = kt.robots.arm()
        robot.inverse_dynamics(*torch.zeros(3, robot.nv, dtype=torch.float64))
        console.print(small_table("the same after PyTorch was imported and used"))
    console.print(large_table())


if __name__ == "__main__":
    main()
