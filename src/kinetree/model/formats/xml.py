"""XML with line numbers, by a parser that reads nothing outside the text.

A document type may only have a name. Declarations of its own, or from outside, are refused: no
robot file needs them, they can expand a small file into a huge one or include another, and parsers
disagree about where they end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from xml.parsers import expat

from kinetree.errors import FileFormatError

# limits far beyond any robot, so that reading takes bounded time and memory
TEXT = "<string>"  # the file name of a document given as text
LARGEST = 1 << 26  # bytes
MOST_ELEMENTS = 1_000_000  # elements
DEEPEST = 500
LONGEST_NAME = 500
MARKUP = (b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0<")
"""The first bytes of XML: an element or a byte order mark, or UTF-16 without one."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def brief(text: str, longest: int = 80) -> str:
    """A text short enough for a message."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


@dataclass(slots=True)
class Element:
    """An element: its tag, attributes, children, line, and the first of the text inside."""

    tag: str
    attributes: dict[str, str]
    line: int
    file: str
    children: list[Element] = field(default_factory=list)
    content: str = ""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        name = self.attributes.get("name")
        named = "" if name is None else f" name={brief(name)!r}"
        return f"<{brief(self.tag)}{named}>"

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

    def name(self, attribute: str = "name", default: str | None = None) -> str:
        """An attribute that is a name, short enough to be quoted whole."""
        if default is not None and not self.attributes.get(attribute):
            return default
        name = self.text(attribute)
        if not name:
            raise self.error(f"the attribute {attribute!r} is empty: a name is expected")
        if len(name) > LONGEST_NAME:
            raise self.error(
                f"the attribute {attribute!r} has {len(name)} characters; a name may have at most "
                f"{LONGEST_NAME}"
            )
        return name

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
                f"{attribute}={brief(self.attributes[attribute])!r} has {len(words)} numbers; "
                f"{count} are expected"
            )
        return tuple(self._finite(attribute, word) for word in words)

    def words(self) -> list[str]:
        """The words between the tags."""
        if len(self.content) >= LONGEST_NAME:
            raise self.error(f"the text has more than {LONGEST_NAME} characters")
        return self.content.split()

    def value(self) -> float:
        """The one finite number between the tags."""
        return self.values(1)[0]

    def values(self, count: int) -> tuple[float, ...]:
        """The finite numbers between the tags."""
        words = self.words()
        if len(words) != count:
            raise self.error(
                f"the text {brief(' '.join(words))!r} has {len(words)} words; {count} "
                f"{'number is' if count == 1 else 'numbers are'} expected"
            )
        return tuple(self._finite("text", word) for word in words)

    def _finite(self, attribute: str, word: str) -> float:
        value = float(word) if _NUMBER.fullmatch(word) else math.nan
        if math.isfinite(value):
            return value
        if math.isinf(value) or word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise self.error(f"{attribute}={brief(word)!r}: a finite number is expected")
        raise self.error(f"{attribute}={brief(word)!r} is not a number")


def _keep(stack: Sequence[Element], text: str) -> None:
    """Add a text to the element that it is in, up to a length that is enough for a name."""
    if stack and len(stack[-1].content) < LONGEST_NAME:
        stack[-1].content += text


def parse(data: bytes, file: str, encoding: str | None = None) -> Element:
    """The root element of a document; white space before it is no part of it.

    Arguments:
        encoding: of the data; by default as the document says.
    """
    if len(data) > LARGEST:
        raise FileFormatError(
            f"{file}:1: the file is larger than {LARGEST >> 20} MiB, the limit for a robot file"
        )
    text = data.lstrip()
    lines_before = data[: len(data) - len(text)].count(b"\n")
    parser = expat.ParserCreate(encoding)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.buffer_text = True  # a call for each line of text would take seconds for a blank file
    stack: list[Element] = []
    roots: list[Element] = []
    elements = 0

    def line() -> int:
        return parser.CurrentLineNumber + lines_before

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal elements
        elements += 1
        if len(stack) == DEEPEST:
            raise FileFormatError(
                f"{file}:{line()}: elements are nested {DEEPEST} deep, the limit for a robot file"
            )
        if elements > MOST_ELEMENTS:
            raise FileFormatError(
                f"{file}:{line()}: more than {MOST_ELEMENTS} elements, the limit for a robot file"
            )
        element = Element(tag, attributes, line(), file)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def doctype(name: str, system: str | None, public: str | None, declares: int) -> None:
        if declares or system is not None or public is not None:
            raise FileFormatError(
                f"{file}:{line()}: the DOCTYPE has internal or external declarations, which a "
                "robot file does not need; remove them"
            )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = partial(_keep, stack)
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(text, True)
    except expat.ExpatError as e:
        reason = _fault(text, expat.errors.messages[e.code], parser.ErrorByteIndex)
        raise FileFormatError(f"{file}:{line()}: {reason}") from None
    except FileFormatError:  # from a handler
        raise
    except (LookupError, ValueError) as e:  # an encoding that Python does not know, or not so
        raise FileFormatError(f"{file}:{line()}: not readable as XML: {brief(str(e))}") from None
    return roots[0]


def _fault(text: bytes, reason: str, at: int) -> str:
    """Why a text is no XML: from the parser's reason and place, or as it does not begin like it."""
    if not text:
        return "the file is empty"
    if not text.startswith(MARKUP):
        start = repr(text.split(b"\n")[0][:12])[1:]  # without the b of bytes
        return f"not XML, as URDF, xacro, SDF and MJCF files are: it begins with {start}"
    if reason in (expat.errors.XML_ERROR_INVALID_TOKEN, expat.errors.XML_ERROR_SYNTAX):
        reason = f"{reason} at {text[at : at + 8]!r}"
    return f"not well-formed XML: {reason}"
