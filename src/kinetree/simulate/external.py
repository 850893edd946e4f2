"""External loads of a simulation: numbers beside the controller's inputs, or functions of a state.

Numbers are given as arrays, constant or for each step, and stand behind the controller's inputs in
p. A function (t, q, v) over scalars is traced together with the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.compiler.runtime.inlining import objects
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.model.loads import Load, check, load, load_name, size
from kinetree.scalar import Scalar
from kinetree.scalar.structure import flat


@dataclass(frozen=True)
class SimulatedLoad:
    """One external load.

    key: a frame's name, or a key of `loads`.
    function: from (t, q, v) to its numbers; None if they are given.
    """

    key: str | Load
    function: Callable[..., Any] | None

    @property
    def count(self) -> int:
        """How many numbers are given for it."""
        return 0 if self.function is not None else size(self.key)

    def numbers(self, t: Scalar, q: Any, v: Any) -> list[Scalar]:
        """The load at a state, from its function."""
        assert self.function is not None
        found = flat(self.function(t, *objects(q, v)))
        if len(found) != size(self.key):
            raise KinetreeError(
                f"the function of {load_name(self.key)} returns {len(found)} numbers; "
                f"{size(self.key)} are expected"
            )
        return found


def simulated_loads(model: Model, external: Mapping[Any, Any]) -> tuple[SimulatedLoad, ...]:
    """The loads of `external=`; keys that the robot does not have are refused."""
    for key in external:
        check(model, "simulate", key)
    return tuple(
        SimulatedLoad(key, value if callable(value) else None) for key, value in external.items()
    )


def given_numbers(external: Mapping[Any, Any]) -> dict[str | Load, Any]:
    """The arrays of `external=`, functions left out."""
    return {key: value for key, value in external.items() if not callable(value)}


def acting(
    loads: Sequence[SimulatedLoad], numbers: Sequence[Scalar], t: Scalar, q: Any, v: Any
) -> list[Any]:
    """What algorithms take as external loads, at a state.

    Arguments:
        numbers: those of the loads that are given, one load after another.
        t, q, v: the time and the state.
    """
    found, at = [], 0
    for one in loads:
        own = numbers[at : at + one.count] if one.function is None else one.numbers(t, q, v)
        found.append(load(one.key, own))
        at += one.count
    return found
