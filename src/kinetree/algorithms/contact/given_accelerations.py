"""The forces of contacts and limits at given accelerations, in closed form.

Source: E. Todorov (2014), as in `reference`: the force of a soft constraint is a function of the
acceleration of its rows, so that dynamics with contact can be inverted in closed form.

    f = law(J u - aref)                                                                     (16)

    symbol    code     meaning
    u         u        accelerations as in `forward`
    f         f        of each row: along the normal first

At the accelerations of `forward`, the forces are those of `forward` too.

Cost: that of the shapes' touches, and a few operations for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.contact.ball_rows import ball_limit_rows
from kinetree.algorithms.contact.contact_rows import ContactLaws, Meeting, reach, tangent_frame
from kinetree.algorithms.contact.couple import Contact
from kinetree.algorithms.contact.joint_rows import LimitRow, joint_limits
from kinetree.algorithms.contact.meetings import couples
from kinetree.algorithms.contact.of_robot import collider_poses
from kinetree.algorithms.contact.relative import merged, relative_columns, way
from kinetree.algorithms.contact.tendon_rows import tendon_limit
from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.contact.touches import touches
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.dense import dot
from kinetree.algorithms.manifold import resting_rates
from kinetree.algorithms.tree import along, body_poses, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.geometry import Collider, ContactPair
from kinetree.model.model import WORLD
from kinetree.model.ranges import UNBOUNDED
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Force, Twist, Vector3


class Push(NamedTuple):
    """The force at a touch.

    first, second: the colliders.
    acts: whether they are near enough for a contact.
    axes: the normal from the first to the second, and two tangents.
    f: the force and the torque on the second along the axes; as many as the contact resists.
    W: the wrench on the second one, in the world's axes at its origin.
    """

    first: Collider
    second: Collider
    touch: Touch
    acts: Scalar
    axes: tuple[Vector3, Vector3, Vector3]
    f: list[Scalar]
    W: Force

    @property
    def normal_force(self) -> Scalar:
        """The force along the normal, N."""
        return self.f[0]


class Limit(NamedTuple):
    """The nearer limit of a joint or a tendon: all zero if it does not act.

    r, rate: the distance to the limit, negative beyond it, and its rate.
    force: the force with which it pushes back.
    """

    r: Scalar
    rate: Scalar
    force: Scalar


NO_LIMIT = Limit(0.0, 0.0, 0.0)


class GivenAccelerations:
    """A robot with soft constraints, in a state with given accelerations.

    Arguments:
        q, v, a: the state, and the accelerations.
    """

    def __init__(
        self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
    ) -> None:
        self._model, self._q, self._v = model, q, v
        self._u = [x - s for x, s in zip(a, resting_rates(model, v), strict=True)]
        given = model.contact_options
        self._shortest = given.timestep * 2 if given.refsafe else 0.0
        self._laws = ContactLaws(given.cone, given.impratio, self._shortest)
        self._weights = InverseWeights(model)

    def pushes(self, wanted: Callable[[ContactPair], bool]) -> Iterator[Push]:
        """The contacts of some pairs (16)."""
        model = self._model
        X0 = list(body_poses(model, parent_transforms(model, self._q)))
        X, Phi = collider_poses(model, X0), subspaces(model, self._q)
        colliders = {x.name: x for x in model.colliders}
        for (first, second), pairs in couples(model).items():
            if not (pairs := [pair for pair in pairs if wanted(pair)]):
                continue
            o = X0[second if second != WORLD else first].translation
            indices, links = way(model, X0, Phi, first, second)
            columns = merged(indices, relative_columns(links, o))
            V, A = (along(columns.values(), [x[k] for k in columns]) for x in (self._v, self._u))
            for pair in pairs:
                one, two = colliders[pair.first], colliders[pair.second]
                A_pair, numbers = self._weights.of_pair(one, two)[0], self._laws.numbers(pair)
                shapes = (one.shape, X[pair.first], two.shape, X[pair.second])
                for touch in touches(*shapes, pair.margin):
                    at = Meeting(touch, touch.point - o, V, A_pair, *numbers)
                    contact = self._laws.rows(pair, at)
                    axes = tangent_frame(touch.normal, touch.axis)
                    acts = less(touch.distance, reach(pair))
                    yield Push(one, two, touch, acts, axes, *_pushed(contact, A, o))

    def joint_limit(self, k: int) -> Limit:
        """The limit of a velocity's coordinate (16)."""
        given = self._model, self._q, self._v, self._weights, self._shortest
        rows = [x for x in (*joint_limits(*given), *ball_limit_rows(*given)) if k in x.at]
        return self._limit(rows[0] if rows else None)

    def tendon_limit(self, name: str) -> Limit:
        """The limit of a tendon (16)."""
        tendon = self._model.equipment.tendon(name)
        bounded, given = tendon.limits != UNBOUNDED, (self._q, self._v, self._weights)
        found = tendon_limit(self._model, tendon, *given, self._shortest) if bounded else None
        return self._limit(found)

    def _limit(self, found: LimitRow | None) -> Limit:
        if found is None or not self._model.contact_options.limits:
            return NO_LIMIT
        row = found.row
        x = dot(row.entries, [self._u[k] for k in found.at]) - row.aref
        (force,), _ = row.law.response([x])
        r, rate = (select(found.acts, number, 0.0) for number in (found.r, found.rate))
        return Limit(r, rate, force)


def _pushed(contact: Contact, A: Twist, o: Vector3) -> tuple[list[Scalar], Force]:
    """The forces of a contact's rows, and its wrench at the world's origin (16)."""
    x = [u - ref for u, ref in zip(contact.rows(A), contact.aref, strict=True)]
    f, _ = contact.law.response(x)
    total = Force.zero()
    for wrench, force in zip(contact.wrenches(), f, strict=True):
        total = total + wrench * force
    return f, Force(total.linear, total.angular + o.cross(total.linear))
