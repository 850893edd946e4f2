"""Rollouts: a robot under a controller, compiled with the loop over time, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy_or_cupy
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.errors import KinetreeError, ShapeError, among, unknown
from kinetree.kinds import mapping, optional_function
from kinetree.simulate.closed_loop import ClosedLoop
from kinetree.simulate.divergence import blank_diverged, warn_of_divergence
from kinetree.simulate.result import Simulation
from kinetree.simulate.start import InitialValues, Start
from kinetree.simulate.time_loop import NEVER, along_loop, forward_loop, reverse_loop
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

Progress = Callable[[float], None]
SEGMENTS = 100
"""The number of progress reports."""
STORED = 2.5e8
"""Most numbers of states stored for a gradient; beyond that, they are recomputed."""


class Rollout:
    """A robot under a controller for some steps; made by `Robot.rollout`.

    Arguments:
        robot: what moves.
        loop: the robot, its controller, its step, and what is recorded.
        steps, dt, every: the number of steps, their length in s, and the number of steps between
            records.
        series: whether the controller's inputs have a value for each step.
        external: the external loads that are numbers, where a call gives none.
    """

    def __init__(
        self,
        robot: Robot,
        loop: ClosedLoop,
        steps: int,
        dt: float,
        every: int,
        series: bool,
        external: Mapping[Any, ArrayLike] | None = None,
    ) -> None:
        self.robot, self.loop, self.series = robot, loop, series
        self._external = dict(external or {})
        self.steps, self.dt, self.every = steps, dt, every

    def __repr__(self) -> str:
        controller = getattr(self.loop.controller, "__name__", self.loop.controller)
        length = f"{self.steps} steps of {self.dt} s"
        return f"<Rollout of {self.robot.name!r} under {controller}: {length}>"

    @through_numpy_or_cupy
    def __call__(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        p: ArrayLike | None = None,
        parameters: Mapping[Any, ArrayLike] | None = None,
        progress: Progress | None = None,
        external: Mapping[Any, ArrayLike] | None = None,
    ) -> Simulation:
        """The motion from a state, or from each of a batch.

        Arguments:
            q0, v0: initial states, (..., nq) and (..., nv).
            p: the controller's inputs, (..., np); (..., steps, np) if they are a series.
            parameters: numbers of the model, as in `Robot.simulate`.
            progress: called now and then with the completed share, from 0 to 1.
            external: other numbers for external loads that the rollout has, by key.

        Returns:
            The recorded arrays, (..., T, ...).
        """
        return self.run(self._start(q0, v0, p, parameters, external), progress)

    def _start(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        p: ArrayLike | None,
        parameters: Any,
        external: Any = None,
    ) -> Start:
        numbers = mapping("parameters", parameters, "arrays by parameters of the model")
        other = {} if external is None else external
        _check_names("external", other, list(self._external))
        loads = self._external | other
        values = InitialValues(
            q0=q0, v0=v0, p=p, series=self.series, parameters=numbers, external=loads
        )
        start = Start(self.robot, self.loop.controller, values, self.steps)
        self._check_counts(start, tuple(numbers))
        return start

    def _check_counts(self, start: Start, parameters: tuple[Any, ...]) -> None:
        """Refuse inputs and parameters that the rollout was not compiled for."""
        loads = self.loop.load_numbers
        expected = (self.loop.lengths.get("p") or 0) - loads
        if start.count - loads != expected:
            raise ShapeError(f"p has {start.count - loads} numbers; this rollout takes {expected}")
        if parameters != self.loop.parameters:
            wanted = ", ".join(map(repr, self.loop.parameters)) or "none"
            raise KinetreeError(
                f"parameters are {', '.join(map(repr, parameters)) or 'none'}; this rollout "
                f"takes {wanted}"
            )

    # forward

    @property
    def _watched(self) -> bool:
        """Whether records are computed inside the loop: else only where they are kept."""
        return self.every == 1 or not self.loop.records

    def _time_loop(self, make: Callable[..., TimeLoop], *settings: bool) -> TimeLoop:
        """A loop over time, which other rollouts of the closed loop share."""
        return self.loop.time_loops.recall((make, settings), lambda: make(self.loop, *settings))

    def run(self, start: Start, progress: Progress | None = None) -> Simulation:
        """The motion from a start that is prepared already.

        Arguments:
            start: states and inputs, checked and flattened.
            progress: as in `Rollout.__call__`.

        Returns:
            The recorded arrays, as a call returns them.
        """
        n, times = start.count_of_systems, self.steps // self.every + 1
        optional_function("progress", progress)
        arrays: dict[str, Array] = {
            name: start.empty((n, times, *shape)) for name, shape in self._recorded().items()
        }
        states = start.states(0.0, NEVER)
        if progress is not None:
            progress(0.0)
        for first, count in self._segments(progress is not None):
            kept = slice(first // self.every, (first + count) // self.every)
            inside = (
                {name: array[:, kept] for name, array in arrays.items()} if self._watched else {}
            )
            if not self._watched:
                self._observe(start, states, first, arrays)
            arguments = [*states, *start.constants(self.dt), *start.series(first, count)]
            forward = self._time_loop(forward_loop, self.series, self._watched)
            rolled = forward(arguments, n, count, self.every, tuple(inside), inside)
            states = list(rolled.final.values())
            if progress is not None:
                progress((first + count) / self.steps)
        self._observe(start, states, self.steps, arrays)
        grid = np.arange(0, self.steps + 1, self.every) * self.dt
        ended = blank_diverged(arrays, states[-1], grid, self.dt, start.backend)
        batch = start.batch
        shaped = {name: array.reshape(*batch, *array.shape[1:]) for name, array in arrays.items()}
        ended = ended.reshape(batch)
        warn_of_divergence(ended)
        return Simulation(start.xp.asarray(grid), shaped, start.xp.asarray(ended))

    def _recorded(self) -> dict[str, tuple[int, ...]]:
        seen = dict(self.loop.observe_kernel.interface.outputs)
        return {"q": (self.robot.nq,), "v": (self.robot.nv,), **seen}

    def _segments(self, many: bool) -> list[tuple[int, int]]:
        """Segments (first step, length); one segment if there is no progress callback."""
        length = self.steps
        if not self._watched:
            length = self.every
        elif many:
            length = max(1, self.steps // (SEGMENTS * self.every)) * self.every
        length = max(length, 1)
        return [(k, min(length, self.steps - k)) for k in range(0, self.steps, length)]

    def _observe(
        self, start: Start, states: list[Array], step: int, arrays: dict[str, Array]
    ) -> None:
        """Record states and what follows from them."""
        at = step // self.every
        _, q, v, *memory = states[:-1]
        seen = self.loop.observe_kernel(*start.arguments(step * self.dt, step, q, v, *memory))
        seen = seen if isinstance(seen, tuple) else (seen,)
        for array, value in zip(arrays.values(), (q, v, *seen), strict=True):
            array[:, at] = value

    # derivatives

    @through_numpy_or_cupy
    def gradient(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        weights: Mapping[str, ArrayLike],
        p: ArrayLike | None = None,
        parameters: Mapping[Any, ArrayLike] | None = None,
        external: Mapping[Any, ArrayLike] | None = None,
    ) -> dict[str, Array]:
        """The gradient of a function of the states, by reverse accumulation through time.

        Arguments:
            q0, v0, p, parameters, external: as in a call.
            weights: the function's derivatives with respect to "q", (..., steps + 1, nq), and "v",
                (..., steps + 1, nv), at every step, or (..., nq) and (..., nv) at the end alone.

        Returns:
            "q0" and "v0", (..., nv), "p" with p's shape if there is one, "external" with the
            numbers of external loads one after another, and "parameters", (..., n), with theirs.
            That with respect to q0 is along q0 (+) delta.
        """
        start = self._start(q0, v0, p, parameters, external)
        n = start.count_of_systems
        _check_names("weights", weights, ("q", "v"))
        at_steps = {name: self._weights(name, weights.get(name), start) for name in ("q", "v")}
        carried = [at_steps["q"][:, -1], at_steps["v"][:, -1]]
        carried += [start.zeros((n, len(start.memory)))] if len(start.memory) else []
        lengths = self.loop.lengths
        summed = [
            start.zeros((n, lengths[name] or 0))
            for name in ("p", "numbers")
            if name in lengths and not (self.series and name == "p")
        ]
        states = [*carried, *summed]
        by_p = start.zeros((n, self.steps, start.count)) if self.series and start.count else None
        for first, stored in self._stored(start):
            count = len(stored[0])
            span = slice(first, first + count)
            series = [*stored, at_steps["q"][:, span], at_steps["v"][:, span]]
            records = {} if by_p is None else {"p_gradient": by_p[:, span]}
            reverse = self._time_loop(reverse_loop, self.series)
            rolled = reverse(
                [*states, *series], n, count, 1, tuple(records), records, backwards=True
            )
            states = list(rolled.final.values())
        return self._shaped(start, states, by_p)

    def _weights(self, name: str, given: ArrayLike | None, start: Start) -> Array:
        """Weights at every step, (systems, steps + 1, n)."""
        n = {"q": self.robot.nq, "v": self.robot.nv}[name]
        whole = start.zeros((*start.batch, self.steps + 1, n))
        if given is not None:
            array = start.backend.array(f"weights of {name!r}", given)
            everywhere = array.shape[-2:] == (self.steps + 1, n)
            part = whole if everywhere else whole[..., -1, :]
            if array.shape[-1:] != (n,) or not _spreads(array.shape, part.shape):
                raise ShapeError(
                    f"weights of {name!r} have shape {array.shape}; {whole.shape} is expected, or "
                    f"{(*start.batch, n)} at the end alone"
                )
            part[...] = array
        return whole.reshape(start.count_of_systems, self.steps + 1, n)

    def _stored(self, start: Start) -> list[tuple[int, list[Array]]]:
        """Segments, the last one first: their first step, and the arguments of each step."""
        n = start.count_of_systems
        size = n * self.steps * (self.robot.nq + self.robot.nv)
        length = self.steps if size <= STORED else int(np.ceil(np.sqrt(self.steps)))
        names = ["q", "v", *(["memory"] if len(start.memory) else [])]
        states = start.states(0.0, NEVER)
        checkpoints = []
        for first in range(0, self.steps, max(length, 1)):
            checkpoints.append((first, states))
            count = min(length, self.steps - first)
            if first + count < self.steps:
                states = list(self._advance(start, states, first, count, ()).final.values())
        return [
            (first, self._arguments_of_steps(start, states, first, length, names))
            for first, states in reversed(checkpoints)
        ]

    def _advance(
        self, start: Start, states: list[Array], first: int, count: int, record: tuple[str, ...]
    ) -> Any:
        arguments = [*states, *start.constants(self.dt), *start.series(first, count)]
        plain = self._time_loop(forward_loop, self.series, False)
        return plain(arguments, start.count_of_systems, count, 1, record)

    def _arguments_of_steps(
        self, start: Start, states: list[Array], first: int, length: int, names: list[str]
    ) -> list[Array]:
        count = min(length, self.steps - first)
        seen = self._advance(start, states, first, count, tuple(names)).records
        t = start.array(np.arange(first, first + count) * self.dt)
        arguments = {"t": t, **seen, "dt": start.array(np.full(count, self.dt))}
        if start.count:
            arguments["p"] = start.p_of_steps(first, count)
        if start.numbers is not None:
            n = start.numbers.shape
            arguments["numbers"] = start.xp.broadcast_to(
                start.numbers[:, None], (n[0], count, n[1])
            )
        return [arguments[name] for name, _ in self.loop.step_kernel.interface.inputs]

    def _shaped(self, start: Start, states: list[Array], by_p: Array | None) -> dict[str, Array]:
        """Gradients with the shape of the batch, that by q0 along its directions."""
        batch = start.batch
        rest = iter(states)
        by_q, by_v = next(rest), next(rest)
        if len(start.memory):
            next(rest)
        axes = start.array(np.eye(self.robot.nv))
        directions = self.robot.charts.coordinate_rates(start.q[:, None], axes)
        gradients = {"q0": start.xp.einsum("bkn,bn->bk", directions, by_q), "v0": by_v}
        if start.count:
            whole = next(rest) if by_p is None else by_p
            inputs = start.count - self.loop.load_numbers
            parts = {"p": whole[..., :inputs], "external": whole[..., inputs:]}
            gradients |= {name: x for name, x in parts.items() if x.shape[-1]}
        if start.numbers is not None:
            gradients["parameters"] = next(rest)
        return {name: x.reshape(*batch, *x.shape[1:]) for name, x in gradients.items()}

    @through_numpy_or_cupy
    def sensitivity(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        along: Mapping[str, ArrayLike],
        p: ArrayLike | None = None,
        parameters: Mapping[Any, ArrayLike] | None = None,
        external: Mapping[Any, ArrayLike] | None = None,
    ) -> tuple[Array, Array]:
        """The rates of all states along a direction, by forward accumulation.

        Arguments:
            q0, v0, p, parameters, external: as in a call; p and external are constant.
            along: the direction: rates of "q0" and "v0", (..., nv), of "p", (..., np), and of
                "external" and "parameters", (..., n), as `gradient` gives them.

        Returns:
            The rates of q, (..., steps + 1, nq), and of v, (..., steps + 1, nv).
        """
        if self.series:
            raise KinetreeError("sensitivity: the controller's inputs are a series; use gradient")
        start = self._start(q0, v0, p, parameters, external)
        n = start.count_of_systems

        numbers = 0 if start.numbers is None else start.numbers.shape[-1]
        lengths = {
            "q0": self.robot.nv,
            "v0": self.robot.nv,
            "p": start.count - self.loop.load_numbers,
            "external": self.loop.load_numbers,
            "parameters": numbers,
        }
        _check_names("along", along, [name for name, length in lengths.items() if length])

        def rate(name: str) -> Array:
            length = lengths[name]
            whole = (*start.batch, length)
            direction = start.backend.array(f"along {name!r}", along.get(name, np.zeros(length)))
            if direction.shape[-1:] != (length,) or not _spreads(direction.shape, whole):
                raise ShapeError(f"along {name!r} has shape {direction.shape}; {whole} is expected")
            spread = start.xp.broadcast_to(direction, whole).reshape(n, length)
            return start.array(spread)

        by_q = self.robot.charts.coordinate_rates(start.q, rate("q0"))
        states = [by_q, rate("v0")]
        states += [start.zeros((n, len(start.memory)))] if len(start.memory) else []
        inputs = start.xp.concatenate([rate("p"), rate("external")], axis=-1)
        constants = [inputs] if start.count else []
        if start.numbers is not None:
            constants.append(rate("parameters"))
        rates = [start.empty((n, self.steps + 1, x.shape[-1])) for x in states[:2]]
        names = ["q", "v", *(["memory"] if len(start.memory) else [])]
        stored = self._arguments_of_steps(start, start.states(0.0, NEVER), 0, self.steps, names)
        out = {"dq": rates[0][:, :-1], "dv": rates[1][:, :-1]}
        forward = self._time_loop(along_loop)
        rolled = forward([*states, *constants, *stored], n, self.steps, 1, ("dq", "dv"), out)
        rates[0][:, -1], rates[1][:, -1] = rolled.final["dq"], rolled.final["dv"]
        dq, dv = (x.reshape(*start.batch, *x.shape[1:]) for x in rates)
        return dq, dv


def _check_names(what: str, given: Any, known: Sequence[str]) -> None:
    """Refuse what is no mapping from some of these names."""
    if not isinstance(given, Mapping):
        raise KinetreeError(
            f"{what} is a {type(given).__name__}; arrays by name are expected: "
            f"{', '.join(map(repr, known)) or 'none'}"
        )
    for name in given:
        if not among(name, known):
            raise unknown("entry", name, known, what)


def _spreads(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of one shape can be broadcast to another."""
    padded = (1,) * (len(whole) - len(shape)) + shape
    return len(padded) == len(whole) and all(
        a in (1, b) for a, b in zip(padded, whole, strict=True)
    )
