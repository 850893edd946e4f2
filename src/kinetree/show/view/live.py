"""A simulation on the page: gravity, contacts, damping, held joints, controls, the mouse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.model import Model
from kinetree.model.model import WORLD
from kinetree.robot import Robot
from kinetree.show.view.colliders import on_robot, touch_pairs
from kinetree.show.view.contacts import GRAVITY
from kinetree.show.view.controls import Controls
from kinetree.show.view.parts import extent, matrix
from kinetree.show.view.pull import Pull
from kinetree.typing import Array

STEP = 1 / 800
"""The time step of the simulation, s."""
SAG = 0.15
"""The deflection of a held joint under the robot's weight at the distance of its size, rad."""
SETTLING = 0.03
"""The ratio of damping to stiffness of a held joint, s."""
SWEEPS = 8
"""The number of Gauss-Seidel sweeps over the joints at their limits."""
LIFTS = 30
"""The most attempts to lift a robot out of the ground; one is enough on level ground."""


class Live:
    """The live simulation of a robot.

    Arguments:
        robot: what is simulated.
        pull: the mouse that pulls it.

    Attributes:
        stands: whether the robot floats and can touch something: its joints are held by default.
        tau: the joint forces of the last step, (nv,).
        controls: of the robot's actuators; None if there are none.
    """

    def __init__(self, robot: Robot, pull: Pull) -> None:
        self._robot, self._pull = robot, pull
        self._posture: Array | None = None
        self._gains: tuple[Array, Array] = np.zeros(robot.nv), np.zeros(robot.nv)
        self.stands = bool(_floating(robot.model)) and bool(robot.contact.pairs)
        self.tau: Array = np.zeros(robot.nv)
        # contacts and limits are solved together
        self._limits = [] if robot.contact.pairs else _limited(robot.model)
        self.controls: Controls | None = None

    def tabs(self, gui: Any) -> dict[str, Callable[[], None]]:
        """The tab with sliders for controls, if the robot has actuators.

        Arguments:
            gui: viser's controls, to which the sliders are added.

        Returns:
            Maps the title of a tab to the function that fills it.
        """

        def add() -> None:
            self.controls = Controls(gui, self._robot)

        return {"Controls": add} if self._robot.model.equipment.actuators else {}

    def rest(self, tau: Array | None = None) -> None:
        """Forget the held positions: the state was set from outside.

        Arguments:
            tau: the joint forces of that state, (nv,); zero by default.
        """
        self._posture = None
        self.tau = np.zeros(self._robot.nv) if tau is None else tau
        if self.controls is not None:
            self.controls.rest()

    def step(
        self, q: Array, v: Array, passed: float, damping: float, hold: bool
    ) -> tuple[Array, Array]:
        """The state a while later.

        Arguments:
            q, v: the state, (nq,) and (nv,).
            passed: the time, s.
            damping: in proportion to the mass matrix, 1/s.
            hold: whether springs hold the joints at their first positions.

        Returns:
            q, v: (nq,) and (nv,).
        """
        if not hold:
            self._posture = None
        elif self._posture is None:
            self._take(q)
        steps = max(1, math.ceil(passed / STEP))
        for _ in range(steps):
            # in proportion to M: equal decay for light and heavy links, and never stiff
            self.tau = -damping * (self._robot.mass_matrix(q) @ v)
            if self._posture is not None:
                stiffness, resistance = self._gains
                self.tau += stiffness * self._robot.difference(q, self._posture) - resistance * v
            if self.controls is not None:
                self.tau += self.controls.forces(q, v, passed / steps)
            pull = self._pull.external(q, v)
            q, v = self._robot.step(q, v, self.tau, passed / steps, external=pull)
            q, v = self._stopped(q, v)
        return q, v

    def _stopped(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state after impacts without rebound, if joints have passed their limits."""
        signs = [
            (k, 1.0 if q[at] <= lower else -1.0)
            for at, k, lower, upper in self._limits
            if not lower < q[at] < upper
        ]
        if not signs:
            return q, v
        q, v = q.copy(), v.copy()
        for at, _, lower, upper in self._limits:
            q[at] = min(max(q[at], lower), upper)
        inverse, impulses = self._robot.mass_matrix_inverse(q), np.zeros(len(v))
        for _ in range(SWEEPS):  # Gauss-Seidel: impulses may push inwards only
            for k, sign in signs:
                change = max(impulses[k] - sign * v[k] / inverse[k, k], 0.0) - impulses[k]
                impulses[k] += change
                v += inverse[:, k] * (sign * change)
        return q, v

    def contact_forces(self, q: Array, v: Array) -> Array | None:
        """The forces of contacts in a state, under the joint forces and the pull of the last step.

        Arguments:
            q, v: the state, (nq,) and (nv,).

        Returns:
            (ntouches, 3), N; None if the robot touches nothing.
        """
        if not self._robot.contact.pairs:
            return None
        pull = self._pull.external(q, v)
        return self._robot.contact.forces(q, v, self.tau, external=pull)

    def _take(self, q: Array) -> None:
        """Hold the joints at their positions, except those of free bodies, which nothing drives."""
        model, units = self._robot.model, self._robot.labels.v_units
        size, mass = extent(model), sum(float(x.inertia.mass) for x in model.bodies)
        turning = mass * GRAVITY * size / SAG
        stiffness = np.array([turning if x.startswith("rad") else turning / size**2 for x in units])
        for i in _floating(model):
            stiffness[model.v_slices[i]] = 0.0
        felt = 1.0 / np.diag(self._robot.mass_matrix_inverse(q))
        # springs and dampers that are stable at this time step, for light links, too
        stiffness = np.minimum(stiffness, 0.25 * felt / STEP**2)
        self._gains = stiffness, np.minimum(SETTLING * stiffness, 0.5 * felt / STEP)
        self._posture = q


def _floating(model: Model) -> list[int]:
    """The first coordinates of floating bodies: position and quaternion."""
    return [i for i, x in enumerate(model.bodies) if x.parent == WORLD and x.joint.nq == 7]


def _limited(model: Model) -> list[tuple[int, int, float, float]]:
    """The indices in q and v of each coordinate that has limits, and its limits."""
    found = []
    for i in model.coordinate_order:
        joint, limits = model.bodies[i].joint, model.bodies[i].limits
        if joint.nq == joint.nv == 1 and limits.lower < limits.upper:
            at, k = model.q_slices[i].start, model.v_slices[i].start
            found.append((at, k, limits.lower, limits.upper))
    return [row for row in found if np.isfinite(row[2:]).any()]


def above_ground(robot: Robot, q: Array) -> Array:
    """The configuration, lifted until no part of a floating robot is in the ground.

    Arguments:
        robot: what is lifted.
        q: configuration, (nq,).

    Returns:
        (nq,).
    """
    model = robot.model
    roots = [
        (model.q_slices[i].start, matrix(model.bodies[i].placement)[2, :3])
        for i in _floating(model)
    ]
    outer = np.array([not on_robot(model, x.first, x.second) for x in touch_pairs(model)], bool)
    if not (roots and outer.any()):
        return q
    q = q.copy()
    for _ in range(LIFTS):
        depth = -float(robot.distances(q)[outer].min())
        if depth < 1e-9:
            break
        for start, up in roots:
            q[start : start + 3] += depth * up
    return q
