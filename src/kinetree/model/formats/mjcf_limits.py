"""Bounds on the work of MuJoCo's compiler for an MJCF document: far beyond any robot.

The compiler accepts every number and every count. Its time grows with the square of the number of
elements after all repetitions: at the bounds here it takes about half a minute.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator

from kinetree.model.formats.xml import Element, brief

LARGEST_NUMBER = 1e15
"""The largest number, in any unit; its cube is still far from overflow. Ranges, which may stand for
no limit, and users' own data may be larger."""
MOST_WRITTEN = 50_000  # elements of a document, including those it includes and attaches
MOST_REPEATED = 10_000  # elements that come from repeating others
MOST_PIXELS = 8192  # along a side of a picture
LARGEST_COUNT = 10_000  # of samples, values, contacts
SIZE_CAP = 10**9  # sizes are counted up to here
COUNTS = {
    **dict.fromkeys(("nrow", "ncol", "width", "height", "resolution"), MOST_PIXELS),
    **dict.fromkeys(("nsample", "actdim", "dim", "num"), LARGEST_COUNT),
    "params": 256,  # of a mesh that MuJoCo makes: points along an edge
    "subgrid": 100,
}
"""Attributes that are sizes of something that MuJoCo generates."""
_NAMES = """
name class childclass model prefix sep plugin instance key value initial curve content_type meshdir
texturedir assetdir objtype objname reftype refname actuator body body1 body2 camera cranksite flex
frame geom geom1 geom2 hfield joint joint1 joint2 jointinparent material mesh node refsite sidesite
site site1 site2 slidersite subtree1 subtree2 target tendon tendon1 tendon2 texture
"""
NAMES = frozenset(_NAMES.split())
"""Attributes that are not numbers, though a name may look like one."""
OTHER_NUMBER = re.compile(r"[+-]?(nan|inf|0x)", re.IGNORECASE)
REFERRING = ("contact", "tendon", "equality", "actuator", "sensor", "custom", "deformable")
"""Sections whose elements are repeated with the elements they refer to."""
PNG = b"\x89PNG\r\n\x1a\n"


def check_elements(root: Element, before: int) -> None:
    """Refuse too many elements, and numbers that are too large or not finite.

    Arguments:
        before: the number of elements in other documents.
    """
    for written, element in enumerate(root.walk(), before + 1):
        if written > MOST_WRITTEN:
            raise element.error(
                f"the file has more than {MOST_WRITTEN} elements, the limit for a robot file"
            )
        for key, value in element.attributes.items():
            if not (key in NAMES or key.startswith("file") or element.tag == "text"):
                _check_numbers(element, key, value)


def _check_numbers(element: Element, key: str, value: str) -> None:
    free = key.endswith("range") or key in ("user", "data")
    largest = COUNTS.get(key, math.inf if free else LARGEST_NUMBER)
    for number in _numbers(value):
        if not math.isfinite(number):
            raise element.error(f"{key}={brief(value)!r}: a finite number is expected")
        if abs(number) > largest:
            raise element.error(
                f"{key}={brief(value)!r}: {number:g} is outside the accepted range of ±{largest:g}"
            )


def _numbers(value: str) -> Iterator[float]:
    """The words of an attribute that are numbers, as C reads them."""
    for word in value.split():
        try:
            yield float.fromhex(word) if OTHER_NUMBER.match(word) else float(word)
        except OverflowError:
            yield math.inf
        except ValueError:
            if word.lower().lstrip("+-").startswith("nan("):
                yield math.nan


def bounded(value: str, largest: int) -> str:
    """A count attribute (-1 means any), limited to a largest value."""
    count = next(_numbers(value), 0.0)
    return value if 0.0 <= count <= largest else str(largest)


def check_picture(element: Element, key: str, data: bytes) -> None:
    """Refuse a PNG picture of too many pixels; its file may be small."""
    if data.startswith(PNG) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        if max(width, height) > MOST_PIXELS:
            raise element.error(
                f"{key}={brief(element.attributes[key])!r}: {width} x {height} pixels; at most "
                f"{MOST_PIXELS} per side are accepted"
            )


