"""Robots in charts whose velocities are the rates of coordinates; the ends of transitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.inlining import objects
from kinetree.errors import KinetreeError, ShapeError
from kinetree.motion.arrays import Array
from kinetree.motion.control_costs import sum_of_squares
from kinetree.motion.motion import Motion, same_robot
from kinetree.motion.states import MotionState
from kinetree.motion.terms import Squares, Term, Traced, TurnedSquares, turned_squares
from kinetree.robot.ball_excess import ball_excess
from kinetree.robot.checks import finite_array
from kinetree.robot.memo import Memo
from kinetree.simulate.laws import called

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel
    from kinetree.model.joints import Joint
    from kinetree.motion.reactions import Reaction, RootWrench
    from kinetree.robot import Robot


class Flat:
    """A robot in charts in which velocities are the rates of coordinates.

    Arguments:
        robot: in any charts.
    """

    def __init__(self, robot: Robot) -> None:
        self.original = robot
        self.same = robot.nq == robot.nv
        self.robot = robot if self.same else robot.edit.rechart("exponential")
        self._squares: Memo[tuple[float, ...], TurnedSquares] = Memo()  # by weights
        self._costs: Memo[Callable[..., Any], Traced] = Memo()  # by users' functions
        self.wrenches: Memo[str, RootWrench] = Memo()
        self.reactions: Memo[str, Reaction] = Memo()  # by frame
        self.ranges: dict[tuple[Joint, bool], Kernel] = {}  # by ball joint, for `BallRanges`
        self.frame_errors: Memo[tuple[str, int], Kernel] = Memo()  # by frame and rows

    @cached_property
    def _into(self) -> Any:
        return self.original.charts.conversion(self.robot)

    @cached_property
    def _back(self) -> Any:
        return self.robot.charts.conversion(self.original)

    @cached_property
    def turns(self) -> list[int]:
        """The first coordinate of each rotation vector."""
        model, flat = self.original.model, self.robot.model
        joints = ((i, model.bodies[i].joint) for i in model.coordinate_order)
        return [flat.v_slices[i].stop - 3 for i, joint in joints if joint.nq != joint.nv]

    def state(self, state: Sequence[Array], near: Array | None = None) -> list[Array]:
        """q and its given rates in flat charts, with q near another configuration."""
        if self.same:
            return list(state)
        q, *rates = state
        y = self._into.configuration(q)
        if near is not None:
            pairs = np.stack([near, y], axis=1)
            y = np.stack([self.robot.charts.continuous(pair)[1] for pair in pairs])
        found = [y]
        if rates:
            found.append(self._into.velocity(q, rates[0], y))
        if len(rates) > 1:
            found.append(self._into.acceleration(q, rates[0], rates[1], y))
        return found

    def back(self, y: Array, dy: Array, ddy: Array) -> MotionState:
        """The same motion in the robot's own charts."""
        if self.same:
            return MotionState(y, dy, ddy)
        q = self._back.configuration(y)
        v = self._back.velocity(y, dy, q)
        return MotionState(q, v, self._back.acceleration(y, dy, ddy, q))

    def effort(self, weights: Array) -> Term:
        """The squared joint forces, weighted."""
        if not any(weights[i : i + 3].any() for i in self.turns):
            return Squares(weights)
        make = partial(turned_squares, self.robot, self.turns, weights)
        return self._squares.recall(tuple(weights.tolist()), make)

    def cost(self, function: Callable[..., Any]) -> Term:
        """A cost (t, q, v, a, tau, poses) of the user."""
        return self._costs.recall(function, lambda: _users_cost(self.robot, function))


def _users_cost(robot: Robot, function: Callable[..., Any]) -> Traced:
    from kinetree.algorithms import frame_pose

    def cost(model: Any, t: Any, q: Any, v: Any, a: Any, tau: Any) -> Any:
        given = dict(zip(("q", "v", "a", "tau"), objects(q, v, a, tau), strict=True))
        poses = {"pose": lambda frame: frame_pose(model, q, frame)}
        return sum_of_squares(called(function, "a cost", {"t": t} | given | poses))

    return Traced(robot, cost, ("t", "q", "v", "a", "tau"), name="cost")


def states_of(robot: Robot, given: Any, which: str) -> list[Array]:
    """q and perhaps v and a, each (problems, n), from a user's end of a transition."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Motion):
        motion, t = given
        same_robot(robot, motion.robot)
        given = tuple(motion.at(t))
    elif isinstance(given, Motion):
        same_robot(robot, given.robot)
        given = tuple(given.at(given.times[-1] if which == "first" else given.times[0]))
    parts = list(given) if isinstance(given, tuple) else [given, np.zeros(robot.nv)]
    if not 1 <= len(parts) <= 3:
        raise ShapeError(f"the {which} state has {len(parts)} arrays; q, v and a are expected")
    if len(parts) == 1:
        parts.append(np.zeros(robot.nv))
    found = []
    for name, part, n in zip("qva", parts, (robot.nq, robot.nv, robot.nv), strict=False):
        found.append(finite_array(f"{name} of the {which} state", part, n))
    return found


def check_ends(robot: Robot, q: Array, which: str) -> None:
    """Raise an error if an end lies outside the limits of a joint."""
    lower, upper = robot.limits.lower, robot.limits.upper
    outside = (q < lower - 1e-9) | (q > upper + 1e-9)
    if outside.any():
        k, i = np.argwhere(outside)[0]
        raise KinetreeError(
            f"{robot.labels.q[i]!r} is {q[k, i]:.6g} in the {which} state, outside its limits "
            f"{lower[i]:.6g} to {upper[i]:.6g}; bounded=() ignores them"
        )
    for name, excess in ball_excess(robot, q):
        if (excess > 1e-9).any():
            raise KinetreeError(
                f"joint {name!r} turns {excess.max():.6g} rad beyond its range in the {which} "
                "state; bounded=() ignores ranges"
            )
