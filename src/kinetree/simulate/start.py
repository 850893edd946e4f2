"""Where simulations start: states and inputs as users give them, checked, for each system."""

from __future__ import annotations

from collections.abc import Mapping
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


class Start:
    """The initial states and inputs of a simulation, checked; a batch is one axis of systems.

    Arguments:
        robot: what is simulated.
        q0, v0, controller, p, inputs, parameters: as in `Robot.simulate`.
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
        self,
        robot: Robot,
        q0: ArrayLike,
        v0: ArrayLike,
        controller: Any,
        p: ArrayLike | None,
        inputs: ArrayLike | None,
        parameters: Mapping[Parameter, ArrayLike],
        steps: int,
    ) -> None:
        self.xp = array_module(q0)
        q, v = (
            _array(name, x, n, self.xp)
            for name, x, n in (("q0", q0, robot.nq), ("v0", v0, robot.nv))
        )
        self.dtype = q.dtype
        self.changes = inputs is not None
        if p is not None and self.changes:
            raise KinetreeError("p and inputs are both given: inputs are p of every step")
        default = getattr(controller, "p", np.zeros(0))
        numbers = [_numbers(robot, part, given, self.xp) for part, given in parameters.items()]
        chosen = inputs if self.changes else default if p is None else p
        known = plain_array("inputs" if self.changes else "p", chosen) if self.xp is np else chosen
        given = self.xp.asarray(known, self.dtype)
        if not given.ndim:
            raise ShapeError(f"p is one number, {chosen!r}; an array (..., np) is expected")
        if self.changes and (given.ndim < 2 or given.shape[-2] != steps):
            raise ShapeError(
                f"inputs has shape {given.shape}; (..., {steps}, np) is expected, p of each step"
            )
        self.count = given.shape[-1]
        if hasattr(controller, "p") and self.count != len(default):
            raise ShapeError(
                f"p has {self.count} numbers; {controller!r} takes {len(default)}: its "
                "pack(...) makes them from names"
            )
        own = given.shape[:-2] if self.changes else given.shape[:-1]
        try:
            batches = [q.shape[:-1], v.shape[:-1], own, *(x.shape[:-1] for x in numbers)]
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            raise ShapeError(
                f"simulate: the batch shapes do not broadcast: q0 {q.shape[:-1]}, v0 "
                f"{v.shape[:-1]}, p {own}"
                + "".join(f", {x.shape[:-1]} of a parameter" for x in numbers)
            ) from None
        self.batch = batch
        self.count_of_systems = int(np.prod(batch, dtype=int))
        self.q, self.v = (self._spread(x, 1) for x in (q, v))
        self.p = self._spread(given, 2 if self.changes else 1)
        self.memory = self.xp.asarray(getattr(controller, "memory", np.zeros(0)), self.dtype)
        spread = [self._spread(x, 1) for x in numbers]
        self.numbers = self.xp.concatenate(spread, axis=-1) if spread else None

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


def _numbers(robot: Robot, parameter: Any, given: ArrayLike, xp: Any) -> Array:
    """The numbers of a parameter, if it is one of this robot."""
    if not isinstance(parameter, Parameter):
        raise KinetreeError(
            f"{parameter!r} is no parameter: Inertial(body), Payload(frame) and Placement(joint) "
            "are"
        )
    return _array(repr(parameter), given, len(parameter.nominal(robot.model)), xp)


def _array(name: str, given: Any, length: int, xp: Any) -> Array:
    """An argument, checked; single precision stays what it is on a GPU."""
    single = xp is not np and getattr(given, "dtype", None) == np.float32
    known = plain_array(name, given) if xp is np else given
    array: Array = xp.asarray(known, np.float32 if single else float)
    if array.shape[-1:] != (length,):
        raise ShapeError(f"{name} has shape {array.shape}; the last axis must be {length}")
    wrong = ~xp.isfinite(array).all(axis=-1)
    if wrong.any():
        where = tuple(int(i) for i in xp.argwhere(wrong)[0])
        state = f" of environment {where[0] if len(where) == 1 else where}" if where else ""
        raise StateError(f"{name}{state} is not finite: {array[where].tolist()}")
    return array
