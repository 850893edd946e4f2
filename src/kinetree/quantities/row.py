"""A row of the table of quantities: everything about one quantity that a robot can compute."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from kinetree.algorithms.contact import touch_labels
from kinetree.compiler.graph import Program
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.spatial import Force, Rotation, Transform, Twist, Vector3

SQUARE = "rows and columns in the order of v, SI units"
SIX_ROWS = "a row each for linear x y z, then angular x y z; columns in the order of v, SI units"
MOTION = "linear x y z in m/s, then angular x y z in rad/s"
ANY_FRAME = ("a frame",)
"""Stands for the valid values of a setting that names a frame."""
SOME_JOINTS = ("some joints",)
"""Stands for the valid values of a setting that lists joints."""
SOME_BODIES = ("some bodies",)
"""Stands for the valid values of a setting that lists bodies, all of them if none is named."""

SOME_CONSTRAINTS = ("some constraints",)
"""Stands for the valid values of a setting that lists constraints, all of them if none is named."""


class Kind(Enum):
    """What an array is: its shape, its meaning, and the units of its elements.

    count: what it has an element or a row for: the nq coordinates, the nv velocities, the links,
        the constraints or their rows, the actuators or their activations, the touches; empty for
        one number or one vector.
    meaning: what it is, in words.
    turning, sliding: the units of elements that turn and that slide.
    axes: names along each further axis of the array.
    """

    CONFIGURATION = ("nq", "configuration", "rad", "m")
    COORDINATE_RATE = ("nq", "rates of the coordinates", "rad/s", "m/s")
    DISPLACEMENT = ("nv", "displacement", "rad", "m")
    VELOCITY = ("nv", "velocity", "rad/s", "m/s")
    ACCELERATION = ("nv", "acceleration", "rad/s^2", "m/s^2")
    FORCE = ("nv", "joint forces", "N m", "N")
    MOMENTUM = ("nv", "generalised momentum", "N m s", "N s")
    WEIGHT = ("nv", "weights", "", "")
    TIME = ("", "time", "s", "s")
    RATIO = ("", "ratio", "", "")
    ACTIVE = ("constraints", "1 for each constraint that acts, 0 for the others", "", "")
    ROW_ERROR = ("rows", "errors of the constraints' rows", "rad", "m")
    ROW_ACCELERATION = ("rows", "accelerations of the constraints' rows", "rad/s^2", "m/s^2")
    ROW_FORCE = ("rows", "forces of the constraints' rows", "N m", "N")
    ROW_IMPULSE = ("rows", "impulses of the constraints' rows", "N m s", "N s")
    CONTROL = ("actuators", "controls of the actuators", "", "")
    ACTIVATION = ("activations", "activations of the actuators that have one", "", "")
    POINT = ("", "point", "m", "m", "xyz")
    DISTANCES = ("touches", "distances of touches", "m", "m")
    TOUCH_POINTS = ("touches", "points of touches", "m", "m", "xyz")
    TOUCH_NORMALS = ("touches", "normals of touches", "", "", "xyz")
    TOUCH_FORCES = ("touches", "forces on the second shape of each touch", "N", "N", "xyz")
    LINK_POINTS = ("links", "points of links", "m", "m", "xyz")
    LINK_MATRICES = ("links", "orientations of links", "", "", "xyz", "xyz")
    LINK_QUATERNIONS = ("links", "orientations of links", "", "", ("qx", "qy", "qz", "qw"))
    LINK_VELOCITIES = ("links", "velocities of links", "m/s", "m/s", "xyz")
    LINK_ANGULAR_VELOCITIES = ("links", "angular velocities of links", "rad/s", "rad/s", "xyz")
    LINK_ACCELERATIONS = ("links", "accelerations of links", "m/s^2", "m/s^2", "xyz")
    LINK_ANGULAR_ACCELERATIONS = (
        "links",
        "angular accelerations of links",
        "rad/s^2",
        "rad/s^2",
        "xyz",
    )
    LINK_FORCES = ("links", "forces of links", "N", "N", "xyz")
    LINK_TORQUES = ("links", "torques of links", "N m", "N m", "xyz")
    LINK_WEIGHTS = ("links", "weights of links", "", "", ("linear", "angular"))

    def __init__(
        self, count: str, meaning: str, turning: str, sliding: str, *axes: Sequence[str]
    ) -> None:
        self.count, self.meaning, self.turning, self.sliding = count, meaning, turning, sliding
        self.axes = axes

    def shape(self, model: Model) -> tuple[int, ...]:
        """The shape of one state's value."""
        counts = {
            "": (),
            "nq": (model.nq,),
            "nv": (model.nv,),
            "links": (len(model.bodies),),
            "constraints": (len(model.constraints),),
            "rows": (len(model.constraint_labels),),
            "actuators": (len(model.equipment.actuators),),
            "activations": (len(model.equipment.stateful),),
            "touches": (len(touch_labels(model)),) if self.count == "touches" else (),
        }
        return (*counts[self.count], *(len(names) for names in self.axes))


