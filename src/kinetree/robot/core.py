"""What every part of a robot rests on: its model, its configurations, its kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.citations import citation
from kinetree.errors import unknown
from kinetree.kernels import Kernels, Point, Request, request
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.quantities import QUANTITIES
from kinetree.runtime.kernel import Kernel

Array = Any
"""A NumPy array, or what NumPy makes one of."""
External = Mapping[str | Point, Array]
"""What acts on a robot; see `Robot.inverse_dynamics`."""


class JointLimits(NamedTuple):
    """Limits as arrays: positions of length nq, velocities and efforts of length nv."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class Core:
    """A model and the kernels made from it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = model.name
        self.nq, self.nv = model.nq, model.nv
        self._kernels = Kernels(model)
        self._own: dict[Any, Kernel] = {}

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv}>"

    # the model

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies, in the order of `poses`."""
        return tuple(b.name for b in self.model.bodies)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The names of the moving joints, in the order of their coordinates."""
        return tuple(self.model.bodies[i].joint_name for i in self.model.coordinate_order)

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link of the file, moving or not."""
        return tuple(f.name for f in self.model.frames)

    @cached_property
    def limits(self) -> JointLimits:
        """The limits of every coordinate; infinite where there is none."""
        m = self.model
        bodies = [m.bodies[i] for i in m.coordinate_order]

        def spread(name: str, count: str) -> np.ndarray:
            parts = [[getattr(b.limits, name)] * getattr(b.joint, count) for b in bodies]
            return np.array([x for part in parts for x in part])

        return JointLimits(
            spread("lower", "nq"),
            spread("upper", "nq"),
            spread("velocity", "nv"),
            spread("effort", "nv"),
        )

    # configurations

    def neutral(self) -> np.ndarray:
        """The configuration in which every joint's transform is the identity, of length nq."""
        q = np.empty(self.nq)
        for i in self.model.coordinate_order:
            q[self.model.q_slices[i]] = self.model.bodies[i].joint.neutral()
        return q

    def random(
        self, rng: np.random.Generator | int | None = None, batch: int | tuple[int, ...] = ()
    ) -> np.ndarray:
        """Random configurations within the limits.

        Arguments:
            rng: a generator, a seed, or None for a fresh one.
            batch: the shape of the batch.

        Returns:
            (*batch, nq). Angles without limits are uniform in [-pi, pi], lengths in [-1, 1] m,
            free orientations uniform over the rotations.
        """
        generator = np.random.default_rng(rng)
        shape = (batch,) if isinstance(batch, int) else tuple(batch)
        q = np.empty((*shape, self.nq))
        for i in self.model.coordinate_order:
            body, at = self.model.bodies[i], self.model.q_slices[i]
            reach = _reach(body.joint)
            lower = np.maximum(body.limits.lower, -reach)
            upper = np.minimum(body.limits.upper, reach)
            if math.isfinite(body.limits.lower + body.limits.upper):
                lower = np.full(body.joint.nq, body.limits.lower)
                upper = np.full(body.joint.nq, body.limits.upper)
            q[..., at] = body.joint.sample(generator, shape, lower, upper)
        return q

    def integrate(self, q: Array, dv: Array, out: Array = None) -> Array:
        """Where a constant velocity leads in one unit of time: q (+) dv, (..., nq)."""
        return self._kernels["integrate"](q, dv, out=out)

    def difference(self, q0: Array, q1: Array, out: Array = None) -> Array:
        """The constant velocity from q0 to q1 in one unit of time: q1 (-) q0, (..., nv)."""
        return self._kernels["difference"](q0, q1, out=out)

    def coordinate_rates(self, q: Array, v: Array, out: Array = None) -> Array:
        """The rate of q at the velocity v, (..., nq): v itself, but for quaternions."""
        return self._kernels["coordinate_rates"](q, v, out=out)

    # kernels

    def kernel(
        self,
        quantity: str,
        method: str = "",
        *,
        external: Sequence[str | Point] = (),
        **settings: Any,
    ) -> Kernel:
        """The compiled kernel behind a method, with its gufunc, program and operation counts.

        Arguments:
            quantity: the method's name, such as "inverse_dynamics".
            method: which algorithm; the default if empty.
            external: what acts on the robot, frames' names and Points, each then an argument.
            settings: what the method takes besides arrays, such as frame= and axes=; by default
                what the method has.
        """
        return self._kernels[request(quantity, method, external, settings)]

    def citation(self, quantity: str, method: str = "") -> str:
        """Where an algorithm comes from, as BibTeX.

        Arguments:
            quantity, method: as in `kernel`. Where the default is the cheapest of several methods,
                the kernel is traced to find out which.
        """
        row = QUANTITIES.get(quantity)
        if row is None:
            raise unknown("quantity", quantity, QUANTITIES, "kinetree")
        meant = self._kernels.method(row, Request(quantity, method))
        return citation(quantity, meant if meant in row.methods else self.kernel(quantity).method)

    def _loaded(
        self,
        quantity: str,
        method: str,
        external: External | None,
        settings: tuple[Any, ...] = (),
    ) -> Callable[..., Any]:
        """A kernel that is yet to be given its first arrays; those of the loads follow."""
        loads = {} if external is None else dict(external)
        kernel = self._kernels[quantity, method, tuple(loads), settings]

        def call(*arrays: Array, out: Array) -> Array:
            return kernel(*arrays, *loads.values(), out=out)

        return call


def _reach(joint: Joint) -> np.ndarray:
    """How far each coordinate of a joint goes without limits: pi for angles, one for lengths."""
    if joint.nq != joint.nv:
        return np.ones(joint.nq)
    axes = joint.subspace(joint.neutral())
    return np.array([math.pi if any(axis.angular) else 1.0 for axis in axes])
