"""Writing XML, indented, with numbers that read back as the same bits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from kinetree.errors import ModelError

_WHITE = {ord(c): f"&#{ord(c)};" for c in "\t\n\r"}
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Writer:
    """Elements as they come, one a line."""

    def __init__(self) -> None:
        self._lines = ['<?xml version="1.0"?>']
        self._depth = 0

    def leaf(self, tag: str, **attributes: str) -> None:
        """An element without children."""
        self._lines.append(f"{self._start(tag, attributes)}/>")

    def words(self, tag: str, content: str) -> None:
        """An element around a text."""
        self._lines.append(f"{self._start(tag, {})}>{quoted(content)}</{tag}>")

    def copied(self, text: str) -> None:
        """Elements that are already text, one a line."""
        self._lines += [f"{'  ' * self._depth}{line}" for line in text.splitlines()]

    @contextmanager
    def element(self, tag: str, **attributes: str) -> Iterator[None]:
        """An element around the elements written in the context."""
        self._lines.append(f"{self._start(tag, attributes)}>")
        before = len(self._lines)
        self._depth += 1
        yield
        self._depth -= 1
        if len(self._lines) == before:
            self._lines[-1] = self._lines[-1][:-1] + "/>"
        else:
            self._lines.append(f"{'  ' * self._depth}</{tag}>")

    def _start(self, tag: str, attributes: dict[str, str]) -> str:
        written = "".join(f' {key}="{quoted(value)}"' for key, value in attributes.items())
        return f"{'  ' * self._depth}<{tag}{written}"

    def text(self) -> str:
        """The document."""
        return "\n".join(self._lines) + "\n"


def quoted(value: str) -> str:
    """A text escaped for an attribute."""
    if _UNWRITABLE.search(value):
        raise ModelError(f"{value!r} has characters that XML cannot represent")
    from html import escape  # importing takes time

    return escape(value).translate(_WHITE)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names for a message: the first of them, and the number of others."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def number(value: float) -> str:
    """The shortest decimal that reads as the same number."""
    text = repr(float(value) + 0.0)
    return text.removesuffix(".0")


def numbers(values: Iterable[float]) -> str:
    return " ".join(number(value) for value in values)
