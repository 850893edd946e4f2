"""Parameters of a model: numbers to differentiate by, to identify, to vary.

A parameter names numbers of a model, reads their values, and builds the model with other values,
which may be any scalars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.errors import ModelError, among, unknown
from kinetree.model.geometry import ContactPair
from kinetree.model.joints import ExponentialBall
from kinetree.model.model import WORLD, Body, Model
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3

TEN = ("mass", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
FIVE = ("armature", "damping", "friction", "stiffness", "offset")
SIX = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Parameter(ABC):
    """A group of numbers of a model, under one name.

    Arguments:
        name: of the body, frame or joint that has the numbers.
    """

    name: str

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The name of each number."""

    @abstractmethod
    def nominal(self, model: Model) -> list[Scalar]:
        """The values in a model.

        Arguments:
            model: one that has these numbers; an error is raised otherwise.

        Returns:
            As many numbers as `labels`.
        """

    @abstractmethod
    def applied(self, model: Model, numbers: Sequence[Scalar]) -> Model:
        """The model with other values.

        Arguments:
            model: one that has these numbers.
            numbers: the new values, as many as `labels`.

        Returns:
            A new model.
        """


@dataclass(frozen=True)
class Inertial(Parameter):
    """A body's ten inertial parameters, in which joint forces are linear.

    They are the mass, the first moment (mass times centre of mass) and the rotational inertia about
    the body's origin (xx, yy, zz, xy, xz, yz), of the body with all that is fixed to it, in the
    body's frame.

    Arguments:
        name: of the body.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        return TEN

    def nominal(self, model: Model) -> list[Scalar]:
        I = model.bodies[_number(model, self.name)].inertia
        return [I.mass, *I.moment, *I.rotational]

    def applied(self, model: Model, numbers: Sequence[Scalar]) -> Model:
        return _with(model, _number(model, self.name), inertia=_inertia(numbers))


@dataclass(frozen=True)
class Payload(Parameter):
    """A load fixed to a frame: ten numbers as in `Inertial`, which are zero in the model as it is.

    Arguments:
        name: of the frame, in which they are given.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        return TEN

    def nominal(self, model: Model) -> list[Scalar]:
        self._carrier(model)
        return [0.0] * len(TEN)

    def applied(self, model: Model, numbers: Sequence[Scalar]) -> Model:
        i, placement = self._carrier(model)
        load = placement.to_parent(_inertia(numbers))
        return _with(model, i, inertia=model.bodies[i].inertia + load)

    def _carrier(self, model: Model) -> tuple[int, Transform]:
        frame = model.frame(self.name)
        if frame.body == WORLD:
            raise ModelError(
                f"a payload on frame {self.name!r} of robot {model.name!r}: the frame is fixed to "
                "the world, so the payload has no effect; name a frame that moves"
            )
        return frame.body, frame.placement


@dataclass(frozen=True)
class Placement(Parameter):
    """The deviation of a joint's frame from the model: a shift and a rotation vector, six numbers.

    Both are in the axes of the joint's frame in the model, and zero in the model as it is.

    Arguments:
        name: of the joint.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        return SIX

    def nominal(self, model: Model) -> list[Scalar]:
        self._number(model)
        return [0.0] * len(SIX)

    def applied(self, model: Model, numbers: Sequence[Scalar]) -> Model:
        i = self._number(model)
        shift = Transform(ExponentialBall().transform(numbers[3:]).rotation, Vector3(*numbers[:3]))
        return _with(model, i, placement=model.bodies[i].placement @ shift)

    def _number(self, model: Model) -> int:
        names = [body.joint_name for body in model.bodies]
        if not among(self.name, names):
            raise unknown("moving joint", self.name, names, f"robot {model.name!r}")
        return names.index(self.name)


@dataclass(frozen=True)
class Friction(Parameter):
    """The coefficient of sliding friction of a collider, the same with everything it can touch.

    Arguments:
        name: of the collider, such as "ground".
    """

    @property
    def labels(self) -> tuple[str, ...]:
        return ("friction",)

    def nominal(self, model: Model) -> list[Scalar]:
        return [next(pair.friction[0] for pair in model.contacts if self._has(model, pair))]

    def applied(self, model: Model, numbers: Sequence[Scalar]) -> Model:
        contacts = tuple(
            pair.with_sliding(numbers[0]) if self._has(model, pair) else pair
            for pair in model.contacts
        )
        return replace(model, contacts=contacts)

    def _has(self, model: Model, pair: ContactPair) -> bool:
        names = [name for other in model.contacts for name in (other.first, other.second)]
        known = list(dict.fromkeys(names))
        if not among(self.name, known):
            raise unknown("touching collider", self.name, known, f"robot {model.name!r}")
        return self.name in (pair.first, pair.second)


def with_numbers(model: Model, parameters: Sequence[Parameter], numbers: Sequence[Scalar]) -> Model:
    """The model with other values for all parameters."""
    start = 0
    for parameter in parameters:
        stop = start + len(parameter.labels)
        model = parameter.applied(model, numbers[start:stop])
        start = stop
    return model


def _number(model: Model, body: str) -> int:
    names = [b.name for b in model.bodies]
    if not among(body, names):
        raise unknown("body", body, names, f"robot {model.name!r}")
    return names.index(body)


def _with(model: Model, i: int, **changes: object) -> Model:
    bodies: list[Body] = list(model.bodies)
    bodies[i] = replace(bodies[i], **changes)  # type: ignore[arg-type]
    return replace(model, bodies=tuple(bodies))


def _inertia(ten: Sequence[Scalar]) -> Inertia:
    return Inertia(ten[0], Vector3(*ten[1:4]), Symmetric3(*ten[4:]))
