"""Pairs of shapes that are to stay apart: terms of a least-squares problem.

Source: the distance of two shapes changes as their nearest points move along the normal between
them: J. Schulman et al., Motion planning with sequential convex optimization and convex collision
checking (2014), section V, equations 20 to 22.

    paper     code       meaning
    sd        d          the signed distance of two shapes, negative where they overlap
    n, p      n, p       the normal from the first shape to the second, and the point between them
    d_safe    reach      the distance beyond which a pair adds nothing
    S_k       axes[k]    the motion of all that velocity k carries, at the origin of the world

    grad_k = +- (n . S_k.linear + (p x n) . S_k.angular)                                        (1)
    r = d_safe - sd,    H <- H + grad grad^T,    g <- g + r grad,    where r > 0                (2)

differs: squared hinges instead of hinges, so that steps are those of a least-squares problem.

Most pairs are far apart. Bounding spheres, or a bounding sphere and the other shape if that is a
box, detect this; such a pair costs one branch.

Cost: a few operations a pair; where two shapes are near, those of their distance, and O(d^2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.algorithms.contact.nearness import near, nearest, path_signs, world_axes
from kinetree.algorithms.contact.of_robot import collider_poses
from kinetree.algorithms.contact.pair_touches import plain
from kinetree.algorithms.tree import body_poses, parent_transforms
from kinetree.model import Model
from kinetree.model.geometry import ContactPair, Solid
from kinetree.scalar import Scalar, call_if, less, minimum
from kinetree.spatial import Transform, Twist, Vector3


@dataclass(frozen=True)
class Terms:
    """A least-squares problem H x = g.

    H, g: the rows of the lower triangle of the matrix, and the right-hand side.
    distance: the least distance of the pairs that were added.
    """

    H: list[list[Scalar]]
    g: list[Scalar]
    distance: Scalar


class Avoidance:
    """The pairs of a robot that are to stay apart.

    Arguments:
        model: the robot.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._shapes = {c.name: c.shape for c in model.colliders}
        self._functions: dict[Any, Callable[..., Any]] = {}

    def added(self, q: Sequence[Scalar], reach: Scalar, terms: Terms) -> Terms:
        """The given terms with those of all pairs added (2)."""
        X0 = [plain(X) for X in body_poses(self.model, parent_transforms(self.model, q))]
        places = {name: plain(X) for name, X in collider_poses(self.model, X0).items()}
        axes = world_axes(self.model, q, X0)
        for pair in self.model.contacts:
            terms = self._with_pair(pair, places, axes, reach, terms)
        return terms

    def _with_pair(
        self,
        pair: ContactPair,
        places: dict[str, Transform],
        axes: Sequence[Twist],
        reach: Scalar,
        terms: Terms,
    ) -> Terms:
        bodies = self.model.collider_bodies
        signs = path_signs(self.model, bodies[pair.first], bodies[pair.second])
        first, second = self._shapes[pair.first], self._shapes[pair.second]
        X1, X2 = places[pair.first], places[pair.second]
        at = sorted(signs)
        corners = [(i, j) for i in at for j in at if j <= i]
        H, g = [list(row) for row in terms.H], list(terms.g)
        so_far = ([H[i][j] for i, j in corners], [g[k] for k in at], terms.distance)
        function = self._function(first, second, tuple(signs[k] for k in at))
        close = near(first, X1, second, X2, reach)
        moving = [axes[k] for k in at]
        sums = call_if(close, function, X1, X2, moving, reach, *so_far, otherwise=so_far)
        for (i, j), h in zip(corners, sums[0], strict=True):
            H[i][j] = h
        for k, x in zip(at, sums[1], strict=True):
            g[k] = x
        return Terms(H, g, sums[2])

    def _function(
        self, first: Solid, second: Solid, signs: tuple[float, ...]
    ) -> Callable[..., Any]:
        """The function that adds a pair's terms; pairs of equal shapes and joints share one."""

        def function(
            X1: Transform,
            X2: Transform,
            axes: list[Twist],
            reach: Scalar,
            H: list[Scalar],
            g: list[Scalar],
            least: Scalar,
        ) -> Any:
            touch = nearest(first, X1, second, X2)
            r = reach - touch.distance
            so_far = (H, g)
            acts = less(0.0, r)
            found = call_if(acts, row, axes, r, touch.point, touch.normal, H, g, otherwise=so_far)
            return (*found, minimum(least, touch.distance))

        def row(
            axes: list[Twist],
            r: Scalar,
            p: Vector3,
            n: Vector3,
            H: list[Scalar],
            g: list[Scalar],
        ) -> tuple[list[Scalar], list[Scalar]]:
            m = p.cross(n)
            grad = [
                (n.dot(S.linear) + m.dot(S.angular)) * sign
                for S, sign in zip(axes, signs, strict=True)
            ]  # (1)
            pairs = [(i, j) for i in range(len(grad)) for j in range(i + 1)]
            H = [h + grad[i] * grad[j] for h, (i, j) in zip(H, pairs, strict=True)]  # (2)
            return H, [x + r * s for x, s in zip(g, grad, strict=True)]

        return self._functions.setdefault((first, second, signs), function)
