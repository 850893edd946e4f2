"""Reading a robot file; the format is detected from the content."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kinetree.errors import (
    KinetreeError,
    MissingFileError,
    ModelError,
    ModelWarning,
)
from kinetree.model.arguments import Placement, given_transform
from kinetree.model.description import Description, assemble
from kinetree.model.edit import mounted, rechart, with_gravity
from kinetree.model.formats.files import read_file
from kinetree.model.formats.urdf import read_urdf
from kinetree.model.formats.xml import LARGEST, TEXT, parse
from kinetree.model.lint import description_problems, mechanism_problems
from kinetree.model.model import Model
from kinetree.model.problem import SEVERITIES, Problem

BVH = b"HIERARCHY"
"""How a BVH file begins."""


def load_model(
    source: str | os.PathLike[str],
    *,
    base: str = "fixed",
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
    mimic: bool = True,
    chart: str = "quaternion",
    folder: str | os.PathLike[str] | None = None,
    gravity: Sequence[float] | None = None,
    mount: Placement | None = None,
) -> Model:
    """The model of a robot file, or of the text of one; the arguments are those of `kinetree.load`.

    Everything wrong or doubtful in it is reported in one ModelWarning.
    """
    description = _read(source, mimic, folder)
    model = _assembled(description, base, joints, locked)
    warn_of_problems(description, model, stacklevel=4)
    model = model if chart == "quaternion" else rechart(model, chart)
    model = model if gravity is None else with_gravity(model, gravity)
    return model if mount is None else mounted(model, given_transform(mount, "mount"))


def warn_of_problems(description: Description, model: Model, stacklevel: int) -> None:
    """Issue one ModelWarning for all errors and warnings, the worst first; notes are left out."""
    problems = [
        problem for problem in description_problems(description) if problem.severity != "note"
    ]
    problems += mechanism_problems(description, model, notes=False)
    if problems:
        problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        message = f"{problems[0]}{more} ('kinetree check' lists everything)"
        warnings.warn(message, ModelWarning, stacklevel=stacklevel)


def check_file(source: str | os.PathLike[str], base: str | None = None) -> list[Problem]:
    """Everything wrong or doubtful in a robot file; see `kinetree.model.lint`.

    Arguments:
        source: as in `kinetree.load`.
        base: "fixed" or "floating": the base for which the robot is checked; by default what the
            file says, or else fixed.

    Returns:
        The problems. If the file cannot be loaded, the last one is the error that prevents it.
    """
    problems: list[Problem] = []
    try:
        description = _read(source)
        problems += description_problems(description)
        problems += mechanism_problems(description, _assembled(description, base))
    except MissingFileError:
        raise
    except KinetreeError as e:
        place = re.match(rf"({re.escape(_file(source))}:\d+): ", str(e))
        message = str(e)[place.end() :] if place else str(e)
        problems.append(Problem("error", "the file", message, place[1] if place else ""))
    return problems


def _assembled(
    description: Description,
    base: str | None,
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
) -> Model:
    """The model of a description, on the given base unless the description has one."""
    if base == "floating" and description.gives_base:
        raise ModelError(
            f"robot {description.name!r}: base='floating' is for files that do not say how their "
            "root moves; an MJCF file does: put <freejoint/> into the body that shall float"
        )
    return assemble(description, base=base, joints=joints, locked=locked)


def _read(
    source: str | os.PathLike[str],
    mimic: bool = True,
    folder: str | os.PathLike[str] | None = None,
) -> Description:
    """The description in a robot file, or in the text of one."""
    file = _file(source)
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

        around = around if folder is None else Path(folder)
        return _located(read_mjcf(document, around, mimic), around)
    return _located(read_urdf(document, mimic), around if folder is None else Path(folder))


def _located(description: Description, folder: Path | None) -> Description:
    """The same description, whose meshes are looked for in a folder."""
    if folder is None:
        return description
    where = str(folder.absolute())
    shapes = [replace(s, folder=where) if s.file else s for s in description.shapes]
    return replace(description, shapes=shapes)


def _file(source: str | os.PathLike[str]) -> str:
    """The name of a robot file, or TEXT."""
    text = isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] == "<"
    try:
        return TEXT if text else os.fspath(source)
    except TypeError:
        raise ModelError(
            f"{source!r} is no robot file: its path is expected, or its text, which starts with '<'"
        ) from None
