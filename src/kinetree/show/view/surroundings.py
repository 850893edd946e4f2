"""The ground on the viewer's page, and the first position of the camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.show.view.scene import quat_wxyz
from kinetree.typing import Array

VIEW = 0.7
"""The camera's vertical field of view, rad."""
FROM = np.array([0.72, -0.58, 0.38])
"""The direction from the robot to the camera."""


def add_surroundings(server: Any, low: Array, high: Array, grounds: Sequence[Array] = ()) -> float:
    """Add the ground under the robot, and a camera that sees all of it.

    Arguments:
        server: viser's.
        low, high: corners of a box around the robot, (3,), m.
        grounds: the poses of planes that the robot stands on, (4, 4) each; by default one below
            it.

    Returns:
        The length of a cell of the ground, m.
    """
    middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 0.05)
    cell = round_length(radius / 2)
    server.scene.set_up_direction("+z")
    below = np.eye(4)
    below[2, 3] = min(0.0, float(low[2]))
    for k, pose in enumerate(grounds or [below]):
        normal = pose[:3, 2]
        server.scene.add_grid(
            f"/ground{k}",
            infinite_grid=True,
            cell_size=cell,
            section_size=5 * cell,
            fade_distance=14 * radius,
            cell_color=(214, 218, 224),
            section_color=(170, 176, 186),
            shadow_opacity=0.25,
            wxyz=quat_wxyz(pose[:3, :3]),
            position=middle - normal * (normal @ (middle - pose[:3, 3])),
        )
    camera = server.initial_camera
    away = 1.05 * radius / math.sin(VIEW / 2)
    camera.fov, camera.look_at = VIEW, middle
    camera.position = middle + away * FROM / np.linalg.norm(FROM)
    camera.near, camera.far = 0.01 * radius, 100 * radius
    return cell


def round_length(length: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(x * power for x in (5.0, 2.0, 1.0) if x * power <= length * (1 + 1e-9))
