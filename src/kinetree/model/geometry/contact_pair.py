"""Two colliders that can touch, and the parameters of their contact.

The parameters are MuJoCo's, already combined for the pair: "Contact parameters" in the chapter
"Computation" of its documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from kinetree.errors import ModelError, among
from kinetree.scalar import Scalar

CONDIMS = (1, 3, 4, 6)
"""The numbers of directions in which a contact can push."""
FRICTION = (1.0, 0.005, 0.0001)
LENGTHS = {"solref": 2, "solreffriction": 2, "solimp": 5}


@dataclass(frozen=True)
class ContactPair:
    """Two colliders that can touch.

    Arguments:
        first, second: the names of the colliders. Normals point from the first to the second.
        condim: the number of directions in which a contact pushes: 1, the normal alone; 3, against
            sliding, too; 4, also against turning about the normal; 6, also against rolling.
        friction: one coefficient of sliding, or sliding, torsional (m) and rolling (m), or five:
            two of sliding, one torsional, two of rolling. It is kept as five.
        solref: the time constant (s) and damping ratio of the contact; or, both negative, its
            stiffness and damping.
        solimp: its impedance: smallest, largest, width (m), midpoint, power.
        solreffriction: as `solref`, for friction with elliptic cones; zeros for `solref` itself.
        margin: forces act below this distance, m.
        gap: touches without a force are reported below the distance margin + gap, m.
    """

    first: str
    second: str
    condim: int = 3
    friction: Sequence[float] = FRICTION
    solref: Sequence[float] = (0.02, 1.0)
    solimp: Sequence[float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    solreffriction: Sequence[float] = (0.0, 0.0)
    margin: float = 0.0
    gap: float = 0.0

    def __post_init__(self) -> None:
        for side in ("first", "second"):
            if not isinstance(getattr(self, side), str):
                raise ModelError(
                    f"a contact pair has {side}={getattr(self, side)!r}: the name of a collider "
                    "is expected"
                )
        if not among(self.condim, CONDIMS):
            raise ModelError(f"{self._where}: condim={self.condim!r}: 1, 3, 4 or 6 is expected")
        friction = self._numbers("friction", 1, 3, 5)
        if min(friction) < 0.0:
            raise ModelError(
                f"{self._where}: friction={friction!r}: numbers of at least 0 are expected"
            )
        self._take("friction", _five(friction))
        for name, length in LENGTHS.items():
            self._take(name, self._numbers(name, length))
        for name in ("margin", "gap"):
            self._take(name, self._numbers(name, 1)[0])
            if getattr(self, name) < 0.0:
                value = getattr(self, name)
                raise ModelError(f"{self._where}: {name}={value!r}: at least 0 is expected, m")

    @property
    def name(self) -> str:
        """Both names, as results are labelled: "ball/floor"."""
        return f"{self.first}/{self.second}"

    @property
    def _where(self) -> str:
        return f"contact pair {self.name!r}"

    def _take(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _numbers(self, name: str, *lengths: int) -> tuple[float, ...]:
        """A parameter as numbers: finite, as many as expected."""
        given = getattr(self, name)
        listed = [given] if isinstance(given, (int, float)) else given
        expected = " or ".join(map(str, lengths))
        wrong = ModelError(
            f"{self._where}: {name}={given!r}: {expected} finite number(s) are expected"
        )
        try:
            numbers = tuple(float(x) for x in listed)
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
        if len(numbers) not in lengths or not all(x - x == 0.0 for x in numbers):
            raise wrong
        return numbers

    def with_sliding(self, friction: Scalar) -> ContactPair:
        """The same pair with another coefficient of sliding.

        Arguments:
            friction: the coefficient, any scalar.

        Returns:
            A pair.
        """
        other = copy(self)
        other._take("friction", (friction, friction, *self.friction[2:]))
        return other

    def renamed(self, prefix: str) -> ContactPair:
        """The same pair of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A pair.
        """
        return replace(self, first=prefix + self.first, second=prefix + self.second)


def _five(friction: tuple[float, ...]) -> tuple[float, ...]:
    """Two coefficients of sliding, one torsional, two of rolling."""
    if len(friction) == 5:
        return friction
    sliding, torsional, rolling = friction if len(friction) == 3 else (*friction, *FRICTION[1:])
    return (sliding, sliding, torsional, rolling, rolling)
