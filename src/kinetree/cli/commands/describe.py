"""`kinetree info`, `check` and `convert`: what a robot file contains."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

import kinetree
from kinetree.cli.command import (
    BUILT_IN,
    Argument,
    Floating,
    JsonOption,
    Overwrite,
    Package,
    RobotArgument,
    command,
    echo_json,
    file_options,
    load_robot,
    neither,
)
from kinetree.errors import MissingFileError

if TYPE_CHECKING:
    from kinetree.model.problem import Problem


@command()
def info(
    robot: RobotArgument,
    floating: Floating = None,
    json: JsonOption = False,
    package: Package = None,
    argument: Argument = None,
) -> None:
    """Show the contents of a robot: tree, degrees of freedom, masses, limits, frames.

    Example: kinetree info arm --json
    """
    from kinetree.cli import info as contents

    loaded = load_robot(robot, floating, package, argument)
    if json:
        echo_json(contents.summary(loaded))
    else:
        contents.report(loaded)


@command(code=2)
def check(
    robot: RobotArgument,
    base: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Check the robot on a 'fixed' or a 'floating' base."),
    ] = None,
    floating: Annotated[
        bool, typer.Option("--floating", help="Short for --base floating.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Fail on warnings, too.")] = False,
    json: JsonOption = False,
    package: Package = None,
    argument: Argument = None,
) -> None:
    """List errors and doubtful values in a robot file.

    Example: kinetree check arm --strict
    """
    from kinetree.model.problem import SEVERITIES

    problems = _problems(robot, "floating" if floating else base, file_options(package, argument))
    counts = {s: sum(p.severity == s for p in problems) for s in SEVERITIES}
    if json:
        echo_json({"robot": robot, "counts": counts, "problems": [asdict(p) for p in problems]})
    else:
        for problem in problems:
            typer.echo(str(problem))
        summary = ", ".join(f"{n} {s}{'s' * (n != 1)}" for s, n in counts.items())
        typer.echo(f"{robot}: {summary}" if problems else f"{robot}: no problems found")
    if counts["error"] or (strict and counts["warning"]):
        raise typer.Exit(1)


def _problems(name: str, base: str | None, options: dict[str, Any]) -> list[Problem]:
    from kinetree.robot.load import check_file

    if name in BUILT_IN:
        return getattr(kinetree.robots, name)(*([base] if base else [])).problems()
    try:
        return check_file(name, base, **options)
    except MissingFileError as e:
        raise neither(e) from None


@command()
def convert(
    source: RobotArgument,
    output: Annotated[
        Path, typer.Argument(help="The new file: .urdf, or .xml for MJCF.", show_default=False)
    ],
    floating: Floating = None,
    overwrite: Overwrite = False,
    package: Package = None,
    argument: Argument = None,
) -> None:
    """Convert a robot file to URDF or MJCF.

    A warning names everything that the other format cannot express. Mesh paths are not changed.

    Example: kinetree convert arm arm.urdf
    """
    from kinetree.cli.convert import convert_to

    convert_to(load_robot(source, floating, package, argument), output, overwrite)
    typer.echo(output)
