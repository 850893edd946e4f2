"""The code of a kernel's body, for one state and for a tile of them: generated, or kept."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinetree.compiler.emit.llvm import Target, emit_body
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.garbage import without_searches
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.lowered import Style
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.cpu.host import host
from kinetree.compiler.runtime.interface import Interface

MODULE = 4000
"""Instructions of a module: enough to keep a thread busy, few enough to share large programs."""
CHUNK = 400
KEEP = 32
_HEAD = "<6q"


class Body(NamedTuple):
    """The code of a kernel's body, and the room it needs, in elements (of a tile: in vectors).

    steps: how many there are.
    late: the steps before the first that stores results; all, if each tile's results have a place
        of their own.
    objects: object files.
    """

    steps: int
    scratch: int
    results: int
    tiles: int
    late: int
    objects: tuple[bytes, ...]


def bodies(
    interface: Interface, program: Callable[[], Program], kind: str, names: Sequence[str]
) -> dict[str, Body]:
    """A kernel's bodies for one state, "one", or for a tile, "wide": kept ones or new ones."""
    made_for = (host().fingerprint, str(host().level))
    keys = {name: disk.key("code", interface.digest, kind, *made_for, name) for name in names}
    kept = {name: disk.load(key) for name, key in keys.items()}
    missing = [name for name, content in kept.items() if content is None]
    made = _generate(program(), kind, missing) if missing else {}
    for name, body in made.items():
        disk.save(keys[name], _pack(body))
    known = {name: _unpack(content) for name, content in kept.items() if content is not None}
    return known | made


def _pack(body: Body) -> bytes:
    *numbers, objects = body
    sizes = [len(code) for code in objects]
    head = struct.pack(_HEAD, *numbers, len(sizes)) + struct.pack(f"<{len(sizes)}q", *sizes)
    return head + b"".join(objects)


def _unpack(content: bytes) -> Body:
    steps, scratch, results, tiles, late, count = struct.unpack_from(_HEAD, content)
    at = struct.calcsize(_HEAD)
    sizes = struct.unpack_from(f"<{count}q", content, at)
    at += 8 * count
    objects = []
    for size_ in sizes:
        objects.append(content[at : at + size_])
        at += size_
    return Body(steps, scratch, results, tiles, late, tuple(objects))


def source(program: Program, kind: str) -> str:
    """The LLVM IR of a program's bodies, for one state and for a tile of them, on this processor.

    Arguments:
        kind: "double" or "float".
    """
    target = host().target(kind)
    texts = {
        name: emit_body(lower(program, style(target, lanes)), name, target, lanes)
        for name, lanes in (("one", 1), ("wide", target.lanes))
    }
    return "\n".join(f"; {name}\n{text}" for name, own in texts.items() for text in own)


@without_searches()
def _generate(program: Program, kind: str, names: Sequence[str]) -> dict[str, Body]:
    """New bodies: their modules are compiled side by side."""
    h = host()
    target = h.target(kind)
    lanes = {"one": 1, "wide": target.lanes}
    lowered = {name: lower(program, style(target, lanes[name])) for name in names}
    texts = {
        name: [h.attributes + text for text in emit_body(low, name, target, lanes[name], MODULE)]
        for name, low in lowered.items()
    }
    objects = iter(h.compile_all([text for name in names for text in texts[name]]))
    return {
        name: Body(
            steps=len(low.steps),
            scratch=low.scratch,
            results=low.results,
            tiles=2 if low.late is None else 1,
            late=max(len(low.steps) if low.late is None else low.late, 1),
            objects=tuple(next(objects) for _ in texts[name]),
        )
        for name, low in lowered.items()
    }


def style(target: Target, lanes: int) -> Style:
    """How programs are lowered for this processor."""
    return Style(
        target.type,
        fused=True,
        routines=True,
        chunk=CHUNK,
        keep=KEEP,
        whole=target.lanes // lanes,
        defer=lanes > 1,
        functions=True,
        gathered=lanes > 1,
        masked=lanes > 1,
    )
