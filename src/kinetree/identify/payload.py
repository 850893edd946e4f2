"""The payload of a robot, identified in one call.

Source: C. G. Atkeson, C. H. An & J. M. Hollerbach, Estimation of inertial parameters of manipulator
loads and links, Int. J. Robotics Research 5 (1986). The estimate is kept consistent as
in `log_cholesky`.

The joint forces beyond those of the empty robot are linear in the load's ten parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.identify.factor import Factors
from kinetree.identify.least_squares import PIECE
from kinetree.identify.log import Log
from kinetree.identify.log_cholesky import fit_log_cholesky
from kinetree.identify.parameters import SYMMETRIC, to_order
from kinetree.kinds import instance
from kinetree.model.parameters import TEN, Inertial, Payload
from kinetree.robot.checks import number
from kinetree.robot.core import check_robot
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

GUESS = np.array([1.0, 0.0, 0.0, 0.0, 4e-3, 4e-3, 4e-3, 0.0, 0.0, 0.0])
"""A ball of 1 kg and 10 cm: where the search starts, and what the data do not change."""


@dataclass(frozen=True)
class Load:
    """A load fixed to a frame, in its axes.

    Arguments:
        frame: the name of the frame.
        phi: its ten inertial parameters, as in `Payload`.
        deviations: their standard deviations by least squares alone; infinite where the motion
            does not show them.
        robot: the robot that carries it.
    """

    frame: str
    phi: Array
    deviations: Array
    robot: Robot

    @property
    def mass(self) -> float:
        """The mass, kg."""
        return float(self.phi[0])

    @property
    def com(self) -> Array:
        """The centre of mass, m, (3,)."""
        return self.phi[1:4] / self.phi[0]

    @property
    def inertia(self) -> Array:
        """The rotational inertia about the centre of mass, kg m^2, (3, 3)."""
        return to_order(self.phi, "mujoco")[4:][np.array(SYMMETRIC)]


def payload(robot: Robot, log: Log, frame: str, trust: float = 3.0) -> Load:
    """The load that a robot carries, identified from a motion with it.

    Arguments:
        robot: without the load, but with its friction.
        log: with velocities and accelerations.
        frame: the name of the frame that the load is fixed to.
        trust: the standard deviation of the load from a ball of 1 kg, as a geodesic distance; it
            decides what the motion does not show.

    Returns:
        Its mass, centre of mass and rotational inertia, and the robot with it.
    """
    trust = number("trust", trust, above=0.0)
    check_robot(robot)
    instance("log", log, Log, "a Log")
    body, carried = _carried(robot, frame)
    motion = log.motion
    factors = Factors([np.arange(len(TEN))] * robot.nv, len(TEN))
    for start in range(0, len(log), PIECE):
        rows = slice(start, start + PIECE)
        q, v, a = (x[rows] for x in motion)
        Y = robot.regressor(q, v, a)[..., 10 * body : 10 * body + 10] @ carried
        more = log.tau[rows] - robot.inverse_dynamics(q, v, a)
        for k in range(robot.nv):
            keep = log.keep[rows, k]
            factors.add(k, Y[keep, k], more[keep, k])
    R, z = _whitened(factors)
    phi = fit_log_cholesky(R, z, GUESS, trust, np.zeros(0))
    lengths = np.linalg.norm(R, axis=0)
    size = np.linalg.svd(R / np.maximum(lengths, 1e-300))[1]
    inverse = np.linalg.pinv(R)
    deviations = np.linalg.norm(inverse, axis=1)
    if size[-1] < 1e-7 * size[0]:
        null = np.linalg.svd(R)[2][np.linalg.matrix_rank(R) :]
        deviations[np.abs(null).max(axis=0, initial=0.0) > 1e-3] = np.inf
    center, inertia = phi[1:4] / phi[0], to_order(phi, "mujoco")[4:][np.array(SYMMETRIC)]
    new = robot.edit.attach_payload(frame, float(phi[0]), center.tolist(), inertia)
    return Load(frame, phi, deviations, new)


def _carried(robot: Robot, frame: str) -> tuple[int, Array]:
    """The body that a frame is on, and its parameters for each unit of the load's, (10, 10)."""
    part, model = Payload(frame), robot.model
    part.nominal(model)  # refuses frames of the world
    body = model.frame(frame).body
    inertial = Inertial(robot.bodies[body])
    nominal = np.array(inertial.nominal(model), float)
    units = [part.applied(model, unit.tolist()) for unit in np.eye(len(TEN))]
    columns = [np.array(inertial.nominal(m), float) - nominal for m in units]
    return body, np.stack(columns, axis=1)


def _whitened(factors: Factors) -> tuple[Array, Array]:
    """The data with each velocity's residuals divided by their standard deviation."""
    noise = np.ones(len(factors.support))
    for _ in range(3):
        R, z = factors.stacked(1.0 / noise)
        x = np.linalg.lstsq(R, z, rcond=1e-10)[0]
        rms = np.sqrt(factors.residuals(x) / np.maximum(factors.rows - 2, 1))
        noise = np.maximum(rms, 1e-9 * max(1e-3, float(rms.max())))
    R, z = factors.stacked(1.0 / noise)
    return R, R @ np.linalg.lstsq(R, z, rcond=1e-10)[0]
