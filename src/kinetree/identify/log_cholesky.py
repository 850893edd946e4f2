"""Physically consistent parameters without constraints: log-Cholesky coordinates and Gauss-Newton.

Sources: C. Rucker & P. M. Wensing, Smooth parameterization of rigid-body inertia, IEEE Robotics and
Automation Letters 7 (2022), for the coordinates; T. Lee, P. M. Wensing & F. C. Park,
Geometric robot dynamic identification: a convex programming approach, IEEE Transactions on Robotics
36 (2020), for the geodesic distance to a prior.

    symbol    code    meaning
    P         P       pseudo-inertia, P = U U^T
    U         U       e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3],
                      [0, 0, 0, 1]]
    y         y       ten coordinates of a body: alpha, d1 d2 d3, s12 s23 s13, t1 t2 t3
    d         -       |log(P0^-1/2 P P0^-1/2)|, the geodesic distance to the prior P0

Every y gives a positive definite P; every positive definite P has one y.
"""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import IdentificationWarning
from kinetree.identify.parameters import from_pseudo_inertia, pseudo_inertia
from kinetree.typing import Array

SHEARS = ((0, 0, 1), (1, 2, 2))
"""Rows and columns of s12, s13 and s23 in U."""
PLACES = (4, 6, 5)
"""Their places in y."""
FLAT = 1e-4
"""Lower bounds of a prior: relative to its largest second moment, and to one kilogram."""
STEP = 1e-6
REFUSED = np.inf
"""The residuals of steps that are too long: a shorter one is tried."""
ROUNDS = 10
"""How often drives that would be negative are set to zero and the rest is fitted again."""
LARGEST_COORDINATE = 50.0
"""Larger coordinates are impossible: e^50 kg."""


def to_coordinates(P: Array) -> Array:
    """y of pseudo-inertias, (..., 10)."""
    flip = np.arange(3, -1, -1)
    lower = np.linalg.cholesky(np.asarray(P)[..., flip, :][..., :, flip])
    U = lower[..., flip, :][..., :, flip]  # upper triangular, with U U^T = P
    last = U[..., 3, 3]
    U = U / last[..., None, None]
    y = np.empty((*U.shape[:-2], 10))
    y[..., 0] = np.log(last)
    for k in range(3):
        y[..., 1 + k] = np.log(U[..., k, k])
    y[..., PLACES] = U[..., SHEARS[0], SHEARS[1]]
    y[..., 7:] = U[..., :3, 3]
    return y


def from_coordinates(y: Array) -> tuple[Array, Array]:
    """The ten inertial parameters at coordinates y, (..., 10), and their derivatives by y."""
    y = np.asarray(y, float)
    U, dU = _factor(y)
    P = U @ np.swapaxes(U, -1, -2)
    half = dU @ np.swapaxes(U, -1, -2)[..., None, :, :]
    dP = half + np.swapaxes(half, -1, -2)
    return from_pseudo_inertia(P), np.swapaxes(from_pseudo_inertia(dP), -1, -2)


def _factor(y: Array) -> tuple[Array, Array]:
    """U, (..., 4, 4), and its derivatives by each of y, (..., 10, 4, 4)."""
    scale = np.exp(y[..., 0])
    U = np.zeros((*y.shape[:-1], 4, 4))
    dU = np.zeros((*y.shape[:-1], 10, 4, 4))
    for k in range(3):
        U[..., k, k] = dU[..., 1 + k, k, k] = np.exp(y[..., 1 + k])
        U[..., k, 3] = y[..., 7 + k]
        dU[..., 7 + k, k, 3] = 1.0
    for i, j, place in zip(*SHEARS, PLACES, strict=True):
        U[..., i, j] = y[..., place]
        dU[..., place, i, j] = 1.0
    U[..., 3, 3] = 1.0
    U = U * scale[..., None, None]
    dU = dU * scale[..., None, None, None]
    dU[..., 0, :, :] = U
    return U, dU


def regular(phi: Array) -> Array:
    """Pseudo-inertias of bodies, (n, 4, 4), those of thin or massless bodies made regular.

    Arguments:
        phi: ten parameters a body, (n, 10).
    """
    P = pseudo_inertia(phi)
    values, vectors = np.linalg.eigh(P[:, :3, :3])
    size = np.maximum(values[:, -1], FLAT)
    values = np.maximum(values, FLAT * size[:, None])
    mass = np.maximum(P[:, 3, 3], FLAT)
    P = P.copy()
    P[:, :3, :3] = np.einsum("nij,nj,nkj->nik", vectors, values, vectors)
    P[:, 3, 3] = mass
    h = P[:, :3, 3]
    # J - h h^T / m must be positive, too: about the centre of mass
    about = P[:, :3, :3] - h[:, :, None] * h[:, None, :] / mass[:, None, None]
    values, vectors = np.linalg.eigh(about)
    values = np.maximum(values, FLAT * np.maximum(values[:, -1:], FLAT))
    about = np.einsum("nij,nj,nkj->nik", vectors, values, vectors)
    P[:, :3, :3] = about + h[:, :, None] * h[:, None, :] / mass[:, None, None]
    return P


