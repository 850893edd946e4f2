"""Options that several commands share: the method and the settings of a quantity."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.errors import KinetreeError

if TYPE_CHECKING:
    from kinetree.model import Model

MethodOption = Annotated[str, typer.Option(help="By which algorithm.")]

SETTINGS = {
    "frame": "Of which frame, for motions of frames.",
    "axes": "In which axes: origin, body or world.",
    "kind": "Which acceleration: classical or spatial.",
    "rows": "What of a frame counts: its pose or its position.",
    "about": "Momentum about which point: center, origin.",
    "accelerated": "Joints whose acceleration is given, with commas between them.",
    "orientation": "Of links: matrix or quaternion.",
    "parts": "Of velocities: both, angular or linear.",
    "links": "Links whose velocities are given, with commas between them.",
}
"""The settings of quantities, and the help of their options."""
LISTS = ("accelerated", "links")
"""Options whose value is several names with commas between them."""
Settings = Mapping[str, Any]
NONE: Settings = {}


def takes_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each setting of a quantity.

    Arguments:
        function: the command, with a parameter `settings`, which gets those that were given.
    """

    @wraps(function)
    def run(**options: Any) -> None:
        given = given_settings(**{name: options.pop(name) for name in SETTINGS})
        function(settings=given, **options)

    parameters = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.name == "settings":
            parameters += [_option(name, text) for name, text in SETTINGS.items()]
        else:
            parameters.append(parameter)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _option(name: str, text: str) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    annotation = Annotated[str, typer.Option(help=text)]
    return inspect.Parameter(name, kind, default="", annotation=annotation)


def given_settings(**options: str) -> dict[str, Any]:
    """The settings of a quantity that were given.

    Arguments:
        options: by name; empty if not given.
    """
    return {
        name: tuple(word.strip() for word in text.split(",")) if name in LISTS else text
        for name, text in options.items()
        if text
    }


def check_settings(model: Model, quantity: str, settings: Mapping[str, Any]) -> None:
    """Refuse a quantity without the settings that have no default, naming their options."""
    from kinetree.quantities import ANY_FRAME, QUANTITIES, SOME_JOINTS

    for setting, valid in QUANTITIES[quantity].settings.items():
        if setting not in settings and valid is ANY_FRAME:
            frames = ", ".join(frame.name for frame in model.frames)
            raise KinetreeError(f"{quantity} needs --frame, one of {frames}")
        if setting not in settings and valid is SOME_JOINTS:
            raise KinetreeError(f"{quantity} needs --{setting}, the names of some joints")
