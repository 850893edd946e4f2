"""Where a method is that is asked for on the robot itself: behind a door, or under another name.

Each such name is an attribute of the class that raises AttributeError. A `__getattr__` would do the
same, and would make every access to an attribute of a robot three to five times as slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

ELSEWHERE = {
    "aba": "forward_dynamics",
    "computeJointJacobians": "jacobian",
    "crba": "mass_matrix",
    "createData": "a robot stores no state, and its methods need no data",
    "data": "a robot stores no state, and its methods need no data",
    "effortLimit": "limits.effort",
    "configuration": "cartesian.configuration",
    "forwardKinematics": "poses",
    "forward_kinematics": "poses",
    "generalized": "cartesian.generalized",
    "getBodyId": "frames, bodies and joints are addressed by their names",
    "getFrameId": "frames, bodies and joints are addressed by their names",
    "getJointId": "frames, bodies and joints are addressed by their names",
    "inverse_kinematics": "use kinetree.control.InverseKinematics(robot, frame)",
    "lowerPositionLimit": "limits.lower",
    "names": "joints",
    "nonLinearEffects": "bias_forces",
    "nu": "actuation.nu",
    "qM": "mass_matrix",
    "qfrc_bias": "bias_forces",
    "rnea": "inverse_dynamics",
    "state": "cartesian.state",
    "upperPositionLimit": "limits.upper",
    "velocityLimit": "limits.velocity",
}
"""Maps names of other libraries, and of `Cartesian`, which is imported when needed, to ours."""


class Signpost:
    """A name that a robot does not have. Asking for it raises an error that says where to look.

    Arguments:
        where: what to use instead: an attribute of a robot, or a sentence.
    """

    def __init__(self, where: str) -> None:
        self.hint = f"use robot.{where}" if _is_attribute(where) else where
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, robot: object, owner: type | None = None) -> Signpost:
        if robot is None:
            return self
        said = f"'Robot' object has no attribute {self.name!r}: {self.hint}"
        raise AttributeError(said, name=self.name, obj=robot)


def add_signposts(cls: type, doors: Mapping[str, type]) -> None:
    """Give a class a signpost for each name that stands elsewhere.

    Arguments:
        cls: the class of robots.
        doors: the class of each group of methods.
    """
    places = dict(ELSEWHERE)
    for door, group in doors.items():
        places |= {name: f"{door}.{name}" for name in dir(group) if not name.startswith("_")}
    for name, where in places.items():
        if not hasattr(cls, name):
            signpost = Signpost(where)
            signpost.__set_name__(cls, name)
            setattr(cls, name, signpost)


def without_signposts(cls: type, names: Iterable[str]) -> list[str]:
    """The names of attributes that robots have.

    Arguments:
        cls: the class of robots.
        names: of its attributes, and of those of a robot.
    """
    return [x for x in names if not isinstance(vars(cls).get(x), Signpost)]


class Signposted(type):
    """A class whose signposts are not listed by dir() and help()."""

    def __dir__(cls) -> list[str]:
        return without_signposts(cls, super().__dir__())


def _is_attribute(where: str) -> bool:
    return where.replace(".", "").replace("_", "").isalnum()
