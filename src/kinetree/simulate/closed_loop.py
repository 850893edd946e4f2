"""A robot and its controller as functions of scalars: one step, and the records of a state.

This is what simulations are compiled from. `advance` is one step of time, controller included;
`observe` gives the joint forces and whatever else is to be recorded; `rates` is the differential
equation. A loop over time needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kinetree._lazy import cached_property
from kinetree.algorithms import coordinate_rates
from kinetree.algorithms.constraints import PROJECTION, Stabilization
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.algorithms.steps.acceleration import acceleration
from kinetree.algorithms.steps.limits import saturated
from kinetree.algorithms.steps.rules import Rules
from kinetree.compiler.runtime.inlining import objects
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.model.parameters import Parameter, with_numbers
from kinetree.model.prepare import Preparation, prepared
from kinetree.quantities import QUANTITIES, Method
from kinetree.quantities.settings import checked
from kinetree.robot.memo import Memo
from kinetree.scalar import Scalar
from kinetree.simulate.actuated import Actuated
from kinetree.simulate.external import SimulatedLoad, acting
from kinetree.simulate.laws import call, forces_and_rate
from kinetree.simulate.records import Record
from kinetree.typing import StepMethod

if TYPE_CHECKING:
    from kinetree.robot import Robot

ControlLaw = Callable[..., Any]
"""A controller: (t, q, v, p) to joint forces, or (t, q, v) if it has no inputs p; with memory,
(t, q, v, p, memory) to those and to the rate of its memory."""


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """What a closed loop is made of, apart from the robot.

    controller: gives the joint forces, over scalars; None for none.
    p_length: how many numbers p has, those of external loads included.
    memory: how many numbers the controller's own state has.
    method, enforcement, stabilization, contact: of the step.
    records: what else is recorded.
    loads: the external loads; numbers that are given for them are the last ones of p.
    parameters: of the model, whose numbers are one more argument, "numbers". The controller
        still uses the nominal model.
    """

    controller: ControlLaw | None
    p_length: int = 0
    memory: int = 0
    method: StepMethod = "auto"
    enforcement: Enforcement = FREE
    stabilization: Stabilization = PROJECTION
    contact: ContactSolver | bool | None = SOLVER
    records: tuple[Record, ...] = ()
    loads: tuple[SimulatedLoad, ...] = ()
    parameters: tuple[Parameter, ...] = ()


class ClosedLoop:
    """A robot under a controller.

    Arguments:
        robot: what moves.
        settings: the controller, the step, and what is recorded.
    """

    def __init__(self, robot: Robot, settings: LoopSettings) -> None:
        self.robot, self.controller = robot, settings.controller
        self.records, self.parameters = settings.records, settings.parameters
        self._memory, self._loads = settings.memory, settings.loads
        self.load_numbers = sum(one.count for one in settings.loads)
        self._inputs = settings.p_length - self.load_numbers  # of the controller
        self.time_loops: Memo[tuple[Callable[..., TimeLoop], tuple[bool, ...]], TimeLoop] = Memo()
        # refuses what cannot be simulated
        kernel = robot.kernel(
            "step",
            settings.method,
            enforcement=settings.enforcement,
            stabilization=settings.stabilization,
            contact=settings.contact,
        )
        rules: Any = (settings.enforcement, settings.stabilization, settings.contact)
        checked_rules: Any = checked(robot.model, "step", rules)
        self._rules = Rules(*checked_rules)
        step = QUANTITIES["step"].methods[kernel.method]
        assert isinstance(step, Method)
        self._step = step.algorithm
        self.lengths: dict[str, int | None] = {"t": None, "q": robot.nq, "v": robot.nv}
        numbers = sum(len(parameter.labels) for parameter in self.parameters)
        self.lengths |= {"p": settings.p_length, "memory": settings.memory, "numbers": numbers}
        self.lengths = {name: n for name, n in self.lengths.items() if n != 0}

    def control(
        self, model: Model, dt: Scalar | None = None, **state: Any
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Joint forces and the rate of the controller's memory; dt is the step, if it is known."""
        if self.controller is None:
            return [0.0] * model.nv, []
        arguments = self._arguments(state)
        law = self.controller
        if isinstance(law, Actuated):
            answer = partial(law.on, model, dt=dt)(*arguments)
        else:
            answer = call(law, *arguments)
        tau, rate = forces_and_rate(answer, self._memory)
        if len(tau) != model.nv:
            raise KinetreeError(
                f"the controller returns {len(tau)} joint forces; robot {model.name!r} needs a "
                f"list of {model.nv}"
            )
        return tau, rate

    def _arguments(self, state: Mapping[str, Any]) -> list[Any]:
        """What a controller is called with."""
        given = [state["t"], *objects(state["q"], state["v"], self._p(state)[0])]
        return given + (objects(state["memory"]) if self._memory else [])

    def _memory_after(
        self, model: Model, state: Mapping[str, Any], rate: Sequence[Scalar], dt: Scalar
    ) -> list[Scalar]:
        """The controller's memory at the end of a step."""
        if isinstance(self.controller, Actuated):
            t, q, v, p, memory = self._arguments(state)
            return self.controller.after(model, t, q, v, p, memory, dt)
        return [x + dt * r for x, r in zip(state["memory"], rate, strict=True)]

    def _p(self, state: Mapping[str, Any]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """The inputs of the controller, and the numbers of external loads."""
        p = state.get("p", [])
        return p[: self._inputs], p[self._inputs :]

    def external(self, **state: Any) -> list[Any]:
        """The external loads at a state."""
        return acting(self._loads, self._p(state)[1], state["t"], state["q"], state["v"])

    def plant(self, model: Model, **state: Any) -> Model:
        """The model that moves: the robot's, or one with other parameters."""
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
        tau, rate = self.control(model, dt, **state)
        plant = self.plant(model, **state)
        loads = self.external(**state)
        q, v = self._step(plant, state["q"], state["v"], tau, dt, loads, *self._rules)
        after = {"q": q, "v": v}
        if self._memory:
            after["memory"] = self._memory_after(model, state, rate, dt)
        return after

    def observe(self, model: Model, *values: Any) -> dict[str, Any]:
        """The joint forces at a state, and what is recorded of it."""
        state = dict(zip(self.lengths, values, strict=True))
        tau, _ = self.control(model, **state)
        seen: dict[str, Any] = {"tau": tau}
        for record in self.records:
            plant = self.plant(model, **state)
            available = state | {"tau": tau, "loads": self.external(**state)}
            available |= self._driven(model, state)
            seen[record.name] = record.function(plant, *(available[x] for x in record.arguments))
        return seen

    def _driven(self, model: Model, state: Mapping[str, Any]) -> dict[str, Any]:
        """Activations and controls of the robot's actuators; zero under other controllers."""
        if isinstance(self.controller, Actuated):
            return self.controller.driven(*self._arguments(state))
        equipment = model.equipment
        return {"act": [0.0] * len(equipment.stateful), "ctrl": [0.0] * len(equipment.actuators)}

    def rates(self, model: Model, *values: Any) -> dict[str, Any]:
        """The rates of q, v and the controller's memory."""
        state = dict(zip(self.lengths, values, strict=True))
        q, v = state["q"], state["v"]
        tau, rate = self.control(model, **state)
        plant = self.plant(model, **state)
        applied = saturated(plant, tau, self._rules.enforcement)
        rates = {
            "q": coordinate_rates(plant, q, v),
            "v": acceleration(plant, q, v, applied, self.external(**state), self._rules, 0.0),
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


ClosedLoops = Memo[LoopSettings, ClosedLoop]
"""The closed loops of a robot that are kept."""


def closed_loop(robot: Robot, loops: ClosedLoops, settings: LoopSettings) -> ClosedLoop:
    """The closed loop of these settings: the one made before, if it is still kept.

    Arguments:
        loops: those of the robot.
    """
    return loops.recall(settings, lambda: ClosedLoop(robot, settings))
