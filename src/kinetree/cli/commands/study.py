"""`kinetree symbolic`, `ops` and `paper`: closed forms, operation counts, a paper's results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli.command import (
    Floating,
    JsonOption,
    RobotArgument,
    command,
    complete_quantity,
    echo_json,
    load_robot,
)
from kinetree.cli.options import NONE, MethodOption, Settings, takes_settings


@command()
@takes_settings
def symbolic(
    robot: RobotArgument,
    quantity: Annotated[
        str,
        typer.Argument(
            help="What to print: christoffel, coriolis, mass, jacobian, ...",
            autocompletion=complete_quantity,
        ),
    ] = "christoffel",
    method: MethodOption = "auto",
    settings: Settings = NONE,
    latex: Annotated[bool, typer.Option(help="Print LaTeX.")] = False,
    simplify: Annotated[bool, typer.Option(help="Simplify every entry.")] = True,
) -> None:
    """Print a quantity in closed form, entry by entry, for a small mechanism.

    Example: kinetree symbolic double_pendulum mass --latex
    """
    from kinetree.cli.closed_form import closed_form_of

    model = load_robot(robot, floating=False).model
    typer.echo(closed_form_of(model, quantity, method, settings, latex, simplify))


@command()
def ops(
    robot: RobotArgument,
    floating: Floating = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Include methods that are slow to count.")
    ] = False,
    markdown: Annotated[bool, typer.Option(help="Print a Markdown table.")] = False,
    json: JsonOption = False,
) -> None:
    """Count the multiplications and additions of every algorithm for a robot.

    Example: kinetree ops arm --markdown
    """
    from kinetree.cli import operations

    loaded = load_robot(robot, floating)
    if json:
        echo_json(operations.summary(loaded, everything))
    else:
        operations.report(loaded, everything, markdown)


@command()
def paper(
    folder: Annotated[
        Path, typer.Argument(help="Where to write README.md and the figures.", show_default=False)
    ],
) -> None:
    """Reproduce the tables and figures of Echeandia & Wensing.

    Example: kinetree paper docs/paper
    """
    from kinetree.cli.paper import reproduce

    reproduce(folder)
    typer.echo(folder / "README.md")
