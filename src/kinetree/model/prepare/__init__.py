"""Preparing a model for tracing: the same robot in numbers that save arithmetic."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from kinetree.model.model import Model
from kinetree.model.prepare.reframe import reframe
from kinetree.model.prepare.regroup import regroup
from kinetree.model.prepare.snap import snap


class Preparation(Enum):
    """Which changes of a model an algorithm allows.

    NOTHING: the result is expressed in body frames.
    FRAMES: bodies' frames may move to their joints.
    INERTIAS: inertias may be regrouped, too. Not where articulated inertias are subtracted: that
        would lose digits on ill-conditioned robots, for hardly less arithmetic.
    WHOLE_INERTIAS: as INERTIAS, but no inertia is dropped at the world: the result depends on the
        robot's total inertia.
    """

    NOTHING = auto()
    FRAMES = auto()
    INERTIAS = auto()
    WHOLE_INERTIAS = auto()


def prepared(model: Model, preparation: Preparation) -> Model:
    """The same robot for tracing, with the changes allowed and without rounding noise."""
    if model.contacts:
        model = _with_references(model)
    if preparation in (Preparation.INERTIAS, Preparation.WHOLE_INERTIAS):
        model = regroup(model, drop=preparation is Preparation.INERTIAS)
    elif preparation is Preparation.FRAMES:
        model = reframe(model)
    return snap(model)


def _with_references(model: Model) -> Model:
    """The robot with its reference coordinates written out: new frames move neutral ones."""
    bodies = []
    for body in model.bodies:
        at = body.softness.reference or tuple(body.joint.neutral())
        bodies.append(replace(body, softness=replace(body.softness, reference=at)))
    return replace(model, bodies=tuple(bodies))
