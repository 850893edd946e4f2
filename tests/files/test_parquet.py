"""Parquet files: read right, or refused."""

import numpy as np
import pytest

from kinetree.errors import TableError
from kinetree.files.parquet import ParquetFile

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(path, arrays, names):
    pq.write_table(pyarrow.Table.from_arrays([pyarrow.array(x) for x in arrays], names), path)
    return path


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = write(tmp_path / "a.parquet", [[1.0], [2.0], [3.0]], ["a", "b", "a"])
    with pytest.raises(TableError, match="columns 1 and 3 are both named 'a'"):
        ParquetFile(path)


def test_text_and_gaps_are_refused_by_the_columns_name(tmp_path):
    path = write(tmp_path / "a.parquet", [["x", "y"], [1.0, None]], ["text", "gap"])
    file = ParquetFile(path)
    for name, message in (("text", "is of type string"), ("gap", "has empty cells")):
        with pytest.raises(TableError, match=message):
            list(file.pieces([name], 2))
    (piece,) = file.pieces(["gap"], 2, checked=False)
    assert np.isnan(piece["gap"]).tolist() == [False, True]


def test_damaged_files_are_errors_of_ours(tmp_path):
    path = write(tmp_path / "a.parquet", [np.arange(100.0)], ["a"])
    data = path.read_bytes()
    for damaged in (b"", b"text", data[:-1], data[:4] + data[5:], b"PAR1" + b"\xff" * 40 + b"PAR1"):
        path.write_bytes(damaged)
        with pytest.raises(TableError, match=r"a\.parquet is not a Parquet file"):
            list(ParquetFile(path).pieces(["a"], 100))
