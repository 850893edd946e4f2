"""The constraints of a transition: limits of joints, a root without force, held frames.

Constraints are imposed at samples, and checked at many more times (`DENSE`). Where they are
violated between samples, samples are added (`transition_solver.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kinetree.algorithms.limited import limited_balls
from kinetree.control.pose import POSE, POSITION, seven_numbers
from kinetree.errors import KinetreeError, unknown
from kinetree.motion.arrays import Array
from kinetree.motion.ball_ranges import BallRanges
from kinetree.motion.held import Held, frame_error
from kinetree.motion.splines import Grid
from kinetree.motion.terms import Bounds, Constraint
from kinetree.motion.transition_settings import Hold

if TYPE_CHECKING:
    from kinetree.motion.transition_problem import Problem
    from kinetree.robot import Robot

LIMIT_BETWEEN = 1e-4
"""The allowed excess over a limit between samples, relative to it."""
FIRM = 1000.0
"""The penalties at added times of constraints whose equalities are kept by every step."""
STIFF = 30.0
"""The penalties of position limits on supports, relative to those of ground forces: with less,
light limbs would hardly feel their limits."""
RANGE_BETWEEN = 1e-3
"""The allowed excess over the range of a ball joint between samples, relative to it."""
ROOT_BETWEEN = 2e-2
"""The force on a passive root that may remain between samples, relative to the weight."""
HELD_BETWEEN = 1e-2
"""The allowed error of a held frame between samples, relative to HOLD_SCALE."""
HOLD_SCALE = 0.1
"""The error of a held frame that counts as one, m and rad."""
ROWS = {"pose": POSE, "position": POSITION}


@dataclass(frozen=True)
class Rule:
    """A constraint that can be imposed, or checked, at any times.

    grid: the times at which it is imposed from the start.
    term: makes the constraint on a grid, from the grid and the allowed violation over its scale.
    between: the allowed violation between samples, over its scale.
    equality: whether it is one; a spline meets it at some times, and up to `between` elsewhere.
    added: makes the imposed constraint, if it differs from `term`, by which it is checked.
    firm: whether added times have large penalties, as for equalities that every step keeps.
    """

    grid: Grid
    term: Callable[[Grid, float], Constraint]
    between: float
    equality: bool
    added: Callable[[Grid], Constraint] | None = None
    firm: bool = False

    def first(self) -> Constraint:
        """The constraint at the times at which it is imposed from the start."""
        return self.term(self.grid, 0.0) if self.added is None else self.added(self.grid)

    def tightened(self, grid: Grid) -> Constraint:
        """The constraint at added times."""
        if self.added is not None:
            return self.added(grid)
        term = self.term(grid, 0.5 * self.between if self.equality else 0.0)
        if self.equality and self.firm:
            term.stiffness, term.met = FIRM, 0.2 * self.between
        return term


def rules(problem: Problem) -> list[Rule]:
    """All constraints of a transition but those of supports."""
    limits = [_limit(problem, kind) for kind in problem.settings.bounded]
    limits.append(_ranges(problem) if "q" in problem.settings.bounded else None)
    alone = problem.settings.root == "passive" and not problem.settings.supports
    root = _passive_root(problem) if alone else None
    held = [held_rule(problem, hold) for hold in problem.settings.hold if hold.weight is None]
    return [rule for rule in (*limits, root, *held) if rule is not None]


def soft_holds(problem: Problem, grid: Grid) -> list[Held]:
    """The frames that are held with a weight: terms of the cost on a grid."""
    soft = [hold for hold in problem.settings.hold if hold.weight is not None]
    return [_hold_term(problem, hold, grid, 0.0) for hold in soft]


def _limit(problem: Problem, kind: str) -> Rule | None:
    """The limits of joints of one kind; None if there are none."""
    original, nv = problem.flat.original, problem.robot.nv
    lower, upper, velocity, effort, _ = original.limits
    if kind == "q":
        name = "position"
        low, up = (lower, upper) if problem.flat.same else _spread_limits(original, nv)
        scale = np.where(np.isfinite(up - low), np.maximum(up - low, 1e-3), 1.0)
    else:
        bound, name = (velocity, "velocity") if kind == "v" else (effort, "joint force")
        up = np.where(bound > 0.0, bound, np.inf)
        low, scale = -up, np.where(np.isfinite(up), up, 1.0)
    if not (np.isfinite(low).any() or np.isfinite(up).any()):
        return None

    def term(grid: Grid, slack: float) -> Constraint:
        room = slack * scale
        bounds = Bounds(kind, low - room, up + room, scale, original.labels.v, name)
        if kind == "q" and problem.settings.supports:
            bounds.stiffness, bounds.met = STIFF, 0.3 * LIMIT_BETWEEN
        return bounds

    return Rule(problem.grid, term, LIMIT_BETWEEN, False)


def _ranges(problem: Problem) -> Rule | None:
    """The ranges of ball joints; None if there are none."""
    flat = problem.flat
    if not limited_balls(flat.original.model):
        return None

    def term(_: Grid, slack: float) -> Constraint:
        ranges = BallRanges(problem.robot, flat.original, flat.ranges, slack)
        ranges.met = 0.3 * RANGE_BETWEEN
        if problem.settings.supports:
            ranges.stiffness = STIFF
        return ranges

    return Rule(problem.grid, term, RANGE_BETWEEN, False)


def _passive_root(problem: Problem) -> Rule | None:
    """No force acts on a free root, at as many times as a spline can meet."""
    root, nv, weight = problem.root, problem.robot.nv, problem.weight
    if root.stop == root.start:
        return None
    names = problem.flat.original.labels.v

    def term(grid: Grid, slack: float) -> Constraint:
        bound = np.full(nv, np.inf)
        bound[root] = slack * weight
        return Bounds("tau", -bound, bound, np.full(nv, weight), names, "root force")

    return Rule(exact_times(problem, 0.0, 1.0), term, ROOT_BETWEEN, True)


def exact_times(problem: Problem, first: float, last: float) -> Grid:
    """Times for equalities between two: one for each free coefficient.

    Near the ends, where the states are given, there are none.
    """
    before, after = (end.shape[1] for end in problem.ends)
    free = problem.basis.greville[before : problem.basis.count - after]
    low, high = max(first, free[0]), min(last, free[-1])
    if high < low:
        return Grid.at(problem.basis, free[:1], 0.0)
    if high == low:
        return Grid.at(problem.basis, np.array([low]), 1.0)
    # between two knots, a spline has as many degrees of freedom as intervals and its degree
    count = min(math.ceil((high - low) * problem.basis.intervals - 1e-9) + 2, len(free))
    return Grid.at(problem.basis, np.linspace(low, high, count), 1.0)


def held_rule(problem: Problem, hold: Hold) -> Rule:
    """A frame that is held exactly at some times."""
    _check_hold(problem, hold)
    grid = exact_times(problem, hold.first / problem.duration, hold.last / problem.duration)
    _inside(problem, hold, grid)
    firm = bool(problem.settings.supports)
    return Rule(grid, partial(_hold_term, problem, hold), HELD_BETWEEN, True, firm=firm)


def _check_hold(problem: Problem, hold: Hold) -> None:
    if hold.frame not in problem.robot.frames:
        raise unknown("frame", hold.frame, problem.robot.frames, f"robot {problem.robot.name!r}")
    if hold.rows not in ROWS:
        raise unknown("value of rows", hold.rows, ROWS, "Hold")


def _inside(problem: Problem, hold: Hold, grid: Grid) -> Array:
    """Which samples lie in the time of a hold; an error if none does."""
    t, slack = grid.u * problem.duration, 1e-9 * problem.duration
    inside = (t >= hold.first - slack) & (t <= hold.last + slack) & (grid.weights > 0.0)
    if not inside.any():
        raise KinetreeError(
            f"frame {hold.frame!r} is held from {hold.first:g} to {hold.last:g} s: no sample "
            f"of the transition, which lasts {problem.duration:g} s, is in between"
        )
    return inside


def _hold_term(problem: Problem, hold: Hold, grid: Grid, slack: float) -> Held:
    """A held frame on a grid."""
    _check_hold(problem, hold)
    inside = _inside(problem, hold, grid)
    if callable(hold.target):
        t = grid.u * problem.duration
        path = np.array([[hold.target(x) for x in row] for row in t], float)
        target = seven_numbers(problem.robot, hold.frame, path)[None]
    else:
        given = hold.target
        if given is None:
            given = problem.robot.pose(problem.first[0], hold.frame)[:, None, None]
        target = seven_numbers(problem.robot, hold.frame, given)
    robot, frame, rows = problem.robot, hold.frame, ROWS[hold.rows]
    make = partial(frame_error, robot, frame, rows, HOLD_SCALE)
    error = problem.flat.frame_errors.recall((frame, rows), make)
    allowed = slack * HOLD_SCALE
    return Held(error, frame, target, rows, inside, hold.weight, allowed, HOLD_SCALE)


def _spread_limits(robot: Robot, nv: int) -> tuple[Array, Array]:
    """Limits of coordinates in flat charts; orientations have none."""
    low, up = np.full(nv, -np.inf), np.full(nv, np.inf)
    model = robot.model
    for i in model.coordinate_order:
        if model.bodies[i].joint.nq == model.bodies[i].joint.nv:
            low[model.v_slices[i]] = robot.limits.lower[model.q_slices[i]]
            up[model.v_slices[i]] = robot.limits.upper[model.q_slices[i]]
    return low, up
