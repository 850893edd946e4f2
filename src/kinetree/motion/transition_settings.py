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
        frame: the name of the frame.
        target: its pose, a 4x4 matrix, or its position, (3,); a function from the time to one of
            them; by default where the frame is when the transition starts.
        first, last: when it begins and ends, s; by default the whole transition.
        rows: "pose", or "position" alone.
        weight: None holds it exactly; a number adds this times the squared error per second to the
            cost, in 1/m^2 and 1/rad^2.
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
    limits: Sequence[str] = ("q",)
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
    iterations: int = 1000
    progress: Callable[[float], object] | None = field(default=None, compare=False)


def check(settings: Settings) -> None:
    """Raise an error if a setting has no meaning."""
    if settings.method not in METHODS:
        raise unknown("method", settings.method, METHODS, "transition")
    for kind in settings.limits:
        if kind not in LIMITS:
            raise unknown("limit", kind, LIMITS, "transition")
    for name in ("degree", "coefficients", "points", "samples", "starts", "iterations"):
        given = getattr(settings, name)
        if given is not None:
            positive_count(name, given)
    positive_number("tolerance", settings.tolerance)
    if not (is_number(settings.spread) and 0.0 <= settings.spread < np.inf):
        raise KinetreeError(
            f"spread={settings.spread!r}: a number that is not negative is expected"
        )
    root = settings.root
    if root != "passive" and not (is_number(root) and 0.0 <= float(root) < np.inf):
        raise KinetreeError(
            f"root={root!r}: 'passive' (no force acts there) or the weight of its force is "
            "expected, such as 0.0"
        )
    for hold in settings.hold:
        _check_hold(hold)


def _check_hold(hold: Any) -> None:
    if not isinstance(hold, Hold):
        raise KinetreeError(f"hold has {hold!r}: a kinetree.Hold is expected")
    times = (hold.first, hold.last)
    if not (all(map(is_number, times)) and hold.first <= hold.last):
        raise KinetreeError(
            f"frame {hold.frame!r} is held from {hold.first!r} to {hold.last!r}: two times are "
            "expected, the less first"
        )
    if hold.weight is not None and not (is_number(hold.weight) and 0.0 <= hold.weight < np.inf):
        raise KinetreeError(
            f"frame {hold.frame!r} is held with weight={hold.weight!r}: None (exactly) or a number "
            "that is not negative is expected"
        )


def positive_number(name: str, given: Any, of: str = "") -> float:
    """A positive number, or an error.

    Arguments:
        name: of the argument, for the message.
        given: what was given.
        of: what the number counts, for the message, such as " of seconds".
    """
    if not (is_number(given) and 0.0 < given < np.inf):
        raise KinetreeError(f"{name}={given!r}: a positive number{of} is expected")
    return float(given)


def positive_count(name: str, given: Any) -> int:
    """A whole number, at least 1, or an error.

    Arguments:
        name: of the argument, for the message.
        given: what was given.
    """
    if not (is_number(given) and given >= 1 and given == int(given)):
        raise KinetreeError(f"{name}={given!r}: a whole number, at least 1, is expected")
    return int(given)


def is_number(given: Any) -> bool:
    """Whether it is one real number; truth values and text are none."""
    if isinstance(given, (bool, np.bool_, str, bytes)) or np.ndim(given) != 0:
        return False
    try:
        return bool(float(given) == float(given))
    except (TypeError, ValueError):
        return False
