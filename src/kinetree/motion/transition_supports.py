"""Transitions on supports: their soles, their holds, and the constraints on ground forces."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.reactions import Reaction, RootWrench
from kinetree.motion.splines import Grid
from kinetree.motion.stance import Sole, Stance
from kinetree.motion.supported import Alone, Ground, Supported, Unsupported
from kinetree.motion.supports import Support, check_phases, points_of
from kinetree.motion.transition_constraints import Rule, held_rule
from kinetree.motion.transition_settings import Hold

if TYPE_CHECKING:
    from kinetree.motion.transition_problem import Problem

CONE_BETWEEN = 1e-6
"""The allowed violation of cones and areas by ground forces, relative to the weight."""
LOST_BETWEEN = 2e-2
"""The allowed force on the root that no support produces, relative to the weight."""
UNCHECKED = 1e9
"""Replaces a tolerance between samples if another rule checks the same."""
MARGIN = 0.01
"""The share by which friction and areas are reduced at samples, so that forces stay within them
between samples, too."""
BESIDE = 1e-7
"""The distance of samples from the beginning and the end of a support, over the duration."""


def poses_of(problem: Problem, support: Support) -> Array:
    """The pose in which a frame stands, in every problem, (problems, 4, 4)."""
    if support.target is not None:
        return np.broadcast_to(np.asarray(support.target), (problem.count, 4, 4))
    state = problem.first if support.first <= 0.0 else problem.second
    return problem.robot.pose(state[0], support.frame)


def ground_of(problem: Problem, weights: Array) -> Ground:
    """The supports of a problem with their kernels.

    Arguments:
        problem: with supports.
        weights: of squared joint forces, (nv,).
    """
    supports, robot, root = problem.settings.supports, problem.robot, problem.root
    if root.stop == root.start:
        raise KinetreeError(
            f"supports carry a floating base, and robot {robot.name!r} has none: "
            "load it with base='floating'"
        )
    check_phases(robot, supports, problem.duration)
    original, soles = problem.flat.original, []
    for support in supports:
        poses = poses_of(problem, support)
        same = np.abs(poses - poses[0]).max() < 1e-12
        normal = np.asarray(support.normal)
        soles.append(
            [
                Sole.of(points_of(original, support, pose), normal, support.friction)
                for pose in (poses[:1] if same else poses)
            ]
        )
    most = max(len(row) for row in soles)
    soles = [row * most if len(row) < most else row for row in soles]
    stance = Stance(supports, soles)
    flat = problem.flat
    wrench = flat.wrenches.recall("root", lambda: RootWrench(robot, root))
    reactions = tuple(
        flat.reactions.recall(frame, partial(Reaction, robot, frame)) for frame in stance.frames
    )
    passive = weights.copy()
    passive[root] = 0.0
    effort = flat.effort(passive)
    return Ground(stance, wrench, reactions, effort, root, problem.weight, problem.duration)


def _changes(problem: Problem, ground: Ground) -> Array:
    """Both ends, and the times just before and after supports begin and end, over the duration."""
    found = [0.0, 1.0]
    for support in ground.stance.supports:
        for t in (support.first, support.last):
            u = t / problem.duration
            found += [u - BESIDE, u + BESIDE] if BESIDE < u < 1.0 - BESIDE else []
    return np.unique(found)


def support_rules(problem: Problem, ground: Ground) -> list[Rule]:
    """The constraints of a transition on supports.

    Arguments:
        problem: with supports.
        ground: its supports.
    """
    lightly = ground.lightly()

    def check(grid: Grid, slack: float) -> Alone:
        return Alone(ground, grid, MARGIN, problem.count)

    def added(grid: Grid) -> Supported:
        return Supported(lightly, grid, MARGIN)

    grid = Grid.at(problem.basis, _changes(problem, ground), 1.0 / problem.grid.u.size)
    forces = Rule(grid, check, CONE_BETWEEN, False, added)
    holds = [
        held_rule(problem, _hold(problem, support, soles[0]))
        for support, soles in zip(ground.stance.supports, ground.stance.soles, strict=True)
    ]
    return [forces, *holds, *_unsupported(problem, ground)]


def _hold(problem: Problem, support: Support, sole: Sole) -> Hold:
    """A support as a held frame: one that stands on a point may turn about it."""
    rows = "position" if len(sole.corners) == 1 else "pose"
    target = poses_of(problem, support)[:, None, None]
    first, last = max(support.first, 0.0), min(support.last, problem.duration)
    return Hold(support.frame, target, first, last, rows)


def _unsupported(problem: Problem, ground: Ground) -> list[Rule]:
    """The force on the root that no support produces is zero.

    It is zero at the knots inside a flight and between them, and small at the beginning and end of
    the flight: there the forces of supports vanish, but zero lies on the smoothed tip of a cone.
    """
    T = problem.duration
    ends = {0.0, T}
    for support in ground.stance.supports:
        ends |= {min(max(support.first, 0.0), T), min(max(support.last, 0.0), T)}
    cuts = sorted(ends)
    times: list[Array] = []
    edges: list[float] = []
    for low, high in itertools.pairwise(cuts):
        middle = np.array([0.5 * (low + high)])
        if high - low > 1e-6 * T and not ground.stance.on(middle, 0.0).fully:
            times.append(_times_between(problem, low / T, high / T))
            edges += [low / T + BESIDE] * (low > 0.0) + [high / T - BESIDE] * (high < T)
    if not times:
        return []
    grid = Grid.at(problem.basis, np.unique(np.concatenate(times)), 1.0)
    rules = [Rule(grid, partial(Unsupported, ground), LOST_BETWEEN, True, firm=True)]
    if edges:

        def small(at: Grid) -> Unsupported:
            return Unsupported(ground, at, 0.5 * LOST_BETWEEN)

        edge = Grid.at(problem.basis, np.array(edges), 1.0 / problem.grid.u.size)
        rules.append(Rule(edge, partial(Unsupported, ground), UNCHECKED, False, small))
    return rules


def _times_between(problem: Problem, low: float, high: float) -> Array:
    """The knots between two times, and the middles between these and the ends.

    All are over the duration.
    """
    intervals = problem.basis.intervals
    knots = np.arange(1, intervals) / intervals
    inside = knots[(knots > low + 1e-6) & (knots < high - 1e-6)]
    breaks = np.concatenate([[low], inside, [high]])
    return np.sort(np.concatenate([inside, 0.5 * (breaks[1:] + breaks[:-1])]))
