"""The disk cache: machine code by what it was made from.

Entries are files in a private folder under the user's cache directory. An entry is written to a
temporary name and moved into place, so a reader sees all of it or nothing. It carries a hash of its
name and its content, so a damaged or exchanged one is found out and made again. A folder or an
entry that another user owns or may write to is not used. The cache may be deleted at any time.

Entries together take at most KINETREE_CACHE_SIZE, such as "500 MB"; beyond it those that were used
longest ago are deleted. The time of a file's last change says when it was used, to the hour.

KINETREE_CACHE names another folder; an empty KINETREE_CACHE turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kinetree.errors import CacheError, CacheWarning

MAGIC = b"kinetree\x02"
OTHERS_WRITE = 0o022
_NAME = re.compile(r"[0-9a-f]{64}\Z")
_NEW = re.compile(r"new-")
"""Names of entries that are being written."""
SIZE = 2_000_000_000
"""Bytes that entries may take together, unless KINETREE_CACHE_SIZE says otherwise."""
UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SPARED = 0.9
"""The share of the limit that is left when entries are deleted, so that it is not done often."""
UNSEEN = 16
"""A process looks again how large the cache is after writing this part of the limit."""
HOUR, DAY = 3600.0, 86400.0
_written: dict[Path, int] = {}
"""Bytes that this process wrote to a folder since it last looked how large it is."""


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


def limit() -> int:
    """How many bytes entries may take together."""
    named = os.environ.get("KINETREE_CACHE_SIZE", "").strip()
    found = re.fullmatch(r"(\d+\.?\d*)\s*([KMGT]B)", named.upper())
    if found is None:
        if named:
            _warn_of_size(named)
        return SIZE
    return int(min(float(found[1]) * UNITS[found[2]], 2.0**62))


@cache
def _warn_of_size(named: str) -> None:
    """Say that the limit is not understood, once a process."""
    warnings.warn(
        f"KINETREE_CACHE_SIZE={named!r}: a size such as '500 MB' or '2 GB' is expected; "
        f"{SIZE / 1e9:g} GB is used",
        CacheWarning,
        stacklevel=2,
    )


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
    root = Path(__file__).parents[2]
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
            status = os.fstat(file.fileno())
            if _reason_for_distrust(status):
                return None
            data = file.read()
            if time.time() - status.st_mtime > HOUR:
                with contextlib.suppress(OSError):  # it may be on a disk that is read only
                    os.utime(where / name)
    except OSError:
        return None
    head, content = data[: len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    return content if head == _head(name, content) else None


def save(name: str, content: bytes) -> None:
    """Keep an entry; a cache that cannot be written to is no error."""
    where = folder()
    data = _head(name, content) + content
    if where is None or len(data) > limit():
        return
    import tempfile  # takes time to import

    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=where, prefix=_NEW.pattern)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, where / name)
        except BaseException:
            os.unlink(temporary)
            raise
        if where not in _written or _written[where] > limit() // UNSEEN:
            _written[where] = 0
            _delete_oldest(where)
        _written[where] += len(data)


def _delete_oldest(where: Path) -> None:
    """Delete entries that were used longest ago, if all together are larger than the limit."""
    for path, status in _files(where, _NEW):
        if time.time() - status.st_mtime > DAY:  # of a process that was killed
            path.unlink(missing_ok=True)
    found = sorted(_files(where), key=lambda file: file[1].st_mtime)
    total = sum(status.st_size for _, status in found)
    if total <= limit():
        return
    for path, status in found:
        if total <= SPARED * limit():
            return
        path.unlink(missing_ok=True)
        total -= status.st_size


def _files(where: Path, name: re.Pattern[str] = _NAME) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a folder whose names match: entries, unless told otherwise."""
    with os.scandir(where) as files:
        for file in files:
            if name.match(file.name):
                with contextlib.suppress(FileNotFoundError):  # another process deletes, too
                    yield Path(file.path), file.stat()


def _head(name: str, content: bytes) -> bytes:
    """What stands before the content of an entry."""
    return MAGIC + hashlib.sha256(name.encode() + b"\0" + content).digest()


def usage() -> tuple[int, int]:
    """How many entries there are, and how many bytes they take. Their content is not read."""
    where = folder()
    if where is None:
        return 0, 0
    sizes = [status.st_size for _, status in _files(where)]
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
    import zipfile  # rarely needed, as what follows

    from kinetree.files.atomic import complete

    content = entries()
    with complete(file) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, _head(name, data) + data)
    return len(content)


def import_from(file: Path) -> int:
    """Take over the entries of a file that `export_to` wrote; how many there are.

    Raises:
        CacheError: where the file is none, an entry of it is damaged, or they are more than the
            cache may hold.
    """
    from kinetree.files.parsing import existing_file  # rarely needed

    if folder() is None:
        raise CacheError("there is no cache to import into: KINETREE_CACHE is empty or not usable")
    existing_file(file)
    count = sum(1 for _ in _imported(file))  # before the first is kept
    for name, content in _imported(file):
        save(name, content)
    return count


def _imported(file: Path) -> Iterator[tuple[str, bytes]]:
    """The entries of an exported file, each checked."""
    from kinetree.files.parsing import parsing
    from kinetree.files.zip_file import opened_member, opened_zip, read_exactly

    with parsing(file, "a cache that was exported", CacheError), opened_zip(file) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > limit():
            raise CacheError(
                f"{file} has {size / 1e6:,.0f} MB of entries, but the cache holds "
                f"{limit() / 1e6:,.0f} MB; KINETREE_CACHE_SIZE says how much"
            )
        for member in members:
            with opened_member(archive, member) as entry:
                data = read_exactly(entry, member.file_size)
            name, content = member.filename, data[len(MAGIC) + 32 :]
            if not _NAME.match(name) or data[: len(MAGIC) + 32] != _head(name, content):
                raise CacheError(f"{file}: entry {name!r} is damaged; nothing was imported")
            yield name, content
