"""Parquet: columns of numbers in Apache's format, read some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kinetree._optional import optional
from kinetree.errors import TableError
from kinetree.files.npz import NUMBERS
from kinetree.files.parsing import check_names, existing_file, parsing

KIND = "a Parquet file"


class ParquetFile:
    """A Parquet file whose metadata were read.

    path: of the file.
    header: the names of its columns.
    rows: how many.
    metadata: of its schema, by name.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path)
        with parsing(self.path, KIND):
            # pre_buffer would read the whole file
            self._file = parquet().ParquetFile(self.path, pre_buffer=False)
            self.header = [str(name) for name in self._file.schema_arrow.names]
            self.rows = int(self._file.metadata.num_rows)
            self.metadata = dict(self._file.schema_arrow.metadata or {})
        check_names(self.path, self.header)

    def pieces(
        self, names: Sequence[str], rows: int, first: int = 0, checked: bool = True
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Columns of numbers, (rows,) each, piece after piece.

        Arguments:
            names: of columns.
            rows: of a piece; the last may have fewer.
            first: how many to skip.
            checked: whether empty cells and other types than numbers are errors. If not, empty
                cells are NaN, and other types are what pyarrow makes of them.
        """
        with parsing(self.path, KIND):
            skip, groups = self._groups(first)
            batches = self._file.iter_batches(
                batch_size=min(rows, max(self.rows, 1)), row_groups=groups, columns=list(names)
            )
            count = first
            for piece in _regrouped(batches, rows, skip):
                count += len(piece)
                yield {name: self._column(piece, name, checked) for name in names}

        if count != self.rows:
            raise TableError(f"{self.path} is damaged: it has {count} rows, not {self.rows}")

    def _groups(self, first: int) -> tuple[int, list[int]]:
        """The row groups from a row on, and how many rows of the first of them to skip."""
        count = self._file.metadata.num_row_groups
        for k in range(count):
            inside = self._file.metadata.row_group(k).num_rows
            if first < inside:
                return first, list(range(k, count))
            first -= inside
        return 0, []

    def _column(self, piece: Any, name: str, checked: bool) -> NDArray[Any]:
        column = piece[name]
        if not checked:
            return column.to_numpy()
        if column.null_count:
            raise TableError(f"{self.path}: column {name!r} has empty cells; numbers are expected")
        values = column.to_numpy()
        if values.dtype.kind not in NUMBERS:
            raise TableError(
                f"{self.path}: column {name!r} is of type {column.type}; numbers are expected"
            )
        return values


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


def parquet() -> Any:
    """The module pyarrow.parquet, or an error that says how to install it."""
    return optional("pyarrow.parquet", "a Parquet file", "or use .csv or .npz")
