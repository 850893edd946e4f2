"""The class of all controllers: a function of scalars with named inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.foreign import KINDS, foreign_name
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.compiler.runtime.inlining import has_traced, objects
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import DtypeError, KinetreeError, ShapeError, among, unknown
from kinetree.kinds import function, mapping, text
from kinetree.model import Model
from kinetree.model.prepare import Preparation, prepared
from kinetree.robot.checks import count, finite_array, real_array
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.simulate.laws import forces_and_rate, mismatch
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

Law = Callable[..., Any]
"""From (model, t, q, v, inputs by name) to joint forces; with memory, also to its rate."""


STATE = ("t", "q", "v", "memory")
"""Arguments of every law, besides its inputs."""


class Controller:
    """A control law of a robot: `controller(t, q, v, p)` gives joint forces, over any scalar.

    Arguments:
        robot: what it controls.
        name: of the law, for messages.
        law: takes (model, t, q, v) and each input by name, as arrays of scalars, and returns
            joint forces.
        inputs: maps each input's name to its default; a number is repeated to the length in
            `lengths`.
        lengths: maps an input's name to its length; by default the length of the default.
        memory: the initial state of a law with memory. Such a law also takes `memory`, and returns
            (joint forces, rate of memory).

    Attributes:
        inputs: maps each input's name to its default, an array, in the order of p.


    It pickles if its law does: functions of a module do, those made inside functions do not.
    """

    @through_numpy
    def __init__(
        self,
        robot: Robot,
        name: str,
        law: Law,
        inputs: Mapping[str, ArrayLike],
        lengths: Mapping[str, int] | None = None,
        memory: ArrayLike = (),
    ) -> None:
        check_robot(robot)
        self.robot, self.name, self._law = robot, text("name", name), function("law", law)
        wanted = mapping("lengths", lengths, "numbers by name")
        for key in mapping("inputs", inputs, "numbers by name"):
            if among(key, STATE):
                raise KinetreeError(f"{name}: an input is named {key!r}, as a part of the state is")
        self.inputs = {
            key: _spread(f"{name}: input {key}", value, wanted.get(key))
            for key, value in mapping("inputs", inputs, "numbers by name").items()
        }
        self.memory = finite_array("memory", memory).ravel().copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # compiled kernels are not pickled: they are compiled again, or come from the cache
        return Controller, (self.robot, self.name, self._law, self.inputs, None, self.memory)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} ({len(x)})" for name, x in self.inputs.items())
        return f"<Controller {self.name} of robot {self.robot.name!r}: {listed}>"

    @cached_property
    def _model(self) -> Model:
        """The model on which steps are traced, so that the law and the step share computations."""
        return prepared(self.robot.model, Preparation.FRAMES)

    @property
    def p(self) -> Array:
        """The defaults of all inputs in one array, (np,)."""
        return np.concatenate([np.zeros(0), *self.inputs.values()])

    @through_numpy
    def pack(self, **inputs: ArrayLike) -> Array:
        """All inputs in one array; those that are not given have their defaults.

        Arguments:
            inputs: by name, each (..., length); batches broadcast.

        Returns:
            p, (..., np).
        """
        for name in inputs:
            if not among(name, self.inputs):
                raise unknown("input", name, self.inputs, f"controller {self.name!r}")
        parts = []
        for name, default in self.inputs.items():
            part = real_array(name, inputs.get(name, default))
            if part.ndim == 0:
                part = np.full(len(default), float(part))
            if part.shape[-1] != len(default):
                raise ShapeError(
                    f"controller {self.name!r}: {name} has shape {part.shape}; the last axis must "
                    f"be {len(default)}"
                )
            parts.append(part)
        batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts)) if parts else ()
        spread = [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts]
        return np.concatenate([np.zeros((*batch, 0)), *spread], axis=-1)

    def __call__(
        self,
        t: Scalar,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        p: Sequence[Scalar] = (),
        memory: Sequence[Scalar] = (),
    ) -> Any:
        """The joint forces of the law, over any scalar.

        Arguments:
            t: the time, s.
            q, v: configuration and velocity, nq and nv scalars.
            p: the inputs, np scalars; the defaults if it is empty.
            memory: the law's own state, if it has one.

        Returns:
            A list of nv joint forces, N m or N; with memory, also a list of the rates of its
            entries.
        """
        for name, x in (("q", q), ("v", v), ("p", p), ("memory", memory)):
            self._check_scalars(name, x)
        self._check_state(q, v)
        position, velocity, given, state = objects(q, v, p if len(p) else self.p.tolist(), memory)
        named, at = {}, 0
        for name, default in self.inputs.items():
            named[name] = given[at : at + len(default)]
            at += len(default)
        named |= {"memory": state} if len(self.memory) else {}
        first = (self._model, t, position, velocity)
        wrong = mismatch(self._law, first, named)
        if wrong:
            shown = ", ".join(("model", "t", "q", "v", *named))
            raise KinetreeError(f"{self.name}: the law is called with ({shown}): {wrong}")
        return self._law(*first, **named)

    def _check_state(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> None:
        """Refuse the state of a robot with other coordinates."""
        robot = self.robot
        if (len(q), len(v)) != (robot.nq, robot.nv):
            raise ShapeError(
                f"controller {self.name!r} was made for robot {robot.name!r} with nq={robot.nq} "
                f"and nv={robot.nv}; it is called with {len(q)} and {len(v)}"
            )

    def _check_scalars(self, name: str, given: Any) -> None:
        """Refuse arrays whose elements are not scalars of a known kind; SymPy's are."""
        package = foreign_name((given,))
        if package and package != "sympy_arrays":
            raise DtypeError(
                f"{self.name}: {name} is {KINDS[package]}, and a law is called with lists of "
                "scalars; forces(q, v, t, ...) takes arrays"
            )

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled law, from (t, q, v, p) and any memory to joint forces and its rate."""
        lengths = {"t": None, "q": self.robot.nq, "v": self.robot.nv, "p": len(self.p)}
        lengths |= {"memory": len(self.memory)} if len(self.memory) else {}
        return self.robot.custom_kernel(self._named, lengths, self.name)

    def _named(self, model: Model, *arguments: Any) -> dict[str, Any]:
        tau, rate = forces_and_rate(self(*arguments), len(self.memory))
        return {"tau": tau} | ({"rate": rate} if len(self.memory) else {})

    def forces(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, **inputs: ArrayLike) -> Array:
        """The joint forces at one state or any batch of them, compiled.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            t: time, s, (...).
            inputs: by name, as in `pack`; also `memory` (..., length), if the law has one.

        Returns:
            (..., nv), N or N m.
        """
        defaults = self.inputs | ({"memory": self.memory} if len(self.memory) else {})
        for name in inputs:
            if not among(name, defaults):
                raise unknown("input", name, defaults, f"controller {self.name!r}")
        given = [_repeated(name, inputs.get(name, x), len(x)) for name, x in defaults.items()]
        found = self._kernel_by_name(t, q, v, *given)
        return found[0] if len(self.memory) else found

    @cached_property
    def _kernel_by_name(self) -> Kernel:
        """The compiled law, with one argument for each input."""
        lengths: dict[str, int | None] = {"t": None, "q": self.robot.nq, "v": self.robot.nv}
        lengths |= {name: len(x) for name, x in self.inputs.items()}
        lengths |= {"memory": len(self.memory)} if len(self.memory) else {}
        return self.robot.custom_kernel(self._by_name, lengths, self.name)

    def _by_name(self, model: Model, t: Any, q: Any, v: Any, *inputs: Any) -> dict[str, Any]:
        parts, memory = inputs[: len(self.inputs)], inputs[len(self.inputs) :]
        return self._named(model, t, q, v, [x for part in parts for x in part], *memory)


def _repeated(name: str, given: Any, length: int) -> Any:
    """One number as an array of a length; arrays of any package unchanged."""
    if foreign_name((given,)):
        return given
    if has_traced(given):
        return given if isinstance(given, (list, tuple, np.ndarray)) else [given] * length
    array = real_array(name, given)
    return np.full(length, float(array)) if array.ndim == 0 else array


def _spread(what: str, value: ArrayLike, length: int | None) -> Array:
    """A default as a flat array of the length it must have."""
    array = real_array(what, value)
    if length is None:
        return array.ravel()
    length = count(f"lengths of {what}", length, 0)
    if array.ndim == 0:
        return np.full(length, float(array))
    if array.size != length:
        raise ShapeError(f"{what} has {array.size} numbers; {length} are expected")
    return array.ravel()
