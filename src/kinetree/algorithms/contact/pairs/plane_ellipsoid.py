"""A plane and an ellipsoid: one touch at its lowest point."""

from __future__ import annotations

from kinetree.algorithms.contact.pairs.plane_sphere import above
from kinetree.algorithms.contact.touch import Touch, z_axis
from kinetree.model.geometry import Ellipsoid, Plane
from kinetree.scalar import Scalar, sqrt
from kinetree.spatial import Transform, Vector3


def plane_ellipsoid(
    plane: Plane, X1: Transform, ellipsoid: Ellipsoid, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of a plane and an ellipsoid."""
    down = -(X2.rotation.T @ z_axis(X1))
    scaled = Vector3(*(x * a for x, a in zip(down, ellipsoid.half_axes, strict=True)))
    share = 1 / sqrt(scaled.dot(scaled))
    lowest = Vector3(*(x * a * share for x, a in zip(scaled, ellipsoid.half_axes, strict=True)))
    return [above(X1, X2.point(lowest))]
