"""Contacts in a scene: points where shapes touch, normals, friction cones, forces as arrows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetree.robot import Robot
from kinetree.show.view.colliders import on_robot, touch_pairs
from kinetree.show.view.parts import along
from kinetree.typing import Array

GRAVITY = 9.81
"""The gravity that scales force arrows, m/s^2."""
LENGTH = 2.0
"""The length of the arrow of the robot's weight, in sizes of the robot."""
NORMAL = 0.1
"""The length of a normal, and the height of a cone, as a share of the robot's size."""
ROUND = 24
"""The number of corners of a cone's rim."""
POINTS, NORMALS, CONES, FORCES = (40, 44, 52), (33, 102, 172), (120, 128, 138), (178, 24, 43)
SEGMENTS = np.zeros((0, 2, 3), np.float32)


class Marks(NamedTuple):
    """The drawn marks of a state's contacts, in the world.

    points: of contact, (n, 3).
    normals, forces: arrows, from and to, (n, 2, 3).
    cones: lines, (m, 2, 3).
    """

    points: Array
    normals: Array
    forces: Array
    cones: Array


class Contacts:
    """The contacts of a robot in a state, seen from its links: forces are those on the robot.

    Arguments:
        robot: what touches.
        size: of the robot, m.
    """

    def __init__(self, robot: Robot, size: float) -> None:
        self._robot, self._size = robot, size
        model = robot.model
        pairs = touch_pairs(model)
        sides = [1.0 if on_robot(model, pair.second) else -1.0 for pair in pairs]
        slopes = [0.0 if pair.condim == 1 else min(pair.friction[:2]) for pair in pairs]
        self._side, self._slope = np.array(sides), np.array(slopes)
        self._margin = np.array([pair.margin for pair in pairs])
        mass = sum(float(body.inertia.mass) for body in model.bodies)
        self._meters = LENGTH * size / max(mass * GRAVITY, 1e-9)

    def marks(self, q: Array, forces: Array) -> Marks:
        """The marks of a state.

        Arguments:
            q: configuration, (nq,).
            forces: as `robot.contact.forces` gives them, (ntouches, 3), N.
        """
        distances, points, normals = self._robot.contact.touches(q)
        touching = distances <= self._margin
        at = points[touching]
        side = self._side[touching][:, None]
        up, force = side * normals[touching], side * forces[touching]
        high = NORMAL * self._size
        cones = [
            _cone(x, n, slope, high)
            for x, n, slope in zip(at, up, self._slope[touching], strict=True)
            if slope > 0.0
        ]
        return Marks(
            at.astype(np.float32),
            _arrows(at, high * up),
            _arrows(at, self._meters * force),
            np.concatenate([SEGMENTS, *cones]),
        )


class ContactNodes:
    """The nodes of contacts in a scene of viser.

    Arguments:
        scene: viser's, or anything with its methods.
        contacts: of the robot.
        size: of the robot, m.

    handles: of the points, the normals, the forces and the cones.
    """

    def __init__(self, scene: Any, contacts: Contacts, size: float) -> None:
        self._contacts = contacts
        root, thick = "/robot/contacts", 0.01 * size
        arrows = {"shaft_radius": thick, "head_radius": 3 * thick, "head_length": 6 * thick}
        thin = {key: x / 2 for key, x in arrows.items()}
        self.handles = (
            scene.add_point_cloud(
                f"{root}/points",
                SEGMENTS[:, 0],
                POINTS,
                point_size=4 * thick,
                point_shape="circle",
                precision="float32",
            ),
            scene.add_arrows(f"{root}/normals", SEGMENTS, NORMALS, **thin),
            scene.add_arrows(f"{root}/forces", SEGMENTS, FORCES, **arrows),
            scene.add_line_segments(f"{root}/cones", SEGMENTS, CONES, thickness=thick / 3),
        )

    def update(self, q: Array, forces: Array) -> None:
        """Draw the contacts of a state.

        Arguments:
            q: configuration, (nq,).
            forces: as `robot.contact.forces` gives them, (ntouches, 3), N.
        """
        for handle, points in zip(self.handles, self._contacts.marks(q, forces), strict=True):
            handle.points = points


def _arrows(start: Array, way: Array) -> Array:
    return np.stack([start, start + way], axis=1).astype(np.float32)


def _cone(tip: Array, axis: Array, slope: float, height: float) -> Array:
    """The rim of a cone, and every third line from its tip to the rim, (n, 2, 3)."""
    angles = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    on_rim = np.stack([slope * np.cos(angles), slope * np.sin(angles), np.ones(ROUND)], axis=1)
    rim = tip + height * on_rim @ along(axis)[:3, :3].T
    around = np.stack([rim, np.roll(rim, -1, axis=0)], axis=1)
    lines = np.stack([np.broadcast_to(tip, rim[::3].shape), rim[::3]], axis=1)
    return np.concatenate([around, lines]).astype(np.float32)
