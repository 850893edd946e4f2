"""Members of ZIP archives, whose sizes and compression are checked before anything is unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions whose decompressors give no more bytes than they are asked for."""
ENCRYPTED = 0x1


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive to read; its errors are `zipfile`'s and the system's.

    Arguments:
        path: of the file.
    """
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        yield archive


@contextmanager
def opened_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """A member of an archive, to read.

    Arguments:
        archive: to which it belongs.
        member: one of `archive.infolist()`.
    """
    if member.flag_bits & ENCRYPTED:
        raise zipfile.BadZipFile(f"{member.filename!r} is encrypted")
    if member.compress_type not in METHODS:
        raise zipfile.BadZipFile(
            f"{member.filename!r} is compressed by a method other than deflate"
        )
    with archive.open(member) as file:
        yield file


def read_exactly(file: IO[bytes], count: int) -> bytes:
    """The next bytes of a file; an EOFError if there are fewer.

    Arguments:
        count: of bytes; no more are unpacked at once.
    """
    data = file.read(count)
    if len(data) != count:
        raise EOFError(f"it ends {count - len(data)} bytes too early")
    return data
