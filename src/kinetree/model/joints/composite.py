"""Joints in series with nothing between them: cylindrical, universal, planar, Euler angles, charts.

With X_k the transform of everything after part k, the axes of part k are, in the body's frame,
X_k^-1 Phi_k; they move as the later parts turn the body under them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.arguments import Axis, given_axis
from kinetree.model.joints.answers import Chart, Label, UrdfElement
from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.base import Joint
from kinetree.model.joints.continuity import nearest_of_two
from kinetree.model.joints.inverse import nearest_coordinates
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.model.joints.series import second_solution, series_coordinates
from kinetree.model.plane import plane_axes
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist, Vector3

T = TypeVar("T")
AXES = {"x": Vector3(1, 0, 0), "y": Vector3(0, 1, 0), "z": Vector3(0, 0, 1)}
SAME_AXIS = 1e-12
REPEATED = {"distance": ("x", "y", "z"), "speed": ("vx", "vy", "vz")}
"""What several translations in one joint are called."""
EULER_SEQUENCES = tuple(a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c)


@dataclass(frozen=True)
class Composite(Joint):
    """Joints in series, the first next to the parent, each with its own coordinates.

    Arguments:
        parts: the joints.
    """

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
        for part, q_part in zip(self.parts, self._coordinates(q), strict=True):
            total = total @ part.transform(q_part)
        return total

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        columns: list[Twist] = []
        after = Transform.identity()
        for part, q_part in reversed(list(zip(self.parts, self._coordinates(q), strict=True))):
            columns[:0] = [after.to_child(axis) for axis in part.subspace(q_part)]
            after = part.transform(q_part) @ after
        return tuple(columns)

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        rates: list[Twist] = []
        after, V = Transform.identity(), Twist.zero()  # V: of the body, by the later parts
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        for part, q_part, v_part in reversed(list(pieces)):
            axes = [after.to_child(axis) for axis in part.subspace(q_part)]
            part_rates = [after.to_child(rate) for rate in part.subspace_rate(q_part, v_part)]
            rates[:0] = [r - V.cross(axis) for r, axis in zip(part_rates, axes, strict=True)]
            for axis, speed in zip(axes, v_part, strict=True):
                V = V + axis * speed
            after = part.transform(q_part) @ after
        return tuple(rates)

    def neutral(self) -> tuple[float, ...]:
        return tuple(x for part in self.parts for x in part.neutral())

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        pieces = zip(self.parts, self._coordinates(values), strict=True)
        return [x for part, q_part in pieces for x in part.coordinates(q_part)]

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q), strict=True)
        return [x for part, q_part in pieces for x in part.normalized(q_part)]

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        return [x for part, q_part, v_part in pieces for x in part.coordinate_rates(q_part, v_part)]

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        return [x for part, q_part, v_part in pieces for x in part.integrate(q_part, v_part)]

    def turning(self, v: Sequence[Scalar], w: Sequence[Scalar]) -> Sequence[Scalar]:
        pieces = zip(self.parts, self._velocities(v), self._velocities(w), strict=True)
        added = [(part.turning(v_part, w_part), part.nv) for part, v_part, w_part in pieces]
        if not any(terms for terms, _ in added):
            return ()
        return [x for terms, nv in added for x in terms or [0] * nv]

    def advance(
        self, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar
    ) -> tuple[list[Scalar], list[Scalar]]:
        pieces = zip(self.parts, self._coordinates(q), self._velocities(v), strict=True)
        moved = [part.advance(q_part, v_part, dt) for part, q_part, v_part in pieces]
        return [x for q_part, _ in moved for x in q_part], [
            x for _, v_part in moved for x in v_part
        ]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(q0), self._coordinates(q1), strict=True)
        return [x for part, start, end in pieces for x in part.difference(start, end)]

    def transported(
        self, q0: Sequence[Scalar], q1: Sequence[Scalar], v: Sequence[Scalar]
    ) -> list[Scalar]:
        ends = zip(self._coordinates(q0), self._coordinates(q1), self._velocities(v), strict=True)
        pieces = zip(self.parts, ends, strict=True)
        return [x for part, given in pieces for x in part.transported(*given)]

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        pieces = series_coordinates(self._flat_parts, X)
        if pieces is None:
            return nearest_coordinates(self, X)
        return [x for piece in pieces for x in piece]

    def continued(self, path: Any) -> Any:
        pieces = np.split(path, np.cumsum([part.nq for part in self.parts])[:-1], axis=1)
        turning = [k for k, part in enumerate(self.parts) if isinstance(part, Revolute)]
        other = second_solution([self.parts[k] for k in turning])
        if other is not None:
            angles = nearest_of_two(np.concatenate([pieces[k] for k in turning], axis=1), other)
            for k, column in zip(turning, angles.T, strict=True):
                pieces[k] = column[:, None]
        pairs = zip(self.parts, pieces, strict=True)
        return np.concatenate([part.continued(piece) for part, piece in pairs], axis=1)

    @property
    def _flat_parts(self) -> tuple[Joint, ...]:
        """The parts, those of a composite one by one."""
        inner = (p._flat_parts if isinstance(p, Composite) else (p,) for p in self.parts)
        return tuple(part for parts in inner for part in parts)

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        pieces = zip(self.parts, self._coordinates(rest), self._coordinates(q), strict=True)
        return [x for part, start, end in pieces for x in part.displacement(start, end)]

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        pieces = zip(self.parts, self._coordinates(lower), self._coordinates(upper), strict=True)
        return np.concatenate([part.sample(rng, batch, a, b) for part, a, b in pieces], axis=-1)

    def coordinate_labels(self) -> tuple[Label, ...]:
        return _distinct([label for part in self.parts for label in part.coordinate_labels()])

    def velocity_labels(self) -> tuple[Label, ...]:
        return _distinct([label for part in self.parts for label in part.velocity_labels()])

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        pieces = zip(self.parts, self._coordinates(lower), self._coordinates(upper), strict=True)
        return sum(part.travel(a, b) for part, a, b in pieces)

    def singular_part(self) -> Joint:
        return self.parts[-1] if self._is_free_motion else self

    def snapped(self) -> Joint:
        return Composite(tuple(part.snapped() for part in self.parts))

    def _relocated(self, at: Transform) -> Joint:
        return Composite(tuple(part.relocated(at) for part in self.parts))

    def factors(self) -> tuple[Joint | Transform, ...]:
        return self.parts

    def in_chart(self, chart: Chart) -> Joint | None:
        if self._euler_sequence:
            return chart.orientation
        free = self._is_free_motion and self.parts[-1].in_chart(chart) == chart.orientation
        return chart.motion if free else None

    def urdf(self) -> UrdfElement | None:
        """URDF's planar joint has only a normal: x and y follow from it."""
        last = self.parts[-1]
        if not isinstance(last, AxisJoint):
            return None
        known = planar(*plane_axes(last.axis))
        return UrdfElement("planar", last.axis) if _nearly(self, known) else None

    @property
    def _euler_sequence(self) -> str:
        """The sequence whose `euler` it is, or the empty string."""
        return next((sequence for sequence in EULER_SEQUENCES if self == euler(sequence)), "")

    @property
    def _is_free_motion(self) -> bool:
        return self == free_motion(self.parts[-1])


