"""Whole-body control: joint forces for tasks of a robot that stands, by a quadratic program.

`body_tasks.py` has the tasks, `body_program.py` the program. All of it is one compiled function of
the state and of the targets: it takes batches, and runs inside of simulations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy, through_numpy_or_cupy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.control.body_program import LEVER, Settings, Solved, solved
from kinetree.control.body_tasks import BodyTask, Stance, free_root
from kinetree.control.controller import Controller
from kinetree.errors import KinetreeError, unknown
from kinetree.kinds import members
from kinetree.model import Model
from kinetree.robot.checks import count, motors, number
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar, absolute, less, logical_and, select
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

HUGE = 1e300
"""The sum of joint forces, N m, above which a result counts as diverged."""
ACCEPTED = 1e-8
"""The largest residual of the optimality conditions that counts as a solution."""


class BodyForces(NamedTuple):
    """The result of a whole-body controller.

    Attributes:
        tau: joint forces, (..., nv); zero where there is no motor.
        a: the resulting accelerations, (..., nv).
        wrenches: of the ground on each stance, at its frame's origin in the world's axes, force
            then moment, (..., stances, 6).
        residual: the largest violation of the optimality conditions, scaled, (...).
        violated: -1 where there is a solution; else the index in `WholeBody.demands` of the demand
            that is violated most, (...).
    """

    tau: Array
    a: Array
    wrenches: Array
    residual: Array
    violated: Array


class WholeBody:
    """A whole-body controller: accelerations, contact forces and joint forces by one program.

    Arguments:
        robot: what is controlled. Its contacts are not used; `stances` replace them.
        tasks: `FrameTask`, `CenterOfMassTask` and `PostureTask`, with weights and priorities.
        stances: its footholds.
        actuated: which joints have motors, (nv,) booleans; by default all but a free base.
        effort_weight, force_weight: of squared joint forces over their limits, and of squared
            contact forces over the robot's weight.
        iterations, tolerance: of the interior-point method.

    Attributes:
        inputs: maps each input's name to its default: those of the tasks, and `standing`, 1 for
            each stance that is active and 0 for the others.
    """

    @through_numpy
    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[BodyTask],
        stances: Sequence[Stance] = (),
        *,
        actuated: ArrayLike | None = None,
        effort_weight: float = 1e-2,
        force_weight: float = 1e-2,
        iterations: int = 20,
        tolerance: float = 1e-9,
    ) -> None:
        check_robot(robot)
        self.robot = robot
        given = tuple(members("tasks", tasks, BodyTask, "tasks of kinetree.control"))
        stood = tuple(members("stances", stances, Stance, "a list of kinetree.control.Stance"))
        if not given:
            raise KinetreeError("tasks is empty: at least one task is expected")
        for part in (*given, *stood):
            part.check(robot)
        names = [task.name for task in given]
        for name in names:
            if names.count(name) > 1:
                raise KinetreeError(f"tasks: there are two for {name!r}; one is expected")
        free = free_root(robot.model)
        default = [k not in free for k in range(robot.nv)]
        driven = np.flatnonzero(motors(robot.nv, default if actuated is None else actuated))
        limits = np.broadcast_to(robot.limits.effort, robot.nv)
        self._settings = Settings(
            given,
            stood,
            tuple(int(k) for k in driven),
            tuple(float(limits[k]) for k in driven),
            number("effort_weight", effort_weight, above=0.0),
            number("force_weight", force_weight, above=0.0),
            count("iterations", iterations),
            number("tolerance", tolerance, above=0.0),
        )
        self.inputs: dict[str, Array] = {}
        for task in given:
            self.inputs |= task.inputs(robot)
        self.inputs |= {"standing": np.ones(len(stood))} if stood else {}

    def __repr__(self) -> str:
        tasks = ", ".join(task.name for task in self._settings.tasks)
        return f"<WholeBody of robot {self.robot.name!r}: {tasks}>"

    @cached_property
    def demands(self) -> tuple[str, ...]:
        """The names that `BodyForces.violated` indexes: cones, effort limits, and optimality."""
        found: list[str] = []
        for stance in self._settings.stances:
            facets = len(stance.facets(LEVER))
            found += [f"friction cone of {stance.frame!r}"] * facets
        names = self.robot.model.velocity_labels
        for k, most in zip(self._settings.motors, self._settings.limits, strict=True):
            if np.isfinite(most):
                found += [f"effort limit of {names[k].name!r}"] * 2
        return (*found, "conditions of optimality")

    @cached_property
    def kernel(self) -> Kernel:
        """The program, compiled: (q, v, inputs) to the entries of `BodyForces`."""
        lengths: dict[str, int | None] = {"q": self.robot.nq, "v": self.robot.nv}
        lengths |= {name: len(x) for name, x in self.inputs.items()}
        return self.robot.custom_kernel(self._function, lengths, "whole_body")

    def _function(self, model: Model, q: Any, v: Any, *inputs: Any) -> dict[str, Any]:
        given = dict(zip(self.inputs, inputs, strict=True))
        found = solved(model, self._settings, q, v, given)
        wrenches = {"wrenches": found.wrenches} if found.wrenches else {}
        rest = {"residual": found.residual, "violated": _violated(found)}
        return {"tau": found.tau, "a": found.a, **wrenches, **rest}

    @through_numpy_or_cupy
    def solve(self, q: ArrayLike, v: ArrayLike, **inputs: ArrayLike) -> BodyForces:
        """The joint forces at states, with accelerations and contact forces.

        CuPy arrays are processed on their GPU.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            inputs: targets and the like, by name, (..., n); the defaults of `inputs` otherwise.

        Returns:
            Joint forces, accelerations, contact forces, and whether they solve the problem.
        """
        for name in inputs:
            if name not in self.inputs:
                raise unknown("input", name, self.inputs, "whole-body controller")
        given = [inputs.get(name, default) for name, default in self.inputs.items()]
        tau, a, *rest = self.kernel(q, v, *given)
        if not self._settings.stances:
            rest = [tau[..., :0].reshape(*tau.shape[:-1], 0, 6), *rest]
        return BodyForces(tau, a, *rest)

    def controller(self) -> Controller:
        """The controller for simulations and rollouts.

        Returns:
            A controller; its inputs are those of `inputs`.
        """
        law = partial(_law, settings=self._settings)
        return Controller(self.robot, "whole_body", law, self.inputs)


def _law(
    model: Model, t: Scalar, q: Any, v: Any, *, settings: Settings, **given: Any
) -> list[Scalar]:
    """The joint forces."""
    return solved(model, settings, q, v, _named(given)).tau


def _named(given: Mapping[str, Any]) -> dict[str, list[Scalar]]:
    return {name: list(x) for name, x in given.items()}


def _violated(found: Solved) -> Scalar:
    """The index of the bound that is violated most; that of optimality if none is."""
    worst: Scalar = ACCEPTED
    number_of: Scalar = float(len(found.violations))
    for k, x in enumerate(found.violations):
        more = less(worst, x)
        number_of = select(more, float(k), number_of)
        worst = select(more, x, worst)
    size: Scalar = 0.0
    for x in found.tau:
        size = size + absolute(x)  # NaN if a target or a state is NaN
    good = logical_and(less(found.residual, ACCEPTED), less(size, HUGE))
    return select(good, -1.0, number_of)
