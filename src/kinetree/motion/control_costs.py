"""The costs and conditions of an optimal control problem: users' functions, as kernels.

Source: J. Nocedal & S. J. Wright, Numerical Optimization (2006), section 17.4: the augmented
Lagrangian of equalities c = 0 and inequalities c <= 0,

    cost + sum of y c + rho/2 c^2 + sum of (max(0, y + rho c)^2 - y^2) / (2 rho)

    paper      code     meaning
    lambda     y        multipliers, of every step
    mu         rho      the penalty, the last entry of y

Functions are called with traced scalars: (t, q, v, tau, pose), and with `force` as a sixth argument
if they take one; those of the last state with (q, v, pose). A cost that returns several numbers is
the sum of their squares. Such a sum, and the terms of conditions (squares up to constants), are
expanded with the Gauss-Newton matrix, which has no negative curvature; other costs with their exact
second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import frame_pose
from kinetree.compiler.runtime.inlining import objects
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import function, optional_function
from kinetree.model import Model
from kinetree.motion.conditions import Conditions, Cost, Demands
from kinetree.motion.control_steps import ControlStep
from kinetree.motion.gauss_newton import expanded
from kinetree.scalar import Scalar
from kinetree.scalar.structure import flat
from kinetree.simulate.laws import called
from kinetree.spatial import Vector3

if TYPE_CHECKING:
    from kinetree.robot import Robot


class ControlCosts:
    """The kernels of costs and conditions.

    Arguments:
        robot: what moves.
        step: its step; functions may ask for its forces.
        cost, final: of each step, a second, and of the last state; none if None.
        demands: equalities, inequalities and bounds of states.
    """

    def __init__(
        self, robot: Robot, step: ControlStep, cost: Cost, final: Cost | None, demands: Demands
    ) -> None:
        self.robot, self.step = robot, step
        self._cost, self._final = function("cost", cost), optional_function("final", final)
        for name in ("equalities", "inequalities", "final_equalities", "final_inequalities"):
            optional_function(name, getattr(demands, name))
        self.conditions = Conditions(
            robot, demands.equalities, demands.inequalities, demands.bounded
        )
        self.final_conditions = Conditions(
            robot, demands.final_equalities, demands.final_inequalities, demands.bounded
        )
        self.uses_forces = any(map(_takes_forces, (cost, *self.conditions.functions)))
        if self.uses_forces and not step.force_count:
            raise KinetreeError(
                f"the cost asks for forces (its sixth argument), and robot {robot.name!r} has "
                "neither contacts nor constraints"
            )
        self.force_count = step.force_count if self.uses_forces else 0

    @property
    def constrained(self) -> bool:
        """Whether there are conditions."""
        return self.conditions.any or self.final_conditions.any

    # tracing

    def _lengths(self, y: int = 0) -> dict[str, int | None]:
        nq, nv = self.robot.nq, self.robot.nv
        lengths: dict[str, int | None] = {"t": None, "q": nq, "v": nv, "tau": nv}
        lengths |= {"forces": self.force_count} if self.force_count else {}
        return lengths | ({"y": y} if y else {})

    def _calling(
        self, model: Model, t: Scalar, q: Any, v: Any, tau: Any, forces: Any
    ) -> Callable[[Cost], Any]:
        """A function that calls functions of a step with their arguments."""
        given = dict(zip(("t", "q", "v", "tau"), (t, *objects(q, v, tau)), strict=True))
        given["pose"] = lambda frame: frame_pose(model, q, frame)

        def force(name: str) -> list[Scalar]:
            if not among(name, self.step.groups):
                raise unknown("force", name, list(self.step.groups), self.robot.name)
            return [forces[k] for k in self.step.groups[name]]

        with_force = given | {"force": force}
        return lambda f: called(f, "a cost", with_force if _takes_forces(f) else given)

    def _final_calling(self, model: Model, q: Any, v: Any) -> Callable[[Cost], Any]:
        position, velocity = objects(q, v)
        given = {"q": position, "v": velocity, "pose": lambda frame: frame_pose(model, q, frame)}
        return lambda f: called(f, "a cost of the last state", given)

    # kernels

    @cached_property
    def terms(self) -> Any:
        """The value of the cost: one number, or several to be squared."""

        def cost(model: Model, t: Scalar, q: Any, v: Any, tau: Any, *forces: Any) -> Any:
            return _terms(self._calling(model, t, q, v, tau, *(forces or (None,)))(self._cost))

        return self.robot.custom_kernel(cost, self._lengths(), "cost_terms")

    @cached_property
    def final_terms(self) -> Any:
        """The value of the last state's cost."""

        def cost(model: Model, q: Any, v: Any) -> Any:
            if self._final is None:
                return 0.0 * q[0]
            return _terms(self._final_calling(model, q, v)(self._final))

        lengths = {"q": self.robot.nq, "v": self.robot.nv}
        return self.robot.custom_kernel(cost, lengths, "final_cost_terms")

    @cached_property
    def cost(self) -> Any:
        """The cost a second, of (t, q, v, tau), and forces if any function takes them."""
        if not _several(self.terms):
            return self.terms

        def cost(model: Model, *given: Any) -> Scalar:
            return _squared(self.terms.on_scalars(*_vectors(given))[0])

        return self.robot.custom_kernel(cost, self._lengths(), "running_cost")

    @cached_property
    def final(self) -> Any:
        """The cost of the last state, of (q, v)."""
        if not _several(self.final_terms):
            return self.final_terms

        def cost(model: Model, q: Any, v: Any) -> Scalar:
            return _squared(self.final_terms.on_scalars(q, v)[0])

        lengths = {"q": self.robot.nq, "v": self.robot.nv}
        return self.robot.custom_kernel(cost, lengths, "final_cost")

    @cached_property
    def rows(self) -> Any:
        """The rows of conditions of a step, of the arguments of `cost`."""

        def rows(model: Model, t: Scalar, q: Any, v: Any, tau: Any, *forces: Any) -> Any:
            call = self._calling(model, t, q, v, tau, *(forces or (None,)))
            return self.conditions.rows(q, v, call)

        return self.robot.custom_kernel(rows, self._lengths(), "conditions")

    @cached_property
    def final_rows(self) -> Any:
        """The rows of conditions of the last state, of (q, v)."""

        def rows(model: Model, q: Any, v: Any) -> Any:
            return self.final_conditions.rows(q, v, self._final_calling(model, q, v))

        lengths = {"q": self.robot.nq, "v": self.robot.nv}
        return self.robot.custom_kernel(rows, lengths, "final_conditions")

    @cached_property
    def row_count(self) -> int:
        """The number of rows of a step."""
        return _length(self.rows) if self.conditions.any else 0

    @cached_property
    def final_row_count(self) -> int:
        """The number of rows of the last state."""
        return _length(self.final_rows) if self.final_conditions.any else 0

    @cached_property
    def merit(self) -> Any:
        """The augmented Lagrangian a second, of the arguments of `cost` and y."""
        m = self.row_count
        if not m:
            return self.cost

        def merit(model: Model, *given: Any) -> Scalar:
            *arguments, y = given
            added = self.conditions.augmented(self.rows.on_scalars(*_vectors(arguments))[0], y)
            return self.cost.on_scalars(*_vectors(arguments))[0] + added

        return self.robot.custom_kernel(merit, self._lengths(m + 1), "augmented_cost")

    @cached_property
    def final_merit(self) -> Any:
        """The augmented Lagrangian of the last state, of (q, v) and y."""
        m = self.final_row_count
        if not m:
            return self.final

        def merit(model: Model, q: Any, v: Any, y: Any) -> Scalar:
            added = self.final_conditions.augmented(self.final_rows.on_scalars(q, v)[0], y)
            return self.final.on_scalars(q, v)[0] + added

        lengths = {"q": self.robot.nq, "v": self.robot.nv, "y": m + 1}
        return self.robot.custom_kernel(merit, lengths, "augmented_final_cost")

    @cached_property
    def residuals(self) -> Any:
        """Numbers whose squares are expanded with the Gauss-Newton matrix, of `merit`'s arguments.

        None if there are none.
        """
        m, several = self.row_count, _several(self.terms)
        if not m and not several:
            return None

        def residuals(model: Model, *given: Any) -> list[Scalar]:
            arguments = _vectors(given[:-1] if m else given)
            found = list(self.terms.on_scalars(*arguments)[0]) if several else []
            if m:
                found += self.conditions.residuals(self.rows.on_scalars(*arguments)[0], given[-1])
            return found

        return self.robot.custom_kernel(residuals, self._lengths(m + 1 if m else 0), "residuals")

    @cached_property
    def final_residuals(self) -> Any:
        """The same of the last state."""
        m, several = self.final_row_count, _several(self.final_terms)
        if not m and not several:
            return None

        def residuals(model: Model, q: Any, v: Any, *y: Any) -> list[Scalar]:
            found = list(self.final_terms.on_scalars(q, v)[0]) if several else []
            if m:
                rows = self.final_rows.on_scalars(q, v)[0]
                found += self.final_conditions.residuals(rows, y[0])
            return found

        lengths = {"q": self.robot.nq, "v": self.robot.nv} | ({"y": m + 1} if m else {})
        return self.robot.custom_kernel(residuals, lengths, "final_residuals")

    # second-order expansions, over scalars

    def quadratic(self, t: Scalar, *given: Any) -> tuple[Any, list[Scalar]]:
        """Second derivatives and gradient by q, v, tau and forces, of `merit`'s arguments."""
        by = ("q", "v", "tau", "forces") if self.force_count else ("q", "v", "tau")
        sizes = [self.robot.nv] * 3 + [self.force_count] * (len(by) - 3)
        arguments = [[t], *given]
        plain = arguments[:-1] if self.row_count else arguments
        smooth = None if _several(self.terms) else (self.terms, plain)
        return expanded(smooth, self.residuals, arguments, by, sizes)

    def final_quadratic(self, *given: Any) -> tuple[Any, list[Scalar]]:
        """Second derivatives and gradient by q and v, of `final_merit`'s arguments."""
        smooth = None if _several(self.final_terms) else (self.final_terms, given[:2])
        return expanded(smooth, self.final_residuals, given, ("q", "v"), [self.robot.nv] * 2)


