"""Internal ground forces of least effort, at many samples at once; symbols as in `supported.py`.

The effort is quadratic in the ground forces, friction cones and centres of pressure are convex, and
so are the terms of the augmented Lagrangian: Newton's method with a line search finds the least.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.stance import ENTRIES, Standing

TIP = 1e-4
"""Smooths the tip of friction cones, relative to the weight."""
STEPS = 40
"""The most Newton steps."""
LEFT = 1e-12
"""Steps end once the next one would gain less than this, relative to the effort."""
SHORTEST = 1e-3
"""The least share of a step that is tried."""
ROUNDING = 1e-14

Elements = Callable[[Array], tuple[Array, Array, Array]]
"""Value, slope and curvature of the cost term of each row of h."""


def apply(A: Array, x: Array) -> Array:
    """A x, for many."""
    return (A @ x[..., None])[..., 0]


def apply_transposed(A: Array, x: Array) -> Array:
    """A^T x, for many."""
    return (x[..., None, :] @ A)[..., 0, :]


def cone_rows(maps: Standing, lam: Array, weight: float, tip: float = TIP) -> Array:
    """h: the friction cone of each frame, then the edges of its area, over the weight, (..., rows).

    Arguments:
        maps: the standing frames, with their friction and areas.
        lam: ground forces, (..., M).
        weight: of the robot, N.
        tip: the smoothing of the cones' tips.
    """
    each = lam.reshape(*lam.shape[:-1], -1, ENTRIES) / weight
    share = _shares(maps)
    cone = np.sqrt((share * each**2).sum(axis=-1) + tip**2) - maps.mu * each[..., 2]
    edges = apply(maps.rows, each)
    return np.concatenate([cone, edges.reshape(*cone.shape[:-1], -1)], axis=-1)


def _shares(maps: Standing) -> Array:
    """The weights of forces and of the moment about the normal in the cone, (..., K, 6)."""
    share = np.zeros((*maps.mu.shape, ENTRIES))
    share[..., :2], share[..., 5] = 1.0, 1.0 / maps.radius**2
    return share


def expanded_rows(maps: Standing, lam: Array, weight: float) -> tuple[Array, Array, Array]:
    """h, its derivative by lambda, and the second derivatives of the cones.

    Arguments:
        maps, lam, weight: as in `cone_rows`.

    Returns:
        (..., rows), (..., rows, M) and (..., K, 6, 6).
    """
    each = lam.reshape(*lam.shape[:-1], -1, ENTRIES) / weight
    share = _shares(maps)
    size = np.sqrt((share * each**2).sum(axis=-1) + TIP**2)
    slope = share * each / size[..., None]
    bend = -slope[..., :, None] * slope[..., None, :] / size[..., None, None]
    every = np.arange(ENTRIES)
    bend[..., every, every] += share / size[..., None]
    slope[..., 2] -= maps.mu
    h = cone_rows(maps, lam, weight)
    K, edges = each.shape[-2], maps.rows.shape[-2]
    first = np.zeros((*h.shape, K * ENTRIES))
    for k in range(K):
        at = slice(ENTRIES * k, ENTRIES * (k + 1))
        first[..., k, at] = slope[..., k, :] / weight
        first[..., K + edges * k : K + edges * (k + 1), at] = maps.rows[..., k, :, :] / weight
    return h, first, bend / weight**2


def curvature(first: Array, cones: Array, slope: Array, bend: Array) -> Array:
    """The second derivatives of the sum of elements by lambda, (..., M, M).

    Arguments:
        first, cones: of `expanded_rows`.
        slope, bend: of each element by its row.
    """
    total = first.swapaxes(-1, -2) @ (bend[..., None] * first)
    for k in range(cones.shape[-3]):
        at = slice(ENTRIES * k, ENTRIES * (k + 1))
        total[..., at, at] += slope[..., k, None, None] * cones[..., k, :, :]
    return total


def least_effort(
    maps: Standing, lam: Array, g: Array, H: Array, elements: Elements, weight: float, scale: Array
) -> Array:
    """The change of z to the minimum of a quadratic function of lambda plus the elements of h.

    Arguments:
        maps: between ground forces and their wrench.
        lam: the forces to begin with, (..., M).
        g, H: gradient and second derivatives of the effort there.
        elements: the cost terms of the rows of h.
        weight: of the robot, N.
        scale: of the effort, (...).
    """
    Z, Zt = maps.Z, maps.Z.swapaxes(-1, -2)
    z = np.zeros((*lam.shape[:-1], Z.shape[-1]))
    if not z.size:
        return z
    gz, Hz = apply(Zt, g), Zt @ H @ Z
    every = np.arange(z.shape[-1])
    Hz[..., every, every] += maps.padded

    def merit(z: Array) -> Array:
        linear = (z * (gz + 0.5 * apply(Hz, z))).sum(axis=-1)
        return linear + elements(cone_rows(maps, lam + apply(Z, z), weight))[0].sum(axis=-1)

    value = merit(z)
    for _ in range(STEPS):
        h, first, cones = expanded_rows(maps, lam + apply(Z, z), weight)
        _, slope, bend = elements(h)
        slopes = gz + apply(Hz, z) + apply(Zt, apply_transposed(first, slope))
        curved = Hz + Zt @ curvature(first, cones, slope, bend) @ Z
        step = -np.linalg.solve(curved, slopes[..., None])[..., 0]
        busy = -0.5 * (slopes * step).sum(axis=-1) > LEFT * (scale + np.abs(value))
        if not busy.any():
            break
        last, (z, value) = value, _searched(merit, z, step * busy[..., None], value)
        if not (last > value).any():  # as far as rounding allows
            break
    return z


def _searched(
    merit: Callable[[Array], Array], z: Array, step: Array, value: Array
) -> tuple[Array, Array]:
    """z after a step that is shortened where it does not lower the merit."""
    share, most = np.ones(value.shape), value + ROUNDING * np.abs(value)
    tried = merit(z + step)
    while (worse := ~(tried <= most) & (share > SHORTEST)).any():
        share = np.where(worse, 0.5 * share, share)
        tried = np.where(worse, merit(z + share[..., None] * step), tried)
    better = tried <= most
    return (
        np.where(better[..., None], z + share[..., None] * step, z),
        np.where(better, tried, value),
    )
