"""Where simulations start: states and inputs as users give them, checked, for each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.compiler.runtime.backend import Backend, backend, device_of
from kinetree.errors import KinetreeError, ShapeError, StateError, among, unknown
from kinetree.kinds import flag
from kinetree.model.loads import load_name, size
from kinetree.model.parameters import Parameter
from kinetree.simulate.external import given_numbers
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


@dataclass(frozen=True, kw_only=True)
class InitialValues:
    """Where a simulation starts, as users give it; see `Robot.simulate`."""

    q0: ArrayLike
    v0: ArrayLike
    p: ArrayLike | None = None
    series: bool = False
    parameters: Mapping[Parameter, ArrayLike] = field(default_factory=dict)
    external: Mapping[Any, Any] = field(default_factory=dict)


class Start:
    """The initial states and inputs of a simulation, checked; a batch is one axis of systems.

    Arguments:
        robot: what is simulated.
        controller: gives the joint forces; None for none.
        values: as users give them.
        steps: how many steps there will be.

    Attributes:
        batch: the shape of the batch.
        q, v: (systems, nq) and (systems, nv).
        count: the number of entries of p.
        p: the controller's inputs and the numbers of external loads, (systems, np), or (systems,
            steps, np) if they change.
        memory: the controller's own state at the start, (m,).
        numbers: values of the model's parameters, (systems, n), or None.
        changes: whether p has a value for each step.
    """

    def __init__(
        self, robot: Robot, controller: Any, values: InitialValues, steps: int = 0
    ) -> None:
        self.backend = backend(device_of(values.q0))
        self.xp = self.backend.xp
        q = _array("q0", values.q0, robot.nq, self.backend)
        v = _array("v0", values.v0, robot.nv, self.backend)
        self.dtype = q.dtype
        numbers = [_numbers(robot, part, x, self.backend) for part, x in values.parameters.items()]
        self.changes = flag("series", values.series)
        inputs = self._inputs(controller, values, steps)
        self.count = sum(x.shape[-1] for x in inputs.values())
        p_axes = 2 if self.changes else 1
        shapes = {"q0": q.shape[:-1], "v0": v.shape[:-1]}
        shapes |= {name: x.shape[:-p_axes] for name, x in inputs.items()}
        self.batch = _common_batch(shapes, [x.shape[:-1] for x in numbers])
        self.count_of_systems = int(np.prod(self.batch, dtype=int))
        self.q, self.v = (self._spread(x, 1) for x in (q, v))
        self.p = self.xp.concatenate([self._spread(x, p_axes) for x in inputs.values()], axis=-1)
        self.memory = self.xp.asarray(getattr(controller, "memory", np.zeros(0)), self.dtype)
        spread = [self._spread(x, 1) for x in numbers]
        self.numbers = self.xp.concatenate(spread, axis=-1) if spread else None

    def _inputs(self, controller: Any, values: InitialValues, steps: int) -> dict[str, Array]:
        """What p consists of: the controller's inputs, and the external loads that are numbers."""
        inputs = {"p": self._controller_inputs(controller, values, steps)}
        for key, given in given_numbers(values.external).items():
            name = load_name(key)
            array = _array(name, given, size(key), self.backend).astype(self.dtype, copy=False)
            if self.changes and (array.ndim < 2 or array.shape[-2] != steps):
                raise ShapeError(
                    f"{name} has shape {array.shape}; with series=True, (..., {steps}, "
                    f"{size(key)}) is expected"
                )
            inputs[name] = array
        return inputs

    def _controller_inputs(self, controller: Any, values: InitialValues, steps: int) -> Array:
        """p as given, or the controller's own: (..., np), or (..., steps, np) if it changes."""
        default = getattr(controller, "p", np.zeros(0))
        chosen = default if values.p is None else values.p
        p: Array = self.xp.asarray(self.backend.array("p", chosen), self.dtype)
        if not p.ndim:
            raise ShapeError(f"p is one number, {chosen!r}; an array (..., np) is expected")
        if self.changes and values.p is None and values.external:
            p = self.xp.broadcast_to(p, (steps, len(p)))  # the series is that of the loads
        if self.changes and (p.ndim < 2 or p.shape[-2] != steps):
            raise ShapeError(
                f"p has shape {p.shape}; with series=True, (..., {steps}, np) is expected"
            )
        if hasattr(controller, "p") and p.shape[-1] != len(default):
            raise ShapeError(
                f"p has {p.shape[-1]} numbers; {controller!r} takes {len(default)}: use its "
                "pack(...) to build p from named inputs"
            )
        return p

    def _spread(self, array: Array, axes: int) -> Array:
        """For every system: (systems, ...)."""
        core = array.shape[array.ndim - axes :]
        whole = self.xp.broadcast_to(array, (*self.batch, *core))
        return self.xp.ascontiguousarray(whole.reshape(self.count_of_systems, *core))

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array for records, on the device of the states.

        Arguments:
            shape: of the array.

        Returns:
            The array, not initialised.
        """
        found: Array = self.backend.empty(shape, self.dtype)
        return found

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """An array of zeros, on the device of the states.

        Arguments:
            shape: of the array.

        Returns:
            The array.
        """
        found: Array = self.xp.zeros(shape, self.dtype)
        return found

    def array(self, numbers: Any) -> Array:
        """Numbers as a contiguous array of the states' kind, on their device.

        Arguments:
            numbers: an array.

        Returns:
            The array; the same one where nothing is to be changed.
        """
        found: Array = self.xp.ascontiguousarray(self.xp.asarray(numbers, self.dtype))
        return found

    def states(self, count: float, ended: float) -> list[Array]:
        """The initial states of a loop over time.

        Arguments:
            count: the number of the first step.
            ended: when a system diverged, s; negative if it has not.

        Returns:
            One array for each state of the loop.
        """
        n = self.count_of_systems
        xp, length = self.xp, len(self.memory)
        memory = [xp.broadcast_to(self.memory, (n, length))] if length else []
        first, last = (xp.full(n, x, self.dtype) for x in (count, ended))
        return [first, self.q, self.v, *memory, last]

    def constants(self, dt: float) -> list[Array]:
        """The constants of a loop over time.

        Arguments:
            dt: the length of a step, s.

        Returns:
            One array for each constant of the loop.
        """
        p = [self.p] if self.count and not self.changes else []
        numbers = [] if self.numbers is None else [self.numbers]
        return [self.xp.asarray(dt, self.dtype), *p, *numbers]

    def series(self, first: int, count: int) -> list[Array]:
        """The arguments of a loop over time that change from step to step.

        Arguments:
            first, count: the first step, and how many.

        Returns:
            One array (systems, count, ...) for each of them.
        """
        return [self.p[:, first : first + count]] if self.count and self.changes else []

    def p_of_steps(self, first: int, count: int) -> Array:
        """The controller's inputs at some steps.

        Arguments:
            first, count: the first step, and how many.

        Returns:
            (systems, count, np).
        """
        if self.changes:
            return self.p[:, first : first + count]
        return self.xp.broadcast_to(self.p[:, None], (len(self.p), count, self.count))

    def arguments(self, t: float, k: int, q: Array, v: Array, *memory: Array) -> list[Any]:
        """The arguments of an observation's kernel; at the end, p is that of the last step.

        Arguments:
            t: the time, s.
            k: the number of the step.
            q, v: states, (systems, nq) and (systems, nv).
            memory: the controller's own state, if it has one, (systems, m).

        Returns:
            The arguments, in order.
        """
        p = self.p[:, min(k, self.p.shape[1] - 1)] if self.changes else self.p
        numbers = [] if self.numbers is None else [self.numbers]
        return [t, q, v, *([p] if self.count else []), *memory, *numbers]


def _common_batch(
    shapes: Mapping[str, tuple[int, ...]], of_parameters: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """The common batch shape of all arguments.

    Arguments:
        shapes: the batch of each argument, by its name.
        of_parameters: the batches of the model's parameters.
    """
    try:
        return np.broadcast_shapes(*shapes.values(), *of_parameters)
    except ValueError:
        named = [f"{name} {shape}" for name, shape in shapes.items()]
        named += [f"{shape} of a parameter" for shape in of_parameters]
        raise ShapeError(
            f"simulate: the batch shapes do not broadcast: {', '.join(named)}"
        ) from None


def _numbers(robot: Robot, parameter: Any, given: ArrayLike, on: Backend) -> Array:
    """The numbers of a parameter, if it is one of this robot."""
    if not isinstance(parameter, Parameter):
        raise KinetreeError(
            f"parameters: {parameter!r} is not a parameter; expected Inertial(body), "
            "Payload(frame), Placement(joint) or Friction(collider)"
        )
    return _array(repr(parameter), given, len(parameter.nominal(robot.model)), on)


def _array(name: str, given: Any, length: int, on: Backend) -> Array:
    """An argument, checked; single precision stays what it is where simulations run in it."""
    single = on.simulates_in_single and getattr(given, "dtype", None) == np.float32
    xp = on.xp
    array: Array = xp.asarray(on.array(name, given), np.float32 if single else float)
    if array.shape[-1:] != (length,):
        raise ShapeError(f"{name} has shape {array.shape}; the last axis must be {length}")
    wrong = ~xp.isfinite(array).all(axis=-1)
    if wrong.any():
        where = tuple(int(i) for i in xp.argwhere(wrong)[0])
        state = f" of environment {where[0] if len(where) == 1 else where}" if where else ""
        raise StateError(f"{name}{state} is not finite: {array[where].tolist()}")
    return array


def check_names(what: str, given: Any, known: Sequence[str]) -> None:
    """Refuse what is no mapping from some of these names."""
    if not isinstance(given, Mapping):
        raise KinetreeError(
            f"{what} is a {type(given).__name__}; arrays by name are expected: "
            f"{', '.join(map(repr, known)) or 'none'}"
        )
    for name in given:
        if not among(name, known):
            raise unknown("entry", name, known, what)
