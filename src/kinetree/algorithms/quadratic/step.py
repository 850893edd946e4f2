"""One iteration of the interior-point method: predictor and corrector.

Source: as in `interior_point`; Nocedal & Wright (2006), Algorithm 16.4.

Cost: that of one sparse factor and two solutions.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import Factor, Row, factor
from kinetree.algorithms.quadratic.problem import Pattern, Quadratic
from kinetree.algorithms.quadratic.residuals import Iterate, Residuals
from kinetree.algorithms.quadratic.system import assembled
from kinetree.scalar import Scalar, absolute, maximum

SHORT = 0.995
"""The share of the longest step that is taken."""


class Step:
    """One iteration: a function of scalars alone."""

    def __init__(self, pattern: Pattern, order: Sequence[int]) -> None:
        self.pattern, self.order = pattern, order

    def __call__(self, at: Iterate, given: Quadratic) -> Iterate:
        r = Residuals.at(self.pattern, at, given)
        s_inv = [1.0 / s for s in at.s]
        z_inv = [1.0 / z for z in at.z]
        W = [z * s for z, s in zip(at.z, s_inv, strict=True)]
        K = factor(assembled(self.pattern, given, W), self.order)
        C = self.pattern.rows(given.C, "C")
        share = 1.0 / max(len(at.s), 1)
        mu = dot(at.s, at.z) * share if at.s else 1.0

        sz = [s * z for s, z in zip(at.s, at.z, strict=True)]
        _, _, ds, dz = self._direction(K, C, at, r, s_inv, W, sz)
        alpha = _longest(at, ds, dz, s_inv, z_inv, 1.0)
        after = [
            (s + alpha * d) * (z + alpha * e) for s, d, z, e in zip(at.s, ds, at.z, dz, strict=True)
        ]
        ratio = sum(after, start=0.0) * share / mu
        sigma_mu = ratio * ratio * ratio * mu
        products = [x + d * e - sigma_mu for x, d, e in zip(sz, ds, dz, strict=True)]
        dx, dy, ds, dz = self._direction(K, C, at, r, s_inv, W, products)
        alpha = _longest(at, ds, dz, s_inv, z_inv, SHORT)

        def moved(x: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
            return [u + alpha * v for u, v in zip(x, d, strict=True)]

        s, z = moved(at.s, ds), moved(at.z, dz)
        left: Scalar = 0.0
        for x in (*r.dual, *r.primal, *r.slack):
            left = maximum(left, absolute(x))
        left = left * (1.0 - alpha)  # residuals are linear in the step
        for u, v in zip(s, z, strict=True):
            left = maximum(left, u * v)
        return Iterate(moved(at.x, dx), moved(at.y, dy), s, z, left)

    def _direction(
        self,
        K: Factor,
        C: Sequence[Row],
        at: Iterate,
        r: Residuals,
        s_inv: Sequence[Scalar],
        W: Sequence[Scalar],
        products: Sequence[Scalar],
    ) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
        """dx, dy, ds, dz that lower the products s z by the given amounts."""
        n = self.pattern.unknowns
        pulls: list[Scalar] = [0.0] * self.pattern.inequalities
        for k, (i, sign) in enumerate(self.pattern.sides):
            pulls[i] = pulls[i] + (W[k] * r.slack[k] - products[k] * s_inv[k]) * sign
        rhs = [-x for x in r.dual]
        for i, row in enumerate(C):
            for j, entry in row.items():
                rhs[j] = rhs[j] - entry * pulls[i]
        found = K.solve([*rhs, *(-x for x in r.primal)])
        dx, dy = found[:n], found[n:]
        Cdx = [sum((v * dx[j] for j, v in row.items()), start=0.0) for row in C]
        ds = [-r.slack[k] - Cdx[i] * sign for k, (i, sign) in enumerate(self.pattern.sides)]
        dz = [-p * t - w * d for p, t, w, d in zip(products, s_inv, W, ds, strict=True)]
        return dx, dy, ds, dz


def _longest(
    at: Iterate,
    ds: Sequence[Scalar],
    dz: Sequence[Scalar],
    s_inv: Sequence[Scalar],
    z_inv: Sequence[Scalar],
    share: float,
) -> Scalar:
    """The longest step up to one that keeps s and z positive, or a share of it."""
    most: Scalar = share
    for d, inverse in zip((*ds, *dz), (*s_inv, *z_inv), strict=True):
        most = maximum(most, -d * inverse)
    return share / most
