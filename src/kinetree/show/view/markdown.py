"""Text in the Markdown of the viewer's page."""

from __future__ import annotations


def literal(text: str) -> str:
    """A text that Markdown shows as it is, whatever is in it.

    Names come from files. As Markdown they could hold HTML, code that the browser runs, and
    pictures of files of this computer.
    """
    return "".join(x if x.isalnum() or x == " " else f"&#{ord(x)};" for x in text)
