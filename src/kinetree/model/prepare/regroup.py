"""Regrouping: the same dynamics with fewer inertial parameters.

A mass on a revolute joint's axis causes no force in that joint, so it can be counted as the
parent's. Moving all such parts towards the base leaves most bodies with seven parameters or fewer
instead of ten, and so with less arithmetic. Parts that reach the world are dropped. The parameters
that remain are the base parameters of identification: W. Khalil & J.-F. Kleinfinger, Minimum
operations and minimum parameters of the dynamic models of tree structure robots, IEEE J. Robotics
and Automation 3 (1987).

Joint forces, accelerations, the mass matrix, kinetic energy and everything derived from them stay
the same; so do the robot's total mass and momentum, if nothing reaches the world. Quantities of
single bodies, such as the wrenches between them, change: their algorithms take the model as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kinetree.model.model import NO_INERTIA, Model
from kinetree.model.prepare.reframe import recenter, reframe
from kinetree.model.rounding import TOLERANCE
from kinetree.spatial import Inertia, Symmetric3, Vector3


def regroup(model: Model) -> Model:
    """The same dynamics with fewer inertial parameters."""
    model = reframe(model)
    pairs = zip(model.bodies, regrouped_inertias(model, _less), strict=True)
    return replace(model, bodies=tuple(replace(b, inertia=inertia) for b, inertia in pairs))


def regrouped_inertias(model: Model, less: Callable[[Inertia, Inertia], Inertia]) -> list[Inertia]:
    """The bodies' inertias with all that can be moved towards the base moved there.

    Arguments:
        model: in the frames of `reframe`.
        less: the difference of two inertias.
    """
    inertias = [body.inertia for body in model.bodies]
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        part = body.joint.lumped(inertias[i])
        inertias[i] = less(inertias[i], part)
        if body.parent >= 0:
            # unchanged by the joint's motion, so it lies in the joint frame as in the body's
            inertias[body.parent] = inertias[body.parent] + body.placement.to_parent(part)
    return inertias


def keeps_all_inertia(model: Model) -> bool:
    """Whether regrouping drops no inertia at the world.

    Then the robot's total mass, its centre and its momentum do not change either.
    """
    roots = [body for body in recenter(model).bodies if body.parent < 0]
    return all(body.joint.lumped(body.inertia) == NO_INERTIA for body in roots)


def _less(whole: Inertia, part: Inertia) -> Inertia:
    """The difference of two inertias, with zeros for mere rounding."""
    return Inertia(
        _difference([whole.mass], [part.mass])[0],
        Vector3(*_difference(whole.moment, part.moment)),
        Symmetric3(*_difference(whole.rotational, part.rotational)),
    )


def _difference(a: Iterable[float], b: Iterable[float]) -> list[float]:
    entries = list(a)
    floor = TOLERANCE * max(abs(x) for x in entries)
    return [0.0 if y and abs(x - y) <= floor else x - y for x, y in zip(entries, b, strict=True)]
