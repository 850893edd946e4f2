"""What can be recorded: quantities that follow from q, v and tau, and a controller's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kinetree.algorithms import kinetic_energy, potential_energy
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


def recordable() -> list[str]:
    """The names of what can be recorded."""
    fit = [name for name in PUBLIC if _fits(name)]
    return ["energy", "memory", *fit]


def records(robot: Robot, wanted: Sequence[Any], controller: Any) -> tuple[Record, ...]:
    """What is to be recorded, from names, (name, setting, ...) or functions (model, q, v, tau)."""
    if isinstance(wanted, str) or not isinstance(wanted, (list, tuple)):
        raise KinetreeError(
            f"record={wanted!r}: a list is expected, such as ['energy', ('pose', 'tool')]"
        )
    if "memory" in wanted and not len(getattr(controller, "memory", ())):
        raise KinetreeError(
            f"record 'memory': the controller {controller!r} has no memory; those of "
            "kinetree.control.adaptive and compensated have"
        )
    return tuple(_record(robot, item) for item in wanted if item not in ALWAYS)


def _record(robot: Robot, item: Any) -> Record:
    if callable(item):
        return Record(item.__name__, item)
    name, *settings = (item,) if isinstance(item, str) else tuple(item)
    if name in OTHERS and not settings:
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
    loads = ((),) if row.loads else ()

    def function(model: Model, q: Any, v: Any, tau: Any) -> Any:
        given = {"q": q, "v": v, "tau": tau}
        found = method.algorithm(model, *(given[a.name] for a in row.arguments), *loads, *values)
        return plain(found)

    return Record(label, function)


def _fits(name: str) -> bool:
    """Whether a quantity has one result and follows from the state alone."""
    row = QUANTITIES[name]
    from_state = all(argument.name in STATE for argument in row.arguments)
    return from_state and len(row.results) == 1 and _traced(name)


def _traced(name: str) -> bool:
    return all(isinstance(method, Method) for method in QUANTITIES[name].methods.values())


def _energy(model: Model, q: Any, v: Any, tau: Any) -> Any:
    return kinetic_energy(model, q, v) + potential_energy(model, q)


def _memory(model: Model, memory: Any) -> Any:
    return list(memory)


OTHERS = {
    "energy": Record("energy", _energy),
    "memory": Record("memory", _memory, ("memory",)),
}
"""What is no quantity of the robot's table."""
