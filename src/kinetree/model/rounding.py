"""Rounding noise in a model's numbers, and the zeros and ones that were meant.

An entry of a vector becomes zero if it is below 1e-14 of the largest, so nothing depends on units;
entries of rotations and axes also become +-1. A coarser bound would change accelerations by itself
times the condition number of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.spatial import Rotation, Transform, Vector3

TOLERANCE = 1e-14


def snapped_direction(v: Vector3) -> Vector3:
    """A unit vector, its entries near 0, 1 and -1 made exact."""
    return Vector3(*(_unit(entry) for entry in v))


def snapped_transform(X: Transform) -> Transform:
    """A transform without rounding noise, its rotation in the form that costs least."""
    rotation = Rotation(*(snapped_direction(row) for row in X.rotation.rows))
    return Transform(rotation.structured(), Vector3(*snapped_to_zero(X.translation)))


def snapped_to_zero(values: Iterable[float]) -> list[float]:
    """Numbers, those that are only rounding noise beside the largest made zero."""
    entries = list(values)
    floor = TOLERANCE * max(abs(x) for x in entries)
    return [0.0 if abs(x) <= floor else x for x in entries]


def is_identity(X: Transform) -> bool:
    """Whether a transform is the identity up to rounding."""
    rows = zip(X.matrix(), Transform.identity().matrix(), strict=True)
    return all(abs(a - b) <= TOLERANCE for row in rows for a, b in zip(*row, strict=True))


def _unit(value: float) -> float:
    for whole in (0.0, 1.0, -1.0):
        if abs(value - whole) <= TOLERANCE:
            return whole
    return value
