"""The words that options take; apart from what uses them, so that --help need not import it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kinetree

ACTIONS = ("show", "export", "import", "clear")
"""Of `kinetree cache`."""
TARGETS = ("c",)
"""Languages of `kinetree export`."""
CONTROLLERS: dict[str, Callable[..., Any]] = {
    "none": lambda robot, target: None,
    "pd": lambda robot, target: kinetree.control.pd(robot, target=target),
    "computed-torque": lambda robot, target: kinetree.control.computed_torque(robot, target=target),
    "passivity": lambda robot, target: kinetree.control.passivity(robot, target=target),
}
"""Of `kinetree simulate`: from a robot and a target to a law."""
