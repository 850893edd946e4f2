"""Every touch of a pair of shapes, for each pair of kinds.

The number of contacts and where they are follow MuJoCo (engine_collision_primitive.c,
engine_collision_box.c): E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based
control, IROS 2012, doi 10.1109/IROS.2012.6386109.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms.contact.pairs.box_box import box_box
from kinetree.algorithms.contact.pairs.boxes_apart import boxes_apart
from kinetree.algorithms.contact.pairs.capsule_box import capsule_box
from kinetree.algorithms.contact.pairs.capsule_capsule import capsule_capsule
from kinetree.algorithms.contact.pairs.height_field import field_capsule, field_sphere
from kinetree.algorithms.contact.pairs.plane_box import plane_box
from kinetree.algorithms.contact.pairs.plane_capsule import plane_capsule
from kinetree.algorithms.contact.pairs.plane_cylinder import plane_cylinder
from kinetree.algorithms.contact.pairs.plane_ellipsoid import plane_ellipsoid
from kinetree.algorithms.contact.pairs.plane_mesh import plane_mesh
from kinetree.algorithms.contact.pairs.plane_sphere import plane_sphere
from kinetree.algorithms.contact.pairs.sphere_box import sphere_box
from kinetree.algorithms.contact.pairs.sphere_capsule import sphere_capsule
from kinetree.algorithms.contact.pairs.sphere_cylinder import sphere_cylinder
from kinetree.algorithms.contact.pairs.sphere_sphere import sphere_sphere
from kinetree.algorithms.contact.touch import Touch
from kinetree.model.geometry import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Solid,
    Sphere,
)
from kinetree.scalar import Scalar
from kinetree.spatial import Transform

PairFunction = Callable[[Any, Transform, Any, Transform, Scalar], list[Touch]]
PAIRS: dict[tuple[type[Solid], type[Solid]], PairFunction] = {
    (Plane, Sphere): plane_sphere,
    (Plane, Capsule): plane_capsule,
    (Plane, Cylinder): plane_cylinder,
    (Plane, Ellipsoid): plane_ellipsoid,
    (Plane, Box): plane_box,
    (Plane, ConvexMesh): plane_mesh,
    (HeightField, Sphere): field_sphere,
    (HeightField, Capsule): field_capsule,
    (Sphere, Sphere): sphere_sphere,
    (Sphere, Capsule): sphere_capsule,
    (Sphere, Cylinder): sphere_cylinder,
    (Sphere, Box): sphere_box,
    (Capsule, Capsule): capsule_capsule,
    (Capsule, Box): capsule_box,
    (Box, Box): box_box,
}
"""The function of each pair of kinds, in one of the two orders."""
APART: dict[tuple[type[Solid], type[Solid]], PairFunction] = {(Box, Box): boxes_apart}
"""Functions that are exact beyond the margin, too, for pairs whose function in `PAIRS` gives less
than the distance there. Contacts do not need them: they act within the margin."""


def touches(
    first: Solid,
    X1: Transform,
    second: Solid,
    X2: Transform,
    margin: Scalar = 0.0,
    apart: bool = False,
) -> list[Touch]:
    """The touches of two shapes; equally many slots in every state.

    Arguments:
        first, second: the shapes.
        X1, X2: their poses in the world.
        margin: the distance below which a touch counts, where there are more of them than slots.
        apart: whether distances are exact beyond the margin, too.

    Returns:
        A touch for each slot.
    """
    kinds = type(first), type(second)
    function = APART.get(kinds) if apart else None
    function = function or PAIRS.get(kinds)
    if function is not None:
        return function(first, X1, second, X2, margin)
    function = PAIRS[type(second), type(first)]
    return [t.reversed() for t in function(second, X2, first, X1, margin)]


def can_touch(first: Solid, second: Solid) -> bool:
    """Whether there is a function for two shapes.

    Arguments:
        first, second: the shapes.
    """
    kinds = (type(first), type(second))
    return kinds in PAIRS or kinds[::-1] in PAIRS


def slot_count(first: Solid, second: Solid) -> int:
    """The number of touches of two shapes.

    Arguments:
        first, second: the shapes.
    """
    return len(touches(first, Transform.identity(), second, Transform.identity()))
