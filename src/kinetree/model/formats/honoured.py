"""The features of a file format and their treatment: the rows of tables on pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Feature(NamedTuple):
    """Elements or attributes of a format.

    Attributes:
        name: of the elements or attributes.
        honoured: whether they are honoured; if not, `kinetree check` says so.
        becomes: what they become, or what is lost.
    """

    name: str
    honoured: bool
    becomes: str


def table(title: str, features: Iterable[Feature]) -> str:
    """Features as a table of Markdown.

    Arguments:
        title: the name of the format.
        features: a row each.
    """
    lines = [f"| {title} | honoured | becomes |", "|-|-|-|"]
    lines += [f"| {x.name} | {'yes' if x.honoured else 'no'} | {x.becomes} |" for x in features]
    return "\n".join(lines)
