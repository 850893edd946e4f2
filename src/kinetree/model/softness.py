"""How strictly a robot is held.

MuJoCo's solref and solimp of limits, friction and constraints, and what keeps a motion on rigid
constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from kinetree.errors import KinetreeError
from kinetree.model.checked import Checked

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
MOST_ITERATIONS = 20
"""Of a projection: each is compiled into the step."""


@dataclass(frozen=True)
class Softness(Checked):
    """MuJoCo's parameters of a soft constraint.

    Arguments:
        solref: the time constant (s) and damping ratio; or, both negative, stiffness and damping.
        solimp: the impedance: smallest, largest, width, midpoint, power.
    """

    solref: tuple[float, float] = SOLREF
    solimp: tuple[float, float, float, float, float] = SOLIMP


@dataclass(frozen=True)
class SoftLimit(Softness):
    """The softness of a joint's limits.

    Arguments:
        solref, solimp: as in `Softness`.
        margin: how far before the limit the constraint begins to act, rad or m.
    """

    margin: float = 0.0


@dataclass(frozen=True)
class JointSoftness:
    """How soft the limits and the dry friction of a joint are; by default as MuJoCo has them.

    Arguments:
        limit: of the limits.
        friction: of the dry friction.
        reference: the coordinates at which the robot's inertia scales its softness; empty for the
            neutral ones.
    """

    limit: SoftLimit = SoftLimit()
    friction: Softness = Softness()
    reference: tuple[float, ...] = ()


USUAL = JointSoftness()
"""What joints have that say nothing else."""


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
