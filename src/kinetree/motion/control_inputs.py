"""The controls of an optimal control problem: forces of motors, or controls of actuators.

    symbol   code     meaning
    u        u        controls
    tau      tau      joint forces g(q, v, u)
    G        slopes   derivatives of g by q, v and u

Derivatives by (x, tau) become those by (x, u) with Z = [[1, 0], [G_x, G_u]]: W Z, Z^T H Z, g Z.

differs: second derivatives of g are left out of H, as Gauss-Newton does. They are zero where moment
arms are constant and gains are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.robot.checks import motors
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

ACTUATORS = "actuators"


class Inputs(Protocol):
    """From controls to joint forces.

    names: of the controls.
    motors: indices of the velocities that derivatives by tau are needed for.
    plain: whether controls are the joint forces of `motors`.
    lower, upper: the usual bounds of controls.
    """

    names: tuple[str, ...]
    motors: Array
    plain: bool
    lower: Array
    upper: Array

    def forces(self, q: Array, v: Array, u: Array) -> Array:
        """The joint forces, (..., nv)."""

    def on_scalars(self, q: Any, v: Any, u: Sequence[Scalar]) -> list[Scalar]:
        """The same over scalars."""

    def held(self, q: Array, tau: Array) -> Array:
        """Controls whose forces at rest are nearest to some, (..., steps, nu).

        Arguments:
            q: configurations, (..., nq).
            tau: joint forces, (..., steps, nv).
        """

    def chained(self, q: Array, v: Array, u: Array, *by: Array) -> tuple[Array, ...]:
        """Derivatives by (x, tau) as those by (x, u).

        Arguments:
            q, v, u: states and controls, (..., n).
            by: W of the next state, and H and g of the cost if they are given.
        """


def control_inputs(robot: Robot, actuated: ArrayLike | str | None) -> Inputs:
    """The controls of a problem.

    Arguments:
        robot: what moves.
        actuated: as in `Robot.optimal_control`.
    """
    if not isinstance(actuated, str):
        return MotorForces(robot, np.flatnonzero(motors(robot.nv, actuated)))
    if actuated != ACTUATORS:
        raise KinetreeError(
            f"actuated={actuated!r}: truth values, one for each velocity, or {ACTUATORS!r} are "
            "expected"
        )
    return ActuatorControls(robot)


class MotorForces:
    """Controls that are the forces of joints with motors.

    Arguments:
        robot: what moves.
        motors: indices of the velocities with motors.
    """

    plain = True

    def __init__(self, robot: Robot, motors: Array) -> None:
        self.motors, self._nv = motors, robot.nv
        self.names = tuple(robot.labels.v[k] for k in motors)
        limit = np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)[motors]
        self.lower, self.upper = -limit, limit

    def forces(self, q: Array, v: Array, u: Array) -> Array:
        """As in `Inputs`: zero where there is no motor."""
        if len(self.motors) == self._nv:
            return u
        tau = np.zeros((*u.shape[:-1], self._nv))
        tau[..., self.motors] = u
        return tau

    def on_scalars(self, q: Any, v: Any, u: Sequence[Scalar]) -> list[Scalar]:
        """As in `Inputs`."""
        tau: list[Scalar] = [0.0] * self._nv
        for motor, force in zip(self.motors, u, strict=True):
            tau[motor] = force
        return tau

    def held(self, q: Array, tau: Array) -> Array:
        """As in `Inputs`."""
        found: Array = tau[..., self.motors]
        return found

    def chained(self, q: Array, v: Array, u: Array, *by: Array) -> tuple[Array, ...]:
        """As in `Inputs`."""
        return by


class ActuatorControls:
    """Controls of the robot's actuators, none of which has an activation.

    Arguments:
        robot: with actuators.
    """

    plain = False

    def __init__(self, robot: Robot) -> None:
        actuation = robot.actuation
        if not actuation.nu:
            raise KinetreeError(
                f"actuated={ACTUATORS!r}: robot {robot.name!r} has none; leave it out to plan "
                "joint forces"
            )
        if actuation.na:
            raise KinetreeError(
                f"actuated={ACTUATORS!r}: actuator {actuation.activations[0]!r} of robot "
                f"{robot.name!r} has an activation, a state that optimal control does not have"
            )
        self.motors, self.names = np.arange(robot.nv), actuation.names
        self.lower, self.upper = actuation.ranges.control.T.copy()
        self._kernel = robot.kernel("actuation_forces")

    @cached_property
    def _slopes(self) -> Any:
        return self._kernel.jacobian(("q", "v", "ctrl"))

    def forces(self, q: Array, v: Array, u: Array) -> Array:
        """As in `Inputs`."""
        found: Array = self._kernel(q, v, u)
        return found

    def on_scalars(self, q: Any, v: Any, u: Sequence[Scalar]) -> list[Scalar]:
        """As in `Inputs`."""
        return list(self._kernel.on_scalars(q, v, u)[0])

    def held(self, q: Array, tau: Array) -> Array:
        """As in `Inputs`: by the forces' slopes at controls of zero, or those nearest to it."""
        u = np.broadcast_to(np.clip(0.0, self.lower, self.upper), (*q.shape[:-1], len(self.lower)))
        v = np.zeros((*q.shape[:-1], len(self.motors)))
        left = tau - self.forces(q, v, u)[..., None, :]
        inverse = np.linalg.pinv(self._slopes(q, v, u)[2])[..., None, :, :]
        found: Array = u[..., None, :] + (inverse @ left[..., None])[..., 0]
        return found

    def chained(self, q: Array, v: Array, u: Array, *by: Array) -> tuple[Array, ...]:
        """As in `Inputs`."""
        slopes = np.concatenate(self._slopes(q, v, u), axis=-1)
        n, nu = len(self.motors), u.shape[-1]
        Z = np.zeros((*slopes.shape[:-2], 3 * n, 2 * n + nu))
        Z[..., : 2 * n, : 2 * n] = np.eye(2 * n)
        Z[..., 2 * n :, :] = slopes
        W, *costs = by
        if not costs:
            return (W @ Z,)
        H, g = costs
        return W @ Z, Z.swapaxes(-1, -2) @ H @ Z, (g[..., None, :] @ Z)[..., 0, :]
