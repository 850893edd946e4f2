"""What can be recorded: quantities that follow from q, v and tau, and a controller's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kinetree.algorithms import kinetic_energy, potential_energy
from kinetree.algorithms.constraints import constrained_dynamics
from kinetree.algorithms.sensing import readings
from kinetree.algorithms.steps.acceleration import acceleration
from kinetree.algorithms.steps.rules import DEFAULT_RULES
from kinetree.compiler.runtime.inlining import objects
from kinetree.errors import KinetreeError, unknown
from kinetree.model import Model
from kinetree.quantities import PUBLIC, QUANTITIES, Method, plain
from kinetree.quantities.settings import checked, ordered

if TYPE_CHECKING:
    from kinetree.robot import Robot

STATE = ("q", "v", "tau")
ALWAYS = ("times", "q", "v", "tau")
"""What every simulation has."""


@dataclass(frozen=True)
class Record:
    """Something to record.

    name: of its array.
    function: takes the model and `arguments`, and gives scalars in nested lists.
    arguments: names of what it takes of a state.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[str, ...] = STATE


@dataclass(frozen=True)
class _OnArrays:
    """A function of the user, called with arrays of scalars."""

    function: Callable[..., Any]

    def __call__(self, model: Model, *state: Any) -> Any:
        return self.function(model, *objects(*state))


def recordable() -> list[str]:
    """The names of what can be recorded."""
    fit = [name for name in PUBLIC if _fits(name)]
    return [*OTHERS, *fit]


def records(robot: Robot, wanted: Sequence[Any], controller: Any) -> tuple[Record, ...]:
    """What is to be recorded, from names, (name, setting, ...) or functions (model, q, v, tau)."""
    if isinstance(wanted, str) or not isinstance(wanted, (list, tuple)):
        raise KinetreeError(
            f"record={wanted!r}: a list is expected, such as ['energy', ('pose', 'tool')]"
        )
    if "memory" in wanted and not len(getattr(controller, "memory", ())):
        raise KinetreeError(
            f"record 'memory': the controller {controller!r} has no memory; the controllers "
            "kinetree.control.adaptive and compensated have one"
        )
    return tuple(_record(robot, item) for item in wanted if item not in ALWAYS)


def _record(robot: Robot, item: Any) -> Record:
    if callable(item):
        return Record(item.__name__, _OnArrays(item))
    name, *settings = (item,) if isinstance(item, str) else tuple(item)
    if name in OTHERS and not settings:
        if name == "constraint_forces":
            robot.kernel("constrained_dynamics")  # refuses a robot without constraints
        if name == "sensors":
            robot.kernel("sensors")  # refuses a robot without any
        return OTHERS[name]
    if not isinstance(name, str) or name not in PUBLIC or not _fits(name):
        raise unknown("record", name, recordable(), "simulate")
    row = QUANTITIES[name]
    values = checked(robot.model, name, settings or ordered(name, {}))
    given: dict[str, Any] = dict(zip(row.settings, values, strict=True))
    method = row.methods[robot.kernel(name, **given).method]
    assert isinstance(method, Method)
    return _of_quantity("_".join([name, *map(str, settings)]), name, method, values)


@cache  # so that the same record is the same function, which a simulation is known by
def _of_quantity(label: str, name: str, method: Method, values: tuple[Any, ...]) -> Record:
    row = QUANTITIES[name]

    def function(model: Model, q: Any, v: Any, tau: Any, loads: Any) -> Any:
        given = {"q": q, "v": v, "tau": tau}
        more = (loads,) if row.loads else ()
        found = method.algorithm(model, *(given[a.name] for a in row.arguments), *more, *values)
        return plain(found)

    return Record(label, function, (*STATE, "loads"))


def _fits(name: str) -> bool:
    """Whether a quantity has one result and follows from the state alone."""
    row = QUANTITIES[name]
    from_state = all(argument.name in STATE for argument in row.arguments)
    return from_state and len(row.results) == 1 and _traced(name)


def _traced(name: str) -> bool:
    return all(isinstance(method, Method) for method in QUANTITIES[name].methods.values())


def _energy(model: Model, q: Any, v: Any, tau: Any) -> Any:
    return kinetic_energy(model, q, v) + potential_energy(model, q)


def _constraint_forces(model: Model, q: Any, v: Any, tau: Any, loads: Any) -> Any:
    return constrained_dynamics(model, q, v, tau, loads)[1]


def _memory(model: Model, memory: Any) -> Any:
    return list(memory)


def _sensors(model: Model, q: Any, v: Any, tau: Any, act: Any, ctrl: Any) -> Any:
    a = acceleration(model, q, v, tau, (), DEFAULT_RULES, model.contact_options.timestep)
    return readings(model, q, v, a, act, ctrl)


OTHERS = {
    "constraint_forces": Record("constraint_forces", _constraint_forces, (*STATE, "loads")),
    "energy": Record("energy", _energy),
    "memory": Record("memory", _memory, ("memory",)),
    "sensors": Record("sensors", _sensors, (*STATE, "act", "ctrl")),
}
"""Records that are not quantities of the robot's table."""
