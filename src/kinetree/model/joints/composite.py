"""Joints in series with nothing between them: cylindrical, universal, planar, Euler angles.

With X_k the transform of everything after part k, the axes of part k are, in the body's frame,
X_k^-1 Phi_k; they move as the later parts turn the body under them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.joints.base import Joint
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.scalar import Scalar
from kinetree.spatial import Motion, Transform, Vector3

AXES = {"x": Vector3(1, 0, 0), "y": Vector3(0, 1, 0), "z": Vector3(0, 0, 1)}
EULER_SEQUENCES = tuple(a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c)


@dataclass(frozen=True)
class Composite(Joint):
    """Parts in series, the first next to the parent; in each of them v is the rate of q."""

    parts: tuple[Joint, ...]

    @property
    def nq(self) -> int:
        return sum(part.nq for part in self.parts)

    @property
    def nv(self) -> int:
        return sum(part.nv for part in self.parts)

    def _split(self, values: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        """The coordinates (or velocities) of each part."""
        pieces, start = [], 0
        for part in self.parts:
            pieces.append(values[start : start + part.nv])
            start += part.nv
        return pieces

    def transform(self, q: Sequence[Scalar]) -> Transform:
        total = Transform.identity()
        for part, own in zip(self.parts, self._split(q), strict=True):
            total = total @ part.transform(own)
        return total

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        columns: list[Motion] = []
        after = Transform.identity()
        for part, own in reversed(list(zip(self.parts, self._split(q), strict=True))):
            columns[:0] = [after.to_child(axis) for axis in part.subspace(own)]
            after = part.transform(own) @ after
        return tuple(columns)

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        rates: list[Motion] = []
        after, V = Transform.identity(), Motion.zero()  # V: of the body, by the later parts
        pieces = zip(self.parts, self._split(q), self._split(v), strict=True)
        for part, own, speeds in reversed(list(pieces)):
            axes = [after.to_child(axis) for axis in part.subspace(own)]
            own_rates = [after.to_child(rate) for rate in part.subspace_rate(own, speeds)]
            rates[:0] = [r - V.cross(axis) for r, axis in zip(own_rates, axes, strict=True)]
            for axis, speed in zip(axes, speeds, strict=True):
                V = V + axis * speed
            after = part.transform(own) @ after
        return tuple(rates)


def cylindrical(axis: Vector3) -> Composite:
    """An angle about an axis and a distance along it: q = (angle, distance)."""
    return Composite((Revolute(axis), Prismatic(axis)))


def universal(first: Vector3, second: Vector3) -> Composite:
    """Two angles about axes through one point, the second axis carried by the first."""
    return Composite((Revolute(first), Revolute(second)))


def planar(x: Vector3 = AXES["x"], y: Vector3 = AXES["y"]) -> Composite:
    """Sliding in the plane of x and y and turning about its normal: q = (x, y, angle)."""
    return Composite((Prismatic(x), Prismatic(y), Revolute(x.cross(y))))


def euler(sequence: str) -> Composite:
    """Three angles about coordinate axes, each carried by the one before: Liu & Jain eq. 52."""
    if sequence not in EULER_SEQUENCES:
        raise ValueError(
            f"{sequence!r} is no sequence of Euler angles: valid are {', '.join(EULER_SEQUENCES)}"
        )
    return Composite(tuple(Revolute(AXES[letter]) for letter in sequence))
