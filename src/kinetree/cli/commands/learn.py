"""`kinetree identify`: parameters from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from kinetree.cli.command import Floating, JsonOption, RobotArgument, command, echo_json, load_robot


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
        float, typer.Option(help="Remove frequencies above, Hz; 0 takes the log as it is.")
    ] = 0.0,
    drives: Annotated[
        str, typer.Option(help="Numbers of drives to find: armature, damping, friction, ...")
    ] = "damping,friction",
    method: Annotated[str, typer.Option(help="log-cholesky, lmi or base.")] = "log-cholesky",
    weights: Annotated[str, typer.Option(help="joints, equal or robust.")] = "joints",
    trust: Annotated[float, typer.Option(help="How far inertias may be from the file's.")] = 1.0,
    share: Annotated[
        float, typer.Option(help="Of the last log that is fitted; the rest of it validates.")
    ] = 0.75,
    topic: Annotated[
        str, typer.Option(help="Of ROS bags with several topics of joint states.")
    ] = "",
    floating: Floating = False,
    json: JsonOption = False,
) -> None:
    """Find a robot's parameters from logs of its motion.

    Several logs are read one after the other: memory is needed for one of them.

    Example: kinetree identify panda.urdf log.csv -o better.urdf --report report.md
    """
    from kinetree.cli.identify import lines, run, summary, write

    figure = load_robot(robot, floating)
    found = run(figure, logs, topic, cutoff, drives, method, weights, trust, share)
    files = write(found, output, report, plot)
    if json:
        echo_json(summary(found, files))
    else:
        typer.echo("\n".join(lines(found, files)))