def _nearly(a: Composite, b: Composite) -> bool:
    """Whether two joints on axes are the same up to the rounding of their axes."""
    return len(a.parts) == len(b.parts) and all(
        isinstance(p, AxisJoint)
        and isinstance(r, AxisJoint)
        and type(p) is type(r)
        and math.dist(p.axis, r.axis) < SAME_AXIS
        for p, r in zip(a.parts, b.parts, strict=True)
    )


def _distinct(labels: list[Label]) -> tuple[Label, ...]:
    """Labels with repeated names told apart."""
    names = [label.name for label in labels]
    fresh = {name: iter(_told_apart(name, names.count(name))) for name in names}
    return tuple(Label(next(fresh[name]), unit) for name, unit in labels)


def _told_apart(name: str, count: int) -> Sequence[str]:
    """As many names as there are coordinates of one name."""
    if count == 1:
        return [name]
    letters = REPEATED.get(name, ())
    return letters if count <= len(letters) else [f"{name}{k + 1}" for k in range(count)]


def _split(values: Sequence[T], counts: Sequence[int]) -> list[Sequence[T]]:
    """Consecutive pieces of these lengths."""
    ends = list(accumulate(counts, initial=0))
    return [values[start:end] for start, end in pairwise(ends)]


def cylindrical(axis: Axis) -> Composite:
    """An angle about an axis and a distance along it: q = (angle, distance).

    Arguments:
        axis: as in `Revolute`.

    Returns:
        A joint of two coordinates, rad and m.
    """
    return Composite((Revolute(axis), Prismatic(axis)))


def universal(first: Axis, second: Axis) -> Composite:
    """Two angles about axes through one point, the second axis carried by the first.

    Arguments:
        first, second: the axes, as in `Revolute`.

    Returns:
        A joint of two coordinates, rad.
    """
    return Composite((Revolute(first), Revolute(second)))


def planar(x: Axis = AXES["x"], y: Axis = AXES["y"]) -> Composite:
    """Sliding in the plane of x and y and turning about its normal: q = (x, y, angle).

    Arguments:
        x, y: the axes of the plane, as in `Prismatic`.

    Returns:
        A joint of three coordinates, m, m and rad.
    """
    normal = given_axis(x).cross(given_axis(y))
    return Composite((Prismatic(x), Prismatic(y), Revolute(normal)))


def euler(sequence: str) -> Composite:
    """Three angles about coordinate axes, each carried by the one before: Liu & Jain eq. 52.

    Arguments:
        sequence: the letters of the axes, such as "zyx"; one of `EULER_SEQUENCES`.

    Returns:
        A joint of three coordinates, rad.
    """
    if sequence not in EULER_SEQUENCES:
        raise ModelError(
            f"{sequence!r} is no sequence of Euler angles: valid are {', '.join(EULER_SEQUENCES)}"
        )
    return Composite(tuple(Revolute(AXES[letter]) for letter in sequence))


def free_motion(orientation: Joint) -> Composite:
    """Six free degrees of freedom: q = (x, y, z, then the chart of an orientation).

    The velocities of x, y, z are in the parent's axes, the others are those of the orientation.

    Arguments:
        orientation: `ExponentialBall()`, `euler(...)` or `Ball()`.

    Returns:
        A joint of six coordinates, or seven with a quaternion.
    """
    return Composite((*(Prismatic(axis) for axis in AXES.values()), orientation))
