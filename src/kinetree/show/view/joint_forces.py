"""The forces of a joint over time, which the viewer's page plots when the joint is clicked."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.robot import Robot
from kinetree.show.view.trajectory import Trajectory
from kinetree.typing import Array

KEPT = 600
"""The number of states of a simulation that are kept."""
COLORS = ("#0b6e99", "#d9730d", "#448361", "#9065b0", "#c14c8a", "#787774")


class JointForces:
    """A plot of the forces of one joint, hidden until one is chosen.

    For a trajectory it shows the forces over its whole duration, recorded ones or else those by
    inverse dynamics. For a simulation it grows with time.

    Arguments:
        gui: viser's.
        robot: what moves.
        path: the trajectory, if one is shown.
    """

    def __init__(self, gui: Any, robot: Robot, path: Trajectory | None) -> None:
        self._gui, self._robot, self._path = gui, robot, path
        self._folder = gui.add_folder("joint force over time", visible=False)
        self._plot: Any = None
        self._joint: int | None = None
        self._rows: list[Array] = []

    def choose(self, link: str) -> None:
        """Plot the joint that moves a link.

        Arguments:
            link: the name of a body.
        """
        i = self._robot.bodies.index(link)
        if i == self._joint:
            return
        self._joint = i
        at, model = self._robot.model.v_slices[i], self._robot.model
        names, units = self._robot.labels.v[at], self._robot.labels.v_units[at]
        kinds = ["N m" if unit.startswith("rad") else "N" for unit in units]
        lines = [
            {"label": f"{name}, {kind}", "stroke": color, "width": 2}
            for name, kind, color in zip(names, kinds, COLORS, strict=False)
        ]
        if self._plot is not None:
            self._plot.remove()
        with self._folder:
            self._plot = self._gui.add_uplot(
                self._data(),
                ({"label": "time, s"}, *lines),
                title=model.bodies[i].joint_name,
                scales={"x": {"time": False}},
                aspect=1.6,
            )
        self._folder.visible = self._path is not None or bool(self._rows)

    def add(self, t: float, tau: Array) -> None:
        """Add a state of a simulation.

        Arguments:
            t: its time, s.
            tau: the joint forces, (nv,).
        """
        if self._rows and t < self._rows[-1][0]:
            self._rows = []
        self._rows = [*self._rows[-KEPT:], np.concatenate([[t], tau])]
        self._path = None
        if self._plot is not None:
            self._plot.data, self._folder.visible = self._data(), True

    def _data(self) -> tuple[Array, ...]:
        """Times, and the forces of the joint."""
        assert self._joint is not None
        at = self._robot.model.v_slices[self._joint]
        if self._path is not None:
            times, forces = self._path.forces()
            return (times, *forces[:, at].T.copy())
        rows = np.array(self._rows) if self._rows else np.zeros((1, 1 + self._robot.nv))
        return (rows[:, 0].copy(), *rows[:, 1:][:, at].T.copy())
