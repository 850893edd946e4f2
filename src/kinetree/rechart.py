"""States, forces and matrices of a robot in other charts of its joints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms import rechart as algorithms
from kinetree.errors import KinetreeError
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.model.joints.continuity import continued
from kinetree.runtime.kernel import Kernel
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.kernels import Kernels


class Conversion:
    """From a robot's charts to those of another, which is the same robot; see `Robot.conversion`.

    Every method takes one state or any batch of them, in the first robot's charts.
    """

    def __init__(self, kernels: Kernels, other: Model) -> None:
        model = kernels.model
        names = [body.joint_name for body in model.bodies]
        if names != [body.joint_name for body in other.bodies]:
            raise KinetreeError(
                f"robots {model.name!r} and {other.name!r} have other joints: the same robot in "
                "other charts is expected, such as robot.rechart('zyx')"
            )
        self._kernels, self._model, self._other = kernels, model, other

    def _kernel(self, name: str, algorithm: Any, **lengths: int) -> Kernel:
        both = partial(algorithm, self._model, self._other)
        return self._kernels.own(name, lambda _, *arrays: both(*arrays), lengths)

    @cached_property
    def _coordinates(self) -> Kernel:
        return self._kernel("configuration", algorithms.other_coordinates, q=self._model.nq)

    def configuration(self, q: ArrayLike) -> Array:
        """The coordinates (..., nq of the other robot) of a configuration."""
        return self._coordinates(q)

    @cached_property
    def _velocity(self) -> Kernel:
        n = {"q": self._model.nq, "v": self._model.nv}
        return self._kernel("velocity", algorithms.other_velocity, **n)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The other robot's velocity (..., nv) at the same motion."""
        return self._velocity(q, v)

    @cached_property
    def _acceleration(self) -> Kernel:
        n = {"q": self._model.nq, "v": self._model.nv, "a": self._model.nv}
        return self._kernel("acceleration", algorithms.other_acceleration, **n)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The other robot's acceleration (..., nv) at the same motion."""
        return self._acceleration(q, v, a)

    @cached_property
    def _derivative(self) -> Kernel:
        return self._kernel("derivative", algorithms.chart_derivative, q=self._model.nq)

    def derivative(self, q: ArrayLike) -> Array:
        """A (..., nv, nv): velocities of this robot are A times those of the other."""
        return self._derivative(q)

    @cached_property
    def _rate(self) -> Kernel:
        n = {"q": self._model.nq, "v": self._model.nv}
        return self._kernel("derivative_rate", algorithms.chart_derivative_rate, **n)

    def derivative_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The rate of A (..., nv, nv) at a velocity of this robot."""
        return self._rate(q, v)

    def forces(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """The other robot's joint forces A^T tau (..., nv): they do the same work."""
        return np.einsum("...ij,...i->...j", self.derivative(q), np.asarray(tau))

    def mass_matrix(self, q: ArrayLike, M: ArrayLike) -> Array:
        """A^T M A, (..., nv, nv)."""
        A = self.derivative(q)
        return A.swapaxes(-1, -2) @ np.asarray(M) @ A

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, M: ArrayLike, C: ArrayLike) -> Array:
        """A^T C A + A^T M A', (..., nv, nv): of the Christoffel symbols if C is (Theorem 1)."""
        A = self.derivative(q)
        dA = self.derivative_rate(q, v)
        return A.swapaxes(-1, -2) @ (np.asarray(C) @ A + np.asarray(M) @ dA)

    def christoffel_symbols(self, q: ArrayLike, M: ArrayLike, Gamma: ArrayLike) -> Array:
        """The other robot's symbols (..., nv, nv, nv) from this one's, where v is the rate of q."""
        for model in (self._model, self._other):
            if model.nq != model.nv:
                raise KinetreeError(
                    "christoffel_symbols: velocities of both robots must be rates of coordinates; "
                    f"robot {model.name!r} has quaternions in one of them"
                )
        A, mass, symbols = self.derivative(q), np.asarray(M), np.asarray(Gamma)
        # as the other robot moves with one unit velocity, this one moves with a column of A
        units = A.swapaxes(-1, -2)
        second = np.moveaxis(self.derivative_rate(np.asarray(q)[..., None, :], units), -3, -1)
        turned = np.einsum("...abc,...ai,...bj,...ck->...ijk", symbols, A, A, A, optimize=True)
        bent: Array = np.einsum("...bi,...ba,...ajk->...ijk", A, mass, second, optimize=True)
        return turned + bent

    def trajectory(self, q: ArrayLike) -> Array:
        """A motion's configurations, (times, nq), in the other robot's charts and without jumps."""
        return continuous(self._other, self.configuration(q))


def continuous(model: Model, q: ArrayLike) -> Array:
    """The same configurations along time, (times, nq), their coordinates without jumps."""
    path = np.array(q, dtype=np.float64)
    if path.ndim != 2 or path.shape[1] != model.nq:
        raise KinetreeError(
            f"continuous: q has shape {path.shape}; (times, {model.nq}) is expected"
        )
    for i in model.coordinate_order:
        at = model.q_slices[i]
        path[:, at] = continued(model.bodies[i].joint, path[:, at])
    return path
