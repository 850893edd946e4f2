"""Muscles: force by length, velocity and activation.

Source: MuJoCo's documentation, "Muscle actuators"; the activation dynamics are those of M. Millard,
T. Uchida, A. Seth & S. L. Delp, Flexing computational muscle, J. Biomechanical Engineering 135
(2013), https://doi.org/10.1115/1.4023390.

    symbol    code              meaning
    L, V      length velocity   in units of the optimal length L0, and of L0 vmax
    FL, FV    _by_length ...    the active force's dependence on each
    FP        MuscleBias        the passive force
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.model.actuators.dynamics import TINY, Activation
from kinetree.model.actuators.laws import Law
from kinetree.model.ranges import within
from kinetree.scalar import Scalar, less, less_equal, select


@dataclass(frozen=True)
class MuscleForce(Law):
    """The parameters that the active and the passive force of a muscle share.

    Arguments:
        force: the peak active force, N.
        length_range: the lengths of the actuator that correspond to `operating`.
        operating: these lengths, in units of the optimal length.
        shortest, longest: where the active force vanishes, in units of the optimal length.
        speed: the shortening speed at which it vanishes, in optimal lengths per second.
        passive: the passive force at the longest length, in units of the peak force.
        stretched: the active force at lengthening, in units of the peak force.
    """

    force: float
    length_range: tuple[float, float]
    operating: tuple[float, float] = (0.75, 1.05)
    shortest: float = 0.5
    longest: float = 1.6
    speed: float = 1.5
    passive: float = 1.3
    stretched: float = 1.2

    @property
    def optimal_length(self) -> float:
        """L0."""
        first, last = self.operating
        return (self.length_range[1] - self.length_range[0]) / max(TINY, last - first)

    def _normalized(self, length: Scalar) -> Scalar:
        """L."""
        scale = 1.0 / max(TINY, self.optimal_length)
        return (length - self.length_range[0]) * scale + self.operating[0]


@dataclass(frozen=True)
class MuscleGain(MuscleForce):
    """The active force at full activation; it pulls, so it is negative.

    Arguments:
        force, length_range, operating, shortest, longest, speed, passive, stretched: as of
            `MuscleForce`: the peak force and the lengths at which it acts.
    """

    def at(self, length: Scalar, velocity: Scalar) -> Scalar:
        V = velocity * (1.0 / max(TINY, self.optimal_length * self.speed))
        return self._by_length(self._normalized(length)) * self._by_velocity(V) * -self.force

    def _by_length(self, L: Scalar) -> Scalar:
        """FL: four parabolas, one at L = 1."""
        low, high = self.shortest, self.longest
        a, b = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
        rising = 0.5 * _square((L - low) * (1.0 / max(TINY, a - low)))
        before = 1.0 - 0.5 * _square((1.0 - L) * (1.0 / max(TINY, 1.0 - a)))
        after = 1.0 - 0.5 * _square((L - 1.0) * (1.0 / max(TINY, b - 1.0)))
        falling = 0.5 * _square((high - L) * (1.0 / max(TINY, high - b)))
        upper = select(less_equal(L, b), after, select(less_equal(L, high), falling, 0.0))
        lower = select(less_equal(L, a), rising, select(less_equal(L, 1.0), before, upper))
        return select(less(L, low), 0.0, lower)

    def _by_velocity(self, V: Scalar) -> Scalar:
        """FV: zero at V = -1, one at rest, more while the muscle lengthens."""
        y = self.stretched - 1.0
        shortening = _square(V + 1.0)
        lengthening = self.stretched - _square(y - V) * (1.0 / max(TINY, y))
        fast = select(less_equal(V, y), lengthening, self.stretched)
        return select(less_equal(V, -1.0), 0.0, select(less_equal(V, 0.0), shortening, fast))


@dataclass(frozen=True)
class MuscleBias(MuscleForce):
    """The passive force; it pulls, so it is negative.

    Arguments:
        force, length_range, operating, shortest, longest, speed, passive, stretched: as of
            `MuscleForce`: the peak force and the lengths at which it acts.
    """

    def at(self, length: Scalar, velocity: Scalar) -> Scalar:
        L, b = self._normalized(length), 0.5 * (1.0 + self.longest)
        scale = 1.0 / max(TINY, b - 1.0)
        curved = 0.5 * _square((L - 1.0) * scale)
        straight = (L - b) * scale + 0.5
        pulled = select(less_equal(L, 1.0), 0.0, select(less_equal(L, b), curved, straight))
        return pulled * (-self.force * self.passive)


@dataclass(frozen=True)
class MuscleActivation(Activation):
    """The activation of a muscle, which rises faster than it falls.

    Arguments:
        rise, fall: time constants, s.
        smoothing: the width of the transition between them, in units of control; zero for none.
    """

    rise: float = 0.01
    fall: float = 0.04
    smoothing: float = 0.0

    def rate(self, act: Scalar, ctrl: Scalar) -> Scalar:
        level = within(act, (0.0, 1.0)) * 1.5 + 0.5
        missing = within(ctrl, (0.0, 1.0)) - act
        rise, fall = level * self.rise, self.fall / level
        if self.smoothing < TINY:
            time = select(less(0.0, missing), rise, fall)
        else:
            x = within(missing * (1.0 / self.smoothing) + 0.5, (0.0, 1.0))
            time = fall + (rise - fall) * (x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0))
        return missing / select(less(time, TINY), TINY, time)


def _square(x: Scalar) -> Scalar:
    return x * x
