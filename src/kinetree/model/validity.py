"""Checks of a model's values: numbers, rest positions, followers, constraints."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING

from kinetree.errors import KinetreeError, ModelError, among, unknown
from kinetree.model.constraints import Constraint

if TYPE_CHECKING:
    from kinetree.model.model import Body, Model


def check_followers(model: Model, owners: set[int]) -> None:
    """Refuse a body that cannot follow another, or only with numbers that overflow.

    Arguments:
        model: the model.
        owners: the numbers of the bodies that follow no other.
    """
    for i, body in enumerate(model.bodies):
        if body.follows is None:
            continue
        if body.follows not in owners or not _shares(model, i):
            raise ModelError(
                f"body {body.name!r} follows body {body.follows}: one with as many coordinates "
                "of its own is expected, or several whose coordinates are adjacent"
            )
        leader, (_, ratio, offset) = model.bodies[body.follows], body.joint.transmission
        ends = (abs(x) for x in (leader.limits.lower, leader.limits.upper) if math.isfinite(x))
        farthest = max(ends, default=0.0) + math.pi
        if not math.isfinite(abs(ratio) * farthest + abs(offset)):
            raise ModelError(
                f"joint {body.joint_name!r} mimics {leader.joint_name!r} with multiplier "
                f"{ratio:g} and offset {offset:g}: within the limits of {leader.joint_name!r} its "
                "coordinate becomes too large for a number"
            )
        what = f"the drive of joint {body.joint_name!r}, seen through its multiplier {ratio:g},"
        check_finite(model.drives[i], what)


def _shares(model: Model, follower: int) -> bool:
    """Whether the coordinates and velocities of a body are those of whole joints."""
    ends = {model.q_slices[i].stop: model.v_slices[i].stop for i in model.coordinate_order}
    return ends.get(model.q_slices[follower].stop) == model.v_slices[follower].stop


def check_constraints(model: Model) -> None:
    """Refuse constraints that cannot be: of what does not exist, of a body with itself.

    Arguments:
        model: the model.
    """
    seen: set[str] = set()
    for c in model.constraints:
        if not isinstance(c, Constraint):
            raise ModelError(f"constraint {c!r}: one of kinetree.constraints is expected")
        if c.name in seen:
            raise ModelError(f"two constraints are named {c.name!r}: names must be unique")
        seen.add(c.name)
        check_finite(c, f"constraint {c.name!r}")
        try:
            _check_constraint(model, c)
        except KinetreeError as e:
            raise ModelError(f"constraint {c.name!r}: {e}") from None


def _check_constraint(model: Model, constraint: Constraint) -> None:
    """Refuse a constraint whose frames or joints do not fit the model."""
    bodies = {model.frame(name).body for name in constraint.frames}
    bodies |= {-1} if len(constraint.frames) == 1 else set()
    if len(bodies) == 1:
        body = bodies.pop()
        where = "the world" if body < 0 else f"body {model.bodies[body].name!r}"
        raise ModelError(f"both of its frames are fixed in {where}: nothing moves between them")
    free = {b.joint_name: b.joint for b in model.bodies if b.follows is None}
    for joint in constraint.joints:
        if not among(joint, free):
            raise unknown("joint with a coordinate of its own", joint, free, "the robot")
        if free[joint].nq != 1:
            raise ModelError(f"joint {joint!r} has more than one coordinate")


def check_rest(body: Body) -> None:
    """Refuse a rest position that is not a configuration of its joint.

    Arguments:
        body: the body that the joint moves.
    """
    rest, joint = body.drive.rest, body.joint.transmission.joint
    if not rest:
        return
    where = f"joint {body.joint_name!r}: its spring is relaxed at {rest!r}"
    if len(rest) != joint.nq:
        raise ModelError(
            f"{where}: {joint.nq} coordinates are expected, or none for the neutral position"
        )
    try:
        joint.coordinates(rest)
    except ValueError as e:
        raise ModelError(f"{where}: {e}") from None


def check_finite(value: object, what: str) -> None:
    """Refuse a number that is not finite, anywhere in a value.

    Arguments:
        value: a number, or tuples and dataclasses of numbers.
        what: what the value is, for the message.
    """
    kind = type(value)
    if kind is float and value - value == 0.0:  # type: ignore[operator]
        return  # the usual case, first
    if is_dataclass(kind):
        for name in _field_names(kind):
            check_finite(getattr(value, name), what)
    elif kind is tuple:
        for item in value:  # type: ignore[attr-defined]
            check_finite(item, what)
    elif isinstance(value, (float, Real)) and not _is_finite(value):
        raise ModelError(f"{what} holds {value!r:.99}: every number must be finite")


def _is_finite(value: float | Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
