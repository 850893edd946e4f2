"""Kinetree called from JAX, PyTorch, dask and bare Python, beside frax and adam.

python -m benchmarks.ecosystem [--states 10000]

Needs the extras jax, torch and dask, and the packages frax and adam-robotics for the peers. All
use the Panda that comes with frax, in float64. Results are compared before anything is timed, and
nothing is compiled while it is. Adam's robots have a floating base, so its rows are those of the
Panda on one. "Backward" is the gradient of the sum of all results by the joint positions, with the
forward pass.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")

import numpy as np
from rich.console import Console
from rich.table import Table

import kinetree as kt
from benchmarks.timing import seconds_in_turn

Call = Callable[[], Any]
TOLERANCE = 1e-6
"""Of results, relative to the largest: what peers round when they read a file."""


@dataclass(frozen=True)
class Row:
    """Nanoseconds a state, of Kinetree and of a peer."""

    name: str
    peer: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def panda_file() -> Path:
    """The robot's file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import frax
    return Path(frax.__file__).parent / "assets" / "franka_panda" / "panda.urdf"


def row(
    name: str,
    peer: str,
    ours: Call,
    theirs: Call,
    states: int,
    tolerance: float,
    repeats: int = 5,
) -> Row:
    """Compare two calls and time them in turn."""
    found, expected = (np.asarray(call()) for call in (ours, theirs))
    scale = max(1.0, float(np.abs(expected).max()))
    error = float(np.abs(found - expected).max()) / scale
    assert error < tolerance, f"{name}: {error:.1e} off {peer}"
    a, b = seconds_in_turn([ours, theirs], repeats=repeats)
    return Row(name, peer, a / states * 1e9, b / states * 1e9)


def jax_rows(states: int) -> Iterator[Row]:
    """JAX: both are compiled by `jit` and run on the same batch."""
    import frax
    import jax
    import jax.numpy as jnp

    from kinetree.compiler.runtime.foreign.jax_arrays import traced

    robot, peer = kt.load(panda_file()), frax.load_panda()
    n = robot.nv
    q, v, a = (jnp.asarray(x) for x in np.random.default_rng(0).standard_normal((3, states, n)))
    upwards = jnp.concatenate([-jnp.asarray(robot.gravity), jnp.zeros(3)])
    kernel = robot.kernel("inverse_dynamics")

    def theirs(q: Any, v: Any, a: Any) -> Any:
        return peer.rnea(q, v, a, upwards, None)

    forward = jax.jit(robot.inverse_dynamics)
    batched = jax.jit(jax.vmap(theirs))
    label = "JAX, inverse dynamics"

    def ready(function: Any) -> Call:
        return lambda: jax.block_until_ready(function(q, v, a))

    yield row(label, "frax", ready(forward), ready(batched), states, TOLERANCE)
    ours = jax.jit(jax.grad(lambda *x: robot.inverse_dynamics(*x).sum()))
    back = jax.jit(jax.grad(lambda *x: jax.vmap(theirs)(*x).sum()))
    yield row(f"{label}, backward", "frax", ready(ours), ready(back), states, TOLERANCE)
    operations = jax.jit(lambda *x: traced(kernel, *x)[0])
    yield row(label, "Kinetree traced", ready(forward), ready(operations), states, TOLERANCE)
    yield from _adam_jax_rows(states)


def _floating() -> tuple[kt.Robot, list[str], str]:
    """The Panda on a floating base, the names of its joints and its file's text."""
    robot = kt.load(panda_file(), base="floating")
    return robot, list(robot.joints[1:]), str(panda_file())


