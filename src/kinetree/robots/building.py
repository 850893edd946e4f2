"""Parts of the built-in robots: solids, axes, random inertias."""

from __future__ import annotations

import math
import random

from kinetree.model.model import Limits
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

X, Y, Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)
FREE = Limits()
LIGHT, DARK, BLUE = (0.86, 0.88, 0.91), (0.25, 0.28, 0.32), (0.23, 0.43, 0.65)
"""Colours."""
THIN = 1e-4
"""The moment of a thin bar about its own axis, as a share of m l^2: a radius of 1.4 % of l."""


def box(mass: float, x: float, y: float, z: float, center: Vector3 | None = None) -> Inertia:
    """A solid box with these edges."""
    about = Symmetric3(y * y + z * z, x * x + z * z, x * x + y * y, 0.0, 0.0, 0.0)
    return Inertia.about_center(mass, center or Vector3(0.0, 0.0, 0.0), about * (mass / 12.0))


def rod(mass: float, radius: float, length: float) -> Inertia:
    """A solid cylinder along z from the origin; downwards if its length is negative."""
    transverse = mass * (3.0 * radius * radius + length * length) / 12.0
    about = Symmetric3(transverse, transverse, mass * radius * radius / 2.0, 0.0, 0.0, 0.0)
    return Inertia.about_center(mass, Vector3(0.0, 0.0, length / 2.0), about)


def thin_bar(mass: float, length: float, along: Vector3 = X) -> Inertia:
    """A bar from the origin along an axis: m l^2 / 12 across it, and little about it."""
    across, about_it = mass * length * length / 12.0, mass * length * length * THIN
    x, y, z = (across + (about_it - across) * abs(u) for u in along)
    moments = Symmetric3(x, y, z, 0.0, 0.0, 0.0)
    return Inertia.about_center(mass, along * (0.5 * length), moments)


def place(x: float, y: float = 0.0, z: float = 0.0) -> Transform:
    """A pose at a point, not turned."""
    return Transform(Rotation.identity(), Vector3(x, y, z))


def turned(axis: Vector3, angle: float, point: Vector3) -> Transform:
    """A pose at a point, turned about an axis."""
    return Transform(Rotation.about(axis, angle), point)


def random_direction(rng: random.Random) -> Vector3:
    while True:
        v = Vector3(*(rng.uniform(-1.0, 1.0) for _ in range(3)))
        length = math.sqrt(v.dot(v))
        if 0.1 < length <= 1.0:
            return v * (1.0 / length)


def random_rotation(rng: random.Random) -> Rotation:
    return Rotation.about(random_direction(rng), rng.uniform(-math.pi, math.pi))


def random_inertia(rng: random.Random) -> Inertia:
    """A box of random size, density and orientation, somewhere near the origin."""
    mass, (x, y, z) = rng.uniform(0.5, 3.0), (rng.uniform(0.05, 0.3) for _ in range(3))
    solid = box(mass, x, y, z)
    place = random_direction(rng) * rng.uniform(0.0, 0.2)
    return Transform(random_rotation(rng), place).to_parent(solid)


def random_place(rng: random.Random) -> Transform:
    return Transform(random_rotation(rng), random_direction(rng) * rng.uniform(0.1, 0.5))
