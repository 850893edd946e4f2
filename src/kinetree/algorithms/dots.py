"""Products of many axes with many forces.

What matrices over pairs or triples of joints come to, once inertias and axes are known. In a long
program each few of them are one call of the same routine.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.scalar import Scalar, call
from kinetree.spatial import Force, Twist

AXES_PER_CALL = 8
"""Axes of one call."""


def dots(axes: Sequence[Twist], forces: Sequence[Force]) -> list[list[Scalar]]:
    """Each axis times each force: a row for each axis."""
    together = list(forces)
    found: list[list[Scalar]] = []
    for k in range(0, len(axes), AXES_PER_CALL):
        found += call(_dots, together, *axes[k : k + AXES_PER_CALL], times=len(axes))
    return found


def _dots(forces: Sequence[Force], *axes: Twist) -> list[list[Scalar]]:
    return [[axis.dot(force) for force in forces] for axis in axes]
