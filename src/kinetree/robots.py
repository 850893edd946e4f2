"""Built-in robots, written for this project: nothing to download, every size to test with."""

from __future__ import annotations

import math
import random

from kinetree.errors import ModelError
from kinetree.model.description import Connection, Link, assemble
from kinetree.model.joints import Joint, Revolute
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

_HERE = "built in"


def arm(base: str = "fixed") -> Robot:
    """A seven-joint arm of human reach: shoulder, elbow and wrist, roll and pitch in turn.

    Lengths, masses and limits are of the order of today's light-weight arms: 0.8 m of reach,
    18 kg on a base of 4 kg. Each link is a solid cylinder along its length.
    """
    # (length along z to the next joint, mass, radius), then (velocity, effort) of the joint
    segments = (
        (0.34, 4.0, 0.06, 1.7, 180.0),
        (0.0, 3.6, 0.06, 1.7, 180.0),
        (0.40, 3.2, 0.055, 1.7, 110.0),
        (0.0, 2.8, 0.055, 2.2, 110.0),
        (0.39, 2.0, 0.05, 2.4, 110.0),
        (0.0, 1.6, 0.045, 3.1, 40.0),
        (0.10, 0.8, 0.04, 3.1, 40.0),
    )
    links = [Link("base", _cylinder(4.0, 0.09, 0.1), _HERE)]
    connections = []
    offset = 0.0
    for i, (length, mass, radius, velocity, effort) in enumerate(segments):
        roll = i % 2 == 0
        links.append(Link(f"link{i + 1}", _cylinder(mass, radius, length or 2 * radius), _HERE))
        reach = 2.9 if roll else 2.0
        connections.append(
            Connection(
                f"joint{i + 1}",
                links[i].name,
                links[i + 1].name,
                Transform(Rotation.identity(), Vector3(0.0, 0.0, offset)),
                Revolute(Vector3(0.0, 0.0, 1.0) if roll else Vector3(0.0, 1.0, 0.0)),
                Limits(-reach, reach, velocity, effort),
                _HERE,
            )
        )
        offset = length
    links.append(Link("tool", Inertia.zero(), _HERE))
    connections.append(_fixed("tool_mount", "link7", "tool", Vector3(0.0, 0.0, offset)))
    return Robot(assemble("arm", links, connections, base=base))


def chain(n: int, seed: int = 0, base: str = "fixed") -> Robot:
    """A serial chain of n revolute joints about random axes, with random inertias."""
    return tree(n, branching=1, seed=seed, base=base, name=f"chain{n}")


def tree(
    n: int, branching: int = 2, seed: int = 0, base: str = "fixed", name: str | None = None
) -> Robot:
    """A tree of n revolute joints in which every body carries up to `branching` others."""
    if n < 1 or branching < 1:
        raise ModelError(f"tree({n}, {branching}): at least one body and one branch are expected")
    rng = random.Random(seed)
    width = len(str(n))
    names = ["base", *(f"link{i:0{width}}" for i in range(1, n + 1))]
    links = [Link("base", _random_inertia(rng), _HERE)]
    connections = []
    for i in range(1, n + 1):
        links.append(Link(names[i], _random_inertia(rng), _HERE))
        joint: Joint = Revolute(_random_direction(rng))
        turn = Rotation.about(_random_direction(rng), rng.uniform(-math.pi, math.pi))
        connections.append(
            Connection(
                f"joint{i:0{width}}",
                names[0 if i == 1 else 1 + (i - 2) // branching],
                names[i],
                Transform(turn, _random_direction(rng) * rng.uniform(0.1, 0.5)),
                joint,
                Limits(),
                _HERE,
            )
        )
    return Robot(assemble(name or f"tree{n}x{branching}", links, connections, base=base))


def _fixed(name: str, parent: str, child: str, at: Vector3) -> Connection:
    place = Transform(Rotation.identity(), at)
    return Connection(name, parent, child, place, None, Limits(), _HERE)


def _cylinder(mass: float, radius: float, length: float) -> Inertia:
    """A solid cylinder along z from the origin."""
    across = mass * (3.0 * radius * radius + length * length) / 12.0
    about_center = Symmetric3(across, across, mass * radius * radius / 2.0, 0.0, 0.0, 0.0)
    return Inertia.about_center(mass, Vector3(0.0, 0.0, length / 2.0), about_center)


def _random_direction(rng: random.Random) -> Vector3:
    while True:
        v = Vector3(*(rng.uniform(-1.0, 1.0) for _ in range(3)))
        length = math.sqrt(v.dot(v))
        if 0.1 < length <= 1.0:
            return v * (1.0 / length)


def _random_inertia(rng: random.Random) -> Inertia:
    """A box of random size, density and orientation, somewhere near the origin."""
    mass = rng.uniform(0.5, 3.0)
    a, b, c = (rng.uniform(0.05, 0.3) for _ in range(3))
    box = Symmetric3(b * b + c * c, a * a + c * c, a * a + b * b, 0.0, 0.0, 0.0) * (mass / 12.0)
    turn = Rotation.about(_random_direction(rng), rng.uniform(-math.pi, math.pi))
    center = _random_direction(rng) * rng.uniform(0.0, 0.2)
    return Inertia.about_center(mass, center, turn.turn_symmetric(box))
