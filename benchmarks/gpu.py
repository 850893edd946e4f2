"""Kernels on a GPU, with resident data: states a second, and what binds them.

python -m benchmarks.gpu [--robots FILE ...] [--quantities NAME ...] [--states N] [--rollouts]
    [--calls] [--gradients] [--contact FILE] [--json FILE]

Each row is checked against the interpreter on a few states, then timed by events: the median of
some launches. The bandwidth of a copy is measured in the same run. With `--contact`, only robots
that stand are measured; `gpu_contact` says where the file comes from.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import kinetree as kt
from benchmarks import gpu_calls
from benchmarks.diverging import diverging_runs
from benchmarks.gpu_contact import contact_rows
from benchmarks.gpu_timing import LAUNCHES, seconds
from kinetree.compiler.graph import interpret
from kinetree.compiler.runtime.gpu.device_kernel import GpuKernel
from kinetree.compiler.runtime.gpu.device_part import ROWS

QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "mass_matrix_inverse",
    "coriolis_matrix",
    "christoffel_symbols",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
CHECKED = 64
MEMORY = 40e9


@dataclass(frozen=True)
class Row:
    """One kernel: million states a second, and its share of the copy's bandwidth."""

    robot: str
    quantity: str
    dtype: str
    operations: int
    states: float
    bandwidth: float
    parts: int
    registers: int
    local: int
    threads: int
    shared: int
    compile_seconds: float
    error: float


@dataclass(frozen=True)
class RolledRow:
    """Semi-implicit Euler under PD control, the loop over time in one launch: million steps a
    second, and the difference from double precision on the CPU after a few steps."""

    robot: str
    dtype: str
    systems: int
    steps: int
    rate: float
    error: float


@dataclass(frozen=True)
class DivergingRow:
    """A rollout of which a share diverges, and the same without: seconds, resident data."""

    systems: int
    steps: int
    share: float
    wild: float
    calm: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--robots", type=Path, nargs="*", default=[])
    parser.add_argument("--quantities", nargs="*", default=QUANTITIES)
    parser.add_argument("--dtypes", nargs="*", default=["float32", "float64"])
    parser.add_argument("--states", type=int, default=1 << 20)
    parser.add_argument("--limit", type=int, default=60_000, help="operations of a kernel at most")
    parser.add_argument("--rollouts", action="store_true", help="loops over time, too")
    parser.add_argument("--calls", action="store_true", help="the host's time of calls, too")
    parser.add_argument("--gradients", action="store_true", help="gradients of rollouts, too")
    parser.add_argument("--floating", action="store_true", help="robots with floating bases")
    parser.add_argument("--contact", type=Path, help="robots that stand: see gpu_contact")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.contact:
        standing_robots(options.contact, options.dtypes, options.json)
        return
    base = "floating" if options.floating else "fixed"
    robots = [kt.load(path, base=base) for path in options.robots]
    robots = robots or [kt.robots.arm(), kt.robots.human()]
    copy = copy_bandwidth()
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, copy {copy / 1e12:.2f} TB/s, {options.states} states", flush=True)
    rows: list[Row] = []
    rolled: list[RolledRow] = []
    called: list[gpu_calls.CallRow] = []
    gradients: list[gpu_calls.GradientRow] = []
    for robot in robots:
        for quantity in options.quantities:
            kernel = robot.kernel(quantity)
            if sum(kernel.operations.values()) > options.limit:
                print(
                    robot.name, quantity, "left out:", sum(kernel.operations.values()), flush=True
                )
                continue
            for dtype in options.dtypes:
                row = measure(robot, kernel, quantity, dtype, options.states, copy)
                rows.append(row)
                print(
                    f"{row.robot:18} {quantity:30} {dtype} ops {row.operations:6} "
                    f"{row.states:9.0f} M/s {row.bandwidth:5.1%} of copy, "
                    f"parts {row.parts} registers {row.registers:3} local {row.local:6} "
                    f"threads {row.threads:3} shared {row.shared:6} "
                    f"compile {row.compile_seconds:5.1f} s error {row.error:.1e}",
                    flush=True,
                )
        for dtype in options.dtypes if options.rollouts else ():
            row = measure_rollout(robot, dtype)
            rolled.append(row)
            print(
                f"{row.robot:18} {row.steps} steps of {row.systems} systems {dtype}: "
                f"{row.rate:9.0f} M steps/s, difference {row.error:.1e}",
                flush=True,
            )
        if options.calls:
            called += [_said(row) for row in gpu_calls.calls(robot)]
        if options.gradients:
            gradients += [_said(gpu_calls.gradient(robot, dtype)) for dtype in options.dtypes]
    diverging = measure_diverging() if options.rollouts else None
    if diverging is not None:
        print(
            f"{diverging.steps} steps of {diverging.systems} double pendulums: "
            f"{1e3 * diverging.wild:.1f} ms if {diverging.share:.0%} of them diverge, "
            f"{1e3 * diverging.calm:.1f} ms if none does",
            flush=True,
        )
    peers = {}
    if importlib.util.find_spec("frax") is not None:
        for dtype in options.dtypes:
            peers[f"frax, Panda, inverse dynamics, {dtype}"] = by_frax(options.states, dtype)
    for label, rate in peers.items():
        print(f"{label}: {rate:.1f} M/s", flush=True)
    if options.json:
        found: dict[str, Any] = {
            "device": name,
            "copy": copy,
            "rows": [asdict(row) for row in rows],
        }
        found |= {"rollouts": [asdict(row) for row in rolled], "peers": peers}
        found |= {"calls": [asdict(row) for row in called]}
        found |= {"gradients": [asdict(row) for row in gradients]}
        found |= {"diverging": asdict(diverging) if diverging is not None else None}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def _said(row: Any) -> Any:
    """A row, printed."""
    figures = (f"{k} {v:.3g}" if isinstance(v, float) else f"{v}" for k, v in asdict(row).items())
    print("  ".join(figures), flush=True)
    return row


