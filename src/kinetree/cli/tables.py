"""Tables of numbers in files: CSV, NPZ and Parquet, read and written a piece at a time.

A piece of a result is a file of its own, in the format of the whole, so that a job can go on where
it was stopped. `join` makes one file of the pieces.
"""

from __future__ import annotations

import csv
import itertools
import math
import shutil
import warnings
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.cli.columns import Operand, find_columns
from kinetree.errors import KinetreeError, MissingExtraError, MissingFileError
from kinetree.typing import Array

Arrays = dict[str, Array]
CHUNK = 1 << 20
"""Bytes or rows that are read at once where a file is only counted or copied."""


class Table(ABC):
    """A file with one row a state.

    rows: how many.
    """

    rows: int

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
        self.path = path
        with path.open(newline="") as file:
            self.header = [name.strip() for name in next(csv.reader(file), [])]
        if not self.header:
            raise KinetreeError(
                f"{path} is empty: a first line with the names of columns is expected"
            )
        self.rows = sum(1 for _ in self._lines())

    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        places = {name: k for k, name in enumerate(self.header)}
        used = {
            x.name: [places[name] for name in find_columns(x, self.header, str(self.path))]
            for x in wanted
        }
        order = [k for columns in used.values() for k in columns]
        lines = itertools.islice(self._lines(), first, None)
        while piece := list(itertools.islice(lines, rows)):
            numbers = self._numbers(piece, order)
            ends = np.cumsum([len(columns) for columns in used.values()])[:-1]
            parts = np.split(numbers, ends, axis=1)
            yield {
                x.name: part.reshape(-1, *x.shape) for x, part in zip(wanted, parts, strict=True)
            }

    def _lines(self) -> Iterator[tuple[int, str]]:
        """The lines after the first that are not empty, with their numbers."""
        with self.path.open() as file:
            next(file)
            for number, line in enumerate(file, start=2):
                if line.strip():
                    yield number, line

    def _numbers(self, lines: Sequence[tuple[int, str]], columns: Sequence[int]) -> Array:
        texts = [text for _, text in lines]
        try:
            return np.loadtxt(texts, delimiter=",", usecols=columns, ndmin=2, quotechar='"')
        except ValueError:
            pass
        for number, text in lines:  # which one is it?
            try:
                np.loadtxt([text], delimiter=",", usecols=columns, ndmin=2, quotechar='"')
            except ValueError as e:
                reason = str(e).partition(" at row")[0]
                raise KinetreeError(
                    f"{self.path}:{number}: {reason}; numbers are expected"
                ) from None
        raise KinetreeError(f"{self.path}: the lines have different numbers of columns")


