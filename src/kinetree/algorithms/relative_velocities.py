"""Generalised velocities from relative velocities of links, joint by joint.

Source: Liu & Jain, section 6.1, eq. 62 to 66.

    paper         code       meaning
    V             V          velocities of links, each of one of its points, in the world's axes
    D, R          relative   each link's velocity less its parent's, in one frame (62 to 65)
    J^_k          axes       the axes of joint k: its local Jacobian
    q'_k          qd         J^_k^+ V^_k, joint by joint (66)

differs: eq. 66 is for joints that turn, and the text solves what slides from v_k apart. Here both
parts of the relative velocity are taken at the link's origin; for a joint that turns about it the
linear rows are zero, and eq. 66 remains.
differs: with some links only, D takes a link's nearest ancestor among them; joints between two of
them, and joints that several such pairs share, are solved together.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kinetree.algorithms.kinematics import poses
from kinetree.algorithms.link_states import in_link
from kinetree.algorithms.tree import along, ancestors, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.joints.inverse import solve_normal_equations
from kinetree.scalar import Scalar, sqrt
from kinetree.spatial import Transform, Twist, Vector3

Pair = tuple[int, Twist, dict[int, Twist]]
"""A link, its velocity against its nearest given ancestor, and that velocity's slopes by q'."""


def relative_velocity(
    model: Model,
    q: Sequence[Scalar],
    V: Sequence[Twist],
    points: Sequence[Vector3],
    links: Collection[int],
    parts: Sequence[str] = ("linear", "angular"),
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """q' joint by joint from relative velocities (66), and what remains of each of these."""
    qd: list[Scalar] = [0] * model.nv
    pairs = list(_pairs(model, q, V, points, links))
    for coordinates, some in _groups(pairs):
        columns: list[list[Scalar]] = [[] for _ in coordinates]
        right: list[Scalar] = []
        for _, relative, axes in some:
            right += _rows(relative, parts)
            for column, k in zip(columns, coordinates, strict=True):
                column += _rows(axes.get(k, Twist.zero()), parts)
        solution = solve_normal_equations(columns, right)
        for k, value in zip(coordinates, solution, strict=True):
            qd[k] = value
    return qd, _residuals(model, pairs, qd)


def velocity_residuals(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    V: Sequence[Twist],
    points: Sequence[Vector3],
    links: Collection[int],
) -> list[list[Scalar]]:
    """What of each link's velocity against its parent's its joint cannot give: m/s and rad/s."""
    return _residuals(model, list(_pairs(model, q, V, points, links)), qd)


def _pairs(
    model: Model,
    q: Sequence[Scalar],
    V: Sequence[Twist],
    points: Sequence[Vector3],
    links: Collection[int],
) -> Iterator[Pair]:
    """The relative velocities R^T D V (65) in the links' frames, with the axes between the two."""
    X, Phi, X0 = parent_transforms(model, q), subspaces(model, q), poses(model, q)
    local = {k: in_link(X0[k], V[k], points[k]) for k in links}
    for k in sorted(links):
        axes: dict[int, Twist] = {}
        after = Transform.identity()  # from link l to link k
        relative = local[k]
        for l in ancestors(model, k):
            if l != k and l in local:
                relative = relative - after.to_child(local[l])  # (62)
                break
            for j, axis in enumerate(Phi[l], model.v_slices[l].start):
                axes[j] = axes.get(j, Twist.zero()) + after.to_child(axis)
            after = X[l] @ after
        yield k, relative, axes


def _groups(pairs: Sequence[Pair]) -> Iterator[tuple[list[int], list[Pair]]]:
    """Coordinates that must be solved together, with the pairs that speak of them."""
    groups: list[tuple[set[int], list[Pair]]] = []
    for pair in pairs:
        touching = [group for group in groups if group[0] & pair[2].keys()]
        merged = (set(pair[2]).union(*(g[0] for g in touching)), [pair])
        for group in touching:
            merged[1][:0] = group[1]
        groups = [group for group in groups if group not in touching] + [merged]
    for coordinates, some in groups:
        if coordinates:
            yield sorted(coordinates), some


def _residuals(model: Model, pairs: Sequence[Pair], qd: Sequence[Scalar]) -> list[list[Scalar]]:
    found: list[list[Scalar]] = [[0, 0] for _ in model.bodies]
    for k, relative, axes in pairs:
        left = relative - along(axes.values(), [qd[j] for j in axes])
        found[k] = [sqrt(part.dot(part)) for part in (left.linear, left.angular)]
    return found


def _rows(m: Twist, parts: Sequence[str]) -> list[Scalar]:
    return [x for part in parts for x in getattr(m, part)]
