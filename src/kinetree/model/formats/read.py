"""Reading a robot file; the format is detected from the content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.model.description import Description
from kinetree.model.formats.files import read_file
from kinetree.model.formats.packages import NONE as NO_PACKAGES
from kinetree.model.formats.packages import Finder, Packages
from kinetree.model.formats.urdf import is_xacro, read_urdf
from kinetree.model.formats.xml import LARGEST, TEXT, Element, parse

BVH = b"HIERARCHY"
"""The first word of a BVH file."""


@dataclass(frozen=True)
class Reading:
    """Options for reading a robot file.

    Arguments:
        mimic: whether joints that mimic others follow them.
        folder: of the files that it names; by default its own folder.
        packages: that the user gives.
        arguments: of a xacro file, by name.
        density: of the shapes of links without inertia, kg/m^3; None if these have none.
    """

    mimic: bool = True
    folder: Path | None = None
    packages: Packages = NO_PACKAGES
    arguments: Mapping[str, str] = field(default_factory=dict)
    density: float | None = None


USUAL = Reading()


def read_description(source: str | os.PathLike[str], how: Reading = USUAL) -> Description:
    """The description in a robot file, or in the text of one.

    Arguments:
        source: the path of the file, or its text.
        how: the options.
    """
    file = source_name(source)
    if file == TEXT:
        data, around = str(source).lstrip("\ufeff").encode(errors="surrogatepass"), None
        document = parse(data, file, "utf-8")  # it is decoded already, whatever it declares
    else:
        data, around = read_file(Path(file), LARGEST), Path(file).parent
        if data.lstrip(b"\xef\xbb\xbf \t\r\n")[: len(BVH)].upper() == BVH:
            from kinetree.model.formats.bvh import guessed_skeleton  # rarely needed

            return guessed_skeleton(data, file)
        document = parse(data, file)
    finder = Finder(around if how.folder is None else how.folder, how.packages)
    description = _described(_expanded(document, finder, how), finder, how)
    if how.density is None:
        return description
    from kinetree.model.formats.shape_inertia import with_inertias_of_shapes  # rarely needed

    return with_inertias_of_shapes(description, how.density)


def _expanded(document: Element, finder: Finder, how: Reading) -> Element:
    """A document with its xacro macros expanded."""
    if document.tag == "mujoco" or not (how.arguments or is_xacro(document)):
        return document
    from kinetree.model.formats.xacro import expanded  # rarely needed

    return expanded(document, finder, how.arguments)


def _described(document: Element, finder: Finder, how: Reading) -> Description:
    # readers are imported here, since importing takes time
    if document.tag == "mujoco":
        from kinetree.model.formats.mjcf import read_mjcf

        return _located(read_mjcf(document, finder.folder, how.mimic), finder)
    if document.tag == "sdf":
        from kinetree.model.formats.sdf import read_sdf

        return read_sdf(document, finder, how.mimic, how.density is not None)
    return _located(read_urdf(document, how.mimic), finder)


def _located(description: Description, finder: Finder) -> Description:
    """The same description with the folders of its meshes."""
    shapes = []
    for shape in description.shapes:
        folder = finder.folder_for(shape.file) if shape.file else None
        there = "" if folder is None else str(folder.absolute())
        shapes.append(replace(shape, folder=there) if there else shape)
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
