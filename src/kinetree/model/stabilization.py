"""What keeps a motion on its constraints: named constants that users give, checked when made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from kinetree.errors import KinetreeError

MOST_ITERATIONS = 20
"""Of a projection: each is compiled into the step."""


@dataclass(frozen=True)
class Baumgarte:
    """How errors of constraints decay: as a damped oscillator, e'' + 2 damping rate e' + rate^2 e.

    Arguments:
        rate: 1/s; zero leaves errors as they are.
        damping: relative to critical damping.
    """

    rate: float = 0.0
    damping: float = 1.0

    def __post_init__(self) -> None:
        for name in ("rate", "damping"):
            number: Any = getattr(self, name)
            real = isinstance(number, Real) and not isinstance(number, bool)
            if not (real and 0.0 <= float(number) < math.inf):
                raise KinetreeError(
                    f"Baumgarte: {name} must be a finite number, zero or more, got {number!r}"
                )

    @property
    def gains(self) -> tuple[float, float]:
        """alpha and beta: of the rows' velocities and errors."""
        return 2 * self.damping * self.rate, self.rate**2


@dataclass(frozen=True)
class Projection:
    """Errors of constraints are removed at the end of each step, in position and in velocity.

    Arguments:
        iterations: of Newton's method for the configuration, with one Jacobian; zero projects the
            velocity alone.
    """

    iterations: int = 2

    def __post_init__(self) -> None:
        n: Any = self.iterations
        if not isinstance(n, int) or isinstance(n, bool) or not 0 <= n <= MOST_ITERATIONS:
            raise KinetreeError(
                f"Projection: iterations must be a whole number from 0 to {MOST_ITERATIONS}, "
                f"got {n!r}"
            )


Stabilization = Baumgarte | Projection
