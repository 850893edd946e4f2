"""The derivatives of the joint forces of all couples of bodies that can touch.

Source: as in `couple_slopes` and `pair_slopes`.

Pairs of the same two kinds of shapes with the same parameters share one function of the program; so
do couples with the same joints between them. A couple that does not touch costs one branch.

    symbol    code      meaning
    s, u, w   axes      of each body's joint, in the world
    V, A      motions   of each body

Cost: that of the couples that touch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.axes import changes
from kinetree.algorithms.contact.contact_rows import ContactLaws, fixed_numbers
from kinetree.algorithms.contact.couple import Couple
from kinetree.algorithms.contact.couple_slopes import Axis, Matrix, couple_added
from kinetree.algorithms.contact.crowd import Crowd
from kinetree.algorithms.contact.forward import Solution
from kinetree.algorithms.contact.meetings import couples
from kinetree.algorithms.contact.pair_slopes import slopes_added
from kinetree.algorithms.contact.pair_touches import PairTouches
from kinetree.algorithms.contact.relative import signed_way, velocities
from kinetree.algorithms.contact.sized import kind_of, sizes_of
from kinetree.algorithms.contact.slopes import Moving, Slopes
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.tree import along, ancestors, subspaces
from kinetree.model import Model
from kinetree.model.geometry import ContactPair
from kinetree.model.model import WORLD
from kinetree.scalar import Scalar, call_if, less
from kinetree.spatial import Twist


class CrowdSlopes(PairTouches):
    """The couples of a robot at a solution.

    Arguments:
        found: the solution.
        laws: how contacts push.
    """

    def __init__(
        self,
        model: Model,
        q: Sequence[Scalar],
        qd: Sequence[Scalar],
        found: Solution,
        laws: ContactLaws,
    ) -> None:
        super().__init__(model, q)
        self._solution, self._laws, self._weights = found, laws, InverseWeights(model)
        self._axes: list[list[Axis]] = []
        self._motions = {WORLD: Moving(Twist.zero(), Twist.zero())}
        for i, Phi in enumerate(subspaces(model, q)):
            at, X, joint = model.v_slices[i], self._X0[i], model.bodies[i].joint
            s, v, u = [X.to_parent(axis) for axis in Phi], qd[at], found.u[at]
            turns = () if joint.has_constant_axes else changes(model, i, q, qd, qd)
            turned = [[X.to_parent(axis) for axis in change.axes] for change in turns]
            p = self._motions[model.bodies[i].parent]
            self._motions[i] = Moving(p.V + along(s, v), p.A + along(s, u))
            self._axes.append([])
            for k, axis in enumerate(s):
                own = turned[k] if turned else []
                bent, pushed = (along(own, x) if own else Twist.zero() for x in (v, u))
                turn = Axis(axis, p.V.cross(axis) + bent, p.A.cross(axis) + pushed, own)
                self._axes[i].append(turn)

    def derivatives(self) -> tuple[Matrix, Matrix]:
        """The derivatives of the sum of J^T F by q and by v."""
        n = self.model.nv
        total: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in range(2)]
        groups = couples(self.model).items()
        for ((first, second), pairs), near in zip(groups, _near(self._solution), strict=True):
            acts = less(0.5, near)
            slopes = self._slopes(first, second, pairs, acts)
            steps = self._steps(first, second, pairs)
            local = [tuple(velocities(self.model, i)) for i, _ in steps]
            at = list(dict.fromkeys(k for own in local for k in own))
            places = tuple(tuple(at.index(k) for k in own) for own in local)
            signs = tuple(sign for _, sign in steps)
            key = ("couple", signs, places)
            function = self._functions.setdefault(key, couple_added(signs, places))
            so_far = tuple([[A[i][j] for j in at] for i in at] for A in total)
            axes = [axis for i, _ in steps for axis in self._axes[i]]
            found = call_if(acts, function, axes, slopes, *so_far, otherwise=so_far)
            for A, block in zip(total, found, strict=True):
                for i, row in zip(at, block, strict=True):
                    for j, x in zip(at, row, strict=True):
                        A[i][j] = x
        return total[0], total[1]

    def _steps(
        self, first: int, second: int, pairs: Sequence[ContactPair]
    ) -> list[tuple[int, float]]:
        """The bodies on the way with their signs, then those that carry both if they matter."""
        way = list(signed_way(self.model, first, second))
        if all(self._laws.is_isotropic(pair) for pair in pairs):
            return way
        on_the_way = {i for i, _ in way}
        carrying = (i for i in ancestors(self.model, first) if i not in on_the_way)
        return way + [(i, 0.0) for i in carrying]

    def _slopes(
        self, first: int, second: int, pairs: Sequence[ContactPair], acts: Scalar
    ) -> Slopes:
        """The slopes of all pairs of two bodies."""
        moving = self._motions[first], self._motions[second]
        found = Slopes.zero(first != WORLD, second != WORLD)
        for pair in pairs:
            sides = self._sides(pair)
            shapes = sides[0].shape, sides[1].shape
            key = ("pair", kind_of(shapes[0]), kind_of(shapes[1]), fixed_numbers(pair))
            function = self._functions.setdefault(key, slopes_added(self._laws, pair, shapes))
            X = self._X[pair.first], self._X[pair.second]
            sizes = sizes_of(shapes[0]), sizes_of(shapes[1])
            numbers = (self._weights.of_pair(*sides)[0], *self._laws.numbers(pair))
            found = call_if(acts, function, X, sizes, moving, numbers, found, otherwise=found)
        return found


def _near(found: Solution) -> Iterator[Scalar]:
    """For each couple 1 if it touches, else 0."""
    for part, near in zip(found.problem.parts, found.problem.near, strict=True):
        if isinstance(part, Couple):
            yield near
        elif isinstance(part, Crowd):
            yield from part.near
