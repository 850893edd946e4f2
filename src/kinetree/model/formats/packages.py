"""Finds the files that a robot file names: beside it, in its package, in other packages.

    meshes/arm.stl            relative to the robot file, or to folders around it that are its own
    package://name/meshes/..  in a package: given by the user, around the robot file, beside it,
                              in ROS_PACKAGE_PATH, or in the ament index (AMENT_PREFIX_PATH)
    model://name/meshes/..    the same, and in GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, SDF_PATH

Nothing else is opened: a resolved path must lie in the robot's own folders or in a package that was
found in this way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.errors import ModelError

PACKAGE = "package.xml"
"""The file that makes a folder a ROS package."""
MODEL = "model.config"
"""The file that makes a folder a model of Gazebo."""
DESCRIPTIONS = ("urdf", "xacro", "mjcf", "xml", "robots", "sdf")
"""Usual names of a folder with robot files, next to the folder of meshes."""
MODEL_PATHS = ("GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH")
AMENT_INDEX = "share/ament_index/resource_index/packages"
SCHEMES = ("package://", "model://")


@dataclass(frozen=True)
class Packages:
    """The packages that a user gives.

    Arguments:
        named: the folder of each package.
        folders: folders that have packages in them.
    """

    named: Mapping[str, Path]
    folders: Sequence[Path]

    def places(self, name: str) -> Iterator[Path]:
        """The folders that a package may be in; one that is named must be there.

        Arguments:
            name: of the package.
        """
        if name in self.named:
            yield self.named[name]
        yield from (folder / name for folder in self.folders)


NONE = Packages({}, ())


def given_packages(given: Any) -> Packages:
    """The packages that a user gives: a mapping of names to folders, or folders that have packages.

    Arguments:
        given: None for none.
    """
    if given is None:
        return NONE
    try:
        if isinstance(given, Mapping):
            found = Packages({str(name): Path(place) for name, place in given.items()}, ())
        else:
            several = [given] if isinstance(given, (str, os.PathLike)) else list(given)
            found = Packages({}, [Path(place) for place in several])
    except TypeError:
        raise ModelError(
            f"packages={given!r:.200}: expected a mapping of packages to their folders, such as "
            "{'arm_description': 'src/arm_description'}, or folders that have packages in them"
        ) from None
    for place in (*found.named.values(), *found.folders):
        if not place.is_dir():
            raise ModelError(f"packages: {str(place)!r} is not a folder")
    return found


@dataclass(frozen=True)
class Finder:
    """Finds the files that a robot file names.

    Arguments:
        folder: of the robot file; None for a text without a file.
        packages: that the user gives.
        found: the packages that were looked up, by name.
    """

    folder: Path | None
    packages: Packages = NONE
    found: dict[str, Path] = field(default_factory=dict, compare=False)

    def package(self, name: str, models: bool = False) -> Path | None:
        """The folder of a package.

        Arguments:
            name: of the package.
            models: whether it may be a model of Gazebo.
        """
        places = _packages(name, robot_folders(self.folder), self.packages, models)
        found = next((place for place in places if place.is_dir()), None)
        if found is not None:
            self.found[name] = found
        return found

    def find(self, name: str) -> Path | None:
        """The file that a name leads to, if there is one in the robot's folders or in a package.

        Arguments:
            name: as the robot file has it.
        """
        return _found(name, self.folder, self.packages)

    def folder_for(self, name: str) -> Path | None:
        """The folder in which a file is found later, without the packages that the user gives.

        Arguments:
            name: of the file.
        """
        package, rest = _split(name)
        given = [place for place in self.packages.places(package) if package and place.is_dir()]
        if Path(rest).is_absolute():  # xacro makes such paths
            given += [home for home in self.found.values() if Path(rest).is_relative_to(home)]
        return given[0] if given else self.folder


def find_file(name: str, folder: Path | None) -> Path | None:
    """The file that a robot file names, if there is one in the robot's folders or in a package.

    The robot's folders are that of its file, the one above if it has a usual name (urdf, mjcf),
    and the package around it, which is known by its package.xml. Nothing else is opened.

    Arguments:
        name: as the robot file has it.
        folder: of the robot file.
    """
    return _found(name, folder, NONE)


def _found(name: str, folder: Path | None, given: Packages) -> Path | None:
    if "\0" in name:
        return None
    roots, packages = robot_folders(folder), list[Path]()
    package, rest = _split(name)
    places = roots
    if name.startswith(SCHEMES):
        packages = _packages(package, roots, given, name.startswith("model://"))
        places = [*packages, *(root / package for root in roots), *roots]
    found = (Path(os.path.realpath(place / rest)) for place in places)
    homes = [*roots, *packages]
    inside = (path for path in found if any(path.is_relative_to(home) for home in homes))
    return next((path for path in inside if is_file(path)), None)


def is_file(path: Path) -> bool:
    """Whether there is a file at a path, which may be too long for one."""
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _split(name: str) -> tuple[str, str]:
    """The package of a name, if it has one, and the rest."""
    for scheme in SCHEMES:
        if name.startswith(scheme):
            # some files have a third slash, as if the package were a path
            package, _, rest = name.removeprefix(scheme).lstrip("/").partition("/")
            return package, rest
    return "", name.removeprefix("file://")


def robot_folders(folder: Path | None) -> list[Path]:
    """The folders of a robot's own files: that of its file, and those around it that belong to it.

    Arguments:
        folder: of the robot file.
    """
    if folder is None:
        return []
    home = Path(os.path.realpath(folder))
    above = [home.parent] if home.name in DESCRIPTIONS else []
    around = (place for place in home.parents if (place / PACKAGE).is_file())
    return list(dict.fromkeys([home, *above, *(p for p in [next(around, None)] if p)]))


def _packages(name: str, roots: list[Path], given: Packages, models: bool) -> list[Path]:
    """The folders of a package, in order of precedence."""
    if name in ("", ".", "..") or any(mark in name for mark in "/\\\0"):
        return []
    marks = (PACKAGE, MODEL) if models else (PACKAGE,)
    above = dict.fromkeys(parent for root in roots for parent in root.parents)
    around = [place for place in (*roots, *above) if place.name == name]
    beside = [place / name for place in above]
    known = [p for p in (*around, *beside) if p in roots or _has(p, marks)]
    listed = [place / name for place in _listed("ROS_PACKAGE_PATH")]
    if models:
        listed += [place / name for path in MODEL_PATHS for place in _listed(path)]
    places = (*given.places(name), *known, *listed, *_ament(name))
    return [Path(os.path.realpath(place)) for place in places]


def _has(folder: Path, marks: Iterable[str]) -> bool:
    return any(is_file(folder / mark) for mark in marks)


def _listed(variable: str) -> list[Path]:
    """The folders in an environment variable."""
    return [Path(place) for place in os.environ.get(variable, "").split(os.pathsep) if place]


def _ament(name: str) -> Iterator[Path]:
    """The share folders of a package of ROS 2, in the prefixes in which it is installed."""
    for prefix in _listed("AMENT_PREFIX_PATH"):
        if is_file(prefix / AMENT_INDEX / name):
            yield prefix / "share" / name
