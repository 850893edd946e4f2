"""Algorithms as the papers have them: each says its source, its symbols and its cost, and every
equation number it cites is one that the source has."""

import ast
import re
from pathlib import Path

import pytest

import kinetree

ROOT = Path(kinetree.__file__).parent
ALGORITHMS = sorted((ROOT / "algorithms").glob("*.py"))
# what is no algorithm by itself
HELPERS = {"__init__.py", "tree.py", "dense.py", "blocks.py", "axes.py", "dots.py"}


def numbers(*spans: tuple[int, int]) -> set[str]:
    return {str(n) for first, last in spans for n in range(first, last + 1)}


# the numbered equations of each source
SOURCES = {
    "Liu & Jain": numbers((1, 85)),
    "Echeandia & Wensing": numbers((1, 74)),
    "Featherstone": {f"7.{n}" for n in range(1, 52)},
    "Orin": numbers((1, 47)),
    "Lecture 9": set(),
    "Guenter & C. F. Rose": set(),
    "Carpentier": set(),
    "Singh": set(),
    "MuJoCo": set(),
    "Van Loan": set(),
    "Atkeson": set(),
    "Gautier & W. Khalil": set(),
    "Slotine & W. Li": set(),
    "Khatib": set(),
}
CITED = re.compile(r"eq\. ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)")
IN_COMMENT = re.compile(r"#.*?\((\d+(?:\.\d+)?)\)")


def cited(text: str) -> set[str]:
    """The equation numbers a text names: after "eq.", or in brackets in a comment."""
    found = set(IN_COMMENT.findall(text))
    for group in CITED.findall(text):
        for first, last in re.findall(r"(\d+) to (\d+)", group):
            found |= numbers((int(first), int(last)))
        found |= set(re.findall(r"\d+(?:\.\d+)?", group))
    return found


def sources(text: str) -> list[str]:
    joined = " ".join(text.split())
    return [name for name in SOURCES if name in joined]


@pytest.mark.parametrize("path", ALGORITHMS, ids=lambda p: p.stem)
def test_an_equation_that_is_cited_exists(path):
    text = path.read_text()
    known = set().union(*(SOURCES[name] for name in sources(text)))
    assert cited(text) <= known, cited(text) - known


@pytest.mark.parametrize("path", sorted({*ROOT.rglob("*.py")} - {*ALGORITHMS}), ids=str)
def test_an_equation_that_is_cited_elsewhere_exists(path):
    text = path.read_text()
    found = {n for group in CITED.findall(text) for n in re.findall(r"\d+(?:\.\d+)?", group)}
    assert found <= set().union(*(SOURCES[name] for name in sources(text)))


@pytest.mark.parametrize(
    "path", [p for p in ALGORITHMS if p.name not in HELPERS], ids=lambda p: p.stem
)
def test_an_algorithm_says_its_source_and_its_cost(path):
    doc = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert re.search(r"^Source: ", doc, re.MULTILINE), "no source"
    assert re.search(r"^Cost: ", doc, re.MULTILINE), "no cost"
    assert sources(doc), "the source is none of those known"
    assert re.search(r"^    \S+.* {2,}\S+", doc, re.MULTILINE), "no table of symbols"


def test_the_lists_catch_a_wrong_number():
    assert cited("# (86)") == {"86"}
    assert cited("eq. 72 to 75, 80 and 81") == {"72", "73", "74", "75", "80", "81"}
    assert cited("pA  # v x* I v (7.42)") == {"7.42"}
    assert not cited("# (86)") <= SOURCES["Liu & Jain"]
