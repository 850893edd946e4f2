"""Coriolis and centrifugal forces: the joint forces at constant velocity, without gravity.

Source: Lecture 9, "Calculations of c~ and M": c is RNEA at zero acceleration, without gravity and
external forces. Friction, which the lecture lumps into c~, and springs take no part; the rotors of
floating joints do.

    lecture     code       meaning
    c           forces     c(theta, theta'), quadratic in theta'

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.scalar import Scalar


def coriolis_forces(inverse_dynamics: Callable[..., Any]) -> Callable[..., list[Scalar]]:
    """The function c(model, q, qd), by a given algorithm of inverse dynamics."""

    def forces(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        weightless = without(model, "gravity", "damping", "friction", "springs", "fluid")
        return inverse_dynamics(weightless, q, qd, [0] * model.nv)

    return forces
