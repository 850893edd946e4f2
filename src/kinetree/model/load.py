"""Reading a robot file of any known kind, chosen by its content."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinetree.errors import KinetreeError, MissingFileError, ModelError, ModelWarning
from kinetree.model.description import Description, assemble
from kinetree.model.edit import rechart
from kinetree.model.lint import description_problems, idle_joints
from kinetree.model.model import Model
from kinetree.model.problem import Problem
from kinetree.model.urdf import read_urdf
from kinetree.model.xml import parse


def load_model(
    source: str | os.PathLike[str],
    *,
    base: str = "fixed",
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
    mimic: bool = True,
    chart: str = "quaternion",
    folder: str | os.PathLike[str] | None = None,
) -> Model:
    """The model of a robot file, or of the text of one; the arguments are those of `kinetree.load`.

    What is wrong or doubtful in it is one ModelWarning.
    """
    description = _read(source, mimic, folder)
    if base == "floating" and description.gives_base:
        raise ModelError(
            f"robot {description.name!r}: base='floating' is for files that do not say how their "
            "root moves; an MJCF file does: put <freejoint/> into the body that shall float"
        )
    model = assemble(description, base=base, joints=joints, locked=locked)
    found = [*description_problems(description), *idle_joints(description, model)]
    found = [problem for problem in found if problem.severity != "note"]
    if found:
        more = f"; and {len(found) - 1} more" if len(found) > 1 else ""
        message = f"{found[0]}{more} ('kinetree check' lists everything)"
        warnings.warn(message, ModelWarning, stacklevel=3)
    return model if chart == "quaternion" else rechart(model, chart)


def check_file(source: str | os.PathLike[str]) -> list[Problem]:
    """Everything wrong or doubtful in a robot file; see `kinetree.model.lint`.

    What keeps it from being loaded is the last finding, an error.
    """
    found: list[Problem] = []
    try:
        description = _read(source)
        found += description_problems(description)
        found += idle_joints(description, assemble(description))
    except MissingFileError:
        raise
    except KinetreeError as e:
        found.append(Problem("error", "the file", str(e)))
    return found


def _read(
    source: str | os.PathLike[str],
    mimic: bool = True,
    folder: str | os.PathLike[str] | None = None,
) -> Description:
    """The description in a robot file, or in the text of one."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] == "<":
        file, data = "<string>", source.lstrip("\ufeff").encode(errors="surrogatepass")
        around = None
    else:
        file, data = os.fspath(source), _bytes(Path(source))
        around = Path(file).parent
    document = parse(data, file)
    if document.tag == "mujoco":
        from kinetree.model.mjcf import read_mjcf  # rarely needed, and importing takes time

        return read_mjcf(document, data, around if folder is None else Path(folder), mimic)
    return read_urdf(document, mimic)


def _bytes(path: Path) -> bytes:
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
