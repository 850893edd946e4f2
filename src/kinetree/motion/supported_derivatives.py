"""Derivatives of the effort of a supported motion by q and tau; symbols as in `supported.py`.

symbol   code   meaning
G        G      joint forces by ground forces, transposed: n = tau - G^T lambda
K        K      derivative of G^T lambda by q
T        T      derivative of G y by q, y constant
D        D      derivative of lambda by u = (q, tau)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.internal_forces import (
    apply,
    apply_transposed,
    curvature,
)
from kinetree.motion.stance import ENTRIES, Standing
from kinetree.motion.terms import Sampled, State

if TYPE_CHECKING:
    from kinetree.motion.supported import Balance, Ground


def dense_curvature(e: Sampled) -> Array:
    """The second derivatives of the effort by joint forces, (..., n, n)."""
    second = e.second.get(("tau", "tau"))
    n = e.first["tau"].shape[-1]
    total = np.zeros((*e.first["tau"].shape, n)) if second is None else second.copy()
    if "tau" in e.diagonal:
        every = np.arange(n)
        total[..., every, every] += e.diagonal["tau"]
    return total


def ground_derivatives(
    ground: Ground,
    maps: Standing,
    state: State,
    balance: Balance,
    e: Sampled,
    G: Array,
    rows: tuple[Array, Array, Array],
    elements: tuple[Array, Array, Array],
    exact: bool,
) -> Sampled:
    """Value and derivatives of the least effort by q and tau.

    Arguments:
        ground, maps: the supports, and those that stand at the samples.
        state: the motion; its tau are the forces without the ground.
        balance: the ground forces.
        e: the effort of the remaining joint forces, with derivatives.
        G: (..., M, n).
        rows: of `expanded_rows`.
        elements: value, slope and curvature of their cost terms.
        exact: whether second derivatives are exact; else those of joint forces by q are left out,
            and the matrix is positive semidefinite.
    """
    q, n = state.q, state.q.shape[-1]
    _, first, cones = rows
    value, slope, bend = elements
    y = e.first["tau"]
    K, T, Q = _turned(ground, maps, q, balance.lam, y)
    E = dense_curvature(e)
    f_l = apply_transposed(first, slope) - apply(G, y) + 2.0 * ground.regular * balance.lam
    F_ll = G @ E @ G.swapaxes(-1, -2) + curvature(first, cones, slope, bend)
    F_ll[..., np.arange(G.shape[-2]), np.arange(G.shape[-2])] += 2.0 * ground.regular
    bent = (T, Q) if exact else None
    F_uu, F_ul = _at_constant_forces(e, E, G, K, bent)
    w = ground.wrench.expand(q, state.tau, ground.stance.reference)
    P_w = maps.P @ w.first  # (..., M, 12)
    both = np.concatenate([np.arange(n)[ground.root], n + np.arange(n)[ground.root]])
    D = np.zeros((*F_ul.shape[:-2], F_ul.shape[-1], 2 * n))
    D[..., both] = P_w
    D += _internal_change(maps, F_ul, F_ll, D)
    X = F_ul @ D
    H = F_uu + X + X.swapaxes(-1, -2) + D.swapaxes(-1, -2) @ F_ll @ D
    if exact:
        pull = apply_transposed(maps.P, f_l)
        about = ground.stance.reference
        H[..., both[:, None], both] += ground.wrench.second(q, state.tau, about, pull)
    slopes = np.concatenate([-apply_transposed(K, y), y], axis=-1)
    slopes[..., both] += apply_transposed(P_w, f_l)
    if "q" in e.first:
        slopes[..., :n] += e.first["q"]
    total = e.value + value.sum(axis=-1) + ground.regular * (balance.lam**2).sum(axis=-1)
    second = {
        ("q", "q"): H[..., :n, :n],
        ("q", "tau"): H[..., :n, n:],
        ("tau", "tau"): H[..., n:, n:],
    }
    return Sampled(total, {"q": slopes[..., :n], "tau": slopes[..., n:]}, {}, second)


def _turned(
    ground: Ground, maps: Standing, q: Array, lam: Array, y: Array
) -> tuple[Array, Array, Array]:
    """K, T and the second derivatives by q of y . G^T lambda."""
    n = q.shape[-1]
    K, Q = (np.zeros((*q.shape, n)) for _ in range(2))
    T = np.zeros((*q.shape[:-1], lam.shape[-1], n))
    for k, reaction in enumerate(ground.reactions):
        at = slice(ENTRIES * k, ENTRIES * (k + 1))
        B, j = maps.B[..., k, :, :], reaction.joints
        f = apply(B, lam[..., at])
        K[..., j[:, None], j] += reaction.by_q(q, f)
        bent, crossed = reaction.second(q, f, y[..., j])
        Q[..., j[:, None], j] += bent
        T[..., at, j] = (crossed @ B).swapaxes(-1, -2)
    return K, T, Q


def _at_constant_forces(
    e: Sampled, E: Array, G: Array, K: Array, bent: tuple[Array, Array] | None
) -> tuple[Array, Array]:
    """F_uu and F_ul: second derivatives of the effort by (q, tau), and by those and lambda.

    `bent` are T and Q; None leaves out these and the effort's dependence on q.
    """
    n = E.shape[-1]
    KtE, GE = K.swapaxes(-1, -2) @ E, G @ E
    F_qq, F_qt, F_ql = KtE @ K, -KtE, (GE @ K).swapaxes(-1, -2)
    crossed = None
    if bent is not None:
        T, Q = bent
        F_qq, F_ql = F_qq - Q, F_ql - T.swapaxes(-1, -2)
        crossed = e.second.get(("q", "tau"))
    if crossed is not None:
        by_K = crossed @ K
        F_qq -= by_K + by_K.swapaxes(-1, -2)
        F_qq += e.second["q", "q"]
        F_qt = F_qt + crossed
        F_ql = F_ql - crossed @ G.swapaxes(-1, -2)
    F_uu = np.empty((*E.shape[:-2], 2 * n, 2 * n))
    F_uu[..., :n, :n], F_uu[..., :n, n:] = F_qq, F_qt
    F_uu[..., n:, :n], F_uu[..., n:, n:] = F_qt.swapaxes(-1, -2), E
    return F_uu, np.concatenate([F_ql, -GE.swapaxes(-1, -2)], axis=-2)


def _internal_change(maps: Standing, F_ul: Array, F_ll: Array, D: Array) -> Array:
    """Z z_u: the derivative of internal forces by q and tau."""
    Z, Zt = maps.Z, maps.Z.swapaxes(-1, -2)
    if not Z.shape[-1]:
        return np.zeros_like(D)
    every = np.arange(Z.shape[-1])
    curved = Zt @ F_ll @ Z
    curved[..., every, every] += maps.padded
    return -Z @ np.linalg.solve(curved, Zt @ (F_ul.swapaxes(-1, -2) + F_ll @ D))
