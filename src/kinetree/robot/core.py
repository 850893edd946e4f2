"""What every part of a robot rests on: its model, its configurations, its kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from kinetree.citations import citation
from kinetree.errors import (
    KinetreeError,
    ModelError,
    ShapeError,
    StateError,
    unknown,
)
from kinetree.kernels import Kernels, Point, Request, request
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.model.configurations import neutral_configuration, random_configurations
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
        if not isinstance(model, Model):
            raise ModelError(
                f"Robot({model!r}): a Model is expected; kinetree.load(...) makes a robot of a file"
            )
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

    @property
    def gravity(self) -> np.ndarray:
        """The acceleration of free fall in the world's axes, (3,), m/s^2."""
        return np.array([float(x) for x in self.model.gravity])

    # configurations

    def neutral(self) -> np.ndarray:
        """The configuration in which every joint's transform is the identity, of length nq."""
        return np.array(neutral_configuration(self.model))

    def random(
        self, rng: np.random.Generator | int | None = None, batch: float | Sequence[float] = ()
    ) -> np.ndarray:
        """Random configurations within the limits.

        Arguments:
            rng: a generator, a seed, or None for a fresh one.
            batch: the shape of the batch.

        Returns:
            (*batch, nq). Angles without limits are uniform in [-pi, pi], lengths in [-1, 1] m,
            free orientations uniform over the rotations. A coordinate with one limit lies within
            pi (or 1 m) of it; limits in reverse order are swapped.
        """
        try:
            generator = np.random.default_rng(rng)
        except (TypeError, ValueError):
            raise KinetreeError(
                f"rng={rng!r}: a NumPy generator, a seed (a whole number, not negative) or None is "
                "expected"
            ) from None
        return random_configurations(self.model, generator, _shape(batch))

    def integrate(self, q: Array, dv: Array, out: Array = None) -> Array:
        """Where a constant velocity leads in one unit of time: q (+) dv, (..., nq)."""
        return self._kernels["integrate"](q, dv, out=out)

    def difference(self, q0: Array, q1: Array, out: Array = None) -> Array:
        """The constant velocity from q0 to q1 in one unit of time: q1 (-) q0, (..., nv)."""
        return self._kernels["difference"](q0, q1, out=out)

    def normalize(self, q: Array, out: Array = None) -> Array:
        """The same configurations with quaternions of length one, (..., nq).

        Raises:
            StateError: where a quaternion is zero or not finite.
        """
        unit = self._kernels["normalize"](q, out=out)
        for i in self.model.coordinate_order:
            body, at = self.model.bodies[i], self.model.q_slices[i]
            wrong = ~np.isfinite(unit[..., at]).all(axis=-1)
            if body.joint.nq != body.joint.nv and wrong.any():
                state = np.argwhere(wrong)[0]
                given = np.broadcast_to(q, unit.shape)[tuple(state)][at].tolist()
                raise StateError(
                    f"{_state(state)}joint {body.joint_name!r} has the coordinates {given}, which "
                    "are no configuration: finite numbers are expected, and a quaternion that is "
                    "not zero"
                )
        return unit

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
        if not (external is None or isinstance(external, Mapping)):
            raise KinetreeError(
                f"{quantity}: external is a {type(external).__name__}; names of frames (or Points) "
                "with the wrenches on them are expected, such as {'tool': wrench}"
            )
        loads = {} if external is None else dict(external)
        kernel = self._kernels[quantity, method, tuple(loads), settings]

        def call(*arrays: Array, out: Array) -> Array:
            return kernel(*arrays, *loads.values(), out=out)

        return call


def _state(indices: Sequence[int]) -> str:
    """How a message names one state of a batch; a single state needs no name."""
    numbers = [int(i) for i in indices]
    return f"state {numbers[0] if len(numbers) == 1 else tuple(numbers)}: " if numbers else ""


def _shape(batch: Any) -> tuple[int, ...]:
    """The shape of a batch, from one whole number or several."""
    sizes = list(batch) if isinstance(batch, Iterable) else [batch]
    whole = [isinstance(n, Real) and float(n).is_integer() and float(n) >= 0.0 for n in sizes]
    if not all(whole):
        raise ShapeError(
            f"batch={batch!r}: a whole number of states is expected, or several such numbers"
        )
    return tuple(int(n) for n in sizes)
