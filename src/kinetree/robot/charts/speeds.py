"""A robot in generalised speeds chosen by the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kinetree.algorithms import FACTORIZATIONS
from kinetree.algorithms import speeds as algorithms
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import function
from kinetree.quantities.kernels import Kernels
from kinetree.robot import checks
from kinetree.typing import Array, ArrayLike, Out

Speeds = Callable[[Sequence[Any]], Sequence[Sequence[Any]]]
"""From q to the rows of A, over any scalar."""


class InSpeeds:
    """The equations of motion in speeds nu, with v = A(q) nu; see `Robot.charts.in_speeds`.

    Every method takes one state or any batch of them, as a robot's do. Forces are those that do
    work on the speeds: A^T times the joint forces.

    Arguments:
        kernels: those of the robot.
        A: from the coordinates to the matrix, over scalars.
        count: how many speeds there are, n.
    """

    def __init__(self, kernels: Kernels, A: Speeds, count: int) -> None:
        if checks.count("count", count) > kernels.model.nv:
            raise KinetreeError(
                f"count={count!r}: expected the number of speeds, at most {kernels.model.nv}, the "
                f"number of velocities of robot {kernels.model.name!r}"
            )
        self._kernels: Kernels = kernels
        self._A: Speeds = function("A", A)
        self.count: int = checks.count("count", count)
        self._made: dict[str, Kernel] = {}
        shape = self._kernel("matrix", lambda model, q: _rows(A(q)), "q").interface.outputs[0][1]
        if shape != (kernels.model.nv, self.count):
            raise KinetreeError(
                f"A gives a matrix of shape {shape}; {(kernels.model.nv, self.count)} "
                "is expected, a row for each velocity and a column for each of count speeds"
            )

    def _kernel(self, name: str, algorithm: Any, *arguments: str) -> Kernel:
        if name not in self._made:
            model = self._kernels.model
            lengths = {"q": model.nq, "tau": model.nv, "nu": self.count, "dnu": self.count}
            given = {argument: lengths[argument] for argument in arguments}
            self._made[name] = self._kernels.custom(name, algorithm, given)
        return self._made[name]

    def matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The matrix A(q) that maps speeds to velocities.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv, n).
        """
        return self._kernel("matrix", None, "q")(q, out=out)

    def velocity(self, q: ArrayLike, nu: ArrayLike, *, out: Out = None) -> Array:
        """The robot's velocity, v = A nu.

        Arguments:
            q, nu: configuration (..., nq) and speeds (..., n).
            out: an array to write into.

        Returns:
            (..., nv).
        """
        algorithm = partial(algorithms.velocity_of, self._A)
        return self._kernel("velocity", lambda _, *x: algorithm(*x), "q", "nu")(q, nu, out=out)

    def mass_matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The mass matrix of the speeds, A^T M A.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., n, n).
        """
        algorithm = partial(algorithms.mass_in_speeds, self._A)
        return self._kernel("mass_matrix", algorithm, "q")(q, out=out)

    def coriolis_matrix(
        self, q: ArrayLike, nu: ArrayLike, *, factorization: str = "christoffel", out: Out = None
    ) -> Array:
        """The Coriolis matrix of the speeds, A^T C A + A^T M A'.

        Arguments:
            q, nu: configuration (..., nq) and speeds (..., n).
            factorization: of C, "christoffel" or "spatial".
            out: an array to write into.

        Returns:
            (..., n, n). The mass matrix's rate is this matrix plus its transpose.
        """
        if not among(factorization, FACTORIZATIONS):
            raise unknown("factorization", factorization, FACTORIZATIONS, "coriolis_matrix")
        algorithm = partial(algorithms.coriolis_in_speeds, self._A, factorization)
        return self._kernel(f"coriolis_{factorization}", algorithm, "q", "nu")(q, nu, out=out)

    def forces(self, q: ArrayLike, tau: ArrayLike, *, out: Out = None) -> Array:
        """The forces on the speeds, A^T tau.

        Arguments:
            q: configuration, (..., nq).
            tau: joint forces, (..., nv).
            out: an array to write into.

        Returns:
            (..., n).
        """
        algorithm = partial(algorithms.force_in_speeds, self._A)
        return self._kernel("forces", lambda _, *x: algorithm(*x), "q", "tau")(q, tau, out=out)

    def inverse_dynamics(
        self, q: ArrayLike, nu: ArrayLike, dnu: ArrayLike, *, out: Out = None
    ) -> Array:
        """The forces on the speeds that give the rates dnu.

        Arguments:
            q, nu, dnu: configuration (..., nq), speeds and their rates (..., n).
            out: an array to write into.

        Returns:
            (..., n).
        """
        algorithm = partial(algorithms.inverse_in_speeds, self._A)
        kernel = self._kernel("inverse_dynamics", algorithm, "q", "nu", "dnu")
        return kernel(q, nu, dnu, out=out)

    def bias_forces(self, q: ArrayLike, nu: ArrayLike, *, out: Out = None) -> Array:
        """The forces on the speeds at which the speeds stay constant.

        Arguments:
            q, nu: configuration (..., nq) and speeds (..., n).
            out: an array to write into.

        Returns:
            (..., n).
        """

        def algorithm(model: Any, q: Any, nu: Any) -> Any:
            return algorithms.inverse_in_speeds(self._A, model, q, nu, [0] * self.count)

        return self._kernel("bias_forces", algorithm, "q", "nu")(q, nu, out=out)

    def forward_dynamics(
        self, q: ArrayLike, nu: ArrayLike, tau: ArrayLike, *, out: Out = None
    ) -> Array:
        """The rates of the speeds under joint forces.

        Arguments:
            q, nu: configuration (..., nq) and speeds (..., n).
            tau: joint forces, (..., nv).
            out: an array to write into.

        Returns:
            (..., n).
        """
        algorithm = partial(algorithms.forward_in_speeds, self._A)
        kernel = self._kernel("forward_dynamics", algorithm, "q", "nu", "tau")
        return kernel(q, nu, tau, out=out)


def _rows(A: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(row) for row in A]
