"""Pictures of a robot without a browser or a window: its surfaces, sorted by depth and filled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetree._optional import optional
from kinetree.model.model import WORLD
from kinetree.robot import Robot
from kinetree.robot.checks import count, finite_array, finite_state
from kinetree.robot.core import check_robot
from kinetree.show.view.colliders import grounds
from kinetree.show.view.contacts import FORCES, POINTS, Contacts
from kinetree.show.view.parts import extent, parts
from kinetree.show.view.recording import checked_ending, encoded
from kinetree.show.view.scene import BONES, COLORS
from kinetree.show.view.surroundings import FROM, VIEW, round_length
from kinetree.show.view.trajectory import Playable, Trajectory
from kinetree.typing import Array, ArrayLike

LIGHT = np.array([0.3, -0.5, 0.81])
"""The direction to the light."""
GRID = (222, 226, 231)
FINE = 2
"""Pixels drawn for each pixel of the picture, along either side."""
FRAMED = 12
"""States of a motion that the camera is placed for."""
CELLS = 8
"""Cells of the ground from the middle to its border."""


class OffScreen:
    """A camera that looks at a robot.

    Arguments:
        robot: what is drawn.
        width, height: of pictures, pixels.
        framed: configurations that a picture has room for, (n, nq); neutral by default.
        folder: where meshes are looked for; by default in the folder of the robot file.
    """

    def __init__(
        self,
        robot: Robot,
        width: int = 480,
        height: int = 360,
        framed: Array | None = None,
        folder: Path | None = None,
    ) -> None:
        self.robot = robot
        self._size = count("width", width) * FINE, count("height", height) * FINE
        self._surfaces = [(part, _color(part)) for part in parts(robot.model, folder).surfaces]
        states = robot.neutral()[None] if framed is None else framed
        corners = np.concatenate([self._triangles(q)[0].reshape(-1, 3) for q in states])
        low, high = corners.min(axis=0), corners.max(axis=0)
        self._middle = (low + high) / 2
        self._radius = max(float(np.linalg.norm(high - low)) / 2, 0.05)
        heights = [float(pose[2, 3]) for pose in grounds(robot.model)]
        self._ground = heights[0] if heights else min(0.0, float(low[2]))
        back = FROM / np.linalg.norm(FROM)
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        self._axes = np.array([right, np.cross(back, right), back])

    def picture(
        self, q: ArrayLike, contact_forces: ArrayLike | None = None
    ) -> npt.NDArray[np.uint8]:
        """The robot at a configuration, in front of white.

        Arguments:
            q: configuration, (nq,).
            contact_forces: drawn as arrows if given, (ntouches, 3), N.

        Returns:
            (height, width, 3), of bytes.
        """
        drawing: Any = optional("PIL.ImageDraw", "a picture")
        image = drawing.Image.new("RGB", self._size, "white")
        pen = drawing.Draw(image)
        for line in self._projected(self._grid())[0]:
            pen.line(list(map(tuple, line.tolist())), fill=GRID, width=FINE)
        q = finite_state("q", q, self.robot.nq)
        triangles, colors = self._triangles(q)
        across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-12)
        shade = 0.5 + 0.3 * np.abs(across @ LIGHT) + 0.2 * np.abs(across @ self._axes[2])
        shaded = np.clip(colors * shade[:, None], 0, 255).astype(int)
        points, depth = self._projected(triangles)
        for k in np.argsort(depth):
            pen.polygon(list(map(tuple, points[k].tolist())), fill=tuple(shaded[k].tolist()))
        if contact_forces is not None:
            self._draw_forces(pen, q, contact_forces)
        small = image.reduce(FINE)
        return np.asarray(small, np.uint8)

    def _draw_forces(self, pen: Any, q: Array, forces: ArrayLike) -> None:
        """Draw contact forces in front of the robot: arrows from dots where shapes touch."""
        given = finite_array("contact_forces", forces, len(self.robot.contact.touch_names), 3)
        marks = Contacts(self.robot, extent(self.robot.model)).marks(q, given)
        wide = 2.0 * FINE
        for start, end in self._projected(self._within(marks.forces))[0]:
            way = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
            neck, across = end - 5 * wide * way, 2 * wide * np.array([-way[1], way[0]])
            pen.line([tuple(start), tuple(neck)], fill=FORCES, width=int(wide))
            pen.polygon([tuple(end), tuple(neck + across), tuple(neck - across)], fill=FORCES)
            pen.ellipse([*(start - wide), *(start + wide)], fill=POINTS)

    def _within(self, arrows: Array) -> Array:
        """Arrows, (n, 2, 3), all shortened by one factor if some would leave the picture."""
        starts, ways = arrows[:, 0], arrows[:, 1] - arrows[:, 0]
        shorter = arrows
        for factor in 0.9 ** np.arange(60):
            shorter = np.stack([starts, starts + factor * ways], axis=1)
            points = self._projected(shorter)[0]
            inside: Any = np.all((points > 0.0) & (points < self._size), axis=-1)
            if np.all(inside[:, 1] | ~inside[:, 0]):
                break
        return shorter

    def _triangles(self, q: Array) -> tuple[Array, Array]:
        """The corners of all triangles in the world, (n, 3, 3), and their colours, (n, 3)."""
        poses = {WORLD: np.eye(4), **dict(enumerate(self.robot.poses(q)))}
        corners, colors = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
        for part, color in self._surfaces:
            pose = poses[part.body] @ part.pose
            points = part.triangles.vertices @ pose[:3, :3].T + pose[:3, 3]
            corners.append(points[part.triangles.faces])
            count, skin = len(part.triangles.faces), part.texture
            colors.append(np.broadcast_to(color, (count, 3)) if skin is None else skin.colors)
        return np.concatenate(corners), np.concatenate(colors)

    def _grid(self) -> Array:
        """The lines of the ground, (n, 2, 3)."""
        cell = round_length(self._radius / 2)
        at = cell * np.arange(-CELLS, CELLS + 1.0)
        middle = np.round(self._middle / cell) * cell
        lines = np.zeros((2, len(at), 2, 3))
        lines[0, :, :, 0], lines[0, :, :, 1] = at[:, None], at[[0, -1]]
        lines[1, :, :, 1], lines[1, :, :, 0] = at[:, None], at[[0, -1]]
        found: Array = lines.reshape(-1, 2, 3)
        return found + np.array([middle[0], middle[1], self._ground])

    def _projected(self, points: Array) -> tuple[Array, Array]:
        """Where points are in the picture, (n, m, 2), and how near each group of them is, (n,)."""
        width, height = self._size
        away = 1.25 * self._radius / np.sin(VIEW / 2)
        seen = (points - self._middle) @ self._axes.T
        distance = np.maximum(away - seen[..., 2], 0.05 * away)
        scale = 0.5 * min(width, height) / np.tan(VIEW / 2) / distance
        x, y = width / 2 + seen[..., 0] * scale, height / 2 - seen[..., 1] * scale
        return np.stack([x, y], axis=-1), seen[..., 2].mean(axis=-1)


def _color(part: Any) -> Array:
    """The colour of a surface, (3,), from 0 to 255."""
    if part.color:
        return 255.0 * np.array(part.color[:3])
    return np.array(BONES if part.source == "bone" else COLORS[part.body % 2], float)


def picture(
    robot: Robot,
    q: ArrayLike | None = None,
    width: int = 480,
    height: int = 360,
    contact_forces: ArrayLike | None = None,
) -> npt.NDArray[np.uint8]:
    """A robot at a configuration, drawn without a browser.

    Arguments:
        robot: what is drawn.
        q: configuration, (nq,); neutral by default.
        width, height: in pixels.
        contact_forces: of every touch, in the world's axes, (ntouches, 3), N: drawn as arrows with
            one scale where shapes touch, so short that all stay in the picture. None by default.

    Returns:
        (height, width, 3), of bytes.
    """
    check_robot(robot)
    at = robot.neutral() if q is None else finite_state("q", q, robot.nq)
    return OffScreen(robot, width, height, at[None]).picture(at, contact_forces)


def video(
    robot: Robot,
    motion: Playable,
    file: str | Path,
    *,
    fps: int = 25,
    width: int = 480,
    height: int = 360,
) -> None:
    """Write a video of a motion, drawn without a browser.

    Arguments:
        robot: what moves.
        motion: a `Simulation`, a `Motion`, a file, or arrays by name, as the viewer plays.
        file: ends with .gif, or with .mp4 if the package imageio-ffmpeg is installed.
        fps: frames per second.
        width, height: in pixels.
    """
    check_robot(robot)
    ending, path = checked_ending(file), Trajectory(robot, motion)
    times = np.arange(max(1, round(path.end * count("fps", fps)))) / fps
    states = np.array([path.at(t)[0] for t in times])
    camera = OffScreen(robot, width, height, states[:: max(1, len(states) // FRAMED)])
    Path(file).write_bytes(encoded(map(camera.picture, states), fps, ending))
