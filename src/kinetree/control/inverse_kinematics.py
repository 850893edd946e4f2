"""Inverse kinematics of a batch of targets: damped least squares with restarts.

`reaching.py` has one try, which is one compiled program; `seeds.py` chooses the starts of tries;
`reach_report.py` reports the violated demand where no try succeeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.backend import Backend, backend, device_of
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy, through_numpy_or_cupy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.control.pose import POSE, POSITION, seven_scalars
from kinetree.control.reach_report import Demands
from kinetree.control.reaching import Task, kernel_function
from kinetree.control.seeds import Seeds
from kinetree.errors import KinetreeError, ShapeError, StateError, unknown
from kinetree.kinds import flag, texts
from kinetree.model import Model
from kinetree.robot.checks import count, finite_state, generator, number
from kinetree.robot.core import check_robot
from kinetree.robot.pose_maps import ORTHOGONAL
from kinetree.spatial import Rotation, Transform, Vector3
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


TOGETHER = 16
"""The number of iterations in one program."""


class Solution(NamedTuple):
    """The configurations that were found, one for each target.

    Attributes:
        q: configurations, (..., nq), within the limits; the best that was found.
        error: the largest entry of the error, that of constraints and of ranges of ball joints
            included, m or rad, (...).
        success: where the error is below the tolerance and all shapes are apart, (...).
        tries: the number of starts, (...).
        distance: the least distance of the shapes that stay apart, m, (...), at most a millimetre
            more than demanded.
        violated: the index in `InverseKinematics.demands` of the demand that is violated most; -1
            on success, (...).
        message: which targets were not reached, and why.
    """

    q: Array
    error: Array
    success: Any
    tries: Any
    distance: Array
    violated: Any
    message: str


class InverseKinematics:
    """A solver for the poses of frames, compiled.

    Arguments:
        robot: the robot. Its constraints are closed, and its joint limits are kept, ranges of ball
            joints included.
        frame: the name of the frame, or several names.
        orientation: whether targets have an orientation, or a position alone; one truth value, or
            one for each frame.
        null_space: the gain towards the posture in the null space of the task, 0 to 1.
        center_of_mass: whether the centre of mass has a target, too.
        clearance: the least distance of the shapes of each contact pair, m; None if they may
            overlap.
    """

    @through_numpy
    def __init__(
        self,
        robot: Robot,
        frame: str | Sequence[str],
        orientation: bool | list[bool] | tuple[bool, ...] = True,
        null_space: float = 0.0,
        *,
        center_of_mass: bool = False,
        clearance: float | None = None,
    ) -> None:
        check_robot(robot)
        frames = [frame] if isinstance(frame, str) else texts("frame", frame)
        for name in frames:
            robot.model.frame(name)
        if len(set(frames)) < len(frames):
            raise KinetreeError(f"frame={list(frames)!r}: a frame is named twice")
        several = isinstance(orientation, (list, tuple))
        kinds = list(orientation) if several else [orientation] * len(frames)  # type: ignore[arg-type]
        if len(kinds) != len(frames):
            raise ShapeError(
                f"orientation has {len(kinds)} truth values; one is expected, or one for each of "
                f"the {len(frames)} frames"
            )
        self.robot, self.frame = robot, frame
        self.null_space = number("null_space", null_space)
        self.clearance = None if clearance is None else number("clearance", clearance)
        rows = [POSE if flag("orientation", kind) else POSITION for kind in kinds]
        center = flag("center_of_mass", center_of_mass)
        if not frames and not center:
            raise KinetreeError("frame=[]: a frame is expected, or center_of_mass=True")
        self._task = Task(
            tuple(zip(frames, rows, strict=True)), center, clearance is not None, self.null_space
        )
        self._kernels: dict[int, Kernel] = {}

    @property
    def demands(self) -> tuple[str, ...]:
        """The names of a solution's demands; `Solution.violated` has indices of it."""
        return self._demands.names

    def kernel(self, iterations: int = TOGETHER) -> Kernel:
        """Iterations as one compiled program.

        Arguments:
            iterations: at most this many.

        Returns:
            The kernel: (q, target, posture, tolerance, clearance) to (q, error, distance, onward),
            where `onward` is the next configuration if q is no solution. A target has seven numbers
            for each frame, and three for the centre of mass.
        """
        n, nq = count("iterations", iterations), self.robot.nq
        if n not in self._kernels:
            lengths: dict[str, int | None] = {"q": nq, "target": self._task.length, "posture": nq}
            lengths |= {"tolerance": None, "clearance": None}
            function = kernel_function(self._task, n)
            self._kernels[n] = self.robot.custom_kernel(function, lengths, "inverse_kinematics")
        return self._kernels[n]

    @through_numpy_or_cupy
    def solve(
        self,
        target: ArrayLike | Mapping[str, ArrayLike],
        start: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        *,
        center_of_mass: ArrayLike | None = None,
        tolerance: float = 1e-8,
        iterations: int = TOGETHER,
        restarts: int = 40,
        rng: np.random.Generator | int | None = 0,
    ) -> Solution:
        """The configurations in which the frames are at their targets.

        CuPy arrays are processed on their GPU.

        Arguments:
            target: (..., 7) origin and quaternion (x y z w), (..., 4, 4) matrices, or (..., 3); for
                several frames a mapping from names to such arrays.
            start: the first configuration, (..., nq); if None, the nearest of a table of random
                configurations.
            posture: the target in the null space, (nq,); the neutral configuration if None.
            center_of_mass: its target, (..., 3), if it has one.
            tolerance: for each entry of the error, m or rad.
            iterations: at most this many in one try; if more than 16, a multiple of 16.
            restarts: the number of further tries where one fails, from other rows of the table.
            rng: a generator or a seed, for the restarts.

        Returns:
            A configuration for each target, its error, whether it is a solution, and the violated
            demand if not.
        """
        random = generator("rng", rng)
        tolerance = number("tolerance", tolerance, 0.0)
        iterations, restarts = count("iterations", iterations), count("restarts", restarts, 0)
        kernel = self.kernel(min(iterations, TOGETHER))
        batch, targets, device = self._targets(target, center_of_mass)
        neutral = self.robot.neutral()
        given = neutral if posture is None else device.on_host(device.array("posture", posture))
        rest = device.xp.asarray(finite_state("posture", given, self.robot.nq))
        search = _Search.of(device, targets, self.robot.nq, self.clearance or 0.0, tolerance)
        goals = self._goals_in_collision(targets)
        left = search.left(~goals)
        for attempt in range(1 + restarts):
            if not len(left):
                break
            if attempt == 0 and start is not None:
                q = self._starts(start, batch, device)[left]
            else:
                q = self._seeds(device.xp, attempt, targets[left], random)
            search.tries[left] += 1
            for _ in range(0, iterations, TOGETHER):
                left, q = search.attempt(kernel, left, q, rest)
            left = search.left(~goals)
        return self._solution(search, batch, goals)

    # parts of a solution

    @cached_property
    def _demands(self) -> Demands:
        return Demands(self.robot, self._task)

    @cached_property
    def _seeds(self) -> Seeds:
        return Seeds(self.robot, self._task, self.clearance or 0.0)

    @cached_property
    def _of_matrices(self) -> Kernel:
        """From 4x4 matrices to seven numbers."""
        return self.robot.custom_kernel(_seven_of_matrix, {"pose": 16}, "seven_numbers")

    def _targets(self, target: Any, center: Any) -> tuple[tuple[int, ...], Any, Backend]:
        """The batch's shape, and all targets as numbers, (n, length), on their device."""
        names = [name for name, _ in self._task.frames]
        by_name = target if isinstance(target, Mapping) else dict.fromkeys(names[:1], target)
        for name in by_name:
            if name not in names:
                raise unknown("target", name, names, "inverse kinematics")
        for name in names:
            if name not in by_name:
                listed = ", ".join(map(repr, names))
                raise KinetreeError(
                    f"target: frame {name!r} has none; a mapping from {listed} to targets is "
                    "expected"
                )
        if self._task.center is (center is None):
            raise KinetreeError(
                f"center_of_mass={center!r}: a target is expected if the solver was made with "
                "center_of_mass=True, and none otherwise"
            )
        arrays = [*by_name.values(), *([center] if self._task.center else [])]
        device = backend(device_of(next((x for x in arrays if device_of(x) != "cpu"), 0.0)))
        parts = [self._seven(device, name, by_name[name]) for name in names]
        if self._task.center:
            parts.append(_numbers(device, "center_of_mass", center, (3,)))
        try:
            batch = np.broadcast_shapes(*(x.shape[:-1] for x in parts))
        except ValueError:
            shapes = ", ".join(str(x.shape[:-1]) for x in parts)
            raise ShapeError(f"targets have batches of shapes {shapes}, which do not fit") from None
        spread = [device.xp.broadcast_to(x, (*batch, x.shape[-1])) for x in parts]
        whole = device.xp.concatenate(spread, axis=-1)
        return batch, device.xp.ascontiguousarray(whole.reshape(-1, self._task.length)), device

    def _seven(self, device: Backend, name: str, target: Any) -> Any:
        """The target of a frame as seven numbers, (..., 7)."""
        array = _numbers(device, f"target of frame {name!r}", target)
        if array.shape[-2:] == (4, 4):
            _check_rotations(device, name, array[..., :3, :3])
            return self._of_matrices(array.reshape(*array.shape[:-2], 16))
        if array.shape[-1:] == (3,):
            upright = device.xp.asarray(np.array([0.0, 0.0, 0.0, 1.0]))
            upright = device.xp.broadcast_to(upright, (*array.shape[:-1], 4))
            return device.xp.concatenate([array, upright], axis=-1)
        if array.shape[-1:] != (7,):
            raise ShapeError(
                f"target has shape {array.shape}; (..., 7), (..., 4, 4) or (..., 3) is expected"
            )
        if not bool((array[..., 3:] ** 2).sum(axis=-1).all()):
            raise StateError("target: a quaternion is zero, and has no direction")
        return array

    def _starts(self, start: Any, batch: tuple[int, ...], device: Backend) -> Any:
        shape = (*batch, self.robot.nq)
        given = _numbers(device, "start", start)
        try:
            return device.xp.broadcast_to(given, shape).reshape(-1, self.robot.nq)
        except ValueError:
            raise ShapeError(
                f"start has shape {given.shape}; {shape} is expected, or what broadcasts to it"
            ) from None

    def _goals_in_collision(self, targets: Any) -> Any:
        """Which targets themselves put shapes in collision: no try is made for them."""
        if self._demands.goal_distances is None:
            return targets[:, 0] != targets[:, 0]
        least = self._demands.goal_distances(targets).min(axis=-1)
        return least < (self.clearance or 0.0)

    def _solution(self, search: _Search, batch: tuple[int, ...], goals: Any) -> Solution:
        """The result in the batch's shape, with the violated demand of each failure."""
        xp, host = search.device.xp, search.device.on_host
        solved = search.solved()
        failed = xp.nonzero(~solved)[0]
        violated = xp.full(len(solved), -1)
        q, targets, goal = (host(x[failed]) for x in (search.q, search.targets, goals))
        which: Array = np.zeros(0, int)
        by: Array = np.zeros(0)
        if len(failed):
            which, by = self._demands.worst(q, targets, search.clearance)
            if goal.any() and self._demands.goal_distances is not None:
                distances = self._demands.goal_distances(targets[goal])
                which[goal], by[goal] = self._worst_goal(distances, search.clearance)
            violated[failed] = xp.asarray(which)
        message = self._demands.message(len(solved), host(failed), which, by, goal)
        return Solution(
            search.q.reshape(*batch, self.robot.nq),
            search.error.reshape(batch),
            solved.reshape(batch),
            search.tries.reshape(batch),
            search.distance.reshape(batch),
            violated.reshape(batch),
            message,
        )

    def _worst_goal(self, distances: Array, clearance: float) -> tuple[Array, Array]:
        """For targets that are themselves in collision: the violated demand, and by how much."""
        demands, contacts = self._demands, self.robot.model.contacts
        names = [contacts[k].name for k in demands.fixed_pairs]
        deepest = distances.argmin(axis=-1)
        labels = [f"distance of '{name}" for name in names]
        places = [
            next(i for i, one in enumerate(demands.names) if one.startswith(label))
            for label in labels
        ]
        return np.asarray(places)[deepest], clearance - distances.min(axis=-1)


