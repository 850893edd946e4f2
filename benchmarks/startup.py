"""What is paid once: importing, compiling with a cold cache, loading from a warm one."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

REPEATS = 3

ROBOT = {
    "Panda": "r = cases()[0].robot",
    "Talos": "r = cases()[1].robot",
}

CALL = """
import time, numpy as np
import kinetree as kt
from benchmarks.pinocchio_rows import cases
{robot}
started = time.perf_counter()
r.{quantity}(r.neutral(), np.zeros(r.nv), np.zeros(r.nv))
print(time.perf_counter() - started)
"""

CHAIN = """
import time, numpy as np
import kinetree as kt
kt.robots.arm().inverse_dynamics(*np.zeros((3, 7)))
r = kt.robots.chain({n})
started = time.perf_counter()
r.{quantity}(*np.zeros((3, {n})))
print(time.perf_counter() - started)
"""

IMPORT = """
import time
started = time.perf_counter()
import kinetree
print(time.perf_counter() - started)
"""


@dataclass(frozen=True)
class Startup:
    """One figure, in seconds."""

    what: str
    seconds: float


def startup() -> list[Startup]:
    """Measure in fresh processes, each with a cache of its own."""
    figures = [Startup("import kinetree", _median(IMPORT, "warm"))]
    for robot, quantity in (("Panda", "inverse_dynamics"), ("Talos", "forward_dynamics")):
        code = CALL.format(robot=ROBOT[robot], quantity=quantity)
        for cache in ("cold", "warm"):
            figures.append(Startup(f"{robot} {quantity}, {cache} cache", _median(code, cache)))
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        for n in (50, 100, 200, 400):
            code = CHAIN.format(n=n, quantity=quantity)
            figures.append(Startup(f"chain of {n} {quantity}, cold cache", _median(code, "cold")))
    return figures


def _median(code: str, cache: str) -> float:
    with tempfile.TemporaryDirectory() as warm:
        if cache == "warm":
            _run(code, warm)
            return statistics.median(_run(code, warm) for _ in range(REPEATS))
        times = []
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as cold:
                times.append(_run(code, cold))
        return statistics.median(times)


def _run(code: str, folder: str) -> float:
    env = {**os.environ, "KINETREE_CACHE": folder}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return float(done.stdout)
