"""Files that are complete under their own name, or absent; and locks between processes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".kinetree-"
"""The prefix of files that are not complete."""


@contextmanager
def complete(path: Path, folder: Path | None = None) -> Iterator[Path]:
    """A new file to write, which gets its name when the block ends without an error.

    Its bytes are on the disk before it does. It is written under a unique temporary name.

    Arguments:
        path: the name of the file.
        folder: where it is written, on the same file system; beside `path` if None.
    """
    where = path.parent if folder is None else folder
    temporary = where / f"{PREFIX}{secrets.token_hex(8)}{path.suffix.lower()}"
    try:
        temporary.open("xb").close()
    except OSError as e:
        e.filename = str(path)  # the name that the caller knows
        raise
    try:
        yield temporary
        _to_disk(temporary)
        os.replace(temporary, path)
        with suppress(OSError):  # folders cannot be opened everywhere
            _to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """Wait until what was written to a file or a folder is on the disk."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock that a file stands for; the system releases it even if the process is killed.

    Arguments:
        path: of the file, which is made if need be, and so is its folder; both stay.

    Returns:
        Whether the lock is held; False if another process holds it.
    """
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            path.parent.mkdir(exist_ok=True)
            continue
        try:
            held = _try_lock(handle)
            if held and not _is_at(handle, path):
                continue  # whoever held it deleted the file meanwhile
            yield held
            return
        finally:
            os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file still has a name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _try_lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_on_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(handle: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
