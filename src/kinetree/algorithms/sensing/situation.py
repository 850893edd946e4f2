"""The state that sensors measure: poses, velocities, accelerations, actuator forces.

Source: Lecture 9, "Velocity and Accel. Propagation"; gravity as an acceleration of the base.

    lecture     code     meaning
    V_i, A_i    V, A     velocity and acceleration of body i, in its frame; A less gravity
    F_i         F        wrench onto body i from its parent

Cost: O(N); only requested quantities are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.actuation.forces import (
    Pulled,
    actuator_forces,
    joint_forces_of_actuators,
    pulled,
)
from kinetree.algorithms.actuation.passive import tendon_tensions
from kinetree.algorithms.actuation.posture import Posture
from kinetree.algorithms.actuation.tendons import course
from kinetree.algorithms.contact.given_accelerations import GivenAccelerations, Push
from kinetree.algorithms.rnea import forward_pass, joint_wrenches
from kinetree.algorithms.sensing.contact_loads import contact_loads
from kinetree.algorithms.tree import parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.actuators import TendonTransmission
from kinetree.model.place import Place
from kinetree.model.tendons import SpatialTendon
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3


class Situation:
    """A state of a robot; derived quantities are computed on first use."""

    def __init__(
        self,
        model: Model,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        a: Sequence[Scalar],
        act: Sequence[Scalar],
        ctrl: Sequence[Scalar],
    ) -> None:
        self.model, self.q, self.v, self.a, self.act, self.ctrl = model, q, v, a, act, ctrl
        self.posture = Posture(model, q)
        self._known: dict[str, object] = {}

    def motions(self) -> tuple[list[Twist], list[Twist]]:
        """V and A of every body."""
        if "motions" not in self._known:
            model, A_0 = self.model, Twist(-self.model.gravity, Vector3.zero())
            X, Phi = parent_transforms(model, self.q), subspaces(model, self.q)
            found = forward_pass(model, X, Phi, self.q, self.v, self.a, A_0)
            self._known["motions"] = found
        return self._known["motions"]  # type: ignore[return-value]

    def motion(self, place: Place) -> tuple[Twist, Twist]:
        """Velocity and acceleration of a place's origin and axes, in its axes."""
        frame = self.model.frame(place.frame)
        at = frame.placement @ place.at
        if frame.body < 0:
            V, A = Twist.zero(), Twist(-self.model.gravity, Vector3.zero())
        else:
            V, A = (each[frame.body] for each in self.motions())
        V, A = at.to_child(V), at.to_child(A)
        return V, Twist(A.linear + V.angular.cross(V.linear), A.angular)

    def wrenches(self) -> list[Force]:
        """F of every body."""
        if "wrenches" not in self._known:
            loads = self.loads()
            self._known["wrenches"] = joint_wrenches(self.model, self.q, self.v, self.a, loads)
        return self._known["wrenches"]  # type: ignore[return-value]

    def loads(self) -> list[tuple[str, Force]]:
        """The wrenches of spatial tendons and contacts on frames, each in its frame."""
        if "loads" not in self._known:
            self._known["loads"] = [*self._tendon_loads(), *contact_loads(self.posture, self.soft)]
        return self._known["loads"]  # type: ignore[return-value]

    def soft(self) -> GivenAccelerations:
        """Contacts and limits at this state."""
        if "soft" not in self._known:
            given = self.model, self.q, self.v, self.a
            self._known["soft"] = GivenAccelerations(*given)
        return self._known["soft"]  # type: ignore[return-value]

    def pushes(self, link: str | None) -> list[Push]:
        """The contacts of a link's own shapes."""
        own = {x.name for x in self.model.colliders if link is not None and x.frame == link}
        return list(self.soft().pushes(lambda pair: bool(own & {pair.first, pair.second})))

    def _tendon_loads(self) -> Iterator[tuple[str, Force]]:
        tensions = tendon_tensions(self.model, self.q, self.v)
        for tendon, tension in zip(self.model.equipment.tendons, tensions, strict=True):
            pulls = tension
            for x in self.model.equipment.actuators:
                if isinstance(x.transmission, TendonTransmission) and (
                    x.transmission.tendon == tendon.name
                ):
                    pulls = pulls - self.forces()[x.name] * x.transmission.gear
            if isinstance(tendon, SpatialTendon):
                for start, end, W in course(self.posture, tendon)[1]:
                    yield start, self.posture.pose(start).to_child(W * pulls)
                    yield end, self.posture.pose(end).to_child(W * -pulls)

    def actuators(self) -> dict[str, Pulled]:
        """The actuators by name, with their lengths and velocities."""
        if "actuators" not in self._known:
            found = pulled(self.model, self.q, self.v)
            self._known["actuators"] = {x.actuator.name: x for x in found}
        return self._known["actuators"]  # type: ignore[return-value]

    def forces(self) -> dict[str, Scalar]:
        """The forces of actuators, by name."""
        if "forces" not in self._known:
            found = actuator_forces(self.model, self.q, self.v, self.act, self.ctrl)
            self._known["forces"] = dict(zip(self.actuators(), found, strict=True))
        return self._known["forces"]  # type: ignore[return-value]

    def joint_forces(self) -> list[Scalar]:
        """The joint forces of all actuators."""
        if "joint forces" not in self._known:
            arguments = self.q, self.v, self.act, self.ctrl
            self._known["joint forces"] = joint_forces_of_actuators(self.model, *arguments)
        return self._known["joint forces"]  # type: ignore[return-value]

    def pose(self, place: Place) -> Transform:
        """The pose of a place in the world."""
        return self.posture.placed(place)
