"""Loading a robot: a file in, a `Robot` out; and checking the file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinetree.errors import KinetreeError, MissingFileError, ModelError, among
from kinetree.kinds import flag, path
from kinetree.model import Model
from kinetree.model.arguments import PoseLike, given_number, given_transform
from kinetree.model.assemble import assemble
from kinetree.model.description import WATER, Description
from kinetree.model.edit import mounted, rechart, with_gravity, without
from kinetree.model.formats.collision_shapes import CANNOT_TOUCH
from kinetree.model.formats.packages import given_packages
from kinetree.model.formats.read import Reading, read_description, source_name
from kinetree.model.lint import description_problems
from kinetree.model.problem import Problem
from kinetree.model.touching import Touching
from kinetree.robot import Robot
from kinetree.robot.possible_pairs import possible
from kinetree.robot.problems import problems_of_mechanism, warn_of_problems
from kinetree.typing import Base, ChartName, Inertias


def load(
    source: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
    mimic: bool = True,
    chart: ChartName = "quaternion",
    folder: str | os.PathLike[str] | None = None,
    gravity: Sequence[float] | None = None,
    mount: Any = None,
    contact: bool | Sequence[tuple[str, str]] = True,
    ground: bool = False,
    self_collision: bool = False,
    packages: Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]] | None = None,
    arguments: Mapping[str, Any] | None = None,
    inertia: Inertias = "as given",
    density: float = WATER,
) -> Robot:
    """Load a robot from a URDF, xacro, SDF or MJCF file, or the skeleton of a BVH file.

    The format is detected from the content.

    Implausible numbers, and elements that are left out, are reported in an `errors.ModelWarning`.

    Arguments:
        source: the path of the file, or its text (a string that starts with '<').
        base: "fixed" puts the root link on the world; "floating" lets it move freely, with
            q = (x y z, qx qy qz qw) and v = (linear, angular) in its own frame in front.
        joints: the moving joints in the order of their coordinates. By default depth first, with
            children in the alphabetical order of their joints' names.
        locked: maps a joint's name to the value at which it is locked.
        mimic: whether joints that mimic others follow them (they then have no coordinate of their
            own), or move on their own.
        chart: of free orientations: "quaternion"; "exponential", the rotation vector; or a sequence
            of Euler angles such as "zyx". In the last two v is the rate of q.
        folder: where to look for the files that the file names; by default in its own folder.
        gravity: the acceleration of free fall, m/s^2, instead of the file's or (0, 0, -9.81).
        mount: the pose of the root link of a fixed base in the world: a 4x4 matrix, a Transform, or
            a point; by default the origin.
        contact: True for the pairs that can touch in an MJCF file, False for none; or further
            pairs of links, such as [("hand", "table"), ("foot", "ground")].
        ground: whether the links at the ends of the tree can touch a plane of the world at z = 0.
        self_collision: whether links that are not neighbours can touch each other.
        packages: where packages are that the file names, as in package://name/meshes/arm.stl: maps
            a name to a folder, or lists folders that have packages in them. Packages are also found
            around and beside the file, in ROS_PACKAGE_PATH and in the ament index.
        arguments: of a xacro file, by name, instead of their defaults.
        inertia: "from geometry" gives links without inertia that of their shapes.
        density: of these shapes, kg/m^3.

    Returns:
        The robot, ready to be called.
    """
    return Robot(
        load_model(
            source,
            base=base,
            joints=joints,
            locked=locked,
            mimic=mimic,
            chart=chart,
            folder=folder,
            gravity=gravity,
            mount=mount,
            contact=contact,
            ground=ground,
            self_collision=self_collision,
            packages=packages,
            arguments=arguments,
            inertia=inertia,
            density=density,
        )
    )


def load_model(
    source: str | os.PathLike[str],
    *,
    base: str = "fixed",
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
    mimic: bool = True,
    chart: str = "quaternion",
    folder: str | os.PathLike[str] | None = None,
    gravity: Sequence[float] | None = None,
    mount: PoseLike | None = None,
    contact: bool | Sequence[tuple[str, str]] = True,
    ground: bool = False,
    self_collision: bool = False,
    packages: Any = None,
    arguments: Mapping[str, Any] | None = None,
    inertia: str = "as given",
    density: float = WATER,
) -> Model:
    """The model of a robot file, or of the text of one; the arguments are those of `kinetree.load`.

    Everything wrong or doubtful in it is reported in one ModelWarning.
    """
    how = Reading(
        flag("mimic", mimic),
        None if folder is None else path("folder", folder),
        given_packages(packages),
        _arguments(arguments),
        _density(inertia, density),
    )
    description = read_description(source, how)
    model = _assembled(description, base, joints, locked)
    refused = [x.message for x in description.remarks if CANNOT_TOUCH in x.message]
    work = Touching(without(model, "contacts") if contact is False else model, refused)
    model, said = _touching(work, contact, flag("ground", ground), self_collision)
    remarks = [Problem("warning", f"robot {model.name!r}", message) for message in said]
    description = replace(description, remarks=[*description.remarks, *remarks])
    warn_of_problems(description, model, stacklevel=4)
    model = model if among(chart, ("quaternion",)) else rechart(model, chart)
    model = model if gravity is None else with_gravity(model, gravity)
    return model if mount is None else mounted(model, given_transform(mount, "mount"))


def _arguments(given: Any) -> dict[str, str]:
    """The arguments of a xacro file, as text."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(
            f"arguments={given!r:.200}: a mapping of names to values is expected, such as "
            "{'prefix': 'left_'}"
        )
    return {str(name): str(value) for name, value in given.items()}


