"""The command `kinetree transition`: from a time of one recorded motion to a time of another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kinetree
from kinetree.capture.feet import feet as feet_of
from kinetree.capture.feet import sole
from kinetree.capture.ranges import with_ranges
from kinetree.errors import KinetreeError, ModelWarning
from kinetree.motion.footsteps import USUAL, Plan, planned
from kinetree.motion.motion import Motion
from kinetree.motion.result import Transition
from kinetree.motion.transition_settings import SMOOTHING
from kinetree.robot import Robot
from kinetree.show.view.recording import ENDINGS, checked_ending
from kinetree.simulate.figures import checked_picture

SPACING, FEWEST = 0.038, 16
"""Knots of the splines are so far apart, s, so that feet hardly stray in between; and the least
number of coefficients."""
LONGER = 1.15
"""How much longer a transition lasts when it is tried again."""
CARRIED = 2.0
"""Forces on the root beyond this many times the weight are absurd."""
FAST = 20.0
"""Joints that turn faster are absurd, rad/s."""


def read_motion(path: Path, robot: Robot | None, reading: Mapping[str, Any]) -> tuple[Motion, Any]:
    """A motion of a BVH or NPZ file, and what else a BVH file says.

    Arguments:
        path: of the file.
        robot: whose motion an NPZ file has.
        reading: how a BVH file is read, arguments of `kinetree.read_bvh`.
    """
    if path.suffix == ".bvh":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # a remark states guesses
            capture = kinetree.read_bvh(path, **reading)
        return Motion(capture.robot, capture.times, capture.q), capture
    if path.suffix != ".npz":
        raise KinetreeError(f"{path}: a name that ends with .bvh or .npz is expected")
    if robot is None:
        raise KinetreeError(f"{path}: an NPZ file needs --robot, the robot of the motion")
    return Motion.load(robot, path), None


@dataclass(frozen=True)
class Joined:
    """Two motions and the transition between them.

    whole: all three, one after the other.
    found: the transition.
    capture: what else the first BVH file says; None of an NPZ file.
    remarks: what a user should know about how it was made, a sentence each.
    """

    whole: Motion
    found: Transition
    capture: Any
    remarks: tuple[str, ...]


def run(
    first: Path,
    second: Path,
    leave: float | None,
    enter: float | None,
    duration: float | None,
    reading: Mapping[str, Any],
    root: str,
    hold: str,
    feet: str,
    align: bool,
    robot: Robot | None,
    **settings: Any,
) -> Joined:
    """The whole motion: the first, the transition, the second.

    Arguments:
        first, second: files.
        leave, enter: when the one is left and the other entered, s; the end and the start if None.
        duration: of the transition, s; None for what the speeds of both motions need.
        reading: how BVH files are read, arguments of `kinetree.read_bvh`.
        root: "auto", "passive" or the weight of forces on the root.
        hold: names of frames that are held, separated by commas.
        feet: "auto", "none", or names of frames that may stand, separated by commas.
        align: whether the second motion is moved so that it continues the first.
        robot: of NPZ files.
        settings: others of `Robot.transition`.
    """
    one, capture = read_motion(first, robot, reading)
    two, _ = read_motion(second, robot, reading)
    with _named(f"{first} and {second}"):
        one.check_same(two)
    robot, beyond = with_ranges(one.robot, (one.q, two.q)) if capture else (one.robot, ())
    one, two = (Motion(robot, x.times, x.q, x.v, x.a) for x in (one, two))
    leave = float(one.times[-1]) if leave is None else leave
    enter = float(two.times[0]) if enter is None else enter
    frames = {name: sole(robot, name) for name in _feet(robot, feet)}
    remarks = [
        f"recorded beyond the range of a human joint, so without limits: {', '.join(beyond)}"
    ]
    remarks = remarks if beyond else []
    guessed = [name for name in ("units", "up") if capture and reading.get(name) is None]
    if guessed:
        remarks.append(
            f"guessed: {' '.join(f'--{name} {getattr(capture, name)}' for name in guessed)}"
        )
    if feet == "auto" and not frames and capture:
        remarks.append("warning: no joint has the name of a foot: --feet names those that stand")
    for option, motion, t in (("--from", one, leave), ("--to", two, enter)):
        with _named(f"{option} {t:g}"):
            motion.at(t)
    given = {"hold": [kinetree.Hold(name) for name in _names(hold)], **settings}
    floats = robot.model.bodies[0].joint.nv == 6

    def plan(lasts: float | None) -> Plan:
        if not floats:
            return Plan(two, (), USUAL if lasts is None else lasts)
        return planned(one, leave, two, enter, frames, lasts, align)

    tries = [plan(duration)]
    if duration is None:
        tries.append(plan(round(LONGER * tries[0].duration, 2)))
    if floats and align:
        remarks.append("the second motion was moved along the ground to continue the first")
    found, used, said = _solved(robot, (one, leave), enter, tries, root, given)
    whole = _joined(one, leave, found, used.second, enter)
    return Joined(whole, found, capture, (*remarks, *said))


@contextmanager
def _named(subject: str) -> Iterator[None]:
    """Begin the message of an error with what a user gave."""
    try:
        yield
    except KinetreeError as e:
        raise type(e)(f"{subject}: {e}") from None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _feet(robot: Robot, given: str) -> list[str]:
    if given == "none":
        return []
    return feet_of(robot) if given == "auto" else _names(given)


def _solved(
    robot: Robot,
    first: tuple[Motion, float],
    enter: float,
    plans: list[Plan],
    root: str,
    given: dict[str, Any],
) -> tuple[Transition, Plan, list[str]]:
    """The transition on supports by the first plan that the ground can carry; remarks.

    If it can carry none, feet are held alone, as the first plan has them.
    """
    remarks: list[str] = []
    for plan in plans:
        ends = first, (plan.second, enter)
        remarks += [
            f"the transition lasts {plan.duration:.2f} s",
            *map(_phase(plan), plan.supports),
        ]
        if root != "auto" or not plan.supports:
            break
        how = _spaced(given, plan)
        found = robot.transition(*ends, plan.duration, supports=plan.supports, **how)
        if found.converged:
            return found, plan, remarks
        remarks.append(f"warning: the ground cannot carry this transition: {found.message}")
    plan = plans[0]
    ends = first, (plan.second, enter)
    if root == "auto" and plan.supports:
        remarks.append(
            f"feet are held in place for {plan.duration:.2f} s, and any force may act on the root "
            "instead"
        )
    plain = _spaced(given, plan)
    plain["hold"] = [*given["hold"], *(_hold(robot, support, ends) for support in plan.supports)]
    plain["smoothing"] = SMOOTHING
    weight = 0.0 if root == "auto" else _root(root)
    return robot.transition(*ends, plan.duration, root=weight, **plain), plan, remarks


def _spaced(given: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Settings with the number of coefficients that the duration needs, if it is not given."""
    needed = max(FEWEST, int(np.ceil(plan.duration / SPACING)) + 3)
    count = given.get("coefficients")
    return {**given, "coefficients": needed if count is None else count}


