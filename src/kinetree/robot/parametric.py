"""A robot with parameters: some of its numbers are arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError
from kinetree.kinds import members
from kinetree.model import Model
from kinetree.model.loads import Point
from kinetree.model.parameters import Parameter, with_numbers
from kinetree.quantities.kernels import Kernels
from kinetree.typing import Array, ArrayLike, Out

PARAMETERS = "a list of Inertial(body), Payload(frame), Placement(joint) and Friction(collider)"


class Parametric:
    """A robot's dynamics as functions of its state and of parameters p.

    Made by `Robot.parametric`. Every method takes one state or any batch of them, as the methods of
    Robot do. p broadcasts with them, so one state can be computed for many robots.

    Arguments:
        model: the robot as it is.
        parameters: Inertial(body), Payload(frame), Placement(joint) and Friction(collider), or one
            of them.

    Attributes:
        parameters: p of the robot as it is, (np,).
        labels: what each entry of p is, such as "link7.mass".
    """

    def __init__(self, model: Model, parameters: Parameter | Sequence[Parameter]) -> None:
        if isinstance(parameters, Parameter):
            parameters = [parameters]
        parameters = members("parameters", parameters, Parameter, PARAMETERS)
        if not parameters:
            raise KinetreeError(f"no parameter is given: {PARAMETERS} is expected")
        self._kernels = Kernels(model, parameters)
        self.model = model
        self.parameters = np.array([x for part in parameters for x in part.nominal(model)])
        self.labels = tuple(f"{part.name}.{x}" for part in parameters for x in part.labels)

    def __repr__(self) -> str:
        parts = ", ".join(map(repr, self._kernels.parameters))
        return f"<Parametric {self.model.name!r}: {parts}, {len(self.labels)} numbers>"

    @through_numpy
    def with_numbers(self, p: Sequence[float]) -> Model:
        """The model with given values of the parameters.

        Arguments:
            p: parameters, (np,).

        Returns:
            The model; Robot(...) makes a robot of it.
        """
        return with_numbers(self.model, self._kernels.parameters, [float(x) for x in p])

    def kernel(
        self,
        quantity: str,
        method: str = "auto",
        *,
        external: Sequence[str | Point] = (),
        **settings: Any,
    ) -> Kernel:
        """The kernel of any quantity; its last argument is p.

        Its `jacobian(wrt="p")` and `vjp(wrt="p")` differentiate with respect to the parameters.

        Arguments:
            quantity, method, external, settings: as in `Robot.kernel`.

        Returns:
            The kernel.
        """
        return self._kernels.ask(quantity, method, tuple(external), settings)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, p: ArrayLike, *, out: Out = None
    ) -> Array:
        """The joint forces that cause an acceleration.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).
            p: parameters, (..., np).
            out: an array to write into.

        Returns:
            (..., nv), N or N m.
        """
        return self._kernels.default("inverse_dynamics")(q, v, a, p, out=out)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, p: ArrayLike, *, out: Out = None
    ) -> Array:
        """The acceleration that joint forces cause.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            p: parameters, (..., np).
            out: an array to write into.

        Returns:
            (..., nv), rad/s^2 or m/s^2.
        """
        return self._kernels.default("forward_dynamics")(q, v, tau, p, out=out)

    def mass_matrix(self, q: ArrayLike, p: ArrayLike, *, out: Out = None) -> Array:
        """The mass matrix.

        Arguments:
            q: configuration, (..., nq).
            p: parameters, (..., np).
            out: an array to write into.

        Returns:
            (..., nv, nv).
        """
        return self._kernels.default("mass_matrix")(q, p, out=out)

    def inverse_dynamics_derivative(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, p: ArrayLike, *, out: Out = None
    ) -> Array:
        """The derivative of joint forces with respect to p.

        Arguments:
            q, v, a, p, out: as in `inverse_dynamics`.

        Returns:
            (..., nv, np).
        """
        return self._kernels.default("inverse_dynamics").jacobian("p")(q, v, a, p, out=out)

    def forward_dynamics_derivative(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, p: ArrayLike, *, out: Out = None
    ) -> Array:
        """The derivative of accelerations with respect to p.

        Arguments:
            q, v, tau, p, out: as in `forward_dynamics`.

        Returns:
            (..., nv, np).
        """
        return self._kernels.default("forward_dynamics").jacobian("p")(q, v, tau, p, out=out)
