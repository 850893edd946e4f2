"""The equality constraints of a compiled MuJoCo model: mimics, loops and couplings.

    joint, linear, of two joints    the first joint mimics the second, unless it already mimics one
                                    or this closes a cycle; otherwise a Coupling
    joint, otherwise                a Coupling; of one joint if it is held at a value
    connect                         a LoopJoint with a Ball
    weld                            a LoopJoint without a joint; with a Ball if torquescale is zero
    tendon, of fixed tendons        a Coupling, if it is linear in the tendon that it depends on

Those of spatial tendons and flexes are left out. `solref` and `solimp` are kept, except those of
mimics, which are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree._lazy import cached_property
from kinetree.model.constraints import Constraint, Coupling, LoopJoint
from kinetree.model.constraints.coupling import substituted, total
from kinetree.model.description import Mimicry
from kinetree.model.joints import Ball
from kinetree.model.softness import Softness
from kinetree.spatial import Rotation, Transform, Vector3

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
KINDS: dict[int, str] = {CONNECT: "connect", WELD: "weld", JOINT: "joint", TENDON: "tendon"}
OF_JOINTS = 1  # mjtWrap: what a fixed tendon consists of
SITE = 6  # mjtObj
HINGE = 3  # mjtJoint
COEFFICIENTS = 5
Remark = tuple[str, str, str]
"""Severity, element, message."""


@dataclass(frozen=True)
class Equalities:
    """The equality constraints of a compiled model.

    Arguments:
        m: the model.
        names: of the constraints.
        links, sites, joints: the names here of MuJoCo's bodies, named sites and joints.
        off: the disabled flags.
        pose: makes a transform of a position and a quaternion of MuJoCo's.
    """

    m: Any
    names: Sequence[str]
    links: Sequence[str]
    sites: Mapping[int, str]
    joints: Sequence[str]
    off: set[str]
    pose: Callable[[Any, Any], Transform]

    @cached_property
    def active(self) -> list[int]:
        """The indices of the constraints that act."""
        if self.off & {"EQUALITY", "CONSTRAINT"}:
            return []
        return [i for i in range(self.m.neq) if self.m.eq_active0[i]]

    @cached_property
    def followers(self) -> dict[int, int]:
        """Maps a joint that mimics another to its equality constraint."""
        m, followers = self.m, {}
        leaders: dict[int, int] = {}
        for i in self.active:
            if not self._is_linear_pair(i):
                continue
            joint, leader = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
            if joint not in followers and joint != _last(leader, leaders):
                followers[joint], leaders[joint] = i, leader
        return followers

    def _is_linear_pair(self, i: int) -> bool:
        m = self.m
        linear = not m.eq_data[i][2:COEFFICIENTS].any()
        return bool(m.eq_type[i] == JOINT and m.eq_obj2id[i] >= 0 and linear)

    def mimicry(self, joint: int) -> Mimicry:
        """The `Mimicry` of a joint; in the file coordinates count from references."""
        i = self.followers[joint]
        m, (offset, ratio) = self.m, self.m.eq_data[i][:2].tolist()
        other = int(m.eq_obj2id[i])
        start, there = self._reference(joint), self._reference(other)
        return Mimicry(self.joints[other], ratio, start + offset - ratio * there)

    def _reference(self, joint: int) -> float:
        return float(self.m.qpos0[self.m.jnt_qposadr[joint]])

    def constraints(self, mimic: bool) -> Iterator[Constraint]:
        """The constraints other than mimics.

        Arguments:
            mimic: whether linear equalities of two joints are read.
        """
        taken = set(self.followers.values())
        for i in self.active:
            kind = self.m.eq_type[i]
            if kind == JOINT and i not in taken and (mimic or not self._is_linear_pair(i)):
                yield self._coupling(i)
            elif kind in (CONNECT, WELD) and not self._is_rigid(i):
                yield self._loop(i)
            elif kind == TENDON and (belt := self._belt(i)) is not None:
                yield belt

    def _coupling(self, i: int) -> Coupling:
        """q1 - ref1 - p(q2 - ref2) = 0; p is a constant if there is no second joint."""
        m = self.m
        joint, other = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        unit = "rad" if m.jnt_type[joint] == HINGE else "m"
        p = tuple(-x for x in m.eq_data[i][:COEFFICIENTS].tolist())
        own = (-self._reference(joint), 1.0)
        if other < 0:
            held = ((self.joints[joint], total(own, p[:1])),)
            return Coupling(self.names[i], held, unit=unit, softness=self._softness(i))
        there = substituted(p, 1.0, -self._reference(other))
        pair = (self.joints[joint], own), (self.joints[other], there)
        return Coupling(self.names[i], pair, unit=unit, softness=self._softness(i))

    def _belt(self, i: int) -> Coupling | None:
        """l1 - ref1 - p(l2 - ref2) = 0, where lengths l are sums of coordinates; else None."""
        m = self.m
        first, second = self._objects(i)
        fixed = all(m.wrap_type[m.tendon_adr[x]] == OF_JOINTS for x in (first, second) if x >= 0)
        if not fixed or (second >= 0 and m.eq_data[i][2:COEFFICIENTS].any()):
            return None
        constant, ratio = m.eq_data[i][:2].tolist()
        start = -float(m.tendon_length0[first]) - constant
        weights = dict(self._weights(first))
        if second >= 0:
            start += ratio * float(m.tendon_length0[second])
            for joint, weight in self._weights(second):
                weights[joint] = weights.get(joint, 0.0) - ratio * weight
        pairs = [(joint, (0.0, weight)) for joint, weight in weights.items() if weight]
        if not pairs:
            return None
        (joint, (_, weight)), *others = pairs
        polynomials = ((joint, (start, weight)), *others)
        return Coupling(self.names[i], polynomials, unit="m", softness=self._softness(i))

    def _weights(self, tendon: int) -> Iterator[tuple[str, float]]:
        m, first = self.m, int(self.m.tendon_adr[tendon])
        for k in range(first, first + int(m.tendon_num[tendon])):
            yield self.joints[int(m.wrap_objid[k])], float(m.wrap_prm[k])

    def _softness(self, i: int) -> Softness:
        return softness(self.m.eq_solref[i], self.m.eq_solimp[i])

    def _loop(self, i: int) -> LoopJoint:
        """The loop of a connect or a weld; a body fixed in the world becomes its base."""
        m, numbers = self.m, self.m.eq_data[i]
        weld = m.eq_type[i] == WELD and numbers[10] != 0.0
        if m.eq_objtype[i] == SITE:
            one, two = ((self.sites[int(x)], Transform.identity()) for x in self._objects(i))
        else:
            # a weld's point on the second body comes first, and the second body's orientation
            # in the first one follows
            places = numbers[:6].reshape(2, 3)[:: -1 if m.eq_type[i] == WELD else 1]
            turned = numbers[6:10] if m.eq_type[i] == WELD else (1.0, 0.0, 0.0, 0.0)
            first, second = self._objects(i)
            one = self.links[first], self.pose(places[0], turned)
            two = self.links[second], _point(places[1])
        bodies = self._bodies(i)
        (base, at_base), (frame, at_frame) = (
            (two, one) if m.body_weldid[bodies[1]] == 0 else (one, two)
        )
        joint = None if weld else Ball()
        return LoopJoint(
            self.names[i],
            frame,
            base,
            joint=joint,
            at_frame=at_frame,
            at_base=at_base,
            softness=self._softness(i),
        )

    def _objects(self, i: int) -> tuple[int, int]:
        return int(self.m.eq_obj1id[i]), int(self.m.eq_obj2id[i])

    def _bodies(self, i: int) -> list[int]:
        """The bodies that a connect or a weld holds together."""
        at_sites = self.m.eq_objtype[i] == SITE
        return [int(self.m.site_bodyid[x]) if at_sites else x for x in self._objects(i)]

    def _is_rigid(self, i: int) -> bool:
        """Whether nothing moves between the bodies of a connect or a weld."""
        one, two = (self.m.body_weldid[body] for body in self._bodies(i))
        return bool(one == two)

    def remarks(self) -> Iterator[Remark]:
        """Remarks on constraints that are left out, and on mocap bodies, which do not move here."""
        m, acting = self.m, set(self.active)
        for i in range(m.neq):
            element = f"equality {self.names[i]!r}"
            if i not in acting:
                if not self.off & {"EQUALITY", "CONSTRAINT"}:
                    yield "note", element, "it is left out, since it is not active at the start"
            elif m.eq_type[i] not in KINDS or (m.eq_type[i] == TENDON and not self._belt(i)):
                yield (
                    "warning",
                    element,
                    "it takes no part in the dynamics: constraints of spatial tendons and flexes "
                    "are not read",
                )
            elif m.eq_type[i] in (CONNECT, WELD):
                yield from self._loop_remarks(i, element)

    def _loop_remarks(self, i: int, element: str) -> Iterator[Remark]:
        m = self.m
        if self._is_rigid(i):
            yield "warning", element, "it is left out, since nothing moves between its bodies"
        for body in self._bodies(i):
            if m.body_mocapid[body] >= 0:
                message = f"it holds on to the mocap body {self.links[body]!r}, which stands still"
                yield "warning", element, f"{message} here"


def softness(solref: Any, solimp: Any) -> Softness:
    """The softness of MuJoCo's two arrays."""
    return Softness(tuple(solref.tolist()), tuple(solimp.tolist()))


def _last(joint: int, leaders: dict[int, int]) -> int:
    """The joint at the end of a chain of mimics, with path halving."""
    while joint in leaders:
        leaders[joint] = leaders.get(leaders[joint], leaders[joint])
        joint = leaders[joint]
    return joint


def _point(place: Any) -> Transform:
    return Transform(Rotation.identity(), Vector3(*(float(x) for x in place)))
