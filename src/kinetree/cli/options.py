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

MethodOption = Annotated[str, typer.Option(help="The algorithm.")]

SETTINGS = {
    "frame": "The frame, for quantities of a frame.",
    "axes": "The axes: origin, body or world.",
    "kind": "The kind of acceleration: classical or spatial.",
    "rows": "Rows of a frame quantity: pose or position.",
    "about": "The reference point of momentum: center or world.",
    "accelerated": "Joints with given acceleration, separated by commas.",
    "constraints": "Constraints that act, separated by commas; by default all.",
    "actuated": "Joints with motors, separated by commas.",
    "orientation": "Representation of orientations: matrix or quaternion.",
    "parts": "Given parts of link velocities: both, angular or linear.",
    "links": "Links with given velocity, separated by commas.",
}
"""The settings of quantities, and the help of their options."""
LISTS = ("accelerated", "actuated", "constraints", "links")
"""Options whose value is a list of names, separated by commas."""
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
