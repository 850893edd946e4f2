"""`kinetree info`, `check` and `convert`: what a robot file contains."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

import kinetree
from kinetree.cli.command import (
    BUILT_IN,
    Floating,
    JsonOption,
    Overwrite,
    RobotArgument,
    command,
    echo_json,
    load_robot,
    neither,
)
from kinetree.errors import MissingFileError

if TYPE_CHECKING:
    from kinetree.model.problem import Problem


@command()
def info(robot: RobotArgument, floating: Floating = False, json: JsonOption = False) -> None:
    """Show what a robot consists of: tree, degrees of freedom, masses, limits, frames.

    Example: kinetree info panda.urdf --json
    """
    from kinetree.cli import info as contents

    loaded = load_robot(robot, floating)
    if json:
        echo_json(contents.summary(loaded))
    else:
        contents.report(loaded)


@command(code=2)
def check(
    robot: RobotArgument,
    base: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Judge the robot on a base that is 'fixed' or 'floating'."),
    ] = None,
    floating: Annotated[
        bool, typer.Option("--floating", help="Short for --base floating.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Fail on warnings, too.")] = False,
    json: JsonOption = False,
) -> None:
    """List everything wrong or doubtful in a robot file.

    Example: kinetree check panda.urdf --strict
    """
    from kinetree.model.problem import SEVERITIES

    problems = _problems(robot, "floating" if floating else base)
    counts = {s: sum(p.severity == s for p in problems) for s in SEVERITIES}
    if json:
        echo_json({"robot": robot, "counts": counts, "problems": [asdict(p) for p in problems]})
    else:
        for problem in problems:
            typer.echo(str(problem))
        summary = ", ".join(f"{n} {s}{'s' * (n != 1)}" for s, n in counts.items())
        typer.echo(f"{robot}: {summary}" if problems else f"{robot}: nothing to say")
    if counts["error"] or (strict and counts["warning"]):
        raise typer.Exit(1)


def _problems(name: str, base: str | None) -> list[Problem]:
    from kinetree.robot.load import check_file

    if name in BUILT_IN:
        return getattr(kinetree.robots, name)(base or "fixed").problems()
    try:
        return check_file(name, base)
    except MissingFileError as e:
        raise neither(e) from None


@command()
def convert(
    source: RobotArgument,
    output: Annotated[
        Path, typer.Argument(help="The new file: .urdf, or .xml for MJCF.", show_default=False)
    ],
    floating: Floating = False,
    overwrite: Overwrite = False,
) -> None:
    """Convert a robot file: URDF to MJCF, or MJCF to URDF.

    What the other format cannot express is a warning. Paths of meshes are kept as they are written.

    Example: kinetree convert panda.urdf panda.xml
    """
    from kinetree.cli.convert import convert_to

    convert_to(load_robot(source, floating), output, overwrite)
    typer.echo(output)
