"""What every reader of files shares: errors of parsers as sentences, and checks of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kinetree import kinds
from kinetree.errors import KinetreeError, MissingFileError, TableError


def existing_file(path: str | Path) -> Path:
    """A path, if there is a file.

    Arguments:
        path: of the file.
    """
    path = kinds.path("path", path)
    if not path.exists():
        raise MissingFileError(f"{path}: there is no such file")
    if not path.is_file():
        raise TableError(f"{path} is not a file")
    return path


@contextmanager
def parsing(
    path: Path, kind: str, error: type[KinetreeError] = TableError, hint: str = ""
) -> Iterator[None]:
    """Turn whatever a parser raises about a file's content into an error of Kinetree.

    Parsers document few of their exceptions: of a damaged archive alone, `zipfile` raises
    RuntimeError, NotImplementedError, EOFError, ValueError and those of each decompressor.

    Arguments:
        path: of the file.
        kind: what it should be, such as "an NPZ file".
        error: what is raised.
        hint: follows the reason.
    """
    try:
        yield
    except KinetreeError:
        raise
    except Exception as e:  # any: see above
        lines = str(e).strip().splitlines()
        reason = lines[0] if lines else type(e).__name__
        raise error(f"{path} is not {kind}, or it is damaged: {reason}{hint}") from None


def check_names(path: Path, names: Sequence[str], what: str = "column") -> None:
    """Refuse duplicate names; the empty name may occur repeatedly, because it is never requested.

    Arguments:
        path: of the file.
        names: of its columns or arrays, in order.
        what: "column" or "array".
    """
    first: dict[str, int] = {}
    for k, name in enumerate(names, 1):
        if name and first.setdefault(name, k) != k:
            raise TableError(
                f"{path}: {what}s {first[name]} and {k} are both named {name!r}; names must be "
                "unique"
            )
