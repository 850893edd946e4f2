"""The human on supports, beside a root that any force may carry.

    python -m benchmarks.motion supports

Everything is checked before it is printed: feet in their phases, friction cones and centres of
pressure, and the wrench on the root, by inverse dynamics with the ground forces as external ones.
"""

from __future__ import annotations

import time

import numpy as np

import kinetree as kt
from kinetree.motion import human
from kinetree.motion.ground_forces import GroundForces

DURATION = 0.6
HOW = {"coefficients": 16, "tolerance": 1e-4, "iterations": 200}
Case = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], list[kt.Support]]
"""Two states and the supports between them."""


def saluting(robot: kt.Robot) -> Case:
    """Standing on both feet, the right hand goes up to the head."""
    first, arm = human.stand(robot).q[0], human.salute(robot).q[-1]
    second = first.copy()
    for body, at in zip(robot.model.bodies, robot.model.q_slices, strict=True):
        if body.name in ("right_upper_arm", "right_forearm"):
            second[at] = arm[at]
    return (first,), (second,), [kt.Support("left_foot"), kt.Support("right_foot")]


def walking(robot: kt.Robot) -> Case:
    """From the middle of a step on the left foot to that of a shorter one on the right foot."""
    first, second = human.stroll(robot), human.stroll(robot, length=0.3, period=0.7)
    q, v, _ = second.at(1.05)
    q = q.copy()
    q[0] += 0.35 - robot.pose(q, "right_foot")[0, 3]
    feet = [kt.Support("left_foot", last=0.36), kt.Support("right_foot", first=0.26)]
    return tuple(first.at(0.3))[:2], (q, v), feet


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


def outside(
    robot: kt.Robot, found: kt.Transition, feet: list[kt.Support], times: np.ndarray
) -> tuple[float, ...]:
    """How far feet move (m), how far forces leave cones and areas, and what is left on the root."""
    state, forces = found.at(times), found.ground_forces(times)
    weight = 9.81 * robot.total_mass
    moved = cone = 0.0
    for support in feet:
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


def bench_supports() -> None:
    """The table."""
    robot = kt.robots.human()
    print("\n| human, 0.6 s | P | CPU time | |\n|-|-|-|-|")
    for name, (first, second, feet) in (
        ("standing to a salute", saluting(robot)),
        ("a step between two walks", walking(robot)),
    ):
        holds = [_hold(robot, support, first, second) for support in feet]
        kinds = {"on supports": {"supports": feet}, "weightless": {"root": 0.0, "hold": holds}}
        for kind, how in kinds.items():
            robot.transition(first, second, DURATION, **how, **HOW)  # compiles
            began = time.process_time()
            found = robot.transition(first, second, DURATION, **how, **HOW)
            seconds = time.process_time() - began
            note = f"{found.iterations} steps, at most {found.root_force:.0f} N, {found.message}"
            print(f"| {name}, {kind} | {found.value:.5g} | {seconds:.2f} s | {note} |", flush=True)
            if found.supported:
                _print_checks(robot, found, feet)


def _print_checks(robot: kt.Robot, found: kt.Transition, feet: list[kt.Support]) -> None:
    times = np.linspace(0.0, DURATION, 601)
    moved, cone, pressure, left = outside(robot, found, feet, times)
    print(f"| feet move {1000 * moved:.2g} mm; cones and areas are left by {cone:.1g} and ", end="")
    print(f"{pressure:.1g}; wrench on the root that no ground produces: {left:.1g} | | | |")
    assert left < 1e-8
    if found.converged:
        assert moved < 1e-3
        assert max(cone, pressure) <= 1e-6


def _hold(robot: kt.Robot, support: kt.Support, first: tuple, second: tuple) -> kt.Hold:
    state = first if support.first <= 0.0 else second
    target = robot.pose(state[0], support.frame)
    return kt.Hold(support.frame, target, support.first, min(support.last, DURATION))