def standing_robots(file: Path, dtypes: list[str], to: Path | None) -> None:
    """Print, and write, a row for each robot of a file and each dtype."""
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), flush=True)
    rows = []
    for row in contact_rows(file, dtypes, cp, seconds):
        print(row, flush=True)
        rows.append(asdict(row))
        if to:
            to.write_text(json.dumps({"contact": rows}, indent=1) + "\n")


def copy_bandwidth() -> float:
    """Bytes read and written a second by a copy."""
    a, b = cp.zeros(1 << 28, cp.float32), cp.empty(1 << 28, cp.float32)
    return 2 * a.nbytes / seconds(lambda: cp.copyto(b, a))


def measure(
    robot: kt.Robot, kernel: Any, quantity: str, dtype: str, states: int, copy: float
) -> Row:
    program, interface = kernel.program, kernel.interface
    kind = {"float32": "float", "float64": "double"}[dtype]
    item = np.dtype(dtype).itemsize
    elements = sum(int(np.prod(s)) for _, s in interface.inputs + interface.outputs)
    states = min(states, int(MEMORY / (elements * item)))
    rng = np.random.default_rng(0)
    few = [
        robot.random(rng, CHECKED) if name == "q" else rng.uniform(-1, 1, (CHECKED, *shape))
        for name, shape in interface.inputs
    ]
    gpu = GpuKernel(interface, program, kind)
    started = time.perf_counter()
    gpu.prepare()
    compiled = time.perf_counter() - started
    attributes = [part.function(ROWS).code.attributes for part in gpu.parts]
    found = gpu([cp.asarray(x, dtype) for x in few])
    found = found if isinstance(found, tuple) else (found,)
    expected = interpret(program, *few)
    error = max(
        float(np.abs(a.get() - b).max() / max(np.abs(b).max(), 1e-300))
        for a, b in zip(found, expected, strict=True)
        if b.size
    )
    arrays = [cp.asarray(np.resize(x, (states, *x.shape[1:])), dtype) for x in few]
    shapes = [(states, *shape) for _, shape in interface.outputs]
    out = tuple(cp.empty(shape, dtype) for shape in shapes)
    best = seconds(lambda: gpu(arrays, out if len(out) > 1 else out[0]))
    moved = states * elements * item
    return Row(
        robot.name,
        quantity,
        dtype,
        sum(kernel.operations.values()),
        states / best / 1e6,
        moved / best / copy,
        len(gpu.parts),
        max(a["num_regs"] for a in attributes),
        max(a["local_size_bytes"] for a in attributes),
        min(part.shape.threads for part in gpu.parts),
        max(part.shape.shared for part in gpu.parts),
        compiled,
        error,
    )


def by_frax(states: int, dtype: str) -> float:
    """Million inverse dynamics of frax's own Panda a second, compiled by JAX for the same GPU."""
    import frax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", dtype == "float64")
    peer = frax.load_panda()
    upwards = jnp.asarray([0.0, 0.0, 9.81, 0.0, 0.0, 0.0], dtype)
    state = np.random.default_rng(0).uniform(-1, 1, (3, states, 7))
    q, v, a = (jax.device_put(jnp.asarray(x, dtype)) for x in state)
    batched = jax.jit(jax.vmap(lambda q, v, a: peer.rnea(q, v, a, upwards, None)))
    jax.block_until_ready(batched(q, v, a))
    times = []
    for _ in range(LAUNCHES):
        started = time.perf_counter()
        jax.block_until_ready(batched(q, v, a))
        times.append(time.perf_counter() - started)
    return states / statistics.median(times) / 1e6


def measure_rollout(
    robot: kt.Robot, dtype: str, systems: int = 1 << 19, steps: int = 100
) -> RolledRow:
    servo = kt.control.pd(robot, kp=20.0, kd=0.5, gravity=False)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, systems), 0.1 * rng.standard_normal((systems, robot.nv))
    p = servo.pack(target=robot.random(rng, systems))
    few = slice(CHECKED)
    short = robot.rollout(servo, 10, 1e-3, every=10)
    expected = short(q[few], v[few], p[few]).q
    found = short(*(cp.asarray(x[few], dtype) for x in (q, v, p))).q
    error = float(np.abs(found.get() - expected).max())
    long = robot.rollout(servo, steps, 1e-3, every=steps)
    resident = [cp.asarray(x, dtype) for x in (q, v, p)]
    best = seconds(lambda: long(*resident))
    return RolledRow(robot.name, dtype, systems, steps, systems * steps / best / 1e6, error)


def measure_diverging(systems: int = 1 << 18, steps: int = 200, share: float = 0.1) -> DivergingRow:
    robot = kt.robots.chain(2).without("friction", "limits")
    calm, wild = diverging_runs(robot, systems, steps, [0.0, share], cp.asarray)
    return DivergingRow(systems, steps, share, seconds(wild), seconds(calm))


if __name__ == "__main__":
    main()
