"""What an optimal control problem minimises and demands: users' functions, as kernels.

Source: J. Nocedal & S. J. Wright, Numerical Optimization (2006), section 17.4: the augmented
Lagrangian of equalities c = 0 and inequalities c <= 0,

    cost + sum of y c + rho/2 c^2 + sum of (max(0, y + rho c)^2 - y^2) / (2 rho)

    paper      code     meaning
    lambda     y        multipliers, of every step
    mu         rho      the penalty, the last entry of y

Functions are called with traced scalars: (t, q, v, tau, pose), and with `force` as a sixth argument
if they take one; those of the last state with (q, v, pose). A cost that returns several numbers is
the sum of their squares. Such a sum, and what conditions add (squares, too, but for constants), is
expanded with the Gauss-Newton matrix, which has no negative curvature; other costs with their own
second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import frame_pose
from kinetree.compiler.runtime.inlining import objects
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import function, optional_function, texts
from kinetree.model import Model
from kinetree.motion.control_steps import ControlStep
from kinetree.scalar import Scalar, maximum, sqrt
from kinetree.scalar.structure import flat

if TYPE_CHECKING:
    from kinetree.robot import Robot

Cost = Callable[..., Any]
"""(t, q, v, tau, pose) over scalars, or of a final state (q, v, pose)."""
LIMITS = ("q", "v")


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What a motion must keep; the arguments of `Robot.optimal_control`."""

    equalities: Cost | None = None
    inequalities: Cost | None = None
    final_equalities: Cost | None = None
    final_inequalities: Cost | None = None
    bounded: Sequence[str] = ()


