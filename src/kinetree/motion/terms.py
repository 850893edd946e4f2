"""The cost of a motion at an instant: terms with values and derivatives up to the second.

A term is a function of (t, q, v, a, tau) at each sample. Bounds and equalities are terms, too, of
the augmented Lagrangian: M. J. D. Powell (1969), R. T. Rockafellar (1973); J. Nocedal & S. J.
Wright, Numerical Optimization (2006), section 17.4.

    book        code            meaning
    lambda      above, below    multipliers of the upper and of the lower bound
    mu          penalty, rho    the weight of squared violations

differs: far inside a bound the penalty is a logarithm, joined with equal value, slope and
curvature: A. Ben-Tal & M. Zibulevsky, Penalty/barrier multiplier methods (1997). A penalty
that begins at the bound has a kink in its slope, and Newton steps overshoot it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.model import Model
from kinetree.motion.arrays import Array
from kinetree.scalar import Scalar
from kinetree.spatial import Vector3
from kinetree.spatial.exponential import translation_to_screw

if TYPE_CHECKING:
    from kinetree.robot import Robot

ARGUMENTS = ("q", "v", "a", "tau")
LEAST_MULTIPLIER = 1e-8
"""The least multipliers of inequalities, relative to the penalty."""
MULTIPLIER_CHANGE = 0.25
"""The least factor of an inequality's multiplier in an update: while a multiplier is large, Newton
steps do not overshoot the bound. Growth is not limited: the penalty would have to make up for it,
and large penalties make the minimisation stiff."""


class State(NamedTuple):
    """The samples of a motion: t has the samples' axes, the others n numbers for each."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array | None


@dataclass
class Sampled:
    """A term at the samples, with derivatives.

    value: (...).
    first: by each of q, v, a, tau that it depends on, (..., n).
    second: by pairs of them, (..., n, n); only its diagonal, (..., n), in `diagonal`.
    blocks: diagonal blocks outside which the entries of `second` that involve tau are zero; None if
        there are no such zeros.
    """

    value: Array
    first: dict[str, Array] = field(default_factory=dict)
    diagonal: dict[str, Array] = field(default_factory=dict)
    second: dict[tuple[str, str], Array] = field(default_factory=dict)
    blocks: tuple[slice, ...] | None = None


class Term:
    """A function of the state at an instant.

    needs_forces: whether it depends on tau.
    """

    needs_forces = False

    def value(self, state: State, which: Array) -> Array:
        """Its value at each sample; `which` has the problems of the first axis."""
        raise NotImplementedError

    def derivatives(self, state: State, which: Array) -> Sampled:
        """Its value and derivatives at each sample."""
        raise NotImplementedError

    def approximate(self, state: State, which: Array) -> Sampled:
        """The same, where second derivatives may be those of Gauss-Newton."""
        return self.derivatives(state, which)


@dataclass
class Squares(Term):
    """The weighted sum of squared joint forces; weights (n,)."""

    weights: Array
    needs_forces = True

    def value(self, state: State, which: Array) -> Array:
        return (state.tau**2 * self.weights).sum(axis=-1)  # type: ignore[operator]

    def derivatives(self, state: State, which: Array) -> Sampled:
        assert state.tau is not None
        y = self.weights * state.tau
        twice = np.broadcast_to(2.0 * self.weights, y.shape)
        return Sampled((y * state.tau).sum(axis=-1), {"tau": 2.0 * y}, {"tau": twice})


@dataclass
class SquaredAccelerations(Term):
    """The weighted sum of squared accelerations; weights (n,)."""

    weights: Array

    def value(self, state: State, which: Array) -> Array:
        return (state.a**2 * self.weights).sum(axis=-1)

    def derivatives(self, state: State, which: Array) -> Sampled:
        y = self.weights * state.a
        twice = np.broadcast_to(2.0 * self.weights, y.shape)
        return Sampled((y * state.a).sum(axis=-1), {"a": 2.0 * y}, {"a": twice})


