"""Physically consistent parameters by convex optimisation.

Sources: P. M. Wensing, S. Kim & J.-J. E. Slotine, Linear matrix inequalities for physically
consistent inertial parameter identification, IEEE Robotics and Automation Letters 3 (2018): some
body has ten given parameters if and only if its pseudo-inertia P is positive semidefinite. T. Lee,
P. M. Wensing & F. C. Park, Geometric robot dynamic identification, IEEE Transactions on Robotics 36
(2020): tr(P0^-1 P) - log det(P0^-1 P) - 4, which is convex, as the distance to a prior P0.

The problem is solved by cvxpy with Clarabel, on the compressed data: its size does not depend on
the length of the log.
"""

from __future__ import annotations

import numpy as np

from kinetree._optional import optional
from kinetree.errors import KinetreeError
from kinetree.identify.log_cholesky import regular
from kinetree.identify.parameters import from_pseudo_inertia
from kinetree.typing import Array

SHARP = 1e5
"""The largest accuracy of the data that the solver's precision allows; it is capped at this."""
GOOD = ("optimal", "optimal_inaccurate")


def fit_consistent(A: Array, z: Array, prior: Array, trust: float, lower: Array) -> Array:
    """The consistent parameters theta that minimise |A theta - z|^2 + 2 d(P, P0) / trust^2.

    With d the log-det divergence; close to the prior, 2 d is the squared geodesic distance.

    Arguments:
        A, z, prior, trust, lower: as in `fit_log_cholesky`.

    Returns:
        (count,); every pseudo-inertia is positive definite.
    """
    cp = optional("cvxpy", "a fit with matrix inequalities")
    n = len(prior) - len(lower)
    P0 = regular(prior[:n].reshape(-1, 10))
    roots = np.linalg.cholesky(P0)  # P = L Q L^T: the solver sees matrices near one
    scaled = [cp.Variable((4, 4), symmetric=True) for _ in roots]
    unit = _maps(roots)
    drives = cp.Variable(A.shape[1] - n) if A.shape[1] > n else None
    size = np.maximum(np.abs(prior[n:]), 1e-2)
    predicted = 0
    for i, Q in enumerate(scaled):
        predicted = predicted + (A[:, 10 * i : 10 * i + 10] @ unit[i]) @ cp.vec(Q, order="C")
    if drives is not None:
        predicted = predicted + (A[:, n:] * size) @ drives
    near = sum(cp.trace(Q) - cp.log_det(Q) for Q in scaled)
    whole = np.concatenate([A[:, 10 * i : 10 * i + 10] @ x for i, x in enumerate(unit)], axis=1)
    worth = min(1.0, SHARP / max(float(np.linalg.norm(whole, 2)), 1e-300))
    goal = cp.sum_squares(worth * (predicted - z)) + 2.0 / trust**2 * near
    bounded = np.flatnonzero(np.isfinite(lower))
    limits = [drives[bounded] >= 0.0] if drives is not None and bounded.size else []
    problem = cp.Problem(cp.Minimize(goal), limits)
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in GOOD:
        raise KinetreeError(
            f"no consistent parameters were found: solver status {problem.status}; "
            "method='log-cholesky' needs no solver"
        )
    P = np.stack([L @ Q.value @ L.T for L, Q in zip(roots, scaled, strict=True)])
    rest = np.zeros(0) if drives is None else np.maximum(drives.value * size, lower)
    return np.concatenate([from_pseudo_inertia(P).ravel(), rest])


def _maps(roots: Array) -> Array:
    """For each body, (10, 16): its parameters from the entries of Q, with P = L Q L^T."""
    units = np.eye(16).reshape(16, 4, 4)
    units = (units + np.swapaxes(units, 1, 2)) / 2.0
    P = roots[:, None] @ units @ np.swapaxes(roots, 1, 2)[:, None]
    return np.swapaxes(from_pseudo_inertia(P), 1, 2)
