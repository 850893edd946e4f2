"""The settings of a transition, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import members, optional_function, text, texts
from kinetree.motion.supports import Support, checked_supports
from kinetree.robot.checks import count, number
from kinetree.typing import ArrayLike

METHODS = {
    "newton": "late",
    "exact-newton": "always",
    "gauss-newton": "never",
    "l-bfgs": "",
    "ipopt": "",
}
"""Maps a method's name to the iterations with exact second derivatives."""
LIMITS = ("q", "v", "tau")
SMOOTHING = 1e-3
"""The default weight of squared accelerations on supports."""


@dataclass(frozen=True)
class Hold:
    """A frame that is held, or follows a path, for some time.

    Arguments:
        frame: the name of the frame.
        target: its pose, a 4x4 matrix, or its position, (3,); a function from the time to one of
            them; by default its initial pose.
        first, last: the interval, s; by default the whole transition.
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


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a transition; see `Robot.transition`."""

    weights: ArrayLike | None = None
    root: float | str = "passive"
    bounded: Sequence[str] = ("q",)
    hold: Sequence[Hold] = ()
    supports: Sequence[Support] = ()
    smoothing: float | None = None
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


def checked(settings: Settings) -> Settings:
    """The same settings in their own types; an error if one has no meaning."""
    if not among(settings.method, METHODS):
        raise unknown("method", settings.method, METHODS, "transition")
    bounded = texts("bounded", settings.bounded)
    for kind in bounded:
        if kind not in LIMITS:
            raise unknown("bounded quantity", kind, LIMITS, "transition")
    supports = checked_supports(settings.supports)
    if supports and settings.root != "passive":
        raise KinetreeError(
            f"root={settings.root!r}: a robot on supports has no other force on its root; omit "
            "root= or supports="
        )
    if supports and "tau" in bounded:
        raise KinetreeError(
            "bounded='tau': limits of joint forces are not enforced on supports; omit 'tau'"
        )
    holds = members("hold", settings.hold, Hold, "a list of kinetree.Hold")
    return replace(
        settings,
        root=_root(settings.root),
        bounded=bounded,
        hold=tuple(map(_checked_hold, holds)),
        supports=supports,
        smoothing=_smoothing(settings.smoothing, bool(supports)),
        cost=optional_function("cost", settings.cost),
        degree=count("degree", settings.degree),
        coefficients=count("coefficients", settings.coefficients),
        points=_optional_count("points", settings.points, 2 if supports else 1),
        samples=_optional_count("samples", settings.samples),
        starts=count("starts", settings.starts),
        seed=count("seed", settings.seed, 0),
        spread=number("spread", settings.spread, 0.0),
        tolerance=number("tolerance", settings.tolerance, above=0.0),
        iterations=count("iterations", settings.iterations),
        progress=optional_function("progress", settings.progress),
    )


def _smoothing(given: Any, supported: bool) -> float:
    """The weight of squared accelerations; by default small on supports."""
    if given is None:
        return SMOOTHING if supported else 0.0
    return number("smoothing", given, 0.0)


def _optional_count(name: str, given: Any, least: int = 1) -> int | None:
    return None if given is None else count(name, given, least)


def _root(given: Any) -> float | str:
    """The treatment of forces on a floating base: "passive", or their weight in the cost."""
    if among(given, ("passive",)):
        return "passive"
    if isinstance(given, str):
        raise KinetreeError(
            f"root={given!r}: 'passive' (no force acts there) or the weight of its force is "
            "expected, such as 0.0"
        )
    return number("root", given, 0.0)


def _checked_hold(hold: Hold) -> Hold:
    """A hold with numbers for its times and its weight."""
    what = f"a hold of frame {hold.frame!r:.60}: "
    text(f"{what}frame", hold.frame)
    first = number(f"{what}first", hold.first)
    last = np.inf if among(hold.last, (np.inf,)) else number(f"{what}last", hold.last)
    if not first <= last:
        raise KinetreeError(f"{what}it ends at {last:g} s, before it begins at {first:g} s")
    if not among(hold.rows, ("pose", "position")):
        raise unknown("rows", hold.rows, ("pose", "position"), "a hold")
    weight = None if hold.weight is None else number(f"{what}weight", hold.weight, 0.0)
    return replace(hold, first=first, last=last, weight=weight)
