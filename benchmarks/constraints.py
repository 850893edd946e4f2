"""Constrained dynamics: published problems, and speed beside Pinocchio.

    python -m benchmarks.constraints                 # every part
    python -m benchmarks.constraints --only iftomm   # one of them

iftomm: problems A01 to A04 of the Library of Computational Benchmark Problems (IFToMM, technical
committee for multibody dynamics; M. Gonzalez, F. Gonzalez, A. Luaces & J. Cuadrado, Engineering
with Computers 26, 2010). Each row has the error beside what is demanded, the largest error of a
loop on the way, and the time that the simulation took, compiling not included.

pinocchio, mujoco, embedding: differences, see `benchmarks.constraint_agreement`.

speed, cold: robots on their feet beside Pinocchio, see `benchmarks.constraint_speed`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kinetree as kt
from benchmarks.constraint_agreement import embedding, mujoco, pinocchio
from benchmarks.constraint_speed import cold, speed
from benchmarks.timing import seconds_in_turn
from kinetree import joints

G = 9.81
PENDULUM = np.array([-0.27508746, -0.96141921])
"""A01: x and y at 10 s."""
FOUR_BARS = {
    2: np.array([0.328458112, 0.944518538, 1.423051470, -0.494868845]),
    40: np.array([0.180512227, 0.983572741, 1.148441277, -0.210770067]),
}
"""A02: x and y of the point B0 and their rates at 10 s."""
SQUEEZER_START = np.array(
    [
        -0.0617138900142764,
        0.0,
        0.487364979543843,
        0.222668390165886,
        1.23054744454982,
        -0.222668390165886,
        0.455279819163070,
    ]
)
SQUEEZER_END = np.array(
    [
        15.81077119629904,
        -15.75637105984298,
        0.5244099658805304,
        -0.5347301163226948,
        1.048080741042263,
        0.5347301163226948,
        0.04082224013073101,
    ]
)
"""A03: beta, Theta, delta, Phi, epsilon, Omega, gamma at the start and at 0.03 s."""
SQUEEZER_SPEED = 1139.920302151208
"""A03: the rate of beta there."""


@dataclass(frozen=True)
class Outcome:
    """What came of a problem.

    problem: its name.
    error: how far the result is from the reference, and what it is measured in.
    demanded: how large it may be.
    loops: the largest error of a constraint's row on the way, m or rad; NaN without loops.
    seconds: that the simulation took.
    """

    problem: str
    error: float
    measure: str
    demanded: float
    loops: float
    seconds: float

    @property
    def met(self) -> bool:
        """Whether the error is small enough, and the loops stayed closed."""
        return self.error <= self.demanded and not self.loops > 1e-10

    def __str__(self) -> str:
        word = "met" if self.met else "MISSED"
        return (
            f"| {self.problem} | {self.error:.1e} {self.measure} | {self.demanded:.0e} | "
            f"{self.loops:.1e} | {self.seconds:.2f} s | {word} |"
        )


def pendulum(dt: float = 1e-3) -> Outcome:
    """A01: a point of 1 kg on a massless rod of 1 m in the plane of x and y, held by one row."""
    a = kt.Assembly("pendulum", gravity=(0.0, -G, 0.0))
    plane = joints.Composite((joints.Prismatic("x"), joints.Prismatic("y")))
    a.add("point", "base", plane, (-1.0, 0.0, 0.0), (1e-3, 1e-3, 1e-3), mass=1.0)
    robot = a.robot().constrain(kt.constraints.Rod("rod", "point", length=1.0))
    run, seconds = _simulated(robot, np.zeros(2), time=10.0, dt=dt)
    error = np.abs(run.q[-1] + [-1.0, 0.0] - PENDULUM).max()
    return Outcome("A01 pendulum", error, "m", 1e-6, _loops(run), seconds)


def four_bars(n: int, dt: float = 5e-4) -> Outcome:
    """A02: n four-bars through positions in which all bars lie in a line."""
    robot = kt.robots.four_bars(n)
    v = np.array([1.0, -1.0] * n + [1.0])
    run, seconds = _simulated(robot, v, time=10.0, dt=dt)
    angle, speed = run.q[-1, 0], run.v[-1, 0]
    up, along = np.cos(angle), np.sin(angle)
    found = np.array([along, up, up * speed, -along * speed])
    error = np.abs(found - FOUR_BARS[n]).max()
    return Outcome(f"A02 {n} four-bars", error, "m, m/s", 1e-6, _loops(run), seconds)


def squeezer(tolerance: float = 1e-11) -> Outcome:
    """A03: Andrews' squeezer. Its spring acts continuously, so that steps are SciPy's."""
    robot = kt.robots.squeezer()

    def run() -> Any:
        return robot.simulate_adaptive(
            robot.neutral(),
            np.zeros(7),
            kt.robots.squeezer_forces,
            time=0.03,
            tolerance=tolerance,
            record=["constraint_errors"],
        )

    found, seconds = _timed(run)
    angles = np.abs((found.q[-1] + SQUEEZER_START) / SQUEEZER_END - 1.0).max()
    error = max(angles, abs(found.v[-1, 0] / SQUEEZER_SPEED - 1.0))
    return Outcome("A03 squeezer", error, "relative", 1e-7, _loops(found), seconds)


def bricard(dt: float = 2e-3, duration: float = 10.0) -> Outcome:
    """A04: Bricard's mechanism, all five rows kept, one of them redundant."""
    robot = kt.robots.bricard()
    run, seconds = _simulated(robot, np.zeros(5), time=duration, dt=dt)
    error = np.ptp(run["energy"]) / np.ptp(run["potential_energy"])
    return Outcome("A04 Bricard", error, "of its energy's range", 1e-8, _loops(run), seconds)


