"""The pieces of a result that is not complete: files in a folder beside it, `OUT.part`.

One process at a time has the folder; another is refused. Pieces and the output are written under
names that nobody else has, and renamed when they are on the disk. A folder of that name that
`kinetree run` did not make is refused, and only files that it made are deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from kinetree.errors import KinetreeError
from kinetree.files.atomic import PREFIX, complete, locked

LABEL, LOCK = "job", "lock"
"""Files of the folder that are not pieces: the label of the job, and the lock."""
MARK = "kinetree run "
"""The first line of the label."""
TEMPORARY = rf"{re.escape(PREFIX)}[0-9a-f]{{16}}(\.[a-z]+)?"
PIECE = r"\d{6}\.[a-z]+"


class Pieces:
    """The complete pieces of a job, in order.

    output: the file they are for.
    folder: where they are.
    paths: of the pieces.
    """

    def __init__(self, output: Path, folder: Path) -> None:
        self.output, self.folder = output, folder
        self.paths: list[Path] = []
        while (path := self._path()).exists():
            self.paths.append(path)

    @contextmanager
    def next(self) -> Iterator[Path]:
        """A file to write the next piece to."""
        path = self._path()
        with complete(path) as temporary:
            yield temporary
        self.paths.append(path)

    def whole(self) -> AbstractContextManager[Path]:
        """A file to write the output to."""
        return complete(self.output, self.folder)

    def _path(self) -> Path:
        return self.folder / f"{len(self.paths):06}{self.output.suffix.lower()}"


@contextmanager
def kept_pieces(output: Path, identity: str, overwrite: bool = False) -> Iterator[Pieces]:
    """The pieces of a job, of which those of an earlier run are there; deleted at the end.

    If the block raises, they stay; if there are none, nothing stays. Pieces of another job are
    refused.

    Arguments:
        output: the file they are for.
        identity: a text that differs if the pieces of an earlier run do not belong to this one.
        overwrite: whether pieces of another job are deleted.
    """
    folder = output.with_name(f"{output.name}.part")
    _check_ours(folder)
    with locked(folder / LOCK) as held:
        if not held:
            raise KinetreeError(f"{output}: another process is computing this output")
        label = folder / LABEL
        if not (label.is_file() and label.read_text() == MARK + identity):
            _check_none(output, folder, overwrite)
            _delete_pieces(folder)
            with complete(label) as temporary:
                temporary.write_text(MARK + identity)
        pieces = Pieces(output, folder)
        try:
            yield pieces
        except BaseException:
            if not pieces.paths:
                _delete(folder)
            raise
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete the pieces of a job and their folder."""
    _delete_pieces(folder)
    (folder / LABEL).unlink()  # after the pieces: without it the folder is not ours
    with suppress(PermissionError):  # Windows deletes no open file
        (folder / LOCK).unlink()
    with suppress(OSError):  # somebody put other files there
        folder.rmdir()


def _check_ours(folder: Path) -> None:
    """Refuse a folder that holds anything, but no label of a job."""
    if not folder.exists() and not folder.is_symlink():
        return
    made_here = folder.is_dir() and not folder.is_symlink() and _is_ours(folder)
    if not made_here:
        raise KinetreeError(
            f"{folder} is needed for pieces of the output, but was not created by kinetree run; "
            "move it, or choose another output name"
        )


def _is_ours(folder: Path) -> bool:
    try:
        names = {path.name for path in folder.iterdir()}
        if all(name == LOCK or re.fullmatch(TEMPORARY, name) for name in names):
            return True  # before the label, or after it
        return (folder / LABEL).read_text(encoding="utf-8").startswith(MARK)
    except FileNotFoundError:
        return not folder.exists()
    except (OSError, UnicodeDecodeError):
        return False


def _check_none(output: Path, folder: Path, overwrite: bool) -> None:
    """Refuse pieces of another job, unless they may be deleted."""
    if not overwrite and Pieces(output, folder).paths:
        raise KinetreeError(
            f"{folder} has pieces of another job: of another command, of states that have changed "
            "or of another version of Kinetree. The command that wrote them resumes that job; "
            "--overwrite deletes them"
        )


def _delete_pieces(folder: Path) -> None:
    """Delete pieces, complete or not, and nothing else."""
    for path in list(folder.iterdir()):
        if re.fullmatch(f"{TEMPORARY}|{PIECE}", path.name) and not path.is_dir():
            path.unlink(missing_ok=True)
