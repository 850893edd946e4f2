"""Options that several commands share: the method and the settings of a quantity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.quantities import ANY_FRAME, QUANTITIES, SOME_JOINTS

MethodOption = Annotated[str, typer.Option(help="By which algorithm.")]
FrameOption = Annotated[str, typer.Option(help="Of which frame, for motions of frames.")]
AxesOption = Annotated[str, typer.Option(help="In which axes: origin, body or world.")]
KindOption = Annotated[str, typer.Option(help="Which acceleration: classical or spatial.")]
AboutOption = Annotated[str, typer.Option(help="Momentum about which point: center, origin.")]
AcceleratedOption = Annotated[
    str, typer.Option(help="Joints whose acceleration is given, with commas between them.")
]
OrientationOption = Annotated[str, typer.Option(help="Of links: matrix or quaternion.")]
PartsOption = Annotated[str, typer.Option(help="Of velocities: both, angular or linear.")]
LinksOption = Annotated[
    str, typer.Option(help="Links whose velocities are given, with commas between them.")
]


LISTS = ("accelerated", "links")
"""Options whose value is several names with commas between them."""


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
    for setting, valid in QUANTITIES[quantity].settings.items():
        if setting not in settings and valid is ANY_FRAME:
            frames = ", ".join(frame.name for frame in model.frames)
            raise KinetreeError(f"{quantity} needs --frame, one of {frames}")
        if setting not in settings and valid is SOME_JOINTS:
            raise KinetreeError(f"{quantity} needs --{setting}, the names of some joints")
