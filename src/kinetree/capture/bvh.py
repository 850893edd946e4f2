"""BVH files as robots and trajectories, and back."""

from __future__ import annotations

import math
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kinetree.errors import FileFormatError, KinetreeError, ModelWarning, ShapeError, among, unknown
from kinetree.model.assemble import assemble
from kinetree.model.disassemble import fresh
from kinetree.model.formats.bvh import (
    UNITS,
    UPRIGHT,
    Bone,
    Recording,
    bone_joint,
    guessed_units,
    guessed_up,
    parse_bvh,
    skeleton,
)
from kinetree.model.formats.files import read_file
from kinetree.model.joints import Ball, Composite, Revolute, euler
from kinetree.model.joints.composite import AXES
from kinetree.robot import Robot
from kinetree.spatial import Rotation, Transform, Vector3
from kinetree.typing import Array, ArrayLike, Base, ChartName

LARGEST = 1 << 28
"""Bytes: some hours of motion."""
Units = Literal["m", "cm", "mm", "inch"] | float
WRITTEN = "zxy"
"""The order of rotation channels in files that are written."""
CONSTANT = 1e-9
"""m: a joint whose place in its parent varies by less has no position channels."""


@dataclass(frozen=True)
class MotionCapture:
    """A recorded motion.

    Attributes:
        robot: the skeleton, z up, with one link of the same name for each joint of the file. It has
            no mass unless `mass` was given.
        times: s, (frames,).
        q: configurations, (frames, nq), without jumps.
        units: the length of the file's unit, m.
        up: the axis of the file that points up.
    """

    robot: Robot
    times: Array
    q: Array
    units: float
    up: str

    def velocities(self, method: Literal["difference", "spline"] = "difference") -> Array:
        """The velocities at all frames.

        Arguments:
            method: as in `Robot.charts.velocities_along`.

        Returns:
            (frames, nv).
        """
        return self.robot.charts.velocities_along(self.times, self.q, method=method)


def read_bvh(
    file: str | os.PathLike[str],
    *,
    units: Units | None = None,
    up: Literal["y", "z"] | None = None,
    base: Base = "floating",
    chart: ChartName = "quaternion",
    positions: Literal["add", "replace"] | None = None,
    mass: float | None = None,
) -> MotionCapture:
    """Read a BVH file: its skeleton as a robot, its frames as configurations.

    Units and axes that are not given are guessed, with a `kinetree.errors.ModelWarning`.

    Arguments:
        file: its path.
        units: of lengths: "m", "cm", "mm", "inch", or metres in a unit. By default what makes the
            rest pose about as high as a human.
        up: the axis that points up, "y" or "z". By default the one along which the rest pose is
            longer.
        base: "floating" takes the root's motion, "fixed" leaves it out.
        chart: of orientations, as in `kinetree.load`.
        positions: whether position channels are added to their joint's OFFSET or replace it. Files
            differ; it matters only where such an OFFSET is not zero.
        mass: of the figure, kg; none by default, so that there are poses and velocities, and no
            dynamics. Where the names of joints say that it is a human, segments have their shares
            of P. de Leva's table (see `kinetree.robots.human`); else the lengths of bones count.

    Returns:
        The robot, times and configurations. In the robot's neutral configuration it stands in the
        file's rest pose.
    """
    if mass is not None:
        mass = _positive("mass", mass, "read_bvh: a positive mass, kg, is expected")
    recording = read_recording(file)
    scale, up = _conventions(recording, units, up)
    shares = None
    if mass is not None:
        from kinetree.capture.masses import mass_shares  # needs the human figure

        bones = recording.bones
        shares = mass_shares([x.name for x in bones], [x.parent for x in bones])
    model = assemble(skeleton(recording, scale, up, mass, shares), base=base)
    robot = Robot(model)
    q = _configurations(recording, robot, scale, up, positions)
    if chart != "quaternion":
        other = robot.edit.rechart(chart)
        robot, q = other, robot.charts.conversion(other).trajectory(q).q
    times = np.arange(len(q)) * recording.frame_time
    return MotionCapture(robot, times, robot.charts.continuous(q), scale, up)


