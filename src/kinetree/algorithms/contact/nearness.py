"""Near pairs of shapes: their nearest points, and the joints that move them apart.

Source: Schulman et al. (2014), as in `avoidance`.

Cost: a few operations a pair; that of its distance where it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from kinetree.algorithms.contact.touch import Touch, chosen, clip
from kinetree.algorithms.contact.touches import touches
from kinetree.algorithms.tree import ancestors, subspaces
from kinetree.model import Model
from kinetree.model.geometry import Box, Capsule, Solid
from kinetree.scalar import Scalar, less
from kinetree.spatial import Transform, Twist, Vector3

NEAREST_FIRST = {(Capsule, Capsule), (Capsule, Box), (Box, Capsule)}
"""Pairs of kinds whose first touch is the nearest; for others distances are compared."""


def nearest(first: Solid, X1: Transform, second: Solid, X2: Transform) -> Touch:
    """The nearest points of two shapes, or their deepest penetration."""
    found = touches(first, X1, second, X2)
    if (type(first), type(second)) in NEAREST_FIRST:
        return found[0]
    best = found[0]
    for touch in found[1:]:
        best = chosen(less(touch.distance, best.distance), touch, best)
    return best


def world_axes(model: Model, q: Sequence[Scalar], X0: Sequence[Transform]) -> list[Twist]:
    """S_k: the motion of the bodies that a unit velocity carries, at the origin of the world."""
    axes = [Twist.zero()] * model.nv
    for i, Phi in enumerate(subspaces(model, q)):
        for k, axis in enumerate(Phi, model.v_slices[i].start):
            axes[k] = axes[k] + X0[i].to_parent(axis)
    return axes


def path_signs(model: Model, first: int, second: int) -> dict[int, float]:
    """The velocities that move one body relative to another: 1 on its own side, -1 on the other."""
    carries = set(ancestors(model, first))
    common = next((i for i in ancestors(model, second) if i in carries), None)
    signs: dict[int, float] = {}
    for body, sign in ((first, -1.0), (second, 1.0)):
        for i in takewhile(lambda i: i != common, ancestors(model, body)):
            at = model.v_slices[i]
            signs |= dict.fromkeys(range(at.start, at.stop), sign)
    return signs


def near(first: Solid, X1: Transform, second: Solid, X2: Transform, reach: Scalar) -> Scalar:
    """Whether a shape's bounding sphere is near a box, or near another's bounding sphere."""
    if isinstance(first, Box) and not isinstance(second, Box):
        return near(second, X2, first, X1, reach)
    r1, r2 = first.bounding_radius, second.bounding_radius
    if r1 is None or r2 is None:
        return less(0.0, reach + 1.0)  # planes and fields: always
    apart = X1.translation - X2.translation
    if isinstance(second, Box):
        local = X2.rotation.T @ apart
        bounds = zip(local, second.half_edges, strict=True)
        apart, r2 = Vector3(*(x - clip(x, -h, h) for x, h in bounds)), 0.0
    return less(apart.dot(apart), (reach + (r1 + r2)) * (reach + (r1 + r2)))