class Argument(NamedTuple):
    """An argument of a quantity: an array for each state."""

    name: str
    kind: Kind

    def given(self, model: Model) -> bool:
        """Whether it is an argument for this robot: controls are not where there are none."""
        return self.kind.count not in ("actuators", "activations") or self.kind.shape(model) != (0,)


Q = Argument("q", Kind.CONFIGURATION)
V = Argument("v", Kind.VELOCITY)
A = Argument("a", Kind.ACCELERATION)
TAU = Argument("tau", Kind.FORCE)
WEIGHTS = Argument("weights", Kind.WEIGHT)
DT = Argument("dt", Kind.TIME)
CTRL = Argument("ctrl", Kind.CONTROL)
ACT = Argument("act", Kind.ACTIVATION)


@dataclass(frozen=True)
class Method:
    """An algorithm.

    algorithm: takes the model, the arguments, the loads, the settings.
    preparation: which changes of the model it allows.
    sources: where it comes from, keys of `citations.SOURCES`.
    mimics: whether it supports joints that share a coordinate, as mimics do.
    constraints, contacts: whether it supports robots that have them.
    alternative: the same by another order of sums; the cheaper of the two is used.
    """

    algorithm: Callable[..., Any]
    preparation: Preparation = Preparation.FRAMES
    sources: tuple[str, ...] = ()
    mimics: bool = True
    constraints: bool = True
    contacts: bool = True
    alternative: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Derived:
    """A method that differentiates the program of another quantity.

    build: takes that program, the charts of its arguments and a limit, gives the new program.
    sources, mimics, constraints, contacts: as in `Method`.
    """

    quantity: str
    build: Callable[..., Program]
    sources: tuple[str, ...] = ()
    mimics: bool = True
    constraints: bool = True
    contacts: bool = True


@dataclass(frozen=True)
class Quantity:
    """One quantity: how it is computed, and everything else that the program needs to know of it.

    summary: what it is, in a few words.
    methods: by name, the default first; "" if there is only one.
    arguments: of one state.
    results: name -> what it is, in the order in which an algorithm gives them: a Kind, or words
        with the unit and the order of its elements.
    loads: whether it takes external loads.
    settings: arguments that are not arrays: maps a name to the valid values, the default first.
    cheapest: whether the default method is the one with the fewest operations.
    preferred: the default method of a robot, if that is not the first; None for all robots.
    regular: whether it is undefined where the coordinates of a joint are singular.
    mass_matrix: what it requires of the mass matrix, INVERTIBLE or POSITIVE (definite); it is
        refused for other robots.
    full_rank: whether it is undefined where the rows of its frame's Jacobian are dependent; it is
        refused for frames of which they always are.
    rigid: whether it has an answer for a robot without moving joints.
    constrained: whether it has an answer only for robots with constraints.
    equipped: what a robot needs so that it has an answer: "actuators", "activations", "tendons" or
        "sensors"; empty for nothing.
    touching: whether it has an answer only for robots with contact pairs.
    closed_form: whether it can be written down with symbols.
    public: whether users can call it on a robot, or only others use it.
    called: how users call it there, if not by its name; such as "centroidal.velocity".
    """

    summary: str
    methods: Mapping[str, Method | Derived]
    arguments: tuple[Argument, ...]
    results: Mapping[str, Kind | str]
    loads: bool = False
    settings: Mapping[str, Sequence[Hashable]] = field(default_factory=dict)
    cheapest: bool = False
    preferred: Callable[[Model], str] | None = None
    regular: bool = False
    mass_matrix: str = ""
    full_rank: bool = False
    rigid: bool = False
    constrained: bool = False
    equipped: str = ""
    touching: bool = False
    closed_form: bool = True
    public: bool = True
    called: str = ""


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
    if isinstance(value, (Twist, Force, Vector3)):
        return list(value)
    if isinstance(value, Rotation):
        return [list(row) for row in value.rows]
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value
