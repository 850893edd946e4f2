"""The forces of the ground in a transition on supports, at any times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.internal_forces import apply
from kinetree.motion.objective import Integral
from kinetree.motion.splines import Grid
from kinetree.motion.stance import ENTRIES
from kinetree.motion.supported import Alone

if TYPE_CHECKING:
    from kinetree.motion.transition_problem import Problem


@dataclass(frozen=True)
class GroundForces:
    """The forces of the ground on supports.

    Attributes:
        times: s, (T,).
        wrenches: maps a frame to the force on it and its moment about the world's origin, in the
            world's axes, (T, 6): N and N m; zero while it does not stand.
        pressure: maps a frame to its centre of pressure in the world, (T, 3), m; NaN while it does
            not stand.
        friction: maps a frame to the share of its friction cone that is used, (T,).
        tau: joint forces of the robot with its velocities as rates of coordinates, (T, nv); those
            of the root are the forces that no support produces.
    """

    times: Array
    wrenches: dict[str, Array]
    pressure: dict[str, Array]
    friction: dict[str, Array]
    tau: Array


def forces_at(problem: Problem, c: Array, times: Array) -> GroundForces:
    """The ground forces of one problem.

    Arguments:
        problem: with supports.
        c: all coefficients of its splines, (count, n).
        times: s, (T,).
    """
    ground = problem.ground
    if ground is None:
        raise KinetreeError("this transition has no supports, and so no ground forces")
    u = np.clip(times / problem.duration, 0.0, 1.0)
    order = np.argsort(u, kind="stable")
    grid = Grid.at(problem.basis, u[order], 1.0)
    term = Alone(ground, grid, problem.supported.margin, 1)  # type: ignore[union-attr]
    state = Integral(problem.robot, grid, [term], problem.duration).state(c[None])
    balance, keep = term.balance(state, np.arange(1)), grid.weights > 0.0
    back = np.argsort(order)
    lam = balance.lam[0][keep][back]
    B, mu, radius, active = (
        x[0][keep][back]
        for x in (term.standing.B, term.standing.mu, term.standing.radius, term.standing.active)
    )
    wrenches, pressure, friction = {}, {}, {}
    for k, frame in enumerate(ground.stance.frames):
        own = lam[:, ENTRIES * k : ENTRIES * (k + 1)]
        wrenches[frame] = apply(B[:, k], own)
        pressure[frame] = _pressure(wrenches[frame], B[:, k], active[:, k])
        along = np.sqrt((own[:, :2] ** 2).sum(axis=1) + (own[:, 5] / radius[:, k]) ** 2)
        limit = mu[:, k] / (1.0 - term.margin) * np.maximum(own[:, 2], 1e-12)
        friction[frame] = np.where(active[:, k], along / limit, 0.0)
    return GroundForces(times, wrenches, pressure, friction, balance.net[0][keep][back])


def _pressure(wrench: Array, B: Array, active: Array) -> Array:
    """The points at which forces act on the ground; NaN where there are none."""
    f, m = wrench[:, :3], wrench[:, 3:]
    normal = B[:, :3, 2]
    # the middle of the area, from the moment of a unit force along the normal and across it
    middle = np.stack([_middle(b) if on else np.zeros(3) for b, on in zip(B, active, strict=True)])
    up = (f * normal).sum(axis=1)
    about = m - np.cross(middle, f)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = middle + np.cross(normal, about) / up[:, None]
    return np.where((active & (up > 0.0))[:, None], place, np.nan)


def _middle(B: Array) -> Array:
    """The point about which a ground force is given: r with r x a = the moment of each axis a."""
    axes, moments = B[:3, :3], B[3:, :3]
    cross = moments @ axes.T
    return 0.5 * np.array(
        [cross[2, 1] - cross[1, 2], cross[0, 2] - cross[2, 0], cross[1, 0] - cross[0, 1]]
    )
