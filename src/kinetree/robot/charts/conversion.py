"""States, forces and matrices of a robot in other charts of its joints."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import rechart as algorithms
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.robot.checks import real_array
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.quantities.kernels import Kernels


class ConvertedMotion(NamedTuple):
    """A motion in another robot's charts.

    Attributes:
        q: configurations, (times, nq), without jumps.
        v, a: velocities and accelerations, (times, nv); None if they were not given.
    """

    q: Array
    v: Array | None
    a: Array | None


class Conversion:
    """The conversion from a robot's charts to those of another: `robot.charts.conversion`.

    Every method takes one state or any batch of them, in the first robot's charts. A configuration
    may have several coordinates in the other robot's charts; `y` says which are meant, by default
    those of `configuration`.

    Arguments:
        kernels: those of the first robot.
        other: the model in the other charts.
    """

    def __init__(self, kernels: Kernels, other: Model) -> None:
        model = kernels.model
        names = [body.joint_name for body in model.bodies]
        if names != [body.joint_name for body in other.bodies]:
            raise KinetreeError(
                f"robots {model.name!r} and {other.name!r} have different joints: expected the "
                "same robot in other charts, such as robot.edit.rechart('zyx')"
            )
        self._kernels: Kernels = kernels
        self._model, self._other = model, other
        self._made: dict[str, Kernel] = {}

    def _at(self, name: str, q: ArrayLike, y: ArrayLike | None, *arrays: ArrayLike) -> Array:
        """An algorithm of `algorithms.rechart` at a configuration in both charts."""
        if name not in self._made:
            lengths = {"q": self._model.nq, "y": self._other.nq}
            lengths |= dict.fromkeys(("v", "a")[: len(arrays)], self._model.nv)
            algorithm = partial(getattr(algorithms, name), self._model, self._other)
            self._made[name] = self._kernels.custom(name, lambda _, *x: algorithm(*x), lengths)
        return self._made[name](q, self.configuration(q) if y is None else y, *arrays)

    @cached_property
    def _coordinates(self) -> Kernel:
        algorithm = partial(algorithms.other_coordinates, self._model, self._other)
        lengths = {"q": self._model.nq}
        return self._kernels.custom("configuration", lambda _, q: algorithm(q), lengths)

    def configuration(self, q: ArrayLike) -> Array:
        """The coordinates of a configuration in the other robot's charts.

        Joints whose chart is the same in both robots keep their coordinates, whole turns included.

        Arguments:
            q: configuration, (..., nq).

        Returns:
            (..., nq of the other robot).
        """
        return self._coordinates(q)

    def velocity(self, q: ArrayLike, v: ArrayLike, y: ArrayLike | None = None) -> Array:
        """The other robot's velocity in the same motion.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv) of this robot.
            y: the configuration in the other robot's charts, from `configuration` if None.

        Returns:
            (..., nv).
        """
        return self._at("other_velocity", q, y, v)

    def acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike | None = None
    ) -> Array:
        """The other robot's acceleration in the same motion.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv) of this robot.
            y: as in `velocity`.

        Returns:
            (..., nv).
        """
        return self._at("other_acceleration", q, y, v, a)

    def derivative(self, q: ArrayLike, y: ArrayLike | None = None) -> Array:
        """The matrix A that maps velocities of the other robot to those of this one.

        Arguments:
            q: configuration, (..., nq).
            y: as in `velocity`.

        Returns:
            A, (..., nv, nv).
        """
        return self._at("chart_derivative", q, y)

    def derivative_rate(self, q: ArrayLike, v: ArrayLike, y: ArrayLike | None = None) -> Array:
        """The rate of A (see `derivative`) in a motion of this robot.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv) of this robot.
            y: as in `velocity`.

        Returns:
            (..., nv, nv).
        """
        return self._at("chart_derivative_rate", q, y, v)

    @through_numpy
    def forces(self, q: ArrayLike, tau: ArrayLike, y: ArrayLike | None = None) -> Array:
        """The other robot's joint forces, A^T tau, which do the same work.

        Arguments:
            q: configuration, (..., nq).
            tau: joint forces of this robot, (..., nv).
            y: as in `velocity`.

        Returns:
            (..., nv).
        """
        return np.einsum("...ij,...i->...j", self.derivative(q, y), np.asarray(tau))

    @through_numpy
    def mass_matrix(self, q: ArrayLike, M: ArrayLike, y: ArrayLike | None = None) -> Array:
        """The other robot's mass matrix, A^T M A.

        Arguments:
            q: configuration, (..., nq).
            M: the mass matrix of this robot, (..., nv, nv).
            y: as in `velocity`.

        Returns:
            (..., nv, nv).
        """
        A = self.derivative(q, y)
        return A.swapaxes(-1, -2) @ np.asarray(M) @ A

    @through_numpy
    def coriolis_matrix(
        self,
        q: ArrayLike,
        v: ArrayLike,
        M: ArrayLike,
        C: ArrayLike,
        y: ArrayLike | None = None,
    ) -> Array:
        """The other robot's Coriolis matrix, A^T C A + A^T M A' (Theorem 1).

        It is the matrix of the Christoffel symbols if C is.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv) of this robot.
            M, C: the mass matrix and the Coriolis matrix of this robot, (..., nv, nv).
            y: as in `velocity`.

        Returns:
            (..., nv, nv).
        """
        A, dA = self.derivative(q, y), self.derivative_rate(q, v, y)
        return A.swapaxes(-1, -2) @ (np.asarray(C) @ A + np.asarray(M) @ dA)

    @through_numpy
    def christoffel_symbols(
        self, q: ArrayLike, M: ArrayLike, Gamma: ArrayLike, y: ArrayLike | None = None
    ) -> Array:
        """The other robot's Christoffel symbols from this one's, where v is the rate of q.

        Arguments:
            q: configuration, (..., nq).
            M: the mass matrix of this robot, (..., nv, nv).
            Gamma: the Christoffel symbols of this robot, (..., nv, nv, nv).
            y: as in `velocity`.

        Returns:
            (..., nv, nv, nv).
        """
        for model in (self._model, self._other):
            if model.nq != model.nv:
                raise KinetreeError(
                    "christoffel_symbols: velocities of both robots must be rates of coordinates; "
                    f"robot {model.name!r} has quaternions in one of them"
                )
        A, mass, symbols = self.derivative(q, y), np.asarray(M), np.asarray(Gamma)
        # as the other robot moves with one unit velocity, this one moves with a column of A
        units = A.swapaxes(-1, -2)
        there = None if y is None else np.asarray(y)[..., None, :]
        rates = self.derivative_rate(np.asarray(q)[..., None, :], units, there)
        second = np.moveaxis(rates, -3, -1)
        turned = np.einsum("...abc,...ai,...bj,...ck->...ijk", symbols, A, A, A, optimize=True)
        bent: Array = np.einsum("...bi,...ba,...ajk->...ijk", A, mass, second, optimize=True)
        return turned + bent

    @through_numpy
    def trajectory(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> ConvertedMotion:
        """A motion in the other robot's charts, its coordinates there without jumps.

        Joints whose chart is the same in both robots keep their coordinates.

        Arguments:
            q: configurations at successive times, (times, nq).
            v, a: velocities and accelerations, (times, nv), if they are to be converted, too.

        Returns:
            q, v and a in the other robot's charts.
        """
        changed = algorithms.changed_joints(self._model, self._other)
        y = continuous(self._other, self.configuration(q), changed)
        w = None if v is None else self.velocity(q, v, y)
        b = None if v is None or a is None else self.acceleration(q, v, a, y)
        return ConvertedMotion(y, w, b)


def continuous(model: Model, q: ArrayLike, bodies: Iterable[int] | None = None) -> Array:
    """The same configurations along time, (times, nq), their coordinates without jumps.

    Arguments:
        bodies: whose joints; by default all.
    """
    path = np.array(real_array("q", q))
    if path.ndim != 2 or path.shape[1] != model.nq:
        raise KinetreeError(
            f"continuous: q has shape {path.shape}; (times, {model.nq}) is expected"
        )
    for i in model.coordinate_order if bodies is None else bodies:
        at = model.q_slices[i]
        path[:, at] = model.bodies[i].joint.continued(path[:, at])
    return path
