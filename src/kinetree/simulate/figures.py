"""Pictures: figures of Matplotlib, and the files they are saved to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree.errors import KinetreeError, MissingExtraError


def new_figure(width: float, height: float) -> Any:
    """An empty figure of Matplotlib, which no window shows.

    Arguments:
        width, height: in inches.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "pictures need Matplotlib, which is not installed: run pip install 'kinetree[plot]'"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a picture.

    Arguments:
        figure: of Matplotlib.
        path: of the file; its ending says the format.
    """
    known = figure.canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in known:
        raise KinetreeError(
            f"{path}: the name of a picture ends with its format: {', '.join(sorted(known))}"
        )
    figure.savefig(path)
