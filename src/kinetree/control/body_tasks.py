"""The tasks and stances of a whole-body controller.

A task demands accelerations, J a + J' v = wanted, in the least-squares sense:

    wanted = a_d + K_d (v_d - J v) + K_p e

    code      meaning
    e         the error: target minus position, m or rad
    J         the task's Jacobian; rows are sparse
    drift     J' v
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms import difference, frame_acceleration
from kinetree.algorithms.center_of_mass import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
)
from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import Row, is_zero
from kinetree.control.pose import POSE, POSITION, frame_task, seven_numbers
from kinetree.errors import KinetreeError
from kinetree.kinds import flag
from kinetree.model import Model
from kinetree.robot.checks import count, finite_array, finite_state, number
from kinetree.scalar import Scalar
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

Scalars = Sequence[Scalar]
Inputs = Mapping[str, Scalars]


@dataclass(frozen=True)
class Wanted:
    """Rows of a task: J a = value, in the least-squares sense.

    Arguments:
        J: one row for each equation, by velocity.
        value: the right-hand side of each.
    """

    J: list[Row]
    value: list[Scalar]


@dataclass(frozen=True)
class BodyTask:
    """A task of a whole-body controller.

    Arguments:
        weight: of its squared error, relative to other tasks of its priority.
        kp, kd: gains, 1/s^2 and 1/s.
        priority: tasks of priority 1 are met as well as they can be; those of priority 2 without
            disturbing them, and so on.
    """

    weight: float = 1.0
    kp: float = 100.0
    kd: float = 20.0
    priority: int = 1

    def check(self, robot: Robot) -> None:
        """Refuse invalid numbers.

        Arguments:
            robot: whose task it is.
        """
        number("weight", self.weight, above=0.0)
        number("kp", self.kp, 0.0)
        number("kd", self.kd, 0.0)
        count("priority", self.priority)

    @property
    def name(self) -> str:
        """The prefix of its inputs' names."""
        raise NotImplementedError

    def inputs(self, robot: Robot) -> dict[str, Array]:
        """Its inputs by name, and their defaults.

        Arguments:
            robot: whose task it is.

        Returns:
            Arrays of one axis.
        """
        raise NotImplementedError

    def rows(self, model: Model, q: Scalars, v: Scalars, given: Inputs) -> Wanted:
        """The rows that it demands at a state.

        Arguments:
            model: the robot.
            q, v: the state.
            given: the controller's inputs by name.

        Returns:
            Rows over the accelerations.
        """
        raise NotImplementedError

    def _asked(self, given: Inputs, error: Scalars, rate: Scalars) -> list[Scalar]:
        """a_d + K_d (v_d - rate) + K_p error."""
        velocity, acceleration = given[f"{self.name}_velocity"], given[f"{self.name}_acceleration"]
        rows = zip(acceleration, velocity, rate, error, strict=True)
        return [a + self.kd * (w - s) + self.kp * e for a, w, s, e in rows]


@dataclass(frozen=True)
class FrameTask(BodyTask):
    """A frame tracks a pose, or a position.

    Its inputs are `<frame>_target`, seven numbers, and `<frame>_velocity` and
    `<frame>_acceleration`, linear then angular, in the world's axes.

    Arguments:
        weight, kp, kd, priority: as in `BodyTask`.
        frame: its name.
        orientation: whether its orientation has a target, too.
    """

    frame: str = field(kw_only=True)
    orientation: bool = True

    def check(self, robot: Robot) -> None:
        super().check(robot)
        robot.model.frame(self.frame)
        flag("orientation", self.orientation)

    @property
    def name(self) -> str:
        return self.frame

    @property
    def _count(self) -> int:
        return POSE if self.orientation else POSITION

    def inputs(self, robot: Robot) -> dict[str, Array]:
        still = np.zeros(self._count)
        return {
            f"{self.name}_target": seven_numbers(robot, self.frame, None),
            f"{self.name}_velocity": still,
            f"{self.name}_acceleration": still,
        }

    def rows(self, model: Model, q: Scalars, v: Scalars, given: Inputs) -> Wanted:
        target = given[f"{self.name}_target"]
        e, J = frame_task(model, q, self.frame, target, self._count)
        still = [0.0] * model.nv
        motion = frame_acceleration(model, q, v, still, self.frame, "origin", "classical")
        drift = list(motion)[: self._count]
        wanted = self._asked(given, e, [dot(row, v) for row in J])
        return Wanted(sparse(J), [w - d for w, d in zip(wanted, drift, strict=True)])


@dataclass(frozen=True)
class CenterOfMassTask(BodyTask):
    """The centre of mass tracks a position.

    Its inputs are `center_of_mass_target`, `center_of_mass_velocity` and
    `center_of_mass_acceleration`, three numbers each, in the world's axes.

    Arguments:
        weight, kp, kd, priority: as in `BodyTask`.
    """

    @property
    def name(self) -> str:
        return "center_of_mass"

    def inputs(self, robot: Robot) -> dict[str, Array]:
        return {
            "center_of_mass_target": robot.center_of_mass(robot.neutral()),
            "center_of_mass_velocity": np.zeros(3),
            "center_of_mass_acceleration": np.zeros(3),
        }

    def rows(self, model: Model, q: Scalars, v: Scalars, given: Inputs) -> Wanted:
        J = center_of_mass_jacobian(model, q)
        drift = center_of_mass_acceleration(model, q, v, [0.0] * model.nv)
        wanted = self.wanted(model, q, v, given)
        return Wanted(sparse(J), [w - d for w, d in zip(wanted, drift, strict=True)])

    def wanted(self, model: Model, q: Scalars, v: Scalars, given: Inputs) -> list[Scalar]:
        """The demanded acceleration of the centre of mass.

        Arguments:
            model, q, v, given: as in `rows`.

        Returns:
            Three scalars.
        """
        here = center_of_mass(model, q)
        target = given["center_of_mass_target"]
        e = [x - y for x, y in zip(target, here, strict=True)]
        rate = [dot(row, v) for row in center_of_mass_jacobian(model, q)]
        return self._asked(given, e, rate)


