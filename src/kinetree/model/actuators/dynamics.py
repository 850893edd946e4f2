"""The activation of an actuator: a state between its control and its force."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kinetree.model.checked import Checked
from kinetree.scalar import Scalar, exp

TINY = 1e-15
"""s: shorter time constants count as this one, as in MuJoCo."""


class Activation(Checked, ABC):
    """A state of one number that follows the control."""

    @abstractmethod
    def rate(self, act: Scalar, ctrl: Scalar) -> Scalar:
        """Its rate.

        Arguments:
            act: the activation.
            ctrl: the control, within its range.

        Returns:
            A scalar, 1/s.
        """

    def after(self, act: Scalar, rate: Scalar, dt: Scalar) -> Scalar:
        """Its value at the end of a step.

        Arguments:
            act, rate: the activation and its rate at the start.
            dt: the length of the step, s.

        Returns:
            A scalar.
        """
        return act + rate * dt


@dataclass(frozen=True)
class Integrator(Activation):
    """The activation is the integral of the control."""

    def rate(self, act: Scalar, ctrl: Scalar) -> Scalar:
        return ctrl


@dataclass(frozen=True)
class Filter(Activation):
    """The activation follows the control as a low-pass filter of first order.

    Arguments:
        time: its time constant, s.
        exact: whether a step follows the exact exponential instead of its tangent.
    """

    time: float
    exact: bool = False

    def rate(self, act: Scalar, ctrl: Scalar) -> Scalar:
        return (ctrl - act) * (1.0 / max(self.time, TINY))

    def after(self, act: Scalar, rate: Scalar, dt: Scalar) -> Scalar:
        if not self.exact:
            return act + rate * dt
        time = max(self.time, TINY)
        return act + rate * (1.0 - exp(dt * (-1.0 / time))) * time
