"""Tables of numbers in files: CSV, NPZ and Parquet, read and written a piece at a time.

A piece of a result is a file of its own, in the format of the whole, so that a job can go on where
it was stopped. `join` makes one file of the pieces.
"""

from __future__ import annotations

import csv
import itertools
import math
import shutil
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from kinetree.cli.columns import Operand, find_columns
from kinetree.errors import KinetreeError
from kinetree.files.csv_file import CsvFile
from kinetree.files.npz import NpzFile
from kinetree.files.parquet import ParquetFile, parquet
from kinetree.typing import Array

Arrays = dict[Operand, Array]
CHUNK = 1 << 20
"""Bytes that are copied at once."""


class Table(ABC):
    """A file with one row a state.

    renamed: the names that columns have in the file, by what they are.
    """

    renamed: Mapping[str, str]

    @abstractmethod
    def count(self, wanted: Sequence[Operand]) -> int:
        """How many rows there are of what is read."""

    @abstractmethod
    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        """The arrays of operands, (rows, *shape) each, piece after piece.

        Arguments:
            wanted: what is read.
            rows: of a piece; the last may have fewer.
            first: the number of rows to skip.
        """


class Csv(Table):
    """Text with commas; the first line has the names of the columns."""

    def __init__(self, path: Path) -> None:
        self.file = CsvFile(path)

    def set_aside(self, wanted: Sequence[Operand], keep: bool) -> dict[int, str]:
        """Find bad lines, which then are left out, or kept with NaN.

        Arguments:
            wanted: what is read of a line.
            keep: whether they are kept.

        Returns:
            Why each is bad, by its number.
        """
        self.file.set_aside([k for columns in self._places(wanted) for k in columns], keep)
        return self.file.bad

    def count(self, wanted: Sequence[Operand]) -> int:
        self._places(wanted)  # missing columns are said before anything is read
        return sum(1 for _ in self.file.lines())

    def _places(self, wanted: Sequence[Operand]) -> list[list[int]]:
        """The places of the columns of each operand."""
        places = {name: k for k, name in enumerate(self.file.header)}
        path = str(self.file.path)
        return [
            [places[name] for name in find_columns(x, self.file.header, path, self.renamed)]
            for x in wanted
        ]

    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        used = self._places(wanted)
        order = [k for columns in used for k in columns]
        ends = np.cumsum([len(columns) for columns in used])[:-1]
        lines = itertools.islice(self.file.lines(), first, None)
        while piece := list(itertools.islice(lines, rows)):
            parts = np.split(self.file.numbers(piece, order), ends, axis=1)
            yield {x: part.reshape(-1, *x.shape) for x, part in zip(wanted, parts, strict=True)}


class Npz(Table):
    """Arrays of NumPy by name, whose last axes are an operand's and whose first ones are rows."""

    def __init__(self, path: Path) -> None:
        self.file = NpzFile(path)

    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        self.count(wanted)
        sizes = [math.prod(x.shape) for x in wanted]
        parts = [
            self.file.pieces(self.renamed.get(x.name, x.name), rows * size, first * size)
            for x, size in zip(wanted, sizes, strict=True)
        ]
        for piece in zip(*parts, strict=True):
            yield {x: part.reshape(-1, *x.shape) for x, part in zip(wanted, piece, strict=True)}

    def count(self, wanted: Sequence[Operand]) -> int:
        """How many rows the arrays of operands have, which must be as many in each."""
        counts = [(x.name, self._count(x)) for x in wanted]
        if len({n for _, n in counts}) > 1:
            listed = ", ".join(f"{name} {n}" for name, n in counts)
            raise KinetreeError(
                f"{self.file.path}: the arrays have different numbers of rows: {listed}"
            )
        return counts[0][1] if counts else 0

    def _count(self, x: Operand) -> int:
        name = self.renamed.get(x.name, x.name)
        stored = self.file.arrays.get(name)
        if stored is None:
            have = ", ".join(self.file.arrays)
            raise KinetreeError(
                f"{self.file.path}: array {name!r} is missing; the file has {have}{x.instead}"
            )
        batch = stored.shape[: len(stored.shape) - len(x.shape)]
        if (*batch, *x.shape) != stored.shape:
            expected = ", ".join(("rows", *map(str, x.shape)))
            raise KinetreeError(
                f"{self.file.path}: {x.name} has shape {stored.shape}, expected ({expected})"
            )
        return math.prod(batch)


