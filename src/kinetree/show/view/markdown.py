"""Text in the Markdown of the viewer's page."""

from __future__ import annotations


def literal(text: str) -> str:
    """A text escaped so that Markdown shows it literally.

    Names come from files. As Markdown they could contain HTML, code that the browser runs, and
    pictures from this computer's files.
    """
    return "".join(x if x.isalnum() or x == " " else f"&#{ord(x)};" for x in text)
