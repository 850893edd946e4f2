"""For `make docs`: examples are part of the site, and equations become MathML.

Pages have equations in LaTeX between dollar signs. MathML is drawn by the browser itself: the site
needs no script and no network.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.+?)\\\]</div>', re.DOTALL)
INLINE = re.compile(r'<span class="arithmatex">\\\((.+?)\\\)</span>', re.DOTALL)
NUMBER = re.compile(r"\\tag\{(.+?)\}")


def on_files(files: Any, config: Any) -> Any:
    """Add the examples to the files of the site."""
    for path in sorted((ROOT / "examples").glob("*.py")):
        files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Point links at the examples there."""
    return markdown.replace("](../examples/", "](examples/")


def on_page_content(content: str, **_: Any) -> str:
    """Replace the LaTeX that `pymdownx.arithmatex` has marked by MathML."""
    content = DISPLAYED.sub(lambda found: displayed(html.unescape(found[1])), content)
    return INLINE.sub(lambda found: mathml(html.unescape(found[1]), "inline"), content)


def displayed(latex: str) -> str:
    """An equation on lines of its own, with its number on the right."""
    number = NUMBER.search(latex)
    shown = f'<span class="number">({number[1]})</span>' if number else ""
    return f'<div class="equation">{mathml(NUMBER.sub("", latex), "block")}{shown}</div>'


def mathml(latex: str, display: str) -> str:
    """An equation as MathML; dots, hats and tildes close to their letters."""
    latex = latex.replace("{aligned}", "{align*}")  # the converter knows only the latter
    return re.sub("<mover>", '<mover accent="true">', convert(latex.strip(), display=display))
