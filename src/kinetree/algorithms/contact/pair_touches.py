"""The touches of a robot's pairs of shapes at a state; bounding spheres rule out distant pairs.

Source: C. Ericson, Real-Time Collision Detection (2005), section 4.3, for balls around shapes.

    symbol    code       meaning
    X         X1, X2     the poses of two shapes
    r         reach      the distance below which shapes count as touching

Cost: a comparison for each pair, and that of the pairs whose balls meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.algorithms.contact.contact_rows import reach
from kinetree.algorithms.contact.of_robot import collider_poses
from kinetree.algorithms.contact.touch import FAR, Touch
from kinetree.algorithms.contact.touches import touches
from kinetree.algorithms.tree import body_poses, parent_transforms
from kinetree.model import Model
from kinetree.model.geometry import Collider, ContactPair, Solid
from kinetree.scalar import Scalar, call_if, less, logical_or
from kinetree.spatial import Rotation, Transform, Vector3


@dataclass(frozen=True)
class TouchesOf:
    """The touches of two shapes, as a function of their poses; equal for equal shapes."""

    first: Solid
    second: Solid
    reach: float

    def __call__(self, X1: Transform, X2: Transform) -> list[Touch]:
        return touches(self.first, X1, self.second, X2, self.reach)


class PairTouches:
    """The shapes of a robot at a state."""

    def __init__(self, model: Model, q: Sequence[Scalar]) -> None:
        self.model = model
        self._X0 = [plain(X) for X in body_poses(model, parent_transforms(model, q))]
        self._X = {name: plain(X) for name, X in collider_poses(model, self._X0).items()}
        self._colliders = {collider.name: collider for collider in model.colliders}
        self._functions: dict[Any, Callable[..., Any]] = {}

    def _found(
        self, pairs: Sequence[ContactPair], branches: bool
    ) -> tuple[list[tuple[ContactPair, list[Touch]]], Scalar]:
        """The touches of pairs, and whether any pair touches."""
        found = [(pair, self._touches(pair, branches)) for pair in pairs]
        near: Scalar = False
        for pair, own in found:
            for touch in own:
                near = logical_or(near, less(touch.distance, reach(pair)))
        return found, near

    def _touches(self, pair: ContactPair, branches: bool) -> list[Touch]:
        """The touches of a pair; at the distance FAR if its bounding spheres do not overlap."""
        first, second = self._sides(pair)
        X1, X2 = self._X[pair.first], self._X[pair.second]
        function = TouchesOf(first.shape, second.shape, reach(pair))
        close = self._close(pair) if branches else True
        if close is True:
            return function(X1, X2)
        far = [
            Touch(FAR, Vector3.zero(), Vector3(0.0, 0.0, 1.0), t.axis and Vector3.zero())
            for t in function(Transform.identity(), _BESIDE)
        ]
        return call_if(close, function, X1, X2, otherwise=far)

    def _close(self, pair: ContactPair) -> Scalar:
        """Whether the bounding spheres of two shapes overlap; True if a shape has none."""
        first, second = self._sides(pair)
        radii = first.shape.bounding_radius, second.shape.bounding_radius
        if radii[0] is None or radii[1] is None:
            return True
        apart = self._X[pair.second].translation - self._X[pair.first].translation
        return less(apart.dot(apart), (radii[0] + radii[1] + reach(pair)) ** 2)

    def _sides(self, pair: ContactPair) -> tuple[Collider, Collider]:
        return self._colliders[pair.first], self._colliders[pair.second]


_BESIDE = Transform(Rotation.identity(), Vector3(1.0, 1.0, 1.0))
"""An arbitrary pose of the second shape, at which a pair's touches are counted."""


def plain(X: Transform) -> Transform:
    """A transform whose rotation is nine scalars."""
    return Transform(Rotation(*X.rotation.rows), X.translation)