def _terms(result: Any) -> Any:
    """A cost as one number, or as a list of several to be squared."""
    if isinstance(result, (list, tuple)) or (isinstance(result, np.ndarray) and result.ndim):
        return flat([[*part] if isinstance(part, Vector3) else part for part in result])
    return [*result] if isinstance(result, Vector3) else result


def _several(kernel: Any) -> bool:
    """Whether a kernel gives a list of numbers."""
    (output,) = kernel.program.outputs
    return output.shape != ()


def sum_of_squares(cost: Any) -> Scalar:
    """A cost as one number: itself, or the sum of the squares of a list's entries.

    Arguments:
        cost: what a user's function returns.
    """
    terms = _terms(cost)
    return _squared(terms) if isinstance(terms, list) else terms


def _squared(values: Sequence[Scalar]) -> Scalar:
    return sum((x * x for x in values), start=0.0)


def _takes_forces(f: Cost) -> bool:
    """Whether a function of a step takes a sixth argument."""
    try:
        parameters = signature(f).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is Parameter.empty for p in parameters) > 5


def _vectors(arguments: Sequence[Any]) -> list[Any]:
    """Arguments of a kernel called on scalars: a single number is a vector of one."""
    return [[arguments[0]], *arguments[1:]]


def _length(kernel: Any) -> int:
    """The number of results of a kernel."""
    (output,) = kernel.program.outputs
    return len(output.nodes)