class Traced(Term):
    """A function over scalars, compiled with its derivatives.

    Arguments:
        robot: the robot of its kernels.
        function: takes (model, t, q, v, a, tau, p), of which those in `names` are given.
        names: of the arguments it depends on.
        constants: one more argument, "p", the same for all samples.
    """

    def __init__(
        self,
        robot: Robot,
        function: Callable[..., Any],
        names: Sequence[str],
        constants: Array | None = None,
        name: str = "cost",
    ) -> None:
        self._names, self.constants = tuple(names), constants
        self.needs_forces = "tau" in names
        lengths: dict[str, int | None] = {x: None if x == "t" else robot.nv for x in self._names}
        if constants is not None:
            lengths["p"] = constants.shape[-1]
        self._kernel = robot.custom_kernel(function, lengths, name)
        self._by = [x for x in self._names if x != "t"]

    @cached_property
    def _first(self) -> Kernel:
        return self._kernel.jacobian(self._by)

    @cached_property
    def _second(self) -> Kernel:
        return self._first.jacobian(self._by)

    def _arguments(self, state: State) -> list[Array]:
        values = [getattr(state, name) for name in self._names]
        return values if self.constants is None else [*values, self.constants]

    def value(self, state: State, which: Array) -> Array:
        return self._kernel(*self._arguments(state))

    def derivatives(self, state: State, which: Array) -> Sampled:
        arguments = self._arguments(state)
        count = len(self._by)
        first = _several(self._first(*arguments))
        second = _several(self._second(*arguments))
        pairs = {
            (a, b): second[i * count + j]
            for i, a in enumerate(self._by)
            for j, b in enumerate(self._by)
            if i <= j
        }
        return Sampled(self._kernel(*arguments), dict(zip(self._by, first, strict=True)), {}, pairs)


class TurnedSquares(Term):
    """Squared joint forces, those of rotation vectors as torques; see `turned_squares`.

    Arguments:
        plain: the squares of all other forces.
        turned: those of the torques.
        starts: the first of the three coordinates of each rotation vector.
    """

    needs_forces = True

    def __init__(self, plain: Squares, turned: Traced, starts: Sequence[int]) -> None:
        self._plain, self._turned = plain, turned
        weights: Array = turned.constants
        weighted = all((weights[i : i + 3] > 0.0).all() for i in starts)
        # otherwise a block is not positive definite
        self._blocks = tuple(slice(i, i + 3) for i in starts) if weighted else None

    def value(self, state: State, which: Array) -> Array:
        return self._plain.value(state, which) + self._turned.value(state, which)

    def derivatives(self, state: State, which: Array) -> Sampled:
        plain, turned = (x.derivatives(state, which) for x in (self._plain, self._turned))
        turned.value = turned.value + plain.value
        turned.first["tau"] = turned.first["tau"] + plain.first["tau"]
        turned.diagonal, turned.blocks = plain.diagonal, self._blocks
        return turned


def _several(results: Any) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def turned_squares(robot: Robot, starts: Sequence[int], weights: Array) -> TurnedSquares:
    """The squared joint forces of a robot with rotation vectors, as torques in bodies' axes.

    The force that belongs to the rate of a rotation vector r is J^T times the torque, so its square
    depends on the chart; that of the torque does not.

    Arguments:
        robot: in the chart of rotation vectors.
        starts: the first of the three coordinates of each rotation vector; those without weight are
            left out.
        weights: of the torques, (nv,).
    """
    turned = [i for i in starts if weights[i : i + 3].any()]
    plain = weights.copy()
    for i in starts:
        plain[i : i + 3] = 0.0

    def squares(
        model: Model, q: Sequence[Scalar], tau: Sequence[Scalar], p: Sequence[Scalar]
    ) -> Scalar:
        total: Scalar = 0.0
        for i in turned:
            torque = translation_to_screw(Vector3(*tau[i : i + 3]), Vector3(*q[i : i + 3]))
            for w, x in zip(p[i : i + 3], torque, strict=True):
                total = total + w * x * x
        return total

    traced = Traced(robot, squares, ("q", "tau"), weights, "squared_torques")
    return TurnedSquares(Squares(plain), traced, turned)


