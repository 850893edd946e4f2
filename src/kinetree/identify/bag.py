"""ROS bags: messages of the type sensor_msgs/JointState as columns of a log.

Bags of ROS 1 (.bag) and of ROS 2 (.mcap, .db3, or a folder of them with its metadata.yaml), read by
the package rosbags, which is pure Python and needs no ROS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree._optional import optional
from kinetree.errors import LogError
from kinetree.files.parsing import parsing
from kinetree.typing import Array

FILES = (".bag", ".mcap", ".db3")
MESSAGE = "sensor_msgs/msg/JointState"
USUAL = "/joint_states"
"""The topic that is read if there are several."""
FIELDS = {"q": "position", "v": "velocity", "tau": "effort"}


class Sample(NamedTuple):
    """One message: its time in nanoseconds, the joints it names, and their numbers."""

    time: int
    names: tuple[str, ...]
    numbers: dict[str, Array]


def is_bag(path: Path) -> bool:
    """Whether a path is that of a bag: a file by its ending, a folder by its metadata."""
    return path.suffix in FILES or (path / "metadata.yaml").is_file()


def bag_pieces(path: Path, rows: int | None, topic: str = "") -> Iterator[dict[str, Array]]:
    """The columns of a bag, some messages at a time.

    A joint that a message does not name has no number (NaN) at that time.

    Arguments:
        path: of a bag.
        rows: messages of each piece; None for all in one.
        topic: of the messages; needed only if there are several and none is /joint_states.
    """
    any_reader = optional("rosbags.highlevel", "a ROS bag").AnyReader
    types = optional("rosbags.typesys", "a ROS bag")
    # old bags have no definitions of their messages
    known = types.get_typestore(types.Stores.LATEST)
    with (
        parsing(path, "a ROS bag", LogError),
        any_reader([path], default_typestore=known) as reader,
    ):
        samples = _samples(reader, path, topic)
        first: int | None = None
        while piece := list(islice(samples, rows)):
            first = piece[0].time if first is None else first
            yield _columns(piece, first)


def _samples(reader: Any, path: Path, topic: str) -> Iterator[Sample]:
    """The messages of a topic, in the order of the bag."""
    chosen = _topic(reader, path, topic)
    connections = [c for c in reader.connections if c.topic == chosen and c.msgtype == MESSAGE]
    for connection, received, raw in reader.messages(connections=connections):
        message = reader.deserialize(raw, connection.msgtype)
        stamp = message.header.stamp
        numbers = {kind: getattr(message, field) for kind, field in FIELDS.items()}
        time = stamp.sec * 1_000_000_000 + stamp.nanosec
        names = tuple(message.name)
        if len(set(names)) < len(names):
            raise LogError(f"{path.name}: a message of {chosen} names a joint twice: {names}")
        yield Sample(time or received, names, numbers)


def _topic(reader: Any, path: Path, topic: str) -> str:
    topics = sorted({c.topic for c in reader.connections if c.msgtype == MESSAGE})
    listed = ", ".join(topics)
    if not topics:
        there = ", ".join(sorted({f"{c.topic} ({c.msgtype})" for c in reader.connections}))
        raise LogError(f"{path.name} has no topic of the type {MESSAGE}; its topics are: {there}")
    if topic and topic not in topics:
        raise LogError(f"{path.name} has no topic {topic!r} of the type {MESSAGE}; it has {listed}")
    if not topic and len(topics) > 1 and USUAL not in topics:
        raise LogError(
            f"{path.name} has several topics of the type {MESSAGE}: choose one of {listed}"
        )
    return topic or (USUAL if USUAL in topics else topics[0])


def _columns(samples: list[Sample], first: int) -> dict[str, Array]:
    """Messages as columns, with times in s since `first`."""
    table: dict[str, Array] = {"time": np.array([s.time - first for s in samples]) * 1e-9}
    for names in dict.fromkeys(s.names for s in samples):
        rows = np.array([k for k, s in enumerate(samples) if s.names == names])
        for kind in FIELDS:
            _fill(table, kind, names, rows, (samples[k].numbers[kind] for k in rows))
    return table


def _fill(
    table: dict[str, Array],
    kind: str,
    names: tuple[str, ...],
    rows: Array,
    numbers: Iterable[Array],
) -> None:
    """Put the numbers of some messages with the same names into a table; they may be absent."""
    empty = np.full(len(names), np.nan)
    block = np.array([x if len(x) == len(names) else empty for x in numbers])
    if np.isnan(block).all():
        return
    for k, name in enumerate(names):
        column = table.setdefault(f"{kind}_{name}", np.full(len(table["time"]), np.nan))
        column[rows] = block[:, k]
