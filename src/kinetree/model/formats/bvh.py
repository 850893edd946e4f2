"""Reading BVH, the motion capture format of Biovision: a hierarchy of joints, and frames of angles.

A joint turns about its channels' axes in the order in which they are listed, each axis carried by
the ones before. Angles are in degrees; lengths are in a unit that no file names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np

from kinetree._lazy import cached_property
from kinetree.errors import FileFormatError
from kinetree.model.description import Connection, Description, Link
from kinetree.model.formats.bvh_rods import Shares, rods
from kinetree.model.formats.xml import brief
from kinetree.model.joints import Ball, Composite, Floating, Joint, Revolute
from kinetree.model.joints.composite import AXES
from kinetree.model.problem import Problem
from kinetree.spatial import Inertia, Rotation, Transform, Vector3

CHANNELS = tuple(f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ")
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}
HEIGHT = 1.7
"""m: the usual height of recorded people and figures, by which units are guessed."""
UPRIGHT = {"y": Rotation.about(AXES["x"], math.pi / 2), "z": Rotation.identity()}
"""The rotation from a file's axes to ours, whose z points up."""
MOTION = re.compile(r"(?<![^\s}])MOTION(?!\S)")
"""The word after the hierarchy, which is not part of a joint's name."""


@dataclass
class Bone:
    """A joint of the hierarchy and what it moves.

    parent: its index, or -1.
    offset: from the parent's joint, in the file's units and axes.
    ends: the offsets of its end sites.
    line: its line in the file.
    """

    name: str
    parent: int
    line: int
    offset: tuple[float, ...] = ()
    channels: tuple[str, ...] | None = None
    ends: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def turns(self) -> list[str]:
        """The axes of its rotation channels, in their order."""
        return [c[0].lower() for c in self.channels or () if c.endswith("rotation")]

    @property
    def slides(self) -> bool:
        """Whether it has position channels."""
        return any(c.endswith("position") for c in self.channels or ())


@dataclass(frozen=True)
class Recording:
    """The content of a BVH file: bones, parents first; and frames (times, channels), in degrees."""

    file: str
    bones: tuple[Bone, ...]
    frames: Any
    frame_time: float

    def columns(self, k: int) -> slice:
        """The columns of bone k's channels in a frame."""
        return slice(self._starts[k], self._starts[k + 1])

    @cached_property
    def _starts(self) -> list[int]:
        """For each bone the number of channels before its own, and the number of all."""
        return [0, *accumulate(len(bone.channels or ()) for bone in self.bones)]

    def extent(self, axis: str) -> float:
        """The extent of the rest pose along an axis, in the file's units."""
        k = "xyz".index(axis)
        at: list[float] = []
        reached: list[float] = []
        for bone in self.bones:
            at.append(bone.offset[k] + (at[bone.parent] if bone.parent >= 0 else 0.0))
            reached += [at[-1], *(at[-1] + end[k] for end in bone.ends)]
        return max(reached) - min(reached)


def guessed_up(recording: Recording) -> str:
    """ "y" or "z": the one along which the rest pose is longer."""
    return max(("y", "z"), key=recording.extent)


def guessed_units(recording: Recording, up: str) -> str:
    """The unit in which the rest pose is nearest to the height of a human."""
    height = max(recording.extent(up), 1e-9)
    return min(UNITS, key=lambda unit: abs(math.log(height * UNITS[unit] / HEIGHT)))


def guessed_skeleton(data: bytes, file: str) -> Description:
    """The skeleton of a BVH file with guessed units and up axis, and a remark that says so."""
    recording = parse_bvh(data.decode("utf-8-sig", errors="replace"), file)
    up = guessed_up(recording)
    units = guessed_units(recording, up)
    message = (
        f"units={units!r} and up={up!r} are guessed from the rest pose; kinetree.read_bvh takes "
        "them as arguments, and reads the motion, too"
    )
    remark = Problem("warning", "the file", message, f"{file}:1")
    return replace(skeleton(recording, UNITS[units], up), remarks=[remark])


def skeleton(
    recording: Recording,
    scale: float,
    up: str,
    mass: float | None = None,
    shares: Shares | None = None,
) -> Description:
    """The links and joints of a recording, turned upright: z points up in the world and every link.

    Arguments:
        scale: metres in a unit of the file.
        up: the axis of the file that points up, "y" or "z".
        mass: of all links, kg, distributed by the lengths of bones; none by default.
        shares: for each bone its segment's share of the mass, distributed by lengths within it.
    """
    U, bones = UPRIGHT[up], recording.bones
    links, connections = [], []
    inertias = _inertias(bones, scale, U, mass or 0.0, shares)
    for k, bone in enumerate(bones):
        where = f"{recording.file}:{bone.line}"
        links.append(Link(bone.name, inertias[k], where))
        if bone.parent >= 0:
            joint = bone_joint(bone, U)
            place = Vector3.zero() if bone.slides else _placed(bone.offset, scale, U)
            at = Transform(Rotation.identity(), place)
            parent = bones[bone.parent].name
            connections.append(Connection(bone.name, parent, bone.name, at, joint, where=where))
        for i, end in enumerate(bone.ends):
            name = f"{bone.name}_end{i + 1 if len(bone.ends) > 1 else ''}"
            links.append(Link(name, Inertia.zero(), where))
            at = Transform(Rotation.identity(), _placed(end, scale, U))
            connections.append(Connection(f"{name}_fixed", bone.name, name, at, None, where=where))
    return Description(bones[0].name, links, connections)


