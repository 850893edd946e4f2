"""Snapping: rounding noise in a model's numbers to the zeros and ones that were meant.

A right angle written as 1.5707963267948966 leaves 6e-17 where a zero was meant, and each such
number keeps arithmetic alive in generated code. The model stays exact; this is applied to the copy
that is traced. An entry of a vector goes to zero if it is below 1e-14 of the largest, so nothing
depends on units; entries of rotations and axes also go to +-1. That is rounding noise and no more:
a coarser bound would change accelerations by itself times the condition of M.

Of a rotational inertia only products are snapped, each beside the two moments it lies between. A
moment never is: however small it is beside the others, the joint about its axis feels nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from kinetree.model.joints import (
    Composite,
    Joint,
    Mimic,
    Moved,
    Prismatic,
    Reversed,
    Revolute,
    Screw,
)
from kinetree.model.model import Model
from kinetree.model.squares import with_squares
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

TOLERANCE = 1e-14


def snap(model: Model) -> Model:
    """The model as it is traced."""
    return replace(
        model,
        bodies=tuple(
            replace(
                b,
                placement=_transform(b.placement),
                joint=_joint(b.joint),
                inertia=_inertia(b.inertia),
            )
            for b in model.bodies
        ),
        frames=tuple(replace(f, placement=_transform(f.placement)) for f in model.frames),
    )


def _unit(value: float) -> float:
    for whole in (0.0, 1.0, -1.0):
        if abs(value - whole) <= TOLERANCE:
            return whole
    return value


def _direction(v: Vector3) -> Vector3:
    return Vector3(*(_unit(c) for c in v))


def _relative(values: Any) -> list[float]:
    values = list(values)
    floor = TOLERANCE * max(abs(v) for v in values)
    return [0.0 if abs(v) <= floor else v for v in values]


def _transform(X: Transform) -> Transform:
    rotation = Rotation(*(_direction(row) for row in X.rotation.rows))
    return Transform(rotation, Vector3(*_relative(X.translation)))


def _joint(joint: Joint) -> Joint:
    if isinstance(joint, Composite):
        return Composite(tuple(_joint(part) for part in joint.parts))
    if isinstance(joint, Moved):
        return replace(joint, joint=_joint(joint.joint), at=_transform(joint.at))
    if isinstance(joint, (Mimic, Reversed)):
        return replace(joint, joint=_joint(joint.joint))
    if isinstance(joint, (Revolute, Prismatic, Screw)):
        return replace(joint, axis=_direction(joint.axis))
    return joint


def _inertia(inertia: Inertia) -> Inertia:
    return Inertia(
        inertia.mass,
        Vector3(*_relative(inertia.moment)),
        with_squares(_rotational(inertia.rotational)),
    )


def _rotational(I: Symmetric3) -> Symmetric3:
    largest = max(abs(entry) for entry in I)

    def product(entry: float, a: float, b: float) -> float:
        # no body has a product beside a moment of zero: there it is noise of the largest entry
        floor = TOLERANCE * (math.sqrt(abs(a)) * math.sqrt(abs(b)) or largest)
        return 0.0 if abs(entry) <= floor else entry

    xx, yy, zz = I.xx, I.yy, I.zz
    products = product(I.xy, xx, yy), product(I.xz, xx, zz), product(I.yz, yy, zz)
    return Symmetric3(xx, yy, zz, *products)
