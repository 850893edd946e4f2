"""The supports over time: the maps between ground forces and their total wrench.

Source: S. Caron, Q.-C. Pham & Y. Nakamura, Stability of surface contacts for humanoid robots
(2015), the rows of the centre of pressure; R. D. Howe & M. R. Cutkosky, Practical force-motion
models for sliding manipulation (1996): friction and the moment about the normal share one
ellipsoid.

    symbol    code       meaning
    lambda_k  lam        ground force of frame k: force, then moment about the middle of its area,
                         in axes of which the third is the normal
    B_k       B          the wrench of lambda_k about the world's origin
    w         w          the total wrench of all supports about `reference`: C lambda = w
    P, Z      P, Z       lambda = P w + Z z: all forces with the total w, z the internal ones
    mu, r     mu, radius friction, and the lever at which it resists turning

differs: if the supports cannot produce every wrench (points, edges, no support at all), `lost`
projects onto the wrenches that none produces; they must be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinetree._lazy import cached_property
from kinetree.motion.arrays import Array
from kinetree.motion.splines import scipy_module
from kinetree.motion.supports import FLAT, Support

ENTRIES = 6
"""Numbers of a ground force."""
MAPS = ("B", "P", "Z", "lost", "padded", "mu", "radius", "rows", "active")
"""The arrays of `Standing` that differ between problems."""
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""


@dataclass(frozen=True)
class Sole:
    """The area of a support in the world.

    place: its middle and the axes (two along the ground, the normal), (3,) and (3, 3) columns.
    corners: of the area about its middle, counterclockwise, (n, 2).
    friction: the coefficient.
    """

    middle: Array
    axes: Array
    corners: Array
    friction: float

    @staticmethod
    def of(points: Array, normal: Array, friction: float) -> Sole:
        """The sole of points in the world, (n, 3); those inside their hull do not count."""
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        across = points - middle
        across = across - np.outer(across @ normal, normal)
        u, s, _ = np.linalg.svd(across.T, full_matrices=True)
        first = u[:, 0] if s[0] > FLAT else _beside(normal)
        axes = np.stack([first, np.cross(normal, first), normal], axis=1)
        flat = across @ axes[:, :2]
        extent = np.ptp(flat, axis=0)
        if extent[0] < FLAT:
            corners = np.zeros((1, 2))
        elif extent[1] < FLAT:
            corners = np.array([[flat[:, 0].min(), 0.0], [flat[:, 0].max(), 0.0]])
        else:
            corners = flat[scipy_module("spatial").ConvexHull(flat).vertices]
        return Sole(middle, axes, corners, friction)

    @property
    def acting(self) -> Array:
        """Which entries of a ground force exist: a point exerts no moment, (6,)."""
        flat = len(self.corners)
        return np.array([True, True, True, flat > 2, flat > 1, flat > 1])

    @cached_property
    def radius(self) -> float:
        """The mean distance of the area from its middle, m: the lever of friction in turning."""
        if len(self.corners) == 1:
            return 1.0
        u = np.linspace(0.0, 1.0, 33)
        edges = np.stack([self.corners, np.roll(self.corners, -1, axis=0)])
        rim = (edges[0][:, None] * (1.0 - u)[:, None] + edges[1][:, None] * u[:, None]).reshape(
            -1, 2
        )
        share = 2.0 / 3.0 if len(self.corners) > 2 else 0.5
        return float(share * np.linalg.norm(rim, axis=1).mean())

    def wrench(self) -> Array:
        """B: from a ground force to the wrench about the world's origin, (6, 6)."""
        B = np.zeros((6, 6))
        B[:3, :3] = B[3:, 3:] = self.axes
        B[3:, :3] = _cross(self.middle) @ self.axes
        return B * self.acting

    def rows(self, margin: float) -> Array:
        """E: E lambda <= 0 while the centre of pressure is in the area, (n, 6).

        Arguments:
            margin: the share of its size by which the area is shrunk.
        """
        corners = (1.0 - margin) * self.corners
        if len(corners) == 1:
            return np.zeros((0, 6))
        if len(corners) == 2:
            inward = np.array([[1.0, 0.0], [-1.0, 0.0]])
            # differs: the centre of pressure is (-m_y, m_x) / f_z
        else:
            along = np.roll(corners, -1, axis=0) - corners
            inward = np.stack([-along[:, 1], along[:, 0]], axis=1)
            inward /= np.linalg.norm(inward, axis=1)[:, None]
        rows = np.zeros((len(corners), 6))
        rows[:, 2] = (inward * corners).sum(axis=1)
        rows[:, 3], rows[:, 4] = -inward[:, 1], inward[:, 0]
        return rows / np.abs(self.corners).max()


