"""Algorithms as the papers have them: each says its source, its symbols and its cost; every
equation that it cites is in the table `tests/algorithms/equations.py`, and a line with its number
in brackets has what the equation defines."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import kinetree
from tests.algorithms.equations import EQUATIONS

ROOT = Path(kinetree.__file__).parent
ALGORITHMS = sorted((ROOT / "algorithms").glob("*.py"))
# what is no algorithm by itself
HELPERS = {"__init__.py", "tree.py", "dense.py", "blocks.py", "axes.py", "dots.py", "limited.py"}
# sources whose equations have no numbers, or of which none is cited
UNNUMBERED = (
    "Lecture 9",
    "Guenter & C. F. Rose",
    "Carpentier",
    "Singh",
    "MuJoCo",
    "Van Loan",
    "Atkeson",
    "Gautier & W. Khalil",
    "Slotine & W. Li",
    "Khatib",
    "A. Jain, Multibody graph transformations",
    "C. Ericson",
    "Baerlocher & R. Boulic",
)
NAMED = re.compile(r"[Ee]q\. ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)")
BRACKETED = re.compile(r"(?<![\w)])\((\d{1,2}(?:\.\d+)?)\)")
NUMBERED_HERE = re.compile(r"=.* {2,}\((\d+)\)$")
"""A formula of a file that has a number of its own."""


def sources(text: str) -> list[str]:
    joined = " ".join(text.split())
    return [name for name in (*EQUATIONS, *UNNUMBERED) if name in joined]


def prose(text: str):
    """The comments and the lines of docstrings, each with its whole line."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string, lines[token.start[0] - 1]
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        if documented and ast.get_docstring(node):
            docstring = node.body[0]
            yield from ((x, x) for x in lines[docstring.lineno - 1 : docstring.end_lineno])


def citations(text: str):
    """The numbers in brackets in comments and docstrings, each with its line."""
    own = {match[1] for line in text.splitlines() if (match := NUMBERED_HERE.search(line))}
    for words, line in prose(text):
        yield from ((number, line) for number in BRACKETED.findall(words) if number not in own)


def named(text: str) -> set[str]:
    """The numbers after "eq."; of a range its ends."""
    return {n for group in NAMED.findall(text) for n in re.findall(r"\d+(?:\.\d+)?", group)}


def faults(text: str) -> list[str]:
    """What is wrong about the equations that a file cites."""
    tables = [EQUATIONS[name] for name in sources(text) if name in EQUATIONS]
    found = [f"eq. {n} is not known" for n in named(text) if not any(n in t for t in tables)]
    for number, line in citations(text) if tables else ():
        rows = [table[number] for table in tables if number in table]
        if not any(re.search(pattern, line) for _, pattern in rows):
            meant = "; ".join(words for words, _ in rows) or "not known"
            found.append(f"({number}) is {meant}: {line.strip()}")
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_what_cites_an_equation_has_what_it_states(path):
    assert faults(path.read_text()) == []


@pytest.mark.parametrize("path", ALGORITHMS, ids=lambda p: p.stem)
def test_an_algorithm_that_cites_a_number_names_its_source(path):
    text = path.read_text()
    cites = named(text) | {number for number, _ in citations(text)}
    assert not cites or set(sources(text)) & set(EQUATIONS)


def test_every_equation_of_the_table_is_cited():
    cited = {name: set() for name in EQUATIONS}
    for path in ROOT.rglob("*.py"):
        text = path.read_text()
        for name in set(sources(text)) & set(EQUATIONS):
            cited[name] |= named(text) | {number for number, _ in citations(text)}
    assert [(name, set(rows) - cited[name]) for name, rows in EQUATIONS.items()] == [
        (name, set()) for name in EQUATIONS
    ]


@pytest.mark.parametrize(
    "path", [p for p in ALGORITHMS if p.name not in HELPERS], ids=lambda p: p.stem
)
def test_an_algorithm_says_its_source_and_its_cost(path):
    doc = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert re.search(r"^Source: ", doc, re.MULTILINE), "no source"
    assert re.search(r"^Cost: ", doc, re.MULTILINE), "no cost"
    assert sources(doc), "the source is none of those known"
    assert re.search(r"^    \S+.* {2,}\S+", doc, re.MULTILINE), "no table of symbols"


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("w.append(R.T @ (w_p + w_J))  # (78)", None),
        ("w.append(R.T @ (w_p + w_J))  # (79)", "(79) is v'_k of the centre of mass, local"),
        ("w.append(R.T @ (w_p + w_J))  # (99)", "(99) is not known"),
        ("f[k] = f[k] + inertial  # (73)", "(73) is I omega'"),
        ("w = 0  # eq. 78 to 86", "eq. 86 is not known"),
    ],
)
def test_a_wrong_number_is_found(code, fault):
    found = faults(f'"""Source: Liu & Jain."""\n{code}\n')
    assert [x.startswith(fault or "") for x in found] == ([] if fault is None else [True])
