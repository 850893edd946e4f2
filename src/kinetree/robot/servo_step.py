"""Whether the gains of servos are stable at a step, and the step at which they would be.

Actuators hold their forces over a step. Near a state, with the stiffness K and the damping D of the
servos at the joints, a step is the linear map

    v' = v - dt M^-1 (K q + D v),    q' = q + dt v'

It is unstable if an eigenvalue of the map is larger than one.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import SimulationWarning
from kinetree.model.actuators.laws import Affine
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

MARGIN = 1e-6
"""Eigenvalues that are larger than one by less are those of parts that move freely."""
HALVINGS = 30
"""The smallest step that is looked at is that given, halved so many times."""


def warn_of_gains(robot: Robot, q0: Any, dt: Any) -> None:
    """Warn if servos are unstable at a step.

    Arguments:
        robot: what has the actuators.
        q0: the first states of a simulation; the first of them is looked at.
        dt: the step, s.
    """
    gains = _gains(robot)
    q = np.asarray(q0, float) if isinstance(q0, (np.ndarray, list, tuple)) else np.zeros(0)
    usable = isinstance(dt, (int, float)) and 0.0 < dt < math.inf and q.shape[-1:] == (robot.nq,)
    if not (gains.any() and usable and q.size):
        return
    q = q.reshape(-1, robot.nq)[0]
    if not np.isfinite(q).all():
        return
    M, arms = robot.mass_matrix(q), robot.actuation.moments(q)
    passive = np.zeros(robot.nv)
    for i in robot.model.coordinate_order:
        passive[robot.model.v_slices[i]] = robot.model.bodies[i].drive.damping
    parts = M, arms, gains, np.diag(passive)
    largest, at = _largest(*parts, dt)
    if largest <= _allowed(*parts, dt):
        return
    guilty = robot.actuation.names[int(np.abs(gains.sum(axis=0) * (arms @ at)).argmax())]
    stable = _stable_step(*parts, dt)
    advice = f"with dt={stable:.2g} it would be stable" if stable else "its gains must be smaller"
    message = (
        f"actuator {guilty!r} of robot {robot.name!r} is unstable at dt={dt:g}: each step makes "
        f"its error {largest:.3g} times as large; {advice}"
    )
    warnings.warn(message, SimulationWarning, stacklevel=4)


def _gains(robot: Robot) -> Array:
    """The stiffness and the damping of each actuator along its transmission, (2, nu)."""
    laws = [x.bias for x in robot.model.equipment.actuators]
    pairs = [(-x.by_length, -x.by_velocity) if isinstance(x, Affine) else (0.0, 0.0) for x in laws]
    return np.array(pairs, float).reshape(-1, 2).T


def _largest(M: Array, arms: Array, gains: Array, passive: Array, dt: float) -> tuple[float, Array]:
    """The largest eigenvalue of a step, and how the velocities are in it."""
    n = len(M)
    stiffness, damping = ((arms.T * gain) @ arms for gain in gains)
    effective = M + dt * passive  # dampers of joints take effect within the step
    a_q, a_v = (np.linalg.solve(effective, x) for x in (-stiffness, -damping - passive))
    v = np.hstack([dt * a_q, np.eye(n) + dt * a_v])
    q = np.hstack([np.eye(n), np.zeros((n, n))]) + dt * v
    values, vectors = np.linalg.eig(np.vstack([q, v]))
    k = int(np.abs(values).argmax())
    return float(np.abs(values[k])), np.abs(vectors[n:, k])


def _allowed(M: Array, arms: Array, gains: Array, passive: Array, dt: float) -> float:
    """How much a step may enlarge errors: twice the rate at which motions grow by themselves.

    A part that is unstable in continuous time, such as one that is driven along its velocity, is so
    at every step.
    """
    n = len(M)
    stiffness, damping = ((arms.T * gain) @ arms for gain in gains)
    a_q, a_v = (np.linalg.solve(M, x) for x in (-stiffness, -damping - passive))
    rates = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [a_q, a_v]]))
    return float(np.exp(2.0 * dt * max(rates.real.max(), 0.0))) + MARGIN


def _stable_step(M: Array, arms: Array, gains: Array, passive: Array, dt: float) -> float | None:
    """The largest stable step below another, to a tenth; None if there is none."""
    step = dt
    for _ in range(HALVINGS):
        step /= 2
        if _largest(M, arms, gains, passive, step)[0] <= _allowed(M, arms, gains, passive, step):
            break
    else:
        return None
    for larger in np.arange(1.9, 1.0, -0.1) * step:
        parts = M, arms, gains, passive, float(larger)
        if _largest(*parts)[0] <= _allowed(*parts):
            return float(larger)
    return step
