"""Relative motion of two frames of a robot, computed from the last body that carries both.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 8.2; the recursion of
velocities and accelerations has the equation numbers of Echeandia & Wensing, as in `rnea`.

    book        code      meaning
    v_s - v_p   V         the velocity of a frame relative to its base, in the frame
                A         the rate of V at qdd = 0

Cost: O(d) for d joints between the two frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kinetree.algorithms.tree import along, ancestors, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.model import WORLD
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist


@dataclass(frozen=True)
class Place:
    """A frame: the body that carries it, and where on the body."""

    body: int
    at: Transform


@dataclass(frozen=True)
class Chain:
    """columns: a chain's axes by their columns in J; pose: of the frame at its end."""

    columns: list[tuple[int, Twist]]
    pose: Transform


class Chains:
    """The joints of a robot at a state, and the motion of frames relative to what carries them."""

    def __init__(
        self, model: Model, q: Sequence[Scalar], qd: Sequence[Scalar] | None = None
    ) -> None:
        self.model, self.q, self.qd = model, q, qd
        self.X, self.Phi = parent_transforms(model, q), subspaces(model, q)
        self._motions: dict[tuple[int, int], tuple[Twist, Twist]] = {}

    def place(self, name: str | None, at: Transform) -> Place:
        """The place of a frame; None for the world."""
        if name is None:
            return Place(WORLD, at)
        frame = self.model.frame(name)
        return Place(frame.body, frame.placement @ at)

    def common(self, a: Place, b: Place) -> int:
        """The last body that carries both."""
        carries = set(ancestors(self.model, a.body))
        return next((i for i in ancestors(self.model, b.body) if i in carries), WORLD)

    def chain(self, place: Place, common: int) -> Chain:
        """The axes of the joints between a frame and a body that carries it, in the frame."""
        columns: list[tuple[int, Twist]] = []
        after = place.at
        for i in takewhile(lambda i: i != common, ancestors(self.model, place.body)):
            start = self.model.v_slices[i].start
            columns += [(k, after.to_child(axis)) for k, axis in enumerate(self.Phi[i], start)]
            after = self.X[i] @ after
        return Chain(columns, after)

    def relative_motion(self, b: Place, a: Place, common: int, X: Transform) -> tuple[Twist, Twist]:
        """V of frame b relative to a, whose pose there is X, and its rate at qdd = 0."""
        V_b, A_b = (b.at.to_child(m) for m in self._motion(b.body, common))
        V_a, A_a = (X.to_child(a.at.to_child(m)) for m in self._motion(a.body, common))
        V = V_b - V_a
        return V, A_b - A_a + V.cross(V_a)

    def _motion(self, body: int, common: int) -> tuple[Twist, Twist]:
        """The velocity of a body and its rate at qdd = 0, with the common body at rest (15, 16)."""
        V, A = Twist.zero(), Twist.zero()
        below = list(takewhile(lambda i: i != common, ancestors(self.model, body)))
        for i in reversed(below):
            if (i, common) not in self._motions:
                self._motions[i, common] = self._moved(i, V, A)
            V, A = self._motions[i, common]
        return V, A

    def _moved(self, i: int, V_p: Twist, A_p: Twist) -> tuple[Twist, Twist]:
        assert self.qd is not None
        rates = self.qd[self.model.v_slices[i]]
        V_J = along(self.Phi[i], rates)
        q_i = self.q[self.model.q_slices[i]]
        Phi_rate = self.model.bodies[i].joint.subspace_rate(q_i, rates)
        V = self.X[i].to_child(V_p) + V_J
        return V, self.X[i].to_child(A_p) + V.cross(V_J) + along(Phi_rate, rates)
