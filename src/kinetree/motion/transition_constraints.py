"""What a transition must keep to: limits of joints, a root without force, frames that are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.control.pose import POSE, POSITION, seven_numbers
from kinetree.errors import KinetreeError, unknown
from kinetree.motion.arrays import Array
from kinetree.motion.splines import Grid
from kinetree.motion.terms import Bounds, Held
from kinetree.motion.transition_settings import Hold

if TYPE_CHECKING:
    from kinetree.motion.transition_problem import Problem
    from kinetree.robot import Robot


def constrain(problem: Problem) -> None:
    """Add limits, held frames, and the root on which no force acts."""
    for kind in problem.settings.limits:
        _limit(problem, kind)
    if problem.settings.root == "passive":
        _free_root(problem)
    for hold in problem.settings.hold:
        _hold(problem, hold)


def _limit(problem: Problem, kind: str) -> None:
    """The limits of joints of one kind, at all samples."""
    original, nv = problem.flat.original, problem.robot.nv
    names = original.labels.v
    lower, upper, velocity, effort = original.limits
    if kind == "q" and problem.flat.same:
        scale = np.where(np.isfinite(upper - lower), np.maximum(upper - lower, 1e-3), 1.0)
        term = Bounds("q", lower, upper, scale, names, "position")
    elif kind == "q":
        low, up = _spread_limits(original, nv)
        term = Bounds("q", low, up, np.ones(nv), names, "position")
    else:
        bound, of = (velocity, "velocity") if kind == "v" else (effort, "joint force")
        bound = np.where(bound > 0.0, bound, np.inf)
        scale = np.where(np.isfinite(bound), bound, 1.0)
        term = Bounds(kind, -bound, bound, scale, names, of)
    problem.add(problem.grid, term)


def _free_root(problem: Problem) -> None:
    """No force acts on a free root, at as many times as can be met."""
    root, nv, robot = problem.root, problem.robot.nv, problem.robot
    if root.stop == root.start:
        return
    bound = np.full(nv, np.inf)
    bound[root] = 0.0
    weight = robot.total_mass * max(float(np.linalg.norm(robot.gravity)), 1.0)
    names = problem.flat.original.labels.v
    term = Bounds("tau", -bound, bound, np.full(nv, weight), names, "root force")
    problem.add(_exact_times(problem, 0.0, 1.0), term)


def _exact_times(problem: Problem, first: float, last: float, density: int = 1) -> Grid:
    """Times for equalities between two: so many for each free coefficient.

    Near the ends, where the states are given, there are none.
    """
    before, after = (end.shape[1] for end in problem.ends)
    free = problem.basis.greville[before : problem.basis.count - after]
    low, high = max(first, free[0]), min(last, free[-1])
    if high <= low:
        return Grid.at(problem.basis, free[:1], 0.0)
    count = max(3, round(density * (high - low) / (free[-1] - free[0]) * len(free)))
    count = min(count, density * len(free))
    return Grid.at(problem.basis, np.linspace(low, high, count), 1.0)


def _density(problem: Problem, frame: str, rows: int) -> int:
    """How many times for each free coefficient a frame can be held exactly.

    Two, if its joints (without a free root) have twice as many coordinates as equalities.
    """
    J = problem.robot.jacobian(problem.first[0][0] + 0.1, frame)
    moving = np.abs(J).max(axis=0) > 1e-9
    moving[problem.root] = False
    return 2 if 2 * rows <= moving.sum() else 1


def _hold(problem: Problem, hold: Hold) -> None:
    """A frame is held exactly at some times, or with a weight at all samples."""
    if hold.frame not in problem.robot.frames:
        raise unknown("frame", hold.frame, problem.robot.frames, f"robot {problem.robot.name!r}")
    rows = {"pose": POSE, "position": POSITION}
    if hold.rows not in rows:
        raise unknown("value of rows", hold.rows, rows, "Hold")
    density = _density(problem, hold.frame, rows[hold.rows])
    window = hold.first / problem.duration, hold.last / problem.duration
    grid = problem.grid if hold.weight is not None else _exact_times(problem, *window, density)
    t = grid.u * problem.duration
    slack = 1e-9 * problem.duration
    inside = (t >= hold.first - slack) & (t <= hold.last + slack) & (grid.weights > 0.0)
    if not inside.any():
        raise KinetreeError(
            f"frame {hold.frame!r} is held from {hold.first:g} to {hold.last:g} s: no sample "
            f"of the transition, which lasts {problem.duration:g} s, is in between"
        )
    if callable(hold.target):
        path = np.array([[hold.target(x) for x in row] for row in t], float)
        target = seven_numbers(problem.robot, hold.frame, path)[None]
    else:
        given = hold.target
        if given is None:
            given = problem.robot.pose(problem.first[0], hold.frame)[:, None, None]
        target = seven_numbers(problem.robot, hold.frame, given)
    held = Held(problem.robot, hold.frame, target, rows[hold.rows], inside, hold.weight)
    key = ("held", hold.frame, hold.rows)
    held.kernels = problem.flat.terms.setdefault(key, held.kernels)
    problem.add(grid, held, exact=hold.weight is None)


def _spread_limits(robot: Robot, nv: int) -> tuple[Array, Array]:
    """Limits of coordinates in flat charts; orientations have none."""
    low, up = np.full(nv, -np.inf), np.full(nv, np.inf)
    model = robot.model
    for i in model.coordinate_order:
        if model.bodies[i].joint.nq == model.bodies[i].joint.nv:
            low[model.v_slices[i]] = robot.limits.lower[model.q_slices[i]]
            up[model.v_slices[i]] = robot.limits.upper[model.q_slices[i]]
    return low, up
