"""Reading logs: CSV, Parquet, NPZ and ROS bags, whole or piece by piece.

A column is a quantity and a joint: q_elbow, q.elbow, elbow.q or q_3. Other words for q are position
and pos; for v they are qd, velocity and vel; for a they are qdd, acceleration and acc; for tau they
are effort, torque and force. Time is time, times or t. In an NPZ file q, v, a and tau may be whole
arrays. Files that `Simulation.save` wrote are such logs. A ROS bag has the names of joints in its
messages.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import LogError, MissingFileError
from kinetree.identify.bag import FILES, bag_pieces, is_bag
from kinetree.identify.extras import package
from kinetree.identify.log import Log
from kinetree.simulate.files import read_npz
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

FORMATS = (".csv", ".parquet", ".npz", *FILES)
TIME = ("time", "times", "t")
WORDS = {
    "q": ("q", "position", "pos"),
    "tau": ("tau", "effort", "torque", "force"),
    "v": ("v", "qd", "velocity", "vel"),
    "a": ("a", "qdd", "acceleration", "acc"),
}
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
        path: of a file that ends with .csv, .parquet (extra `parquet`) or .npz; of a ROS bag
            (extra `ros`): .bag, .mcap, .db3 or the folder of a bag.
        robot: whose motion it is.
        columns: maps what a column is ("time", "q_elbow", "tau_elbow", ...) to its name in the
            file, where that differs.
        topic: of a bag that has several of the type sensor_msgs/JointState.
    """
    path = _checked(path)
    if is_bag(path):
        table = next(bag_pieces(path, None, topic), {})
    else:
        table = {".csv": _csv, ".parquet": _parquet, ".npz": read_npz}[path.suffix](path)
    return log_of_columns(robot, table, path.name, columns).without_gaps()


def log_of_columns(
    robot: Robot,
    table: Mapping[str, Array],
    source: str = "the log",
    columns: Mapping[str, str] | None = None,
) -> Log:
    """A log from columns by name.

    Arguments:
        robot: whose motion it is.
        table: maps a name to a column, (T,), or q, v, a and tau to whole arrays.
        source: where it comes from, for messages.
        columns: as in `read`.
    """
    renamed = dict(table)
    for meaning, name in (columns or {}).items():
        if name not in table:
            raise LogError(f"{source} has no column {name!r} (for {meaning}); {_there(table)}")
        renamed[meaning] = table[name]
    time = next((renamed[name] for name in TIME if name in renamed), None)
    if time is None:
        raise LogError(f"{source} has no column 'time'; {_there(table)}")
    found = {kind: _array(robot, renamed, kind, source, len(time)) for kind in WORDS}
    remarks: tuple[str, ...] = ()
    tau = found.pop("tau")
    assert tau is not None
    q = found.pop("q")
    assert q is not None
    free = _free(robot)
    if free and np.isnan(tau[:, free]).all():
        tau[:, free] = 0.0
        remarks = ("the floating base has no drive: the forces on it are taken as zero",)
    return Log(
        robot, np.asarray(time, float), q, tau, found["v"], found["a"], None, remarks, source
    )


@dataclass(frozen=True)
class Stream:
    """A long file as logs of some length each, read when they are needed; may be read repeatedly.

    Arguments:
        path, robot, columns, topic: as in `read`. The file has v and a: pieces are not filtered.
        rows: of each piece.
    """

    path: Path
    robot: Robot
    columns: Mapping[str, str] | None = None
    rows: int = PIECE
    remarks: tuple[str, ...] = field(default=())
    topic: str = ""

    def __iter__(self) -> Iterator[Log]:
        path = _checked(self.path)
        for table in self._pieces(path):
            yield log_of_columns(self.robot, table, path.name, self.columns).without_gaps()

    def _pieces(self, path: Path) -> Iterator[dict[str, Array]]:
        if is_bag(path):
            return bag_pieces(path, self.rows, self.topic)
        if path.suffix == ".npz":
            raise LogError(f"{path.name}: an NPZ file is read whole; .csv and .parquet in pieces")
        return (_parquet_pieces if path.suffix == ".parquet" else _csv_pieces)(path, self.rows)


def _array(
    robot: Robot, table: Mapping[str, Array], kind: str, source: str, count: int
) -> Array | None:
    """All columns of a kind as one array; None if there is none of an optional kind."""
    names = robot.coordinate_names if kind == "q" else robot.velocity_names
    whole = table.get(kind)
    if whole is not None and np.ndim(whole) == 2:
        return np.array(whole, float)
    if whole is not None and len(names) == 1:
        return np.array(whole, float).reshape(-1, 1)
    found = [_column(table, kind, name, k) for k, name in enumerate(names)]
    missing = [k for k, column in enumerate(found) if column is None]
    if len(missing) == len(found) and kind in ("v", "a"):
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
    empty = np.full(count, np.nan)
    return np.stack([empty if x is None else np.asarray(x, float) for x in found], axis=1)


def _column(table: Mapping[str, Array], kind: str, name: str, k: int) -> Array | None:
    for word in WORDS[kind]:
        for label in (f"{word}_{name}", f"{word}.{name}", f"{name}.{word}", f"{name}_{word}"):
            if label in table:
                return table[label]
        for label in (f"{word}_{k}", f"{word}[{k}]", f"{word}{k}"):
            if label in table:
                return table[label]
    return None


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
    path = Path(path)
    if path.suffix not in FORMATS and not is_bag(path):
        raise LogError(
            f"{path}: a name that ends with {', '.join(FORMATS)} is expected, or the folder of a "
            "ROS bag"
        )
    if not path.exists():
        raise MissingFileError(f"{path}: there is no such file")
    return path


# formats


def _csv(path: Path) -> dict[str, Array]:
    return next(_csv_pieces(path, None), {})


def _csv_pieces(path: Path, rows: int | None) -> Iterator[dict[str, Array]]:
    with path.open(newline="") as file:
        header = next(csv.reader([file.readline()]), [])
        names = [name.strip().lstrip("\ufeff") for name in header]
        while True:
            lines = (
                [line for _, line in zip(range(rows), file, strict=False)] if rows else list(file)
            )
            if not lines:
                return
            yield dict(zip(names, _numbers(lines, len(names), path).T, strict=True))


def _numbers(lines: Sequence[str], count: int, path: Path) -> Array:
    """The numbers of some lines; empty fields are NaN."""
    try:
        return np.loadtxt(lines, delimiter=",", ndmin=2).reshape(-1, count)
    except ValueError:
        pass
    rows = []
    for k, line in enumerate(lines, 2):
        fields = next(csv.reader([line]), [])
        try:
            rows.append([float(x) if x.strip() else np.nan for x in fields])
        except ValueError as e:
            raise LogError(f"{path.name}:{k}: {e}; numbers are expected") from None
        if len(rows[-1]) != count:
            raise LogError(f"{path.name}:{k}: {len(fields)} fields; the header has {count}")
    return np.array(rows)


def _parquet(path: Path) -> dict[str, Array]:
    table = package("pyarrow.parquet", "parquet").read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def _parquet_pieces(path: Path, rows: int) -> Iterator[dict[str, Array]]:
    for batch in package("pyarrow.parquet", "parquet").ParquetFile(path).iter_batches(rows):
        names = batch.schema.names
        yield {name: batch.column(k).to_numpy() for k, name in enumerate(names)}