def _density(inertia: Any, density: Any) -> float | None:
    """The density of shapes that give links their inertia; None if they do not."""
    if not among(inertia, ("as given", "from geometry")):
        raise ModelError(f"inertia must be 'as given' or 'from geometry', not {inertia!r:.200}")
    value = given_number("density", density)
    if value <= 0.0:
        raise ModelError(f"density must be more than zero, got {density!r}")
    return value if inertia == "from geometry" else None


def _touching(
    work: Touching, contact: bool | Sequence[tuple[str, str]], ground: bool, self_collision: bool
) -> tuple[Model, list[str]]:
    """The model with what is asked to be able to touch, and remarks."""
    if ground:
        work.on_ground()
    for pair in () if isinstance(contact, bool) else _pairs(contact):
        work.between(*pair)
    if flag("self_collision", self_collision):
        work.with_itself()
    return possible(work.model, work.remarks), work.remarks


def _pairs(contact: Any) -> list[tuple[str, str]]:
    """Pairs of names, as a user gives them."""
    given = contact if isinstance(contact, Sequence) and not isinstance(contact, str) else [contact]
    for pair in given:
        two = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not two or not all(isinstance(name, str) for name in pair):
            raise ModelError(
                f"contact={contact!r}: True, False, or pairs of names are expected, such as "
                "[('left_foot', 'ground')]"
            )
    return [tuple(pair) for pair in given]


def check_file(
    source: str | os.PathLike[str],
    base: str | None = None,
    packages: Any = None,
    arguments: Mapping[str, Any] | None = None,
) -> list[Problem]:
    """Everything wrong or doubtful in a robot file; see `robot.problems`.

    Arguments:
        source: as in `kinetree.load`.
        base: "fixed" or "floating": the base for which the robot is checked; by default what the
            file says, or else fixed.
        packages, arguments: as in `kinetree.load`.

    Returns:
        The problems. If the file cannot be loaded, the last one is the error that prevents it.
    """
    problems: list[Problem] = []
    how = Reading(packages=given_packages(packages), arguments=_arguments(arguments))
    try:
        description = read_description(source, how)
        problems += description_problems(description)
        problems += problems_of_mechanism(description, _assembled(description, base))
    except MissingFileError:
        raise
    except KinetreeError as e:
        place = re.match(rf"({re.escape(source_name(source))}:\d+): ", str(e))
        message = str(e)[place.end() :] if place else str(e)
        problems.append(Problem("error", "the file", message, place[1] if place else ""))
    return problems


def _assembled(
    description: Description,
    base: str | None,
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
) -> Model:
    """The model of a description, on the given base unless the description has one."""
    if among(base, ("floating",)) and description.gives_base:
        raise ModelError(
            f"robot {description.name!r}: base='floating' is for files that do not define how "
            "their root moves; this file does: in MJCF, add <freejoint/> to the body that should "
            "float; in SDF, remove its joint with the world"
        )
    if among(base, ("fixed",)) and description.root is not None and description.root.joint is None:
        base = None  # where the description puts it
    return assemble(description, base=base, joints=joints, locked=locked)
