"""The base of Robot: its model, its configurations, its kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.tree import ancestors
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, ModelError, ShapeError, StateError
from kinetree.kinds import instance, members, optional_function
from kinetree.model import Model
from kinetree.model.configurations import neutral_configuration, random_configurations
from kinetree.model.limits import BallRange
from kinetree.model.loads import Load
from kinetree.model.problem import Problem
from kinetree.quantities import QUANTITIES
from kinetree.quantities.citations import bibtex
from kinetree.quantities.kernels import Kernels, state_name
from kinetree.robot.problems import problems_of_model
from kinetree.typing import Array, ArrayLike, External, Loading, Out


class JointLimits(NamedTuple):
    """The limits of all joints, as arrays; infinite where a joint has none.

    Attributes:
        lower, upper: the range of each coordinate, (nq,), rad or m.
        velocity: the largest speed, (nv,), rad/s or m/s.
        effort: the largest joint force, (nv,), N m or N.
        balls: maps the names of ball joints that have a range to this range.
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    balls: Mapping[str, BallRange]


class Labels(NamedTuple):
    """The name and the SI unit of each entry of q and v.

    Attributes:
        q, v: the names, such as "elbow" or "base.qw".
        q_units, v_units: the units, such as "rad" and "m/s"; empty for quaternions.
    """

    q: tuple[str, ...]
    v: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]


def check_robot(given: Any) -> None:
    """Raise an error if the argument `robot` is not a robot."""
    instance("robot", given, Core, "a kinetree.Robot")


