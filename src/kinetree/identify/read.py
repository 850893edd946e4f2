"""Reading logs: CSV, Parquet, NPZ and ROS bags, whole or piece by piece.

Columns are named as in `files.column_names`: q.elbow, elbow.position or q_3. Time is time, times or
t. In an NPZ file q, v, a and tau may be whole arrays. Files that `Simulation.save` wrote are such
logs. A ROS bag has the names of joints in its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree import kinds
from kinetree.errors import LogError, MissingFileError, TableError, among, unknown
from kinetree.files.column_names import WORDS, find_column, possible_names
from kinetree.files.csv_file import CsvFile
from kinetree.files.npz import NUMBERS, read_npz
from kinetree.files.parquet import ParquetFile
from kinetree.identify.bag import FILES, bag_pieces, is_bag
from kinetree.identify.log import Log
from kinetree.kinds import instance, mapping
from kinetree.robot.core import check_robot
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

FORMATS = (".csv", ".parquet", ".npz", *FILES)
TIME = ("time", "times", "t")
PIECE = 200_000
"""Samples that are read at once from a long file."""


def read(
    path: str | Path,
    robot: Robot,
    columns: Mapping[str, str] | None = None,
    topic: str = "",
) -> Log:
    """A log from a file, checked.

    Arguments:
        path: a file that ends with .csv, .parquet (extra `files`) or .npz; or a ROS bag (extra
            `files`): .bag, .mcap, .db3 or the folder of a bag.
        robot: what was measured.
        columns: maps what a column is ("time", "q_elbow", "tau_elbow", ...) to its name in the
            file, where the two differ.
        topic: which topic to read, if a bag has several of type sensor_msgs/JointState.

    Returns:
        The log, as measured: not filtered, and without velocities and accelerations that the file
        does not have.
    """
    path = _checked(path)
    table = next(_tables(path, None, topic), {})
    return log_of_columns(robot, table, path.name, columns).without_gaps()


def log_of_columns(
    robot: Robot,
    table: Mapping[str, Array],
    source: str = "the log",
    columns: Mapping[str, str] | None = None,
) -> Log:
    """A log from columns by name.

    Arguments:
        robot: what was measured.
        table: maps a name to a column, (T,), or q, v, a and tau to whole arrays.
        source: where the columns come from, for messages.
        columns: as in `read`.

    Returns:
        The log, as `read` returns it.
    """
    check_robot(robot)
    renamed = dict(instance("table", table, Mapping, "columns by name"))
    known = _meanings(robot)
    for meaning, name in mapping("columns", columns, "names of columns by what they are").items():
        if not among(meaning, known):
            raise unknown("column", meaning, known, "columns: a log")
        if not among(name, table):
            raise LogError(f"{source} has no column {name!r} (for {meaning!r}); {_there(table)}")
        renamed[meaning] = table[name]
    word = next((name for name in TIME if name in renamed), None)
    if word is None:
        raise LogError(f"{source} has no column 'time'; {_there(table)}")
    time = _numbers(renamed, word, source)
    if time.ndim != 1:
        raise LogError(f"{source}: {word} has shape {time.shape}; one number a sample is expected")
    arrays = {kind: _array(robot, renamed, kind, source, len(time)) for kind in WORDS}
    remarks: tuple[str, ...] = ()
    tau = arrays.pop("tau")
    assert tau is not None
    q = arrays.pop("q")
    assert q is not None
    free = _free(robot)
    if free and np.isnan(tau[:, free]).all():
        tau[:, free] = 0.0
        remarks = ("the floating base has no drive: the forces on it are taken as zero",)
    return Log(robot, time, q, tau, arrays["v"], arrays["a"], None, remarks, source)


@dataclass(frozen=True)
class Stream:
    """A long file as a sequence of shorter logs, each read when it is needed.

    Arguments:
        path, robot, columns, topic: as in `read`. The file must have v and a, because the pieces
            are not filtered.
        rows: the number of samples in each piece.
        remarks: what is not used, and why, for reports.
    """

    path: Path
    robot: Robot
    columns: Mapping[str, str] | None = None
    rows: int = PIECE
    remarks: tuple[str, ...] = field(default=())
    topic: str = ""

    def __iter__(self) -> Iterator[Log]:
        path = _checked(self.path)
        if path.suffix == ".npz":
            raise LogError(f"{path.name}: an NPZ file cannot be streamed; use .csv or .parquet")
        for table in _tables(path, self.rows, self.topic):
            yield log_of_columns(self.robot, table, path.name, self.columns).without_gaps()


def _meanings(robot: Robot) -> list[str]:
    """What a column of a log may be: the time, a whole array, or an entry by any of its names."""
    found = [*TIME, *WORDS]
    for kind in WORDS:
        names = robot.labels.q if kind == "q" else robot.labels.v
        found += [x for k, name in enumerate(names) for x in possible_names(kind, name, k)]
    return found


def _array(
    robot: Robot, table: Mapping[str, Array], kind: str, source: str, count: int
) -> Array | None:
    """All columns of a kind as one array; None if there is none of an optional kind."""
    names = robot.labels.q if kind == "q" else robot.labels.v
    if kind in table and np.ndim(table[kind]) == 2:
        return _numbers(table, kind, source).copy()
    if kind in table and len(names) == 1:
        return _numbers(table, kind, source).reshape(-1, 1).copy()
    columns = [find_column(table, kind, name, k) for k, name in enumerate(names)]
    missing = [k for k, column in enumerate(columns) if column is None]
    if len(missing) == len(columns) and kind in ("v", "a"):
        return None
    if kind == "tau":
        missing = [k for k in missing if k not in _free(robot)]
    if missing:
        what = {"q": "position", "tau": "force", "v": "velocity", "a": "acceleration"}[kind]
        name = names[missing[0]]
        raise LogError(
            f"{source} has no column for the {what} of joint {name!r}: {kind}_{name} or "
            f"{kind}_{missing[0]} is expected; {_there(table)}"
        )
    values = np.full((count, len(columns)), np.nan)
    for k, label in enumerate(columns):
        if label is not None:
            column = _numbers(table, label, source)
            if column.shape != (count,):
                raise LogError(
                    f"{source}: {label} has shape {column.shape}; {(count,)} is expected, a number "
                    "for each time"
                )
            values[:, k] = column
    return values


def _numbers(table: Mapping[str, Array], label: str, source: str) -> Array:
    """A column or an array as float64."""
    array = np.asarray(table[label])
    if array.dtype.kind not in NUMBERS:
        raise LogError(f"{source}: {label} is of type {array.dtype}; numbers are expected")
    return array.astype(np.float64, copy=False)


def _free(robot: Robot) -> list[int]:
    """The velocities of a floating base."""
    model = robot.model
    pairs = zip(model.bodies, model.v_slices, strict=True)
    return [
        k
        for body, at in pairs
        if body.parent < 0 and body.joint.nv == 6
        for k in range(at.start, at.stop)
    ]


def _there(table: Mapping[str, Any]) -> str:
    names = list(table)
    if not names:
        return "it has none: the file is empty"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"its columns are {', '.join(names[:8])}{more}"


def _checked(path: str | Path) -> Path:
    path = kinds.path("path", path)
    if path.suffix not in FORMATS and not is_bag(path):
        raise LogError(
            f"{path}: a name that ends with {', '.join(FORMATS)} is expected, or the folder of a "
            "ROS bag"
        )
    if not path.exists():
        raise MissingFileError(f"{path}: there is no such file")
    return path


# formats


def _tables(path: Path, rows: int | None, topic: str) -> Iterator[dict[str, Array]]:
    """The columns of a file, some samples at a time.

    Arguments:
        path: of the file.
        rows: samples of a piece; None for all in one.
        topic: of a ROS bag.
    """
    try:
        if is_bag(path):
            yield from bag_pieces(path, rows, topic)
        elif path.suffix == ".npz":
            yield read_npz(path)
        else:
            yield from (_parquet if path.suffix == ".parquet" else _csv)(path, rows)
    except TableError as e:
        raise LogError(str(e)) from None


def _csv(path: Path, rows: int | None) -> Iterator[dict[str, Array]]:
    file = CsvFile(path)
    columns = [k for k, name in enumerate(file.header) if name]
    lines = file.lines()
    while piece := list(islice(lines, rows)):
        numbers = file.numbers(piece, columns, gaps=True)
        yield {file.header[k]: column for k, column in zip(columns, numbers.T, strict=True)}


def _parquet(path: Path, rows: int | None) -> Iterator[dict[str, Array]]:
    file = ParquetFile(path)
    return file.pieces(file.header, rows or max(file.rows, 1), checked=False)
