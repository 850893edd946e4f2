"""Triangles of simple solids, each about its own origin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.model.formats.meshes import Triangles
from kinetree.typing import Array

ROUND = 32
"""The number of corners of a circle."""


def box(x: float, y: float, z: float) -> Triangles:
    """A box.

    Arguments:
        x, y, z: the lengths of its edges, m.
    """
    corners = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) / 2.0
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Triangles(corners * (x, y, z), np.array(faces))


def turned(profile: Array) -> Triangles:
    """The surface of revolution of a curve about z.

    Arguments:
        profile: points (radius, z) from the top to the bottom, (n, 2).
    """
    angles = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    radius, height = profile[:, :1], profile[:, 1:]
    x, y = radius * np.cos(angles), radius * np.sin(angles)
    vertices = np.stack([x, y, np.broadcast_to(height, x.shape)], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(len(profile) - 1):
        for j in range(ROUND):
            a, b = i * ROUND + j, i * ROUND + (j + 1) % ROUND
            faces += [(a, a + ROUND, b), (b, a + ROUND, b + ROUND)]
    return Triangles(vertices, np.array(faces))


def cylinder(radius: float, length: float) -> Triangles:
    """A cylinder along z.

    Arguments:
        radius, length: m.
    """
    h = length / 2
    return turned(
        np.array([(0.0, h), (radius, h), (radius, h), (radius, -h), (radius, -h), (0, -h)])
    )


def capsule(radius: float, length: float) -> Triangles:
    """A cylinder along z with half a ball at either end.

    Arguments:
        radius: m.
        length: of the cylinder alone, m.
    """
    angles = np.linspace(0.0, np.pi, 17)
    shift = np.where(angles <= np.pi / 2, length / 2, -length / 2)
    profile = np.stack([radius * np.sin(angles), radius * np.cos(angles) + shift], axis=1)
    middle = np.array([(radius, -length / 2)])
    return turned(np.concatenate([profile[:9], middle, profile[9:]]))


def ellipsoid(x: float, y: float, z: float) -> Triangles:
    """An ellipsoid.

    Arguments:
        x, y, z: half of its axes, m.
    """
    angles = np.linspace(0.0, np.pi, 17)
    ball = turned(np.stack([np.sin(angles), np.cos(angles)], axis=1))
    return Triangles(ball.vertices * (x, y, z), ball.faces)


def primitive(kind: str, size: tuple[float, ...]) -> Triangles:
    """The triangles of a shape that is not a mesh.

    Arguments:
        kind, size: as in `model.model.Shape`.
    """
    makers: dict[str, Callable[..., Triangles]] = {
        "box": box,
        "cylinder": cylinder,
        "capsule": capsule,
        "ellipsoid": ellipsoid,
    }
    return ellipsoid(*(size * 3)) if kind == "sphere" else makers[kind](*size)


def inertia_box(mass: float, rotational: Array) -> tuple[Array, Array]:
    """The box of uniform density with the same inertia.

    Arguments:
        mass: kg.
        rotational: inertia about the centre of mass, (3, 3), kg m^2.

    Returns:
        The lengths of its edges (3,), m, and the axes along them, the columns of a (3, 3) rotation.
    """
    moments, axes = np.linalg.eigh(rotational)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)
    return np.sqrt(np.maximum(squares, 0.0)), axes
