"""The command `kinetree simulate`: a robot under a controller, to a file and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

import kinetree
from kinetree import Robot, Simulation
from kinetree.algorithms.steps import Enforcement
from kinetree.cli.choices import CONTROLLERS
from kinetree.errors import KinetreeError, unknown
from kinetree.model.geometry import HeightField, Plane
from kinetree.model.model import WORLD
from kinetree.simulate.figures import save_figure
from kinetree.typing import Array

STILL = 1e-9
"""Velocities below this are rounding, rad/s or m/s."""
STEPS_WITH_PROGRESS = 2000
"""Steps: simulations of fewer show no progress."""


def run(
    robot: Robot,
    controller: str,
    target: str,
    start: str,
    time: float,
    dt: float,
    method: Any,
    record: str,
    stops: str,
    ground: bool = False,
    console: Console | None = None,
) -> Simulation:
    """The simulation that the options ask for."""
    if controller not in CONTROLLERS:
        raise unknown("controller", controller, CONTROLLERS, "kinetree simulate")
    robot, rest = _standing(robot) if ground else (robot, robot.neutral())
    q0: Array = rest
    v0: Array = np.zeros(robot.nv)
    if start in robot.keyframes:
        q0, v0 = robot.keyframes[start].q, robot.keyframes[start].v
    elif start:
        q0 = _numbers("start", start, robot.nq, robot.keyframes)
    law = CONTROLLERS[controller](robot, _numbers("target", target, robot.nq) if target else None)
    enforcement = Enforcement(stops=stops)
    if (method, stops) == ("auto", "spring"):
        method = "implicit-springs"  # an explicit step cannot follow a stiff stop of a light joint
    names = [name.strip() for name in record.split(",") if name.strip()]
    with _progress(console, time / dt if dt > 0 else 0.0) as progress:
        return robot.simulate(
            q0,
            v0,
            law,
            time=time,
            dt=dt,
            method=method,
            enforcement=enforcement,
            record=names,
            progress=progress,
        )


def _standing(robot: Robot) -> tuple[Robot, Array]:
    """The robot on level ground, and its neutral configuration above that."""
    from kinetree.show.view.live import above_ground

    bodies = robot.model.collider_bodies
    grounds = {
        x.name
        for x in robot.model.colliders
        if bodies[x.name] == WORLD and isinstance(x.shape, (Plane, HeightField))
    }
    stands = any(grounds & {x.first, x.second} for x in robot.model.contacts)
    standing = robot if stands else robot.on_ground()
    return standing, above_ground(standing, standing.neutral())


def write(robot: Robot, found: Simulation, output: Path | None, plot: Path | None) -> list[str]:
    """Write the files that were asked for; their paths."""
    if output is not None:
        found.save(output)
    if plot is not None:
        names = [name for name in found if name != "times" and found[name].ndim <= 2]
        save_figure(kinetree.plot.trajectory(robot, found, names), plot)
    return [str(path) for path in (output, plot) if path is not None]


def summary(found: Simulation, files: list[str]) -> dict[str, Any]:
    """What the robot did, as values that JSON has."""
    return {
        "states": len(found.times),
        "seconds": float(found.times[-1]),
        "arrays": list(found),
        "q": found.q[-1].tolist(),
        "v": found.v[-1].tolist(),
        "files": files,
    }


def report(robot: Robot, found: Simulation, stops: str, files: list[str]) -> Iterator[str]:
    """What the robot did, line by line."""
    yield f"{len(found.times)} states over {found.times[-1]:g} s: {', '.join(found)}"
    end = np.round(found.q[-1], 4) + 0.0  # no -0
    yield f"q at the end: {np.array2string(end, suppress_small=True)}"
    beyond = _beyond_limits(robot, found)
    if beyond and stops == "none":
        yield f"Beyond their limits: {', '.join(beyond)}. --stops spring keeps joints near them."
    if np.abs(found.v).max() < STILL:
        yield "It did not move: it starts at rest in equilibrium. Try another --start or --target."
    yield from files


def _beyond_limits(robot: Robot, found: Simulation) -> list[str]:
    """The names of coordinates that leave their range."""
    limits = robot.limits
    out = (found.q < limits.lower) | (found.q > limits.upper)
    return [robot.labels.q[k] for k in np.flatnonzero(out.any(axis=0))]


def _numbers(option: str, text: str, count: int, names: Iterable[str] = ()) -> Array:
    """The coordinates in a text, such as 0.1,0.2; an error says which names would do as well."""
    try:
        values = [float(x) for x in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        named = "".join(f", or {name!r}" for name in names)
        raise KinetreeError(
            f"--{option} {text!r}: expected {count} numbers, separated by commas{named}"
        )
    return np.array(values)


@contextmanager
def _progress(console: Console | None, steps: float) -> Iterator[Callable[[float], None] | None]:
    """A bar for long simulations."""
    if steps < STEPS_WITH_PROGRESS:
        yield None
        return
    with Progress(console=console or Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=1.0)
        yield lambda share: bar.update(task, completed=share)
