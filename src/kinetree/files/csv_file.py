"""CSV: lines of numbers with commas, in UTF-8; the first has the names of the columns.

Empty lines and lines that start with # are left out. Every other line has as many fields as the
first. A field may be quoted, but it ends in its own line.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TableError
from kinetree.files.parsing import check_names, existing_file

Lines = Sequence[tuple[int, str]]
"""Lines of a file with their numbers, starting at 1."""


class CsvFile:
    """A CSV file whose first line was read.

    path: of the file.
    header: the names of its columns.
    bad: why a line is bad, by its number; empty until `set_aside` looked for such lines.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path)
        first = next(self._all(), None)
        if first is None:
            raise TableError(f"{self.path} is empty: expected a first line with column names")
        self._check_separator(first[1])
        self.header = [name.strip() for name in self._fields(*first)]
        if all(map(_is_number, self.header)):
            raise TableError(
                f"{self.path}:{first[0]}: expected column names in the first line that is not a "
                "comment, got numbers"
            )
        check_names(self.path, self.header)
        self.bad: dict[int, str] = {}
        self._keep = False

    def _check_separator(self, line: str) -> None:
        """Refuse a first line that has other separators and no comma; quoted names have no say."""
        plain = re.sub(r'"[^"]*"', "", line)
        for separator, what in ((";", "semicolons"), ("\t", "tabs")):
            if separator in plain and "," not in plain:
                raise TableError(
                    f"{self.path}: fields are separated by {what}; commas are expected, and points "
                    "in numbers"
                )

    def set_aside(self, columns: Sequence[int], keep: bool) -> None:
        """Find lines with too few or too many fields, or without numbers in some columns.

        Arguments:
            columns: their places, from 0 on.
            keep: whether such lines stay, with NaN in every column; they are left out if not.
        """
        self.bad, self._keep = dict(self._bad(columns)), keep

    def _bad(self, columns: Sequence[int]) -> Iterator[tuple[int, str]]:
        for number, line in itertools.islice(self._all(), 1, None):
            try:
                self._check_count(number, line)
                self.numbers([(number, line)], columns)
            except TableError as e:
                yield number, str(e)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with numbers; one of another length than the first is an error."""
        for number, line in itertools.islice(self._all(), 1, None):
            if number not in self.bad:
                self._check_count(number, line)
                yield number, line
            elif self._keep:
                yield number, ",".join(["nan"] * len(self.header))

    def _check_count(self, number: int, line: str) -> None:
        expected, plain = len(self.header), '"' not in line
        count = line.count(",") + 1 if plain else len(self._fields(number, line))
        if count != expected:
            raise TableError(f"{self.path}:{number}: {count} fields; the first line has {expected}")

    def numbers(self, lines: Lines, columns: Sequence[int], gaps: bool = False) -> NDArray[Any]:
        """The numbers of some columns, (lines, columns).

        Arguments:
            lines: as `lines` gives them.
            columns: their places, from 0 on.
            gaps: whether empty fields are NaN; an error if not.
        """
        try:
            return _parsed([text for _, text in lines], columns)
        except ValueError:
            pass  # one by one, to name the line
        return np.concatenate([self._row(number, text, columns, gaps) for number, text in lines])

    def _row(self, number: int, text: str, columns: Sequence[int], gaps: bool) -> NDArray[Any]:
        fields = self._fields(number, text)
        chosen = [fields[k].strip() for k in columns]
        if gaps:
            chosen = [field or "nan" for field in chosen]
        for k, field in zip(columns, chosen, strict=True):
            if not _is_number(field):
                raise TableError(
                    f"{self.path}:{number}: {field!r} in column {self.header[k]!r} is not a number"
                )
        return np.array([list(map(float, chosen))])

    def _all(self) -> Iterator[tuple[int, str]]:
        """All lines that are neither empty nor comments."""
        try:
            with self.path.open(encoding="utf-8-sig") as file:
                for number, line in enumerate(file, 1):
                    text = line.lstrip()
                    if text and text[0] != "#":
                        yield number, text
        except UnicodeDecodeError as e:
            raise TableError(
                f"{self.path} is not text in UTF-8: it has the byte {e.object[e.start]:#04x} "
                f"({e.reason})"
            ) from None

    def _fields(self, number: int, line: str) -> list[str]:
        try:
            return next(csv.reader([line], strict=True), [])
        except csv.Error as e:
            raise TableError(
                f"{self.path}:{number}: {e}; a quoted field must end in its own line"
                if '"' in line
                else f"{self.path}:{number}: {e}"
            ) from None


def _parsed(texts: Sequence[str], columns: Sequence[int]) -> NDArray[Any]:
    found = np.loadtxt(texts, delimiter=",", comments=None, usecols=columns, ndmin=2, quotechar='"')
    if found.shape != (len(texts), len(columns)):  # of a quote that NumPy sees in another place
        raise ValueError
    return found


def _is_number(field: str) -> bool:
    """Whether NumPy takes a field for a number, too: float alone takes 1_000 and other digits."""
    try:
        float(field)
    except ValueError:
        return False
    return field.isascii() and "_" not in field
