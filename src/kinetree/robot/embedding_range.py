"""Over which range of their independent coordinates loops close, and solutions there.

A robot with one independent coordinate is followed from an assembled configuration to both sides,
until a loop can no longer close, comes near to a singular position, or meets a limit. With several,
the range is a box about the configuration, shrunk until the loops close in all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.errors import ModelError
from kinetree.model import Model
from kinetree.model.configurations import sampled_range
from kinetree.model.embedding import Axis
from kinetree.model.joints import Joint
from kinetree.robot.closing import approach
from kinetree.robot.core import Core
from kinetree.robot.embedding_plan import WEAK, Cluster, Plan
from kinetree.typing import Array

TOLERANCE = 1e-12
ITERATIONS = 60
TURN = 2.0 * np.pi
ALONG = 90
"""Configurations in a turn of a crank, or over the range of a slider."""
SIDE = 11
"""Configurations along each of two axes."""
SCATTERED = 150
"""Configurations for each of more axes, at random."""
STAGES = 6
"""Steps from the assembled configuration to each of these."""
BISECTIONS = 30
LEAST = 0.02
"""The smallest part of a range that is worth embedding."""


@dataclass(frozen=True)
class Range:
    """Where the loops of a cluster close.

    axes: of the independent coordinates.
    y, q: samples: the independent coordinates (n, axes), and all coordinates (n, nq).
    windings: turns of each coordinate of q in a turn of each axis, (nq, axes).
    """

    axes: tuple[Axis, ...]
    y: Array
    q: Array
    windings: Array


class Explorer:
    """Closes the loops of a robot over the range of a cluster.

    Arguments:
        robot: with the constraints that are embedded.
        plan: its independent joints.
        cluster: the loops.
        q: an assembled configuration.
    """

    def __init__(self, robot: Core, plan: Plan, cluster: Cluster, q: Array) -> None:
        self.robot, self.plan, self.cluster, self.q = robot, plan, cluster, q
        model = robot.model
        self.bodies = [model.bodies[i] for i in cluster.leaders]
        self.numbers = [k for i in cluster.leaders for k in _range(model.q_slices[i])]
        self.held = [model.bodies[i].joint_name for i in plan.independent]
        for body in self.bodies:
            if body.joint.nq != body.joint.nv:
                raise ModelError(
                    f"robot {robot.name!r}: joint {body.joint_name!r} is independent and has a "
                    "quaternion: the range of a loop that Newton's method solves needs coordinates "
                    "with limits; use robot.edit.rechart('exponential'), or choose other joints"
                )

    def explore(self) -> Range:
        """The range, and samples of it."""
        found = self._turning() if self._may_turn else None
        if found is None:
            found = self._line() if len(self.numbers) == 1 else self._box()
        return found

    @property
    def _may_turn(self) -> bool:
        (*_, body) = self.bodies
        return len(self.numbers) == 1 and _is_angle(body.joint) and np.isinf(body.limits.upper)

    def _turning(self) -> Range | None:
        """A full turn, if the loops close all the way and end as they began."""
        (k,) = self.numbers
        y = self.q[k] + np.linspace(0.0, TURN, ALONG + 1)
        q = np.array([self.q, *self._follow(y[1:])])
        if len(q) <= ALONG:
            return None
        turns = (q[-1] - q[0]) / TURN
        angles = _angles(self.robot.model)
        whole = np.where(angles, np.round(turns), 0.0)
        if np.abs(turns - whole).max() > 1e-6:
            return None
        return Range((Axis(0.0, 0.0),), y[:-1, None], q[:-1], whole[:, None])

    def _line(self) -> Range:
        (k,), (body,) = self.numbers, self.bodies
        lower, upper = sampled_range(body)
        start, reach = self.q[k], (upper - lower)[0]
        low = self._end(max(lower[0], start - reach))
        high = self._end(min(upper[0], start + reach))
        if high - low < LEAST * reach:
            self._refuse()
        back, on = (
            self._follow(start + (end - start) * np.linspace(0.0, 1.0, ALONG))
            for end in (low, high)
        )
        q = np.array([*list(back)[:0:-1], *on])
        zero = np.zeros((self.robot.nq, 1))
        return Range((Axis(float(low), float(high)),), q[:, [k]], q, zero)

    def _end(self, wanted: float) -> float:
        """How far the loops close from the assembled configuration towards a value."""
        (k,) = self.numbers
        path = self.q[k] + (wanted - self.q[k]) * np.linspace(0.0, 1.0, ALONG)
        q = list(self._follow(path))
        if len(q) == len(path):
            return float(wanted)
        good, bad = path[max(len(q) - 1, 0)], path[len(q)]
        last = q[-1] if q else self.q
        for _ in range(BISECTIONS):
            middle = 0.5 * (good + bad)
            tried = self._closed(last, np.array([middle]))
            good, bad, last = (good, middle, last) if tried is None else (middle, bad, tried[0])
        return float(good)

    def _follow(self, path: Array) -> Iterator[Array]:
        """Configurations along a path of the independent coordinate, until a loop is open."""
        before, now = self.q, self.q
        for y in path:
            guess = now + (now - before) * _ratio(y, now, before, self.numbers[0])
            found = self._closed(guess, np.array([y]))
            if found is None:
                return
            before, now = now, found[0]
            yield now

    def _box(self) -> Range:
        ends = [sampled_range(body) for body in self.bodies]
        lower, upper = (np.concatenate([e[k] for e in ends]) for k in (0, 1))
        start = self.q[self.numbers]
        lower, upper = np.minimum(lower, start), np.maximum(upper, start)
        size = 1.0
        while size > LEAST:
            low, high = start + (lower - start) * size, start + (upper - start) * size
            y = _scattered(low, high)
            q = self._spread(y)
            if q is not None:
                axes = tuple(map(Axis, low.tolist(), high.tolist()))
                return Range(axes, y, q, np.zeros((self.robot.nq, len(self.numbers))))
            size *= 0.8
        self._refuse()
        raise AssertionError

    def _spread(self, y: Array) -> Array | None:
        """Configurations at independent coordinates; None if a loop is open at one of them."""
        q: Array | None = np.broadcast_to(self.q, (len(y), self.robot.nq))
        start = self.q[self.numbers]
        for k in range(1, STAGES + 1):
            assert q is not None
            q = self._closed(q, start + (y - start) * (k / STAGES))
            if q is None:
                return None
        return q

    def _closed(self, guess: Array, y: Array) -> Array | None:
        """Configurations at independent coordinates; None if a loop is open or nearly singular."""
        q = np.array(np.broadcast_to(guess, (len(y), self.robot.nq)))
        q[:, self.numbers] = y.reshape(len(y), -1)
        at, left = approach(self.robot, q, self.held, TOLERANCE, ITERATIONS)
        if (np.abs(left) > TOLERANCE * 100).any():
            return None
        J = self.plan.dependent_columns(np.asarray(self.robot.kernel("constraint_jacobian")(at)))
        values = np.linalg.svd(J, compute_uv=False)
        return at if (values[:, -1] > WEAK * values[:, 0]).all() else None

    def _refuse(self) -> None:
        names = [
            self.robot.model.constraints[c].name for s in self.cluster.stages for c in s.constraints
        ]
        joints = [body.joint_name for body in self.bodies]
        raise ModelError(
            f"robot {self.robot.name!r}: loop {', '.join(map(repr, names))} closes over no range "
            f"of {', '.join(map(repr, joints))} about the configuration: pass another as at="
        )


def _ratio(y: float, now: Array, before: Array, k: int) -> float:
    """How long the next step of a path is, compared with the last; at most twice as long."""
    last = now[k] - before[k]
    return float(np.clip((y - now[k]) / last, 0.0, 2.0)) if last else 0.0


def _scattered(low: Array, high: Array) -> Array:
    """Independent coordinates all over a box, (n, axes)."""
    n = len(low)
    if n == 2:
        side = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, SIDE))
        unit = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    else:
        unit = np.random.default_rng(0).uniform(size=(SCATTERED * n, n))
    return low + (high - low) * unit


def _angles(model: Model) -> Array:
    """Which coordinates are angles, (nq,)."""
    return np.array([label.unit == "rad" for label in model.coordinate_labels])


def _is_angle(joint: Joint) -> bool:
    return joint.coordinate_labels()[0].unit == "rad"


def _range(at: slice) -> range:
    return range(at.start, at.stop)
