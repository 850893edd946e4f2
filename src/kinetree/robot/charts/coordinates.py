"""A robot in coordinates that the user chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kinetree._lazy import cached_property
from kinetree.algorithms import coordinates as algorithms
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError
from kinetree.kinds import function
from kinetree.quantities.kernels import Kernels
from kinetree.robot import checks
from kinetree.typing import Array, ArrayLike, Out

CoordinateMap = Callable[[Sequence[Any]], Sequence[Any]]
"""From coordinates y to q, over any scalar."""


class InCoordinates:
    """The equations of motion in coordinates y, q = chart(y): `robot.charts.in_coordinates`.

    Every method takes one state or any batch of them, as the methods of Robot do.

    Arguments:
        kernels: those of the robot.
        chart: q(y), written over any scalar.
        count: n, the number of coordinates y.
    """

    def __init__(self, kernels: Kernels, chart: CoordinateMap, count: int) -> None:
        model = kernels.model
        if model.nq != model.nv:
            raise KinetreeError(
                f"robot {model.name!r} has {model.nq} coordinates and {model.nv} velocities: other "
                "coordinates need velocities that are the rates of q; use "
                "robot.edit.rechart('exponential')"
            )
        self._kernels: Kernels = kernels
        self._chart: CoordinateMap = function("chart", chart)
        self.count: int = checks.count("count", count)
        (given,) = self._joint.interface.outputs[0][1]  # traced: it may be undefined somewhere
        if given != model.nq:
            raise KinetreeError(
                f"chart gives {given} coordinates; robot {model.name!r} has {model.nq}"
            )

    def _kernel(self, name: str, algorithm: Any, *arguments: str) -> Kernel:
        nv = self._kernels.model.nv
        lengths = {name: nv if name == "tau" else self.count for name in arguments}
        return self._kernels.custom(name, algorithm, lengths)

    @cached_property
    def _joint(self) -> Kernel:
        return self._kernel("coordinates", lambda model, y: list(self._chart(y)), "y")

    def coordinates(self, y: ArrayLike, *, out: Out = None) -> Array:
        """The robot's coordinates, q(y).

        Arguments:
            y: coordinates, (..., n).
            out: an array to write into.

        Returns:
            (..., nq).
        """
        return self._joint(y, out=out)

    @cached_property
    def _derivative(self) -> Kernel:
        algorithm = partial(algorithms.derivative, self._chart)
        return self._kernel("derivative", lambda model, y: algorithm(y), "y")

    def derivative(self, y: ArrayLike, *, out: Out = None) -> Array:
        """The matrix A = dq/dy, with v = A y'.

        Arguments:
            y: coordinates, (..., n).
            out: an array to write into.

        Returns:
            (..., nv, n).
        """
        return self._derivative(y, out=out)

    @cached_property
    def _mass(self) -> Kernel:
        return self._kernel("mass_matrix", partial(algorithms.mass_in, self._chart), "y")

    def mass_matrix(self, y: ArrayLike, *, out: Out = None) -> Array:
        """The mass matrix in y, A^T M A.

        Arguments:
            y: coordinates, (..., n).
            out: an array to write into.

        Returns:
            (..., n, n).
        """
        return self._mass(y, out=out)

    @cached_property
    def _coriolis(self) -> Kernel:
        algorithm = partial(algorithms.coriolis_in, self._chart)
        return self._kernel("coriolis_matrix", algorithm, "y", "dy")

    def coriolis_matrix(self, y: ArrayLike, dy: ArrayLike, *, out: Out = None) -> Array:
        """The Coriolis matrix of the Christoffel symbols in y.

        Arguments:
            y, dy: coordinates and their rates, (..., n).
            out: an array to write into.

        Returns:
            (..., n, n).
        """
        return self._coriolis(y, dy, out=out)

    @cached_property
    def _gravity(self) -> Kernel:
        return self._kernel("gravity_forces", partial(algorithms.gravity_in, self._chart), "y")

    def gravity_forces(self, y: ArrayLike, *, out: Out = None) -> Array:
        """The gravity forces in y, A^T g.

        Arguments:
            y: coordinates, (..., n).
            out: an array to write into.

        Returns:
            (..., n).
        """
        return self._gravity(y, out=out)

    @cached_property
    def _force(self) -> Kernel:
        algorithm = partial(algorithms.force_in, self._chart)
        return self._kernel("forces", lambda model, y, tau: algorithm(y, tau), "y", "tau")

    def forces(self, y: ArrayLike, tau: ArrayLike, *, out: Out = None) -> Array:
        """The forces along y of joint forces, A^T tau.

        Arguments:
            y: coordinates, (..., n).
            tau: joint forces, (..., nv).
            out: an array to write into.

        Returns:
            (..., n).
        """
        return self._force(y, tau, out=out)

    @cached_property
    def _inverse(self) -> Kernel:
        algorithm = partial(algorithms.inverse_dynamics_in, self._chart)
        return self._kernel("inverse_dynamics", algorithm, "y", "dy", "ddy")

    def inverse_dynamics(
        self, y: ArrayLike, dy: ArrayLike, ddy: ArrayLike, *, out: Out = None
    ) -> Array:
        """The forces along y that cause a motion; drives and friction included, as in Robot's.

        Arguments:
            y, dy, ddy: coordinates, their rates and second rates, (..., n).
            out: an array to write into.

        Returns:
            (..., n): A^T tau, as `forces` returns it for the joint forces tau.
        """
        return self._inverse(y, dy, ddy, out=out)

    @cached_property
    def _forward(self) -> Kernel:
        algorithm = partial(algorithms.forward_dynamics_in, self._chart)
        return self._kernel("forward_dynamics", algorithm, "y", "dy", "force")

    def forward_dynamics(
        self, y: ArrayLike, dy: ArrayLike, force: ArrayLike, *, out: Out = None
    ) -> Array:
        """The second time derivatives of y under forces along y.

        Where the columns of A are dependent, they do not determine y'', and the result is not
        finite.

        Arguments:
            y, dy: coordinates and their rates, (..., n).
            force: A^T tau, (..., n): `forces` gives it for joint forces tau.
            out: an array to write into.

        Returns:
            (..., n).
        """
        return self._forward(y, dy, force, out=out)

    @cached_property
    def _symbols(self) -> Kernel:
        return self._kernel("christoffel_symbols", partial(algorithms.symbols_in, self._chart), "y")

    def christoffel_symbols(self, y: ArrayLike, *, out: Out = None) -> Array:
        """The Christoffel symbols of the first kind in y.

        Arguments:
            y: coordinates, (..., n).
            out: an array to write into.

        Returns:
            (..., n, n, n).
        """
        return self._symbols(y, out=out)
