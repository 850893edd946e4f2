"""Motions of a robot by optimisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from kinetree._lazy import cached_property
from kinetree.algorithms.constraints import Baumgarte
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.compiler.runtime.foreign.through_numpy import numpy_alone
from kinetree.robot import uses
from kinetree.robot.core import Core
from kinetree.typing import ArrayLike, StepMethod


class Moving(Core):
    """Transitions, timing of paths, optimal control and model-predictive control."""

    @cached_property
    def _flat(self) -> uses.Flat:
        """The robot in charts in which transitions are computed."""
        return uses.Flat(self)  # type: ignore[arg-type]

    @numpy_alone
    def transition(
        self,
        first: Any,
        second: Any,
        duration: float | tuple[float, float],
        *,
        weights: ArrayLike | None = None,
        root: float | Literal["passive"] = "passive",
        bounded: Sequence[Literal["q", "v", "tau"]] = ("q",),
        hold: Sequence[uses.Hold] = (),
        supports: Sequence[uses.Support] = (),
        cost: Callable[..., Any] | None = None,
        degree: int = 3,
        coefficients: int = 16,
        smoothing: float | None = None,
        points: int = 4,
        samples: int | None = None,
        starts: int = 1,
        seed: int = 0,
        spread: float = 0.3,
        method: Literal["newton", "exact-newton", "gauss-newton", "l-bfgs", "ipopt"] = "newton",
        tolerance: float = 1e-8,
        iterations: int = 1000,
        progress: Callable[[float], object] | None = None,
    ) -> uses.Transition:
        """The motion between two states with minimum effort P, the integral of the sum of tau_i^2.

        Free orientations are computed with rotation vectors, and their effort is that of the
        torques in the bodies' axes: no chart need be chosen. Batches of states are solved together.

        Arguments:
            first, second: q, or tuples (q, v) or (q, v, a), each (..., n); at rest if only q is
                given. Or a `kinetree.Motion` with a time, (motion, t), or a motion alone, which is
                left at its end or entered at its start. The transition has the given velocities and
                accelerations.
            duration: s; or (least, most), between which the best duration is found.
            weights: of the squared joint forces, (nv,); ones by default.
            root: how the force on a free root is treated: "passive", there is none; or its weight
                in P. With 0.0 any force there costs nothing, as if the figure were carried;
                `Transition.root_force` says how large it is.
            bounded: which of "q", "v" and "tau" stay within the limits of the joints; by default
                the positions.
            hold: frames that are held or led along a path; see `kinetree.Hold`.
            supports: frames that stand on the ground for some time; see `kinetree.Support`. The
                forces of the ground are unknowns, nothing else acts on the root, and P counts the
                joints alone. Where no support acts, the robot flies. Ends that are given by motions
                then have their positions and velocities, and no given accelerations.
            cost: what is added to P: a function (t, q, v, a, tau, pose) over scalars, where `pose`
                maps a frame's name to its Transform.
            degree, coefficients: of the B-splines, including the coefficients that the two states
                determine.
            smoothing: what squared joint accelerations count with beside squared joint forces: as
                if each joint also turned this share of the robot's mass times the squared height
                of its centre of mass. It is no part of P; without it hands and head, which cost
                no effort, swing. By default 1e-3 on supports and 0 without.
            points: samples between each two knots, by Gauss-Legendre quadrature; on supports by
                Gauss-Lobatto quadrature, which has samples at the knots.
            samples: instead of `points`, the total number of samples, each in the middle of its
                interval.
            starts, seed, spread: the number of starts, of which the best is kept; the random ones
                are spread by this many radians.
            method: "newton" (the Gauss-Newton matrix first, exact second derivatives later),
                "exact-newton", "gauss-newton"; without limits and held frames also "l-bfgs", for
                comparison, and "ipopt", which needs CasADi.
            tolerance: for the Newton decrement: how much the next step would lower P, relative to
                P.
            iterations: the most to take, for each set of samples at which constraints are imposed.
            progress: called with the least cost after each iteration. Ctrl-C ends the computation
                with the best so far.

        Returns:
            The transition: `motion()`, `value` (P) with its `error`, `converged`, `message`, which
            says why not, and `violations()`, where constraints are violated most.
        """
        settings = uses.Settings(
            weights=weights,
            root=root,
            bounded=bounded,
            hold=hold,
            supports=supports,
            smoothing=smoothing,
            cost=cost,
            degree=degree,
            coefficients=coefficients,
            points=points,
            samples=samples,
            starts=starts,
            seed=seed,
            spread=spread,
            method=method,
            tolerance=tolerance,
            iterations=iterations,
            progress=progress,
        )
        return uses.transition(self._flat, first, second, duration, settings)

    @cached_property
    def _timing(self) -> dict[int, uses.Passes]:
        """The compiled passes of `time_path`, by their number of rows."""
        return {}

    @numpy_alone
    def time_path(
        self,
        path: Any,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        points: int | None = None,
    ) -> uses.Motion:
        """The fastest motion along a path, from rest to rest, within limits.

        Limits are kept at grid points and between them, to a millionth. If no motion keeps them, an
        error names the joint, and where on the path.

        Arguments:
            path: waypoints, (n, nq), through which a smooth curve goes; or a `kinetree.Motion`,
                whose own timing does not matter.
            velocity, effort: limits, one number, or (nv,); the robot's own by default. Infinite
                for none.
            acceleration: limits likewise; none by default.
            points: of the grid along the path; by default as many as there are waypoints, and at
                least 400.

        Returns:
            The motion.
        """
        return uses.time_path(
            self,  # type: ignore[arg-type]
            self._timing,
            path,
            velocity=velocity,
            acceleration=acceleration,
            effort=effort,
            points=points,
        )

    @numpy_alone
    def optimal_control(
        self,
        cost: Callable[..., Any],
        final: Callable[..., Any] | None = None,
        *,
        steps: int,
        dt: float,
        method: StepMethod = "euler",
        actuated: ArrayLike | Literal["actuators"] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        bounded: Sequence[str] = (),
        equalities: Callable[..., Any] | None = None,
        inequalities: Callable[..., Any] | None = None,
        final_equalities: Callable[..., Any] | None = None,
        final_inequalities: Callable[..., Any] | None = None,
        phases: uses.Phases | None = None,
        stabilization: Baumgarte | None = None,
        contact: ContactSolver | bool = SOLVER,
    ) -> uses.ControlProblem:
        """An optimal control problem over `step`; its `solve(q0, v0)` takes batches of states.

        With contacts, where and when the robot touches is found by the optimisation. With phases,
        it is given: constraints act when they say.

        Arguments:
            cost: (t, q, v, tau, pose) over scalars: the cost per second. `pose` maps a frame's name
                to its Transform. A cost with a sixth argument takes `force`, which maps the name of
                a constraint or of a contact pair to a list of its forces.
            final: (q, v, pose) over scalars: the cost of the last state; none if None.
            steps, dt: the number of steps, and their length, s.
            method: the integrator of `step`.
            actuated: which joints have motors, (nv,) booleans; all if None. "actuators": controls
                are those of the robot's actuators, which must not have activations.
            lower, upper: bounds on the controls, (nu,), or (nv,) for motors; by default the joints'
                effort limits, or the ranges of the actuators' controls.
            bounded: which of "q" and "v" must stay within the limits of the robot.
            equalities, inequalities: functions with the arguments of `cost`, of what must be zero
                in each step, and of what must not be positive: a list of scalars, or a dictionary
                that names them in messages.
            final_equalities, final_inequalities: the same of the last state, (q, v, pose).
            phases: which constraints of the robot act when: a list of `kinetree.Phase`, or a
                function from the time to their names. Contacts are then left out. If None, all
                constraints act all the time.
            stabilization: how errors of constraints decay, `kinetree.Baumgarte(rate=...)`. By
                default they are at rest at the end of each step.
            contact: as in `step`; False leaves contacts out.

        Returns:
            The problem, not yet solved.
        """
        demands = uses.Demands(
            equalities=equalities,
            inequalities=inequalities,
            final_equalities=final_equalities,
            final_inequalities=final_inequalities,
            bounded=bounded,
        )
        return uses.ControlProblem(
            self,  # type: ignore[arg-type]
            cost,
            final,
            steps=steps,
            dt=dt,
            method=method,
            actuated=actuated,
            lower=lower,
            upper=upper,
            phases=phases,
            stabilization=stabilization,
            contact=contact,
            demands=demands,
        )
