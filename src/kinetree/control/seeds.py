"""The starts of inverse kinematics: a table of random configurations, looked up by target.

The start for a target is the configuration of the table whose frames are nearest to the target. The
table has several parts; a try that fails is repeated from another part, and when all parts have
been used, from any row.

    feature of a position     its coordinates, m
    feature of a pose         these, and two axes of its orientation times ARM
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.control.pose import POSE
from kinetree.control.reaching import Task
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.spatial import Rotation
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

ARM = 0.3
"""m: the position error equivalent to one radian of orientation error."""
PARTS, ROWS = 8, 1024
"""The number of parts of the table, and of rows in each."""
DRAWN = 4
"""The most random configurations drawn for each row of the table."""
AT_ONCE = {"numpy": 1 << 17, "cupy": 1 << 28}
"""The number of distances computed at once; on the CPU, as many as caches hold."""


class Seeds:
    """The table of a solver.

    Arguments:
        robot: the robot.
        task: its targets.
        clearance: the least distance of shapes in every row, m.
    """

    def __init__(self, robot: Robot, task: Task, clearance: float) -> None:
        self.robot, self.task = robot, task
        self.q = self._drawn(clearance)
        lengths = {"target": task.length}
        self._kernel = robot.custom_kernel(self._features, lengths, "target_features")
        features = self._kernel(self._targets(self.q))
        # |x - y|^2 = |x|^2 + (-2 y, |y|^2) . (x, 1), and |x|^2 is the same for all rows y
        table = np.concatenate([-2.0 * features, (features**2).sum(-1, keepdims=True)], axis=-1)
        self._table = table.astype(np.float32)
        self._on: dict[int, tuple[Any, Any]] = {}

    def __call__(self, xp: Any, attempt: int, targets: Any, rng: np.random.Generator) -> Any:
        """Starts for targets.

        Arguments:
            xp: NumPy or CuPy, as the targets are.
            attempt: the number of the try.
            targets: (n, length).
            rng: for tries beyond the parts of the table.

        Returns:
            Configurations, (n, nq).
        """
        q, table = self._arrays(xp)
        if attempt >= PARTS:
            return q[xp.asarray(rng.integers(len(self.q), size=len(targets)))]
        part = slice(attempt * len(self.q) // PARTS, (attempt + 1) * len(self.q) // PARTS)
        features = xp.concatenate([self._kernel(targets), xp.ones((len(targets), 1))], axis=-1)
        features = features.astype(np.float32)
        count = max(1, AT_ONCE.get(xp.__name__, 1 << 17) // table[part].shape[0])
        nearest = [
            (features[k : k + count] @ table[part].T).argmin(axis=-1)
            for k in range(0, len(targets), count)
        ]
        return q[part][xp.concatenate(nearest)]

    def _arrays(self, xp: Any) -> tuple[Any, Any]:
        """The table on the device of the targets."""
        if id(xp) not in self._on:
            self._on[id(xp)] = xp.asarray(self.q), xp.asarray(self._table)
        return self._on[id(xp)]

    def _drawn(self, clearance: float) -> Array:
        """Random configurations whose shapes are apart, the same in every process."""
        robot, rng = self.robot, np.random.default_rng(0)
        wanted = PARTS * ROWS
        if not self.task.apart or not robot.contact.pairs:
            return robot.random(rng, wanted)
        kept: list[Array] = []
        farthest = np.full(len(robot.contact.touch_names), -np.inf)
        for _ in range(DRAWN):
            q = robot.random(rng, wanted)
            distances = robot.distances(q)
            farthest = np.maximum(farthest, distances.max(axis=0))
            kept.append(q[distances.min(axis=-1) >= clearance])
            if sum(map(len, kept)) >= wanted:
                break
        found = np.concatenate(kept)[:wanted]
        if len(found) < PARTS:
            k = int(farthest.argmin())
            raise KinetreeError(
                f"clearance={clearance:g}: of {DRAWN * wanted} random configurations {len(found)} "
                f"keep all shapes apart; {robot.contact.touch_names[k]!r} is nowhere more than "
                f"{farthest[k]:.3g} m"
            )
        return found

    def _targets(self, q: Array) -> Array:
        """The poses at configurations, as targets."""
        kernel = self.robot.custom_kernel(self.task.reached, {"q": self.robot.nq}, "reached")
        found: Array = kernel(q)
        return found

    def _features(self, model: Model, target: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for k, (_, rows) in enumerate(self.task.frames):
            found += target[7 * k : 7 * k + 3]
            if rows == POSE:
                R = Rotation.quat_xyzw(*target[7 * k + 3 : 7 * k + 7])
                found += [x * ARM for row in R.rows for x in (row.x, row.y)]
        return found + list(target[7 * len(self.task.frames) :])