def bone_joint(bone: Bone, U: Rotation) -> Joint | None:
    """A ball for three rotations, hinges for fewer, a free joint where positions are recorded."""
    if bone.slides:
        return Floating()
    hinges = tuple(Revolute(U @ AXES[axis]) for axis in bone.turns)
    if len(hinges) == 3:
        return Ball()
    return None if not hinges else hinges[0] if len(hinges) == 1 else Composite(hinges)


def _placed(offset: tuple[float, ...], scale: float, U: Rotation) -> Vector3:
    return U @ (Vector3(*offset) * scale)


def _inertias(
    bones: Sequence[Bone], scale: float, U: Rotation, mass: float, shares: Shares | None
) -> list[Inertia]:
    reaches = [(bone.parent, bone.offset) for bone in bones if bone.parent >= 0]
    reaches += [(k, end) for k, bone in enumerate(bones) for end in bone.ends]
    ways = [(k, _placed(offset, scale, U)) for k, offset in reaches]
    return rods([_placed(bone.offset, scale, U) for bone in bones], ways, mass, shares)


def parse_bvh(text: str, file: str) -> Recording:
    """Read a BVH file's text.

    Arguments:
        file: its name, for messages.
    """
    return _Parser(text, file).recording()


class _Parser:
    """A reader of words, with the line of each."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        found = MOTION.search(text)
        head = text[: found.start()] if found else text
        self.lines_before = head.count("\n")
        self.motion = text[found.end() :] if found else None
        self.words = self._split(head)
        self.line = 1

    def _split(self, text: str) -> Iterator[tuple[str, int]]:
        for number, line in enumerate(text.splitlines(), 1):
            for word in line.replace("{", " { ").replace("}", " } ").split():
                yield word, number

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        raise FileFormatError(f"{self.file}:{line or self.line}: {message}")

    def word(self, what: str) -> str:
        try:
            word, self.line = next(self.words)
        except StopIteration:
            self.fail(f"the file ends where {what} is expected", self.lines_before + 1)
        return word

    def expect(self, wanted: str, after: str) -> None:
        word = self.word(f"{wanted!r} {after}")
        if word.upper() != wanted:
            self.fail(f"{brief(word)!r} {after}; {wanted!r} is expected")

    def number(self, what: str) -> float:
        word = self.word(f"a number ({what})")
        try:
            value = float(word)
        except ValueError:
            self.fail(f"{what}: {brief(word)!r} is not a number")
        if not math.isfinite(value):
            self.fail(f"{what}: {word} is not finite")
        return value

    def recording(self) -> Recording:
        self.expect("HIERARCHY", "begins a BVH file")
        self.expect("ROOT", "after HIERARCHY")
        bones = self.hierarchy()
        count = sum(len(bone.channels or ()) for bone in bones)
        frames, frame_time = self.frames(count)
        return Recording(self.file, tuple(bones), frames, frame_time)

    def hierarchy(self) -> list[Bone]:
        bones: list[Bone] = []
        names: dict[str, int] = {}
        open_bones: list[int] = []
        self.begin(bones, names, -1)
        open_bones.append(0)
        while open_bones:
            bone = bones[open_bones[-1]]
            word = self.word(f"'}}' of joint {bone.name!r}")
            kind = word.upper()
            if kind == "OFFSET":
                bone.offset = self.offset(bone.name)
            elif kind == "CHANNELS":
                bone.channels = self.channels(bone.name)
            elif kind == "JOINT":
                self.begin(bones, names, open_bones[-1])
                open_bones.append(len(bones) - 1)
            elif kind == "END":
                bone.ends.append(self.end_site(bone.name))
            elif kind == "}":
                self.finished(bones[open_bones.pop()])
            else:
                self.fail(
                    f"{brief(word)!r} in joint {bone.name!r}; OFFSET, CHANNELS, JOINT, End Site or "
                    "'}' is expected"
                )
        extra = next(self.words, None)
        if extra is not None:
            self.fail(f"{brief(extra[0])!r} after the hierarchy; MOTION is expected", extra[1])
        return bones

    def begin(self, bones: list[Bone], names: dict[str, int], parent: int) -> None:
        name = self.word("the name of a joint")
        if name in "{}":
            self.fail("a joint without a name")
        if name in names:
            self.fail(f"two joints are named {name!r}; the first is on line {names[name]}")
        names[name] = self.line
        bones.append(Bone(name, parent, self.line))
        self.expect("{", f"after joint {name!r}")

    def finished(self, bone: Bone) -> None:
        if not bone.offset:
            self.fail(f"joint {bone.name!r} has no OFFSET", bone.line)
        if bone.channels is None:
            self.fail(f"joint {bone.name!r} has no CHANNELS", bone.line)

    def offset(self, name: str) -> tuple[float, ...]:
        return tuple(self.number(f"the OFFSET of joint {name!r}") for _ in range(3))

    def channels(self, name: str) -> tuple[str, ...]:
        count = self.number(f"the number of CHANNELS of joint {name!r}")
        if count not in range(7):
            self.fail(f"joint {name!r} has {count:g} channels; at most 6 are expected")
        found = []
        for _ in range(int(count)):
            word = self.word(f"a channel of joint {name!r}")
            if word.capitalize() not in CHANNELS:
                self.fail(
                    f"joint {name!r}: {brief(word)!r} is not a channel; valid are "
                    f"{', '.join(CHANNELS)}"
                )
            found.append(word.capitalize())
        positions = [c for c in found if c.endswith("position")]
        for channel in set(positions):
            if positions.count(channel) > 1:
                self.fail(f"joint {name!r} names the channel {channel} twice")
        turns = len(found) - len(positions)
        if turns > 3:
            self.fail(f"joint {name!r} has {turns} rotation channels; at most 3 are expected")
        return tuple(found)

    def end_site(self, name: str) -> tuple[float, ...]:
        self.expect("SITE", f"after End in joint {name!r}")
        self.expect("{", f"after End Site in joint {name!r}")
        self.expect("OFFSET", f"in the End Site of joint {name!r}")
        found = self.offset(name)
        self.expect("}", f"after the End Site of joint {name!r}")
        return found

    def frames(self, count: int) -> tuple[Any, float]:
        if self.motion is None:
            self.fail("the file has no MOTION", self.lines_before + 1)
        lines = self.motion.splitlines()
        start = self.lines_before + 1
        header = [(i, line) for i, line in enumerate(lines) if line.strip()][:2]
        if len(header) < 2:
            self.fail("'Frames:' and 'Frame Time:' are expected after MOTION", start)
        self.line = start + header[0][0]
        total = self.header(header[0][1], "Frames:")
        self.line = start + header[1][0]
        frame_time = self.header(header[1][1], "Frame Time:")
        if not (math.isfinite(total) and total >= 0 and total == int(total)):
            self.fail(f"Frames: {total:g} is not a number of frames", start + header[0][0])
        if not frame_time > 0.0:
            self.fail(f"Frame Time: {frame_time:g} s; a positive time is expected")
        if not math.isfinite(max(total, 1.0) * frame_time):
            self.fail(f"Frame Time: {frame_time:g} s: the time of the last frame is not finite")
        body = lines[header[1][0] + 1 :]
        return self.numbers(body, int(total), count, start + header[1][0] + 1), frame_time

    def header(self, line: str, key: str) -> float:
        if not line.strip().lower().startswith(key.lower()):
            self.fail(f"{brief(line.strip())!r}; {key!r} is expected")
        try:
            return float(line.strip()[len(key) :])
        except ValueError:
            self.fail(f"{brief(line.strip())!r}: a number is expected after {key!r}")

    def numbers(self, lines: list[str], total: int, count: int, start: int) -> Any:
        """The frames, one row each; a wrong line is located only after a failure."""
        try:
            values = np.array(" ".join(lines).split(), dtype=np.float64)
        except ValueError:
            values = None
        # frames without numbers are empty lines
        held = total if count else min(total, len(lines))
        if values is not None and (values.size, held) == (total * count, total):
            frames: np.ndarray = values.reshape(total, count)
            if np.isfinite(frames).all():
                return frames
        raise self.wrong_frames(lines, total, count, start)

    def wrong_frames(self, lines: list[str], total: int, count: int, start: int) -> FileFormatError:
        """The error in the frames, with its line."""
        rows = 0
        for number, line in enumerate(lines, start):
            words = line.split()
            rows += bool(words)
            where = f"{self.file}:{number}: frame {rows}"
            for column, word in enumerate(words, 1):
                if not _is_number(word):
                    return FileFormatError(
                        f"{where}, number {column}: {brief(word)!r} is not a finite number"
                    )
            if words and len(words) != count:
                return FileFormatError(
                    f"{where} has {len(words)} numbers; the joints have {count} channels"
                )
        rows = rows if count else len(lines)
        return FileFormatError(
            f"{self.file}:{start}: the file says {total:g} frames and has {rows}"
        )


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
