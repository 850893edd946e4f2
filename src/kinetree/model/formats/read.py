"""Reading a robot file; the format is detected from the content."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.model.description import Description
from kinetree.model.formats.files import read_file
from kinetree.model.formats.urdf import read_urdf
from kinetree.model.formats.xml import LARGEST, TEXT, parse

BVH = b"HIERARCHY"
"""How a BVH file begins."""


def read_description(
    source: str | os.PathLike[str],
    mimic: bool = True,
    folder: Path | None = None,
) -> Description:
    """The description in a robot file, or in the text of one."""
    file = source_name(source)
    if file == TEXT:
        data, around = str(source).lstrip("\ufeff").encode(errors="surrogatepass"), None
        document = parse(data, file, "utf-8")  # whatever it declares: it is decoded
    else:
        data, around = read_file(Path(file), LARGEST), Path(file).parent
        if data.lstrip(b"\xef\xbb\xbf \t\r\n")[: len(BVH)].upper() == BVH:
            from kinetree.model.formats.bvh import guessed_skeleton  # rarely needed

            return guessed_skeleton(data, file)
        document = parse(data, file)
    if document.tag == "mujoco":
        from kinetree.model.formats.mjcf import read_mjcf  # rarely needed, and importing takes time

        around = around if folder is None else folder
        return _located(read_mjcf(document, around, mimic), around)
    return _located(read_urdf(document, mimic), around if folder is None else folder)


def _located(description: Description, folder: Path | None) -> Description:
    """The same description, whose meshes are looked for in a folder."""
    if folder is None:
        return description
    where = str(folder.absolute())
    shapes = [replace(s, folder=where) if s.file else s for s in description.shapes]
    return replace(description, shapes=shapes)


def source_name(source: str | os.PathLike[str]) -> str:
    """The name of a robot file, or TEXT."""
    text = isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] == "<"
    try:
        return TEXT if text else os.fspath(source)
    except TypeError:
        raise ModelError(
            f"{source!r} is not a robot file: expected its path, or its text, which starts with '<'"
        ) from None
