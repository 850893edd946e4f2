"""The sensors of a robot: `robot.sensors`."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import KinetreeError, ShapeError
from kinetree.robot.core import Door
from kinetree.typing import Array, ArrayLike, Out


class Sensors(Door):
    """What is measured of a state."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sensors, in the order of their numbers."""
        return tuple(x.name for x in self._robot.model.equipment.sensors)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of each number, such as "imu.x"."""
        sensors = self._robot.model.equipment.sensors
        return tuple(label.name for x in sensors for label in x.labels)

    @cached_property
    def noise(self) -> Array:
        """The standard deviation of each number's noise."""
        sensors = self._robot.model.equipment.sensors
        return np.array([x.noise for x in sensors for _ in range(x.size)])

    def __call__(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        act: ArrayLike | None = None,
        ctrl: ArrayLike | None = None,
        *,
        noise: np.random.Generator | int | None = None,
        out: Out = None,
    ) -> Array:
        """What all sensors show.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            act, ctrl: activations (..., na) and controls (..., nu); zero if None. Only sensors of
                actuator forces depend on them.
            noise: a generator or a seed, to add the sensors' noise; None for none.
            out: an array to write into, without noise.

        Returns:
            (..., n), the numbers of each sensor, in their order.
        """
        shown: Any = self.readings(q, v, a, act, ctrl, out=out)
        if noise is None:
            return shown
        try:
            rng = np.random.default_rng(noise)
        except (TypeError, ValueError):
            raise KinetreeError(
                f"noise={noise!r}: a NumPy generator, a seed or None is expected"
            ) from None
        return shown + rng.normal(size=shown.shape) * self.noise

    def readings(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        act: ArrayLike | None,
        ctrl: ArrayLike | None,
        *,
        out: Out = None,
    ) -> Array:
        """The same without noise, and with activations and controls, or None, to be given.

        Arguments:
            q, v, a, act, ctrl: as of a call.
            out: an array to write into.

        Returns:
            (..., n), the numbers of each sensor, in their order.
        """
        equipment = self._robot.model.equipment
        given = []
        for value, parts in ((act, equipment.stateful), (ctrl, equipment.actuators)):
            if parts:
                given.append(np.zeros(len(parts)) if value is None else value)
        return self._robot._compute("sensors", (q, v, a, *given), out)

    @through_numpy
    def named(self, readings: ArrayLike) -> dict[str, Array]:
        """Readings by the names of the sensors.

        Arguments:
            readings: what all sensors show, (..., n).

        Returns:
            For each sensor its numbers, (..., size).
        """
        values = np.asarray(readings)
        sensors = self._robot.model.equipment.sensors
        ends = np.cumsum([x.size for x in sensors])
        if not values.ndim or values.shape[-1] != len(self.labels):
            raise ShapeError(
                f"readings have shape {values.shape}; (..., {len(self.labels)}) is expected"
            )
        parts = np.split(values, ends[:-1], axis=-1) if len(sensors) else []
        return {x.name: part for x, part in zip(sensors, parts, strict=True)}