class Constraint(Term):
    """A term of the augmented Lagrangian.

    lower, upper: bounds of the measured numbers; equal for an equality.
    scale: the size of a violation that counts as one.
    name: for messages.
    exact: whether its equalities have `slopes`, so that steps can keep them (`surface.py`).
    kept: whether steps do. The curvature of its rows then counts only in exact second derivatives.
    """

    name = "constraint"
    exact = False
    kept = False
    stiffness = 1.0
    met = 1e-6
    labels: tuple[str, ...] = ()
    scale: Array
    penalty: Array
    above: Array
    below: Array

    def prepare(self, samples: tuple[int, ...], penalty: Array, multiplier: Array) -> None:
        """Start with multipliers of zero; those of inequalities are positive.

        Arguments:
            samples: the shape of their times.
            penalty: (problems,).
            multiplier: of inequalities, (problems,).
        """
        shape = (len(penalty), *samples, len(self.labels))
        ones = (-1, *(1 for _ in shape[1:]))
        self.penalty = self.stiffness * penalty.reshape(ones)
        lower, upper = self.bounds()
        first = np.where(lower == upper, 0.0, multiplier.reshape(ones))
        self.above, self.below = (np.broadcast_to(first, shape).copy() for _ in range(2))

    def measured(self, state: State, which: Array) -> Array:
        """The constrained numbers, over `scale`."""
        raise NotImplementedError

    def slopes(self, state: State, which: Array) -> dict[str, Array]:
        """The derivatives of `measured` by q and tau, (..., rows, n) each."""
        raise NotImplementedError

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds of `measured`, over `scale`."""
        raise NotImplementedError

    def violation(self, state: State, which: Array) -> Array:
        """The violation of each constraint, over `scale`."""
        lower, upper = self.bounds()
        x = self.measured(state, which)
        return np.maximum(np.maximum(x - upper, lower - x), 0.0)

    def excess(self, state: State, which: Array) -> Array:
        """The constraint's cost term at each sample."""
        return self._elements(self.measured(state, which), which)[0].sum(axis=-1)

    def update(self, state: State, which: Array) -> None:
        """Update the multipliers: they take over the slope of the penalty."""
        x, rho = self.measured(state, which), self.penalty[which]
        lower, upper = self.bounds()
        free = lower == upper
        for side, distance in ((self.above, x - _finite(upper)), (self.below, _finite(lower) - x)):
            old = side[which]
            pushed = self._side(distance, old, rho)[1]
            least = np.maximum(MULTIPLIER_CHANGE * old, LEAST_MULTIPLIER * rho)
            side[which] = np.where(free, pushed, np.maximum(pushed, least))

    def _side(self, x: Array, multiplier: Array, rho: Array) -> tuple[Array, Array, Array]:
        """Value, slope and curvature of the penalty of one bound, exceeded by x, elementwise."""
        lower, upper = self.bounds()
        push = multiplier + rho * x
        value, bend = (push**2 - multiplier**2) / (2.0 * rho), np.broadcast_to(rho, push.shape)
        # far inside, a logarithm: Newton's method feels a bound before it is reached
        far = (push < 0.5 * multiplier) & (lower != upper)
        t = np.where(far, rho * x / np.where(far, multiplier, 1.0), -1.0)
        value = np.where(far, multiplier**2 / rho * (-0.25 * np.log(-2.0 * t) - 0.375), value)
        push = np.where(far, -0.25 * multiplier / t, push)
        bend = np.where(far, 0.25 * rho / t**2, bend)
        return value, push, bend

    def _elements(self, x: Array, which: Array) -> tuple[Array, Array, Array]:
        """Value, slope and curvature of the penalty, elementwise."""
        rho = self.penalty[which]
        lower, upper = self.bounds()
        up = self._side(x - _finite(upper), self.above[which], rho)
        down = self._side(_finite(lower) - x, self.below[which], rho)
        over = np.isfinite(upper)
        under = np.isfinite(lower) & (lower != upper)
        value, slope, bend = (
            np.where(over, a, 0.0) + sign * np.where(under, b, 0.0)
            for a, b, sign in zip(up, down, (1.0, -1.0, 1.0), strict=True)
        )
        return value, slope, bend


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 0.0)


class Bounds(Constraint):
    """Bounds on the coordinates, velocities or joint forces.

    Arguments:
        of: "q", "v" or "tau".
        lower, upper: (n,); infinite where there is none.
        scale: (n,).
        labels: the name of each entry, for messages.
        name: of the bounded quantity, for messages.
    """

    def __init__(
        self,
        of: str,
        lower: Array,
        upper: Array,
        scale: Array,
        labels: Sequence[str],
        name: str,
    ) -> None:
        self.of, self.name, self.labels = of, name, tuple(labels)
        self.scale = scale
        self._limits = lower / scale, upper / scale
        self.needs_forces = of == "tau"

    def bounds(self) -> tuple[Array, Array]:
        return self._limits

    def measured(self, state: State, which: Array) -> Array:
        return getattr(state, self.of) / self.scale

    def value(self, state: State, which: Array) -> Array:
        return self._elements(self.measured(state, which), which)[0].sum(axis=-1)

    def derivatives(self, state: State, which: Array) -> Sampled:
        value, slope, curvature = self._elements(self.measured(state, which), which)
        first, diagonal = slope / self.scale, curvature / self.scale**2
        return Sampled(value.sum(axis=-1), {self.of: first}, {self.of: diagonal})
