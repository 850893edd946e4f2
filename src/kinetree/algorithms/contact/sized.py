"""Shapes whose sizes are arguments of a function.

Source: none; a shape's pair functions take any scalar as its sizes.

Cost: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Solid, Sphere
from kinetree.scalar import Scalar

SIZED = (Plane, Sphere, Capsule, Cylinder, Box, Ellipsoid)
"""Shapes whose sizes are arguments, so that all pairs of two kinds share one function."""


def sizes_of(shape: Solid) -> list[Scalar]:
    """The sizes of a shape, if they are arguments."""
    found: list[Scalar] = []
    for field in fields(shape) if isinstance(shape, SIZED) else ():
        value = getattr(shape, field.name)
        found += value if isinstance(value, tuple) else [value]
    return found


def resized(shape: Solid, sizes: Sequence[Scalar]) -> Solid:
    """A shape of the same kind with other sizes, of any scalar."""
    if not sizes:
        return shape
    made = object.__new__(type(shape))
    rest = iter(sizes)
    for field in fields(shape):
        value = getattr(shape, field.name)
        own = tuple(next(rest) for _ in value) if isinstance(value, tuple) else next(rest)
        object.__setattr__(made, field.name, own)
    return made


def kind_of(shape: Solid) -> object:
    """A key equal for shapes that one function serves."""
    return type(shape) if isinstance(shape, SIZED) else shape
