"""Reading a robot file of any known kind, chosen by its content."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinetree.errors import FileFormatError, MissingFileError, ModelError
from kinetree.model.description import assemble
from kinetree.model.lint import Problem, description_problems, idle_joints
from kinetree.model.model import Model
from kinetree.model.urdf import read_urdf
from kinetree.model.xml import Element, parse


def load_model(
    source: str | os.PathLike[str],
    *,
    base: str = "fixed",
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
    mimic: bool = True,
) -> Model:
    """The model of a robot file, or of the text of one (a string that starts with '<').

    Arguments:
        source: the path, or the text itself.
        base: "fixed" or "floating".
        joints: the moving joints in the order their coordinates shall have.
        locked: joint name -> the value at which to hold it.
        mimic: whether joints that mimic others follow them, or move on their own.
    """
    name, links, connections = read_urdf(_document(source), mimic)
    return assemble(name, links, connections, base=base, joints=joints, locked=locked)


def check_file(source: str | os.PathLike[str]) -> list[Problem]:
    """Everything wrong or doubtful in a robot file; see `kinetree.model.lint`.

    What keeps it from being loaded is the last finding, an error.
    """
    try:
        name, links, connections = read_urdf(_document(source))
        found = list(description_problems(links, connections))
    except MissingFileError:
        raise
    except ModelError as e:
        return [_as_problem(e)]
    try:
        model = assemble(name, links, connections)
    except ModelError as e:
        return [*found, _as_problem(e)]
    where = {c.name: c.where for c in connections}
    return found + [
        Problem("error", f"joint {joint!r}", message, where[joint])
        for joint, message in idle_joints(model)
    ]


def _as_problem(error: ModelError) -> Problem:
    return Problem("error", "the file", str(error))


def _document(source: str | os.PathLike[str]) -> Element:
    """The <robot> of a URDF file, or of the text of one."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] == "<":
        file, data = "<string>", source.lstrip("\ufeff").encode(errors="surrogatepass")
    else:
        file, data = os.fspath(source), _read(Path(source))
    root = parse(data, file)
    if root.tag != "robot":
        raise FileFormatError(
            f"{root.where}: the document is a <{root.tag}>; a URDF <robot> is expected"
        )
    return root


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise MissingFileError(f"{path} is a directory: a robot file is expected") from None
    except FileNotFoundError:
        folder = "exists" if path.parent.is_dir() else "does not exist either"
        raise MissingFileError(
            f"{path} cannot be read: there is no such file; its folder {path.parent} {folder}"
        ) from None
    except (OSError, ValueError) as e:
        raise MissingFileError(f"{path} cannot be read: {e}") from None
