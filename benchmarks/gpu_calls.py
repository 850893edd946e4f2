"""What calls on a GPU cost the host, and gradients of rollouts beside the rollouts.

The time of a call is that of Python: many calls into given arrays are enqueued, the device is
awaited afterwards. A captured graph is timed beside the same call, by events.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

import kinetree as kt
from benchmarks.gpu_timing import seconds

COUNTS = (1, 1_024, 65_536)
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")
LAUNCHES = 400
"""Launches that are enqueued at once at most: the driver takes about 1,000 before it waits."""
REPETITIONS = 9


@dataclass(frozen=True)
class CallRow:
    """The host's time of one call, µs: CuPy's arrays, bound ones, PyTorch's tensors; and the
    device's time of a call and of a replayed graph of it, µs."""

    robot: str
    quantity: str
    states: int
    parts: int
    plain: float
    bound: float
    torch: float
    device: float
    graph: float


@dataclass(frozen=True)
class GradientRow:
    """Seconds of a rollout under a series of joint forces, and of its gradient by all of them; the
    largest difference from the CPU's, relative."""

    robot: str
    dtype: str
    systems: int
    steps: int
    rollout: float
    gradient: float
    error: float


def calls(robot: kt.Robot) -> list[CallRow]:
    """The rows of a robot."""
    return [_call(robot, name, count) for name in QUANTITIES for count in COUNTS]


def _call(robot: kt.Robot, quantity: str, count: int) -> CallRow:
    kernel = robot.kernel(quantity)
    rng = np.random.default_rng(0)
    arrays = [
        cp.asarray(robot.random(rng, count) if name == "q" else rng.uniform(-1, 1, (count, *shape)))
        for name, shape in kernel.interface.inputs
    ]
    out = kernel(*arrays)
    bound = kernel.bind(*arrays, out=out)
    tensors, results = _tensors(arrays, out)
    method = getattr(robot, quantity)
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        bound()
        stream.begin_capture()
        bound()
        graph = stream.end_capture()
    stream.synchronize()
    parts = len(kernel.compiled_on("cuda:0", "double").parts)
    times = [
        host_seconds(lambda: method(*arrays, out=out), parts),
        host_seconds(bound, parts),
        host_seconds(lambda: method(*tensors, out=results), parts) if tensors else np.nan,
        seconds(bound),
        seconds(lambda: graph.launch(cp.cuda.get_current_stream())),
    ]
    return CallRow(robot.name, quantity, count, parts, *(1e6 * x for x in times))


def _tensors(arrays: Any, out: Any) -> tuple[Any, Any]:
    """The same memory as tensors, if PyTorch is there."""
    try:
        import torch
    except ImportError:
        return None, None
    if not torch.cuda.is_available():
        return None, None
    results = tuple(map(torch.from_dlpack, out if isinstance(out, tuple) else (out,)))
    return list(map(torch.from_dlpack, arrays)), results if len(results) > 1 else results[0]


def host_seconds(call: Callable[[], Any], parts: int) -> float:
    """The median time of a call on the host, while the device is not waited for."""
    call()
    count, times = max(LAUNCHES // parts, 1), []
    for _ in range(REPETITIONS):
        cp.cuda.Device().synchronize()
        started = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - started) / count)
    cp.cuda.Device().synchronize()
    return statistics.median(times)


def gradient(robot: kt.Robot, dtype: str, systems: int = 65_536, steps: int = 100) -> GradientRow:
    """The gradient of the last configuration by the joint forces of all steps."""
    rng = np.random.default_rng(0)
    rollout = robot.rollout(
        lambda t, q, v, p: p, steps, 1e-3, p_length=robot.nv, series=True, every=steps
    )
    few = 32
    q, v = robot.random(rng, systems), 0.1 * rng.standard_normal((systems, robot.nv))
    p = rng.standard_normal((systems, steps, robot.nv))
    weight = rng.standard_normal((systems, robot.nq))
    expected = rollout.gradient(q[:few], v[:few], {"q": weight[:few]}, p[:few])["p"]
    q, v, p, weight = (cp.asarray(x, dtype) for x in (q, v, p, weight))
    found = rollout.gradient(q[:few], v[:few], {"q": weight[:few]}, p[:few])["p"].get()
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    return GradientRow(
        robot.name,
        dtype,
        systems,
        steps,
        seconds(lambda: rollout(q, v, p)),
        seconds(lambda: rollout.gradient(q, v, {"q": weight}, p)),
        error,
    )
