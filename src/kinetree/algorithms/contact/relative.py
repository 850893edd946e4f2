"""The velocity of one body relative to another, for each velocity of the robot.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 8.2, in the world's axes.

    symbol    code    meaning
    Phi       Phi     the axes of a joint on the way from one body to the other
    o         o       the point at which motions are taken

Cost: O(d) for d joints on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kinetree.algorithms.tree import ancestors
from kinetree.model import Model
from kinetree.model.model import WORLD
from kinetree.spatial import Transform, Twist, Vector3


@dataclass(frozen=True)
class Link:
    """A body on the way from one body of a couple to the other.

    X: its pose in the world.
    Phi: the axes of its joint, in its frame.
    sign: 1 on the way to the second body, -1 to the first.
    """

    X: Transform
    Phi: tuple[Twist, ...]
    sign: float


def signed_way(model: Model, first: int, second: int) -> tuple[tuple[int, float], ...]:
    """The bodies that joints between two bodies carry, and their signs as in `Link`."""
    carries = set(ancestors(model, first))
    common = next((i for i in ancestors(model, second) if i in carries), WORLD)
    return tuple(
        (i, sign)
        for body, sign in ((second, 1.0), (first, -1.0))
        for i in takewhile(lambda i: i != common, ancestors(model, body))
    )


def velocities(model: Model, body: int) -> range:
    """The indices of the velocities of a body's joint."""
    own = model.v_slices[body]
    return range(own.start, own.stop)


def way(
    model: Model,
    X0: Sequence[Transform],
    Phi: Sequence[tuple[Twist, ...]],
    first: int,
    second: int,
) -> tuple[list[int], list[Link]]:
    """The velocities of the joints between two bodies, and the bodies that these carry."""
    steps = signed_way(model, first, second)
    at = [k for i, _ in steps for k in velocities(model, i)]
    return at, [Link(X0[i], Phi[i], sign) for i, sign in steps]


def relative_columns(links: Sequence[Link], o: Vector3) -> list[Twist]:
    """The velocity of the second body relative to the first, at o, for each unit velocity."""
    columns = []
    for link in links:
        for axis in link.Phi:
            turn = link.X.rotation @ axis.angular
            slide = link.X.rotation @ axis.linear + turn.cross(o - link.X.translation)
            columns.append(Twist(slide, turn) * link.sign)
    return columns


def merged(at: Sequence[int], columns: Sequence[Twist]) -> dict[int, Twist]:
    """Columns by velocity index; the columns of joints that share a velocity are summed."""
    found: dict[int, Twist] = {}
    for k, column in zip(at, columns, strict=True):
        found[k] = found[k] + column if k in found else column
    return found
