"""The backward pass of iLQR with NumPy arrays: the definition of the compiled passes.

Source: as in `ilqr.py`, whose symbols it uses.
"""

from __future__ import annotations

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.passes import ROUNDS, Expansion, Gains


def backward(
    at: Expansion, damping: Array, lower: Array, upper: Array, gaps: Array | None = None
) -> Gains:
    """The backward pass of many problems, by arrays: the definition of `Passes.backward`.

    Arguments:
        at: the expansion about the current motions.
        damping: (problems,).
        lower, upper: bounds of the change of controls, (problems, steps, nu).
        gaps: between the end of each step and the next state, (problems, steps, nx); none if None.
    """
    problems, steps, nx, nz = at.W.shape
    nu, s, S = nz - nx, at.s, at.S
    k, K = np.zeros((problems, steps, nu)), np.zeros((problems, steps, nu, nx))
    slope, bend, closing, costate = np.zeros((4, problems))
    fault = np.zeros(problems, bool)
    eye = damping[:, None, None] * np.eye(nu)
    for t in range(steps - 1, -1, -1):
        if gaps is not None:
            s = s + (S @ gaps[:, t, :, None])[..., 0]
            closing += (s * gaps[:, t]).sum(axis=1)
            costate = np.maximum(costate, np.abs(s).max(axis=1))
        Wt = at.W[:, t].swapaxes(-1, -2)
        Q = at.H[:, t] + Wt @ S @ at.W[:, t]
        g = at.g[:, t] + (Wt @ s[..., None])[..., 0]
        Qxx, Qux, Quu = Q[:, :nx, :nx], Q[:, nx:, :nx], Q[:, nx:, nx:]
        Qx, Qu = g[:, :nx], g[:, nx:]
        regular = Quu + eye * np.maximum(np.abs(Quu).max(axis=(1, 2)), 1.0)[:, None, None]
        good = np.linalg.eigvalsh(regular)[:, 0] > 0.0
        fault |= ~good
        regular[~good] = np.eye(nu)
        k[:, t], K[:, t] = _bounded(regular, Qu, Qux, lower[:, t], upper[:, t])
        kt, Kt = k[:, t, :, None], K[:, t].swapaxes(-1, -2)
        slope += (k[:, t] * Qu).sum(axis=1)
        bend += (kt.swapaxes(-1, -2) @ Quu @ kt)[:, 0, 0]
        s = Qx + (Kt @ (Quu @ kt + Qu[..., None]) + Qux.swapaxes(-1, -2) @ kt)[..., 0]
        cross = Kt @ Qux
        S = Qxx + Kt @ Quu @ K[:, t] + cross + cross.swapaxes(-1, -2)
        S = 0.5 * (S + S.swapaxes(-1, -2))
    return Gains(k, K, slope, bend, fault, closing, costate)


def _bounded(H: Array, g: Array, G: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The minimum of g.k + k.H.k / 2 within bounds, and the gains of the controls that are free."""
    k = -np.linalg.solve(H, g[..., None])[..., 0]
    held = np.zeros(k.shape, bool)
    if ((k < lower) | (k > upper)).any():
        for _ in range(ROUNDS):
            at = np.clip(k, lower, upper)
            gradient = g + (H @ at[..., None])[..., 0]
            held = ((at <= lower) & (gradient > 0.0)) | ((at >= upper) & (gradient < 0.0))
            free = ~held
            matrix = np.where(free[:, :, None] & free[:, None, :], H, 0.0)
            matrix += np.eye(k.shape[-1]) * held[:, :, None]
            fixed = np.where(held, at, 0.0)
            right = np.where(held, at, -g - (H @ fixed[..., None])[..., 0])
            k = np.linalg.solve(matrix, right[..., None])[..., 0]
        k = np.clip(k, lower, upper)
        free = (~held)[:, :, None]
        matrix = np.where(free & free.swapaxes(1, 2), H, 0.0)
        matrix += np.eye(k.shape[-1]) * held[:, :, None]
        return k, -np.linalg.solve(matrix, np.where(free, G, 0.0))
    return k, -np.linalg.solve(H, G)