def fit_log_cholesky(A: Array, z: Array, prior: Array, trust: float, lower: Array) -> Array:
    """The consistent parameters theta that minimise |A theta - z|^2 + |d / trust|^2.

    Arguments:
        A, z: the data, whitened: (m, count) and (m,).
        prior: parameters to stay near, (count,): ten for each body, then those of drives.
        trust: how far from the prior a body's inertia may be, as a standard deviation of d.
        lower: the least values of the drives' parameters, one for each of them.

    Returns:
        (count,); every pseudo-inertia is positive definite.
    """
    n = len(prior) - len(lower)
    problem = _Problem(A, z, regular(prior[:n].reshape(-1, 10)), 1.0 / trust)
    drives = np.maximum(prior[n:], lower)
    y, free = problem.start, np.ones(len(drives), dtype=bool)
    for _ in range(ROUNDS):
        y, drives[free] = problem.solve(y, drives, free)
        below = free & (drives < lower)
        if not below.any():
            break
        drives[below], free = lower[below], free & ~below
    return np.concatenate([from_coordinates(y)[0].ravel(), drives])


class _Problem:
    """Residuals by log-Cholesky coordinates and drives, and their derivatives.

    Arguments:
        A, z: the data.
        P0: the prior's pseudo-inertias, (n, 4, 4).
        weight: of the distances to them.
    """

    def __init__(self, A: Array, z: Array, P0: Array, weight: float) -> None:
        self.A, self.z, self.weight = A, z, weight
        self.start, self.whiten = to_coordinates(P0), _inverse_roots(P0)
        self.n = 10 * len(P0)

    def solve(self, y: Array, drives: Array, free: NDArray[np.bool_]) -> tuple[Array, Array]:
        """The best coordinates and free drives, from given ones; other drives keep their values."""
        fixed = np.where(free, 0.0, drives)
        z = self.z - self.A[:, self.n :] @ fixed
        A = np.concatenate([self.A[:, : self.n], self.A[:, self.n :][:, free]], axis=1)
        solution = import_module("scipy.optimize").least_squares(
            lambda u: self._residuals(A, z, u),
            np.concatenate([y.ravel(), drives[free]]),
            lambda u: self._slopes(A, u),
            method="dogbox",
            x_scale="jac",
            ftol=1e-14,
            xtol=1e-12,
            gtol=1e-12,
            max_nfev=500,
        )
        if solution.status == 0:
            warnings.warn(
                f"the search for consistent inertias stopped after {solution.nfev} steps, before "
                "it converged; a smaller trust, or method='lmi', may help",
                IdentificationWarning,
                stacklevel=5,
            )
        return solution.x[: self.n].reshape(-1, 10), solution.x[self.n :]

    def _residuals(self, A: Array, z: Array, u: Array) -> Array:
        if np.abs(u[: self.n]).max(initial=0.0) > LARGEST_COORDINATE:
            return np.full(len(z) + self.n, REFUSED)
        y = u[: self.n].reshape(-1, 10)
        theta = np.concatenate([from_coordinates(y)[0].ravel(), u[self.n :]])
        return np.concatenate([A @ theta - z, self.weight * _distances(y, self.whiten).ravel()])

    def _slopes(self, A: Array, u: Array) -> Array:
        y, m = u[: self.n].reshape(-1, 10), len(A)
        slope = from_coordinates(y)[1]
        near = self.weight * _distance_slopes(y, self.whiten)
        J = np.zeros((m + self.n, len(u)))
        J[:m, self.n :] = A[:, self.n :]
        for i in range(len(y)):
            at = slice(10 * i, 10 * i + 10)
            J[:m, at] = A[:, at] @ slope[i]
            J[m + 10 * i : m + 10 * i + 10, at] = near[i]
        return J


def _inverse_roots(P: Array) -> Array:
    values, vectors = np.linalg.eigh(P)
    return np.einsum("nij,nj,nkj->nik", vectors, values**-0.5, vectors)


def _distances(y: Array, whiten: Array) -> Array:
    """Ten numbers a body whose squares sum to d^2: the entries of log(P0^-1/2 P P0^-1/2)."""
    U, _ = _factor(y)
    root = whiten @ U
    u, s, _ = np.linalg.svd(root)
    log = np.einsum("...ij,...j,...kj->...ik", u, 2.0 * np.log(s), u)
    upper = np.triu_indices(4)
    scale = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    return log[..., upper[0], upper[1]] * scale


def _distance_slopes(y: Array, whiten: Array) -> Array:
    """The derivatives of `_distances` by y, (n, 10, 10), by central differences."""
    steps = STEP * np.eye(10)
    up = _distances(y[:, None] + steps, whiten[:, None])
    down = _distances(y[:, None] - steps, whiten[:, None])
    return np.swapaxes((up - down) / (2.0 * STEP), -1, -2)
