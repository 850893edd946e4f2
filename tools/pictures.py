"""Draw the pictures of pages again, by running the code on them.

    python tools/pictures.py [PAGE ...]

A page whose code saves a figure shows it from docs/pictures. Without arguments all such pages run.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import matplotlib

DOCS = Path(__file__).parents[1] / "docs"


def drawn(page: Path) -> list[str]:
    """The pictures that a page both draws and shows."""
    text = page.read_text()
    saved = re.findall(r'(?:savefig|imsave)\("([\w.]+)"', text)
    return [name for name in saved if f"](pictures/{name})" in text]


def main(names: list[str]) -> None:
    pages = [DOCS / f"{name}.md" for name in names] or sorted(DOCS.glob("*.md"))
    os.chdir(DOCS / "pictures")
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same code draws the same bytes
    matplotlib.rcParams["svg.hashsalt"] = "kinetree"
    for page in pages:
        if drawn(page):
            known: dict[str, object] = {}
            for block in re.findall(r"```python\n(.+?)```", page.read_text(), re.DOTALL):
                exec(compile(block, str(page), "exec"), known)
            print(f"{page.stem}: {', '.join(drawn(page))}")


if __name__ == "__main__":
    main(sys.argv[1:])
