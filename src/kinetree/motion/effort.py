"""The effort of a trajectory: the energy functional and its gradient.

A trajectory is one of SciPy's piecewise polynomials or B-splines. It is linear in its coefficients
c: with N, N' and N'' the values of its basis functions and of their rates at sample times,

    q = N c,    q' = N' c,    q'' = N'' c

so the gradient by c of a sum over samples is N^T, N'^T and N''^T times those by q, q' and q''.

The integral is computed by Gauss–Legendre quadrature between each two knots. The number of points
needed depends on the motion; by default `Effort` takes as many as successive rules need to agree.
It then keeps them, so that value and gradient are consistent for all coefficients.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.foreign.through_numpy import numpy_alone
from kinetree.errors import DtypeError, KinetreeError, ShapeError, among, unknown
from kinetree.motion.arrays import Array
from kinetree.robot.core import check_robot

if TYPE_CHECKING:
    from kinetree.robot import Robot

METHODS = ("vjp", "chain")
FEWEST, MOST = 4, 64  # points between two knots, where their number is not given
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Samples:
    """A quadrature rule along a trajectory.

    times: (samples,).
    weights: of the quadrature, (samples,).
    N: the values of the basis functions and of their rates, (samples, functions) each.
    """

    times: Array
    weights: Array
    N: tuple[Array, Array, Array]


class Effort:
    """The energy functional P of Guenter & Rose: the integral of the sum of tau_i^2.

    Arguments:
        robot: what moves; its velocities are the rates of its coordinates.
        trajectory: SciPy's BSpline or PPoly, with values of length nv.
        points: samples between each two knots, by Gauss–Legendre quadrature; by default as many as
            `tolerance` needs, from 4 to 64.
        weights: of the joints, (nv,); one for each if None. Zeros leave out a free base.
        tolerance: of the relative error of P for this trajectory.

    Attributes:
        coefficients: those of the given trajectory.
        points: samples between each two knots.
    """

    @numpy_alone
    def __init__(
        self,
        robot: Robot,
        trajectory: Any,
        *,
        points: int | None = None,
        weights: Array | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        check_robot(robot)
        if robot.nq != robot.nv:
            raise KinetreeError(
                f"robot {robot.name!r} has {robot.nq} coordinates and {robot.nv} velocities: a "
                "trajectory needs velocities that are the rates of the coordinates; use "
                "robot.edit.rechart('exponential')"
            )
        self._robot = robot
        self._knots, self._basis, axes = _basis(trajectory)
        if len(self._knots) < 2:
            raise KinetreeError("the trajectory has no duration: all its knots are equal")
        self.coefficients = _finite("the trajectory's coefficients", trajectory.c)
        if self.coefficients.ndim != axes or self.coefficients.shape[-1] != robot.nv:
            raise ShapeError(
                f"the trajectory has coefficients of shape {self.coefficients.shape}; {axes} axes "
                f"are expected, and the last axis must be {robot.nv}, one for each coordinate of "
                f"robot {robot.name!r}"
            )
        self._weights = np.ones(robot.nv) if weights is None else _finite("weights", weights)
        if self._weights.shape != (robot.nv,):
            raise ShapeError(f"weights has shape {self._weights.shape}; ({robot.nv},) is expected")
        self.points = self._enough(tolerance) if points is None else _count(points)

    def __repr__(self) -> str:
        spans = len(self._knots) - 1
        shape = " x ".join(map(str, self.coefficients.shape))
        rule = f"{self.points} points in each of {spans} spans"
        return f"<Effort of {self._robot.name!r}: {shape} coefficients, {rule}>"

    @cached_property
    def _samples(self) -> Samples:
        return _rule(self._knots, self._basis, self.points)

    @property
    def times(self) -> Array:
        """The sample times, (samples,)."""
        return self._samples.times

    @cached_property
    def error(self) -> float:
        """The estimated relative error of `value()`, for the given trajectory.

        It is the difference from the values of the next two finer rules.
        """
        return self._apart(self.points)

    def _enough(self, tolerance: float) -> int:
        """The fewest points whose estimated error is within a tolerance, or the most allowed."""
        within = _finite("tolerance", tolerance)
        if within.shape != () or within <= 0.0:
            raise KinetreeError(f"tolerance={tolerance!r}: a positive number is expected")
        points = FEWEST
        while self._apart(points) > within and _finer(points) <= MOST:
            points = _finer(points)
        return points

    def _apart(self, points: int) -> float:
        """The difference of a rule's value from those of two finer ones, relative to the finest.

        Two rules may agree by chance, if the same nodes lie before a jump of the force (dry
        friction); so there is a third one.
        """
        counts = (points, _finer(points), _finer(_finer(points)))
        value, *better = (
            self._sum(_rule(self._knots, self._basis, n), self._flat(None)) for n in counts
        )
        apart = max(abs(value - other) for other in better)
        return float(apart / abs(better[-1])) if apart else 0.0

    def _sum(self, rule: Samples, c: Array) -> Array:
        """P by a rule, with the coefficients as matrices."""
        q, v, a = (N @ c for N in rule.N)
        return self._robot.kernel("effort")(q, v, a, self._weights) @ rule.weights

    def motion(self, coefficients: Array = None) -> tuple[Array, Array, Array]:
        """q, v and a at the sample times.

        Arguments:
            coefficients: those of the trajectory, perhaps after axes of a batch; its own if None.

        Returns:
            q, v and a, each (..., samples, nv).
        """
        c = self._flat(coefficients)
        q, v, a = (N @ c for N in self._samples.N)
        return q, v, a

    def value(self, coefficients: Array = None) -> Array:
        """P for the given coefficients.

        Arguments:
            coefficients: as in `motion`.

        Returns:
            (...), one value for each trajectory of a batch.
        """
        return self._sum(self._samples, self._flat(coefficients))

    def gradient(self, coefficients: Array = None, method: str = "vjp") -> Array:
        """The derivative of P with respect to each coefficient.

        Arguments:
            coefficients: as in `motion`.
            method: "vjp" (the program of P, differentiated in reverse) or "chain" (by the matrices
                of `inverse_dynamics_derivatives`); they differ by rounding.

        Returns:
            An array of the shape of the coefficients.
        """
        if not among(method, METHODS):
            raise unknown("method", method, METHODS, "the gradient of an effort")
        motion = self.motion(coefficients)
        if method == "vjp":
            kernel = self._robot.kernel("effort").jacobian(("q", "v", "a"))
            gradients = kernel(*motion, self._weights)
        else:
            tau = 2.0 * self._weights * self._robot.inverse_dynamics(*motion)
            matrices = self._robot.inverse_dynamics_derivatives(*motion)
            gradients = tuple(np.einsum("...i,...ij->...j", tau, D) for D in matrices)
        shares = self._samples.weights[:, None]
        total = sum(N.T @ (shares * g) for N, g in zip(self._samples.N, gradients, strict=True))
        given = self.coefficients if coefficients is None else np.asarray(coefficients)
        return np.reshape(total, given.shape)

    def value_and_gradient(self, coefficients: Array = None) -> tuple[Array, Array]:
        """`value` and `gradient`, as SciPy's minimisers take them with jac=True.

        Arguments:
            coefficients: as in `motion`.

        Returns:
            P, (...), and its gradient, of the shape of the coefficients.
        """
        return self.value(coefficients), self.gradient(coefficients)

    def _flat(self, coefficients: Array) -> Array:
        """Coefficients as matrices, one row a basis function."""
        core = self.coefficients.shape
        c = self.coefficients if coefficients is None else _numbers("coefficients", coefficients)
        if c.shape[max(c.ndim - len(core), 0) :] != core:
            raise ShapeError(
                f"coefficients has shape {c.shape}; its last {len(core)} axes must be {core}"
            )
        return c.reshape(*c.shape[: c.ndim - len(core)], -1, core[-1])


def _finer(points: int) -> int:
    """The number of points of the next rule."""
    return points + max(points // 2, 1)


def _rule(knots: Array, basis: Any, points: int) -> Samples:
    """Gauss-Legendre quadrature between each two knots."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    start, length = knots[:-1, None], np.diff(knots)[:, None]
    times = (start + length * (nodes + 1) / 2).ravel()
    N = (basis(times, 0), basis(times, 1), basis(times, 2))
    return Samples(times, (length * weights / 2).ravel(), N)


