"""`kinetree export`, `compile` and `cache`: code of a robot, as text and as machine code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console

from kinetree.cli.choices import ACTIONS, TARGETS
from kinetree.cli.command import (
    Floating,
    JsonOption,
    RobotArgument,
    command,
    complete_quantity,
    echo_json,
    load_robot,
    one_of,
)
from kinetree.cli.options import NONE, MethodOption, Settings, takes_settings


@command()
@takes_settings
def export(
    robot: RobotArgument,
    quantity: Annotated[
        str,
        typer.Argument(
            help="What to export: inverse_dynamics, mass_matrix, jacobian, ...",
            autocompletion=complete_quantity,
        ),
    ],
    target: Annotated[str, typer.Option(help=f"The language: {', '.join(TARGETS)}.")] = "c",
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Folder of the files; by default the quantity's name."),
    ] = None,
    dtype: Annotated[str, typer.Option(help="float64 (double) or float32 (float).")] = "float64",
    name: Annotated[
        str, typer.Option(help="Of the function and its files; by default the quantity's.")
    ] = "",
    floating: Floating = False,
    method: MethodOption = "auto",
    settings: Settings = NONE,
    lib: Annotated[bool, typer.Option("--lib", help="Build a shared library, too.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a quantity as source code: C99 with a header, a self-test and a CMake file.

    Example: kinetree export arm inverse_dynamics -o firmware --dtype float32
    """
    from kinetree.cli.export import Export, write_export

    request = Export(quantity, target, output or Path(quantity), dtype, name, lib, method, settings)
    files = [str(path) for path in write_export(load_robot(robot, floating), request)]
    if json:
        echo_json({"files": files})
    else:
        typer.echo("\n".join(files))


@command()
@takes_settings
def compile(
    robot: RobotArgument,
    quantities: Annotated[
        list[str],
        typer.Argument(
            help="What to compile: inverse_dynamics, mass_matrix, ...",
            autocompletion=complete_quantity,
        ),
    ],
    dtype: Annotated[
        str, typer.Option(help="float64, float32, or both with a comma between them.")
    ] = "float64",
    method: MethodOption = "auto",
    settings: Settings = NONE,
    floating: Floating = False,
) -> None:
    """Compile quantities of a robot into the cache, for start-up or for a container.

    Example: kinetree compile arm inverse_dynamics forward_dynamics_derivatives
    """
    from kinetree.cli.compile import compile_all

    dtypes = [name.strip() for name in dtype.split(",")]
    compile_all(load_robot(robot, floating), quantities, dtypes, method, settings, Console())


@command()
def cache(
    action: Annotated[
        str, typer.Argument(help=f"{', '.join(ACTIONS)}.", autocompletion=one_of(ACTIONS))
    ] = "show",
    file: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Argument(help="The file to export to or to import from.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the cache of machine code, or ship it: export it to a file, import it elsewhere.

    What is imported is machine code: import only files of people you trust. KINETREE_CACHE_SIZE,
    such as "500 MB", is how large the cache may become; entries used longest ago are deleted.

    Example: kinetree cache export kernels.zip
    """
    from kinetree.cli.compile import cache_report, cache_summary

    if json:
        echo_json(cache_summary(action, file))
    else:
        cache_report(action, file, Console())
