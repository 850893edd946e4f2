"""What is paid once: importing, compiling with a cold cache, loading from a warm one.

python -m benchmarks --only startup
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

REPEATS = 3

G1 = "ROBOTS / 'g1_description/urdf/g1_29dof_rev_1_0.urdf'"
ROBOTS = {
    "Panda": "cases()[0].robot",
    "Talos, floating": "next(c.robot for c in cases() if c.name == 'Talos, floating')",
    "G1, floating": f"kt.load({G1}, base='floating')",
}
FIRST_ORDER = (
    "inverse_dynamics",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
CASES = [
    *(("Panda", quantity) for quantity in FIRST_ORDER),
    *(("G1, floating", quantity) for quantity in FIRST_ORDER),
    ("Talos, floating", "forward_dynamics_derivatives"),
    ("G1, floating", "inverse_dynamics_weighted_second_derivatives"),
    ("chain of 200", "mass_matrix"),
    ("chain of 1000", "inverse_dynamics"),
    ("chain of 1000", "forward_dynamics"),
    ("chain of 40", "christoffel_symbols"),
]

TRANSITION = """
import resource, time, warnings
warnings.simplefilter("ignore")
started = time.perf_counter()
import kinetree as kt
imported = time.perf_counter() - started
from kinetree.motion import human
robot = kt.robots.human()
walk, salute = human.walk(robot), human.salute(robot)
times = []
for _ in range(2):
    started = time.perf_counter()
    robot.transition((walk, 0.5), (salute, 1.0), 0.6, coefficients=12, root=0.0, tolerance=1e-6)
    times.append(time.perf_counter() - started)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(imported, *times, peak)
"""
"""The first transition of the human figure, and instead of a batch the second one."""

CALL = """
import resource, time, warnings
warnings.simplefilter("ignore")
import numpy as np
started = time.perf_counter()
import kinetree as kt
imported = time.perf_counter() - started
from benchmarks.pinocchio_rows import ROBOTS, cases
from kinetree.quantities import QUANTITIES
kt.robots.double_pendulum().inverse_dynamics(*np.zeros((3, 2)))  # what all kernels share
robot = {robot}
row = QUANTITIES[{quantity!r}]
state = [robot.neutral() if a.name == "q" else np.zeros(robot.nv) for a in row.arguments]
started = time.perf_counter()
robot.kernel({quantity!r})(*state)
first = time.perf_counter() - started
started = time.perf_counter()
robot.kernel({quantity!r})(*(np.stack([x] * 16) for x in state))
batch = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(imported, first, batch, peak)
"""


@dataclass(frozen=True)
class Startup:
    """The first calls of one quantity, in seconds.

    one, batch: the first call with one state, and the first with a batch after it, by a cold cache.
    warm: the first call with one state, by a warm cache.
    memory: of the process at its peak, MB.
    """

    what: str
    one: float
    batch: float
    warm: float
    memory: float


def startup() -> Iterator[Startup]:
    """Measure in fresh processes, each with a cache of its own."""
    for robot, quantity in CASES:
        how = ROBOTS.get(robot) or f"kt.robots.chain({robot.rpartition(' ')[2]})"
        yield _measured(f"{robot}: {quantity}", CALL.format(robot=how, quantity=quantity))
    yield _measured("human: transition, then the same again", TRANSITION)


def import_seconds() -> float:
    """How long `import kinetree` takes."""
    code = "import time; t = time.perf_counter(); import kinetree; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as folder:
        _run(code, folder)  # writes bytecode
        return statistics.median(_run(code, folder)[0] for _ in range(2 * REPEATS))


def _measured(what: str, code: str) -> Startup:
    cold, warm = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(_run(code, folder))
            warm.append(_run(code, folder))
    _, one, batch, memory = (statistics.median(column) for column in zip(*cold, strict=True))
    return Startup(what, one, batch, statistics.median(row[1] for row in warm), memory)


def _run(code: str, folder: str) -> list[float]:
    env = {**os.environ, "KINETREE_CACHE": folder}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # users' imports find bytecode
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return [float(x) for x in done.stdout.split()]
