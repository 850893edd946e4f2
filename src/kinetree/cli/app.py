"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

import kinetree
from kinetree.cli import operations
from kinetree.cli.demo import report
from kinetree.cli.paper import reproduce
from kinetree.model.load import check_file
from kinetree.model.problem import SEVERITIES
from kinetree.symbolic import closed_form, printed

app = typer.Typer(
    help="A robot's description turned into its dynamics, as machine code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kinetree {kinetree.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of every command."""


@app.command()
def demo(
    file: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Argument(help="A URDF or MJCF file, or a built-in robot; an arm if none is given."),
    ] = None,
    floating: Annotated[bool, typer.Option(help="Let the base float.")] = False,
) -> None:
    """Load a robot, compile its dynamics, and show what came of it."""
    base = "floating" if floating else "fixed"
    try:
        report(_robot(file or "arm", base))
    except kinetree.errors.KinetreeError as e:
        typer.echo(f"kinetree: {e}", err=True)
        raise typer.Exit(1) from None


@app.command()
def ops(
    robot: Annotated[
        str, typer.Argument(help="A URDF or MJCF file, or a built-in robot such as 'arm'.")
    ],
    floating: Annotated[bool, typer.Option(help="Let the base float.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Count slow methods, too.")] = False,
    markdown: Annotated[bool, typer.Option(help="Print a table in Markdown.")] = False,
) -> None:
    """Count the multiplications and additions of every algorithm for a robot."""
    base = "floating" if floating else "fixed"
    try:
        operations.report(_robot(robot, base), everything, markdown)
    except kinetree.errors.KinetreeError as e:
        typer.echo(f"kinetree: {e}", err=True)
        raise typer.Exit(1) from None


LARGEST = 6
SHORT = {"christoffel": "christoffel_symbols", "coriolis": "coriolis_matrix", "mass": "mass_matrix"}


@app.command()
def symbolic(
    robot: Annotated[
        str, typer.Argument(help="A URDF or MJCF file, or a built-in robot such as 'cart_pole'.")
    ],
    quantity: Annotated[
        str,
        typer.Argument(help="What to print: christoffel, coriolis, mass, gravity_forces, ..."),
    ] = "christoffel",
    method: Annotated[str, typer.Option(help="By which algorithm.")] = "",
    latex: Annotated[bool, typer.Option(help="Print LaTeX.")] = False,
    simplify: Annotated[bool, typer.Option(help="Simplify every entry.")] = True,
) -> None:
    """Print a quantity in closed form, entry by entry, for a small mechanism."""
    try:
        model = _robot(robot, "fixed").model
        if model.nv > LARGEST and simplify:
            raise kinetree.errors.KinetreeError(
                f"robot {model.name!r} has {model.nv} degrees of freedom: closed forms of more "
                f"than {LARGEST} fill pages and take hours to simplify; --no-simplify prints them "
                "as they are"
            )
        name = SHORT.get(quantity, quantity)
        form = closed_form(model, name, method, simplify=simplify)
        letter = {"christoffel_symbols": "Gamma", "coriolis_matrix": "C", "mass_matrix": "M"}
        typer.echo(printed(form, letter.get(name, "tau"), latex))
    except kinetree.errors.KinetreeError as e:
        typer.echo(f"kinetree: {e}", err=True)
        raise typer.Exit(1) from None


@app.command()
def paper(
    folder: Annotated[Path, typer.Argument(help="Where to write the page.")] = Path("docs/paper"),
) -> None:
    """Compute the tables and figures of Echeandia & Wensing again."""
    try:
        reproduce(folder)
    except kinetree.errors.KinetreeError as e:
        typer.echo(f"kinetree: {e}", err=True)
        raise typer.Exit(1) from None


BUILT_IN = ("arm", "cart_pole", "double_pendulum", "human", "quadruped")


def _robot(name: str, base: str) -> kinetree.Robot:
    """A built-in robot by its name, or the robot of a file."""
    if name not in BUILT_IN:
        return kinetree.load(name, base=base)
    return getattr(kinetree.robots, name)(base)


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="A URDF or MJCF file.")],
    base: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Judge the robot on a base that is 'fixed' or 'floating'."),
    ] = None,
    floating: Annotated[
        bool, typer.Option("--floating", help="Short for --base floating.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Fail on warnings, too.")] = False,
) -> None:
    """List everything wrong or doubtful in a robot file."""
    try:
        found = check_file(file, "floating" if floating else base)
    except kinetree.errors.KinetreeError as e:
        typer.echo(f"kinetree: {e}", err=True)
        raise typer.Exit(2) from None
    for problem in found:
        typer.echo(str(problem))
    counts = {s: sum(p.severity == s for p in found) for s in SEVERITIES}
    summary = ", ".join(f"{n} {s}{'s' * (n != 1)}" for s, n in counts.items())
    typer.echo(f"{file}: {summary}" if found else f"{file}: nothing to say")
    if counts["error"] or (strict and counts["warning"]):
        raise typer.Exit(1)
