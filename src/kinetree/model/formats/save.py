"""Writing a robot file; the format follows from the file extension."""

from __future__ import annotations

import os

from kinetree import kinds
from kinetree.errors import ModelError
from kinetree.files.atomic import complete
from kinetree.model.formats.write_mjcf import write_mjcf
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.model.model import Model

WRITERS = {".urdf": write_urdf, ".xml": write_mjcf, ".mjcf": write_mjcf}


def save_model(model: Model, file: str | os.PathLike[str]) -> None:
    """Write a model to a file: URDF if its name ends in .urdf, MJCF if in .xml or .mjcf."""
    path = kinds.path("file", file)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ModelError(f"{path}: the file name must end with .urdf, or .xml for MJCF")
    text = writer(model)
    with complete(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
