"""The values that options accept; separate, so that --help need not import their users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kinetree

ACTIONS = ("show", "export", "import", "clear")
"""The actions of `kinetree cache`."""
TARGETS = ("c", "cuda")
"""The target languages of `kinetree export`."""
CONTROLLERS: dict[str, Callable[..., Any]] = {
    "none": lambda robot, target: None,
    "pd": lambda robot, target: kinetree.control.pd(robot, target=target),
    "computed-torque": lambda robot, target: kinetree.control.computed_torque(robot, target=target),
    "passivity": lambda robot, target: kinetree.control.passivity(robot, target=target),
}
"""The controllers of `kinetree simulate`: each maps a robot and a target to a controller."""
