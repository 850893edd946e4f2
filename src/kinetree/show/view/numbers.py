"""The numbers on the viewer's page: of the state, of a link, and energy over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kinetree.robot import Robot
from kinetree.show.view.markdown import literal
from kinetree.show.view.parts import center
from kinetree.typing import Array

ENERGIES = (("kinetic", "#0b6e99"), ("potential", "#d9730d"), ("total", "#333333"))
KEPT = 600
"""The number of states in the plot of energies."""


def of_state(robot: Robot, q: Array, v: Array) -> str:
    """The numbers of a state, as a table in Markdown.

    Arguments:
        robot: the robot.
        q, v: (nq,) and (nv,).
    """
    if not any(float(body.inertia.mass) > 0.0 for body in robot.model.bodies):
        return "The robot has no mass, so it has no energy and needs no torques."
    energies = f"{robot.kinetic_energy(q, v):.3f} + {robot.potential_energy(q):.3f}"
    forces = robot.gravity_forces(q)
    names = zip(robot.labels.v, robot.labels.v_units, forces, strict=True)
    rows = [f"| {literal(name)} | {x:.3f} | {_force_unit(unit)} |" for name, unit, x in names]
    lines = [
        f"centre of mass {_point(robot.center_of_mass(q))} m",
        f"kinetic + potential energy {energies} J",
        "\n".join(["| gravity torque | | |", "|-|-:|-|", *rows]),
    ]
    return "\n\n".join(lines)


def of_link(robot: Robot, body: str, q: Array, v: Array) -> str:
    """The numbers of a link, in Markdown.

    Arguments:
        robot: whose link it is.
        body: its name.
        q, v: the state, (nq,) and (nv,).
    """
    i = robot.bodies.index(body)
    inertia = robot.model.bodies[i].inertia
    place, rotational = center(robot.model.bodies[i])
    moments = np.linalg.eigvalsh(rotational)
    velocity = robot.velocity(q, v, body, axes="origin")
    return "\n\n".join(
        [
            f"**{literal(body)}**, moved by {literal(robot.model.bodies[i].joint_name)}",
            f"at {_point(robot.pose(q, body)[:3, 3])} m, "
            f"{_point(velocity[:3])} m/s, {_point(velocity[3:])} rad/s",
            f"mass {float(inertia.mass):.3f} kg, centre of mass {_point(place)} m in its frame, "
            f"principal inertias {_point(moments, 4)} kg m²",
        ]
    )


class EnergyPlot:
    """Energies over time, which grow with the motion and begin again when time goes back.

    Arguments:
        gui: viser's.
        robot: what moves.
        end: of the axis of time, s; None lets it follow.
    """

    def __init__(self, gui: Any, robot: Robot, end: float | None = None) -> None:
        self._robot = robot
        self._rows: list[tuple[float, ...]] = []
        lines = ({"label": x, "stroke": c, "width": 2} for x, c in ENERGIES)
        span: dict[str, Any] = {} if end is None else {"range": (0.0, end)}
        self.plot = gui.add_uplot(
            tuple(np.zeros(1) for _ in range(4)),
            ({"label": "time, s"}, *lines),
            title="energy, J",
            scales={"x": {"time": False, **span}},
            aspect=1.6,
            visible=robot.total_mass > 0.0,
        )

    def add(self, t: float, q: Array, v: Array) -> None:
        """Add a state.

        Arguments:
            t: its time, s.
            q, v: (nq,) and (nv,).
        """
        kinetic, potential = self._robot.kinetic_energy(q, v), self._robot.potential_energy(q)
        if self._rows and t < self._rows[-1][0]:
            self._rows = []
        row = (t, float(kinetic), float(potential), float(kinetic + potential))
        self._rows = [*self._rows[-KEPT:], row]
        self.plot.data = tuple(np.array(self._rows).T.copy())


def _force_unit(velocity_unit: str) -> str:
    return "N m" if velocity_unit.startswith("rad") else "N"


def _point(numbers: Iterable[float], digits: int = 3) -> str:
    return f"({', '.join(f'{float(x):.{digits}f}' for x in numbers)})"