def read_recording(file: str | os.PathLike[str]) -> Recording:
    """A BVH file as it is written."""
    path = Path(os.fspath(file))
    data = read_file(path, LARGEST)
    if len(data) > LARGEST:
        raise FileFormatError(
            f"{path}:1: the file is larger than {LARGEST >> 20} MiB, the limit for a BVH file"
        )
    return parse_bvh(data.decode("utf-8-sig", errors="replace"), str(path))


def _conventions(
    recording: Recording, units: Units | None, up: str | None
) -> tuple[float, Literal["y", "z"]]:
    """Metres in a unit and the axis that points up; a warning states guesses."""
    if not among(up, (None, *UPRIGHT)):
        raise unknown("up axis", up, UPRIGHT, "read_bvh")
    axis: Any = up or guessed_up(recording)
    unit = guessed_units(recording, axis) if units is None else units
    scale = _metres(unit, "read_bvh")
    guessed = [f"units={unit!r}"] if units is None else []
    guessed += [f"up={axis!r}"] if up is None else []
    if guessed:
        height = recording.extent(axis) * scale
        warnings.warn(
            f"{recording.file}: {' and '.join(guessed)} guessed from the rest pose, which is then "
            f"{height:.2f} m high; a BVH file does not state them: pass the right ones",
            ModelWarning,
            stacklevel=3,
        )
    return scale, axis


def _metres(unit: str | float, caller: str) -> float:
    """Metres in a unit."""
    if isinstance(unit, str):
        if not among(unit, UNITS):
            raise unknown("unit", unit, UNITS, caller)
        return UNITS[unit]
    return _positive("units", unit, f"{caller}: a unit's name or metres in a unit are expected")


def _positive(name: str, value: Any, expected: str) -> float:
    """A positive, finite number that a user gives."""
    number = value if isinstance(value, (int, float, np.number)) else math.nan
    if not 0.0 < number < math.inf:
        raise KinetreeError(f"{name}={value!r}: {expected}")
    return float(number)


def _configurations(
    recording: Recording, robot: Robot, scale: float, up: str, positions: str | None
) -> Array:
    """q of every frame, from angles and positions."""
    frames, U = recording.frames, UPRIGHT[up]
    q = np.tile(robot.neutral(), (len(frames), 1))
    added = _added(recording, positions)
    slices = {
        body.joint_name if body.parent >= 0 else body.name: at
        for body, at in zip(robot.model.bodies, robot.model.q_slices, strict=True)
    }
    for k, bone in enumerate(recording.bones):
        at = slices.get(bone.name)
        if at is None:  # fixed
            continue
        channels = frames[:, recording.columns(k)]
        turn = Composite(tuple(Revolute(U @ AXES[axis]) for axis in bone.turns))
        turning = [i for i, c in enumerate(bone.channels or ()) if c.endswith("rotation")]
        angles = np.radians(channels[:, turning])
        joint = bone_joint(bone, U) if bone.parent >= 0 else None
        if bone.parent < 0 or bone.slides:
            with np.errstate(over="ignore", invalid="ignore"):
                place = _positions(bone, channels, added) @ _matrix(U).T * scale
            if not np.isfinite(place).all():
                frame = int(np.flatnonzero(~np.isfinite(place).all(axis=1))[0]) + 1
                raise FileFormatError(
                    f"{recording.file}:{bone.line}: the position of joint {bone.name!r} in frame "
                    f"{frame} overflows"
                )
            q[:, at.start : at.start + 3] = place
        if at.stop - at.start in (4, 7):
            q[:, at.stop - 4 : at.stop] = _quaternions(turn, angles)
        elif joint is not None:
            q[:, at] = angles
    return q


def _quaternions(turn: Composite, angles: Array) -> Array:
    """The orientations of hinges in series, (frames, 4)."""
    if not turn.parts:
        return np.tile((0.0, 0.0, 0.0, 1.0), (len(angles), 1))
    quat = Ball().coordinates_at(turn.transform(list(angles.T)))
    return np.stack([np.broadcast_to(x, len(angles)) for x in quat], axis=1)


def _positions(bone: Bone, channels: Array, added: bool) -> Array:
    """A joint's place in its parent, in the file's units and axes, (frames, 3)."""
    found = np.tile(bone.offset, (len(channels), 1))
    for i, channel in enumerate(bone.channels or ()):
        if channel.endswith("position"):
            k = "XYZ".index(channel[0])
            found[:, k] = channels[:, i] + (found[:, k] if added else 0.0)
    return found


