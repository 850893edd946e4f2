"""Robots that stand, on a GPU: steps a second with contact, and whether two runs are equal.

    python -m benchmarks.contact --save FILE             where MuJoCo is, which reads the robots
    python -m benchmarks.gpu --contact FILE [--dtypes float32 float64] [--json FILE]

The file has robots, states in which they stand, and where the CPU takes them in a few steps, in
double precision. Motions on the GPU are compared with these before anything is timed. The loop over
time is one launch; states stay on the device.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt

CHECKED = 64
CHECKED_STEPS = 10
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}
"""Where the solver stops, relative to the accelerations without contacts."""
AGREES = {"float32": 1e-3, "float64": 1e-9}
"""How far coordinates may be apart after the checked steps."""


@dataclass(frozen=True)
class Standing:
    """A robot that stands.

    model: the robot's; the file needs no robot files then.
    q, v: states in which it stands, each a little different.
    after: q of the first ones, `CHECKED_STEPS` later.
    dt: the step, s.
    asked: million steps a second that are asked for, by dtype.
    """

    name: str
    model: Any
    q: np.ndarray
    v: np.ndarray
    after: np.ndarray
    dt: float
    asked: dict[str, float]


@dataclass(frozen=True)
class ContactRow:
    """Million steps a second of systems that stand, and what the first call took in s.

    error: of coordinates, from the CPU's motion in double precision.
    equal: whether two runs agree in every bit.
    """

    robot: str
    dtype: str
    systems: int
    steps: int
    rate: float
    asked: float
    first_call: float
    error: float
    equal: bool

    def __str__(self) -> str:
        bits = "two runs equal" if self.equal else "TWO RUNS DIFFER"
        return (
            f"{self.robot}, {self.dtype}: {self.rate:.1f} M steps/s (asked {self.asked:.0f}), "
            f"{self.systems} systems, {self.steps} steps; first call {self.first_call:.1f} s, "
            f"differs by {self.error:.0e}, {bits}"
        )


def standing(
    name: str, robot: kt.Robot, q: Any, v: Any, dt: float, asked: dict[str, float]
) -> Standing:
    """What the file keeps of a robot in states (n, nq) and (n, nv), compared on the CPU."""
    solver = kt.ContactSolver(tolerance=TOLERANCE["float64"])
    rollout = robot.rollout(None, CHECKED_STEPS, dt, every=CHECKED_STEPS, contact=solver)
    after = rollout(q[:CHECKED], v[:CHECKED]).q[:, -1]
    return Standing(name, robot.model, q, v, after, dt, asked)


def save(file: Path, robots: list[Standing]) -> None:
    """Write robots and their states."""
    file.write_bytes(pickle.dumps(robots))


def measure_contact(
    case: Standing,
    dtype: str,
    xp: Any,
    seconds: Callable[[Callable[[], Any]], float],
    systems: int,
    steps: int,
) -> ContactRow:
    """A row.

    Arguments:
        xp: CuPy, or what stands for it.
        seconds: the time of a launch.
    """
    robot = kt.Robot(case.model)
    solver = kt.ContactSolver(tolerance=TOLERANCE[dtype])
    short, long = (
        robot.rollout(None, count, case.dt, every=count, contact=solver)
        for count in (CHECKED_STEPS, steps)
    )
    few = [xp.asarray(x[:CHECKED], dtype) for x in (case.q, case.v)]
    started = time.perf_counter()
    found = xp.asnumpy(short(*few).q[:, -1])
    first_call = time.perf_counter() - started
    error = float(np.abs(found - case.after).max())
    assert error < AGREES[dtype], error
    many = [xp.asarray(np.resize(x, (systems, x.shape[1])), dtype) for x in (case.q, case.v)]
    one, two = (xp.asnumpy(long(*many).q) for _ in range(2))
    rate = systems * steps / seconds(lambda: long(*many)) / 1e6
    return ContactRow(
        case.name,
        dtype,
        systems,
        steps,
        rate,
        case.asked.get(dtype, 0.0),
        first_call,
        error,
        one.tobytes() == two.tobytes(),
    )


def contact_rows(
    file: Path,
    dtypes: list[str],
    xp: Any,
    seconds: Callable[[Callable[[], Any]], float],
    systems: int = 1 << 16,
    steps: int = 100,
) -> Iterator[ContactRow]:
    """All rows of a file of robots."""
    for case in pickle.loads(file.read_bytes()):
        for dtype in dtypes:
            yield measure_contact(case, dtype, xp, seconds, systems, steps)
