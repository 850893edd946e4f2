"""Constraints in MJCF: elements of <equality>, and the sites that they hold together.

    LoopJoint without a joint, HeldFrame of six rows        weld
    LoopJoint with a ball, HeldFrame of its origin          connect
    LoopJoint with a hinge                                  two connects, of two points on its axis
    Coupling that is linear in one of at most two joints    joint

Sites are used instead of bodies, because MuJoCo computes the second body's point from the first
one's in its reference configuration, where a loop may be open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kinetree.model.constraints import Constraint, Coupling, FrameConstraint, HeldFrame, LoopJoint
from kinetree.model.constraints.coupling import total
from kinetree.model.constraints.loop_joint import SIX
from kinetree.model.description import Connection, Description, Link
from kinetree.model.disassemble import fresh
from kinetree.model.formats.write_mjcf_contacts import softness
from kinetree.model.formats.write_xml import Writer, numbers
from kinetree.model.joints import CHARTS, Joint
from kinetree.spatial import Inertia, Rotation, Transform, Vector3

COEFFICIENTS = 5
ORIGIN = Vector3(0.0, 0.0, 0.0)
HERE = Transform.identity()


@dataclass
class EqualityElements:
    """The elements of a robot's constraints.

    Attributes:
        description: the robot with the sites that are needed.
        in_world: the sites that are fixed in the world itself.
        lost: the names of the constraints that MJCF cannot express.
    """

    description: Description
    in_world: dict[str, Transform] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    _elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for c in self.description.connections:
            if c.mimicry is not None:
                follows, leads = c.mimicry, c.mimicry.joint
                polynomial = (follows.offset, follows.multiplier)
                self._elements.append(("joint", _joint_attributes(c.name, leads, polynomial)))
        constraints = self.description.constraints
        self._names = {c.name for c in constraints}
        for constraint in constraints:
            if not self._add(constraint):
                self.lost.append(constraint.name)

    def write(self, out: Writer) -> None:
        """Write the element <equality>, if there is anything in it."""
        if self._elements:
            with out.element("equality"):
                for tag, attributes in self._elements:
                    out.leaf(tag, **attributes)

    def _add(self, c: Constraint) -> bool:
        """Add the elements of a constraint; whether MJCF can express it."""
        if isinstance(c, Coupling):
            attributes = _coupling_attributes(c)
            if attributes is not None:
                soft = softness(c.softness)
                self._elements.append(("joint", {"name": c.name, **attributes, **soft}))
            return attributes is not None
        if not isinstance(c, FrameConstraint) or any(map(self._is_between_joints, c.frames)):
            return False
        tag, points = _held_points(c)
        for k, point in enumerate(points):
            name = c.name if k == 0 else fresh(f"{c.name}_{k + 1}", self._names)
            self._names.add(name)
            shift = Transform(Rotation.identity(), point)
            sites = {
                "site1": self.site(name, c.base, c.at_base @ shift),
                "site2": self.site(name, c.frame, c.at_frame @ shift),
            }
            self._elements.append((tag, {"name": name, **sites, **softness(c.softness)}))
        return bool(points)

    def _is_between_joints(self, name: str) -> bool:
        """Whether a link has no inertia and carries a joint: MJCF has no body for it."""
        link = next(x for x in self.description.links if x.name == name)
        moves = any(c.child == name and c.joint for c in self.description.connections)
        carries = any(c.parent == name and c.joint for c in self.description.connections)
        return moves and carries and link.inertia == Inertia.zero()

    def site(self, part: str, link: str | None, at: Transform = HERE) -> str:
        """The name of a site at a place; a new one is made if needed.

        Arguments:
            part: the name of the part that needs it.
            link: its link; None for the world.
            at: its pose in the link.
        """
        description = self.description
        name = fresh(f"{part}_{link or 'world'}", {x.name for x in description.links})
        name = fresh(name, self.in_world)
        if link is None:
            self.in_world[name] = at
            return name
        carriers = {c.parent for c in description.connections}
        above = next((c for c in description.connections if c.child == link), None)
        if above is not None and above.joint is None and link not in carriers:
            if at == Transform.identity():
                return link  # written as a site
            link, at = above.parent, above.placement @ at
        for c in description.connections:
            if (c.parent, c.placement, c.joint) == (link, at, None) and c.child not in carriers:
                return c.child
        joint = fresh(f"{name}_fixed", {c.name for c in description.connections})
        self.description = replace(
            description,
            links=[*description.links, Link(name, Inertia.zero())],
            connections=[*description.connections, Connection(joint, link, name, at, None)],
        )
        return name


def _held_points(c: FrameConstraint) -> tuple[str, Iterable[Vector3]]:
    """The element of a constraint, and the points at which its frames hold together."""
    if isinstance(c, HeldFrame) and not c.anywhere:
        if set(c.rows) == set(SIX):
            return "weld", [ORIGIN]
        return "connect", [ORIGIN] if set(c.rows) == set(SIX[:3]) else []
    if isinstance(c, LoopJoint):
        return ("weld", [ORIGIN]) if c.joint is None else ("connect", _points_at_rest(c.joint))
    return "", []


def _points_at_rest(joint: Joint) -> list[Vector3]:
    """The points that determine a ball or a hinge, which it does not move; empty for others."""
    element = (joint.in_chart(CHARTS["quaternion"]) or joint).mjcf()
    if element is None or element.type not in ("ball", "hinge"):
        return []
    if element.axis is None:
        return [element.position]
    return [element.position, element.position + element.axis]


def _coupling_attributes(c: Coupling) -> dict[str, str] | None:
    """q1 = p(q2), if the sum is linear in the coordinate of one joint; None if it is not."""
    for joint, own in c.polynomials:
        others = [(x, f) for x, f in c.polynomials if x != joint]
        if len(others) > 1 or len(own) < 2 or not own[1] or any(own[2:]):
            continue
        leader, f = others[0] if others else ("", ())
        p = tuple(-x / own[1] for x in total(f, own[:1]))
        if not any(p[COEFFICIENTS:]):
            return _joint_attributes(joint, leader, p[:COEFFICIENTS])
    return None


def _joint_attributes(joint: str, leader: str, polynomial: tuple[float, ...]) -> dict[str, str]:
    coefficients = (*polynomial, *(0.0,) * COEFFICIENTS)[:COEFFICIENTS]
    pair = {"joint1": joint} | ({"joint2": leader} if leader else {})
    return {**pair, "polycoef": numbers(coefficients)}
