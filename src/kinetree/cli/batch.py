"""`kinetree run`: a quantity at every state of a file, as a job that can be stopped and resumed.

Results are kept piece by piece in a folder beside the output, `OUT.part` (pieces.py). The same
command again goes on after the last complete piece.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from kinetree.cli.columns import Operand, operands
from kinetree.cli.options import check_settings
from kinetree.cli.outputs import check_outputs
from kinetree.cli.pieces import kept_pieces
from kinetree.cli.tables import (
    Arrays,
    Csv,
    Table,
    checked_suffix,
    join,
    open_table,
    output_names,
    write_piece,
)
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, among, unknown
from kinetree.quantities import PUBLIC
from kinetree.robot import Robot

NUMBERS = 1 << 22
"""How many numbers a piece has, about, arguments and results together: 32 MB."""
BAD_ROWS = ("stop", "skip", "nan")
"""What becomes of lines that are not numbers: an error, left out, or kept as NaN."""
DEVICES = ("cpu", "cuda")
"""Where states are computed: with NumPy's arrays, or on CuPy's current device."""
NAMED = 3
"""Bad lines that a report names."""
LEAST, MOST = 1, 1 << 18
"""Rows of a piece."""


class Job(NamedTuple):
    """What is to be computed.

    quantity, method, settings: as in `Robot.kernel`.
    states, output: files, each a .csv, .npz or .parquet.
    zero: arguments that are zero and not read.
    keep: further columns of the states that are copied to the output.
    overwrite: whether an output that exists is replaced, and pieces of another job are deleted.
    bad_rows: what becomes of lines of a CSV file that are not numbers: one of BAD_ROWS.
    columns: the names that columns have in the file of states, by what they are.
    device: one of DEVICES.
    """

    quantity: str
    states: Path
    output: Path
    method: str
    settings: Mapping[str, Any]
    zero: Sequence[str]
    keep: Sequence[str]
    overwrite: bool
    bad_rows: str = "stop"
    columns: Mapping[str, str] = MappingProxyType({})
    device: str = "cpu"


class Done(NamedTuple):
    """What a job did.

    rows: of the output.
    resumed: how many of them an earlier run had computed.
    seconds: of this run.
    columns: of the output.
    bad_rows: why lines of the file are bad, the first few.
    bad_count: how many they are.
    """

    output: str
    rows: int
    resumed: int
    seconds: float
    columns: list[str]
    bad_rows: list[str]
    bad_count: int


def run_job(robot: Robot, job: Job, console: Console | None = None) -> Done:
    """Compute all states of a file, or the remaining ones.

    Arguments:
        robot, job: what to compute.
        console: where progress is shown; nowhere if None.
    """
    _check(job)
    check_settings(robot.model, job.quantity, job.settings)
    kernel = robot.kernel(job.quantity, job.method, **job.settings)
    if not among(job.device, DEVICES):
        raise unknown("device", job.device, DEVICES, "kinetree run --device")
    compute = kernel.streamed if job.device == "cuda" else kernel
    arguments, results = operands(robot, kernel)
    _check_zero(job, arguments)
    kept = [Operand(name, (), (name,)) for name in job.keep]
    _check_kept(job, kept, results)
    read = [x for x in arguments if x.name not in job.zero]
    table = open_table(job.states, job.columns)
    bad = _set_aside(table, job, [*read, *kept])
    rows = table.count([*read, *kept])
    if not rows:
        raise KinetreeError(f"{job.states} has no states")
    size = _piece_rows([*arguments, *results, *kept])
    identity = _identity(robot, job, kernel, size)
    with kept_pieces(job.output, identity, job.overwrite) as pieces:
        _check_output(job)  # another process may have just written it
        started, resumed = time.perf_counter(), min(len(pieces.paths) * size, rows)
        done = resumed
        with _progress(console, rows, resumed) as advance:
            for arrays in _computed(compute, table, arguments, results, read, kept, size, resumed):
                with pieces.next() as path:
                    write_piece(path, [*kept, *results], arrays)
                count = len(next(iter(arrays.values())))
                advance(count)
                done += count
        if done != rows:
            raise KinetreeError(
                f"{job.states} has changed while it was read; run the command again"
            )
        counts = [min(size, rows - k * size) for k in range(len(pieces.paths))]
        with pieces.whole() as path:
            join(path, [*kept, *results], pieces.paths, counts)
            _check_output(job)
    columns = [name for x in (*kept, *results) for name in x.columns]
    seconds = time.perf_counter() - started
    return Done(str(job.output), rows, resumed, seconds, columns, bad[:NAMED], len(bad))


def _check(job: Job) -> None:
    if job.quantity not in PUBLIC:
        raise unknown("quantity", job.quantity, PUBLIC, "kinetree run")
    checked_suffix(job.output)
    _check_output(job)
    if job.output.exists() and job.states.exists() and job.output.samefile(job.states):
        raise KinetreeError(f"{job.output}: the output must not be the file of states")


def _set_aside(table: Table, job: Job, wanted: Sequence[Operand]) -> list[str]:
    """Set bad lines aside, if the job asks for it; why they are bad."""
    if job.bad_rows not in BAD_ROWS:
        raise unknown("--bad-rows", job.bad_rows, BAD_ROWS, "kinetree run")
    if job.bad_rows == "stop":
        return []
    if not isinstance(table, Csv):
        raise KinetreeError(f"--bad-rows {job.bad_rows} is for CSV files; {job.states} is none")
    return list(table.set_aside(wanted, keep=job.bad_rows == "nan").values())


def _check_output(job: Job) -> None:
    check_outputs([job.output], job.overwrite)


def _check_kept(job: Job, kept: Sequence[Operand], results: Sequence[Operand]) -> None:
    """Refuse a column that is kept under the name of another one of the output."""
    taken: set[str] = set()
    for x in (*results, *kept):
        names = output_names(job.output, x)
        for name in names:
            if name in taken:
                raise KinetreeError(
                    f"--keep {x.name}: the output already has a column {name!r}; column names must "
                    "be unique"
                )
        taken.update(names)


def _check_zero(job: Job, arguments: Sequence[Operand]) -> None:
    names = [x.name for x in arguments]
    for name in job.zero:
        if name not in names or name == "q":
            raise unknown(
                "argument", name, [x for x in names if x != "q"], f"--zero: {job.quantity}"
            )


def _piece_rows(every: Sequence[Operand]) -> int:
    return min(max(NUMBERS // sum(math.prod(x.shape) for x in every), LEAST), MOST)


def _identity(robot: Robot, job: Job, kernel: Kernel, rows: int) -> str:
    """A text that differs if pieces of an earlier run do not belong to this one."""
    status = job.states.stat()
    parts = (
        robot.model.digest,
        (*robot.labels.q, *robot.labels.v),
        (job.quantity, kernel.method, sorted(job.settings.items()), list(job.zero), list(job.keep)),
        (str(job.states.resolve()), status.st_size, status.st_mtime_ns),
        (job.output.suffix, rows, job.bad_rows, sorted(job.columns.items()), job.device),
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _computed(
    compute: Callable[..., Any],
    table: Table,
    arguments: Sequence[Operand],
    results: Sequence[Operand],
    read: Sequence[Operand],
    kept: Sequence[Operand],
    rows: int,
    first: int,
) -> Iterator[Arrays]:
    """The results at the states of a table, and the columns that are kept, piece after piece."""
    wanted = list(dict.fromkeys([*read, *kept]))
    for found in table.pieces(wanted, rows, first):
        values = [found.get(x, np.zeros(x.shape)) for x in arguments]
        out = compute(*values)
        outs = out if isinstance(out, tuple) else (out,)
        yield {x: found[x] for x in kept} | dict(zip(results, outs, strict=True))


@contextmanager
def _progress(console: Console | None, rows: int, done: int) -> Iterator[Any]:
    """A bar with rate and remaining time."""
    if console is None:
        yield lambda count: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=False),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    started = time.perf_counter()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{rows:,} states", total=rows, completed=done, rate="")

        def advance(count: int) -> None:
            bar.advance(task, count)
            speed = (bar.tasks[0].completed - done) / max(time.perf_counter() - started, 1e-9)
            bar.update(task, rate=f"{speed:,.0f} states/s")

        yield advance
