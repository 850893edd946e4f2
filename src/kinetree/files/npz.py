"""NPZ: arrays of NumPy in a ZIP archive, read whole or some numbers at a time."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TableError
from kinetree.files.parsing import check_names, existing_file, parsing
from kinetree.files.zip_file import opened_member, opened_zip, read_exactly

KIND = "an NPZ file of numbers"
HINT = "; numpy.savez writes such files"
CHUNK = 1 << 20
"""Bytes that are skipped at once."""
NUMBERS = "fiub"
"""Kinds of types: floating point, integers with and without sign, and booleans."""


class Stored(NamedTuple):
    """An array in an archive, by its header.

    shape, dtype: of the array.
    fortran: whether its first index runs fastest.
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]


class NpzFile:
    """An NPZ file whose headers were read, each checked against the size of its array.

    path: of the file.
    arrays: what it has, by name.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path)
        self.arrays: dict[str, Stored] = {}
        self._members: dict[str, zipfile.ZipInfo] = {}
        with parsing(self.path, KIND, hint=HINT), opened_zip(self.path) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
            names = [m.filename.removesuffix(".npy") for m in members]
            check_names(self.path, names, "array")
            for name, member in zip(names, members, strict=True):
                with opened_member(archive, member) as file:
                    self.arrays[name] = self._checked(name, file, member.file_size)
                self._members[name] = member

    def read(self, name: str) -> NDArray[Any]:
        """A whole array.

        Arguments:
            name: one of `arrays`.
        """
        shape, fortran, dtype = self.arrays[name]
        with (
            parsing(self.path, KIND, hint=HINT),
            opened_zip(self.path) as archive,
            opened_member(archive, self._members[name]) as file,
        ):
            _read_header(file)
            data = read_exactly(file, math.prod(shape) * dtype.itemsize)
            array = np.frombuffer(bytearray(data), dtype)
            return array.reshape(shape, order="F" if fortran else "C")

    def pieces(self, name: str, count: int, first: int) -> Iterator[NDArray[Any]]:
        """Some numbers of an array at a time, in its order, as float64.

        Arguments:
            name: one of `arrays`.
            count: numbers of a piece; the last may have fewer.
            first: how many to skip.
        """
        shape, fortran, dtype = self.arrays[name]
        if (fortran and len(shape) > 1) or dtype.kind not in NUMBERS:
            raise TableError(
                f"{self.path}: {name} is of type {dtype} in "
                f"{'Fortran' if fortran else 'C'} order; numbers in C order are expected"
            )
        with (
            parsing(self.path, KIND, hint=HINT),
            opened_zip(self.path) as archive,
            opened_member(archive, self._members[name]) as file,
        ):
            _read_header(file)
            _skip(file, first * dtype.itemsize)
            for start in range(first, math.prod(shape), count):
                size = min(count, math.prod(shape) - start) * dtype.itemsize
                data = np.frombuffer(read_exactly(file, size), dtype)
                yield data.astype(np.float64, copy=False)

    def _checked(self, name: str, file: IO[bytes], size: int) -> Stored:
        found = _read_header(file)
        if found.dtype.hasobject:
            raise TableError(f"{self.path}: {name} contains Python objects; numbers are expected")
        expected, actual = math.prod(found.shape) * found.dtype.itemsize, size - file.tell()
        if min(found.shape, default=0) < 0 or expected != actual:
            raise TableError(
                f"{self.path}: {name} is damaged: shape {found.shape} of type {found.dtype} does "
                f"not fit its {actual} bytes"
            )
        return found


def read_npz(
    path: str | Path, needed: Sequence[str] = (), others: Sequence[str] | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays of numbers in an NPZ file, by name.

    Arguments:
        path: of the file.
        needed: names without which the file is refused.
        others: further names that are read if they are there; everything if None.
    """
    file = NpzFile(path)
    for name in needed:
        if name not in file.arrays:
            have = ", ".join(file.arrays) or "none"
            raise TableError(f"{path}: array {name!r} is missing; it has {have}")
    wanted = file.arrays if others is None else [*needed, *others]
    found = {name: file.read(name) for name in wanted if name in file.arrays}
    for name, array in found.items():
        if array.dtype.kind not in NUMBERS:
            raise TableError(
                f"{path}: array {name!r} is of type {array.dtype}; numbers are expected"
            )
    return found


def _read_header(file: IO[bytes]) -> Stored:
    """The header of an array, which starts here; its numbers follow."""
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    version = np.lib.format.read_magic(file)
    if version not in readers:
        raise ValueError(f"version {version} of NumPy's format is not known")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Stored(*readers[version](file))


def _skip(file: IO[bytes], count: int) -> None:
    while count:
        count -= len(read_exactly(file, min(count, CHUNK)))
