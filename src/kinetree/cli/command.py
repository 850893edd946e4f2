"""What all commands share: registration, loading a robot, error messages."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from glob import escape, glob
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

import kinetree
from kinetree.errors import KinetreeError, MissingFileError
from kinetree.typing import Base

app = typer.Typer(
    help="Robot dynamics, compiled to machine code from a robot file.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

BUILT_IN = (
    "arm",
    "bricard",
    "cart_pole",
    "double_pendulum",
    "four_bar",
    "hexapod",
    "human",
    "parallel_ankle",
    "quadruped",
    "slider_crank",
    "squeezer",
)
ROBOT = f"A URDF, xacro, SDF or MJCF file, or a built-in robot: {', '.join(BUILT_IN)}."


def complete_robot(incomplete: str) -> list[str]:
    """Completions of a robot's name: built-in names, files and folders."""
    files = glob(f"{escape(incomplete)}*")
    paths = [f"{path}/" if Path(path).is_dir() else path for path in files]
    return [name for name in (*BUILT_IN, *paths) if name.startswith(incomplete)]


def complete_quantity(incomplete: str) -> list[str]:
    """Completions of a quantity's name."""
    from kinetree.quantities import PUBLIC

    return [name for name in PUBLIC if name.startswith(incomplete)]


def one_of(words: Iterable[str]) -> Callable[[str], list[str]]:
    """The completion of an option that takes one of some words."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


RobotArgument = Annotated[
    str, typer.Argument(help=ROBOT, show_default=False, autocompletion=complete_robot)
]
Floating = Annotated[
    Optional[bool],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option(
        "--floating/--fixed",
        help="The kind of base. Default: as a built-in robot or an MJCF file defines it; fixed "
        "for a URDF file.",
        show_default=False,
    ),
]
Package = Annotated[
    Optional[list[str]],  # noqa: UP045 - as above
    typer.Option(
        "--package", metavar="NAME=FOLDER", help="Folder of a ROS package that the file refers to."
    ),
]
Column = Annotated[
    Optional[list[str]],  # noqa: UP045 - as above
    typer.Option(help="The file's name of a column: q.elbow=pos_3, or of several: q.*=pos_*."),
]
Argument = Annotated[
    Optional[list[str]],  # noqa: UP045 - as above
    typer.Option("--argument", metavar="NAME:=VALUE", help="An argument of a xacro file."),
]
Units = Annotated[
    Optional[str],  # noqa: UP045 - as above
    typer.Option(
        "--units",
        help="The unit of lengths in BVH files: m, cm, mm, inch, or a number, metres in a unit. "
        "Default: guessed from the height.",
    ),
]
Up = Annotated[
    Optional[str],  # noqa: UP045 - as above
    typer.Option(
        "--up", help="The axis of BVH files that points up: y or z. Default: guessed from the pose."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")]


def conventions(units: str | None, up: str | None) -> dict[str, Any]:
    """The arguments of `kinetree.read_bvh` that options give.

    Arguments:
        units, up: the options; None for what is guessed.
    """
    with suppress(TypeError, ValueError):
        return {"units": float(units), "up": up}  # type: ignore[arg-type]
    return {"units": units, "up": up}


def command(code: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command that reports user errors as messages, never as tracebacks.

    Arguments:
        code: the exit code of an error.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*args: Any, **options: Any) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.showwarning = _show_warning  # type: ignore[assignment]
                    function(*args, **options)
            except (KinetreeError, OSError, MemoryError) as e:
                typer.echo(f"kinetree: {_sentence(e)}", err=True)
                raise typer.Exit(code) from None

        return app.command()(run)

    return register


def _sentence(e: Exception) -> str:
    """An error in words; the system's own with the file first."""
    if isinstance(e, OSError) and not isinstance(e, KinetreeError) and e.filename and e.strerror:
        return f"{e.filename}: {e.strerror[0].lower()}{e.strerror[1:]}"
    return f"not enough memory: {e}" if isinstance(e, MemoryError) else str(e)


def _show_warning(message: Warning | str, *_: Any) -> None:
    """A warning as a message, without the line of code that gave it."""
    typer.echo(f"kinetree: warning: {message}", err=True)


def echo_json(value: Any) -> None:
    """Print a value as JSON.

    Arguments:
        value: of dictionaries, lists, texts and numbers.
    """
    typer.echo(json.dumps(value, indent=2))


def load_robot(
    name: str,
    floating: bool | None = None,
    packages: Sequence[str] | None = None,
    arguments: Sequence[str] | None = None,
) -> kinetree.Robot:
    """A built-in robot by its name, or the robot of a file.

    Arguments:
        name: of the robot, or the path of its file.
        floating: whether its base floats; None for the base that it has in Python.
        packages: as --package has them.
        arguments: as --argument has them.
    """
    base: Base = "floating" if floating else "fixed"
    if name in BUILT_IN:
        make = getattr(kinetree.robots, name)
        return make() if floating is None else make(base)
    try:
        return kinetree.load(name, base=base, **file_options(packages, arguments))
    except MissingFileError as e:
        raise neither(e) from None


def file_options(packages: Sequence[str] | None, arguments: Sequence[str] | None) -> dict[str, Any]:
    """The arguments of `kinetree.load` for what two options say.

    Arguments:
        packages: as --package has them.
        arguments: as --argument has them.
    """
    return {
        "packages": _pairs("--package", packages, "=") or None,
        "arguments": _pairs("--argument", arguments, ":=") or None,
    }


def _pairs(option: str, given: Sequence[str] | None, sign: str) -> dict[str, str]:
    found = {}
    for word in given or ():
        name, between, value = word.partition(sign)
        if not between or not name:
            raise KinetreeError(f"{option} {word}: expected NAME{sign}VALUE")
        found[name] = value
    return found


def neither(e: MissingFileError) -> MissingFileError:
    """The error for a name that is neither a built-in robot nor a file.

    Arguments:
        e: what loading the file raised.
    """
    return MissingFileError(
        f"{e}. Expected the path of a URDF, xacro, SDF or MJCF file, or the name of a built-in "
        f"robot: {', '.join(BUILT_IN)}"
    )