class Npz(Table):
    """Arrays of NumPy by name, whose last axes are an operand's and whose first ones are rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                names = [n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")]
                self.shapes = {name: self._header(archive, name)[0] for name in names}
        except (zipfile.BadZipFile, ValueError) as e:
            raise KinetreeError(f"{path} is not an NPZ file: {e}") from None
        self.rows = 0

    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        self.rows = self.count(wanted)
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(self.path))
            files = {}
            for x in wanted:
                _, fortran, dtype = self._header(archive, x.name)
                if fortran or dtype.kind not in "fiub":
                    raise KinetreeError(
                        f"{self.path}: {x.name} is of type {dtype} in "
                        f"{'Fortran' if fortran else 'C'} order; numbers in C order are expected"
                    )
                file = stack.enter_context(archive.open(f"{x.name}.npy"))
                _read_header(file)
                _skip(file, first * math.prod(x.shape) * dtype.itemsize)
                files[x] = file, dtype
            for start in range(first, self.rows, rows):
                count = min(rows, self.rows - start)
                yield {
                    x.name: _read(file, dtype, (count, *x.shape))
                    for x, (file, dtype) in files.items()
                }

    def count(self, wanted: Sequence[Operand]) -> int:
        """How many rows the arrays of operands have, which must be as many in each."""
        counts = {x.name: self._count(x) for x in wanted}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{name} {n}" for name, n in counts.items())
            raise KinetreeError(f"{self.path}: the arrays have different numbers of rows: {listed}")
        return next(iter(counts.values()), 0)

    def _count(self, x: Operand) -> int:
        shape = self.shapes.get(x.name)
        if shape is None:
            have = ", ".join(self.shapes)
            raise KinetreeError(
                f"{self.path}: array {x.name!r} is missing; it has {have}{x.instead}"
            )
        batch = shape[: len(shape) - len(x.shape)]
        if (*batch, *x.shape) != shape:
            expected = ", ".join(("rows", *map(str, x.shape)))
            raise KinetreeError(
                f"{self.path}: {x.name} has shape {shape}, expected is ({expected})"
            )
        return math.prod(batch)

    @staticmethod
    def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        with archive.open(f"{name}.npy") as file:
            return _read_header(file)


class Parquet(Table):
    """Columns of numbers, in Apache's format."""

    def __init__(self, path: Path) -> None:
        arrow = parquet()
        self.path = path
        try:
            self.file = arrow.ParquetFile(path, pre_buffer=False)  # it would read the whole file
        except OSError:
            raise
        except Exception as e:  # pyarrow's own
            raise KinetreeError(f"{path} is not a Parquet file: {e}") from None
        self.rows = self.file.metadata.num_rows
        self.header = list(self.file.schema_arrow.names)

    def pieces(self, wanted: Sequence[Operand], rows: int, first: int) -> Iterator[Arrays]:
        used = {x: find_columns(x, self.header, str(self.path)) for x in wanted}
        names = [name for columns in used.values() for name in columns]
        skip, groups = self._groups(first)
        batches = self.file.iter_batches(batch_size=rows, row_groups=groups, columns=names)
        for piece in _regrouped(batches, rows, skip):
            yield {
                x.name: np.stack([self._column(piece, name) for name in columns], axis=-1).reshape(
                    -1, *x.shape
                )
                for x, columns in used.items()
            }

    def _groups(self, first: int) -> tuple[int, list[int]]:
        """The row groups from a row on, and how many rows of the first of them to skip."""
        count = self.file.metadata.num_row_groups
        for k in range(count):
            inside = self.file.metadata.row_group(k).num_rows
            if first < inside:
                return first, list(range(k, count))
            first -= inside
        return 0, []

    def _column(self, piece: Any, name: str) -> Array:
        column = piece[name]
        if column.null_count:
            raise KinetreeError(
                f"{self.path}: column {name!r} has empty cells; numbers are expected"
            )
        values = column.to_numpy()
        if values.dtype.kind not in "fiub":
            raise KinetreeError(
                f"{self.path}: column {name!r} is of type {column.type}; numbers are expected"
            )
        return values.astype(np.float64, copy=False)


def _regrouped(batches: Iterator[Any], rows: int, skip: int) -> Iterator[Any]:
    """Tables of a given number of rows, from batches of fewer."""
    import pyarrow

    waiting: list[Any] = []
    count = 0
    for batch in batches:
        rest = batch.slice(min(skip, len(batch)))
        skip -= min(skip, len(batch))
        while count + len(rest) >= rows:
            waiting.append(rest.slice(0, rows - count))
            rest = rest.slice(rows - count)
            yield pyarrow.Table.from_batches(waiting)
            waiting, count = [], 0
        if len(rest):
            waiting.append(rest)
            count += len(rest)
    if waiting:
        yield pyarrow.Table.from_batches(waiting)


READERS: dict[str, Callable[[Path], Table]] = {".csv": Csv, ".npz": Npz, ".parquet": Parquet}


def open_table(path: Path) -> Table:
    """The table of a file, by the ending of its name.

    Arguments:
        path: ends with .csv, .npz or .parquet.
    """
    reader = READERS[checked_suffix(path)]
    if not path.is_file():
        raise MissingFileError(f"{path}: there is no such file")
    return reader(path)


def checked_suffix(path: Path) -> str:
    """The ending of a file's name, if tables can have it."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise KinetreeError(f"{path}: a name that ends with {', '.join(READERS)} is expected")
    return suffix


# writing


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
                file.write(np.ascontiguousarray(arrays[x.name], np.float64).tobytes())
        return
    table = np.concatenate(
        [arrays[x.name].reshape(len(arrays[x.name]), -1) for x in results], axis=1
    )
    if path.suffix == ".csv":
        path.write_text("".join(",".join(map(repr, row)) + "\n" for row in table.tolist()))
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
    with path.open("wb") as whole:
        header = ",".join(name for x in results for name in x.columns) + "\n"
        whole.write(header.encode())
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


def parquet() -> Any:
    """The module pyarrow.parquet, or an error that says how to install it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet files need pyarrow, which is not installed: run pip install "
            "'kinetree[parquet]', or use .csv or .npz"
        ) from None
    return pyarrow.parquet


# NumPy's format


def _read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether the order is Fortran's, and the type of the array that follows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if np.lib.format.read_magic(file) == (1, 0):
            return np.lib.format.read_array_header_1_0(file)
        return np.lib.format.read_array_header_2_0(file)


def _skip(file: Any, count: int) -> None:
    while count:
        count -= len(file.read(min(count, CHUNK)))


def _read(file: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    data = file.read(math.prod(shape) * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape).astype(np.float64, copy=False)
