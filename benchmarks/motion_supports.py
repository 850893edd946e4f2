"""The human on supports: a step from one recorded walk into another, beside a weightless root.

    python -m benchmarks.motion supports

Everything is checked before it is printed: feet in their phases, friction cones and centres of
pressure, and the wrench on the root, by inverse dynamics with the ground forces as external ones.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.motion import human
from kinetree.motion.ground_forces import GroundForces

DURATION = 0.6
HOW = {"coefficients": 12, "tolerance": 1e-4}


def ends(robot: kt.Robot) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The middle of a step on the left foot, and of a shorter, slower one on the right foot."""
    first, second = human.stroll(robot), human.stroll(robot, length=0.3, period=0.7)
    q, v, _ = second.at(1.05)
    q = q.copy()
    q[0] += 0.35 - robot.pose(q, "right_foot")[0, 3]
    return tuple(first.at(0.3))[:2], (q, v)


def supports() -> list[kt.Support]:
    return [kt.Support("left_foot", last=0.36), kt.Support("right_foot", first=0.26)]


def external_wrenches(robot: kt.Robot, q: np.ndarray, forces: GroundForces) -> dict:
    """The ground forces as inverse dynamics takes them: at the frames, in their axes."""
    external = {}
    for frame, wrench in forces.wrenches.items():
        X = robot.pose(q, frame)
        moment = wrench[:, 3:] - np.cross(X[:, :3, 3], wrench[:, :3])
        parts = np.stack([wrench[:, :3], moment], axis=-1)
        turned = X[:, :3, :3].swapaxes(-1, -2) @ parts
        external[frame] = np.concatenate([turned[..., 0], turned[..., 1]], axis=-1)
    return external


def outside(robot: kt.Robot, found: kt.Transition, times: np.ndarray) -> tuple[float, ...]:
    """How far feet move (m), how far forces leave cones and areas, and what is left on the root."""
    state, forces = found.at(times), found.ground_forces(times)
    weight = 9.81 * robot.total_mass
    moved = cone = 0.0
    for support in supports():
        inside = (times >= support.first) & (times <= support.last)
        X = robot.pose(state.q[inside], support.frame)[:, :3, 3]
        moved = max(moved, float(np.abs(X - X[0 if support.first <= 0.0 else -1]).max()))
        cone = max(cone, float(forces.friction[support.frame].max()) - 1.0)
    external = external_wrenches(robot, state.q, forces)
    left = robot.inverse_dynamics(*state, external=external)[:, :6]
    pressure = max(
        (x.relative for x in found.violations() if "ground" in x.constraint), default=0.0
    )
    return moved, max(cone, 0.0), 1e-6 * pressure, float(np.abs(left).max()) / weight


def bench_supports(folder: Path | None = None) -> None:
    """The table, and pictures if there is a folder for them."""
    robot = kt.robots.human()
    first, second = ends(robot)
    feet = supports()
    print("\n| human, 0.6 s: a step between two walks | P | CPU time | |\n|-|-|-|-|")
    for name, how in (
        ("on supports", {"supports": feet}),
        (
            "root weightless, feet held",
            {"root": 0.0, "hold": [_hold(robot, x, first, second) for x in feet]},
        ),
    ):
        robot.transition(first, second, DURATION, **how, **{**HOW, "iterations": 2})  # compiles
        began = time.process_time()
        found = robot.transition(first, second, DURATION, **how, **HOW)
        seconds = time.process_time() - began
        note = f"{found.iterations} steps, largest force {found.root_force:.0f} N, {found.message}"
        print(f"| {name} | {found.value:.5g} | {seconds:.2f} s | {note} |", flush=True)
        if "supports" in how:
            moved, cone, pressure, left = outside(robot, found, np.linspace(0.0, DURATION, 601))
            print(
                f"| feet move {1000 * moved:.2g} mm, cones and areas are left by {cone:.1g} and ",
                end="",
            )
            print(f"{pressure:.1g}, wrench on the root that no ground produces: {left:.1g} | | | |")
            if found.converged:
                assert moved < 1e-3
                assert max(cone, pressure) <= 1e-6
            assert left < 1e-8
        if folder is not None:
            stem = "supports" if "supports" in how else "weightless"
            found.motion().figures(folder / f"transition_{stem}.png", count=7)
            found.motion().strobe(folder / f"strobe_{stem}.png")


def _hold(robot: kt.Robot, support: kt.Support, first: tuple, second: tuple) -> kt.Hold:
    state = first if support.first <= 0.0 else second
    target = robot.pose(state[0], support.frame)
    return kt.Hold(support.frame, target, support.first, min(support.last, DURATION))
