"""The settings of a quantity, such as frame= and axes=, and their valid values.

Axes may also be given by Pinocchio's names. This is the only module that knows these.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

from kinetree.algorithms.steps import STOPS, Enforcement
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import members, texts
from kinetree.model import Model
from kinetree.quantities import ANY_FRAME, QUANTITIES, SOME_BODIES, SOME_JOINTS

PINOCCHIO = {"local": "body", "local_world_aligned": "origin", "world": "world"}
"""Maps Pinocchio's names of axes, in lower case, to ours."""
OTHER_MEANING = ("velocity_derivatives", "acceleration_derivatives")
"""Where Pinocchio's LOCAL_WORLD_ALIGNED gives something else than our "origin"."""


def ordered(quantity: str, given: Mapping[str, Any]) -> tuple[Hashable, ...]:
    """The values of a quantity's settings in their order; the default for those not given.

    Arguments:
        quantity: a name of `quantities.QUANTITIES`.
        given: values by name.
    """
    wanted = QUANTITIES[quantity].settings
    for name in given:
        if not among(name, wanted):
            raise unknown("setting", name, wanted, quantity)
    for name, valid in wanted.items():
        if name not in given and valid in (ANY_FRAME, SOME_JOINTS):
            raise KinetreeError(f"{quantity} needs {name}=")
    defaults = {name: () if valid is SOME_BODIES else valid[0] for name, valid in wanted.items()}
    return tuple(given.get(name, defaults[name]) for name in wanted)


def checked(model: Model, quantity: str, values: Sequence[Any]) -> tuple[Hashable, ...]:
    """The values of a quantity's settings under our names; an error if the robot has no such."""
    wanted = QUANTITIES[quantity].settings
    if len(values) != len(wanted):
        names = " and ".join(repr(name) for name in wanted) or "no settings"
        raise KinetreeError(f"{quantity} needs {names}")
    return tuple(
        _checked(model, quantity, name, value) for name, value in zip(wanted, values, strict=True)
    )


def _checked(model: Model, quantity: str, name: str, value: Any) -> Hashable:
    valid = QUANTITIES[quantity].settings[name]
    if valid is ANY_FRAME:
        return model.frame(value).name
    if valid is SOME_JOINTS:
        return _joints(model, joint_names(name, value))
    if valid is SOME_BODIES:
        return _bodies(model, value)
    if name == "axes":
        return _axes(quantity, value, valid)
    if isinstance(valid[0], Enforcement):
        return _enforcement(value)
    if not among(value, valid):
        raise unknown(f"value of {name}", value, [str(x) for x in valid], quantity)
    return value


def _enforcement(value: Any) -> Enforcement:
    """How limits are enforced in a step, if it is valid."""
    if not isinstance(value, Enforcement):
        raise KinetreeError(
            f"limits={value!r}: an Enforcement is expected, such as "
            "kinetree.Enforcement(stops='spring', saturate=True)"
        )
    if not among(value.stops, STOPS):
        raise unknown("kind of stops", value.stops, STOPS, "Enforcement")
    for name in ("stiffness", "damping", "friction_speed"):
        number = getattr(value, name)
        if not (isinstance(number, Real) and 0.0 <= float(number) < math.inf):
            raise KinetreeError(
                f"Enforcement: {name} must be a finite number, zero or more, got {number!r}"
            )
    return value


def joint_names(setting: str, given: Any) -> tuple[Any, ...]:
    """The names of joints, from one or several."""
    if isinstance(given, str):
        return (given,)
    return members(setting, given, str, "the names of joints")


def _joints(model: Model, names: tuple[Any, ...]) -> tuple[str, ...]:
    moving = [model.bodies[i].joint_name for i in model.coordinate_order]
    for name in names:
        if not among(name, moving):
            raise unknown("moving joint", name, moving, f"robot {model.name!r}")
    return names


def _bodies(model: Model, names: Any) -> tuple[str, ...]:
    """The names of bodies in the order of the model; all of them if none is named."""
    bodies = [body.name for body in model.bodies]
    listed = (names,) if isinstance(names, str) else texts("bodies", names)
    given = listed or bodies
    for name in given:
        if not among(name, bodies):
            raise unknown("body", name, bodies, f"robot {model.name!r}")
    return tuple(name for name in bodies if name in given)


def _axes(quantity: str, value: Any, valid: Sequence[Any]) -> str:
    """Our name of axes, from ours, Pinocchio's, or a value of pinocchio.ReferenceFrame."""
    word = value if isinstance(value, str) else getattr(value, "name", None)
    if word in valid:
        return str(word)
    ours = PINOCCHIO.get(word.lower()) if isinstance(word, str) else None
    if ours is None:
        listed = ", ".join(repr(x) for x in valid)
        raise unknown(
            "value of axes",
            value,
            valid,
            quantity,
            f"valid are {listed}, and Pinocchio's 'LOCAL_WORLD_ALIGNED', 'LOCAL' and 'WORLD'",
        )
    if ours == "origin" and quantity in OTHER_MEANING:
        raise KinetreeError(
            f"{quantity}: in LOCAL_WORLD_ALIGNED Pinocchio leaves out that the frame's origin "
            "moves, and Kinetree does not: give axes='origin' for ours (docs/derivatives.md has "
            "the difference)"
        )
    return ours
