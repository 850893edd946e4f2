"""Where simulations start: states and inputs as users give them, checked, for each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.compiler.runtime.arrays import plain_array
from kinetree.compiler.runtime.foreign import array_module
from kinetree.compiler.runtime.memory import empty
from kinetree.errors import KinetreeError, ShapeError, StateError
from kinetree.model.parameters import Parameter
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


@dataclass(frozen=True, kw_only=True)
class InitialValues:
    """Where a simulation starts, as users give it; see `Robot.simulate`."""

    q0: ArrayLike
    v0: ArrayLike
    p: ArrayLike | None = None
    inputs: ArrayLike | None = None
    parameters: Mapping[Parameter, ArrayLike] = field(default_factory=dict)


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
        p: the controller's inputs, (systems, np), or (systems, steps, np) if they change.
        memory: the controller's own state at the start, (m,).
        numbers: values of the model's parameters, (systems, n), or None.
        changes: whether p has a value for each step.
    """

    def __init__(
        self, robot: Robot, controller: Any, values: InitialValues, steps: int = 0
    ) -> None:
        if values.p is not None and values.inputs is not None:
            raise KinetreeError("p and inputs are both given: inputs are p of every step")
        self.xp = array_module(values.q0)
        q = _array("q0", values.q0, robot.nq, self.xp)
        v = _array("v0", values.v0, robot.nv, self.xp)
        self.dtype = q.dtype
        numbers = [_numbers(robot, part, x, self.xp) for part, x in values.parameters.items()]
        self.changes = values.inputs is not None
        p = self._controller_inputs(controller, values, steps)
        self.count = p.shape[-1]
        p_axes = 2 if self.changes else 1
        name = "inputs" if self.changes else "p"
        shapes = {"q0": q.shape[:-1], "v0": v.shape[:-1], name: p.shape[:-p_axes]}
        self.batch = _common_batch(shapes, [x.shape[:-1] for x in numbers])
        self.count_of_systems = int(np.prod(self.batch, dtype=int))
        self.q, self.v = (self._spread(x, 1) for x in (q, v))
        self.p = self._spread(p, p_axes)
        self.memory = self.xp.asarray(getattr(controller, "memory", np.zeros(0)), self.dtype)
        spread = [self._spread(x, 1) for x in numbers]
        self.numbers = self.xp.concatenate(spread, axis=-1) if spread else None

    def _controller_inputs(self, controller: Any, values: InitialValues, steps: int) -> Array:
        """p as given, or the controller's own: (..., np), or (..., steps, np) if it changes."""
        default = getattr(controller, "p", np.zeros(0))
        chosen = default if values.p is None else values.p
        if self.changes:
            chosen = values.inputs
        name = "inputs" if self.changes else "p"
        p: Array = self.xp.asarray(
            plain_array(name, chosen) if self.xp is np else chosen, self.dtype
        )
        if not p.ndim:
            raise ShapeError(f"{name} is one number, {chosen!r}; an array (..., np) is expected")
        if self.changes and (p.ndim < 2 or p.shape[-2] != steps):
            raise ShapeError(
                f"inputs has shape {p.shape}; (..., {steps}, np) is expected, p of each step"
            )
        if hasattr(controller, "p") and p.shape[-1] != len(default):
            raise ShapeError(
                f"p has {p.shape[-1]} numbers; {controller!r} takes {len(default)}: its "
                "pack(...) makes them from names"
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
        if self.xp is np:
            return empty(shape, self.dtype)
        found: Array = self.xp.empty(shape, self.dtype)
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

    def inputs(self, first: int, count: int) -> Array:
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
    """The batch that all that is given has together.

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


def _numbers(robot: Robot, parameter: Any, given: ArrayLike, xp: Any) -> Array:
    """The numbers of a parameter, if it is one of this robot."""
    if not isinstance(parameter, Parameter):
        raise KinetreeError(
            f"parameters: {parameter!r} is no parameter; Inertial(body), Payload(frame) and "
            "Placement(joint) are"
        )
    return _array(repr(parameter), given, len(parameter.nominal(robot.model)), xp)


def _array(name: str, given: Any, length: int, xp: Any) -> Array:
    """An argument, checked; single precision stays what it is on a GPU."""
    single = xp is not np and getattr(given, "dtype", None) == np.float32
    array: Array = xp.asarray(
        plain_array(name, given) if xp is np else given, np.float32 if single else float
    )
    if array.shape[-1:] != (length,):
        raise ShapeError(f"{name} has shape {array.shape}; the last axis must be {length}")
    wrong = ~xp.isfinite(array).all(axis=-1)
    if wrong.any():
        where = tuple(int(i) for i in xp.argwhere(wrong)[0])
        state = f" of environment {where[0] if len(where) == 1 else where}" if where else ""
        raise StateError(f"{name}{state} is not finite: {array[where].tolist()}")
    return array
