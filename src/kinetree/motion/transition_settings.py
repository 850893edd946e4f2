"""How a transition is computed: what a user can ask for, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, unknown
from kinetree.typing import ArrayLike

METHODS = {
    "newton": "late",
    "exact-newton": "always",
    "gauss-newton": "never",
    "l-bfgs": "",
    "ipopt": "",
}
"""Maps a method's name to when its second derivatives are exact."""
LIMITS = ("q", "v", "tau")


@dataclass(frozen=True)
class Hold:
    """A frame that stays where it is, or is led along a path, for some time.

    Arguments:
        frame: its name.
        target: its pose, a 4x4 matrix, or its position, (3,); a function from the time to one of
            them; by default where the frame is when the transition starts.
        first, last: from when to when, s; by default the whole transition.
        rows: "pose" or "position".
        weight: None holds it exactly; a number adds this times the squared error to the cost, in
            1/m^2 and 1/rad^2, each second.
    """

    frame: str
    target: Any = None
    first: float = 0.0
    last: float = np.inf
    rows: str = "pose"
    weight: float | None = None


@dataclass(frozen=True)
class Settings:
    """How a transition is computed; see `Robot.transition`."""

    weights: ArrayLike | None = None
    root: float | str = "passive"
    limits: Sequence[str] = ()
    hold: Sequence[Hold] = ()
    cost: Callable[..., Any] | None = None
    degree: int = 3
    coefficients: int = 16
    points: int | None = 4
    samples: int | None = None
    starts: int = 1
    seed: int = 0
    spread: float = 0.3
    method: str = "newton"
    tolerance: float = 1e-8
    iterations: int = 300
    progress: Callable[[float], object] | None = field(default=None, compare=False)


def check(settings: Settings) -> None:
    """Raise an error if a setting has no meaning."""
    if settings.method not in METHODS:
        raise unknown("method", settings.method, METHODS, "transition")
    for kind in settings.limits:
        if kind not in LIMITS:
            raise unknown("limit", kind, LIMITS, "transition")
    if settings.starts < 1:
        raise KinetreeError(f"starts={settings.starts!r}: a whole number, at least 1, is expected")
    root = settings.root
    if root != "passive" and not (isinstance(root, (int, float)) and root >= 0.0):
        raise KinetreeError(
            f"root={root!r}: 'passive' (no force acts there) or the weight of its force is "
            "expected, such as 0.0"
        )
