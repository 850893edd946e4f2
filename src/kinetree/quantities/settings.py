"""The settings of a quantity, such as frame= and axes=, and their valid values.

Axes may also be given by Pinocchio's names. This is the only module that knows these.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

from kinetree.algorithms.constraints import Baumgarte, Projection, Stabilization
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps import STOPS, Enforcement
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import members, texts
from kinetree.model import Model
from kinetree.quantities import (
    ANY_FRAME,
    QUANTITIES,
    SOME_BODIES,
    SOME_CONSTRAINTS,
    SOME_JOINTS,
)

CONES = ("auto", "pyramidal", "elliptic")
MOST_NEWTON_STEPS = 100
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
    all_of_them = (SOME_BODIES, SOME_CONSTRAINTS)
    defaults = {name: () if valid in all_of_them else valid[0] for name, valid in wanted.items()}
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
        return _in_order("body", model, [body.name for body in model.bodies], value)
    if valid is SOME_CONSTRAINTS:
        return _in_order("constraint", model, [c.name for c in model.constraints], value)
    if isinstance(valid[0], Baumgarte):
        return _baumgarte(value)
    if isinstance(valid[0], Projection):
        return stabilization(value)
    if name == "axes":
        return _axes(quantity, value, valid)
    if isinstance(valid[0], Enforcement):
        return _enforcement(value)
    if isinstance(valid[0], ContactSolver):
        return _contact(value)
    if not among(value, valid):
        raise unknown(f"value of {name}", value, [str(x) for x in valid], quantity)
    return value


def _enforcement(value: Any) -> Enforcement:
    """How limits are enforced in a step, if it is valid."""
    if not isinstance(value, Enforcement):
        raise KinetreeError(
            f"enforcement={value!r}: an Enforcement is expected, such as "
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


def _contact(value: Any) -> ContactSolver | None:
    """How contacts are solved for, if it is valid; None leaves them out."""
    if value is None or value is False:
        return None
    if value is True:
        return SOLVER
    if not isinstance(value, ContactSolver):
        raise KinetreeError(
            f"contact={value!r}: a ContactSolver is expected, such as "
            "kinetree.ContactSolver(iterations=12), or False for none"
        )
    n: Any = value.iterations
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= MOST_NEWTON_STEPS:
        raise KinetreeError(
            f"ContactSolver: iterations must be a whole number from 1 to {MOST_NEWTON_STEPS}, "
            f"got {n!r}"
        )
    if not (isinstance(value.tolerance, Real) and 0.0 <= float(value.tolerance) < math.inf):
        raise KinetreeError(
            "ContactSolver: tolerance must be a finite number, zero or more, got "
            f"{value.tolerance!r}"
        )
    if not among(value.cone, CONES):
        raise unknown("cone", value.cone, CONES, "ContactSolver")
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


def _in_order(what: str, model: Model, valid: Sequence[str], names: Any) -> tuple[str, ...]:
    """Names in the order of the model; all of them if none is named."""
    listed = (names,) if isinstance(names, str) else texts(f"names of a {what}", names)
    for name in listed:
        if not among(name, valid):
            raise unknown(what, name, valid, f"robot {model.name!r}")
    return tuple(name for name in valid if not listed or name in listed)


def stabilization(value: Any) -> Stabilization:
    """What keeps a motion on the constraints, if it is valid.

    Arguments:
        value: as a user gives it.
    """
    if isinstance(value, Baumgarte):
        return _baumgarte(value)
    if not isinstance(value, Projection):
        raise KinetreeError(
            f"stabilization={value!r}: a Projection or a Baumgarte is expected, such as "
            "kinetree.Projection() or kinetree.Baumgarte(rate=20.0)"
        )
    return value


def _baumgarte(value: Any) -> Baumgarte:
    """How errors of constraints decay, if it is valid."""
    if not isinstance(value, Baumgarte):
        raise KinetreeError(
            f"stabilization={value!r}: a Baumgarte is expected, such as "
            "kinetree.Baumgarte(rate=20.0)"
        )
    return value


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
            f"{quantity}: Pinocchio's LOCAL_WORLD_ALIGNED derivatives ignore the motion of the "
            "frame's origin, Kinetree's do not: pass axes='origin' for ours (docs/derivatives.md "
            "explains the difference)"
        )
    return ours
