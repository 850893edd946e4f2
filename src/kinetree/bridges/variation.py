"""Domain randomisation: the differences between the environments of a batch."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.robot.checks import number
from kinetree.typing import Array


@dataclass(frozen=True, kw_only=True)
class Variation:
    """The random differences between environments, drawn for each episode; none by default.

    Arguments:
        load: the largest load that is carried, kg.
        load_offset: the largest distance of the load from its place along each axis, m.
        friction: the largest relative change of the friction of contacts.
        gain: the largest relative change of the servos' stiffness and damping.
        latency: the longest delay of an action, s.
        push: the standard deviation of the velocity that a push gives, m/s.
        pushes: the mean number of pushes per second.
    """

    load: float = 0.0
    load_offset: float = 0.0
    friction: float = 0.0
    gain: float = 0.0
    latency: float = 0.0
    push: float = 0.0
    pushes: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            if number(field.name, getattr(self, field.name)) < 0.0:
                raise KinetreeError(f"{field.name} is negative; at least 0 is expected")
        for name in ("friction", "gain"):
            if getattr(self, name) >= 1.0:
                raise KinetreeError(f"{name}={getattr(self, name)!r}: less than 1 is expected")

    def loads(self, rng: np.random.Generator, n: int) -> Array:
        """Random point masses, as the numbers of a `Payload`.

        Arguments:
            rng: a random generator.
            n: how many.

        Returns:
            (n, 10).
        """
        mass = rng.uniform(0.0, self.load, n)
        c = rng.uniform(-self.load_offset, self.load_offset, (n, 3))
        x, y, z = c.T
        inertia = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z]
        return mass[:, None] * np.concatenate([np.ones((n, 1)), c, np.stack(inertia, -1)], axis=-1)

    def kicks(self, rng: np.random.Generator, n: int, held: float) -> Array:
        """Random changes of velocities by pushes; zero where there is none.

        Arguments:
            rng: a random generator.
            n: how many.
            held: the time in which a push may happen, s.

        Returns:
            (n, 3), m/s.
        """
        happens = rng.random((n, 1)) < self.pushes * held
        return np.where(happens, rng.normal(0.0, self.push, (n, 3)), 0.0)


SAME = Variation()
"""All environments are the same."""


def factors(rng: np.random.Generator, spread: float, n: int) -> Array:
    """Random factors about one.

    Arguments:
        rng: a random generator.
        spread: the largest difference from one.
        n: how many.

    Returns:
        (n,).
    """
    return rng.uniform(1.0 - spread, 1.0 + spread, n)
