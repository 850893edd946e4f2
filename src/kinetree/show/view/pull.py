"""Pulling a link with the mouse: a spring from the grabbed point to the pointer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.robot import Robot
from kinetree.typing import Array, ArrayLike

STIFFNESS = 40.0
"""The stiffness of the spring, for each kg of the robot, N/m."""
FASTEST = 100.0
"""The highest frequency of a light link on the spring, rad/s, for a stable simulation."""
COLOR = (235, 160, 20)


class Pull:
    """The link that the mouse holds, if any.

    Arguments:
        scene: viser's.
        robot: what is pulled.
        begin: called when a link is grabbed.
    """

    def __init__(self, scene: Any, robot: Robot, begin: Callable[[], None]) -> None:
        self._robot, self._begin, self._scene = robot, begin, scene
        self._mass = sum(float(body.inertia.mass) for body in robot.model.bodies)
        self._body: str | None = None
        self._stiffness, self._damping = 0.0, 0.0
        self._point: Array = np.zeros(3)
        self._target: Array = np.zeros(3)
        self._line: Any = None

    def follow(self, body: str, handle: Any, state: Callable[[], Array]) -> None:
        """Let a surface be dragged.

        Arguments:
            body: the link that it is part of.
            handle: of the surface in the scene.
            state: gives the configuration that is shown, (nq,).
        """

        # asynchronous, because viser then keeps the order of events
        async def drag(event: Any) -> None:
            if event.phase == "start":
                self.take(body, state(), np.array(event.start_position))
            self._target = np.array(event.end_position)
            if event.phase == "end":
                self.release()

        handle.on_drag("left")(drag)

    def take(self, body: str, q: Array, position: Array) -> None:
        """Grab a link.

        Arguments:
            body: its name.
            q: the configuration, (nq,).
            position: of the grabbed point, in the world, (3,), m.
        """
        pose = self._robot.pose(q, body)
        self._point = pose[:3, :3].T @ (position - pose[:3, 3])
        mass = self._felt_mass(q, body, position - pose[:3, 3])
        self._stiffness = min(STIFFNESS * self._mass, FASTEST**2 * mass)
        self._damping = 2.0 * float(np.sqrt(self._stiffness * mass))
        self._body, self._target = body, position
        self._begin()

    def release(self) -> None:
        """Let go of the link."""
        self._body = None

    def to(self, target: Array) -> None:
        """Move the pointer.

        Arguments:
            target: its position in the world, (3,), m.
        """
        self._target = target

    def external(self, q: Array, v: Array) -> Mapping[Any, ArrayLike] | None:
        """The wrench on the held link, in the form of `external=`; None if there is none.

        Arguments:
            q, v: the state, (nq,) and (nv,).
        """
        body = self._body
        if body is None:
            return None
        R = self._robot.pose(q, body)[:3, :3]
        velocity = self._robot.velocity(q, v, body, axes="body")
        rate = R @ (velocity[:3] + np.cross(velocity[3:], self._point))
        stretch = self._target - self._held(q, body)
        force = R.T @ (self._stiffness * stretch - self._damping * rate)
        return {body: np.concatenate([force, np.cross(self._point, force)])}

    def draw(self, q: Array) -> None:
        """Draw the spring as a line.

        Arguments:
            q: the configuration, (nq,).
        """
        if self._body is None:
            if self._line is not None:
                self._line.visible = False
            return
        points = np.array([[self._held(q, self._body), self._target]], np.float32)
        if self._line is None:
            self._line = self._scene.add_line_segments("/pull", points, COLOR, line_width=4.0)
        self._line.points, self._line.visible = points, True

    def _felt_mass(self, q: Array, body: str, arm: Array) -> float:
        """The least apparent mass at a point of a link, over all directions, kg."""
        J = self._robot.jacobian(q, body, axes="origin")
        at = J[:3] - np.cross(arm, J[3:], axisb=0, axisc=0)
        mobility = at @ self._robot.mass_matrix_inverse(q) @ at.T
        return 1.0 / max(float(np.linalg.eigvalsh(mobility)[-1]), 1.0 / self._mass)

    def _held(self, q: Array, body: str) -> Array:
        """The held point, in the world, (3,)."""
        pose = self._robot.pose(q, body)
        return pose[:3, :3] @ self._point + pose[:3, 3]
