"""A problem of a robot's description."""

from __future__ import annotations

from dataclasses import dataclass

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Problem:
    """One problem: severity, the element concerned, a message, and the place in the file.

    severity: an *error* makes dynamics wrong or impossible, a *warning* is most likely a mistake or
        something left out, a *note* is worth knowing.
    """

    severity: str
    element: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.severity}: {self.element}: {self.message}"
