"""Make Jupyter notebooks of pages: text becomes cells of Markdown, code cells that run.

    python -m tools.notebooks

The notebooks are in docs/notebooks, without results. `tests/docs/test_notebooks.py` compares them
with their pages.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "notebooks"
PAGES = (
    *("tutorial", "own_controllers", "contact", "simulation"),
    *("mechanism_pendulum", "mechanism_four_bar", "mechanism_arm"),
    *("mechanism_quadruped", "mechanism_human"),
)
"""The tutorial, three how-to pages, and the mechanisms."""
CODE = re.compile(r"```python\n(.+?)```\n?", re.DOTALL)
LINK = re.compile(r"\]\((?!http|#)([^)]+)\)")


def notebook(page: Path) -> dict[str, Any]:
    """A page as a notebook.

    Arguments:
        page: the file of the page.
    """
    pieces = CODE.split(page.read_text())  # text and code in turn
    cells = []
    for k, piece in enumerate(pieces):
        if piece.strip():
            cells.append(_code(piece, k) if k % 2 else _text(piece, k))
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _text(piece: str, k: int) -> dict[str, Any]:
    """A cell of text, whose links lead one folder up."""
    source = LINK.sub(r"](../\1)", piece.strip())
    return {"cell_type": "markdown", "id": f"text-{k}", "metadata": {}, "source": _lines(source)}


def _code(piece: str, k: int) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": f"code-{k}", "metadata": {}, "execution_count": None}
    return {**cell, "outputs": [], "source": _lines(piece.rstrip())}


def _lines(source: str) -> list[str]:
    """As Jupyter writes a text: a list of lines with their ends."""
    return source.splitlines(keepends=True)


def text(page: Path) -> str:
    """The text of a notebook's file.

    Arguments:
        page: the file of the page.
    """
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / f"{name}.ipynb").write_text(text(DOCS / f"{name}.md"), encoding="utf-8")
        print(f"docs/notebooks/{name}.ipynb")
