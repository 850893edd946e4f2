"""The command `kinetree` with all its commands."""

from __future__ import annotations

from typing import Annotated

import typer

import kinetree
from kinetree.cli import commands
from kinetree.cli.command import BUILT_IN, app

__all__ = ["BUILT_IN", "app", "commands"]


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