@dataclass
class _Search:
    """The best configuration of each target so far."""

    device: Backend
    targets: Any
    q: Any
    error: Any
    distance: Any
    tries: Any
    clearance: float
    tolerance: float

    @staticmethod
    def of(device: Backend, targets: Any, nq: int, clearance: float, tolerance: float) -> _Search:
        xp, n = device.xp, len(targets)
        return _Search(
            device,
            targets,
            xp.zeros((n, nq)),
            xp.full(n, np.inf),
            xp.full(n, -np.inf),
            xp.zeros(n, np.int64),
            clearance,
            tolerance,
        )

    def solved(self) -> Any:
        return (self.error <= self.tolerance) & (self.distance >= self.clearance)

    def left(self, open_: Any) -> Any:
        """The indices of targets without a solution."""
        return self.device.xp.nonzero(~self.solved() & open_)[0]

    def attempt(self, kernel: Kernel, left: Any, q: Any, posture: Any) -> tuple[Any, Any]:
        """Iterate from q and keep improvements; returns open targets, and where they continue."""
        if not len(left):
            return left, q
        found = kernel(q, self.targets[left], posture, self.tolerance, self.clearance)
        now = _badness(found[1], found[2], self.clearance)
        before = _badness(self.error[left], self.distance[left], self.clearance)
        better = now < before
        where = left[better]
        for kept, new in zip((self.q, self.error, self.distance), found[:3], strict=True):
            kept[where] = new[better]
        going = ~self.solved()[left]
        return left[going], found[3][going]


