"""A robot and its controller as functions over scalars: what a step does, what is seen of a state.

This is what simulations are compiled from. `advance` is one step of time, controller included;
`observe` gives the joint forces and whatever else is to be recorded; `rates` is the differential
equation. A loop over time needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from kinetree._lazy import cached_property
from kinetree.algorithms import coordinate_rates
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.algorithms.steps.acceleration import acceleration
from kinetree.algorithms.steps.limits import saturated
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.model.parameters import Parameter, with_numbers
from kinetree.model.prepare import Preparation, prepared
from kinetree.quantities import QUANTITIES, Method
from kinetree.robot.memo import Memo
from kinetree.scalar import Scalar
from kinetree.simulate.records import Record
from kinetree.typing import StepMethod

if TYPE_CHECKING:
    from kinetree.robot import Robot

Controlled = Callable[..., Any]
"""A controller: (t, q, v, p) to joint forces; with memory, (t, q, v, p, memory) to those and to
the rate of its memory."""


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """What a closed loop is made of, apart from the robot.

    controller: gives the joint forces, over scalars; None for none.
    inputs: how many numbers p has.
    memory: how many numbers the controller's own state has.
    method, limits: of the step.
    records: what else is recorded.
    parameters: of the model, whose numbers are one more argument, "numbers". The controller
        still uses the nominal model.
    """

    controller: Controlled | None
    inputs: int = 0
    memory: int = 0
    method: StepMethod = "auto"
    limits: Enforcement = FREE
    records: tuple[Record, ...] = ()
    parameters: tuple[Parameter, ...] = ()


class ClosedLoop:
    """A robot under a controller.

    Arguments:
        robot: what moves.
        settings: the controller, the step, and what is recorded.
    """

    def __init__(self, robot: Robot, settings: LoopSettings) -> None:
        self.robot, self.controller, self.limits = robot, settings.controller, settings.limits
        self.records, self.parameters = settings.records, settings.parameters
        self._memory = settings.memory
        self.memo = Memo()  # of loops over time
        # refuses what cannot be simulated
        kernel = robot.kernel("step", settings.method, limits=settings.limits)
        step = QUANTITIES["step"].methods[kernel.method]
        assert isinstance(step, Method)
        self._step = step.algorithm
        self.lengths: dict[str, int | None] = {"t": None, "q": robot.nq, "v": robot.nv}
        numbers = sum(len(parameter.labels) for parameter in self.parameters)
        self.lengths |= {"p": settings.inputs, "memory": settings.memory, "numbers": numbers}
        self.lengths = {name: n for name, n in self.lengths.items() if n != 0}

    def control(self, model: Model, **state: Any) -> tuple[list[Scalar], list[Scalar]]:
        """Joint forces and the rate of the controller's memory."""
        if self.controller is None:
            return [0.0] * model.nv, []
        arguments = [state["t"], list(state["q"]), list(state["v"]), list(state.get("p", []))]
        arguments += [list(state["memory"])] if self._memory else []
        self._check_arguments(arguments)
        answer = self.controller(*arguments)
        tau, rate = answer if self._memory else (answer, [])
        tau = [tau] if not isinstance(tau, (list, tuple)) else list(tau)
        if len(tau) != model.nv:
            raise KinetreeError(
                f"the controller gives {len(tau)} joint forces; robot {model.name!r} has "
                f"{model.nv} velocities, and takes a list of as many"
            )
        return tau, list(rate)

    def _check_arguments(self, arguments: Sequence[Any]) -> None:
        assert self.controller is not None
        try:
            signature(self.controller).bind(*arguments)
        except TypeError as e:
            names = "t, q, v, p, memory" if self._memory else "t, q, v, p"
            raise KinetreeError(f"the controller is called with ({names}): {e}") from None
        except ValueError:
            pass  # a function of C that does not tell

    def plant(self, model: Model, **state: Any) -> Model:
        """What moves: the robot, or one with other numbers."""
        if not self.parameters:
            return model
        # numbers that are arguments belong to bodies and joints as they are
        return with_numbers(self._model, self.parameters, state["numbers"])

    @cached_property
    def _model(self) -> Model:
        return prepared(self.robot.model, Preparation.NOTHING)

    def advance(self, model: Model, *arguments: Any) -> dict[str, Any]:
        """The state after a step, from that before it and dt."""
        *values, dt = arguments
        state = dict(zip(self.lengths, values, strict=True))
        tau, rate = self.control(model, **state)
        plant = self.plant(model, **state)
        q, v = self._step(plant, state["q"], state["v"], tau, dt, (), self.limits)
        after = {"q": q, "v": v}
        if self._memory:
            after["memory"] = [x + dt * r for x, r in zip(state["memory"], rate, strict=True)]
        return after

    def observe(self, model: Model, *values: Any) -> dict[str, Any]:
        """The joint forces at a state, and what is recorded of it."""
        state = dict(zip(self.lengths, values, strict=True))
        tau, _ = self.control(model, **state)
        seen: dict[str, Any] = {"tau": tau}
        for record in self.records:
            plant = self.plant(model, **state)
            available = state | {"tau": tau}
            seen[record.name] = record.function(plant, *(available[x] for x in record.arguments))
        return seen

    def rates(self, model: Model, *values: Any) -> dict[str, Any]:
        """The rates of q, v and the controller's memory."""
        state = dict(zip(self.lengths, values, strict=True))
        q, v = state["q"], state["v"]
        tau, rate = self.control(model, **state)
        plant = self.plant(model, **state)
        applied = saturated(plant, tau, self.limits)
        rates = {
            "q": coordinate_rates(plant, q, v),
            "v": acceleration(plant, q, v, applied, (), self.limits),
        }
        return rates | ({"memory": rate} if self._memory else {})

    @cached_property
    def step_kernel(self) -> Kernel:
        """`advance`, compiled."""
        return self.robot.custom_kernel(self.advance, {**self.lengths, "dt": None}, "simulation")

    @cached_property
    def observe_kernel(self) -> Kernel:
        """`observe`, compiled."""
        return self.robot.custom_kernel(self.observe, self.lengths, "observation")

    @cached_property
    def rates_kernel(self) -> Kernel:
        """`rates`, compiled."""
        return self.robot.custom_kernel(self.rates, self.lengths, "rates")


def closed_loop(robot: Robot, memo: Memo, settings: LoopSettings) -> ClosedLoop:
    """The closed loop of these settings: the one made before, if it is still kept.

    Arguments:
        memo: keeps the loops of the robot.
    """
    return memo.recall(ClosedLoop, settings, lambda: ClosedLoop(robot, settings))
