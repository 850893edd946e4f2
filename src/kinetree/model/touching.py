"""Which colliders of a robot can touch, chosen by links: ground, pairs of links, the robot itself.

Meshes become colliders, by their convex hulls, when one of their links is chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from kinetree.errors import KinetreeError, ModelError
from kinetree.model.arguments import given_number
from kinetree.model.formats.collision_shapes import mesh_of
from kinetree.model.geometry import Collider, ContactPair, Plane
from kinetree.model.model import WORLD, Model, Shape
from kinetree.spatial import Rotation, Transform, Vector3

GROUND = "ground"
"""The name of the plane that stands for the ground."""


class Touching:
    """A robot's model with more and more of it able to touch.

    Arguments:
        model: the robot.
        refused: what the reader of its file said of shapes that cannot touch.

    Attributes:
        model: with what was added.
        remarks: what was left out, a sentence each.
    """

    def __init__(self, model: Model, refused: Sequence[str] = ()) -> None:
        self.model = model
        self._refused = list(refused)
        self.remarks: list[str] = []

    def on_ground(
        self, links: Sequence[str] | None = None, height: float = 0.0, **parameters: Any
    ) -> None:
        """Let links touch a plane of the world.

        Arguments:
            links: by default those at the ends of the tree.
            height: of the plane, m, if the robot has no collider "ground" yet.
            parameters: of the pairs, as in `ContactPair`.
        """
        chosen = self.leaf_links() if links is None else list(links)
        if not chosen:
            why = "".join(f" ({x})" for x in self._refused[:1])
            raise ModelError(
                f"robot {self.model.name!r}: no link at the end of its tree has a collision shape "
                f"to stand on{why}; add one with collide(...), or name the links"
            )
        self.add_ground(height)
        for link in chosen:
            self.between(link, GROUND, **parameters)

    def add_ground(self, height: float = 0.0) -> None:
        """Add the plane of the ground, if there is none."""
        if GROUND not in self.model.collider_bodies:
            z = Vector3(0.0, 0.0, given_number("height", height))
            plane = Collider(GROUND, None, Plane(), Transform(Rotation.identity(), z))
            self._add([plane], [])

    def between(self, first: str, second: str, **parameters: Any) -> None:
        """Let two links touch; one of them may be "ground".

        Arguments:
            first, second: the names of links, or of colliders.
            parameters: of the pairs, as in `ContactPair`.
        """
        if GROUND in (first, second):
            self.add_ground()
        named = [self._colliders(name) for name in (first, second)]
        planes = {c.name for c in self.model.colliders if isinstance(c.shape, Plane)}
        taken = {frozenset((c.first, c.second)) for c in self.model.contacts}
        pairs = [
            ContactPair(b, a, **parameters) if b in planes else ContactPair(a, b, **parameters)
            for a in named[0]
            for b in named[1]
            if frozenset((a, b)) not in taken
        ]
        self._add([], pairs)

    def with_itself(self) -> None:
        """Let all links touch that are not on one body and not on neighbouring ones."""
        self._add_meshes({s.link for s in self.model.shapes})
        bodies = self.model.collider_bodies
        moving = [name for name in bodies if bodies[name] != WORLD]
        taken = {frozenset((c.first, c.second)) for c in self.model.contacts}
        pairs = [
            ContactPair(a, b)
            for a, b in combinations(moving, 2)
            if not self._neighbours(bodies[a], bodies[b]) and frozenset((a, b)) not in taken
        ]
        self._add([], pairs)

    def _neighbours(self, a: int, b: int) -> bool:
        above = [self.model.bodies[i].parent for i in (a, b)]
        return a == b or a == above[1] or b == above[0]

    def leaf_links(self) -> list[str]:
        """The links at the ends of the tree that have a shape to touch with.

        On each body that carries no other: its links without further links, or else all.
        """
        model = self.model
        shaped = {c.frame for c in model.colliders} | {
            s.link for s in model.shapes if s.role == "collision" and s.kind == "mesh"
        }
        carrying = {body.parent for body in model.bodies}
        inner = {f.mount.link for f in model.frames if f.mount is not None}
        found: list[str] = []
        for i in range(len(model.bodies)):
            if i not in carrying:
                links = [f.name for f in model.frames if f.body == i and f.name in shaped]
                found += [name for name in links if name not in inner] or links
        return found

    def _colliders(self, link: str) -> list[str]:
        """The colliders of a link: its own, those of its body, or the one of that name."""
        if link in self.model.collider_bodies:
            return [link]
        body = self.model.frame(link).body
        carried = {f.name for f in self.model.frames if f.body == body}
        for links in ({link}, carried):
            self._add_meshes(links)
            found = [c.name for c in self.model.colliders if c.frame in links]
            if found:
                return found
        why = "".join(f" ({x})" for x in self._said() if x.startswith(f"link {link!r} "))
        raise ModelError(
            f"link {link!r} has no collision shape{why}: add one with collide(...), such as "
            f"Collider('{link}_ball', {link!r}, Sphere(0.02))"
        )

    def _said(self) -> list[str]:
        return self._refused + self.remarks

    def _add_meshes(self, links: Collection[str]) -> None:
        """Add the hulls of the meshes of some links."""
        meshes = [s for s in self.model.shapes if s.role == "collision" and s.kind == "mesh"]
        counts: dict[str, int] = {}
        for shape in meshes:
            counts[shape.link] = counts.get(shape.link, 0) + 1
            number = "" if counts[shape.link] == 1 else f"_{counts[shape.link]}"
            name = f"{shape.link}_mesh{number}"
            if shape.link in links and name not in self.model.collider_bodies:
                self._add_mesh(shape, name)

    def _add_mesh(self, shape: Shape, name: str) -> None:
        try:
            hull = Collider(name, shape.link, mesh_of(shape), shape.placement)
        except KinetreeError as e:
            remark = f"link {shape.link!r} takes no part in contact with its mesh: {e}"
            self.remarks += [] if remark in self.remarks else [remark]
        else:
            self._add([hull], [])

    def _add(self, colliders: Sequence[Collider], pairs: Sequence[ContactPair]) -> None:
        model = self.model
        self.model = replace(
            model, colliders=(*model.colliders, *colliders), contacts=(*model.contacts, *pairs)
        )
