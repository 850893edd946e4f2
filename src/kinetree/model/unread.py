"""Elements of a robot file that no algorithm reads: kept, and written back as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Unread:
    """An element of a URDF file that is kept as it is, such as <gazebo> or <safety_controller>.

    Attributes:
        tag: of the element.
        inside: the tag of the element that it stands in: "robot", "link" or "joint".
        owner: the name of that link or joint; empty if it stands in the robot.
        names: the links and joints that it refers to.
        text: the element as XML, each element in a line; empty if it cannot be written back.
    """

    tag: str
    inside: str = "robot"
    owner: str = ""
    names: tuple[str, ...] = ()
    text: str = ""

    def renamed(self, prefix: str) -> Unread:
        """The same in a robot whose names have a prefix; its text refers to the old names.

        Arguments:
            prefix: put before each name.

        Returns:
            The element.
        """
        return replace(self, owner=self.owner and prefix + self.owner)

    def belongs(self, names: Collection[str]) -> bool:
        """Whether it can be written to a file.

        Arguments:
            names: of the file's links and joints.

        Returns:
            Whether it has a text, and everything that it refers to is there.
        """
        needed = (*self.names, *([self.owner] if self.owner else []))
        return bool(self.text) and all(name in names for name in needed)


def counted(elements: Iterable[Unread]) -> str:
    """Elements for a message: how many there are of each tag."""
    tags = Counter(x.tag for x in elements)
    return ", ".join(f"<{tag}>" if n == 1 else f"{n} <{tag}>" for tag, n in tags.items())
