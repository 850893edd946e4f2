"""CSV files: read right, or refused by line and column."""

import numpy as np
import pytest

from kinetree.errors import MissingFileError, TableError
from kinetree.files.csv_file import CsvFile


@pytest.fixture
def table(tmp_path):
    def read(content, gaps=False):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        file = CsvFile(path)
        lines = list(file.lines())
        return file.header, file.numbers(lines, range(len(file.header)), gaps).tolist()

    return read


def test_comments_and_empty_lines_are_left_out_wherever_they_are(table):
    found = table("# made by hand\n\na,b\n1,2\n  # a remark, with a comma\n\n3,4\n#\n")
    assert found == (["a", "b"], [[1.0, 2.0], [3.0, 4.0]])


def test_a_byte_order_mark_quotes_and_all_line_ends_are_understood(table):
    assert table(b'\xef\xbb\xbfa,"b,c"\r\n1,"2"\r3,4\n') == (["a", "b,c"], [[1.0, 2.0], [3.0, 4.0]])


def test_empty_fields_are_gaps_or_errors(table):
    _, numbers = table("a,b\n1,\n ,2\n", gaps=True)
    assert np.array_equal(numbers, [[1.0, np.nan], [np.nan, 2.0]], equal_nan=True)
    with pytest.raises(TableError, match=r"t\.csv:2: '' in column 'b' is not a number"):
        table("a,b\n1,\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"# only a remark\n", "is empty"),
        (b"1,2\n3,4\n", r"t\.csv:1: expected column names"),
        (b"a,b\n1,2 # a remark\n", r"t\.csv:2: '2 # a remark' in column 'b' is not a number"),
        (b"a,b,a\n1,2,3\n", "columns 1 and 3 are both named 'a'"),
        (b"a,b\n1,000,2\n", r"t\.csv:2: 3 fields; the first line has 2"),
        (b"a,b\n1\n", r"t\.csv:2: 1 fields; the first line has 2"),
        (b'a,b\n1,"2\n3",4\n', r"t\.csv:2: .*a quoted field must end in its own line"),
        (b'a,b\n1,2"x,"3\n', r"t\.csv:2: "),
        (b"a,b\n1,\xe9\n", "is not text in UTF-8: it has the byte 0xe9"),
        ("a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
        (b"a,b\n1,1_000\n", "'1_000' in column 'b' is not a number"),
        ("a,b\n1,٣\n".encode(), "in column 'b' is not a number"),
        (b"a,b\n1,0\x00\n", "in column 'b' is not a number"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(table, content, message):
    with pytest.raises(TableError, match=message):
        table(content)


def test_a_field_that_is_too_long_is_an_error_of_ours(table):
    with pytest.raises(TableError, match=r"t\.csv:2: "):
        table('a,b\n1,"' + "0" * 200_000 + '"\n')


def test_files_that_are_none_are_said(tmp_path):
    with pytest.raises(MissingFileError, match="there is no such file"):
        CsvFile(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is not a file"):
        CsvFile(tmp_path)
