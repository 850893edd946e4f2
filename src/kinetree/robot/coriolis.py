"""Coriolis matrices and Christoffel symbols of a robot, and what control does with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinetree import algorithms
from kinetree.algorithms.coriolis import Factor
from kinetree.coordinates import InCoordinates
from kinetree.quantities import christoffel_pattern
from kinetree.robot.core import Array, Core


class Coriolis(Core):
    """The factors of velocity products."""

    def coriolis_matrix(
        self,
        q: Array,
        v: Array,
        factorization: str | Factor = "christoffel",
        out: Array = None,
    ) -> Array:
        """A matrix C(q, v) with C v = `coriolis_forces`, (..., nv, nv).

        Arguments:
            factorization: which of the many there are; see `docs/coriolis.md`.
                "christoffel": the one of the Christoffel symbols, where v is the rate of q; M' - 2C
                    is skew-symmetric always.
                "spatial": by (v x*) I, cheaper by hand; M' - 2C is skew-symmetric, too.
                "lagrange": by Jacobians and their rates; M' - 2C is skew-symmetric, too.
                a function B(v, I) of a Motion and an Inertia, giving an Operator with
                    B v = v x* I v; M' - 2C is skew-symmetric if B + B^T = (v x*) I - I (v x).
        """
        if factorization == "christoffel":
            return self._kernels["coriolis_matrix"](q, v, out=out)
        if isinstance(factorization, str):
            return self._kernels["coriolis_matrix", factorization](q, v, out=out)
        kernel = self._own.get(factorization)
        if kernel is None:
            algorithm = algorithms.coriolis_matrix(factorization)
            lengths = {"q": self.nq, "v": self.nv}
            kernel = self._kernels.own("coriolis_matrix", algorithm, lengths)
            self._own[factorization] = kernel
        return kernel(q, v, out=out)

    def mass_and_coriolis(
        self, q: Array, v: Array, out: Array = None
    ) -> tuple[Array, Array, Array]:
        """M, its rate and C of the Christoffel symbols from one pass, each (..., nv, nv)."""
        return self._kernels["mass_and_coriolis"](q, v, out=out)

    def christoffel_symbols(self, q: Array, sparse: bool = False, out: Array = None) -> Array:
        """The Christoffel symbols of the first kind, (..., nv, nv, nv): [i, j, k] = Gamma_ijk.

        Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2 where v is the rate of q; else the
        derivative of C_ij by v_k, which is not symmetric in j and k.

        Arguments:
            sparse: give only the values that are not zero by structure and not equal by symmetry,
                (..., m), in the order of `christoffel_pattern`.
        """
        name = "christoffel_values" if sparse else "christoffel_symbols"
        return self._kernels[name](q, out=out)

    @cached_property
    def christoffel_pattern(self) -> np.ndarray:
        """The indices (i, j, k) of the sparse symbols, (m, 3); j <= k where they are symmetric."""
        return np.array(christoffel_pattern(self.model), dtype=np.intp).reshape(-1, 3)

    def passivity_forces(
        self, q: Array, v: Array, vr: Array, ar: Array | None = None, out: Array = None
    ) -> Array:
        """M(q) ar + C(q, v) vr + g(q), (..., nv): the law of Slotine and Li, in O(N).

        Arguments:
            vr, ar: reference velocity and acceleration; no acceleration if None. With C of the
                Christoffel symbols, and g the `gravity_forces`, springs included.
        """
        still = np.zeros(self.nv) if ar is None else ar
        return self._kernels["passivity_forces"](q, v, vr, still, out=out)

    def momentum_observer(
        self, q: Array, v: Array, tau: Array, residual: Array, out: Array = None
    ) -> tuple[Array, Array]:
        """A step of the generalised-momentum observer of forces from outside.

        Integrate the second result to an estimate of the first; gain times what is left between
        the two is the next residual, which follows the joint forces that come from outside.

        Returns:
            p, rate: M v and tau + C^T v - g + residual, (..., nv) each.
        """
        return self._kernels["momentum_observer"](q, v, tau, residual, out=out)

    def in_coordinates(
        self, chart: Callable[[Sequence[Any]], Sequence[Any]], count: int
    ) -> InCoordinates:
        """The equations of motion in other coordinates y, with q = chart(y).

        Arguments:
            chart: from the coordinates y to q, written over any scalar with the functions of
                `kinetree.scalar`.
            count: how many coordinates y has.

        Returns:
            M, C, g, forces and Christoffel symbols in y, compiled when first asked for.
        """
        return InCoordinates(self._kernels, chart, count)