def _added(recording: Recording, positions: str | None) -> bool:
    """Whether position channels are added to OFFSET."""
    if not among(positions, (None, "add", "replace")):
        raise unknown("value of positions", positions, ("add", "replace"), "read_bvh")
    doubtful = [k for k, bone in enumerate(recording.bones) if bone.slides and any(bone.offset)]
    if positions is not None or not doubtful or not len(recording.frames):
        return positions == "add"
    k = doubtful[-1]
    bone = recording.bones[k]
    at = np.abs(_positions(bone, recording.frames[:, recording.columns(k)], False))
    with np.errstate(over="ignore"):
        near = np.abs(np.median(at, axis=0) - np.abs(bone.offset)).max()
    add = bool(near > 0.5 * math.hypot(*bone.offset))
    warnings.warn(
        f"{recording.file}:{bone.line}: joint {bone.name!r} has an OFFSET and position channels; "
        f"positions={'add' if add else 'replace'!r} is guessed from the recorded positions",
        ModelWarning,
        stacklevel=4,
    )
    return add


def _matrix(R: Rotation) -> Array:
    return np.array([[float(x) for x in row] for row in R.rows])


def write_bvh(
    file: str | os.PathLike[str],
    robot: Robot,
    q: ArrayLike,
    frame_time: float,
    units: Units = "cm",
    up: Literal["y", "z"] = "y",
) -> None:
    """Write a robot's skeleton and a motion to a BVH file.

    The rest pose of the file is the robot's neutral configuration. Every link is a joint of the
    file; joints that slide get position channels, which replace their OFFSET.

    Arguments:
        file: the path to write.
        robot: of any joints.
        q: configurations, (frames, nq).
        frame_time: s from frame to frame.
        units: of the lengths in the file, as in `read_bvh`.
        up: the axis of the file that points up.
    """
    path = np.atleast_2d(np.asarray(q, dtype=np.float64))
    if path.ndim != 2 or path.shape[1] != robot.nq:
        raise ShapeError(f"write_bvh: q has shape {path.shape}; (frames, {robot.nq}) is expected")
    if not np.isfinite(path).all():
        frame = int(np.flatnonzero(~np.isfinite(path).all(axis=1))[0])
        raise KinetreeError(f"write_bvh: q[{frame}] holds a number that is not finite")
    step = _positive("write_bvh: frame_time", frame_time, "a positive time is expected")
    if not among(up, UPRIGHT):
        raise unknown("up axis", up, UPRIGHT, "write_bvh")
    scale = 1.0 / _metres(units, "write_bvh")
    Path(file).write_text(_Writer(robot, path, scale, up).text(step), encoding="utf-8")


