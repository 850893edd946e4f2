"""Curves of exciting motions: periodic, at rest at their ends, linear in their coefficients.

Sources: J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter & H. Van Brussel, Optimal robot
excitation and identification, IEEE Transactions on Robotics and Automation 13 (1997), for finite
Fourier series; W. Rackl, R. Lampariello & G. Hirzinger, Robot excitation trajectories for dynamic
parameter estimation using optimized B-splines, ICRA 2012, for splines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kinetree._lazy import cached_property
from kinetree.motion.splines import Basis
from kinetree.typing import Array

DEGREE = 5
"""Of splines: accelerations have two continuous derivatives."""
CLAMPED = 3
"""Coefficients at each end of a spline that must be equal for v = a = 0 there."""


class Curve(Protocol):
    """A family of curves q(t) = basis(t) @ coefficients."""

    @property
    def duration(self) -> float:
        """The period, s."""

    @property
    def rest(self) -> Array:
        """Free numbers to coefficients with v = a = 0 at both ends; the first is a constant."""

    def basis(self, time: Array) -> tuple[Array, Array, Array]:
        """The basis functions and their first two derivatives.

        Arguments:
            time: s, (...).

        Returns:
            Three arrays, (..., coefficients).
        """


@dataclass(frozen=True)
class Fourier:
    """The functions 1, sin(l w t), ..., cos(l w t), ... with w = 2 pi / duration.

    Arguments:
        duration: the period, s.
        harmonics: how many multiples of w.
    """

    duration: float
    harmonics: int

    def basis(self, time: Array) -> tuple[Array, Array, Array]:
        """As in `Curve`."""
        w = 2.0 * np.pi / self.duration * np.arange(1, self.harmonics + 1)
        phase = time[..., None] * w
        s, c = np.sin(phase), np.cos(phase)
        one = np.ones((*time.shape, 1))
        return (
            np.concatenate([one, s, c], axis=-1),
            np.concatenate([0 * one, w * c, -w * s], axis=-1),
            np.concatenate([0 * one, -w * w * s, -w * w * c], axis=-1),
        )

    @cached_property
    def rest(self) -> Array:
        """As in `Curve`, (2 harmonics + 1, 2 harmonics - 1)."""
        l = np.arange(1.0, self.harmonics + 1)
        rows = np.zeros((2, 2 * self.harmonics + 1))
        rows[0, 1 : self.harmonics + 1] = l  # v(0): sum of l a_l
        rows[1, self.harmonics + 1 :] = l * l  # a(0): sum of l^2 b_l
        basis = np.linalg.svd(rows[:, 1:])[2][2:].T
        whole = np.zeros((2 * self.harmonics + 1, basis.shape[1] + 1))
        whole[0, 0] = 1.0
        whole[1:, 1:] = basis
        return whole


@dataclass(frozen=True)
class Spline:
    """A B-spline of degree 5 with equal intervals, which ends where it starts.

    Arguments:
        duration: the period, s.
        harmonics: as of a Fourier series with as many free numbers, 2 harmonics - 1 a joint.
    """

    duration: float
    harmonics: int

    @cached_property
    def _basis(self) -> Basis:
        return Basis(2 * self.harmonics - 2 + 2 * CLAMPED, DEGREE)

    def basis(self, time: Array) -> tuple[Array, Array, Array]:
        """As in `Curve`."""
        u = np.mod(time / self.duration, 1.0)
        N, dN, ddN = (self._basis.values(u, rate) / self.duration**rate for rate in range(3))
        return N, dN, ddN

    @cached_property
    def rest(self) -> Array:
        """As in `Curve`, (2 harmonics + 4, 2 harmonics - 1): inner coefficients move alone."""
        inner = self._basis.count - 2 * CLAMPED
        whole = np.zeros((self._basis.count, inner + 1))
        whole[:, 0] = 1.0  # B-splines add up to one
        whole[CLAMPED:-CLAMPED, 1:] = np.eye(inner)
        return whole


CURVES: dict[str, type[Fourier] | type[Spline]] = {"fourier": Fourier, "spline": Spline}
