"""The disk cache: machine code by what it was made from.

Entries are files in a private folder under the user's cache directory. An entry is written to a
temporary name and moved into place, so a reader sees all of it or nothing. It carries a hash of its
name and its content, so a damaged or exchanged one is found out and made again. A folder or an
entry that another user owns or may write to is not used. The cache may be deleted at any time.

KINETREE_CACHE names another folder; an empty KINETREE_CACHE turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import tempfile
import warnings
import zipfile
import zlib
from functools import cache
from pathlib import Path

import kinetree
from kinetree.errors import CacheError, CacheWarning

MAGIC = b"kinetree\x02"
OTHERS_WRITE = 0o022
_NAME = re.compile(r"[0-9a-f]{64}\Z")


def folder() -> Path | None:
    """Where entries are kept, or None. If nobody turned the cache off, a warning says why."""
    path, problem = judge()
    if problem:
        _warn(problem)
    return path


def judge() -> tuple[Path | None, str]:
    """Where entries are kept, or None and the reason; no reason if the cache is turned off."""
    named = os.environ.get("KINETREE_CACHE")
    if named == "":
        return None, ""
    try:
        path = Path(named) if named else _user_folder() / "kinetree"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = _reason_for_distrust(path.stat())
    except OSError as e:
        return None, str(e)
    except RuntimeError:
        return None, "there is no home directory"
    return (None, f"{path}: {reason}") if reason else (path, "")


def _reason_for_distrust(status: os.stat_result) -> str:
    """Why others could have put code into a folder or file; empty if they could not."""
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return f"it belongs to user {status.st_uid} and not to {os.getuid()}, who runs this"
    if status.st_mode & OTHERS_WRITE:
        return "others may write to it; 'chmod go-w' on it makes it private"
    return ""


@cache
def _warn(reason: str) -> None:
    """Say why there is no cache, once a process."""
    warnings.warn(
        f"the disk cache is not used, and every process compiles anew. {reason}. KINETREE_CACHE "
        "names another folder, or none if it is empty",
        CacheWarning,
        stacklevel=2,
    )


def _user_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def key(*parts: str) -> str:
    """The name of an entry, from everything its content depends on."""
    return hashlib.sha256("\0".join((_sources(), *parts)).encode()).hexdigest()


@cache
def _sources() -> str:
    """A hash of Kinetree's own source, so that no entry outlives the code that made it."""
    h = hashlib.sha256()
    root = Path(kinetree.__file__).parent
    for path in sorted(root.rglob("*.py")):
        h.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return h.hexdigest()


def load(name: str) -> bytes | None:
    """The content of an entry; None if there is none, or if it is damaged or not to be trusted."""
    where = folder()
    if where is None:
        return None
    try:
        with (where / name).open("rb") as file:
            if _reason_for_distrust(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    head, content = data[: len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    return content if head == _head(name, content) else None


def save(name: str, content: bytes) -> None:
    """Keep an entry; a cache that cannot be written to is no error."""
    where = folder()
    if where is None:
        return
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=where, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(name, content) + content)
            os.replace(temporary, where / name)
        except BaseException:
            os.unlink(temporary)
            raise


def _head(name: str, content: bytes) -> bytes:
    """What stands before the content of an entry."""
    return MAGIC + hashlib.sha256(name.encode() + b"\0" + content).digest()


def usage() -> tuple[int, int]:
    """How many entries there are, and how many bytes they take. Their content is not read."""
    where = folder()
    if where is None:
        return 0, 0
    with os.scandir(where) as files:
        sizes = [file.stat().st_size for file in files if _NAME.match(file.name)]
    return len(sizes), sum(sizes)


def entries() -> dict[str, bytes]:
    """All entries that can be trusted, by name."""
    where = folder()
    names = [] if where is None else sorted(p.name for p in where.iterdir() if _NAME.match(p.name))
    return {name: content for name in names if (content := load(name)) is not None}


def clear() -> int:
    """Delete all entries; how many there were."""
    where = folder()
    paths = [] if where is None else [p for p in where.iterdir() if _NAME.match(p.name)]
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def export_to(file: Path) -> int:
    """Write all entries to one file, a ZIP archive; how many there are."""
    content = entries()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, _head(name, data) + data)
    return len(content)


def import_from(file: Path) -> int:
    """Take over the entries of a file that `export_to` wrote; how many there are.

    Raises:
        CacheError: where the file is none, or an entry of it is damaged.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error):
        raise CacheError(f"{file} is not a cache that was exported, or it is damaged") from None
    for name, data in found.items():
        content = data[len(MAGIC) + 32 :]
        if not _NAME.match(name) or data[: len(MAGIC) + 32] != _head(name, content):
            raise CacheError(f"{file}: entry {name!r} is damaged; nothing was imported")
    if folder() is None:
        raise CacheError("there is no cache to import into: KINETREE_CACHE is empty or not usable")
    for name, data in found.items():
        save(name, data[len(MAGIC) + 32 :])
    return len(found)