class Parquet(Table):
    """Columns of numbers, in Apache's format."""

    def __init__(self, path: Path) -> None:
        self.file = ParquetFile(path)

    def count(self, wanted: Sequence[Operand]) -> int:
        return self.file.rows

    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        header, path = self.file.header, str(self.file.path)
        used = {x: find_columns(x, header, path, self.renamed) for x in wanted}
        names = list(dict.fromkeys(name for columns in used.values() for name in columns))
        for piece in self.file.pieces(names, rows, first):
            yield {
                x: np.stack([piece[name] for name in columns], axis=-1, dtype=np.float64).reshape(
                    -1, *x.shape
                )
                for x, columns in used.items()
            }


READERS: dict[str, Callable[[Path], Table]] = {".csv": Csv, ".npz": Npz, ".parquet": Parquet}


def open_table(path: Path, renamed: Mapping[str, str] | None = None) -> Table:
    """The table of a file, by the ending of its name.

    Arguments:
        path: ends with .csv, .npz or .parquet.
        renamed: the names that columns, or arrays of an NPZ file, have in it, by what they are.
    """
    table = READERS[checked_suffix(path)](path)
    table.renamed = renamed or {}
    return table


def checked_suffix(path: Path) -> str:
    """The ending of a file's name, if tables can have it."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise KinetreeError(f"{path}: a name that ends with {', '.join(READERS)} is expected")
    return suffix


# writing


def output_names(path: Path, x: Operand) -> tuple[str, ...]:
    """The names that a result has in a file.

    Arguments:
        path: of the file.
        x: the result.
    """
    return (x.name, f"{x.name}_columns") if path.suffix.lower() == ".npz" else x.columns


def write_piece(path: Path, results: Sequence[Operand], arrays: Arrays) -> None:
    """Write one piece of a result.

    Arguments:
        path: ends as the whole file does.
        results: what the arrays are.
        arrays: (rows, *shape) each.
    """
    if path.suffix == ".npz":
        with path.open("wb") as file:
            for x in results:
                file.write(np.ascontiguousarray(arrays[x], np.float64).tobytes())
        return
    table = np.concatenate([arrays[x].reshape(len(arrays[x]), -1) for x in results], axis=1)
    if path.suffix == ".csv":
        text = "".join(",".join(map(repr, row)) + "\n" for row in table.tolist())
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    import pyarrow

    names = [name for x in results for name in x.columns]
    columns = dict(zip(names, np.ascontiguousarray(table.T), strict=True))
    parquet().write_table(
        pyarrow.table(columns),
        path,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
    )


def join(
    path: Path, results: Sequence[Operand], pieces: Sequence[Path], counts: Sequence[int]
) -> None:
    """Write a file from its pieces.

    Arguments:
        path: of the whole file.
        results: as in `write_piece`.
        pieces: in order.
        counts: the rows of each.
    """
    JOIN[path.suffix.lower()](path, results, pieces, counts)


def _join_csv(
    path: Path, results: Sequence[Operand], pieces: Sequence[Path], counts: Sequence[int]
) -> None:
    with path.open("w", encoding="utf-8", newline="") as whole:
        names = [name for x in results for name in x.columns]
        csv.writer(whole, lineterminator="\n").writerow(names)
    with path.open("ab") as whole:
        for piece in pieces:
            with piece.open("rb") as part:
                shutil.copyfileobj(part, whole, CHUNK)


def _join_npz(
    path: Path, results: Sequence[Operand], pieces: Sequence[Path], counts: Sequence[int]
) -> None:
    """Each array with its header, then the names of its numbers."""
    sizes = [math.prod(x.shape) for x in results]
    rows = sum(counts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for k, x in enumerate(results):
            with archive.open(f"{x.name}.npy", "w", force_zip64=True) as member:
                header = {"descr": "<f8", "fortran_order": False, "shape": (rows, *x.shape)}
                np.lib.format.write_array_header_1_0(member, header)
                for piece, count in zip(pieces, counts, strict=True):
                    with piece.open("rb") as part:
                        part.seek(8 * count * sum(sizes[:k]))
                        member.write(part.read(8 * count * sizes[k]))
        for x in results:
            with archive.open(f"{x.name}_columns.npy", "w") as member:
                np.lib.format.write_array(member, np.array(x.columns))


def _join_parquet(
    path: Path, results: Sequence[Operand], pieces: Sequence[Path], counts: Sequence[int]
) -> None:
    arrow = parquet()
    with arrow.ParquetWriter(path, arrow.read_schema(pieces[0]), use_dictionary=False) as whole:
        for piece in pieces:
            whole.write_table(arrow.read_table(piece))


JOIN = {".csv": _join_csv, ".npz": _join_npz, ".parquet": _join_parquet}