def _badness(error: Any, distance: Any, clearance: float) -> Any:
    """The error plus the missing clearance."""
    short = clearance - distance
    return error + short * (short > 0.0)


def _numbers(device: Backend, what: str, given: Any, shape: tuple[int, ...] = ()) -> Any:
    """Finite numbers of double precision on a device, of a shape."""
    array = device.xp.asarray(device.array(what, given), np.float64)
    if shape and array.shape[-len(shape) :] != shape:
        listed = ", ".join(map(str, shape))
        raise ShapeError(f"{what} has shape {array.shape}; (..., {listed}) is expected")
    if not bool(device.xp.isfinite(array).all()):
        raise StateError(f"{what} must be finite")
    return array


def _seven_of_matrix(model: Model, pose: Sequence[Any]) -> list[Any]:
    rows = [Vector3(*pose[4 * i : 4 * i + 3]) for i in range(3)]
    shift = Vector3(*(pose[4 * i + 3] for i in range(3)))
    return seven_scalars(Transform(Rotation(*rows), shift))


def _check_rotations(device: Backend, name: str, R: Any) -> None:
    """Refuse targets whose matrices are no rotations."""
    xp = device.xp
    off = xp.abs(R.swapaxes(-1, -2) @ R - xp.eye(3)).max(axis=(-1, -2))
    turned = (xp.cross(R[..., 0, :], R[..., 1, :]) * R[..., 2, :]).sum(axis=-1)
    if bool(((off > ORTHOGONAL) | (turned < 0.0)).any()):
        raise StateError(
            f"target of frame {name!r}: the upper left 3x3 block of a matrix is no rotation"
        )