def growth(sizes: tuple[int, ...] = (10, 20, 40, 100)) -> dict[int, tuple[int, float]]:
    """Operations of the forward dynamics of A02, and seconds of a call, by the number of bars."""
    found = {}
    for n in sizes:
        robot = kt.robots.four_bars(n)
        kernel, still = robot.kernel("forward_dynamics"), np.zeros(robot.nv)
        call = partial(kernel, robot.neutral(), still, still)
        (seconds,) = seconds_in_turn([call], clock=time.process_time)
        found[n] = sum(kernel.operations.values()), seconds
    return found


def _simulated(robot: kt.Robot, v: Any, **settings: Any) -> tuple[kt.Simulation, float]:
    """A motion from the neutral configuration by rk4, and how long it took."""
    rollout = robot.rollout(
        None,
        round(settings["time"] / settings["dt"]),
        settings["dt"],
        method="rk4",
        record=["constraint_errors", "energy", "potential_energy"],
    )
    return _timed(lambda: rollout(robot.neutral(), v))


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    run()  # compiles
    started = time.perf_counter()
    found = run()
    return found, time.perf_counter() - started


def _loops(run: kt.Simulation) -> float:
    return float(np.abs(run["constraint_errors"]).max())


def iftomm() -> bool:
    """Print the table of IFToMM's problems, and whether every figure is met."""
    print("| problem | error | demanded | loops | simulated in | |\n|-|-|-|-|-|-|")
    outcomes = []
    for run in (pendulum, lambda: four_bars(2), lambda: four_bars(40), squeezer, bricard):
        outcomes.append(run())
        print(outcomes[-1], flush=True)
    costs = growth()
    print("\n| four-bars | operations | for each | one call | for each |\n|-|-|-|-|-|")
    for n, (cost, seconds) in costs.items():
        one = f"{1e6 * seconds:.1f} us | {1e6 * seconds / n:.2f} us"
        print(f"| {n} | {cost:,} | {cost / n:.0f} | {one} |")
    each = [cost / n for n, (cost, _) in costs.items()]
    return all(outcome.met for outcome in outcomes) and max(each) < 1.1 * min(each)


PARTS: dict[str, Callable[[], bool]] = {
    "iftomm": iftomm,
    "pinocchio": pinocchio,
    "mujoco": mujoco,
    "embedding": embedding,
    "speed": speed,
    "cold": cold,
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constraints")
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    only = parser.parse_args().only
    met = [part() for name, part in PARTS.items() if only in (None, name)]
    raise SystemExit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
