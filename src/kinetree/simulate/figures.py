"""Pictures: figures of Matplotlib, and the files they are saved to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree import kinds
from kinetree._optional import optional
from kinetree.errors import KinetreeError
from kinetree.files.atomic import complete


def new_figure(width: float, height: float) -> Any:
    """An empty figure of Matplotlib, which no window shows.

    Arguments:
        width, height: in inches.
    """
    return optional("matplotlib.figure", "a picture").Figure(
        figsize=(width, height), layout="constrained"
    )


def checked_picture(path: str | Path) -> Path:
    """The path of a picture; an error if its ending is no format that Matplotlib writes."""
    file = kinds.path("path", path)
    known = optional("matplotlib.backend_bases", "a picture").FigureCanvasBase.filetypes
    if file.suffix[1:].lower() not in known:
        raise KinetreeError(
            f"{path}: the name of a picture ends with its format: {', '.join(sorted(known))}"
        )
    return file


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a picture.

    Arguments:
        figure: of Matplotlib.
        path: of the file; its ending says the format.
    """
    file = checked_picture(path)
    with complete(file) as temporary:
        figure.savefig(temporary)
