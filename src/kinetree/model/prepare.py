"""The model as an algorithm is traced on it: the same robot in numbers that save arithmetic."""

from __future__ import annotations

from enum import Enum, auto

from kinetree.model.model import Model
from kinetree.model.reframe import convenient
from kinetree.model.regroup import loses_nothing, regroup
from kinetree.model.snap import snap


class Preparation(Enum):
    """What may be changed of a model for an algorithm.

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
    """The same robot for tracing: frames and inertias as they may be, rounding noise removed."""
    if preparation is Preparation.INERTIAS or (
        preparation is Preparation.INERTIAS_IF_WHOLE and loses_nothing(model)
    ):
        model = regroup(model)
    elif preparation is not Preparation.NOTHING:
        model = convenient(model)
    return snap(model)
