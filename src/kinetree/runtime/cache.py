"""The disk cache: machine code by what it was made from.

Entries are files in a private folder under the user's cache directory. An entry is written to a
temporary name and moved into place, so a reader sees all of it or nothing, and it carries a hash
of its content, so a damaged one is found out and made again. The cache may be deleted at any time.

KINETREE_CACHE names another folder; an empty KINETREE_CACHE turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

import kinetree

MAGIC = b"kinetree\x01"


def folder() -> Path | None:
    """Where entries are kept, or None if the cache is off or the place is not to be trusted."""
    named = os.environ.get("KINETREE_CACHE")
    if named == "":
        return None
    path = Path(named) if named else _user_folder() / "kinetree"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            status = path.stat()
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                return None  # others could put code there
    except OSError:
        return None
    return path


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
    """The content of an entry, or None if there is none or it is damaged."""
    where = folder()
    if where is None:
        return None
    try:
        data = (where / name).read_bytes()
    except OSError:
        return None
    digest, content = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if not data.startswith(MAGIC) or hashlib.sha256(content).digest() != digest:
        return None
    return content


def save(name: str, content: bytes) -> None:
    """Keep an entry; a cache that cannot be written to is no error."""
    where = folder()
    if where is None:
        return
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=where, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(content).digest() + content)
            os.replace(temporary, where / name)
        except BaseException:
            os.unlink(temporary)
            raise
