"""The touch of two shapes, or their closest points: the results of the functions of pairs.

A pair of shapes has as many touches as its kinds allow, in every state: a slot that is not used in
a state has the distance `FAR`. Points and directions are in the world.

Roots and quotients are guarded: a value that does not exist (the direction of a zero vector) is
replaced by one that does, before it is computed, so that neither it nor its derivative is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.scalar import Scalar, less, maximum, minimum, select, sqrt
from kinetree.spatial import Transform, Vector3

FAR = 1e6
"""m: the distance of a slot that is not used."""
TINY = 1e-30
"""m^2: vectors whose square is less have no direction."""
UNIT_X = Vector3(1, 0, 0)


@dataclass(frozen=True)
class Touch:
    """Two shapes near one point.

    Attributes:
        distance: between the surfaces, m; negative where the shapes overlap.
        point: midway between the surfaces.
        normal: a unit vector from the first shape to the second.
        axis: the direction that the first tangent follows; None where any tangent will do.
    """

    distance: Scalar
    point: Vector3
    normal: Vector3
    axis: Vector3 | None = None

    def reversed(self) -> Touch:
        """The same touch of the two shapes in the other order.

        Returns:
            A touch.
        """
        return replace(self, normal=-self.normal)


def z_axis(X: Transform) -> Vector3:
    """The z axis of a frame in the world."""
    return Vector3(*(row.z for row in X.rotation.rows))


def either(condition: Scalar, a: Vector3, b: Vector3) -> Vector3:
    """The first vector where the condition holds, else the second."""
    return Vector3(*(select(condition, x, y) for x, y in zip(a, b, strict=True)))


def clip(x: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    """The nearest number between two bounds."""
    return minimum(maximum(x, lower), upper)


def length_of(v: Vector3) -> Scalar:
    """The length of a vector; zero, with zero derivative, where it has no direction."""
    square = v.dot(v)
    none = less(square, TINY)
    return select(none, 0.0, sqrt(select(none, 1.0, square)))


def direction(v: Vector3, otherwise: Vector3) -> tuple[Scalar, Vector3]:
    """The length of a vector and its direction.

    Arguments:
        v: any vector.
        otherwise: the direction of a vector that has none.
    """
    square = v.dot(v)
    none = less(square, TINY)
    length = sqrt(select(none, 1.0, square))
    return select(none, 0.0, length), either(none, otherwise, v * (1 / length))


def between_balls(
    first: Vector3, radius1: Scalar, second: Vector3, radius2: Scalar, otherwise: Vector3
) -> Touch:
    """The touch of two balls.

    Arguments:
        first, radius1, second, radius2: their centres and radii.
        otherwise: the normal if the centres coincide.
    """
    centers, normal = direction(second - first, otherwise)
    distance = centers - (radius1 + radius2)
    return Touch(distance, first + normal * (distance * 0.5 + radius1), normal)


def common_normal(X1: Transform, X2: Transform) -> Vector3:
    """The normal of balls with one centre: perpendicular to both z axes, or x if they agree."""
    return direction(z_axis(X1).cross(z_axis(X2)), UNIT_X)[1]


def chosen(condition: Scalar, a: Touch, b: Touch) -> Touch:
    """The first touch where the condition holds, else the second; their axes must be alike."""
    return Touch(
        select(condition, a.distance, b.distance),
        either(condition, a.point, b.point),
        either(condition, a.normal, b.normal),
        a.axis,
    )


def lowest(values: Sequence[Scalar], points: Sequence[Vector3]) -> tuple[Scalar, Vector3]:
    """The smallest of some values, and the point that belongs to it."""
    best, where = values[0], points[0]
    for value, point in zip(values[1:], points[1:], strict=True):
        lower = less(value, best)
        best, where = select(lower, value, best), either(lower, point, where)
    return best, where
