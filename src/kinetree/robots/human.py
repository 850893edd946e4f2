"""A human figure from published anthropometry.

Source: P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of
Biomechanics 29 (1996), Table 4, the values for males: each segment's mass in percent of the body's,
its length, where its centre of mass is and how large its radii of gyration are in percent of that
length. The mean subject has 73.0 kg and 1.741 m. `human_ranges` has how far joints turn.

x points forward, y to the left, z up. In the neutral pose the figure stands, arms hanging.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from kinetree.model.geometry import Capsule, Collider
from kinetree.model.joints import Ball, Joint, Revolute
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import BLUE, LIGHT, X, Y, place, turned
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

MASS = 73.0  # kg
LEFT, RIGHT, TRUNK = BLUE, (0.77, 0.38, 0.23), LIGHT  # colours
SHOULDER, HIP = 0.19, 0.085  # m from the middle: half of usual joint breadths
HEEL = -0.05  # m: the height of the foot's middle above the ankle
SOLE = 0.03  # m: the radius of the capsules with which a foot touches


@dataclass(frozen=True)
class Segment:
    """A row of the table of segments.

    Attributes:
        mass: percent of the body's mass.
        length: m.
        center: the distance of the centre of mass from the upper end, percent of the length.
        sagittal, transverse, longitudinal: radii of gyration, percent of the length.
    """

    mass: float
    length: float
    center: float
    sagittal: float
    transverse: float
    longitudinal: float

    @property
    def radius(self) -> float:
        """The radius of the cylinder along it with the same radius of gyration, m."""
        return math.sqrt(2.0) * self.longitudinal / 100.0 * self.length

    def inertia(self, total: float, downwards: bool) -> Inertia:
        """The inertia of the segment, which lies along z and begins at the origin.

        Arguments:
            total: the mass of the whole body, kg.
            downwards: whether it hangs down from its upper end, or stands up on its lower one.

        Returns:
            The inertia about the origin.
        """
        m = self.mass / 100.0 * total
        x, y, z = (
            m * (r / 100.0 * self.length) ** 2
            for r in (self.sagittal, self.transverse, self.longitudinal)
        )
        from_top = self.center / 100.0 * self.length
        height = -from_top if downwards else self.length - from_top
        about = Symmetric3(x, y, z, 0.0, 0.0, 0.0)
        return Inertia.about_center(m, Vector3(0.0, 0.0, height), about)


HEAD = Segment(6.94, 0.2429, 50.02, 30.3, 31.5, 26.1)
UPPER_TRUNK = Segment(15.96, 0.1707, 29.99, 71.6, 45.4, 65.9)
MIDDLE_TRUNK = Segment(16.33, 0.2155, 45.02, 48.2, 38.3, 46.8)
LOWER_TRUNK = Segment(11.17, 0.1457, 61.15, 61.5, 55.1, 58.7)
UPPER_ARM = Segment(2.71, 0.2817, 57.72, 28.5, 26.9, 15.8)
FOREARM = Segment(1.62, 0.2689, 45.74, 27.6, 26.5, 12.1)
HAND = Segment(0.61, 0.0862, 79.00, 62.8, 51.3, 40.1)
THIGH = Segment(14.16, 0.4222, 40.95, 32.9, 32.9, 14.9)
SHANK = Segment(4.33, 0.4340, 44.59, 25.5, 24.9, 10.3)
FOOT = Segment(1.37, 0.2581, 44.15, 25.7, 24.5, 12.4)


@dataclass(frozen=True)
class Proportions:
    """The sizes of a human figure; by default those of the mean subject.

    Attributes:
        mass: of the whole body, kg.
        shoulder, hip: the distance of these joints from the middle, m.
        head, upper_trunk, middle_trunk, lower_trunk, upper_arm, forearm, hand, thigh, shank, foot:
            the segments.
    """

    mass: float = MASS
    shoulder: float = SHOULDER
    hip: float = HIP
    head: Segment = HEAD
    upper_trunk: Segment = UPPER_TRUNK
    middle_trunk: Segment = MIDDLE_TRUNK
    lower_trunk: Segment = LOWER_TRUNK
    upper_arm: Segment = UPPER_ARM
    forearm: Segment = FOREARM
    hand: Segment = HAND
    thigh: Segment = THIGH
    shank: Segment = SHANK
    foot: Segment = FOOT

    def with_lengths(self, **lengths: float) -> Proportions:
        """The proportions with other lengths of segments; masses and shapes stay in proportion.

        Arguments:
            lengths: by the names of segments, m.

        Returns:
            New proportions.
        """
        changed = {name: replace(getattr(self, name), length=x) for name, x in lengths.items()}
        return replace(self, **changed)


MEAN = Proportions()


def human(base: str = "floating", proportions: Proportions = MEAN) -> Robot:
    """A human figure of 73 kg: sixteen segments, ball joints, elbows and knees that bend.

    The root is the lower trunk, whose frame is at the middle of the hips. Each foot touches with
    two capsules from the heel to the toes; `on_ground` lets them touch the ground.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.
        proportions: masses and lengths; by default those of the mean subject.

    Returns:
        The robot.
    """
    from kinetree.robots import human_ranges as ranges  # only this robot needs them

    size = proportions
    trunk = size.lower_trunk.inertia(size.mass, downwards=False)
    figure = Assembly("human", "lower_trunk", trunk)
    soles: list[Collider] = []

    def upwards(name: str, segment: Segment, parent: str, height: float) -> None:
        at = Vector3(0.0, 0.0, height)
        inertia = segment.inertia(size.mass, downwards=False)
        limits = Limits(ball=(ranges.NECK if name == "head" else ranges.SPINE).left())
        figure.add(name, parent, Ball(), at, inertia, limits=limits)

    def downwards(
        name: str,
        segment: Segment,
        parent: str,
        at: Vector3,
        joint: Joint,
        limits: Limits,
    ) -> None:
        inertia = segment.inertia(size.mass, downwards=True)
        figure.add(name, parent, joint, at, inertia, limits=limits)

    upwards("middle_trunk", size.middle_trunk, "lower_trunk", size.lower_trunk.length)
    upwards("upper_trunk", size.upper_trunk, "middle_trunk", size.middle_trunk.length)
    upwards("head", size.head, "upper_trunk", size.upper_trunk.length)
    for side, y in (("left", 1.0), ("right", -1.0)):
        arm, forearm, hand = f"{side}_upper_arm", f"{side}_forearm", f"{side}_hand"
        thigh, shank, foot = f"{side}_thigh", f"{side}_shank", f"{side}_foot"
        shoulder = Vector3(0.0, size.shoulder * y, size.upper_trunk.length)

        def turns(given: ranges.Turns, side: str = side) -> Limits:
            return Limits(ball=given.left() if side == "left" else given.right())

        downwards(arm, size.upper_arm, "upper_trunk", shoulder, Ball(), turns(ranges.SHOULDER))
        elbow = Limits(-2.5, 0.0)  # the forearm bends forward
        downwards(forearm, size.forearm, arm, _below(size.upper_arm), Revolute(Y), elbow)
        downwards(hand, size.hand, forearm, _below(size.forearm), Ball(), turns(ranges.WRIST))
        hip = Vector3(0.0, size.hip * y, 0.0)
        downwards(thigh, size.thigh, "lower_trunk", hip, Ball(), turns(ranges.HIP))
        knee = Limits(0.0, 2.5)  # the shank bends backward
        downwards(shank, size.shank, thigh, _below(size.thigh), Revolute(Y), knee)
        ankle = _below(size.shank)
        figure.add(foot, shank, Ball(), ankle, _foot(size), limits=turns(ranges.ANKLE))
        soles += _soles(foot, size)
    _draw(figure, size)
    return figure.robot(base).collide(*soles)


def _draw(figure: Assembly, size: Proportions) -> None:
    """Capsules: along the limbs, and across the trunk."""
    for name, segment in (
        ("lower_trunk", size.lower_trunk),
        ("middle_trunk", size.middle_trunk),
        ("upper_trunk", size.upper_trunk),
    ):
        radius = 0.62 * segment.length if segment.length < 0.2 else 0.5 * segment.length
        at = turned(X, math.pi / 2, Vector3(0.0, 0.0, segment.length / 2))
        across = 2.0 * max(segment.radius - radius, 0.1 * radius)
        figure.add_shape(name, "capsule", (radius, across), at, color=TRUNK)
    head = size.head
    length, middle = max(head.length - 2.0 * head.radius, 0.02), (0.0, 0.0, 0.5 * head.length)
    figure.add_shape("head", "capsule", (head.radius, length), middle, color=TRUNK)
    for side, color in (("left", LEFT), ("right", RIGHT)):
        for part in ("upper_arm", "forearm", "hand", "thigh", "shank"):
            segment = getattr(size, part)
            radius = min(0.8 * segment.radius, 0.4 * segment.length)
            along = segment.length - (0.0 if part == "hand" else radius)
            at = place(0.0, z=-0.5 * segment.length)
            figure.add_shape(f"{side}_{part}", "capsule", (radius, along), at, color=color)
        foot, low = size.foot, 0.8 * size.foot.radius
        at = turned(Y, math.pi / 2, Vector3(0.25 * foot.length, 0.0, -0.05))
        capsule = (low, foot.length - 2.0 * low)
        figure.add_shape(f"{side}_foot", "capsule", capsule, at, color=color)


def _below(segment: Segment) -> Vector3:
    return Vector3(0.0, 0.0, -segment.length)


def _soles(foot: str, size: Proportions) -> list[Collider]:
    """Two capsules along a foot, one on each side."""
    half = size.foot.length / 2
    forward = Rotation.about(Y, math.pi / 2)
    return [
        Collider(
            f"{foot}_{side}",
            foot,
            Capsule(SOLE, half - SOLE),
            Transform(forward, Vector3(half / 2, y, HEEL)),
        )
        for side, y in (("left", SOLE), ("right", -SOLE))
    ]


def _foot(size: Proportions) -> Inertia:
    """The foot lies along x, its heel a quarter of its length behind the ankle."""
    along = size.foot.inertia(size.mass, downwards=True)  # from the heel down: now it is behind
    forward = Rotation.about(Y, -math.pi / 2)
    heel = Vector3(-size.foot.length / 4, 0.0, HEEL)
    return Transform(forward, heel).to_parent(along)
