"""XML with line numbers, from a parser that takes nothing from outside the text.

Document types that declare entities are refused: no robot file needs them, and they are how a
small file becomes a large one or reads another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from kinetree.errors import FileFormatError

DEEPEST = 500
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass
class Element:
    """An element: its tag, attributes, children and place. Text between tags is not kept."""

    tag: str
    attributes: dict[str, str]
    line: int
    file: str
    children: list[Element] = field(default_factory=list)

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} name={name!r}>"

    def all(self, tag: str) -> Iterator[Element]:
        """The children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child with a tag, if any."""
        return next(self.all(tag), None)

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the order of the file."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending += reversed(element.children)

    def error(self, message: str) -> FileFormatError:
        """An error about this element, with its place."""
        return FileFormatError(f"{self.where}: {self}: {message}")

    def text(self, attribute: str) -> str:
        """An attribute that must be there."""
        try:
            return self.attributes[attribute]
        except KeyError:
            raise self.error(f"the attribute {attribute!r} is missing") from None

    def number(self, attribute: str, default: float | None = None) -> float:
        """An attribute that is one finite number."""
        if default is not None and attribute not in self.attributes:
            return default
        return self._finite(attribute, self.text(attribute).strip())

    def numbers(self, attribute: str, count: int, default: tuple[float, ...]) -> tuple[float, ...]:
        """An attribute that is a list of finite numbers."""
        if attribute not in self.attributes:
            return default
        words = self.attributes[attribute].split()
        if len(words) != count:
            raise self.error(
                f"{attribute}={self.attributes[attribute]!r} has {len(words)} numbers; "
                f"{count} are expected"
            )
        return tuple(self._finite(attribute, word) for word in words)

    def _finite(self, attribute: str, word: str) -> float:
        value = float(word) if _NUMBER.fullmatch(word) else math.nan
        if math.isfinite(value):
            return value
        if math.isinf(value) or word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise self.error(f"{attribute}={word!r}: a finite number is expected")
        raise self.error(f"{attribute}={word!r} is not a number")


def parse(data: bytes, file: str) -> Element:
    """The root element of a document; white space before it is no part of it."""
    text = data.lstrip()
    lines_before = data[: len(data) - len(text)].count(b"\n")
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    stack: list[Element] = []
    roots: list[Element] = []

    def line() -> int:
        return parser.CurrentLineNumber + lines_before

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) == DEEPEST:
            raise FileFormatError(
                f"{file}:{line()}: elements are nested {DEEPEST} deep: no robot file is"
            )
        element = Element(tag, attributes, line(), file)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def entity(*_: object) -> None:
        raise FileFormatError(
            f"{file}:{line()}: the document declares an entity, which a robot "
            "file does not need: remove the declaration"
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as e:
        reason = expat.errors.messages[e.code]
        raise FileFormatError(f"{file}:{line()}: not well-formed XML: {reason}") from None
    except (LookupError, ValueError) as e:  # an encoding that Python does not know, or not so
        raise FileFormatError(f"{file}:{line()}: not readable as XML: {e}") from None
    return roots[0]
