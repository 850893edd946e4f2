"""CITATION.cff: what the format requires, and this version."""

from pathlib import Path

import pytest

import kinetree

FILE = Path(__file__).parents[1] / "CITATION.cff"


def test_the_citation_file_has_what_the_format_requires():
    found = pytest.importorskip("yaml").safe_load(FILE.read_text())
    assert found["cff-version"] == "1.2.0"
    assert {"authors", "message", "title"} <= set(found)
    assert found["authors"] == [{"name": "The Kinetree developers"}]
    assert found["version"] == kinetree.__version__
