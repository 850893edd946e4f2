"""`kinetree identify`: parameters from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from kinetree.cli.command import Floating, JsonOption, RobotArgument, command, echo_json, load_robot


@command()
def identify(
    robot: RobotArgument,
    log: Annotated[
        Path, typer.Argument(help="Measurements: .csv, .parquet or .npz.", show_default=False)
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
        float, typer.Option(help="Remove frequencies above, Hz; 0 takes the log as it is.")
    ] = 0.0,
    drives: Annotated[
        str, typer.Option(help="Numbers of drives to find: armature, damping, friction, ...")
    ] = "damping,friction",
    method: Annotated[str, typer.Option(help="log-cholesky, lmi or base.")] = "log-cholesky",
    weights: Annotated[str, typer.Option(help="joints, equal or robust.")] = "joints",
    trust: Annotated[float, typer.Option(help="How far inertias may be from the file's.")] = 1.0,
    share: Annotated[
        float, typer.Option(help="Of the log that is fitted; the rest validates.")
    ] = 0.75,
    floating: Floating = False,
    json: JsonOption = False,
) -> None:
    """Find a robot's parameters from a log of its motion.

    Example: kinetree identify panda.urdf log.csv -o better.urdf --report report.md
    """
    from kinetree.cli.identify import lines, run, summary, write

    found = run(load_robot(robot, floating), log, cutoff, drives, method, weights, trust, share)
    files = write(found, output, report, plot)
    if json:
        echo_json(summary(found, files))
    else:
        typer.echo("\n".join(lines(found, files)))
