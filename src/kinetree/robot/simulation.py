"""A robot in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree import kinds
from kinetree._lazy import cached_property
from kinetree.algorithms.constraints import (
    NO_STABILIZATION,
    PROJECTION,
    Baumgarte,
    Stabilization,
)
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy, through_numpy_or_cupy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, ShapeError
from kinetree.kinds import mapping
from kinetree.model.parameters import Parameter
from kinetree.robot import uses
from kinetree.robot.checks import count
from kinetree.robot.core import Core
from kinetree.robot.memo import Memo
from kinetree.typing import Array, ArrayLike, External, Outs, SimulatedExternal, StepMethod


class Simulated(Core):
    """How a robot moves under the forces of its joints."""

    @cached_property
    def _closed_loops(self) -> uses.ClosedLoops:
        """The robot under the controllers that it was simulated with."""
        return Memo()

    def custom_kernel(
        self,
        function: Callable[..., Any],
        lengths: Mapping[str, int | None],
        name: str = "",
    ) -> Kernel:
        """The kernel of a function of your own, over scalars.

        It is traced anew in every process; the machine code of a program that was compiled before
        comes from the cache.

        Arguments:
            function: takes the model and each argument as a list of scalars (or one scalar). It
                returns one result, or a dictionary of several: scalars in nested lists. It may use
                operators and the functions of `kinetree.scalar`.
            lengths: maps each argument's name, in order, to its length; None for a single number.
            name: for messages; the function's own by default.

        Returns:
            The kernel; call it with arrays in the order of `lengths`.
        """
        called = kinds.function("function", function)
        label = kinds.text("name", name) or getattr(called, "__name__", "function")
        sizes = {
            kinds.text("lengths", key): None if n is None else count(f"lengths: {key}", n, 0)
            for key, n in kinds.instance("lengths", lengths, Mapping, "numbers by name").items()
        }
        return self._kernels.custom(label, called, sizes)

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        *,
        enforcement: Enforcement = FREE,
        stabilization: Stabilization = PROJECTION,
        contact: ContactSolver | bool = SOLVER,
        external: External | None = None,
        method: StepMethod = "auto",
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """The state after one time step with constant joint forces.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            dt: the length of the step, s, (...).
            enforcement: what joint limits do; see `kinetree.Enforcement`. Nothing by default.
            stabilization: what keeps a robot on its constraints: `kinetree.Projection()` at the end
                of the step, or the terms of `kinetree.Baumgarte(rate=...)` in its accelerations.
            contact: how contacts are solved for, if the robot has any; False leaves them out.
            external: the external loads, as in `inverse_dynamics`.
            method: "euler" (the default: semi-implicit), "implicit-damping" (Euler as MuJoCo has
                it, with the file's `eulerdamp`; the default of robots with contacts unless their
                file asks for RK4),
                "implicit-springs" (also in the joints' springs), "midpoint",
                "implicit-midpoint", "rk4" or "variational" (symplectic, keeps momentum).
            out: two arrays to write into.

        Returns:
            q, v at the end of the step: (..., nq) and (..., nv). Quaternions have length one.
        """
        settings = (enforcement, stabilization, contact)
        q1, v1 = self._compute("step", (q, v, tau, dt), out, method, external, settings)
        return q1, v1

    @through_numpy_or_cupy
    def simulate(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        controller: uses.ControlLaw | None = None,
        *,
        time: float,
        dt: float = 1e-3,
        method: StepMethod = "auto",
        enforcement: Enforcement = FREE,
        stabilization: Stabilization = PROJECTION,
        contact: ContactSolver | bool = SOLVER,
        record: Sequence[Any] = (),
        every: int = 1,
        p: ArrayLike | None = None,
        series: bool = False,
        parameters: Mapping[Parameter, ArrayLike] | None = None,
        external: SimulatedExternal | None = None,
        progress: Callable[[float], None] | None = None,
        ctrl: ArrayLike | None = None,
        act: ArrayLike | None = None,
    ) -> uses.Simulation:
        """The motion from a state, or from each of a batch, under a controller.

        Controller and step are traced together and compiled as one kernel.

        Arguments:
            q0, v0: initial states, (..., nq) and (..., nv).
            controller: one of `kinetree.control`, or any function (t, q, v, p) of scalars that
                returns a list of nv joint forces, which are held over a step; without inputs p
                also (t, q, v). No forces act if None.
            time, dt: the duration and the length of a step, s; the duration is a multiple of dt.
            method, enforcement, stabilization, contact: as in `step`.
            record: what else to record: names of quantities that follow from q, v and tau (and
                "energy", "constraint_forces", "sensors"), tuples with settings such as
                ("pose", "tool"), functions of (model, q, v, tau), or "memory", the state of a
                controller that has one.
            every: record every N steps.
            p: the controller's inputs, (..., np); by default its own.
            series: whether p and the arrays of external are given for each step, (..., steps, n).
            parameters: numbers of the model that differ between environments, such as
                {Payload("tool"): (..., 10)}; see `parametric`. The controller still uses the
                nominal model.
            external: the external loads: maps the keys that `inverse_dynamics` takes to arrays,
                (..., 6), or to functions (t, q, v) of scalars that return six numbers.
            progress: called now and then with the completed share, from 0 to 1.
            ctrl: controls of the robot's actuators in the place of a controller: (..., nu), or
                (..., steps, nu) with series=True. A controller that returns controls is
                `actuation.law(controller)`.
            act: the actuators' activations at the start, (na,), with ctrl; zero by default.

        Returns:
            times (T,), q, v, tau (..., T, n) and what was recorded. From where an environment
            diverges, its records are NaN; a SimulationWarning says which environment and when. The
            others are not affected.
        """
        settings = uses.FixedSteps(
            dt=dt,
            method=method,
            enforcement=enforcement,
            stabilization=stabilization,
            contact=contact,
            record=record,
            every=every,
        )
        numbers = mapping("parameters", parameters, "arrays by parameters of the model")
        if ctrl is not None or act is not None:
            controller, p = self._controlled(controller, p, ctrl, act), ctrl
            from kinetree.robot.servo_step import warn_of_gains  # not needed but here

            warn_of_gains(self, q0, dt)  # type: ignore[arg-type]
        values = uses.InitialValues(
            q0=q0, v0=v0, p=p, series=series, parameters=numbers, external=_loads(external)
        )
        return uses.fixed(
            self,  # type: ignore[arg-type]
            self._closed_loops,
            controller,
            values,
            settings,
            time=time,
            progress=progress,
        )

    def _controlled(self, controller: Any, p: Any, ctrl: Any, act: Any) -> uses.Actuated:
        """The actuators under controls that are given as arrays."""
        if not self.model.equipment.actuators:
            raise KinetreeError(
                f"ctrl or act is given, but robot {self.name!r} has no actuators: MJCF files "
                "have them, and robot.edit.equip(...) adds them"
            )
        if ctrl is None:
            raise KinetreeError(
                "act is given without ctrl: it belongs to controls; a controller that returns "
                "controls takes it as robot.actuation.law(controller, act=act)"
            )
        if controller is not None or p is not None:
            other = "p" if controller is None else "a controller"
            raise KinetreeError(
                f"ctrl is given together with {other}: the controls are all that acts; a "
                "controller that returns controls is robot.actuation.law(controller)"
            )
        shape, count = np.shape(ctrl), len(self.model.equipment.actuators)
        if not shape or shape[-1] != count:
            raise ShapeError(f"ctrl has shape {shape}; (..., {count}) is expected")
        return uses.Actuated(self, None, act)

    def rollout(
        self,
        controller: uses.ControlLaw | None,
        steps: int,
        dt: float = 1e-3,
        *,
        method: StepMethod = "auto",
        enforcement: Enforcement = FREE,
        stabilization: Stabilization = PROJECTION,
        contact: ContactSolver | bool = SOLVER,
        record: Sequence[Any] = (),
        every: int = 1,
        p_length: int | None = None,
        series: bool = False,
        parameters: Sequence[Parameter] = (),
        external: SimulatedExternal | None = None,
    ) -> uses.Rollout:
        """A function that runs many simulations of one kind, with the loop over time compiled in.

        Environments are vector lanes, shared between threads. Their states stay in cache, and only
        what is recorded is written.

        Arguments:
            controller, method, enforcement, stabilization, contact, record, every: as in
                `simulate`. With robot.actuation.law() for a controller, p are the controls of the
                actuators.
            steps, dt: the number of steps, and their length, s.
            p_length: how many numbers p has; by default as many as the controller's own.
            series: as in `simulate`.
            parameters: parameters of the model whose numbers are given with each call.
            external: as in `simulate`; a call may give other numbers for its arrays.

        Returns:
            A function of (q0, v0, p, parameters) that simulates, with the methods `gradient` and
            `sensitivity`.
        """
        settings = uses.FixedSteps(
            dt=dt,
            method=method,
            enforcement=enforcement,
            stabilization=stabilization,
            contact=contact,
            record=record,
            every=every,
        )
        return uses.compiled(
            self,  # type: ignore[arg-type]
            self._closed_loops,
            controller,
            settings,
            steps=steps,
            p_length=p_length,
            series=series,
            parameters=parameters,
            external=_loads(external),
        )

    @through_numpy
    def simulate_adaptive(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        controller: uses.ControlLaw | None = None,
        *,
        time: float,
        times: ArrayLike | None = None,
        enforcement: Enforcement = FREE,
        stabilization: Baumgarte = NO_STABILIZATION,
        contact: ContactSolver | bool = SOLVER,
        record: Sequence[Any] = (),
        p: ArrayLike | None = None,
        external: SimulatedExternal | None = None,
        events: Sequence[uses.Event] = (),
        method: str = "DOP853",
        tolerance: float = 1e-10,
    ) -> uses.Simulation:
        """The motion from one state, with steps as long as a tolerance allows.

        Arguments:
            q0, v0, controller, enforcement, contact, record, p: as in `simulate`; the controller
                acts continuously. Stops may be springs.
            external: as in `simulate`; arrays are constant.
            stabilization: how errors of constraints decay, `kinetree.Baumgarte(rate=...)`; by
                default they grow as slowly as the tolerance says.
            time: the duration, s.
            times: when to record, s; by default at the integrator's steps.
            events: functions (t, q, v) of arrays whose zeros are located; see SciPy's `solve_ivp`
                for their attributes `terminal` and `direction`.
            method: the integrator of `solve_ivp`.
            tolerance: relative and absolute, for each step.

        Returns:
            As from `simulate`, with `solution(t)` between the steps and the times of `events`.
        """
        settings = uses.AdaptiveSteps(
            times=times,
            enforcement=enforcement,
            stabilization=stabilization,
            contact=contact,
            record=record,
            events=events,
            method=method,
            tolerance=tolerance,
        )
        values = uses.InitialValues(q0=q0, v0=v0, p=p, external=_loads(external))
        return uses.adaptive(
            self,  # type: ignore[arg-type]
            self._closed_loops,
            controller,
            values,
            settings,
            time=time,
        )


def _loads(external: Any) -> Mapping[Any, Any]:
    """The external loads of a simulation, by key."""
    return mapping("external", external, "loads by frame, such as {'tool': wrench}")
