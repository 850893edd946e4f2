"""Shapes that can touch each other. Each is given in a frame of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.arguments import given_number, given_numbers

Point = tuple[float, float, float]
SMALLEST_AREA = 1e-15
"""m^2: triangles below it have no normal."""


@dataclass(frozen=True)
class Solid:
    """A shape in its own frame, solid inside."""

    @property
    def kind(self) -> str:
        """Its name in messages: "capsule"."""
        return type(self).__name__.lower()

    @property
    def bounding_radius(self) -> float | None:
        """The radius of a bounding sphere about the origin, m; None if it is unbounded."""
        return None

    def _take(self, name: str, value: Any) -> None:
        """Set a field to the normalised form of the given value."""
        object.__setattr__(self, name, value)

    def _lengths(self) -> None:
        """Refuse a length that is not a number larger than zero."""
        for field in fields(self):
            what = f"{self.kind}: {field.name}"
            value = given_number(what, getattr(self, field.name))
            if value <= 0.0:
                raise ModelError(f"{what}={value!r}: more than zero is expected, m")
            self._take(field.name, value)

    def _three_lengths(self, name: str) -> None:
        """Refuse three lengths that are not numbers larger than zero."""
        what = f"{self.kind}: {name}"
        values = tuple(given_numbers(what, getattr(self, name), (3,)).tolist())
        if min(values) <= 0.0:
            raise ModelError(f"{what}={values!r}: three lengths above zero are expected, m")
        self._take(name, values)


@dataclass(frozen=True)
class Plane(Solid):
    """The plane z = 0 of its frame, solid below; its normal is +z."""


@dataclass(frozen=True)
class Rectangle(Solid):
    """A rectangle in the plane z = 0 about the origin, which a rangefinder meets from above.

    Arguments:
        half_x, half_y: half of its extent along x and y, m; infinite for no bound.
    """

    half_x: float = math.inf
    half_y: float = math.inf

    def __post_init__(self) -> None:
        for name in ("half_x", "half_y"):
            value: Any = getattr(self, name)
            if not isinstance(value, (int, float)) or not value > 0.0:
                what = f"rectangle: {name}={value!r}"
                raise ModelError(f"{what}: more than zero is expected, m")
            self._take(name, float(value))


@dataclass(frozen=True)
class Sphere(Solid):
    """A ball about the origin.

    Arguments:
        radius: m.
    """

    radius: float

    def __post_init__(self) -> None:
        self._lengths()

    @property
    def bounding_radius(self) -> float | None:
        return self.radius


@dataclass(frozen=True)
class Capsule(Solid):
    """All points within a radius of a segment of the z axis.

    Arguments:
        radius: m.
        half_length: of the segment, which reaches from -half_length to half_length, m.
    """

    radius: float
    half_length: float

    def __post_init__(self) -> None:
        self._lengths()

    @property
    def bounding_radius(self) -> float | None:
        return self.radius + self.half_length


@dataclass(frozen=True)
class Cylinder(Solid):
    """A cylinder about the z axis.

    Arguments:
        radius: m.
        half_length: it reaches from -half_length to half_length, m.
    """

    radius: float
    half_length: float

    def __post_init__(self) -> None:
        self._lengths()

    @property
    def bounding_radius(self) -> float | None:
        return math.hypot(self.radius, self.half_length)


@dataclass(frozen=True)
class Box(Solid):
    """A cuboid about the origin, its edges along the axes.

    Arguments:
        half_edges: half of its extent along x, y and z, m.
    """

    half_edges: Point

    def __post_init__(self) -> None:
        self._three_lengths("half_edges")

    @property
    def bounding_radius(self) -> float | None:
        return math.hypot(*self.half_edges)


@dataclass(frozen=True)
class Ellipsoid(Solid):
    """An ellipsoid about the origin, its axes along those of the frame.

    Arguments:
        half_axes: half of its extent along x, y and z, m.
    """

    half_axes: Point

    def __post_init__(self) -> None:
        self._three_lengths("half_axes")

    @property
    def bounding_radius(self) -> float | None:
        return max(self.half_axes)


@dataclass(frozen=True)
class ConvexMesh(Solid):
    """The convex hull of points.

    Arguments:
        vertices: at least four points that do not lie in one plane, m. Points inside their hull
            are left out.
    """

    vertices: tuple[Point, ...]

    def __post_init__(self) -> None:
        self._take("vertices", hull_vertices(self.vertices))

    @property
    def kind(self) -> str:
        return "mesh"

    @property
    def bounding_radius(self) -> float | None:
        return max(math.hypot(*vertex) for vertex in self.vertices)


@dataclass(frozen=True)
class Triangles(Solid):
    """A surface of triangles, which rays meet from both sides; nothing touches it.

    Arguments:
        corners: three points for each triangle, m. Triangles without area are left out.
    """

    corners: tuple[tuple[Point, Point, Point], ...]

    def __post_init__(self) -> None:
        given = np.asarray(self.corners, dtype=float).reshape(-1, 3, 3)
        a, b, c = given.swapaxes(0, 1)
        doubled = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        kept = given[doubled > SMALLEST_AREA].tolist()
        self._take("corners", tuple(tuple(map(tuple, triangle)) for triangle in kept))


def hull_vertices(points: Any) -> tuple[Point, ...]:
    """The corners of the convex hull of points, in the order in which they are given.

    Arguments:
        points: n points, (n, 3), m.

    Returns:
        Points.
    """
    try:
        given = np.asarray(points, dtype=float)
    except (TypeError, ValueError, OverflowError):
        given = np.zeros(0)
    if given.ndim != 2 or given.shape[1] != 3 or not np.isfinite(given).all():
        raise ModelError("mesh: vertices must be finite points, an (n, 3) array of numbers")
    flat = f"mesh: its {len(given)} vertices lie in one plane: a body with volume is expected"
    if len(given) < 4:
        raise ModelError(flat)
    from scipy.spatial import ConvexHull, QhullError  # importing takes time

    try:
        kept = np.sort(ConvexHull(given).vertices)
    except QhullError:
        raise ModelError(flat) from None
    return tuple((x, y, z) for x, y, z in given[kept].tolist())


@dataclass(frozen=True)
class HeightField(Solid):
    """Uneven ground: heights above the plane z = 0 of its frame on a rectangular grid.

    Between the points of the grid the height is interpolated linearly along x and along y. Outside
    the grid it is that of the nearest point of the edge.

    Arguments:
        heights: a row for each y from -half_y to half_y, a number for each x from -half_x to
            half_x; at least two rows of two, m.
        half_x, half_y: half of the extent of the grid, m.
    """

    heights: tuple[tuple[float, ...], ...]
    half_x: float
    half_y: float

    def __post_init__(self) -> None:
        for name in ("half_x", "half_y"):
            what = f"height field: {name}"
            value = given_number(what, getattr(self, name))
            if value <= 0.0:
                raise ModelError(f"{what}={value!r}: more than zero is expected, m")
            self._take(name, value)
        self._take("heights", _grid(self.heights))

    @property
    def kind(self) -> str:
        return "height field"


def _grid(heights: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """The rows of a grid of heights."""
    try:
        grid = np.asarray(heights, dtype=float)
    except (TypeError, ValueError, OverflowError):
        grid = np.zeros(0)
    if grid.ndim != 2 or min(grid.shape) < 2 or not np.isfinite(grid).all():
        raise ModelError(
            "height field: heights must be finite numbers, at least two rows of two of them, all "
            "rows of one length"
        )
    return tuple(map(tuple, grid.tolist()))