class Core:
    """A model and the kernels made from it.

    Arguments:
        model: the frozen model; see `kinetree.load`.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ModelError(
                f"Robot({model!r}): a Model is expected; kinetree.load(...) loads a robot from a "
                "file"
            )
        self.model = model
        self.name = model.name
        self.nq, self.nv = model.nq, model.nv
        self._kernels = Kernels(model)
        self._default_kernels = self._kernels.defaults

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv}>"

    # the model

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies, in the order of `poses`."""
        return tuple(b.name for b in self.model.bodies)

    def ancestors(self, body: str) -> tuple[str, ...]:
        """A body and all that carry it.

        Arguments:
            body: its name; a frame's name stands for the body that the frame is fixed in.

        Returns:
            Names from the body to the root of its tree; none for what is fixed in the world.
        """
        chain = ancestors(self.model, self.model.frame(body).body)
        return tuple(self.model.bodies[i].name for i in chain)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The names of the moving joints, in the order of their coordinates."""
        return tuple(self.model.bodies[i].joint_name for i in self.model.coordinate_order)

    @cached_property
    def labels(self) -> Labels:
        """The name and the SI unit of each entry of q and v."""
        q, v = self.model.coordinate_labels, self.model.velocity_labels
        return Labels(
            tuple(label.name for label in q),
            tuple(label.name for label in v),
            tuple(label.unit for label in q),
            tuple(label.unit for label in v),
        )

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link of the file, moving or not."""
        return tuple(f.name for f in self.model.frames)

    @cached_property
    def limits(self) -> JointLimits:
        """The limits of every coordinate; infinite where there is none."""
        m = self.model
        bodies = [m.bodies[i] for i in m.coordinate_order]

        def spread(name: str, count: str) -> Array:
            parts = [[getattr(b.limits, name)] * getattr(b.joint, count) for b in bodies]
            return np.array([x for part in parts for x in part])

        return JointLimits(
            spread("lower", "nq"),
            spread("upper", "nq"),
            spread("velocity", "nv"),
            spread("effort", "nv"),
            {b.joint_name: b.limits.ball for b in bodies if b.limits.ball is not None},
        )

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall in the world's axes, (3,), m/s^2."""
        return np.array([float(x) for x in self.model.gravity])

    def problems(self) -> list[Problem]:
        """Everything wrong or doubtful about the robot: masses, limits, joints, the mechanism.

        Returns:
            The problems, each with `severity` ("error", "warning", "note"), `element`, `message`.
        """
        return problems_of_model(self.model)

    # configurations

    def neutral(self) -> Array:
        """The configuration in which every joint's transform is the identity.

        Returns:
            (nq,).
        """
        return np.array(neutral_configuration(self.model))

    def random(
        self, rng: np.random.Generator | int | None = None, batch: float | Sequence[float] = ()
    ) -> Array:
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

    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Out = None) -> Array:
        """The configuration after moving with constant velocity for one unit of time: q (+) dv.

        Arguments:
            q: configuration, (..., nq).
            dv: velocity times time, (..., nv).
            out: an array to write into.

        Returns:
            (..., nq); quaternions have length one.
        """
        return self._compute("integrate", (q, dv), out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Out = None) -> Array:
        """The constant velocity from q0 to q1 in one unit of time: q1 (-) q0.

        Arguments:
            q0, q1: configurations, (..., nq).
            out: an array to write into.

        Returns:
            (..., nv), with integrate(q0, difference(q0, q1)) = q1.
        """
        return self._compute("difference", (q0, q1), out)

    def normalize(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The same configurations, with quaternions of length one.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., nq).

        Raises:
            StateError: where a quaternion is zero or not finite.
        """
        unit = self._compute("normalize", (q,), out)
        if not isinstance(unit, np.ndarray) or unit.dtype == object:  # no numbers yet
            return unit
        for i in self.model.coordinate_order:
            body, at = self.model.bodies[i], self.model.q_slices[i]
            wrong = ~np.isfinite(unit[..., at]).all(axis=-1)
            if body.joint.nq != body.joint.nv and wrong.any():
                state = np.argwhere(wrong)[0]
                given = np.broadcast_to(q, unit.shape)[tuple(state)][at].tolist()
                raise StateError(
                    f"{state_name(state)}joint {body.joint_name!r} has the coordinates {given}, "
                    "which are not a configuration: expected finite numbers and a nonzero "
                    "quaternion"
                )
        return unit

    # kernels

    def kernel(
        self,
        quantity: str,
        method: str = "auto",
        *,
        external: Sequence[str | Load] = (),
        **settings: Any,
    ) -> Kernel:
        """The compiled kernel behind a method, with its program and operation counts.

        Arguments:
            quantity: the method's name, such as "inverse_dynamics".
            method: the algorithm; "auto" for the default.
            external: the external loads, as names of frames or keys of `kinetree.model.loads`; each
                becomes an argument.
            settings: arguments of the method that are not arrays, such as frame= and axes=, with
                the method's defaults.

        Returns:
            The kernel; call it with the arrays that the method takes, in the same order, and one
            more for each external load.
        """
        loads = members("external", external, (str, Load), "a list of names of frames and loads")
        return self._kernels.ask(quantity, method, loads, settings)

    def compile(
        self,
        *quantities: str | Kernel,
        dtype: Any = np.float64,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Compile now instead of at the first call, for example when a container image is built.

        Arguments:
            quantities: names, such as "forward_dynamics", with their default settings; or kernels,
                such as robot.kernel("jacobian", frame="tool").
            dtype: float64 or float32.
            progress: called with each name before it is compiled.
        """
        optional_function("progress", progress)
        for quantity in quantities:
            name = quantity if isinstance(quantity, str) else quantity.name
            if progress is not None:
                progress(name)
            kernel = self.kernel(quantity) if isinstance(quantity, str) else quantity
            kernel.compile(dtype)

    def citation(self, quantity: str, method: str = "auto") -> str:
        """The sources of an algorithm, as BibTeX.

        Arguments:
            quantity, method: as in `kernel`. If the default is the cheapest of several methods,
                the kernel is traced to determine it.

        Returns:
            The BibTeX entries, in one text.
        """
        meant = self._kernels.method(quantity, method)
        methods = QUANTITIES[quantity].methods
        return bibtex(methods[meant if meant in methods else self.kernel(quantity).method].sources)

    def _compute(
        self,
        quantity: str,
        arrays: tuple[ArrayLike, ...],
        out: Any,
        method: str = "auto",
        external: External | Loading | None = None,
        settings: tuple[Any, ...] = (),
    ) -> Any:
        """Compute a quantity at given states.

        Arguments:
            arrays: its arguments.
            method, external: as in the methods of Robot that have them.
            settings: the values of its settings, in the order of its row.
        """
        try:
            usual = external is None and method == "auto" and not settings
        except ValueError:  # an array has no truth value
            usual = False
        if usual:
            try:
                kernel = self._default_kernels[quantity]
            except KeyError:  # not made yet
                kernel = self._kernels.default(quantity)
            return kernel.call(arrays, out)
        if external is None:
            try:
                kernel = self._kernels.asked[quantity, method, (), settings]
            except (KeyError, TypeError):
                kernel = self._kernels.ask(quantity, method, (), settings)
            return kernel.call(arrays, out)
        if not isinstance(external, Mapping):
            raise KinetreeError(
                f"{quantity}: external is a {type(external).__name__}; expected a mapping of frame "
                f"names (or Points) to wrenches, such as {{'tool': wrench}}"
            )
        kernel = self._kernels.ask(quantity, method, tuple(external), settings)
        return kernel.call((*arrays, *external.values()), out)


class Door:
    """A group of a robot's methods under one name, such as `robot.cartesian`.

    Arguments:
        robot: whose methods they are.
    """

    def __init__(self, robot: Core) -> None:
        self._robot = robot


def _shape(batch: Any) -> tuple[int, ...]:
    """The shape of a batch, from one whole number or several."""
    sizes = list(batch) if isinstance(batch, Iterable) else [batch]
    whole = [isinstance(n, Real) and float(n).is_integer() and float(n) >= 0.0 for n in sizes]
    if not all(whole):
        raise ShapeError(
            f"batch={batch!r}: a whole number of states is expected, or several such numbers"
        )
    return tuple(int(n) for n in sizes)