class Conditions:
    """Equalities and inequalities of one kind of state, by name: equalities come first.

    Arguments:
        robot: what moves.
        equal, below: functions of what must be zero, and of what must not be positive.
        bounded: which of "q" and "v" must stay within the limits of the robot.
    """

    def __init__(
        self, robot: Robot, equal: Cost | None, below: Cost | None, bounded: Sequence[str]
    ) -> None:
        self.robot, self._equal, self._below = robot, equal, below
        self.bounds = _bounds(robot, bounded)
        self.names: list[str] = []
        self.equalities = 0

    @property
    def any(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self.bounds) or self._equal is not None or self._below is not None

    @property
    def functions(self) -> list[Cost]:
        """What the user gave."""
        return [x for x in (self._equal, self._below) if x is not None]

    def rows(self, q: Any, v: Any, call: Callable[[Cost], Any]) -> list[Scalar]:
        """All rows over scalars.

        Arguments:
            q, v: the state.
            call: calls a function with what it takes.
        """
        equal = _named("equality", self._equal, call)
        below = _named("inequality", self._below, call)
        for name, kind, k, sign, limit in self.bounds:
            x = q[k] if kind == "q" else v[k]
            below.append((name, sign * (x - limit)))
        self.equalities, self.names = len(equal), [name for name, _ in (*equal, *below)]
        return [row for _, row in (*equal, *below)]

    def residuals(self, rows: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        """Numbers whose squares the augmented Lagrangian adds to the cost, but for constants."""
        rho, share = y[len(rows)], sqrt(2.0 * y[len(rows)])
        pushed = [m + rho * c for c, m in zip(rows, y, strict=False)]
        equal = self.equalities
        return [x / share for x in (*pushed[:equal], *(maximum(x, 0.0) for x in pushed[equal:]))]

    def augmented(self, rows: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """What the augmented Lagrangian adds to the cost."""
        rho, total = y[len(rows)], 0.0
        for k, (c, m) in enumerate(zip(rows, y, strict=False)):
            if k < self.equalities:
                total = total + m * c + 0.5 * rho * c * c
            else:
                pushed = maximum(m + rho * c, 0.0)
                total = total + (pushed * pushed - m * m) / (2.0 * rho)
        return total


def _bounds(robot: Robot, kinds: Sequence[str]) -> list[tuple[str, str, int, float, float]]:
    """Name, "q" or "v", index, sign and limit of every finite bound."""
    limits, labels, found = robot.limits, robot.labels, []
    for kind in texts("bounded", kinds):
        if not among(kind, LIMITS):
            raise unknown("bounded quantity", kind, LIMITS, "optimal_control")
        speed = limits.velocity
        low, high = (limits.lower, limits.upper) if kind == "q" else (-speed, speed)
        for k, name in enumerate(labels.q if kind == "q" else labels.v):
            what = f"{'position' if kind == 'q' else 'velocity'} limit of {name!r}"
            sides = (("lower", -1.0, low[k]), ("upper", 1.0, high[k]))
            for side, sign, limit in sides:
                if np.isfinite(limit):
                    found.append((f"the {side} {what}", kind, k, sign, float(limit)))
    return found


def _named(
    kind: str, given: Cost | None, call: Callable[[Cost], Any]
) -> list[tuple[str, Scalar]]:
    """The rows that a function returns, with their names."""
    if given is None:
        return []
    result = call(given)
    groups = result if isinstance(result, Mapping) else {kind: result}
    found = []
    for name, group in groups.items():
        rows = flat([group])
        several = len(rows) > 1 or not isinstance(result, Mapping)
        found += [(f"{name}[{k}]" if several else str(name), x) for k, x in enumerate(rows)]
    if not found:
        raise KinetreeError(f"the function of {kind} constraints returns nothing: numbers expected")
    return found


class ControlCosts:
    """The kernels of costs and conditions.

    Arguments:
        robot: what moves.
        step: how; its forces are those that functions may ask for.
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
        """Calls functions of a step with what they take."""
        given = (t, *objects(q, v, tau), lambda frame: frame_pose(model, q, frame))

        def force(name: str) -> list[Scalar]:
            if not among(name, self.step.groups):
                raise unknown("force", name, list(self.step.groups), self.robot.name)
            return [forces[k] for k in self.step.groups[name]]

        return lambda f: f(*given, force) if _takes_forces(f) else f(*given)

    def _final_calling(self, model: Model, q: Any, v: Any) -> Callable[[Cost], Any]:
        return lambda f: f(*objects(q, v), lambda frame: frame_pose(model, q, frame))

    # kernels

    @cached_property
    def terms(self) -> Any:
        """What the cost returns: one number, or several to be squared."""

        def cost(model: Model, t: Scalar, q: Any, v: Any, tau: Any, *forces: Any) -> Any:
            return _terms(self._calling(model, t, q, v, tau, *(forces or (None,)))(self._cost))

        return self.robot.custom_kernel(cost, self._lengths(), "cost_terms")

    @cached_property
    def final_terms(self) -> Any:
        """What the cost of the last state returns."""

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
        """How many rows a step has."""
        return _length(self.rows) if self.conditions.any else 0

    @cached_property
    def final_row_count(self) -> int:
        """How many rows the last state has."""
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
        return _expanded(smooth, self.residuals, arguments, by, sizes)

    def final_quadratic(self, *given: Any) -> tuple[Any, list[Scalar]]:
        """Second derivatives and gradient by q and v, of `final_merit`'s arguments."""
        smooth = None if _several(self.final_terms) else (self.final_terms, given[:2])
        return _expanded(smooth, self.final_residuals, given, ("q", "v"), [self.robot.nv] * 2)


def _expanded(
    smooth: tuple[Any, Sequence[Any]] | None,
    residuals: Any,
    arguments: Sequence[Any],
    by: tuple[str, ...],
    sizes: list[int],
) -> tuple[Any, list[Scalar]]:
    """Second derivatives and gradient of a cost and of a sum of squares, over scalars.

    Arguments:
        smooth: the kernel of the cost and its arguments, if it is a single number.
        residuals: the kernel of what is squared, if there is any; `arguments` are its own.
        by: names of the arguments by which they are derived, and their `sizes`.
    """
    n = sum(sizes)
    H: Any = [[0.0] * n for _ in range(n)]
    g: list[Scalar] = [0.0] * n
    if smooth is not None:
        kernel, given = smooth
        first = kernel.jacobian(by)
        H, g = _quadratic(first, first.jacobian(by), given, sizes)
    if residuals is not None:
        values = residuals.on_scalars(*arguments)[0]
        parts = residuals.jacobian(by).on_scalars(*arguments)
        for k, r in enumerate(values):
            slope = {i: x for i, x in enumerate(y for part in parts for y in part[k]) if x != 0}
            for i, x in slope.items():
                g[i] = g[i] + 2.0 * r * x
                for j, y in slope.items():
                    if j <= i:
                        H[i][j] = H[i][j] + 2.0 * x * y
        for i in range(n):
            for j in range(i):
                H[j][i] = H[i][j]
    return H, g


def _quadratic(
    first: Any, second: Any, arguments: Sequence[Any], sizes: list[int]
) -> tuple[Any, list[Scalar]]:
    """Second derivatives and gradient by several arguments of some sizes, over scalars."""
    slopes, bends = first.on_scalars(*arguments), second.on_scalars(*arguments)
    count = len(sizes)
    H = [
        [x for block in bends[count * k : count * k + count] for x in block[i]]
        for k, size in enumerate(sizes)
        for i in range(size)
    ]
    # in a chart H is symmetric only where the gradient vanishes
    every = range(sum(sizes))
    symmetric = [[0.5 * (H[i][j] + H[j][i]) for j in every] for i in every]
    return symmetric, [x for part in slopes for x in part]


def _terms(result: Any) -> Any:
    """A cost as one number, or as a list of several to be squared."""
    if isinstance(result, (list, tuple, np.ndarray)) and np.ndim(result):
        return flat(result if isinstance(result, list) else list(result))
    return result


def _several(kernel: Any) -> bool:
    """Whether a kernel gives a list of numbers."""
    (output,) = kernel.program.outputs
    return output.shape != ()


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
    """How many numbers a kernel gives."""
    (output,) = kernel.program.outputs
    return len(output.nodes)
