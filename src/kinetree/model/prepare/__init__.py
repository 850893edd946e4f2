"""Preparing a model for tracing: the same robot in numbers that save arithmetic."""

from __future__ import annotations

from enum import Enum, auto

from kinetree.model.model import Model
from kinetree.model.prepare.reframe import reframe
from kinetree.model.prepare.regroup import keeps_all_inertia, regroup
from kinetree.model.prepare.snap import snap


class Preparation(Enum):
    """Which changes of a model an algorithm allows.

    NOTHING: the result is expressed in body frames.
    FRAMES: bodies' frames may move to their joints.
    INERTIAS: inertias may be regrouped, too. Not where articulated inertias are subtracted: that
        would lose digits on ill-conditioned robots, for hardly less arithmetic.
    INERTIAS_IF_WHOLE: as INERTIAS, but only if no inertia is dropped at the world.
    """

    NOTHING = auto()
    FRAMES = auto()
    INERTIAS = auto()
    INERTIAS_IF_WHOLE = auto()


def prepared(model: Model, preparation: Preparation) -> Model:
    """The same robot for tracing, with the changes allowed and without rounding noise."""
    if preparation is Preparation.INERTIAS or (
        preparation is Preparation.INERTIAS_IF_WHOLE and keeps_all_inertia(model)
    ):
        model = regroup(model)
    elif preparation is not Preparation.NOTHING:
        model = reframe(model)
    return snap(model)