def _adam_jax_rows(states: int) -> Iterator[Row]:
    import jax
    import jax.numpy as jnp
    from adam import Representations
    from adam.jax import KinDynComputations

    robot, names, path = _floating()
    peer = KinDynComputations(path, names)
    peer.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    s = jnp.asarray(np.random.default_rng(0).standard_normal((states, len(names))))
    base = jnp.asarray([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    frames = jnp.broadcast_to(jnp.eye(4), (states, 4, 4))

    def mine(s: Any) -> Any:
        q = jnp.concatenate([jnp.broadcast_to(base, (len(s), 7)), s], axis=-1)
        return robot.mass_matrix(q)

    def theirs(s: Any) -> Any:
        return peer.mass_matrix(frames, s)  # adam's own batches

    for label, ours, other in (
        ("JAX, mass matrix on a free base", mine, theirs),
        (
            "JAX, mass matrix on a free base, backward",
            jax.grad(lambda s: mine(s).sum()),
            jax.grad(lambda s: theirs(s).sum()),
        ),
    ):
        a, b = jax.jit(ours), jax.jit(other)
        yield row(
            label,
            "adam",
            lambda a=a: jax.block_until_ready(a(s)),
            lambda b=b: jax.block_until_ready(b(s)),
            states,
            TOLERANCE,
        )


def torch_rows(states: int) -> Iterator[Row]:
    """PyTorch: adam's own batches."""
    import torch
    from adam import Representations
    from adam.pytorch import KinDynComputationsBatch

    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    robot, names, path = _floating()
    peer = KinDynComputationsBatch(path, names, dtype=torch.float64)
    peer.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    s = torch.tensor(np.random.default_rng(0).standard_normal((states, len(names))))
    base = torch.tensor([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).expand(states, 7)
    frames = torch.eye(4).expand(states, 4, 4)

    def mine(s: Any) -> Any:
        return robot.mass_matrix(torch.cat([base, s], dim=-1))

    def theirs(s: Any) -> Any:
        return peer.mass_matrix(frames, s)

    def gradient(function: Any) -> Call:
        x = s.clone().requires_grad_()
        return lambda: torch.autograd.grad(function(x).sum(), x)[0]

    label = "PyTorch, mass matrix on a free base"
    yield row(label, "adam", lambda: mine(s), lambda: theirs(s), states, TOLERANCE)
    yield row(f"{label}, backward", "adam", gradient(mine), gradient(theirs), states, TOLERANCE)


def dask_rows(states: int) -> Iterator[Row]:
    """Chunks of 25 `states` that lie in memory, beside a loop over the same pieces.

    dask takes about half a millisecond for each chunk and its share of the reduction. The runs
    alternate, because on a shared machine one alone may take twice its usual time.
    """
    import dask
    import dask.array as da

    robot, count = kt.load(panda_file()), 200 * states
    arrays = np.random.default_rng(0).standard_normal((3, count, robot.nv))
    lazy = [da.from_array(x, chunks=(count // 8, robot.nv), name=False).persist() for x in arrays]
    largest = da.abs(robot.inverse_dynamics(*lazy)).max(axis=0)
    parts = np.split(arrays, 8, axis=1)

    def chunked(scheduler: str) -> Any:
        with dask.config.set(scheduler=scheduler):
            return largest.compute()

    def whole() -> Any:
        return np.max([np.abs(robot.inverse_dynamics(*x)).max(axis=0) for x in parts], axis=0)

    for label, scheduler in (("one thread", "sync"), ("threads", "threads")):
        call = partial(chunked, scheduler)
        name = f"dask, {label}, inverse dynamics"
        yield row(name, "a loop", call, whole, count, TOLERANCE, repeats=15)


def bind_rows(states: int) -> Iterator[Row]:
    """One state from Python: a bound call beside a plain one."""
    kernel = kt.load(panda_file()).kernel("inverse_dynamics")
    q, v, a = np.random.default_rng(0).standard_normal((3, kernel.interface.inputs[0][1][0]))
    bound = kernel.bind(q, v, a)
    yield row("bind, one state", "plain call", bound, lambda: kernel(q, v, a), 1, TOLERANCE)


def main() -> None:
    """Print the table; what is not installed is left out with its reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=10_000)
    states = parser.parse_args().states
    table = Table("", "ns a state", "peer", "ns a state", "ratio")
    console = Console()
    for rows in (bind_rows, jax_rows, torch_rows, dask_rows):
        try:
            for r in rows(states):
                numbers = f"{r.ours:.3g}", r.peer, f"{r.theirs:.3g}", f"{r.ratio:.3g} ×"
                table.add_row(r.name, *numbers)
        except ImportError as e:
            console.print(f"{rows.__name__} left out: {e}")
    console.print(table)


if __name__ == "__main__":
    main()
