"""A robot's states in other charts, along time without jumps, and in generalised speeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import KinetreeError, ShapeError, unknown
from kinetree.robot.checks import real_array
from kinetree.robot.core import Core, Door
from kinetree.typing import Array, ArrayLike, Out

if TYPE_CHECKING:
    from kinetree.robot.charts.conversion import Conversion
    from kinetree.robot.charts.coordinates import InCoordinates
    from kinetree.robot.charts.speeds import InSpeeds


class Charts(Door):
    """Other coordinates and velocities of the same robot: `robot.charts`."""

    def conversion(self, other: Core) -> Conversion:
        """The conversion from this robot's charts to another's, of states, forces and matrices.

        Arguments:
            other: the same robot in other charts, such as robot.edit.rechart("zyx").

        Returns:
            The conversion; each quantity is one of its methods.
        """
        from kinetree.robot.charts.conversion import Conversion  # rarely needed

        if not isinstance(other, Core):
            raise KinetreeError(f"conversion: a robot is expected, got {other!r}")
        return Conversion(self._robot._kernels, other.model)

    @through_numpy
    def continuous(self, q: ArrayLike) -> Array:
        """The same configurations along time, in coordinates without jumps.

        Of the possible coordinates of each orientation, those nearest to the previous ones are
        taken: the sign of a quaternion, whole turns of angles, the other solution of Euler angles.
        A rotation vector still jumps when it becomes longer than three quarters of a turn, so that
        it stays away from its singularity at a full turn.

        Arguments:
            q: configurations at successive times, (times, nq).

        Returns:
            (times, nq).
        """
        from kinetree.robot.charts.conversion import continuous

        return continuous(self._robot.model, q)

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The rate of q at the velocity v: v itself, except for quaternions.

        Arguments:
            q: configuration, (..., nq).
            v: velocity, (..., nv).
            out: an array to write into.

        Returns:
            (..., nq).
        """
        return self._robot._compute("coordinate_rates", (q, v), out)

    @through_numpy
    def velocities_along(
        self,
        times: ArrayLike,
        q: ArrayLike,
        *,
        method: Literal["difference", "spline"] = "difference",
    ) -> Array:
        """The velocities along a motion that is given by its configurations.

        Arguments:
            times: s, (times,), increasing.
            q: configurations, (times, nq).
            method: "difference", from the configurations before and after, of second order in the
                step; or "spline", from the cubic spline through the coordinates.

        Returns:
            (times, nv), rad/s or m/s.
        """
        t, path = real_array("times", times), self.continuous(q)
        if t.shape != path.shape[:1] or len(t) < 2 or not (np.diff(t) > 0.0).all():
            raise ShapeError(
                f"velocities_along: times has shape {t.shape} and q {path.shape}; increasing times "
                "are expected, one for each configuration and at least two"
            )
        if method == "difference":
            return self._differences(t, path)
        if method != "spline":
            raise unknown("method", method, ("difference", "spline"), "velocities_along")
        from scipy.interpolate import CubicSpline  # takes time to import

        return self._robot._compute("velocity_of_rates", (path, CubicSpline(t, path)(t, 1)), None)

    def _differences(self, t: Array, path: Array) -> Array:
        """Of each configuration, the slope there of the parabola through it and its neighbours."""
        step = np.diff(t)[:, None]
        between = self._robot.difference(path[:-1], path[1:]) / step
        v = np.concatenate([between[:1], between, between[-1:]])
        before, after = np.vstack([step[:1], step]), np.vstack([step, step[-1:]])
        return (v[:-1] * after + v[1:] * before) / (before + after)

    def in_speeds(
        self, A: Callable[[Sequence[Any]], Sequence[Sequence[Any]]], count: int
    ) -> InSpeeds:
        """The equations of motion in generalised speeds nu, with v = A(q) nu.

        Arguments:
            A: from q to the rows of the matrix, written over any scalar with the functions of
                `kinetree.scalar`.
            count: the number of speeds. With fewer than nv, the motion is constrained to what A
                allows.

        Returns:
            M, C, bias forces, inverse and forward dynamics in nu, compiled on first use.
        """
        from kinetree.robot.charts.speeds import InSpeeds

        return InSpeeds(self._robot._kernels, A, count)

    def in_coordinates(
        self, chart: Callable[[Sequence[Any]], Sequence[Any]], count: int
    ) -> InCoordinates:
        """The equations of motion in other coordinates y, with q = chart(y).

        Arguments:
            chart: from the coordinates y to q, written over any scalar with the functions of
                `kinetree.scalar`.
            count: the number of coordinates y.

        Returns:
            M, C, g, forces and Christoffel symbols in y, compiled on first use.
        """
        from kinetree.robot.charts.coordinates import InCoordinates

        return InCoordinates(self._robot._kernels, chart, count)
