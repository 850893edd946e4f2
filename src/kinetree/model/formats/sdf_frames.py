"""SDF's frame semantics: the scopes of names, the poses of frames, and the links they belong to.

Every link, joint, frame and model of a document is a node, and has a raw pose relative to one other
node:

    link                     its model, or what relative_to names
    frame                    what relative_to names, or attached_to, or its model
    joint                    its child, or what relative_to names
    nested model             the model around it, or what relative_to names; with a placement_frame
                             the raw pose is that of this frame

Following these edges leads to the world. Names are those of the model in which they are written;
`a::b` is b in the nested model a, `__model__` the model itself. Source: the SDFormat specification,
"Pose Frame Semantics" (http://sdformat.org/tutorials?tut=pose_frame_semantics).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kinetree.errors import unknown
from kinetree.model.formats.sdf_values import pose_of, relative_to, text
from kinetree.model.formats.xml import Element, brief
from kinetree.spatial import Transform

MODEL, WORLD = "__model__", "world"
DEEPEST_MODEL = 50  # depth of nested models
KINDS = ("link", "frame", "model", "joint")
"""The order in which a name is looked up: before SDF 1.7 joints could have names of links."""


@dataclass(eq=False)
class Node:
    """A link, joint, frame or model.

    Arguments:
        kind: one of these words, or "world".
        name: unique in the document, such as "gripper::finger".
        element: in the document.
        scope: in which the names it refers to are looked up; None for the world.
        inside: the scope of its content, if it is a model or the world.
    """

    kind: str
    name: str
    element: Element
    scope: Scope | None
    inside: Scope | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


@dataclass(eq=False)
class Scope:
    """The names in a model or in the world.

    Arguments:
        node: the model or the world.
        static: whether nothing in it moves.
        prefix: of the names of its content.
    """

    node: Node
    static: bool = False
    prefix: str = ""
    nodes: dict[str, dict[str, Node]] = field(default_factory=lambda: {k: {} for k in KINDS})

    def add(self, kind: str, element: Element, prefix: str | None = None) -> Node:
        """Enter an element of this scope under its name.

        Arguments:
            kind: of the element.
            element: in the document.
            prefix: of its name; by default that of the scope.
        """
        name = element.name()
        if name in self.nodes[kind]:
            first = self.nodes[kind][name].element.where
            raise element.error(f"a second {kind} has this name; the first is at {first}")
        if name in (MODEL, WORLD) or (name.startswith("__") and name.endswith("__")):
            raise element.error(f"the name {brief(name)!r} is reserved for frames of SDF's own")
        full = (self.prefix if prefix is None else prefix) + name
        node = self.nodes[kind][name] = Node(kind, full, element, self)
        return node

    def all(self, kind: str) -> Iterator[Node]:
        """The nodes of a kind, in this scope and in the models in it."""
        yield from self.nodes[kind].values()
        for model in self.nodes["model"].values():
            if model.inside is not None:
                yield from model.inside.all(kind)

    def find(self, name: str, element: Element) -> Node:
        """The node of a name in this scope.

        Arguments:
            name: as an element has it.
            element: for messages.
        """
        if name == WORLD:
            return self._world()
        for kind in KINDS:  # older files have such names in one model
            if "::" in name and name in self.nodes[kind]:
                return self.nodes[kind][name]
        scope, *rest = self, *name.split("::")
        for k, word in enumerate(rest):
            if word == MODEL and scope.node.kind == "model":
                node = scope.node
            else:
                node = scope._named(word, name, element)
            if k == len(rest) - 1:
                return node
            if node.inside is None:
                raise element.error(f"{brief(name)!r}: {node} has nothing inside")
            scope = node.inside
        return scope.node

    def _named(self, word: str, name: str, element: Element) -> Node:
        for kind in KINDS:
            if word in self.nodes[kind]:
                return self.nodes[kind][word]
        known = [n for kind in KINDS for n in self.nodes[kind]]
        raise element.error(str(unknown("frame", brief(name), known, str(self.node))))

    def joint(self, name: str, element: Element) -> Node:
        """The joint of a name in this scope.

        Arguments:
            name: as an element has it.
            element: for messages.
        """
        if name in self.nodes["joint"]:
            return self.nodes["joint"][name]
        node = self.find(name, element)
        if node.kind != "joint":
            raise element.error(f"{brief(name)!r} is {node}: a joint is expected")
        return node

    def _world(self) -> Node:
        node = self.node
        while node.scope is not None:
            node = node.scope.node
        return node


class Frames:
    """The poses of a document's nodes, and the links to which they are attached."""

    def __init__(self) -> None:
        self._poses: dict[Node, Transform] = {}
        self._edges: dict[Node, tuple[Transform, Node]] = {}
        self._links: dict[Node, Node] = {}

    def pose(self, node: Node) -> Transform:
        """The pose of a node in the world."""
        chain: dict[Node, Transform] = {}
        at = node
        while at.scope is not None and at not in self._poses:
            if at in chain:
                raise at.element.error(f"the pose of {at} is relative to itself")
            raw, base = self._edge(at)
            chain[at] = raw
            at = base
        pose = Transform.identity() if at.scope is None else self._poses[at]
        for link, raw in reversed(chain.items()):
            pose = self._poses[link] = pose @ raw
        return pose

    def _edge(self, node: Node) -> tuple[Transform, Node]:
        """The raw pose of a node, and the node that it is relative to."""
        if node not in self._edges:
            base = self._base(node)
            raw = pose_of(node.element)
            placed = node.element.attributes.get("placement_frame", "")
            if node.kind in ("model", "frame") and placed not in ("", MODEL):
                raw = raw @ self._within(node, placed).inverse()
            self._edges[node] = raw, base
        return self._edges[node]

    def _base(self, node: Node) -> Node:
        element, scope = node.element, node.scope
        assert scope is not None  # the world has no pose
        written = relative_to(element)
        if written:
            return scope.find(written, element)
        if node.kind == "joint":
            return scope.find(end(element, "child"), element)
        attached = element.attributes.get("attached_to", "") if node.kind == "frame" else ""
        return scope.find(attached, element) if attached else scope.node

    def _within(self, model: Node, name: str) -> Transform:
        """The pose of a frame of a model in the model's own frame, or in that of a merged one."""
        scope = model.inside or model.scope
        assert scope is not None  # only the world has none
        at, total = scope.find(name, model.element), Transform.identity()
        seen = set[Node]()
        while at is not model:
            if at.scope is None or at in seen:
                raise model.element.error(f"placement_frame={brief(name)!r} does not move with it")
            seen.add(at)
            raw, base = self._edge(at)
            total, at = raw @ total, base
        return total

    def link(self, node: Node) -> Node:
        """The link that a node is attached to; the world if it is attached to none."""
        chain: dict[Node, None] = {}
        at = node
        while at.kind != "link" and at.scope is not None and at not in self._links:
            if at in chain:
                raise at.element.error(f"{at} is attached to itself")
            chain[at] = None
            at = self._attached(at)
        found = self._links.get(at, at)
        self._links |= dict.fromkeys(chain, found)
        return found

    def _attached(self, node: Node) -> Node:
        """The node to which a joint, a frame or a model is attached."""
        element, scope = node.element, node.scope
        assert scope is not None  # the world is attached to nothing
        if node.kind == "joint":
            return scope.find(end(element, "child"), element)
        if node.kind == "frame":
            attached = element.attributes.get("attached_to", "")
            return scope.find(attached, element) if attached else scope.node
        return self.canonical(node)

    def canonical(self, model: Node) -> Node:
        """The node to which a model's frame is attached: a link, a model in it, or the world."""
        inside = model.inside
        assert inside is not None  # a model, or the world
        if model.kind == WORLD:
            return model
        chosen = model.element.attributes.get("canonical_link", "")
        if chosen:
            return inside.find(chosen, model.element)
        first = (*inside.nodes["link"].values(), *inside.nodes["model"].values())
        return first[0] if first else inside._world()


def end(joint: Element, role: str) -> str:
    """The name of the parent or the child of a joint.

    Arguments:
        joint: the element.
        role: "parent" or "child".
    """
    name = text(joint, role)
    if not name:
        raise joint.error(f"<{role}> is empty: the name of a link or a frame is expected")
    return name