class _Writer:
    """The links of a robot as bones whose axes are parallel in the rest pose."""

    def __init__(self, robot: Robot, q: Array, scale: float, up: str) -> None:
        self.robot, back = robot, _matrix(UPRIGHT[up]).T
        bodies = robot.model.bodies
        roots = [k for k, body in enumerate(bodies) if body.parent < 0]
        self.names = [body.name for body in bodies]
        self.parents = [body.parent for body in bodies]
        rest, moved = robot.poses(robot.neutral()), robot.poses(q)
        turned = back @ moved[..., :3, :3] @ rest[:, :3, :3].swapaxes(-1, -2) @ back.T
        at, rest_at = moved[..., :3, 3] @ back.T * scale, rest[:, :3, 3] @ back.T * scale
        if len(roots) != 1:  # a base that stands still carries them
            self.names.append(f"{robot.name}_base")
            self.parents = [len(bodies) if p < 0 else p for p in self.parents] + [-1]
            still = np.broadcast_to(np.eye(3), (len(q), 1, 3, 3))
            turned = np.concatenate([turned, still], axis=1)
            at = np.concatenate([at, np.zeros((len(q), 1, 3))], axis=1)
            rest_at = np.concatenate([rest_at, np.zeros((1, 3))])
        self.root = self.parents.index(-1)
        self.children: list[list[int]] = [[] for _ in self.parents]
        for k, p in enumerate(self.parents):
            if p >= 0:
                self.children[p].append(k)
        self.ends = self._ends(rest, back, scale)
        self._localise(turned, at, rest_at, scale)

    def _ends(self, rest: Array, back: Array, scale: float) -> list[list[Array]]:
        """Frames that are fixed in bodies, as end sites."""
        ends: list[list[Array]] = [[] for _ in self.names]
        joints = set(self.names)
        for frame in self.robot.model.frames:
            if frame.body >= 0 and frame.name not in joints:
                place = np.array([float(x) for x in frame.placement.translation])
                ends[frame.body].append(rest[frame.body, :3, :3] @ place @ back.T * scale)
        return ends

    def _localise(self, turned: Array, at: Array, rest_at: Array, scale: float) -> None:
        """Offsets, positions and angles of each bone in its parent."""
        self.offsets, self.columns, self.slides = [], [], []
        joint = euler(WRITTEN)
        for k, p in enumerate(self.parents):
            R = turned[:, k] if p < 0 else turned[:, p].swapaxes(-1, -2) @ turned[:, k]
            way = at[:, k] if p < 0 else at[:, k] - at[:, p]
            place = way if p < 0 else np.einsum("tji,tj->ti", turned[:, p], way)
            self.offsets.append(rest_at[k] - (rest_at[p] if p >= 0 else 0.0))
            varies = np.abs(place - self.offsets[-1]).max(initial=0.0) > CONSTANT * scale
            self.slides.append(bool(p < 0 or varies))
            rows = [Vector3(*R[:, i, :].T) for i in range(3)]
            angles = joint.coordinates_at(Transform(Rotation(*rows), Vector3.zero()))
            path = np.stack([np.broadcast_to(x, len(R)) for x in angles], axis=1)
            turns = np.degrees(joint.continued(path)) if len(R) else path
            self.columns.append(np.hstack([place, turns]) if self.slides[-1] else turns)
        self.offsets[self.root] = np.zeros(3)  # its position channels say where it is

    def text(self, frame_time: float) -> str:
        order, hierarchy = self._hierarchy()
        lines = ["HIERARCHY", *hierarchy, "MOTION"]
        frames = np.hstack([self.columns[k] for k in order])
        lines += [f"Frames: {len(frames)}", f"Frame Time: {frame_time!r}"]
        lines += [" ".join(repr(float(x)) for x in row) for row in frames]
        return "\n".join(lines) + "\n"

    def _hierarchy(self) -> tuple[list[int], list[str]]:
        """The bones in the order of the file, and its lines; no recursion: chains may be long."""
        order: list[int] = []
        lines: list[str] = []
        taken: set[str] = set()
        pending = [(self.root, 0, False)]  # a bone, its depth, whether its children are written
        while pending:
            k, depth, done = pending.pop()
            if done:
                lines += self._closing(k, "\t" * depth)
                continue
            order.append(k)
            name = fresh(re.sub(r"[\s{}]+|^MOTION$", "_", self.names[k]), taken)
            taken.add(name)
            lines += self._opening(k, name, "\t" * depth)
            pending.append((k, depth, True))
            pending += [(child, depth + 1, False) for child in reversed(self.children[k])]
        return order, lines

    def _opening(self, k: int, name: str, tab: str) -> list[str]:
        """The lines of a bone before those of its children."""
        turns = " ".join(f"{axis.upper()}rotation" for axis in WRITTEN)
        channels = f"6 Xposition Yposition Zposition {turns}" if self.slides[k] else f"3 {turns}"
        lines = [f"{tab}{'JOINT' if tab else 'ROOT'} {name}", f"{tab}{{"]
        return [*lines, f"{tab}\tOFFSET {_listed(self.offsets[k])}", f"{tab}\tCHANNELS {channels}"]

    def _closing(self, k: int, tab: str) -> list[str]:
        """The lines of a bone after those of its children."""
        lines = []
        for end in self.ends[k] or ([] if self.children[k] else [np.zeros(3)]):
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{"]
            lines += [f"{tab}\t\tOFFSET {_listed(end)}", f"{tab}\t}}"]
        return [*lines, f"{tab}}}"]


def _listed(values: Array) -> str:
    return " ".join(repr(float(x)) for x in values)
