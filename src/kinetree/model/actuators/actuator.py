"""An actuator: force = gain (control or activation) + bias, along a transmission."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.model.actuators.dynamics import Activation
from kinetree.model.actuators.laws import Affine, Law
from kinetree.model.actuators.transmission import Transmission
from kinetree.model.checked import Checked
from kinetree.model.place import References
from kinetree.model.ranges import UNBOUNDED, Range
from kinetree.scalar import Scalar

MOTOR = Affine(1.0)
NOTHING = Affine()


@dataclass(frozen=True, kw_only=True)
class Actuator(Checked):
    """A device that turns a control into joint forces.

    Its force is gain u + bias: u is the control, or the activation if it has one.

    Arguments:
        name: unique in a robot.
        transmission: the length or direction along which it acts.
        gain, bias: functions of its length and velocity. A motor has the gain 1 and no bias; a
            position servo the gain kp and the bias -kp length - kv velocity.
        activation: how its state follows the control; None if it has none.
        control_range, force_range, activation_range: bounds of these.
        early: whether its force is that of the activation at the end of the step.
    """

    name: str
    transmission: Transmission
    gain: Law = MOTOR
    bias: Law = NOTHING
    activation: Activation | None = None
    control_range: Range = UNBOUNDED
    force_range: Range = UNBOUNDED
    activation_range: Range = UNBOUNDED
    early: bool = False

    @property
    def references(self) -> References:
        """The names that it refers to."""
        return self.transmission.references

    def renamed(self, prefix: str) -> Actuator:
        """The same actuator of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            An actuator.
        """
        return replace(
            self, name=prefix + self.name, transmission=self.transmission.renamed(prefix)
        )

    def force(self, length: Scalar, velocity: Scalar, signal: Scalar) -> Scalar:
        """The force, before it is bounded.

        Arguments:
            length, velocity: along the transmission.
            signal: the control within its range, or the activation.

        Returns:
            A scalar.
        """
        return self.gain.at(length, velocity) * signal + self.bias.at(length, velocity)
