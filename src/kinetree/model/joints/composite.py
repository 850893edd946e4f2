"""Joints in series with nothing between them: cylindrical, universal, planar, Euler angles, charts.

With X_k the transform of everything after part k, the axes of part k are, in the body's frame,
X_k^-1 Phi_k; they move as the later parts turn the body under them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.arguments import Axis, given_axis
from kinetree.model.joints.base import Joint
from kinetree.model.joints.inverse import nearest_coordinates
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.model.joints.series import series_coordinates
from kinetree.scalar import Scalar
from kinetree.spatial import Motion, Transform, Vector3

T = TypeVar("T")
AXES = {"x": Vector3(1, 0, 0), "y": Vector3(0, 1, 0), "z": Vector3(0, 0, 1)}
EULER_SEQUENCES = tuple(a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c)


@dataclass(frozen=True)
class Composite(Joint):
    """Parts in series, the first next to the parent, each with its own coordinates."""

    parts: tuple[Joint, ...]

    @property
    def nq(self) -> int:
        return sum(part.nq for part in self.parts)

    @property
    def nv(self) -> int:
        return sum(part.nv for part in self.parts)

    def _coordinates(self, q: Sequence[T]) -> list[Sequence[T]]:
        """The coordinates of each part."""
        return _split(q, [part.nq for part in self.parts])

    def _velocities(self, v: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        """The velocities of each part."""
        return _split(v, [part.nv for part in self.parts])

    def transform(self, q: Sequence[Scalar]) -> Transform:
        total = Transform.identity()
        for part, own in zip(self.parts, self._coordinates(q), strict=True):
            total = total @ part.transform(own)
        return total

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        columns: list[Motion] = []
        after = Transform.identity()
        for part, own in reversed(list(zip(self.parts, self._coordinates(q), strict=True))):
            columns[:0] = [after.to_child(axis) for axis in part.subspace(own)]
            after = part.transform(own) @ after
        return tuple(columns)

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        rates: list[Motion] = []
        after, V = Transform.identity(), Motion.zero()  # V: of the body, by the later parts
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        for part, own, speeds in reversed(list(pieces)):
            axes = [after.to_child(axis) for axis in part.subspace(own)]
            own_rates = [after.to_child(rate) for rate in part.subspace_rate(own, speeds)]
            rates[:0] = [r - V.cross(axis) for r, axis in zip(own_rates, axes, strict=True)]
            for axis, speed in zip(axes, speeds, strict=True):
                V = V + axis * speed
            after = part.transform(own) @ after
        return tuple(rates)

    def neutral(self) -> tuple[float, ...]:
        return tuple(x for part in self.parts for x in part.neutral())

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        pieces = zip(self.parts, self._coordinates(values), strict=True)
        return [x for part, own in pieces for x in part.coordinates(own)]

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q), strict=True)
        return [x for part, own in pieces for x in part.normalized(own)]

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        return [x for part, own, speeds in pieces for x in part.coordinate_rates(own, speeds)]

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        return [x for part, own, speeds in pieces for x in part.integrate(own, speeds)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q0), self._coordinates(q1), strict=True)
        return [x for part, start, end in pieces for x in part.difference(start, end)]

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        found = series_coordinates(self.parts, X)
        return nearest_coordinates(self, X) if found is None else [x for own in found for x in own]

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(rest), self._coordinates(q), strict=True)
        return [x for part, start, end in pieces for x in part.displacement(start, end)]

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        pieces = zip(self.parts, self._coordinates(lower), self._coordinates(upper), strict=True)
        return np.concatenate([part.sample(rng, batch, a, b) for part, a, b in pieces], axis=-1)


def _split(values: Sequence[T], counts: Sequence[int]) -> list[Sequence[T]]:
    """Consecutive pieces of these lengths."""
    ends = list(accumulate(counts, initial=0))
    return [values[start:end] for start, end in pairwise(ends)]


def cylindrical(axis: Axis) -> Composite:
    """An angle about an axis and a distance along it: q = (angle, distance)."""
    return Composite((Revolute(axis), Prismatic(axis)))


def universal(first: Axis, second: Axis) -> Composite:
    """Two angles about axes through one point, the second axis carried by the first."""
    return Composite((Revolute(first), Revolute(second)))


def planar(x: Axis = AXES["x"], y: Axis = AXES["y"]) -> Composite:
    """Sliding in the plane of x and y and turning about its normal: q = (x, y, angle)."""
    normal = given_axis(x).cross(given_axis(y))
    return Composite((Prismatic(x), Prismatic(y), Revolute(normal)))


def euler(sequence: str) -> Composite:
    """Three angles about coordinate axes, each carried by the one before: Liu & Jain eq. 52."""
    if sequence not in EULER_SEQUENCES:
        raise ModelError(
            f"{sequence!r} is no sequence of Euler angles: valid are {', '.join(EULER_SEQUENCES)}"
        )
    return Composite(tuple(Revolute(AXES[letter]) for letter in sequence))


def free_motion(orientation: Joint) -> Composite:
    """Six free degrees of freedom: q = (x, y, z, then the chart of an orientation).

    The velocities of x, y, z are in the parent's axes, those of the orientation as it has them.
    """
    return Composite((*(Prismatic(axis) for axis in AXES.values()), orientation))
