"""`kinetree run`: a quantity at every state of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import kinetree
from kinetree.cli.command import (
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
        str, typer.Option(help="Arguments that are zero and not in the file, such as v,a.")
    ] = "",
    keep: Annotated[
        str, typer.Option(help="Columns to copy to the output, with commas between them.")
    ] = "",
    threads: Annotated[int, typer.Option(help="How many; 0 for one a core.", min=0)] = 0,
    method: MethodOption = "auto",
    settings: Settings = NONE,
    floating: Floating = False,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Compute a quantity at every state of a file, larger than memory if need be.

    Columns are named as in q.elbow, v.elbow, tau.elbow (kinetree info lists the names), or numbered
    as in q_0. An NPZ file has arrays q, v, ... with one row a state. If the job is stopped, the
    same command goes on where it was.

    Example: kinetree run inverse_dynamics panda.urdf states.parquet -o torques.parquet --zero a
    """
    from kinetree.cli.batch import Job, run_job

    zeros, kept = ([x.strip() for x in text.split(",") if x.strip()] for text in (zero, keep))
    job = Job(quantity, states, output, method, settings, zeros, kept, overwrite)
    loaded = load_robot(robot, floating)
    kinetree.set_threads(threads or None)
    try:
        done = run_job(loaded, job, None if json else Console(stderr=True))
    except KeyboardInterrupt:
        typer.echo("kinetree: stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    if json:
        echo_json(done._asdict())
    else:
        resumed = f", {done.resumed:,} of them from before" if done.resumed else ""
        typer.echo(f"{done.output}: {done.rows:,} states{resumed}, {done.seconds:.2f} s")
