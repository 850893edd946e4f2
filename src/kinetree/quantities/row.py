"""A row of the table of quantities: everything there is to say about what a robot can compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from kinetree.graph import Program
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.spatial import Force, Motion, Rotation, Transform, Vector3

ANY_FRAME = ("a frame",)
"""Stands for the valid values of a setting that names a frame."""
SOME_JOINTS = ("some joints",)
"""Stands for the valid values of a setting that lists joints."""
SOME_BODIES = ("some bodies",)
"""Stands for the valid values of a setting that lists bodies, all of them if none is named."""


class Kind(Enum):
    """What an argument is: its shape, and its units for what turns and what slides.

    The shape is nq or nv, or several lengths of which "bodies" stands for a row for each body.
    """

    CONFIGURATION = ("nq", "rad", "m")
    DISPLACEMENT = ("nv", "rad", "m")
    VELOCITY = ("nv", "rad/s", "m/s")
    ACCELERATION = ("nv", "rad/s^2", "m/s^2")
    FORCE = ("nv", "N m", "N")
    WEIGHT = ("nv", "", "")
    POINT = ((3,), "", "m")
    LINK_POINTS = (("bodies", 3), "", "m")
    LINK_MATRICES = (("bodies", 3, 3), "", "")
    LINK_QUATERNIONS = (("bodies", 4), "", "")
    LINK_VELOCITIES = (("bodies", 3), "rad/s", "m/s")
    LINK_FORCES = (("bodies", 3), "N m", "N")
    LINK_WEIGHTS = (("bodies", 2), "", "")

    def shape(self, model: Model) -> tuple[int, ...]:
        """The shape of one state's array."""
        what = self.value[0]
        if isinstance(what, str):
            return (int(getattr(model, what)),)
        return tuple(len(model.bodies) if n == "bodies" else int(n) for n in what)

    def length(self, model: Model) -> int:
        """How many numbers one state has."""
        return math.prod(self.shape(model))


class Argument(NamedTuple):
    """An argument of a quantity: an array for each state."""

    name: str
    kind: Kind


Q = Argument("q", Kind.CONFIGURATION)
V = Argument("v", Kind.VELOCITY)
A = Argument("a", Kind.ACCELERATION)
TAU = Argument("tau", Kind.FORCE)
WEIGHTS = Argument("weights", Kind.WEIGHT)


@dataclass(frozen=True)
class Method:
    """An algorithm.

    algorithm: takes the model, the arguments, the loads, the settings.
    preparation: what may be changed of the model for it.
    sources: where it comes from, keys of `citations.SOURCES`.
    mimics: whether it takes joints that share a coordinate, as those do that mimic others.
    alternative: the same by another order of sums: the cheaper of the two is taken.
    """

    algorithm: Callable[..., Any]
    preparation: Preparation = Preparation.FRAMES
    sources: tuple[str, ...] = ()
    mimics: bool = True
    alternative: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Derived:
    """A method that differentiates the program of another quantity.

    build: from that program, the charts of its arguments and a limit to the program of this one.
    sources, mimics: as in `Method`.
    """

    quantity: str
    build: Callable[..., Program]
    sources: tuple[str, ...] = ()
    mimics: bool = True


@dataclass(frozen=True)
class Quantity:
    """How a quantity is computed, and everything that others ask about it.

    summary: what it is, in a few words.
    methods: by name, the default first; "" if there is but one.
    arguments: of one state.
    results: name -> what it is, in the order in which an algorithm gives them.
    loads: whether wrenches and forces may act from outside.
    settings: what else an algorithm takes, not an array: name -> the valid values, the default
        first.
    cheapest: whether by default the method is taken that needs the fewest operations.
    regular: whether it has no answer where the coordinates of a joint are singular.
    mass_matrix: what it needs the mass matrix to be, INVERTIBLE or POSITIVE (definite): it is
        refused for robots whose is not.
    rigid: whether it has an answer for a robot without moving joints.
    closed_form: whether it can be written down with symbols.
    public: whether it is a method of Robot, or only used by others.
    """

    summary: str
    methods: Mapping[str, Method | Derived]
    arguments: tuple[Argument, ...]
    results: Mapping[str, str]
    loads: bool = False
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cheapest: bool = False
    regular: bool = False
    mass_matrix: str = ""
    rigid: bool = False
    closed_form: bool = True
    public: bool = True


def one(
    algorithm: Callable[..., Any],
    sources: tuple[str, ...],
    preparation: Preparation = Preparation.FRAMES,
) -> dict[str, Method]:
    """The methods of a quantity that is computed in one way only."""
    return {"": Method(algorithm, preparation, sources)}


def plain(value: Any) -> Any:
    """What algorithms give, vectors and transforms in nested lists, as lists of scalars."""
    if isinstance(value, Transform):
        return value.matrix()
    if isinstance(value, (Motion, Force, Vector3)):
        return list(value)
    if isinstance(value, Rotation):
        return [list(row) for row in value.rows]
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value
