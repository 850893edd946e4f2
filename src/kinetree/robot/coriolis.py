"""Coriolis matrices and Christoffel symbols of a robot, and controllers that use them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree import algorithms
from kinetree._lazy import cached_property
from kinetree.algorithms.coriolis import Factor
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, among
from kinetree.quantities import christoffel_pattern
from kinetree.robot.core import Core, Door
from kinetree.robot.memo import Memo
from kinetree.typing import Array, ArrayLike, Factorization, Out, Outs


class CoriolisMatrices(Core):
    """The Coriolis matrix and the Christoffel symbols."""

    @cached_property
    def _by_factorization(self) -> Memo[Factor, Kernel]:
        """The Coriolis matrices by users' own factorizations."""
        return Memo()

    def coriolis_matrix(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        factorization: Factorization | Factor = "christoffel",
        out: Out = None,
    ) -> Array:
        """A matrix C(q, v) with C v = `coriolis_forces`.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            factorization: which of the possible matrices; see `docs/coriolis.md`.
                "christoffel": the one of the Christoffel symbols, where v is the rate of q; M' - 2C
                    is skew-symmetric always.
                "spatial": by (v x*) I, cheaper by hand; M' - 2C is skew-symmetric, too.
                "lagrange": by Jacobians and their rates; M' - 2C is skew-symmetric, too.
                a function B(v, I) of a Twist and an Inertia, giving an Operator with
                    B v = v x* I v; M' - 2C is skew-symmetric if B + B^T = (v x*) I - I (v x).
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        if isinstance(factorization, str):
            if factorization == "christoffel":
                return self._compute("coriolis_matrix", (q, v), out)
            return self._compute("coriolis_matrix", (q, v), out, factorization)
        if not callable(factorization):
            raise KinetreeError(
                f"factorization={factorization!r}: a name or a function of a body is expected"
            )

        def make() -> Kernel:
            algorithm = algorithms.coriolis_matrix(factorization)
            lengths = {"q": self.nq, "v": self.nv}
            return self._kernels.custom("coriolis_matrix", algorithm, lengths)

        return self._by_factorization.recall(factorization, make)(q, v, out=out)

    def christoffel_symbols(self, q: ArrayLike, *, sparse: bool = False, out: Out = None) -> Array:
        """The Christoffel symbols of the first kind, [i, j, k] = Gamma_ijk.

        Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2 where v is the rate of q. Elsewhere
        it is the derivative of C_ij with respect to v_k, which is not symmetric in j and k.

        Arguments:
            q: configuration, (..., nq).
            sparse: whether to return only the values that are not zero by structure and not equal
                by symmetry, in the order of `coriolis.pattern`.
            out: an array to write into.

        Returns:
            (..., nv, nv, nv); if sparse (..., m).
        """
        if not among(sparse, (True, False)):
            raise KinetreeError(f"sparse must be True or False, got {sparse!r}")
        name = "christoffel_values" if sparse else "christoffel_symbols"
        return self._compute(name, (q,), out)


class Coriolis(Door):
    """The Coriolis matrix with the mass matrix, and what control makes of it: `robot.coriolis`."""

    def with_mass_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: Outs = None
    ) -> tuple[Array, Array, Array]:
        """M, its rate, and C of the Christoffel symbols, from one pass.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: three arrays to write into.

        Returns:
            M, M', C, each (..., nv, nv).
        """
        M, rate, C = self._robot._compute("mass_and_coriolis", (q, v), out)
        return M, rate, C

    @cached_property
    def pattern(self) -> NDArray[np.intp]:
        """The indices (i, j, k) of sparse Christoffel symbols, (m, 3); j <= k if symmetric."""
        return np.array(christoffel_pattern(self._robot.model), dtype=np.intp).reshape(-1, 3)

    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The time derivative of the mass matrix.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., nv, nv), in the unit of the mass matrix per second.
        """
        return self._robot._compute("mass_matrix_rate", (q, v), out)

    def passivity_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vr: ArrayLike,
        ar: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> Array:
        """M(q) ar + C(q, v) vr + g(q), as in Slotine and Li's controller, in O(N).

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            vr, ar: reference velocity and acceleration, (..., nv); ar is zero if None. C is the
                matrix of the Christoffel symbols, g the `gravity_forces`, springs included.
            out: an array to write into.

        Returns:
            Joint forces, (..., nv), N or N m.
        """
        still = np.zeros(self._robot.nv) if ar is None else ar
        return self._robot._compute("passivity_forces", (q, v, vr, still), out)

    def momentum_observer(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        residual: ArrayLike,
        *,
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """One step of the generalised-momentum observer of external forces.

        Integrate the second result to estimate the first. The gain times the difference of the two
        is the next residual, which converges to the external joint forces.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            residual: that of the previous step, (..., nv).
            out: two arrays to write into.

        Returns:
            p and its rate: M v and tau + C^T v - g + residual, (..., nv) each.
        """
        p, rate = self._robot._compute("momentum_observer", (q, v, tau, residual), out)
        return p, rate
