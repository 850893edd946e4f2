"""`kinetree export`, `compile` and `cache`: source code and machine code of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console

from kinetree.cli.choices import ACTIONS, TARGETS
from kinetree.cli.command import (
    Floating,
    JsonOption,
    Overwrite,
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
        typer.Option("--output", "-o", help="Output folder; the quantity's name by default."),
    ] = None,
    dtype: Annotated[str, typer.Option(help="float64 (double) or float32 (float).")] = "float64",
    name: Annotated[
        str, typer.Option(help="Name of the function and its files; the quantity's by default.")
    ] = "",
    floating: Floating = None,
    method: MethodOption = "auto",
    settings: Settings = NONE,
    lib: Annotated[bool, typer.Option("--lib", help="Build a shared library, too.")] = False,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Write a quantity as C99 or CUDA C++, with a header, a self-test and a CMake file.

    Example: kinetree export arm inverse_dynamics -o firmware --dtype float32

    Example: kinetree export arm forward_dynamics --target cuda -o gpu
    """
    from kinetree.cli.export import Export, write_export

    folder = output or Path(quantity)
    request = Export(quantity, target, folder, dtype, name, lib, method, settings, overwrite)
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
        str, typer.Option(help="float64, float32, or both, separated by a comma.")
    ] = "float64",
    method: MethodOption = "auto",
    settings: Settings = NONE,
    floating: Floating = None,
) -> None:
    """Compile quantities of a robot into the cache, ahead of time or for a container image.

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
    """Show the machine code cache, export it to a file, or import such a file.

    An imported file contains machine code: import only files from people you trust.
    KINETREE_CACHE_SIZE, such as "500 MB", limits the size of the cache; the least recently used
    entries are deleted.

    Example: kinetree cache export kernels.zip
    """
    from kinetree.cli.compile import cache_report, cache_summary

    if json:
        echo_json(cache_summary(action, file))
    else:
        cache_report(action, file, Console())
