"""The gain and the bias of an actuator, as functions of length and velocity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kinetree.model.checked import Checked
from kinetree.scalar import Scalar


class Law(Checked, ABC):
    """A gain or a bias, as a function of an actuator's length and velocity."""

    @abstractmethod
    def at(self, length: Scalar, velocity: Scalar) -> Scalar:
        """Its value.

        Arguments:
            length, velocity: of the actuator, along its transmission.

        Returns:
            A scalar: N (or N m), or that per unit of control.
        """


@dataclass(frozen=True)
class Affine(Law):
    """constant + by_length * length + by_velocity * velocity.

    Arguments:
        constant, by_length, by_velocity: the three coefficients.
    """

    constant: float = 0.0
    by_length: float = 0.0
    by_velocity: float = 0.0

    def at(self, length: Scalar, velocity: Scalar) -> Scalar:
        return length * self.by_length + velocity * self.by_velocity + self.constant
