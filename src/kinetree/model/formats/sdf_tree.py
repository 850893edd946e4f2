"""From the links and joints of an SDF document to a tree and the constraints that close its loops.

Joints with fewer coordinates come into the tree first (Kruskal's algorithm), so that a loop is cut
at the joint that leaves most motion and has the fewest rows. Connected parts that are not joined to
the world are free. Joints are then followed from the root outwards, against their own direction if
needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kinetree.model.constraints import Constraint, Coupling, LoopJoint
from kinetree.model.description import Connection, Link
from kinetree.model.disassemble import fresh
from kinetree.model.formats.sdf_frames import WORLD, Frames, Node, Scope
from kinetree.model.formats.sdf_joints import SdfJoint, axis_of, lost_in_loops
from kinetree.model.formats.sdf_values import number, text
from kinetree.model.formats.xml import Element
from kinetree.model.joints import Composite, Floating, Joint
from kinetree.model.problem import Problem
from kinetree.model.rounding import snapped_transform
from kinetree.spatial import Inertia, Transform, Vector3

PARALLEL = 1e-6
"""The tolerance of directions between the axes of a gear and its hinges."""
MOST_GEARS = 1000
Step = tuple[SdfJoint, bool]
"""A joint between two links, and whether it is followed from parent to child."""


@dataclass
class Tree:
    """A spanning tree of links, and the constraints that close loops.

    Arguments:
        frames: the poses of all nodes.
        world: the node of the world.
        static: the links that stand still.
        alone: whether the document is a model, not a world.
        connections: of the tree.
        between: links without inertia between the axes of a joint.
        constraints: loops and gears.
        remarks: on losses.
        free: the links that are free in the world, roots of their subtrees.
        placed: where the file puts them, by the names of their joints.
    """

    frames: Frames
    world: Node
    static: Sequence[Node] = ()
    alone: bool = True
    connections: list[Connection] = field(default_factory=list)
    between: list[Link] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    remarks: list[Problem] = field(default_factory=list)
    free: list[Node] = field(default_factory=list)
    placed: dict[str, Transform] = field(default_factory=dict)
    _above: dict[Node, tuple[Node, Step]] = field(default_factory=dict)

    def build(
        self, links: Sequence[Node], joints: Sequence[SdfJoint], first: Sequence[Node]
    ) -> None:
        """Find the tree.

        Arguments:
            links: of the document.
            joints: of the document.
            first: links that are preferred as roots.
        """
        moving = [joint for joint in joints if joint.type != "gearbox"]
        taken, cut = self._spanning(moving)
        below: dict[Node, list[SdfJoint]] = {}
        for joint in taken:
            below.setdefault(joint.parent, []).append(joint)
            below.setdefault(joint.child, []).append(joint)
        names = {name for joint in joints for name in joint.names}
        names |= {joint.node.name for joint in joints}
        for link in self.static:
            self._fix(link, names)
        seen = {self.world, *self.static}
        for link in (self.world, *self.static):
            self._walk(link, below, seen)
        children = {joint.child for joint in taken}
        order = [*first, *(x for x in links if x not in children), *links]
        for link in order:
            if link not in seen:
                seen.add(link)
                self.free.append(link)
                self._walk(link, below, seen)
        if self.root is self.world:
            for link in self.free:
                name = fresh(f"{link.name}_free", names)
                names.add(name)
                where = link.element.where
                at = Transform.identity()
                self._connect(name, WORLD, link.name, at, Floating(), where)
                self.placed[name] = snapped_transform(self.frames.pose(link))
        for joint in cut:
            self._close(joint)
        gears = [joint for joint in joints if joint.type == "gearbox"]
        if len(gears) > MOST_GEARS:  # each needs the path between its links
            raise gears[-1].node.element.error(f"more than {MOST_GEARS} gearboxes are not read")
        for joint in gears:
            self._gear(joint)

    @property
    def root(self) -> Node:
        """The link that nothing carries; the world if something is joined to it."""
        hangs = any(above is self.world for above, _ in self._above.values())
        on_world = hangs or self.static or len(self.free) != 1 or not self.alone
        return self.world if on_world else self.free[0]

    def _spanning(self, joints: Sequence[SdfJoint]) -> tuple[list[SdfJoint], list[SdfJoint]]:
        """The joints of the tree, and those that close loops, both in the order of the file."""
        groups, rigid = _Groups(), _Groups()
        for link in self.static:
            groups.join(self.world, link)
            rigid.join(self.world, link)
        chosen = set[Node]()
        for joint in sorted(joints, key=_freedom):
            if groups.join(joint.parent, joint.child):
                chosen.add(joint.node)
                if not joint.freedoms:
                    rigid.join(joint.parent, joint.child)
        cut = []
        for joint in joints:
            if joint.node in chosen:
                continue
            if rigid.first(joint.parent) is rigid.first(joint.child):
                self._remark(joint, "it is left out: nothing moves between its links")
            else:
                cut.append(joint)
        return [joint for joint in joints if joint.node in chosen], cut

    def _walk(self, start: Node, below: Mapping[Node, list[SdfJoint]], seen: set[Node]) -> None:
        """Connect the subtree of a link."""
        pending = [start]
        while pending:
            link = pending.pop()
            for joint in below.get(link, ()):
                forward = joint.parent is link
                other = joint.child if forward else joint.parent
                if other not in seen:
                    seen.add(other)
                    self._above[other] = link, (joint, forward)
                    self._follow(joint, link, other, forward)
                    pending.append(other)

    def _follow(self, joint: SdfJoint, start: Node, stop: Node, forward: bool) -> None:
        """The connections of a joint; between two axes there is a link without inertia."""
        at, where = self.frames.pose(joint.node), joint.node.element.where
        before, parent = self.frames.pose(start), start.name
        if not joint.freedoms:
            at = snapped_transform(before.inverse() @ self.frames.pose(stop))
            self._connect(joint.node.name, parent, stop.name, at, None, where)
            return
        freedoms = list(zip(joint.names, joint.freedoms, strict=True))
        for k, (name, freedom) in enumerate(freedoms if forward else freedoms[::-1]):
            last = k == len(freedoms) - 1
            after = self.frames.pose(stop) if last else at
            child = stop.name if last else f"{stop.name}:{joint.node.name}"
            moved = freedom.joint if forward else freedom.joint.reversed()
            moved = moved.relocated(snapped_transform(after.inverse() @ at))
            place = snapped_transform(before.inverse() @ after)
            self.connections.append(
                Connection(
                    name,
                    parent,
                    child,
                    place,
                    moved,
                    freedom.limits,
                    where,
                    freedom.drive,
                    freedom.mimicry,
                )
            )
            if not last:
                self.between.append(Link(child, Inertia.zero(), where))
            before, parent = after, child

    def _fix(self, link: Node, names: set[str]) -> None:
        """Fix a link that stands still on the world."""
        name = fresh(f"{link.name}_fixed", names)
        names.add(name)
        at = snapped_transform(self.frames.pose(link))
        self._connect(name, WORLD, link.name, at, None, link.element.where)

    def _connect(
        self, name: str, parent: str, child: str, at: Transform, joint: Joint | None, where: str
    ) -> None:
        self.connections.append(Connection(name, parent, child, at, joint, where=where))

    def _remark(self, joint: SdfJoint, message: str) -> None:
        where = joint.node.element.where
        self.remarks.append(Problem("warning", str(joint.node), message, where))

    # constraints

    def _close(self, joint: SdfJoint) -> None:
        """A joint that is not in the tree closes a loop."""
        at = self.frames.pose(joint.node)
        joints = tuple(freedom.joint for freedom in joint.freedoms)
        moves = None if not joints else joints[0] if len(joints) == 1 else Composite(joints)
        base, frame = joint.parent, joint.child
        if frame is self.world:
            base, frame, moves = frame, base, moves and moves.reversed()
        self.constraints.append(
            LoopJoint(
                joint.node.name,
                frame.name,
                base.name,
                joint=moves,
                at_frame=snapped_transform(self.frames.pose(frame).inverse() @ at),
                at_base=snapped_transform(self.frames.pose(base).inverse() @ at),
            )
        )
        lost = " and ".join(dict.fromkeys(lost_in_loops(joint)))
        if lost:
            self._remark(joint, f"it closes a loop, and has no coordinate of its own: {lost} lost")

    def _gear(self, joint: SdfJoint) -> None:
        """theta_2 = -ratio theta_1, the angles of child and parent from a body of reference."""
        element, scope = joint.node.element, joint.node.scope
        assert scope is not None  # only the world has none
        name = text(element, "gearbox_reference_body")
        body = self.frames.link(scope.find(name, element))
        first = self._angle(body, joint.parent, self._gear_axis(joint, scope, "axis"))
        second = self._angle(body, joint.child, self._gear_axis(joint, scope, "axis2"))
        if first is None or second is None:
            self._remark(
                joint,
                f"it is left out: between {name!r} and its links there must be hinges about its "
                "axes, and nothing else",
            )
            return
        ratio = number(element, "gearbox_ratio", 1.0)
        total = dict(second)
        for coordinate, sign in first.items():
            total[coordinate] = total.get(coordinate, 0.0) + ratio * sign
        polynomials = tuple((name, (0.0, factor)) for name, factor in total.items() if factor)
        if polynomials:
            self.constraints.append(Coupling(joint.node.name, polynomials))

    def _gear_axis(self, joint: SdfJoint, scope: Scope, tag: str) -> Vector3:
        """An axis of a gearbox, in the world."""
        element = joint.node.element
        axis = element.first(tag) or Element(tag, {}, element.line, element.file)
        u = axis_of(joint.node, scope, axis, self.frames)
        return self.frames.pose(joint.node).rotation @ u

    def _angle(self, start: Node, stop: Node, axis: Vector3) -> dict[str, float] | None:
        """The angle between two links as a sum of coordinates; None if it is no such sum."""
        total: dict[str, float] = {}
        for joint, forward in self._way(start, stop):
            for name, freedom in zip(joint.names, joint.freedoms, strict=True):
                if freedom.hinge is None:
                    return None
                u = self.frames.pose(joint.node).rotation @ freedom.hinge
                along = u.dot(axis)
                if abs(abs(along) - 1.0) > PARALLEL:
                    return None
                sign = 1.0 if (along > 0.0) == forward else -1.0
                total[name] = total.get(name, 0.0) + sign
        return total

    def _way(self, start: Node, stop: Node) -> Iterator[Step]:
        """The joints on the way from one link to another."""
        up, down = self._to_root(start), self._to_root(stop)
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        for joint, forward in up:
            yield joint, not forward
        yield from reversed(down)

    def _to_root(self, link: Node) -> list[Step]:
        steps = []
        while link in self._above:
            link, step = self._above[link]
            steps.append(step)
        return steps


def _freedom(joint: SdfJoint) -> int:
    return sum(freedom.joint.nv for freedom in joint.freedoms)


class _Groups:
    """Disjoint sets of nodes."""

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}

    def first(self, node: Node) -> Node:
        """The representative of a node's set."""
        while node in self._parent:
            above = self._parent[node]
            self._parent[node] = self._parent.get(above, above)  # path halving
            node = above
        return node

    def join(self, one: Node, two: Node) -> bool:
        """Merge two sets; returns whether they were different."""
        one, two = self.first(one), self.first(two)
        if one is two:
            return False
        self._parent[two] = one
        return True
