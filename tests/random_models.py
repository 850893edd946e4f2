"""Random robots of every joint type, for property tests: one strategy for all of them."""

import math
from dataclasses import replace

from hypothesis import strategies as st

from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.joints import (
    EULER_SEQUENCES,
    Ball,
    Custom,
    ExponentialBall,
    Floating,
    Joint,
    Offset,
    Prismatic,
    Relocated,
    Revolute,
    Screw,
    cylindrical,
    euler,
    free_motion,
    planar,
    universal,
)
from kinetree.model.model import NO_INERTIA, Drive, Limits, Model
from kinetree.quantities import posedness
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

AXES = (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))
RIGHT_ANGLES = (0.0, math.pi / 2, -math.pi / 2, math.pi)


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


@st.composite
def directions(draw) -> Vector3:
    """A unit vector: a coordinate axis, its opposite, or any other."""
    if draw(st.booleans()):
        axis = draw(st.sampled_from(AXES))
        return axis if draw(st.booleans()) else -axis
    azimuth, height = draw(numbers(-math.pi, math.pi)), draw(numbers(-1.0, 1.0))
    across = math.sqrt(1.0 - height * height)
    v = Vector3(across * math.cos(azimuth), across * math.sin(azimuth), height)
    return v * (1.0 / math.sqrt(v.dot(v)))


@st.composite
def rotations(draw) -> Rotation:
    """A rotation: by right angles, as most files have them, or any other."""
    angle = st.one_of(st.sampled_from(RIGHT_ANGLES), numbers(-math.pi, math.pi))
    return Rotation.rpy(draw(angle), draw(angle), draw(angle))


@st.composite
def transforms(draw) -> Transform:
    length = st.one_of(st.just(0.0), numbers(-1.0, 1.0))
    return Transform(draw(rotations()), Vector3(*(draw(length) for _ in range(3))))


@st.composite
def inertias(draw) -> Inertia:
    """A solid box, anywhere, turned anyhow."""
    mass = draw(numbers(0.1, 10.0))
    a, b, c = (draw(numbers(0.05, 0.5)) for _ in range(3))
    box = Symmetric3(b * b + c * c, a * a + c * c, a * a + b * b, 0.0, 0.0, 0.0) * (mass / 12.0)
    pose = draw(transforms())
    about_center = pose.rotation.turn_symmetric(box)
    return Inertia.about_center(mass, pose.translation, about_center)


def link_inertias() -> st.SearchStrategy[Inertia]:
    """Of a link: mostly a box; sometimes none, as between the axes of a pan-tilt head."""
    return st.one_of(inertias(), inertias(), st.just(NO_INERTIA))


def bent_rail(q):
    """A carriage on a curved rail that turns as it goes: a joint nobody has a file for."""
    turn = Rotation.about(AXES[2], q[0])
    return Transform(turn, Vector3(q[0], q[0] * q[0] * 0.3, q[1])) @ Transform(
        Rotation.about(AXES[0], q[1] * 0.5), Vector3(0, 0, 0)
    )


@st.composite
def universals(draw) -> Joint:
    """Two axes that are not parallel."""
    first = draw(directions())
    second = min(AXES, key=lambda axis: abs(axis.dot(first)))
    return universal(first, second)


def moved_ball(at: Transform) -> Joint:
    """A ball that is not at its body's origin."""
    return Relocated(Ball(), at)


JOINTS: dict[str, st.SearchStrategy[Joint]] = {
    "revolute": st.builds(Revolute, directions()),
    "prismatic": st.builds(Prismatic, directions()),
    "screw": st.builds(Screw, directions(), numbers(-0.5, 0.5)),
    "cylindrical": st.builds(cylindrical, directions()),
    "universal": universals(),
    "planar": st.just(planar()),
    "ball": st.just(Ball()),
    "exponential ball": st.just(ExponentialBall()),
    "euler ball": st.builds(euler, st.sampled_from(EULER_SEQUENCES)),
    "floating": st.just(Floating()),
    "free motion": st.builds(
        free_motion, st.sampled_from((Ball(), ExponentialBall(), euler("zyx"), euler("xyx")))
    ),
    "moved": st.builds(moved_ball, transforms()),
    "reversed": st.sampled_from((Ball(), Floating(), ExponentialBall(), euler("zxz"))).map(
        Joint.reversed
    ),
    "offset": st.builds(Offset, st.builds(Screw, directions(), numbers(-0.5, 0.5)), numbers(-3, 3)),
    "custom": st.just(Custom(bent_rail, 2)),
}
"""Every kind of joint."""


def joints() -> st.SearchStrategy[Joint]:
    return st.one_of(*JOINTS.values())


@st.composite
def coordinates(draw, joint: Joint) -> list[float]:
    """Coordinates of a joint, a quaternion of length one where it has one."""
    if joint.nq == joint.nv:
        return [draw(numbers(-3.0, 3.0)) for _ in range(joint.nq)]
    axis, half = draw(directions()), draw(numbers(-math.pi, math.pi))
    quat = (*(axis * math.sin(half)), math.cos(half))
    return [*(draw(numbers(-1.0, 1.0)) for _ in range(joint.nq - 4)), *quat]


@st.composite
def drives(draw, joint: Joint | None) -> Drive:
    """Rotor inertia, friction and a spring, or none of them."""
    amount = st.one_of(st.just(0.0), numbers(0.01, 1.0))
    given = Drive(draw(amount), draw(amount), draw(amount))
    if joint is None or draw(st.booleans()):
        return given
    rest = draw(st.one_of(st.just(()), coordinates(joint).map(tuple)))
    return replace(given, stiffness=draw(numbers(0.1, 10.0)), rest=rest)


@st.composite
def mimicries(draw, connections) -> Mimicry | None:
    """Copying one of the joints of one coordinate there are, or none."""
    single = [c.name for c in connections if c.joint is not None and c.joint.nq == 1]
    if not single or draw(st.booleans()):
        return None
    ratio, offset = draw(numbers(-2.0, 2.0)), draw(numbers(-1.0, 1.0))
    return Mimicry(draw(st.sampled_from(single)), ratio, offset)


def regular_models(max_bodies: int = 6, mimic: bool = True) -> st.SearchStrategy[Model]:
    """Models whose forces determine their accelerations; massless links are carried by joints
    whose motion moves other links.
    """
    return models(max_bodies, mimic).filter(lambda model: not posedness.findings(model))


@st.composite
def models(draw, max_bodies: int = 6, mimic: bool = True) -> Model:
    """A tree of bodies on every kind of joint, with drives, some links massless, some fixed, some
    joints mimicking others, the base fixed or floating. Its mass matrix may be singular.
    """
    count = draw(st.integers(1, max_bodies))
    links = [Link("root", draw(link_inertias()), "test")]
    connections = []
    for i in range(count):
        parent = draw(st.integers(0, i))
        links.append(Link(f"link{i}", draw(link_inertias()), "test"))
        # the first joint moves, so that there is something to compute
        joint = draw(joints() if i == 0 else st.one_of(joints(), st.none()))
        connections.append(
            Connection(
                f"joint{i}",
                links[parent].name,
                links[-1].name,
                draw(transforms()),
                joint,
                Limits(),
                "test",
                draw(drives(joint)),
                draw(mimicries(connections)) if mimic and joint and joint.nq == 1 else None,
            )
        )
    base = draw(st.sampled_from(("fixed", "floating")))
    gravity = Vector3(*(draw(numbers(-10.0, 10.0)) for _ in range(3)))
    return assemble(Description("random", links, connections, gravity=gravity), base=base)
