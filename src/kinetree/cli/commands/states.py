"""`kinetree run`: a quantity at every state of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from rich.console import Console

import kinetree
from kinetree.cli.command import (
    Column,
    Floating,
    JsonOption,
    Overwrite,
    RobotArgument,
    command,
    complete_quantity,
    echo_json,
    load_robot,
)
from kinetree.cli.options import NONE, MethodOption, Settings, takes_settings

if TYPE_CHECKING:
    from kinetree.cli.batch import Done


@command()
@takes_settings
def run(
    quantity: Annotated[
        str,
        typer.Argument(
            help="What to compute: inverse_dynamics, mass_matrix, ...",
            autocompletion=complete_quantity,
        ),
    ],
    robot: RobotArgument,
    states: Annotated[
        Path, typer.Argument(help="The states: .csv, .npz or .parquet.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The results: .csv, .npz or .parquet.")
    ],
    zero: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Arguments to set to zero instead of reading them, such as v,a."),
    ] = None,
    keep: Annotated[
        Optional[list[str]],  # noqa: UP045 - as above
        typer.Option(help="Columns to copy to the output, separated by commas."),
    ] = None,
    column: Column = None,
    bad_rows: Annotated[
        str,
        typer.Option(
            help="What to do with bad lines of a CSV file: stop, skip them, or keep them as nan."
        ),
    ] = "stop",
    device: Annotated[
        str, typer.Option(help="Where to compute: cpu, or cuda for an NVIDIA GPU.")
    ] = "cpu",
    threads: Annotated[int, typer.Option(help="Number of threads; 0 for one per core.", min=0)] = 0,
    method: MethodOption = "auto",
    settings: Settings = NONE,
    floating: Floating = None,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Compute a quantity at every state of a file. The file may be larger than memory.

    Columns are named like q.elbow, v.elbow, tau.elbow (kinetree info lists the names), like
    elbow.position, or like q_0; --column names others. An NPZ file has arrays q, v, ... with one
    row per state. If the job is stopped, the same command resumes it.

    Example: kinetree run inverse_dynamics arm states.csv -o torques.csv --zero a
    """
    from kinetree.cli.batch import Job, run_job
    from kinetree.files.column_names import columns_of_options

    loaded = load_robot(robot, floating)
    columns = columns_of_options(column or (), loaded.labels.q, loaded.labels.v)
    files = (states, output, method, settings, _names(zero), _names(keep), overwrite, bad_rows)
    job = Job(quantity, *files, columns, device)
    kinetree.set_threads(threads or None)
    try:
        done = run_job(loaded, job, None if json else Console(stderr=True))
    except KeyboardInterrupt:
        typer.echo("kinetree: stopped; run the same command again to resume", err=True)
        raise typer.Exit(130) from None
    if json:
        echo_json(done._asdict())
    else:
        resumed = f", {done.resumed:,} of them computed earlier" if done.resumed else ""
        typer.echo(f"{done.output}: {done.rows:,} states{resumed}, {done.seconds:.2f} s")
    if done.bad_count:
        _report_bad_rows(done, {"skip": "left out", "nan": "NaN"}[bad_rows])


def _names(given: list[str] | None) -> list[str]:
    """Names of an option that may be repeated, each with commas between names."""
    names = (name.strip() for text in given or () for name in text.split(","))
    return [name for name in names if name]


def _report_bad_rows(done: Done, what: str) -> None:
    """Say how many lines of a file are bad, and why."""
    typer.echo(f"kinetree: warning: {done.bad_count} bad lines are {what}:", err=True)
    for line in done.bad_rows:
        typer.echo(f"  {line}", err=True)
