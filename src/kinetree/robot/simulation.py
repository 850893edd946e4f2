"""A robot in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinetree import kinds
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.kinds import mapping
from kinetree.model.parameters import Parameter
from kinetree.robot import uses
from kinetree.robot.checks import count
from kinetree.robot.core import Core
from kinetree.typing import Array, ArrayLike, External, Outs, StepMethod


class Simulated(Core):
    """How a robot moves under the forces of its joints."""

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
        limits: Enforcement = FREE,
        external: External | None = None,
        method: StepMethod = "auto",
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """The state after one time step with constant joint forces.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            dt: the length of the step, s, (...).
            limits: what joint limits do; see `kinetree.Enforcement`. Nothing by default.
            external: the external loads, as in `inverse_dynamics`.
            method: "euler" (the default: semi-implicit), "implicit-damping" (Euler as MuJoCo has
                it), "implicit-springs" (also in the joints' springs), "midpoint",
                "implicit-midpoint", "rk4" or "variational" (symplectic, keeps momentum).
            out: two arrays to write into.

        Returns:
            q, v at the end of the step: (..., nq) and (..., nv). Quaternions have length one.
        """
        q1, v1 = self._compute("step", (q, v, tau, dt), out, method, external, (limits,))
        return q1, v1

    def simulate(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        controller: uses.Controlled | None = None,
        *,
        time: float,
        dt: float = 1e-3,
        method: StepMethod = "auto",
        limits: Enforcement = FREE,
        record: Sequence[Any] = (),
        every: int = 1,
        p: ArrayLike | None = None,
        inputs: ArrayLike | None = None,
        parameters: Mapping[Parameter, ArrayLike] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> uses.Simulation:
        """The motion from a state, or from each of a batch, under a controller.

        Controller and step are traced together and compiled as one kernel.

        Arguments:
            q0, v0: initial states, (..., nq) and (..., nv).
            controller: one of `kinetree.control`, or any function (t, q, v, p) of scalars that
                returns a list of nv joint forces, which are held over a step. No forces act if
                None.
            time, dt: the duration and the length of a step, s; the duration is a multiple of dt.
            method, limits: as in `step`.
            record: what else to record: names of quantities that follow from q, v and tau (and
                "energy"), tuples with settings such as ("pose", "tool"), functions of (model, q, v,
                tau), or "memory", the state of a controller that has one.
            every: record every N steps.
            p: the controller's inputs, (..., np); by default its own.
            inputs: instead of p, the inputs of every step, (..., steps, np).
            parameters: numbers of the model that differ between environments, such as
                {Payload("tool"): (..., 10)}; see `parametric`. The controller still uses the
                nominal model.
            progress: called now and then with the completed share, from 0 to 1.

        Returns:
            times (T,), q, v, tau (..., T, n) and what was recorded. From where an environment
            diverges, its records are NaN; a SimulationWarning says which environment and when. The
            others are not affected.
        """
        settings = uses.FixedSteps(dt=dt, method=method, limits=limits, record=record, every=every)
        numbers = mapping("parameters", parameters, "arrays by parameters of the model")
        values = uses.InitialValues(q0=q0, v0=v0, p=p, inputs=inputs, parameters=numbers)
        return uses.fixed(
            self,  # type: ignore[arg-type]
            self._memo,
            controller,
            values,
            settings,
            time=time,
            progress=progress,
        )

    def rollout(
        self,
        controller: uses.Controlled | None,
        steps: int,
        dt: float = 1e-3,
        *,
        method: StepMethod = "auto",
        limits: Enforcement = FREE,
        record: Sequence[Any] = (),
        every: int = 1,
        inputs: int | None = None,
        series: bool = False,
        parameters: Sequence[Parameter] = (),
    ) -> uses.Rollout:
        """A function that runs many simulations of one kind, with the loop over time compiled in.

        Environments are vector lanes, shared between threads. Their states stay in cache, and only
        what is recorded is written.

        Arguments:
            controller, method, limits, record, every: as in `simulate`.
            steps, dt: the number of steps, and their length, s.
            inputs: the number of entries of p that the controller takes; by default as many as it
                has.
            series: whether p is given for each step, (..., steps, np).
            parameters: parameters of the model whose numbers are given with each call.

        Returns:
            A function of (q0, v0, p, parameters) that simulates, with the methods `gradient` and
            `sensitivity`.
        """
        settings = uses.FixedSteps(dt=dt, method=method, limits=limits, record=record, every=every)
        return uses.compiled(
            self,  # type: ignore[arg-type]
            self._memo,
            controller,
            settings,
            steps=steps,
            inputs=inputs,
            series=series,
            parameters=parameters,
        )

    def simulate_adaptive(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        controller: uses.Controlled | None = None,
        *,
        time: float,
        times: ArrayLike | None = None,
        limits: Enforcement = FREE,
        record: Sequence[Any] = (),
        p: ArrayLike | None = None,
        events: Sequence[uses.Event] = (),
        method: str = "DOP853",
        tolerance: float = 1e-10,
    ) -> uses.Simulation:
        """The motion from one state, with steps as long as a tolerance allows.

        Arguments:
            q0, v0, controller, limits, record, p: as in `simulate`; the controller acts
                continuously. Stops may be springs.
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
            limits=limits,
            record=record,
            events=events,
            method=method,
            tolerance=tolerance,
        )
        values = uses.InitialValues(q0=q0, v0=v0, p=p)
        return uses.adaptive(
            self,  # type: ignore[arg-type]
            self._memo,
            controller,
            values,
            settings,
            time=time,
        )