def _phase(plan: Plan) -> Callable[[Any], str]:
    """The sentence about one support of a plan."""

    def said(support: Any) -> str:
        first, last = max(support.first, 0.0), min(support.last, plan.duration)
        return f"{support.frame} stands from {first:.2f} to {last:.2f} s of the transition"

    return said


def _hold(robot: Robot, support: Any, ends: Any) -> kinetree.Hold:
    """A support as a held frame: where the first state has it, or the second if it begins later."""
    motion, t = ends[0] if support.first <= 0.0 else ends[1]
    target = robot.pose(motion.at(t).q, support.frame) if support.target is None else support.target
    return kinetree.Hold(support.frame, target, support.first, support.last)


def _joined(one: Motion, leave: float, found: Transition, two: Motion, enter: float) -> Motion:
    """All three motions, one after the other, at the rate of the first."""
    rate = 1.0 / float(np.median(np.diff(one.times)))
    parts = [found.motion(max(rate, 30.0))]
    if leave > one.times[0]:
        parts.insert(0, one.cut(one.times[0], leave))
    if enter < two.times[-1]:
        parts.append(two.cut(enter, two.times[-1]))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.then(part)
    return whole.resampled(rate)


def _root(text: str) -> Any:
    try:
        return text if text == "passive" else float(text)
    except ValueError:
        raise KinetreeError(f"--root {text!r}: 'auto', 'passive' or a number is expected") from None


def doubts(found: Transition) -> list[str]:
    """What no living figure would do: forces and speeds that are absurd, a sentence each."""
    robot, said = found.robot, []
    weight = robot.total_mass * float(np.linalg.norm(robot.gravity))
    if not found.supported and weight > 0.0 and found.root_force > CARRIED * weight:
        said.append(
            f"warning: the root is carried by up to {found.root_force:.3g} N, "
            f"{found.root_force / weight:.1f} times the weight; nothing stands on the ground"
        )
    motion = found.motion()
    fastest = int(np.abs(motion.v[:, 6:]).max(axis=0).argmax()) + 6 if robot.nv > 6 else 0
    speed = float(np.abs(motion.v[:, fastest]).max())
    if speed > FAST:
        said.append(
            f"warning: {robot.labels.v[fastest]!r} turns at {speed:.3g} rad/s; a longer --duration "
            "makes the motion slower"
        )
    return said


def check_endings(output: Path | None, figures: Path | None) -> None:
    """Raise an error now, not after the search, if a file cannot be written by its name."""
    if output is not None and output.suffix not in (".bvh", ".npz"):
        raise KinetreeError(f"{output}: a name that ends with .bvh or .npz is expected")
    if figures is None:
        return
    if figures.suffix in ENDINGS:
        checked_ending(figures)
    else:
        checked_picture(figures)


def write(
    joined: Joined, output: Path | None, plot: Path | None, figures: Path | None
) -> list[str]:
    """Write the files that were asked for; their paths."""
    whole, found, capture = joined.whole, joined.found, joined.capture
    if output is not None:
        if output.suffix == ".bvh":
            step = float(np.diff(whole.times).mean())
            units = {} if capture is None else {"units": capture.units, "up": capture.up}
            kinetree.write_bvh(output, whole.robot, whole.q, step, **units)
        else:
            whole.save(output)
    if plot is not None:
        found.plot(plot)
    if figures is not None:
        if figures.suffix in ENDINGS:
            kinetree.plot.video(whole.robot, whole, figures)
        else:
            found.motion().figures(figures)
    return [str(path) for path in (output, plot, figures) if path is not None]


def summary(joined: Joined, files: list[str]) -> dict[str, Any]:
    """What was found, as values that JSON has."""
    found = joined.found
    values = {"value": float(found.value), "start_value": float(found.start_value)}
    values["root_force"] = float(found.root_force)
    remarks = [*joined.remarks, *doubts(found)]
    return {**values, "message": found.message, "remarks": remarks, "files": files}


def report(joined: Joined, files: list[str]) -> Iterator[str]:
    """What was found, line by line."""
    found = joined.found
    yield from joined.remarks
    yield f"P = {found.value:.6g} (before: {found.start_value:.6g}), {found.message}"
    if found.root_force > 0.0:
        what = (
            "largest force of the ground" if found.supported else "largest force on the free root"
        )
        yield f"{what}: {found.root_force:.4g} N"
    yield from doubts(found)
    yield from files
