"""What becomes of constraints when a robot is edited: joints locked, links removed, a new root."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from kinetree.errors import ModelError
from kinetree.model.constraints import Constraint, Coupling, FrameConstraint
from kinetree.model.constraints.coupling import polynomial, substituted, total
from kinetree.model.description import Mimicry
from kinetree.model.model import WORLD, Model
from kinetree.spatial import Transform

SATISFIED = 1e-6
"""m or rad: a constraint of parts that no longer move is satisfied if its error is not larger."""


def remaining(
    model: Model,
    constraints: Iterable[Constraint],
    held: Mapping[str, tuple[float, ...]],
    copies: Mapping[str, Mimicry],
) -> tuple[Constraint, ...]:
    """The constraints of a model in which joints are locked or follow others.

    The coordinate of a locked joint is a number in a coupling, that of a mimic a multiple of its
    leader's. A constraint between parts that no longer move is left out if it is satisfied.

    Arguments:
        model: without constraints.
        constraints: of the robot before, by the names of its links and joints.
        held: the coordinates of the locked joints.
        copies: the moving joint that each mimic follows.
    """
    kept: list[Constraint] = []
    for c in constraints:
        if isinstance(c, Coupling):
            kept += _coupling(c, held, copies)
        elif not (held and isinstance(c, FrameConstraint) and _on_one_body(model, c)):
            kept.append(c)
    return tuple(kept)


def _coupling(
    c: Coupling, held: Mapping[str, tuple[float, ...]], copies: Mapping[str, Mimicry]
) -> Iterator[Coupling]:
    """The coupling of the joints that move; nothing if none is left and the sum is zero."""
    if not any(joint in held or joint in copies for joint in c.joints):
        yield c
        return
    constant, scale = 0.0, 1.0
    moving: dict[str, tuple[float, ...]] = {}
    for joint, f in c.polynomials:
        if joint in held:
            value = float(polynomial(f, held[joint][0]))
            constant, scale = constant + value, scale + abs(value)
            continue
        copy = copies.get(joint, Mimicry(joint, 1.0, 0.0))
        moved = substituted(f, copy.multiplier, copy.offset) if joint in copies else f
        moving[copy.joint] = total(moving.get(copy.joint, ()), moved)
    acting = {joint: f for joint, f in moving.items() if any(f[1:])}
    for joint, f in moving.items():
        if joint not in acting:
            constant += sum(f)
    if acting:
        first = next(iter(acting))
        acting[first] = total(acting[first], (constant,))
        yield replace(c, polynomials=tuple(acting.items()))
    elif not abs(constant) <= SATISFIED * scale:
        locked = [joint for joint in c.joints if joint in held]
        listed = ", ".join(map(repr, locked))
        why = f"with {listed} locked there" if locked else "since its joints mimic each other"
        raise ModelError(
            f"constraint {c.name!r}: {why} nothing in it can move, and its sum is {constant:.6g} "
            f"{c.unit} instead of 0"
        )


def _on_one_body(model: Model, c: FrameConstraint) -> bool:
    """Whether nothing moves between a constraint's frames; an error if it is then violated."""
    body, at_frame = _place(model, c.frame, c.at_frame)
    base, at_base = _place(model, c.base, c.at_base)
    if body != base:
        return False
    errors = [abs(float(x)) for x in c.error(at_base.inverse() @ at_frame)]
    worst = max(range(len(errors)), key=errors.__getitem__)
    if not errors[worst] <= SATISFIED:
        label = c.row_labels()[worst]
        raise ModelError(
            f"constraint {c.name!r}: nothing can move between its frames with these joints locked, "
            f"and {label.name} is off by {errors[worst]:.6g} {label.unit}: lock the joints where "
            "the constraint is satisfied; robot.constraints.assemble finds such coordinates"
        )
    return True


def _place(model: Model, name: str | None, at: Transform) -> tuple[int, Transform]:
    if name is None:
        return WORLD, at
    frame = model.frame(name)
    return frame.body, frame.placement @ at


def within(
    constraints: Iterable[Constraint], links: Collection[str], joints: Collection[str], part: str
) -> list[Constraint]:
    """The constraints of a part of a robot.

    Those of the other parts are left out; those that connect the two are refused.

    Arguments:
        links, joints: the names of what belongs to the part.
        part: what it is called in the message.
    """
    kept: list[Constraint] = []
    for c in constraints:
        outside = [f"link {x!r}" for x in c.frames if x not in links]
        outside += [f"joint {x!r}" for x in c.joints if x not in joints]
        if isinstance(c, FrameConstraint) and c.base is None:
            outside.append("the world")
        if len(outside) == len(c.joints) + (2 if c.frames else 0):
            continue
        if outside:
            raise ModelError(
                f"constraint {c.name!r} connects {part} to {outside[0]}, which is not part of "
                "it: remove the constraint first with without('constraints')"
            )
        kept.append(c)
    return kept


def in_the_world(
    constraints: Iterable[Constraint], fixed: Mapping[str, Transform]
) -> list[Constraint]:
    """The same constraints of a robot whose links that are fixed in the world are removed.

    Arguments:
        fixed: the poses in the world of the links that are removed.
    """
    kept: list[Constraint] = []
    for c in constraints:
        if isinstance(c, FrameConstraint):
            if c.frame in fixed:
                raise ModelError(
                    f"constraint {c.name!r} holds link {c.frame!r}, which is fixed in the world "
                    "and not part of the robot that is attached: exchange its frame and its base"
                )
            if c.base is not None and c.base in fixed:
                c = replace(c, base=None, at_base=fixed[c.base] @ c.at_base)
        kept.append(c)
    return kept


def on_link(constraints: Iterable[Constraint], link: str, pose: Transform) -> list[Constraint]:
    """The same constraints, those to the world to a link that is fixed in the world.

    Arguments:
        link: its name.
        pose: of the link in the world.
    """
    return [
        replace(c, base=link, at_base=pose.inverse() @ c.at_base)
        if isinstance(c, FrameConstraint) and c.base is None
        else c
        for c in constraints
    ]
