"""Where a ray meets a shape: the distance along it, or -1.

Source: C. Ericson, Real-Time Collision Detection (2005), section 5.3; which of the two sides of a
surface counts is as in MuJoCo (mju_rayGeom): a ray that starts inside a shape meets its far side,
and a plane is met from above.

    symbol    code          meaning
    p, d      p, d          start and direction of the ray, in the frame of the shape
    s         s             distance along it: p + s d is on the surface
    q, b, c   quadratic     q s^2 + 2 b s + c = 0

Cost: O(1) for a ray and a shape.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.ray_surfaces import FAR, Meetings
from kinetree.algorithms.ray_surfaces import SURFACES as SOLID_SURFACES
from kinetree.algorithms.ray_triangles import triangles
from kinetree.model.geometry import Triangles
from kinetree.model.geometry.shapes import Solid
from kinetree.scalar import Scalar, less, minimum, select
from kinetree.spatial import Transform, Vector3

SURFACES = SOLID_SURFACES | {Triangles: triangles}
NONE = -1.0
"""The distance of what a ray does not meet."""


def ray(shape: Solid, X: Transform, start: Vector3, direction: Vector3) -> Scalar:
    """The distance at which a ray meets a shape, in lengths of its direction; -1 if nowhere.

    Arguments:
        shape: one that `can_meet`.
        X: its pose.
        start, direction: of the ray, in the same axes as the pose.
    """
    p, d = X.inverse().point(start), X.rotation.T @ direction
    return _shown(nearest(SURFACES[type(shape)](shape, p, d)))


def nearest_along(
    shapes: Sequence[tuple[Solid, Transform]], start: Vector3, direction: Vector3
) -> Scalar:
    """The distance at which a ray meets the first of some shapes; -1 if none."""
    found: Meetings = [FAR]
    for shape, X in shapes:
        p, d = X.inverse().point(start), X.rotation.T @ direction
        found += SURFACES[type(shape)](shape, p, d)
    return _shown(nearest(found))


def can_meet(shape: Solid) -> bool:
    """Whether there is a function for a shape."""
    return type(shape) in SURFACES


def nearest(found: Meetings) -> Scalar:
    """The smallest of some distances."""
    best = found[0]
    for other in found[1:]:
        best = minimum(best, other)
    return best


def _shown(s: Scalar) -> Scalar:
    return select(less(s, 0.5 * FAR), s, NONE)
