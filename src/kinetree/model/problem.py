"""A problem of a robot's description."""

from __future__ import annotations

from dataclasses import dataclass

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Problem:
    """Something wrong or doubtful about a robot's description.

    Attributes:
        severity: an "error" makes the dynamics wrong or impossible; a "warning" is most likely a
            mistake or an omission; a "note" is worth knowing.
        element: the link or joint concerned.
        message: what is wrong with it.
        where: the place in the file, such as "arm.urdf:12"; empty if it is not known.
    """

    severity: str
    element: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.severity}: {self.element}: {self.message}"
