"""The wrench between two bodies that touch, and its derivatives.

Source: as in `pair_slopes`, which computes it.

Cost: none.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.spatial import Force, Twist, Vector3


@dataclass(frozen=True)
class Moving:
    """The velocity and the acceleration of a body."""

    V: Twist
    A: Twist


@dataclass(frozen=True)
class Slopes:
    """The wrench on the second body, and its derivatives.

    by_first, by_second: P of each body, for each unit motion; empty for one that is fixed to the
        world.
    by_V, by_A: by each component of V and of A.
    """

    F: Force
    by_first: list[Force]
    by_second: list[Force]
    by_V: list[Force]
    by_A: list[Force]

    @staticmethod
    def zero(first_moves: bool, second_moves: bool) -> Slopes:
        """No wrench."""

        def zeros(count: int) -> list[Force]:
            return [_ZERO for _ in range(count)]

        return Slopes(_ZERO, zeros(6 * first_moves), zeros(6 * second_moves), zeros(6), zeros(6))


_ZERO = Force(Vector3(0.0, 0.0, 0.0), Vector3(0.0, 0.0, 0.0))
