"""Regrouping: the same dynamics with fewer inertial parameters.

A mass on a revolute joint's axis causes no force in that joint, so it can be counted as the
parent's. Moving all such parts towards the base leaves most bodies with seven parameters or fewer
instead of ten, and so with less arithmetic. Parts that reach the world are dropped, or stay in the
roots. If dropped, the parameters that remain are the base parameters of identification: W. Khalil &
J.-F. Kleinfinger, Minimum operations and minimum parameters of the dynamic models of tree structure
robots, IEEE J. Robotics and Automation 3 (1987).

Joint forces, accelerations, the mass matrix, kinetic energy and everything derived from them stay
the same. If nothing is dropped, so do the robot's total mass, its centre, its momentum and its
potential energy. Quantities of single bodies, such as the wrenches between them, change: their
algorithms take the model as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kinetree.model.model import Model
from kinetree.model.prepare.reframe import reframe
from kinetree.model.rounding import TOLERANCE
from kinetree.spatial import Inertia, Symmetric3, Vector3


def regroup(model: Model, drop: bool = True) -> Model:
    """The same dynamics with fewer inertial parameters.

    Arguments:
        drop: whether parts that no joint moves are dropped. Otherwise they stay in the roots, and
            the robot's total inertia at every configuration is the same.
    """
    model = reframe(model)
    pairs = zip(model.bodies, regrouped_inertias(model, _less, drop), strict=True)
    return replace(model, bodies=tuple(replace(b, inertia=inertia) for b, inertia in pairs))


def regrouped_inertias(
    model: Model, less: Callable[[Inertia, Inertia], Inertia], drop: bool = True
) -> list[Inertia]:
    """The bodies' inertias with all that can be moved towards the base moved there.

    Arguments:
        model: in the frames of `reframe`.
        less: the difference of two inertias.
        drop: as in `regroup`.
    """
    inertias = [body.inertia for body in model.bodies]
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        if body.parent < 0 and not drop:
            continue
        part = body.joint.lumped(inertias[i])
        inertias[i] = less(inertias[i], part)
        if body.parent >= 0:
            # unchanged by the joint's motion, so it lies in the joint frame as in the body's
            inertias[body.parent] = inertias[body.parent] + body.placement.to_parent(part)
    return inertias


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
