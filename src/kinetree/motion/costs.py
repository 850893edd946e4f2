"""The usual costs of optimal control: pairs of a running and a final cost, over scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms import difference
from kinetree.model.prepare import Preparation, prepared
from kinetree.motion.conditions import Cost
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


def squares(values: Sequence[Scalar]) -> Scalar:
    """The sum of squares.

    Arguments:
        values: scalars.
    """
    return sum((x * x for x in values), start=0.0)


def quadratic_cost(
    robot: Robot, target: ArrayLike, q: float = 1.0, v: float = 0.1, tau: float = 1e-3
) -> tuple[Cost, Cost]:
    """Squared distance from a target at rest, and squared forces: a running and a final cost.

    Arguments:
        robot: what moves.
        target: its configuration, (nq,).
        q, v, tau: weights of the squared displacement, velocity and joint forces.

    Returns:
        The running and the final cost, as `Robot.optimal_control` takes them.
    """
    goal = [float(x) for x in np.asarray(target, float)]
    model = prepared(robot.model, Preparation.FRAMES)

    def state(now: Any, rate: Any) -> Scalar:
        return q * squares(difference(model, goal, now)) + v * squares(rate)

    return (
        lambda t, now, rate, force, pose: state(now, rate) + tau * squares(force),
        lambda now, rate, pose: state(now, rate),
    )


def reach_cost(
    frame: str, target: Sequence[float], position: float = 1.0, v: float = 0.1, tau: float = 1e-3
) -> tuple[Cost, Cost]:
    """Squared distance of a frame's origin from a point, squared velocities and forces.

    Arguments:
        frame: its name.
        target: the point in the world, m, (3,).
        position, v, tau: weights of the squared distance, velocities and joint forces.

    Returns:
        The running and the final cost, as `Robot.optimal_control` takes them.
    """
    goal = [float(x) for x in target]

    def state(rate: Any, pose: Any) -> Scalar:
        where = pose(frame).translation
        away = [a - b for a, b in zip(where, goal, strict=True)]
        return position * squares(away) + v * squares(rate)

    return (
        lambda t, q, rate, force, pose: state(rate, pose) + tau * squares(force),
        lambda q, rate, pose: state(rate, pose),
    )