def check_expansion(root: Element, attached: int) -> int:
    """Refuse a document in which too many elements come from repeating others.

    Arguments:
        attached: the number of elements of the largest model that it attaches.

    Returns:
        An upper bound of the number of elements after all repetitions.
    """
    sizes = _Sizes(root, attached)
    total = sizes.of(root) + sizes.of_referrers()
    if total - sum(1 for _ in root.walk()) > MOST_REPEATED:
        raise sizes.largest().error(
            f"it generates more than {MOST_REPEATED} elements, the limit for a robot file"
        )
    return total


class _Sizes:
    """Upper bounds of the numbers of elements after all repetitions.

    An element that refers to a repeated one is repeated with it; so is one that refers to a body of
    this document that is attached elsewhere.
    """

    def __init__(self, root: Element, attached: int) -> None:
        self.root, self.attached = root, attached
        sections = [x for x in root.children if x.tag in REFERRING]
        self.referrers = [x for section in sections for x in section.children]
        self.referring = sum(1 for x in self.referrers for _ in x.walk())
        bodies = (x for x in root.walk() if x.tag in ("body", "frame"))
        self.named = {x.attributes["name"]: x for x in bodies if "name" in x.attributes}
        self.known: dict[int, int] = {}

    def of(self, root: Element) -> int:
        """The size of an element with all that is in it. Iterative: trees may be deep."""
        pending, begun = [root], set()
        while pending:
            element = pending[-1]
            parts = [*element.children, *self._attached(element)]
            missing = [part for part in parts if id(part) not in self.known]
            if not missing:
                pending.pop()
                inside = sum(self.known[id(part)] for part in parts)
                size = 1 + _count(element) * inside + self._made(element)
                self.known[id(element)] = min(size, SIZE_CAP)
            elif id(element) in begun:
                raise element.error("it attaches itself recursively")
            else:
                begun.add(id(element))
                pending += missing
        return self.known[id(root)]

    def _attached(self, element: Element) -> list[Element]:
        """The body or frame of this document that an element attaches once more."""
        if element.tag != "attach" or "model" in element.attributes:
            return []
        names = (element.attributes.get(key, "") for key in ("body", "frame"))
        return [self.named[name] for name in names if name in self.named]

    def _made(self, element: Element) -> int:
        """The number of elements that MuJoCo generates from one, besides its children."""
        if element.tag == "attach":
            return self.attached if "model" in element.attributes else self.referring
        if element.tag == "composite":
            return 4 * _product(element, "count")  # each a body, joint, shape and site
        if element.tag == "flexcomp":
            between = 1 if element.attributes.get("dof") != "quadratic" else 2
            nodes = _product(element, "cellcount", lambda cells: between * cells + 1)
            points = len(element.attributes.get("point", "").split()) // 3
            return (_product(element, "count") or 1000) + nodes + points
        return 0

    def of_referrers(self) -> int:
        """The number of repetitions of elements that refer to repeated ones."""
        around: dict[str, list[Element]] = {}
        for name, replicates in _replicates(self.root):
            around.setdefault(name, []).extend(replicates)
        total = 0
        for referrer in self.referrers if around else ():
            values = [v for x in referrer.walk() for v in x.attributes.values()]
            words = {*values, *(word for value in values for word in value.split())}
            repeated = {id(x): x for word in words for x in around.get(word, ())}
            times = math.prod(_count(x) for x in repeated.values())
            total += (times - 1) * self.of(referrer)
        return min(total, SIZE_CAP)

    def largest(self) -> Element:
        """The element that repeats the most."""
        tags = ("replicate", "composite", "flexcomp", "attach")
        repeating = [x for x in self.root.walk() if x.tag in tags]
        return max(repeating, key=lambda x: self.known[id(x)], default=self.root)


def _replicates(root: Element) -> Iterator[tuple[str, tuple[Element, ...]]]:
    """The names in repeated elements, and the elements that repeat them."""
    pending: list[tuple[Element, tuple[Element, ...]]] = [(root, ())]
    while pending:
        element, around = pending.pop()
        if around and "name" in element.attributes:
            yield element.attributes["name"], around
        inner = (*around, element) if element.tag == "replicate" else around
        pending += [(child, inner) for child in element.children]


def _count(element: Element) -> int:
    """The number of repetitions of an element's children."""
    return _product(element, "count") if element.tag == "replicate" else 1


def _product(element: Element, key: str, of: Callable[[float], float] = lambda count: count) -> int:
    counts = list(_numbers(element.attributes.get(key, "")))
    return int(min(math.prod(max(of(count), 1.0) for count in counts), SIZE_CAP)) if counts else 0
