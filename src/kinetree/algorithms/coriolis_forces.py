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
from dataclasses import replace
from typing import Any

from kinetree.model import Model
from kinetree.model.model import Drive
from kinetree.scalar import Scalar
from kinetree.spatial import Vector3


def coriolis_forces(inverse_dynamics: Callable[..., Any]) -> Callable[..., list[Scalar]]:
    """The function c(model, q, qd), by a given algorithm of inverse dynamics."""

    def forces(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        rotors = tuple(replace(b, drive=Drive(b.drive.armature)) for b in model.bodies)
        weightless = replace(model, gravity=Vector3.zero(), bodies=rotors)
        return inverse_dynamics(weightless, q, qd, [0] * model.nv)

    return forces