def _basis(trajectory: Any) -> tuple[Array, Any, int]:
    """The knots between which a trajectory is smooth, its basis functions and their rates, and how
    many axes its coefficients have.
    """
    from scipy.interpolate import BSpline, PPoly  # takes time to import

    if isinstance(trajectory, BSpline):
        t, k = trajectory.t, trajectory.k
        count = len(t) - k - 1
        return np.unique(t[k : count + 1]), BSpline(t, np.eye(count), k), 2
    if isinstance(trajectory, PPoly):
        order, pieces = trajectory.c.shape[:2]
        count = order * pieces
        unit = PPoly(np.eye(count).reshape(order, pieces, count), trajectory.x)
        return np.asarray(trajectory.x, dtype=float), unit, 3
    given = "None" if trajectory is None else f"a {type(trajectory).__name__}"
    raise KinetreeError(
        f"{given} is not a trajectory; expected a BSpline or PPoly of scipy.interpolate"
    )


def _count(points: Any) -> int:
    """A number of points: whole and positive."""
    try:
        count = operator.index(points)
    except TypeError:
        count = 0
    if count < 1 or isinstance(points, bool):
        raise KinetreeError(
            f"points={points!r}: expected the number of samples between two knots, at least 1, or "
            "None to choose it by an error estimate"
        )
    return count


def _numbers(name: str, values: Any) -> Array:
    """An array of real numbers."""
    try:
        given = np.asarray(values)
        return given.astype(float, casting="same_kind")
    except (TypeError, ValueError):
        raise DtypeError(f"{name}: an array of real numbers is expected, got {values!r}") from None


def _finite(name: str, values: Any) -> Array:
    numbers = _numbers(name, values)
    if not np.isfinite(numbers).all():
        raise KinetreeError(f"{name}: every number must be finite, got {values!r}")
    return numbers
