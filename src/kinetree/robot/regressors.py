"""Regressors of a robot, and its identifiable parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from kinetree._lazy import cached_property
from kinetree.model.parameters import TEN, Inertial
from kinetree.robot import uses
from kinetree.robot.core import Core, Door
from kinetree.typing import Array, ArrayLike, Out, Outs


class Regressed(Core):
    """The regressor of joint forces, and the parameters that they determine."""

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """Y with Y @ `regressors.parameters` = the joint forces of `inverse_dynamics`.

        Rotors, friction and springs are not in it: see `regressors.drive`.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            out: an array to write into.

        Returns:
            (..., nv, 10 n), ten columns for each body in the order of `bodies`: mass, first moment
            (hx, hy, hz: mass times centre of mass), rotational inertia about the body's origin
            (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), in the body's frame.
        """
        return self._compute("regressor", (q, v, a), out)

    def base_parameters(
        self,
        *,
        method: Literal["structure", "numbers"] = "structure",
        drives: Sequence[str] = (),
    ) -> uses.BaseParameters:
        """The combinations of parameters that joint forces depend on; print it to read them.

        Arguments:
            method: "structure" regroups along the joints and is exact; "numbers" takes the rank of
                the regressor at random states.
            drives: which numbers of the drives are parameters too, as in `regressors.drive`.

        Returns:
            The base parameters, with their labels and the map from all parameters to them.
        """
        return uses.base_parameters(self, method, drives)  # type: ignore[arg-type]


class Regressors(Door):
    """The inertial parameters, and regressors of other forces, momenta and energies."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each inertial parameter is, such as "link7.mass"."""
        return tuple(f"{body}.{name}" for body in self._robot.bodies for name in TEN)

    @cached_property
    def parameters(self) -> Array:
        """The ten inertial parameters of each body, (10 n,), in the order of `names`."""
        parts = [Inertial(name).nominal(self._robot.model) for name in self._robot.bodies]
        return np.array([x for part in parts for x in part], float)

    def drive(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """The part of each joint force for a unit of each parameter of its drive.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            out: an array to write into.

        Returns:
            (..., nv, 5): columns for armature (a), damping (v), friction (the sign of v), stiffness
            (the displacement of the spring) and a constant offset (one).
        """
        return self._robot._compute("drive_regressor", (q, v, a), out)

    def base_wrench(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """Y with Y @ `parameters` = the wrench that carries the robot's moving bodies.

        That is what a force sensor under a fixed base measures (besides the weight of the base
        itself), and the sum of all contact wrenches on a floating robot.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            out: an array to write into.

        Returns:
            (..., 6, 10 n): force, then moment about the world's origin, in the world's axes;
            columns as in `regressor`.
        """
        return self._robot._compute("base_wrench_regressor", (q, v, a), out)

    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> tuple[Array, Array]:
        """Regressors without accelerations: of p = M v, and of its rate minus the joint forces.

        Integrate p' = tau + rate over an interval of time: the increase of p is the integral.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: two arrays to write into.

        Returns:
            Y, rate: (..., nv, 10 n) each. Y @ parameters = M v, and rate @ parameters = C^T v - g.
        """
        Y, rate = self._robot._compute("momentum_regressor", (q, v), out)
        return Y, rate

    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The row y with y @ `parameters` = the bodies' kinetic and potential energy.

        Its increase over an interval of time is the work of the joint forces, the integral of tau .
        v, if there is no friction.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., 10 n), columns as in `regressor`.
        """
        return self._robot._compute("energy_regressor", (q, v), out)

    def passivity(
        self, q: ArrayLike, v: ArrayLike, vr: ArrayLike, ar: ArrayLike, *, out: Out = None
    ) -> Array:
        """Y with Y @ `parameters` = M ar + C vr + g, for Slotine and Li's adaptive law.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            vr, ar: reference velocity and acceleration, (..., nv); see `coriolis.passivity_forces`.
            out: an array to write into.

        Returns:
            (..., nv, 10 n), columns as in `regressor`.
        """
        return self._robot._compute("passivity_regressor", (q, v, vr, ar), out)
