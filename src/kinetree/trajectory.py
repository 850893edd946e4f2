"""Trajectories and what they cost: the energy functional and its gradient.

A trajectory is one of SciPy's piecewise polynomials or B-splines. It is linear in its coefficients
c: with N, N' and N'' the values of its basis functions and of their rates at sample times,

    q = N c,    q' = N' c,    q'' = N'' c

so the gradient by c of a sum over samples is N^T, N'^T and N''^T times those by q, q' and q''.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import KinetreeError, MissingExtraError, ShapeError, unknown

if TYPE_CHECKING:
    from kinetree.robot import Robot

Array = Any
METHODS = ("vjp", "chain")


class Effort:
    """P: the integral of the sum of squared joint forces, and its gradient; see `Robot.effort`.

    coefficients: of the trajectory as it was given.
    times: of the samples.
    """

    def __init__(
        self, robot: Robot, trajectory: Any, points: int = 4, weights: Array | None = None
    ) -> None:
        if robot.nq != robot.nv:
            raise KinetreeError(
                f"robot {robot.name!r} has {robot.nq} coordinates and {robot.nv} velocities: a "
                "trajectory needs velocities that are rates; robot.rechart('exponential') has them"
            )
        self._robot = robot
        self.coefficients = np.asarray(trajectory.c, dtype=float)
        if self.coefficients.shape[-1:] != (robot.nv,):
            raise ShapeError(
                f"the trajectory has coefficients of shape {self.coefficients.shape}; the last "
                f"axis must be {robot.nv}, one for each coordinate of robot {robot.name!r}"
            )
        knots, basis = _basis(trajectory)
        self.times, self._quadrature = _samples(knots, points)
        self._N = [basis(self.times, nu) for nu in (0, 1, 2)]
        self._axes = self.coefficients.ndim - 1
        given = np.ones(robot.nv) if weights is None else np.asarray(weights, dtype=float)
        if given.shape != (robot.nv,):
            raise ShapeError(f"weights has shape {given.shape}; ({robot.nv},) is expected")
        self._weights = given

    def motion(self, coefficients: Array = None) -> tuple[Array, Array, Array]:
        """q, v and a at the sample times, each (..., samples, nv).

        Arguments:
            coefficients: (..., *shape of the trajectory's); the trajectory's own if None.
        """
        c = self._flat(coefficients)
        q, v, a = (N @ c for N in self._N)
        return q, v, a

    def value(self, coefficients: Array = None) -> Array:
        """P, (...); for a batch of trajectories if there are axes in front of the coefficients."""
        kernel = self._robot.kernel("effort")
        return kernel(*self.motion(coefficients), self._weights) @ self._quadrature

    def gradient(self, coefficients: Array = None, method: str = "vjp") -> Array:
        """The derivative of P by each coefficient, of their shape.

        Arguments:
            method: "vjp" (the program of P, differentiated in reverse) or "chain" (by the matrices
                of `inverse_dynamics_derivatives`); they differ by rounding.
        """
        if method not in METHODS:
            raise unknown("method", method, METHODS, "the gradient of an effort")
        motion = self.motion(coefficients)
        if method == "vjp":
            kernel = self._robot.kernel("effort").jacobian(("q", "v", "a"))
            gradients = kernel(*motion, self._weights)
        else:
            tau = 2.0 * self._weights * self._robot.inverse_dynamics(*motion)
            matrices = self._robot.inverse_dynamics_derivatives(*motion)
            gradients = tuple(np.einsum("...i,...ij->...j", tau, D) for D in matrices)
        total = sum(
            N.T @ (self._quadrature[:, None] * g) for N, g in zip(self._N, gradients, strict=True)
        )
        given = self.coefficients if coefficients is None else np.asarray(coefficients)
        return np.reshape(total, given.shape)

    def value_and_gradient(self, coefficients: Array = None) -> tuple[Array, Array]:
        """Both, as SciPy's minimisers take them with jac=True."""
        return self.value(coefficients), self.gradient(coefficients)

    def _flat(self, coefficients: Array) -> Array:
        """Coefficients as matrices, one row a basis function."""
        own = self.coefficients.shape
        c = self.coefficients if coefficients is None else np.asarray(coefficients, dtype=float)
        if c.shape[max(c.ndim - len(own), 0) :] != own:
            raise ShapeError(
                f"coefficients has shape {c.shape}; its last {len(own)} axes must be {own}"
            )
        return c.reshape(*c.shape[: c.ndim - len(own)], -1, own[-1])


def _samples(knots: Array, points: int) -> tuple[Array, Array]:
    """Times and weights of Gauss and Legendre's rule between each two knots."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    start, length = knots[:-1, None], np.diff(knots)[:, None]
    return (start + length * (nodes + 1) / 2).ravel(), (length * weights / 2).ravel()


def _basis(trajectory: Any) -> tuple[Array, Any]:
    """The knots between which a trajectory is smooth, and its basis functions and their rates."""
    try:
        from scipy.interpolate import BSpline, PPoly
    except ImportError:
        raise MissingExtraError(
            "trajectories need SciPy, which is not installed: run pip install "
            "'kinetree[trajectory]'"
        ) from None
    if isinstance(trajectory, BSpline):
        t, k = trajectory.t, trajectory.k
        count = len(t) - k - 1
        unit = BSpline(t, np.eye(count), k)
        return np.unique(t[k : count + 1]), unit
    if isinstance(trajectory, PPoly):
        order, pieces = trajectory.c.shape[:2]
        count = order * pieces
        unit = PPoly(np.eye(count).reshape(order, pieces, count), trajectory.x)
        return np.asarray(trajectory.x, dtype=float), unit
    raise KinetreeError(
        f"a {type(trajectory).__name__} is no trajectory: scipy.interpolate's BSpline and PPoly are"
    )
