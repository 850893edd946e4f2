"""Files of arrays and of pictures; what is wrong with them is a sentence."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, MissingExtraError, MissingFileError
from kinetree.typing import Array


def read_npz(path: str | Path) -> dict[str, Array]:
    """The arrays of an NPZ file, by name.

    Arguments:
        path: of the file.
    """
    if not Path(path).exists():
        raise MissingFileError(f"{path}: there is no such file")
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, AttributeError, EOFError, zipfile.BadZipFile):
        raise KinetreeError(
            f"{path} is not an NPZ file of numbers; numpy.savez writes such files"
        ) from None


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
