"""Regrouping: the same dynamics in fewer numbers.

Inertia moves towards the base as far as no joint force notices.

A mass on a revolute joint's axis turns with the joint without being felt by it: it may as well be
the parent's. Moving all such parts inwards leaves most bodies with seven numbers or fewer instead
of ten, and so with less arithmetic. What reaches the world is dropped. The numbers left are the
base parameters of identification: W. Khalil & J.-F. Kleinfinger, Minimum operations and minimum
parameters of the dynamic models of tree structure robots, IEEE J. Robotics and Automation 3 (1987).

Joint forces, accelerations, the mass matrix, kinetic energy and everything derived from them stay
the same; so do the whole robot's mass and momentum, if none of it reaches the world. What belongs
to single bodies (wrenches between them) does not: algorithms for that take the model as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kinetree.model.model import NO_INERTIA, Model
from kinetree.model.reframe import convenient, recenter
from kinetree.model.rounding import TOLERANCE
from kinetree.spatial import Inertia, Symmetric3, Vector3


def regroup(model: Model) -> Model:
    """The same dynamics with fewer numbers."""
    model = convenient(model)
    inertias = [body.inertia for body in model.bodies]
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        part = body.joint.lumped(inertias[i])
        inertias[i] = _less(inertias[i], part)
        if body.parent >= 0:
            # unchanged by the joint's motion, so it lies in the joint frame as in the body's
            inertias[body.parent] = inertias[body.parent] + body.placement.to_parent(part)
    return replace(
        model,
        bodies=tuple(
            replace(b, inertia=inertia) for b, inertia in zip(model.bodies, inertias, strict=True)
        ),
    )


def loses_nothing(model: Model) -> bool:
    """Whether all of the inertia stays with bodies: none would reach the world and be dropped.

    Then the robot's mass, its centre and its momentum stay the same, too.
    """
    roots = [body for body in recenter(model).bodies if body.parent < 0]
    return all(body.joint.lumped(body.inertia) == NO_INERTIA for body in roots)


def _less(whole: Inertia, part: Inertia) -> Inertia:
    """What is left of an inertia; what is only the rounding of the difference is zero."""
    return Inertia(
        _difference([whole.mass], [part.mass])[0],
        Vector3(*_difference(whole.moment, part.moment)),
        Symmetric3(*_difference(whole.rotational, part.rotational)),
    )


def _difference(a: Iterable[float], b: Iterable[float]) -> list[float]:
    entries = list(a)
    floor = TOLERANCE * max(abs(x) for x in entries)
    return [0.0 if y and abs(x - y) <= floor else x - y for x, y in zip(entries, b, strict=True)]
