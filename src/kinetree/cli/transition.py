"""The command `kinetree transition`: from a time of one recorded motion to a time of another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kinetree
from kinetree.errors import KinetreeError, ModelWarning
from kinetree.motion.motion import Motion
from kinetree.motion.result import Transition
from kinetree.robot import Robot


def read_motion(path: Path, robot: Robot | None, mass: float) -> tuple[Motion, Any]:
    """A motion of a BVH or NPZ file, and what else a BVH file says.

    Arguments:
        path: of the file.
        robot: whose motion an NPZ file has.
        mass: of the figure of a BVH file, kg.
    """
    if path.suffix == ".bvh":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # units are guessed alike for both
            capture = kinetree.read_bvh(path, mass=mass)
        return Motion(capture.robot, capture.times, capture.q), capture
    if path.suffix != ".npz":
        raise KinetreeError(f"{path}: a name that ends with .bvh or .npz is expected")
    if robot is None:
        raise KinetreeError(f"{path}: an NPZ file needs --robot, the robot of the motion")
    return Motion.load(robot, path), None


def run(
    first: Path,
    second: Path,
    leave: float,
    enter: float,
    duration: float,
    mass: float,
    root: str,
    hold: str,
    robot: Robot | None,
    **settings: Any,
) -> tuple[Motion, Transition, Any]:
    """The whole motion: the first, the transition, the second; and the transition itself."""
    one, capture = read_motion(first, robot, mass)
    two, _ = read_motion(second, robot, mass)
    one.check_same(two)
    robot = one.robot
    two = Motion(robot, two.times, two.q, two.v, two.a)
    frames = [name.strip() for name in hold.split(",") if name.strip()]
    found = robot.transition(
        (one, leave),
        (two, enter),
        duration,
        root=_root(root),
        hold=[kinetree.Hold(name) for name in frames],
        **settings,
    )
    rate = 1.0 / float(np.median(np.diff(one.times)))
    parts = [found.motion(max(rate, 30.0))]
    if leave > one.times[0]:
        parts.insert(0, one.cut(one.times[0], leave))
    if enter < two.times[-1]:
        parts.append(two.cut(enter, two.times[-1]))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.then(part)
    return whole.resampled(rate), found, capture


def _root(text: str) -> Any:
    try:
        return text if text == "passive" else float(text)
    except ValueError:
        raise KinetreeError(f"--root {text!r}: 'passive' or a number is expected") from None


def write(
    whole: Motion, found: Transition, capture: Any, output: Path | None, plot: Path | None
) -> list[str]:
    """Write the files that were asked for; their paths."""
    if output is not None:
        if output.suffix == ".bvh":
            step = float(np.diff(whole.times).mean())
            units = {} if capture is None else {"units": capture.units, "up": capture.up}
            kinetree.write_bvh(output, whole.robot, whole.q, step, **units)
        elif output.suffix == ".npz":
            whole.save(output)
        else:
            raise KinetreeError(f"{output}: a name that ends with .bvh or .npz is expected")
    if plot is not None:
        found.plot(plot)
    return [str(path) for path in (output, plot) if path is not None]


def summary(found: Transition, files: list[str]) -> dict[str, Any]:
    """What was found, as values that JSON has."""
    values = {"value": float(found.value), "start_value": float(found.start_value)}
    values["root_force"] = float(found.root_force)
    return {**values, "message": found.message, "files": files}


def report(found: Transition, files: list[str]) -> Iterator[str]:
    """What was found, line by line."""
    yield f"P = {found.value:.6g} (before: {found.start_value:.6g}), {found.message}"
    if found.root_force > 0.0:
        yield f"largest force on the free root: {found.root_force:.4g} N"
    yield from files
