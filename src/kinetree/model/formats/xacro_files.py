"""The files, packages and arguments that a xacro document names.

Files must lie in the robot's folders or in a package that the document asks for by $(find ...).
Environment variables are not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kinetree._optional import optional
from kinetree.model.formats.files import read_file
from kinetree.model.formats.packages import Finder, is_file, robot_folders
from kinetree.model.formats.xacro_expressions import Budget, ExpressionError, weight
from kinetree.model.formats.xacro_scope import literal
from kinetree.model.formats.xml import LARGEST, TEXT, Element, brief, parse

LARGEST_YAML = 1 << 18  # bytes: the reader of YAML is slow
MOST_MATCHES = 1000  # files that match a name with wildcards
UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 1e-3,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
"""Tags of numbers in YAML, and their units in SI."""


class Surroundings:
    """The environment of a document.

    Arguments:
        finder: of packages.
        arguments: of the document, by name.
        file: of the document.
    """

    def __init__(self, finder: Finder, arguments: dict[str, str], file: str) -> None:
        self._finder, self.arguments, self.files = finder, arguments, [file]
        self._documents: dict[Path, Element] = {}
        self._yaml: dict[Path, Any] = {}

    def commands(self) -> dict[str, Callable[[list[str]], Any]]:
        """The functions of $(...), by its first word."""
        return {
            "find": self.package,
            "arg": self.argument,
            "env": self.environment,
            "optenv": self.environment,
            "dirname": self.folder,
            "cwd": self.folder,
        }

    def document(self, file: Path) -> Element:
        """The document in a file."""
        if file not in self._documents:
            self._documents[file] = parse(read_file(file, LARGEST), str(file))
        return self._documents[file]

    def matching(self, name: str) -> Iterator[Path]:
        """The files that a name means; it may have wildcards in its last part."""
        if re.search(r"[*?[]", name):
            folder, _, pattern = name.rpartition("/")
            near = self._path(folder or ".")
            pattern = re.sub(r"\*+", "*", pattern)  # in one folder
            try:
                found = sorted(near.glob(pattern)) if near is not None and pattern else []
            except (OSError, ValueError):
                found = []
            yield from (
                path for x in found[:MOST_MATCHES] if (path := self._path(str(x))) and is_file(path)
            )
            return
        path = self._path(name)
        if path is not None and is_file(path):
            yield path

    def _path(self, name: str) -> Path | None:
        """A path in the robot's folders or in the packages that were found; else None."""
        if (self.files[-1] == TEXT and not Path(name).is_absolute()) or "\0" in name:
            return None
        near = Path(name) if Path(name).is_absolute() else Path(self.files[-1]).parent / name
        try:
            real = near.resolve()
        except (OSError, RuntimeError):
            return None
        homes = [*robot_folders(self._finder.folder), *self._finder.found.values()]
        return real if any(real.is_relative_to(home) for home in homes) else None

    def load_yaml(self, name: Any, budget: Budget) -> Any:
        """The content of a YAML file."""
        yaml = optional("yaml", "reading YAML for a xacro file")
        path = self._path(str(name))
        if path is None or not is_file(path):
            raise ExpressionError(
                f"load_yaml({str(name)[:80]!r}): there is no such file in the robot's folder or "
                "its packages"
            )
        if path in self._yaml:
            return self._yaml[path]
        data = read_file(path, LARGEST_YAML)
        budget.spend(len(data))
        if len(data) > LARGEST_YAML:
            raise ExpressionError(f"{path.name} is larger than {LARGEST_YAML >> 10} KiB")
        try:
            found = yaml.load(data.decode(errors="replace"), _yaml_loader(yaml))
        except (yaml.YAMLError, ValueError, TypeError, RecursionError) as e:
            raise ExpressionError(f"{path.name}: {brief(' '.join(str(e).split()))}") from None
        weight(found)
        self._yaml[path] = found
        return found

    def package(self, words: list[str]) -> str:
        """The folder of a package."""
        name = words[0] if len(words) == 1 else ""
        found = self._finder.package(name) if name else None
        if found is None:
            raise ExpressionError(
                f"$(find {name[:80]}): there is no such package around or beside the file, in "
                "ROS_PACKAGE_PATH or in the ament index; packages= of kinetree.load names it"
            )
        return str(found)

    def argument(self, words: list[str]) -> Any:
        """The value of an argument."""
        name = words[0] if len(words) == 1 else ""
        if name not in self.arguments:
            raise ExpressionError(
                f"$(arg {name[:80]}) has no value; arguments= of kinetree.load gives it one"
            )
        return self.arguments[name]

    def environment(self, words: list[str]) -> str:
        """The default of an environment variable, which is not read itself."""
        if len(words) > 1:  # optenv, with a default
            return " ".join(words[1:])
        raise ExpressionError("environment variables are not read: use an argument, xacro:arg")

    def folder(self, words: list[str]) -> str:
        """The folder of the file that is being read."""
        return str(Path(self.files[-1]).parent)


def _yaml_loader(yaml: Any) -> Any:
    """A safe loader of YAML with units, without merges, whose size may grow exponentially."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def flatten_mapping(self, node: Any) -> None:
            if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
                raise ValueError("merges (<<) are not read")

    def unit(factor: float) -> Any:
        return lambda loader, node: float(literal(loader.construct_scalar(node))) * factor

    for tag, factor in UNITS.items():
        Loader.add_constructor(tag, unit(factor))
    return Loader