@dataclass(frozen=True)
class PostureTask(BodyTask):
    """All joints track a configuration; a free base is left out.

    Its inputs are `posture_target`, (nq,), `posture_velocity` and `posture_acceleration`, (nv,).

    Arguments:
        weight, kp, kd, priority: as in `BodyTask`.
    """

    @property
    def name(self) -> str:
        return "posture"

    def inputs(self, robot: Robot) -> dict[str, Array]:
        return {
            "posture_target": robot.neutral(),
            "posture_velocity": np.zeros(robot.nv),
            "posture_acceleration": np.zeros(robot.nv),
        }

    def rows(self, model: Model, q: Scalars, v: Scalars, given: Inputs) -> Wanted:
        e = difference(model, q, given["posture_target"])
        wanted = self._asked(given, e, v)
        free = free_root(model)
        J: list[Row] = [{k: 1.0} for k in range(model.nv) if k not in free]
        return Wanted(J, [w for k, w in enumerate(wanted) if k not in free])


@dataclass(frozen=True)
class Stance:
    """A foothold or handhold: points of a frame, at rest, that push and do not pull.

    Arguments:
        frame: the name of the frame, of a foot.
        points: in the frame, m: one, or the corners of a sole; with several the frame does not turn
            either.
        friction: of the pyramid at each point: tangential forces, along each of two axes, are at
            most this times the normal one. The pyramid inside Coulomb's cone has mu / sqrt(2).
        normal: of the ground: for one point in the world, for a sole in its frame.
        kd: the rate at which motion of the frame is damped, 1/s.
    """

    frame: str
    points: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0),)
    friction: float = 0.6
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    kd: float = 20.0

    def check(self, robot: Robot) -> None:
        """Refuse invalid numbers.

        Arguments:
            robot: what stands.
        """
        robot.model.frame(self.frame)
        points = finite_array("points", self.points, 3)
        if points.ndim != 2 or not len(points):
            raise KinetreeError(f"points has shape {points.shape}; (n, 3) is expected")
        if len(points) > 1 and np.linalg.matrix_rank(points[1:] - points[0]) < 2:
            raise KinetreeError(
                f"stance of {self.frame!r}: its points lie on a line; one is expected, or at least "
                "three that span a sole"
            )
        number("friction", self.friction, above=0.0)
        number("kd", self.kd, 0.0)
        if not np.linalg.norm(finite_state("normal", self.normal, 3)) > 0.0:
            raise KinetreeError(f"stance of {self.frame!r}: normal is zero")

    @property
    def axes(self) -> Array:
        """The normal and two tangents, one a row."""
        n = np.asarray(self.normal, float) / np.linalg.norm(self.normal)
        t = np.cross(n, np.eye(3)[int(np.abs(n).argmin())])
        t = t / np.linalg.norm(t)
        return np.stack([n, np.cross(t, n), t])

    def facets(self, lever: float) -> Array:
        """The cone of wrenches that its points can exert: rows c of c . w <= 0.

        Arguments:
            lever: the lever arm that converts moments to forces, m.

        Returns:
            (facets, 6), or (4, 3) for one point, which has no moments.
        """
        n, *tangents = self.axes
        edges = [
            n + self.friction * (x * tangents[0] + y * tangents[1])
            for x, y in ((1, 1), (1, -1), (-1, -1), (-1, 1))
        ]
        if self.rows == POSITION:
            sides = [np.cross(a, b) for a, b in zip(edges, [*edges[1:], edges[0]], strict=True)]
            outward = [x if x @ n < 0.0 else -x for x in sides]
            return np.stack([x / np.linalg.norm(x) for x in outward])
        points = np.asarray(self.points, float)
        rays = [np.concatenate([f, np.cross(p, f) / lever]) for p in points for f in edges]
        from scipy.spatial import ConvexHull  # takes time to import

        hull = ConvexHull(np.stack([np.zeros(6), *rays]))
        through = hull.equations[np.abs(hull.equations[:, -1]) < 1e-9][:, :-1]
        rounded: Array = np.unique(np.round(through, 9), axis=0)
        return rounded + 0.0

    @property
    def rows(self) -> int:
        """The number of accelerations that are zero: three for a point, six for a sole."""
        return POSE if len(self.points) > 1 else POSITION


def free_root(model: Model) -> set[int]:
    """The velocities of a free base: those of a first joint with six."""
    first = model.v_slices[0] if model.bodies else slice(0, 0)
    return set(range(first.start, first.stop)) if first.stop - first.start == 6 else set()


def sparse(J: Sequence[Sequence[Any]]) -> list[Row]:
    """Rows without their zeros."""
    return [{k: x for k, x in enumerate(row) if not is_zero(x)} for row in J]
