"""The steps of optimal control: plain steps of a robot, or steps under phases of constraints.

A step over scalars is part of compiled loops over time. Its linear model [A B] and the derivatives
of its forces come from kernels, for all steps at once.

    symbol   code      meaning
    W        W         [A B]: derivatives of the next state by z = (dq, dv, u)
    lambda   forces    forces of constraints, or of contacts, and their derivatives by z
             active    1 for each constraint that acts in a step and 0 for the others

Under phases a step is semi-implicit Euler with the constraints' forces,

    v' = v + h a,    q' = q (+) h v',    J a + J' v = - v_rows / h - error / (2 h)^2

so that rows are at rest at the end of the step in which they touch down: their force there is the
impulse of an inelastic impact, divided by h (kinetree.Baumgarte with the rate 1 / (2 h)).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import difference, integrate
from kinetree.algorithms.constraints import Baumgarte, switched_dynamics
from kinetree.algorithms.contact import ContactSolver
from kinetree.errors import KinetreeError
from kinetree.kinds import instance
from kinetree.model import Model
from kinetree.motion.arrays import Array
from kinetree.motion.phases import Phases, Schedule
from kinetree.scalar import Scalar
from kinetree.simulate.closed_loop import ClosedLoop, LoopSettings
from kinetree.typing import StepMethod

if TYPE_CHECKING:
    from kinetree.robot import Robot


class LinearModel(NamedTuple):
    """The derivatives of steps.

    W: of the next states by (x, u), (..., 2 nv, 2 nv + nu).
    F: of the forces, (..., forces, 2 nv + nu); None if they are not requested.
    """

    W: Array
    F: Array | None


class ControlStep(Protocol):
    """A step of a robot.

    plain: whether it is Euler's step of a robot without constraints and contacts.
    switches: the number of constraints that are switched on and off.
    groups: maps the name of a constraint or of a contact pair to the indices of its forces.
    force_count: the number of forces.
    head: for semi-implicit Euler with n velocities: from this j on, row j of W is the step's length
        times row n + j, plus one at column j; None for other steps.
    """

    plain: bool
    switches: int
    groups: dict[str, list[int]]
    force_count: int
    head: int | None

    def active(self, times: Array) -> Array:
        """Which constraints act in the steps that start at some times, (steps, switches)."""

    def advance(
        self, model: Model, q: Any, v: Any, tau: Any, active: Any, forces: bool
    ) -> tuple[Any, Any, Any]:
        """The next state and the forces, over scalars; no forces unless requested."""

    def holding(self, q: Array, active: Array) -> Array:
        """Joint forces that keep joints with motors at rest, (..., steps, nv) or (..., 1, nv)."""

    def after(self, q: Array, v: Array, tau: Array, active: Array) -> tuple[Array, Array]:
        """The next states."""

    def forces(self, q: Array, v: Array, tau: Array, active: Array) -> Array:
        """The forces in steps, (..., force_count)."""

    def linear(self, q: Array, v: Array, tau: Array, active: Array, forces: bool) -> LinearModel:
        """The derivatives of steps."""


def control_step(
    robot: Robot,
    motors: Array,
    dt: float,
    method: StepMethod,
    phases: Phases | None,
    stabilization: Baumgarte | None,
    contact: ContactSolver | bool,
) -> ControlStep:
    """The step of a problem: `PhasedStep` with phases, or with constraints but no contacts.

    Arguments:
        robot: what moves.
        motors: indices of the velocities with motors.
        dt: the length of a step, s.
        method: the integrator of `Robot.step`.
        phases: as in `Robot.optimal_control`.
        stabilization: of constraints; removes their errors as fast as steps allow if None.
        contact: as in `Robot.step`.
    """
    constrained = bool(robot.model.constraints)
    if phases is not None and not constrained:
        raise KinetreeError(
            f"phases: robot {robot.name!r} has no constraints that could act; hold frames by "
            "robot.constrain(kinetree.constraints.HeldFrame(...))"
        )
    touching = bool(robot.model.contacts) and contact is not False
    if phases is None and (touching or not constrained):
        if stabilization is not None:
            raise KinetreeError(
                "stabilization: it is for constraints without contacts, or with phases"
            )
        return RobotStep(robot, motors, dt, method, contact)
    if method != "euler":
        raise KinetreeError(f"method={method!r}: under constraints steps are of 'euler'")
    return PhasedStep(robot, motors, dt, phases, stabilization)


class RobotStep:
    """`Robot.step`, with all constraints and contacts of the robot.

    Arguments:
        robot, motors, dt, method, contact: as in `control_step`.
    """

    switches = 0

    def __init__(
        self,
        robot: Robot,
        motors: Array,
        dt: float,
        method: StepMethod,
        contact: ContactSolver | bool,
    ) -> None:
        robot.kernel("step", method, contact=contact)  # refuses unknown methods
        self.robot, self.dt, self.contact = robot, dt, contact
        self.method: StepMethod = method
        self.touching = bool(robot.model.contacts) and contact is not False
        free = not self.touching and not robot.model.constraints
        self.plain = free and method == "euler"
        self.groups: dict[str, list[int]] = {}
        for k, pair in enumerate(robot.contact.touch_pairs if self.touching else ()):
            self.groups.setdefault(pair, []).extend(range(3 * k, 3 * k + 3))
        self.force_count = sum(map(len, self.groups.values()))
        self._move = _EulerModel(robot, motors)
        self.head = self._move.head if self.plain else None
        settings = LoopSettings(
            controller=lambda t, q, v, p: p, p_length=robot.nv, method=method, contact=contact
        )
        self._closed = ClosedLoop(robot, settings)

    def active(self, times: Array) -> Array:
        """No columns: nothing is switched."""
        return np.zeros((len(times), 0))

    def advance(
        self, model: Model, q: Any, v: Any, tau: Any, active: Any, forces: bool
    ) -> tuple[Any, Any, Any]:
        """As in `ControlStep`."""
        after = self._closed.advance(model, 0.0, q, v, tau, self.dt)
        found = self._forces.on_scalars(q, v, tau)[0] if forces else []
        return after["q"], after["v"], [x for touch in found for x in touch]

    def holding(self, q: Array, active: Array) -> Array:
        """As in `ControlStep`, without contact forces."""
        return self.robot.gravity_forces(q)[..., None, :]

    def after(self, q: Array, v: Array, tau: Array, active: Array) -> tuple[Array, Array]:
        """As in `ControlStep`."""
        return self.robot.step(q, v, tau, self.dt, method=self.method, contact=self.contact)

    def forces(self, q: Array, v: Array, tau: Array, active: Array) -> Array:
        """As in `ControlStep`."""
        found = self._forces(q, v, tau)
        return found.reshape(*found.shape[:-2], -1)

    def linear(self, q: Array, v: Array, tau: Array, active: Array, forces: bool) -> LinearModel:
        """As in `ControlStep`."""
        if self.plain:
            by = self.robot.forward_dynamics_derivatives(q, v, tau)
            a = None if self.robot.nq == self.robot.nv else self.robot.forward_dynamics(q, v, tau)
            return LinearModel(self._move.model(q, v, a, by, self.dt), None)
        given = (q, v, tau, self.dt)
        A, B = self.robot.linearize(*given, method=self.method, contact=self.contact)
        W = np.concatenate([A, B[..., self._move.motors]], axis=-1)
        if not forces:
            return LinearModel(W, None)
        slopes = self._forces.jacobian(("q", "v", "tau"))(q, v, tau)
        rows = [x.reshape(*x.shape[:-3], -1, x.shape[-1]) for x in slopes]
        return LinearModel(W, self._move.by_state_and_control(rows))

    @cached_property
    def _forces(self) -> Any:
        return self.robot.kernel("contact_forces", contact=self.contact)


class PhasedStep:
    """Euler's step under constraints that are switched on and off.

    Arguments:
        robot, motors, dt, phases, stabilization: as in `control_step`.
    """

    plain = False

    def __init__(
        self,
        robot: Robot,
        motors: Array,
        dt: float,
        phases: Phases | None,
        stabilization: Baumgarte | None = None,
    ) -> None:
        self.robot = robot.without("contacts") if robot.model.contacts else robot
        self.dt = dt
        self.schedule = Schedule(robot.constraints.names, phases, dt)
        self.switches = len(self.schedule.names)
        usual = Baumgarte(rate=0.5 / dt)
        self.stabilization = usual if stabilization is None else stabilization
        instance("stabilization", self.stabilization, Baumgarte, "kinetree.Baumgarte(rate=...)")
        at_rest = abs(self.stabilization.gains[0] * dt - 1.0) < 1e-9
        if phases is not None and not at_rest:
            raise KinetreeError(
                f"stabilization={self.stabilization}: phases need one that brings rows to rest "
                f"in one step, 2 damping rate dt = 1, such as kinetree.Baumgarte({0.5 / dt:g})"
            )
        self.groups: dict[str, list[int]] = {}
        for constraint in robot.model.constraints:
            first = sum(map(len, self.groups.values()))
            self.groups[constraint.name] = list(range(first, first + constraint.row_count))
        self.force_count = len(robot.constraints.rows)
        self._move = _EulerModel(self.robot, motors)
        self.head = self._move.head

    def active(self, times: Array) -> Array:
        """As in `ControlStep`."""
        return self.schedule.active(times)

    def advance(
        self, model: Model, q: Any, v: Any, tau: Any, active: Any, forces: bool
    ) -> tuple[Any, Any, Any]:
        """As in `ControlStep`."""
        given = (model, q, v, tau, active)
        a, found, _ = switched_dynamics(*given, stabilization=self.stabilization)
        after = [x + self.dt * y for x, y in zip(v, a, strict=True)]
        there = integrate(model, q, [self.dt * x for x in after])
        return there, after, found

    def holding(self, q: Array, active: Array) -> Array:
        """As in `ControlStep`; parts that no constraint carries fall freely."""
        on = np.repeat(active, [len(places) for places in self.groups.values()], axis=-1)
        J_T = (on[..., None] * self.robot.constraints.jacobian(q)[..., None, :, :]).swapaxes(-1, -2)
        h = self.robot.gravity_forces(q)[..., None, :, None]
        M = self.robot.mass_matrix(q)[..., None, :, :]
        passive = np.setdiff1d(np.arange(self.robot.nv), self._move.motors)
        forces = np.linalg.pinv(J_T[..., passive, :]) @ h[..., passive, :]
        left = (h - J_T @ forces)[..., passive, :]
        falling = -np.linalg.solve(M[..., passive, :][..., passive], left)
        return (h + M[..., passive] @ falling - J_T @ forces)[..., 0]

    def after(self, q: Array, v: Array, tau: Array, active: Array) -> tuple[Array, Array]:
        """As in `ControlStep`."""
        v1 = v + self.dt * self._dynamics(q, v, tau, active)[0]
        return self.robot.integrate(q, self.dt * v1), v1

    def forces(self, q: Array, v: Array, tau: Array, active: Array) -> Array:
        """As in `ControlStep`."""
        return self._dynamics(q, v, tau, active)[1]

    def _dynamics(self, q: Array, v: Array, tau: Array, active: Array) -> tuple[Array, ...]:
        return self.robot.constraints.switched_dynamics(
            q, v, tau, active, stabilization=self.stabilization
        )

    def linear(self, q: Array, v: Array, tau: Array, active: Array, forces: bool) -> LinearModel:
        """As in `ControlStep`."""
        by = self.robot.constraints.switched_dynamics_derivatives(
            q, v, tau, active, stabilization=self.stabilization
        )
        a = self._dynamics(q, v, tau, active)[0] if self.robot.nq != self.robot.nv else None
        W = self._move.model(q, v, a, by[:3], self.dt)
        return LinearModel(W, self._move.by_state_and_control(by[3:]) if forces else None)


class _EulerModel:
    """Linear models of v1 = v + dt a, q1 = q (+) dt v1, from the derivatives of a.

    motors: indices of the velocities with motors.
    """

    def __init__(self, robot: Robot, motors: Array) -> None:
        self.robot, self.motors = robot, motors

    def by_state_and_control(self, by: Sequence[Array]) -> Array:
        """Derivatives by q, v and tau as those by (x, u)."""
        return np.concatenate([by[0], by[1], by[2][..., self.motors]], axis=-1)

    def model(self, q: Array, v: Array, a: Array | None, by: Sequence[Array], dt: float) -> Array:
        """W; a is needed if coordinates are not integrals of velocities."""
        n, m = self.robot.nv, self.motors
        W = np.empty((*by[0].shape[:-2], 2 * n, 2 * n + len(m)))
        above, below = W[..., :n, :], W[..., n:, :]
        by_tau = by[2] if len(m) == n else by[2][..., m]
        for k, slope in enumerate((by[0], by[1], by_tau)):
            np.multiply(slope, dt, out=below[..., k * n : k * n + slope.shape[-1]])
        below[..., n : 2 * n] += np.eye(n)
        np.multiply(below, dt, out=above)
        if a is None:
            above[..., :n] += np.eye(n)
            return W
        way = dt * (v + dt * a)
        by_q, by_way = self._slopes(q, way, self.robot.integrate(q, way))
        for joint in self._turning:  # elsewhere by_way is the unit matrix
            above[..., joint, :] = by_way[..., joint, joint] @ above[..., joint, :]
        above[..., :n] += by_q
        return W

    @cached_property
    def head(self) -> int | None:
        """The length of `_turning` if it is a prefix of the velocities; else None."""
        places = [k for at in self._turning for k in range(at.start, at.stop)]
        return len(places) if sorted(places) == list(range(len(places))) else None

    @cached_property
    def _turning(self) -> list[slice]:
        """The velocities of joints whose coordinates are not integrals of velocities."""
        model = self.robot.model
        joints = ((i, body.joint) for i, body in enumerate(model.bodies))
        return [model.v_slices[i] for i, joint in joints if joint.nq != joint.nv]

    @cached_property
    def _slopes(self) -> Any:
        """The derivatives of q (+) way by q and by the way, along the configuration q1 there."""

        def move(model: Model, q: Any, way: Any, there: Any) -> list[Scalar]:
            return difference(model, there, integrate(model, q, way))

        nq, nv = self.robot.nq, self.robot.nv
        kernel = self.robot.custom_kernel(move, {"q": nq, "way": nv, "there": nq}, "move")
        return kernel.jacobian(("q", "way"))
