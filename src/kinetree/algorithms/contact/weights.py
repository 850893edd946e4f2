"""Inverse weights: the approximate acceleration of a body or a joint by a unit force, 1 / kg.

Source: MuJoCo's documentation, "Computation", section "Impedance": the diagonal of J M^-1 J^T is
approximated once, at the reference configuration, so that softness does not depend on the state.

    MuJoCo             code        meaning
    body_invweight0    of_point    mean of J M^-1 J^T along three axes, and about them, at a point
    dof_invweight0     of_joint    mean of the diagonal of M^-1 over equal velocities of a joint
    tendon_invweight0  of_tendon   J M^-1 J^T of the gradient J of a tendon's length

Cost: O(N d^2) for the factor, O(N d) for each point; none at run time, unless the model has
parameters.
"""

from __future__ import annotations

from kinetree.algorithms.actuation.posture import Posture
from kinetree.algorithms.actuation.tendons import stretched
from kinetree.algorithms.constraints.chains import Chains, Place
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import Row, elimination_order, factor
from kinetree.model import Model
from kinetree.model.geometry import Collider
from kinetree.model.model import WORLD
from kinetree.model.tendons import Tendon
from kinetree.scalar import Scalar, known, maximum
from kinetree.spatial import Transform, Vector3

LEAST = 1e-12
"""1 / kg: the least weight of a row."""


class InverseWeights:
    """The inverse weights of a robot, at its reference configuration."""

    def __init__(self, model: Model) -> None:
        q: list[Scalar] = []
        for i in model.coordinate_order:
            body = model.bodies[i]
            q += body.softness.reference or body.joint.neutral()
        self._model, self._q = model, q
        self._chains = Chains(model, q)
        self._M = factor(crba(model, q), elimination_order(model))

    def of_point(self, body: int, point: Vector3) -> tuple[Scalar, Scalar]:
        """1 / kg and 1 / (kg m^2) of a point of a body; zero for the world."""
        if body == WORLD:
            return 0.0, 0.0
        place = Place(body, Transform(Transform.identity().rotation, point))
        rows: list[Row] = [{} for _ in range(6)]
        for k, column in self._chains.chain(place, WORLD).columns:
            for row, entry in zip(rows, column, strict=True):
                row[k] = row.get(k, 0) + entry
        diagonal = [self._squared(row) for row in rows]
        return sum(diagonal[:3]) / 3, sum(diagonal[3:]) / 3

    def of_pair(self, first: Collider, second: Collider) -> tuple[Scalar, Scalar]:
        """A of two colliders, along and about a normal: the sum for both bodies."""
        (a, b), (c, d) = self._of_collider(first), self._of_collider(second)
        return a + c, b + d

    def _of_collider(self, collider: Collider) -> tuple[Scalar, Scalar]:
        if collider.frame is None:
            return 0.0, 0.0
        frame = self._model.frame(collider.frame)
        if collider.mass_center is not None:
            return self.of_point(frame.body, frame.placement.point(collider.mass_center))
        inertia = self._model.bodies[frame.body].inertia
        return self.of_point(frame.body, inertia.moment * (1 / inertia.mass))

    def of_joint(self, body: int) -> list[Scalar]:
        """1 / (kg m^2) or 1 / kg of each velocity of a joint, those of one kind alike."""
        at = self._model.v_slices[body]
        single = [self._squared({k: 1}) for k in range(at.start, at.stop)]
        if len(single) == 6:
            return [sum(single[:3]) / 3] * 3 + [sum(single[3:]) / 3] * 3
        return [sum(single) / 3] * 3 if len(single) == 3 else single

    def of_tendon(self, tendon: Tendon) -> Scalar:
        """1 / kg of a tendon's length."""
        _, row = stretched(Posture(self._model, self._q), tendon)
        return maximum(self._squared({k: x for k, x in enumerate(row) if known(x) != 0}), LEAST)

    def of_row(self, row: Row) -> Scalar:
        """An approximation of the row's J M^-1 J^T, from the weights of its velocities.

        It uses the row's entries at the state, so that it does not vanish there.
        """
        owner = {k: i for i in self._model.coordinate_order for k in self._at(i)}
        total: Scalar = 0
        for k, entry in row.items():
            i = owner[k]
            weight = self.of_joint(i)[k - self._model.v_slices[i].start]
            total = total + entry * entry * weight
        return maximum(total, LEAST)

    def _at(self, body: int) -> range:
        at = self._model.v_slices[body]
        return range(at.start, at.stop)

    def _squared(self, row: Row) -> Scalar:
        """row M^-1 row^T."""
        y = self._M.half(row)
        return sum((x * y[i] for i, x in self._M.scaled(y).items()), start=0)
