"""Optimal control with contact: rows of `python -m benchmarks.motion contact`.

A G1 whose feet are held beside Crocoddyl with its contacts of six rows, a quadruped that trots
under model-predictive control, and many problems at once beside the same problems one by one.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from benchmarks.pinocchio_rows import ROBOTS
from kinetree.constraints import HeldFrame
from kinetree.motion.control_problem import ControlProblem
from kinetree.motion.costs import quadratic_cost

G1 = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
FEET = ["left_ankle_roll_link", "right_ankle_roll_link"]
WEIGHTS = (10.0, 0.1, 1e-3)
STEPS = 50


def one_thread(function: Callable[[], Any]) -> Any:
    """Call a function with one thread."""
    before = kt.get_threads()
    kt.set_threads(1)
    try:
        return function()
    finally:
        kt.set_threads(before)


def held_g1() -> tuple[ControlProblem, dict, np.ndarray]:
    """G1, 50 knots of 10 ms, both feet held: arms swing, and it crouches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        free = kt.load(G1, base="floating").without("armature", "damping", "friction", "springs")
    walker = free.constrain(*(HeldFrame(name, name, anywhere=True) for name in FEET))
    q0 = walker.neutral()
    target = q0.copy()
    target[7:] += 0.3 * np.where(np.arange(walker.nv - 6) % 2, -1.0, 1.0)
    how = {"actuated": np.arange(walker.nv) >= 6, "lower": -np.inf, "upper": np.inf}
    reach = walker.optimal_control(
        *quadratic_cost(walker, target, *WEIGHTS),
        steps=STEPS,
        dt=0.01,
        **how,
    )
    u = reach.holding(q0)
    spec = {"file": str(G1), "floating": True, "locked": [], "feet": FEET, "q0": q0}
    spec["damping"] = reach.step.stabilization.gains[0]  # of the feet's velocities, 1/s
    return reach, spec | {"target": target, "runs": 5}, u


def check_derivatives(reach: ControlProblem, q0: np.ndarray, u: np.ndarray) -> None:
    """[A B] of a step against differences, to 1e-5."""
    rng, h, robot = np.random.default_rng(0), 1e-6, reach.robot
    v0 = robot.constraints.project_velocity(q0, 0.1 * rng.standard_normal(robot.nv))
    d = rng.standard_normal(2 * robot.nv + reach.nu)
    n, active = robot.nv, reach.active()[0]

    def after(size: float) -> tuple[np.ndarray, np.ndarray]:
        q = robot.integrate(q0, size * d[:n])
        tau = reach.forces(u[0] + size * d[2 * n :])
        return reach.step.after(q, v0 + size * d[n : 2 * n], tau, active)

    ends = [after(h), after(-h)]
    way = robot.difference(ends[1][0], ends[0][0]), ends[0][1] - ends[1][1]
    W = reach.step.linear(q0, v0, reach.forces(u[0]), active, False).W
    slope = np.concatenate(way) / (2.0 * h)
    assert np.abs(W @ d - slope).max() < 1e-5 * np.abs(slope).max()


def bench_g1(duel: Callable[..., float], python: str | None) -> None:
    """A G1 that stands, beside Crocoddyl."""
    reach, spec, u = held_g1()
    check_derivatives(reach, spec["q0"], u)
    duel("G1, 50 knots, both feet held by 6 rows", reach, u, spec, python)


def bench_trot(row: Callable[..., None]) -> None:
    """A quadruped that trots on soft ground, a plan every 10 ms on one core."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import trot

    control, ground = trot.controller(), trot.trunk.on_ground(friction=0.8)
    still = np.zeros(trot.dog.nv)

    def run() -> Any:
        control.run(trot.STANDING, still, 0.05, plant=ground)  # compiles
        control.reset()
        return control.run(trot.STANDING, still, 5.0, plant=ground)

    found = one_thread(run)
    speed = (found.q[-1, 0] - found.q[100, 0]) / 4.0
    assert abs(speed / trot.SPEED - 1.0) < 0.1, speed
    assert found.q[:, 2].min() > 0.3, "it fell"
    note = f"99th percentile of 500 plans, median {1e3 * found.percentile(50):.1f} ms"
    row("trot of a quadruped, one core", f"{speed:.2f} m/s", found.percentile(), note)


def bench_batch(row: Callable[..., None], panda: kt.Robot, q0: np.ndarray) -> None:
    """100 problems at once beside the same one after the other, on one thread."""
    target = q0 + 0.3 * np.where(np.arange(7) == 3, 0.0, np.where(np.arange(7) % 2, -1.0, 1.0))
    costs = quadratic_cost(panda, target, *WEIGHTS)
    reach = panda.optimal_control(*costs, steps=100, dt=0.01, lower=-np.inf, upper=np.inf)
    starts = q0 + 0.1 * np.random.default_rng(0).standard_normal((100, 7))
    still = np.zeros(7)

    def compare() -> tuple[Any, list[Any], float, float]:
        together, alone = np.inf, np.inf
        each: list[Any] = []
        many = reach.solve(starts, still)
        for _ in range(3):
            began = time.perf_counter()
            many = reach.solve(starts, still)
            together = min(together, time.perf_counter() - began)
            began = time.perf_counter()
            each = [reach.solve(q, still) for q in starts]
            alone = min(alone, time.perf_counter() - began)
        return many, each, together, alone

    many, each, together, alone = one_thread(compare)
    assert many.converged.all(), many.message
    values = np.array([float(x.value) for x in each])
    assert np.abs(many.value / values - 1.0).max() < 1e-6
    row("100 problems of Panda, one by one, each", "", alone / 100, "one thread")
    row("100 problems of Panda at once, each", "", together / 100, f"{alone / together:.1f} x")


def main(
    names: list[str], duel: Callable[..., float], row: Callable[..., None], python: str | None,
    panda: kt.Robot, q0: np.ndarray,
) -> None:  # fmt: skip
    """Print the rows.

    Arguments:
        names: which of "g1", "trot" and "batch".
        duel, row: those of `benchmarks.motion`.
        python: an interpreter that has Crocoddyl, if any.
        panda, q0: an arm, and where it starts.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print("\n| optimal control with contact | cost | time | |\n|-|-|-|-|")
    if "g1" in names:
        bench_g1(duel, python)
    if "trot" in names:
        bench_trot(row)
    if "batch" in names:
        bench_batch(row, panda, q0)
