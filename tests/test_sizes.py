"""How long functions and files of the library are."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest

import kinetree

ROOT = Path(kinetree.__file__).parent
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
TABLES = {"scalar/functions.py": "a row for each function, with its definition and derivatives"}
"""Files that may be longer, with the reason: tables, whose rows are read one at a time."""


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function from its `def` on, less those of its docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None and first.end_lineno is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The place of each function and method of a file, nested ones too, and its length."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", length(node)


@pytest.fixture(scope="module")
def lengths() -> dict[str, int]:
    return dict(pair for path in ROOT.rglob("*.py") for pair in functions(path))


def test_half_of_all_functions_have_at_most_seven_lines(lengths):
    assert median(lengths.values()) <= 7


def test_of_twenty_functions_nineteen_have_at_most_twenty_five_lines(lengths):
    assert quantiles(lengths.values(), n=20)[-1] <= 25


def test_no_function_has_more_lines_than_fit_on_a_screen(lengths):
    long = {place: lines for place, lines in lengths.items() if lines > LONGEST_FUNCTION}
    assert not long, long


def test_no_file_but_a_table_is_longer_than_a_few_screens():
    lines = {str(p.relative_to(ROOT)): p.read_text().count("\n") for p in ROOT.rglob("*.py")}
    long = {path for path, count in lines.items() if count > LONGEST_FILE}
    assert long == set(TABLES), {path: lines[path] for path in long ^ set(TABLES)}


def test_a_docstring_is_not_counted():
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    return 1\n'
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert length(function) == 2
