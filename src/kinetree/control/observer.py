"""The generalised-momentum observer: external forces, without measuring accelerations.

Source: A. De Luca & R. Mattone, Actuator failure detection and isolation using generalized momenta
(2003).

    r = K (p - p^),    p^' = tau + C^T v - g + r,    p = M v

The residual r follows the external joint forces like a first-order filter of rate K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.robot.checks import number, spread
from kinetree.robot.core import check_robot
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


class MomentumObserver:
    """An estimator of external joint forces, sample by sample, for one robot or a batch.

    Arguments:
        robot: what is observed.
        gain: K, 1/s; one number, or one per velocity.

    Attributes:
        residual: the estimate after the last sample, (..., nv), as `update` returned it; None
            before the first.
    """

    @through_numpy
    def __init__(self, robot: Robot, gain: ArrayLike = 50.0) -> None:
        check_robot(robot)
        self.robot, self.gain = robot, spread("gain", gain, (robot.nv,))
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self.residual: Array | None = None
        self._last: Array = np.zeros(self.robot.nv)
        self._estimate: Array | None = None

    def update(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float) -> Array:
        """Process a sample.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            dt: the time until the next sample, s.

        Returns:
            The residual, (..., nv), N or N m; zero at the first sample.
        """
        self.residual = self._update(q, v, tau, dt)
        return self.residual

    @through_numpy
    def _update(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float) -> Array:
        dt = number("dt", dt, above=0.0)
        p, _ = self.robot.coriolis.momentum_observer(q, v, tau, self._last)
        self._estimate = p if self._estimate is None else self._estimate
        self._last = self.gain * (p - self._estimate)
        _, rate = self.robot.coriolis.momentum_observer(q, v, tau, self._last)
        self._estimate = self._estimate + dt * rate
        return self._last
