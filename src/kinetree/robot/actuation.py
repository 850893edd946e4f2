"""The actuators of a robot: `robot.actuation`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError
from kinetree.kinds import optional_function
from kinetree.model.ranges import Range
from kinetree.robot import uses
from kinetree.robot.core import Door
from kinetree.typing import Array, ArrayLike, Out


class ActuatorRanges(NamedTuple):
    """The bounds of all actuators, as arrays; infinite where there are none.

    Attributes:
        control, force: lower and upper bounds of each actuator, (nu, 2).
        activation: of each activation, (na, 2).
    """

    control: Array
    force: Array
    activation: Array


class Actuation(Door):
    """From controls and activations to joint forces."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the actuators, in the order of ctrl."""
        return tuple(x.name for x in self._robot.model.equipment.actuators)

    @property
    def activations(self) -> tuple[str, ...]:
        """The names of the actuators that have an activation, in the order of act."""
        return tuple(x.name for x in self._robot.model.equipment.stateful)

    @property
    def nu(self) -> int:
        """The number of controls."""
        return len(self._robot.model.equipment.actuators)

    @property
    def na(self) -> int:
        """The number of activations."""
        return len(self._robot.model.equipment.stateful)

    @cached_property
    def ranges(self) -> ActuatorRanges:
        """The bounds of controls, forces and activations."""
        equipment = self._robot.model.equipment
        return ActuatorRanges(
            _bounds([x.control_range for x in equipment.actuators]),
            _bounds([x.force_range for x in equipment.actuators]),
            _bounds([x.activation_range for x in equipment.stateful]),
        )

    def forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        act: ArrayLike | None,
        ctrl: ArrayLike,
        *,
        out: Out = None,
    ) -> Array:
        """The joint forces of all actuators together.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            act: activations, (..., na); None if there are none.
            ctrl: controls, (..., nu); they count as the nearest ones within their ranges.
            out: an array to write into.

        Returns:
            (..., nv), N m or N: tau for `forward_dynamics`.
        """
        return self._robot._compute("actuation_forces", (q, v, *self._act(act), ctrl), out)

    def passive_forces(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The joint forces of springs, dampers, carried weights and the fluid around the bodies.

        They are part of all dynamics. Springs and dampers are those of joints and tendons; dry
        friction is not among them.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., nv), N m or N: positive where they push along a velocity.
        """
        return self._robot._compute("passive_forces", (q, v), out)

    def actuator_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        act: ArrayLike | None,
        ctrl: ArrayLike,
        *,
        out: Out = None,
    ) -> Array:
        """The force of each actuator along its transmission.

        Arguments:
            q, v, act, ctrl: as in `forces`.
            out: an array to write into.

        Returns:
            (..., nu).
        """
        return self._robot._compute("actuator_forces", (q, v, *self._act(act), ctrl), out)

    def activation_rates(self, act: ArrayLike, ctrl: ArrayLike, *, out: Out = None) -> Array:
        """How fast the activations change.

        Arguments:
            act, ctrl: as in `forces`.
            out: an array to write into.

        Returns:
            (..., na), 1/s.
        """
        return self._robot._compute("activation_rates", (act, ctrl), out)

    def lengths(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The length of each actuator along its transmission; zero where that has none.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nu).
        """
        return self._robot._compute("actuator_lengths", (q,), out)

    def velocities(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The velocity of each actuator along its transmission.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., nu).
        """
        return self._robot._compute("actuator_velocities", (q, v), out)

    def moments(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The joint forces of a unit force of each actuator.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nu, nv).
        """
        return self._robot._compute("actuator_moments", (q,), out)

    def law(
        self, controller: uses.Controls | None = None, *, act: ArrayLike | None = None
    ) -> uses.Actuated:
        """A controller for `simulate` and `rollout` whose answers are controls.

        Arguments:
            controller: a function (t, q, v, p) of scalars, or (t, q, v), that returns a list of nu
                controls, which are held over a step. None if p are the controls.
            act: the activations at the start, (na,); zero by default. They are the last part of
                the controller's memory, which simulations record as "memory".

        Returns:
            A controller; its p are those of `controller`, or the controls.
        """
        return uses.Actuated(self._robot, optional_function("controller", controller), act)

    def _act(self, act: ArrayLike | None) -> tuple[ArrayLike, ...]:
        """The activations as an argument; none where there are none."""
        if self.na:
            if act is None:
                names = ", ".join(self.activations[:4])
                raise KinetreeError(f"act is None: the activations of {names} are expected")
            return (act,)
        if act is not None and np.size(act):
            raise KinetreeError(
                f"act has {np.size(act)} numbers: no actuator of robot {self._robot.name!r} "
                "has an activation"
            )
        return ()


def _bounds(ranges: list[Range]) -> Array:
    return np.array(ranges, dtype=float).reshape(-1, 2)
