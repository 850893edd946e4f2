"""Shared by the readers of a compiled MuJoCo model: names, places and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.model.disassemble import fresh
from kinetree.model.place import Place
from kinetree.model.ranges import UNBOUNDED, Range
from kinetree.spatial import Transform

BODY, XBODY, GEOM, SITE, CAMERA = 1, 2, 5, 6, 7  # mjtObj
Remark = tuple[str, str, str]
"""Severity, element, message."""


@dataclass(frozen=True)
class Parts:
    """A compiled model, and the names here of its parts.

    Arguments:
        m: the model.
        links, sites, joints: the names here of MuJoCo's bodies, named sites and joints.
        geoms: the names here of its geoms, as colliders have them.
        off: the disabled flags.
        pose: makes a transform of a position and a quaternion of MuJoCo's.
    """

    m: Any
    links: Sequence[str]
    sites: Mapping[int, str]
    joints: Sequence[str]
    geoms: Sequence[str]
    off: set[str]
    pose: Callable[[Any, Any], Transform]

    def names(self, kind: str, count: int) -> list[str]:
        """A unique name for each object of a kind: its own, or one with its index."""
        start = getattr(self.m, f"name_{kind}adr")
        own = [self.m.names[i : self.m.names.index(b"\0", i)].decode() for i in start]
        taken = set(own)
        named = []
        for i, name in enumerate(own[:count]):
            named.append(name or fresh(f"{kind}{i}", taken))
            taken.add(named[-1])
        return named

    def place(self, kind: int, i: int) -> Place | None:
        """The place of an object; None if it has none."""
        m = self.m
        if kind == XBODY:
            return Place(self.links[i])
        if kind == BODY:
            return Place(self.links[i], self.pose(m.body_ipos[i], m.body_iquat[i]))
        if kind == SITE:
            if i in self.sites:
                return Place(self.sites[i])
            return self._on_link("site", i)
        return (
            self._on_link({GEOM: "geom", CAMERA: "cam"}[kind], i)
            if kind in (GEOM, CAMERA)
            else None
        )

    def _on_link(self, kind: str, i: int) -> Place:
        at, turned, body = (getattr(self.m, f"{kind}_{x}")[i] for x in ("pos", "quat", "bodyid"))
        return Place(self.links[body], self.pose(at, turned))

    def bounds(self, field: str, i: int) -> Range:
        """A range of an object; unbounded if it is not limited."""
        limited = f"{field.removesuffix('range')}limited"
        if not getattr(self.m, limited)[i]:
            return UNBOUNDED
        lower, upper = getattr(self.m, field)[i].tolist()
        return lower, upper

    def number(self, field: str, i: int) -> float:
        """A number of an object; zero if this MuJoCo has no such field."""
        values = getattr(self.m, field, None)
        return 0.0 if values is None else float(values[i])

    def any(self, field: str, i: int) -> bool:
        """Whether an entry of a field is not zero; false if this MuJoCo has no such field."""
        values = getattr(self.m, field, None)
        return values is not None and bool(values[i].any())