@dataclass(frozen=True)
class Standing:
    """The maps between ground forces and their wrench at samples; see the module.

    B: (..., K, 6, 6), zero where frame k does not stand.
    P, Z, lost: (..., M, 6), (..., M, free), (..., 6, 6), with M = 6 K.
    padded: which columns of Z are padding, (..., free).
    mu, radius, rows: (..., K), (..., K), (..., K, edges, 6).
    active: which rows count: the cones of all frames, then the edges, (..., K + K edges).
    key: a number for each set of frames that stand, the same shape as the samples.
    """

    B: Array
    P: Array
    Z: Array
    lost: Array
    padded: Array
    mu: Array
    radius: Array
    rows: Array
    active: Array
    key: Array

    def of(self, which: Array) -> Standing:
        """The maps of some problems; a single one serves all."""
        if len(self.B) == 1:
            return self
        some = {name: getattr(self, name)[which] for name in MAPS}
        return replace(self, **some)

    @property
    def fully(self) -> bool:
        """Whether the supports can produce every wrench at all times."""
        return not self.lost.any()


class Stance:
    """The supports of some problems, over time.

    Arguments:
        supports: those of one frame do not overlap in time.
        soles: the area of each support in each problem, [support][problem].
    """

    def __init__(self, supports: Sequence[Support], soles: Sequence[Sequence[Sole]]) -> None:
        self.supports, self.soles = supports, soles
        self.frames = tuple(dict.fromkeys(support.frame for support in supports))
        self.problems = len(soles[0])
        places = [sole.middle for row in soles for sole in row]
        self.reference = np.mean(places, axis=0)
        corners = max(len(sole.corners) for row in soles for sole in row)
        self.edges = 0 if corners == 1 else corners
        edges = tuple(f"pressure of {frame}" for frame in self.frames for _ in range(self.edges))
        self.labels = tuple(f"friction of {frame}" for frame in self.frames) + edges

    def on(self, times: Array, margin: float) -> Standing:
        """The maps at given times, of any axes; all arrays have an axis of problems before them.

        Arguments:
            times: s.
            margin: the share by which areas and friction are reduced.
        """
        standing = self.kinds(times)
        kinds, key = np.unique(
            standing.reshape(-1, len(self.supports)), axis=0, return_inverse=True
        )
        key = key.reshape(times.shape)
        free = max(self._freedom(kind, p) for kind in kinds for p in range(self.problems))
        made = [[self._maps(kind, p, margin, free) for kind in kinds] for p in range(self.problems)]
        arrays = [np.array([[one[i] for one in row] for row in made])[:, key] for i in range(9)]
        return Standing(**dict(zip(MAPS, arrays, strict=True)), key=key)

    def kinds(self, times: Array) -> Array:
        """Which supports stand at given times, (..., supports)."""
        slack = 1e-9
        return np.stack(
            [(times >= s.first - slack) & (times <= s.last + slack) for s in self.supports], axis=-1
        )

    def _stacked(self, kind: Array, problem: int) -> Array:
        """B of all frames, for the supports of one kind."""
        B = np.zeros((len(self.frames), 6, 6))
        for support, soles in zip(self._chosen(kind), self._soles(kind), strict=True):
            # where one support of a frame ends and the next begins, the later one counts
            B[self.frames.index(support.frame)] = soles[problem].wrench()
        return B

    def _chosen(self, kind: Array) -> list[Support]:
        return [s for s, on in zip(self.supports, kind, strict=True) if on]

    def _soles(self, kind: Array) -> list[Sequence[Sole]]:
        return [s for s, on in zip(self.soles, kind, strict=True) if on]

    def _sums(self, B: Array) -> Array:
        """C: the wrench about the reference, (6, M)."""
        shift = np.eye(6)
        shift[3:, :3] = -_cross(self.reference)
        return np.concatenate(list(shift @ B), axis=1)

    def _freedom(self, kind: Array, problem: int) -> int:
        C = self._sums(self._stacked(kind, problem))
        return int(C.any(axis=0).sum()) - _rank(C)

    def _maps(self, kind: Array, problem: int, margin: float, free: int) -> tuple[Array, ...]:
        K = len(self.frames)
        B = self._stacked(kind, problem)
        C = self._sums(B)
        acting = np.flatnonzero(C.any(axis=0))
        P, Z, padded = np.linalg.pinv(C, rcond=RANK), np.zeros((6 * K, free)), np.ones(free, bool)
        lost = np.eye(6) - C @ P
        lost[np.abs(lost) < 1e-9] = 0.0
        if acting.size:
            null = scipy_module("linalg").null_space(C[:, acting], rcond=RANK)
            Z[acting, : null.shape[1]] = null
            padded[: null.shape[1]] = False
        mu, radius, rows = np.ones(K), np.ones(K), np.zeros((K, self.edges, 6))
        cones, inside = np.zeros(K, bool), np.zeros((K, self.edges), bool)
        for support, soles in zip(self._chosen(kind), self._soles(kind), strict=True):
            k, sole = self.frames.index(support.frame), soles[problem]
            mu[k], radius[k], cones[k] = (1.0 - margin) * sole.friction, sole.radius, True
            E = sole.rows(margin)
            rows[k, : len(E)], inside[k, : len(E)] = E, True
        active = np.concatenate([cones, inside.ravel()])
        return B, P, Z, lost, padded, mu, radius, rows, active


def _rank(C: Array) -> int:
    return int(np.linalg.matrix_rank(C, tol=RANK * max(float(np.abs(C).max()), 1e-300)))


def _cross(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _beside(normal: Array) -> Array:
    """A unit vector across another."""
    across = np.cross(normal, np.eye(3)[int(np.abs(normal).argmin())])
    return across / np.linalg.norm(across)
