"""Reports which demand of inverse kinematics is violated, by name.

Two questions are answered. Before any try: which targets are themselves in collision, because
shapes fixed to the target frames would touch the world or each other there? After the last try:
which demand is violated most where no solution was found?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.contact.nearness import nearest
from kinetree.algorithms.limited import limited_balls
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.control.pose import POSE
from kinetree.control.reaching import Task
from kinetree.model import Model
from kinetree.model.model import WORLD
from kinetree.robot.ball_excess import ball_excess
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Transform, Vector3
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

RANGE = "range of joint "
NAMED = 3
"""The number of targets that a message names."""


class Demands:
    """The demands on a solution, by name.

    Arguments:
        robot: the robot.
        task: its targets.

    Attributes:
        names: of all demands: the position and orientation of each frame, the centre of mass, the
            rows of the robot's constraints, the ranges of ball joints, and the pairs of shapes
            that stay apart.
    """

    def __init__(self, robot: Robot, task: Task) -> None:
        self.robot, self.task, model = robot, task, robot.model
        names: list[str] = []
        for frame, rows in task.frames:
            names.append(f"position of frame {frame!r}")
            names += [f"orientation of frame {frame!r}"] if rows == POSE else []
        names += ["centre of mass"] if task.center else []
        names += [f"constraint {label.name!r}" for label in model.constraint_labels]
        names += [RANGE + repr(model.bodies[i].joint_name) for i in limited_balls(model)]
        if task.apart:
            names += [f"distance of {name!r}" for name in robot.contact.touch_names]
        self.names = tuple(names)

    @cached_property
    def fixed_pairs(self) -> list[int]:
        """The pairs whose distance a target determines."""
        model = self.robot.model
        known = {WORLD, *(model.frame(name).body for name, n in self.task.frames if n == POSE)}
        bodies = [
            (model.collider_bodies[pair.first], model.collider_bodies[pair.second])
            for pair in model.contacts
        ]
        return [k for k, both in enumerate(bodies) if set(both) <= known and set(both) != {WORLD}]

    @cached_property
    def goal_distances(self) -> Kernel | None:
        """From targets to the distances of `fixed_pairs`; None if there are none."""
        if not self.task.apart or not self.fixed_pairs:
            return None
        lengths = {"target": self.task.length}
        return self.robot.custom_kernel(self._goal_distances, lengths, "goal_distances")

    def _goal_distances(self, model: Model, target: Sequence[Scalar]) -> list[Scalar]:
        places: dict[int, Transform] = {WORLD: Transform.identity()}
        for k, (name, rows) in enumerate(self.task.frames):
            if rows == POSE:
                x = target[7 * k : 7 * k + 7]
                X = Transform(Rotation.quat_xyzw(*x[3:]), Vector3(*x[:3]))
                frame = model.frame(name)
                places[frame.body] = X @ frame.placement.inverse()
        colliders = {c.name: c for c in model.colliders}
        found = []
        for k in self.fixed_pairs:
            sides = [colliders[x] for x in (model.contacts[k].first, model.contacts[k].second)]
            X1, X2 = (places[model.collider_bodies[c.name]] @ _in_body(model, c) for c in sides)
            found.append(nearest(sides[0].shape, X1, sides[1].shape, X2).distance)
        return found

    @cached_property
    def _errors(self) -> Kernel:
        lengths = {"q": self.robot.nq, "target": self.task.length}
        return self.robot.custom_kernel(self._rows, lengths, "reach_errors")

    def _rows(self, model: Model, q: Sequence[Scalar], target: Sequence[Scalar]) -> list[Scalar]:
        return self.task.rows(model, q, target)[0]

    def worst(self, q: Array, targets: Array, clearance: float) -> tuple[Array, Array]:
        """The demand that is violated most at each configuration, and by how much.

        Arguments:
            q: (n, nq).
            targets: (n, length).
            clearance: m.

        Returns:
            Indices of `names`, (n,), and amounts, m or rad.
        """
        e, columns, k = self._errors(q, targets), [], 0
        for _, rows in self.task.frames:
            for _ in range(rows // 3):
                columns.append(np.linalg.norm(e[:, k : k + 3], axis=-1))
                k += 3
        if self.task.center:
            columns.append(np.linalg.norm(e[:, k : k + 3], axis=-1))
            k += 3
        columns += list(np.abs(e[:, k:]).T)
        columns += [excess for _, excess in ball_excess(self.robot, q)]
        if self.task.apart:
            columns += list(clearance - self.robot.distances(q).T)
        amounts = np.stack(columns, axis=-1)
        worst = amounts.argmax(axis=-1)
        return worst, np.take_along_axis(amounts, worst[:, None], axis=-1)[:, 0]

    def message(self, count: int, failed: Array, which: Array, by: Array, goals: Array) -> str:
        """The message about targets that were not reached.

        Arguments:
            count: the number of targets.
            failed: the indices of those that were not reached.
            which, by: of each of them, as `worst` gives them.
            goals: whether each of them is itself in collision.
        """
        if not len(failed):
            return f"all {count} targets are reached" if count != 1 else "the target is reached"
        said = [
            self._said(count, int(k), self.names[w], float(x), bool(goal))
            for k, w, x, goal in zip(failed[:NAMED], which, by, goals, strict=False)
        ]
        rest = f"; and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
        head = f"{count - len(failed)} of {count} targets are reached: " if count != 1 else ""
        return head + "; ".join(said) + rest

    def _said(self, count: int, k: int, name: str, by: float, goal: bool) -> str:
        target = f"target {k}" if count != 1 else "the target"
        if goal:
            return f"{target} is in collision by itself, {name} is {by:.3g} m less than demanded"
        if name.startswith("distance"):
            return f"{target} was found only in collision, {name} is {by:.3g} m less than demanded"
        if name.startswith(RANGE):
            return f"{target} was not reached within the {name}, which is exceeded by {by:.3g} rad"
        unit = "rad" if name.startswith("orientation") else "m or rad"
        unit = "m" if name.startswith(("position", "centre")) else unit
        return f"{target} was not reached, {name} is off by {by:.3g} {unit}"


def _in_body(model: Model, collider: Any) -> Transform:
    """The pose of a collider in its body, or in the world."""
    if collider.frame is None:
        return collider.at
    return model.frame(collider.frame).placement @ collider.at
