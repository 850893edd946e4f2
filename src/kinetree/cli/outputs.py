"""Files that commands write: one rule for those that exist, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kinetree.errors import KinetreeError


def check_outputs(
    paths: Iterable[Path | None], overwrite: bool, picture: Path | None = None
) -> None:
    """Refuse files that exist, unless they may be replaced, and folders that do not.

    Arguments:
        paths: of the files; None for one that is not written.
        overwrite: whether existing files may be replaced.
        picture: the one whose ending must be the format of a picture; None if there is none.
    """
    for path in paths:
        if path is None:
            continue
        if path.exists() and not overwrite:
            raise KinetreeError(f"{path} already exists; use --overwrite to replace it")
        if not path.absolute().parent.is_dir():
            raise KinetreeError(f"{path}: there is no folder {path.parent}")
    if picture is not None:
        from kinetree.simulate.figures import checked_picture

        checked_picture(picture)
