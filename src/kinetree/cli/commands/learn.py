"""`kinetree identify`: parameters from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from kinetree.cli.command import (
    Column,
    Floating,
    JsonOption,
    Overwrite,
    RobotArgument,
    command,
    echo_json,
    load_robot,
)


@command()
def identify(
    robot: RobotArgument,
    logs: Annotated[
        list[Path],
        typer.Argument(
            help="Measurements: .csv, .parquet, .npz, or a ROS bag (.bag, .mcap, .db3, a folder).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Write the new robot to this .urdf or .xml file."),
    ] = None,
    report: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Write a report to this .md or .html file."),
    ] = None,
    plot: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Draw measured and predicted forces into this file."),
    ] = None,
    cutoff: Annotated[
        float, typer.Option(help="Low-pass cutoff frequency, Hz; 0 for no filter.")
    ] = 0.0,
    drives: Annotated[
        str, typer.Option(help="Drive parameters to identify: armature, damping, friction, ...")
    ] = "damping,friction",
    method: Annotated[str, typer.Option(help="log-cholesky, lmi or base.")] = "log-cholesky",
    weights: Annotated[str, typer.Option(help="joints, equal or robust.")] = "joints",
    trust: Annotated[
        float,
        typer.Option(
            help="How far inertias may deviate from the robot file; larger trusts the log more."
        ),
    ] = 1.0,
    share: Annotated[
        float, typer.Option(help="Fraction of the last log to fit; the rest is for validation.")
    ] = 0.75,
    topic: Annotated[
        str, typer.Option(help="Topic to read, for ROS bags with several joint state topics.")
    ] = "",
    column: Column = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write files even if the result is doubtful.")
    ] = False,
    floating: Floating = None,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Identify a robot's parameters from logs of its motion.

    Several logs are read one after the other; only one at a time is in memory. No file is written,
    and the exit code is 1, if the result is useless: if nothing is excited, a sign is flipped, the
    fit explains nothing, or the rest of the log is predicted worse than before.

    Example: kinetree identify arm log.csv -o better.urdf --report report.md
    """
    from kinetree.cli.identify import check_files, lines, run, summary, tell_doubts, write

    check_files(output, report, plot, overwrite)
    figure = load_robot(robot, floating)
    found = run(figure, logs, topic, column or (), cutoff, drives, method, weights, trust, share)
    files = write(found, output, report, plot, force)
    if json:
        echo_json(summary(found, files))
    else:
        typer.echo("\n".join(lines(found, files)))
    raise typer.Exit(tell_doubts(found, force))
