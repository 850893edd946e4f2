"""Derivatives of rollouts: forward along a direction, and in reverse from weights of the states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy_or_cupy
from kinetree.errors import KinetreeError, ShapeError
from kinetree.simulate.rollout_core import RolloutCore
from kinetree.simulate.start import Start, check_names
from kinetree.simulate.time_loop import NEVER, along_loop, forward_loop, reverse_loop
from kinetree.typing import Array, ArrayLike

STORED = 2.5e8
"""Most numbers of states stored for a gradient; beyond that, they are recomputed."""


class RolloutDerivatives(RolloutCore):
    """The derivatives of a rollout."""

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
        check_names("weights", weights, ("q", "v"))
        at_steps = {name: self._weights(name, weights.get(name), start) for name in ("q", "v")}
        found = self._accumulated(start, at_steps)
        axes = start.array(np.eye(self.robot.nv))
        directions = self.robot.charts.coordinate_rates(start.q[:, None], axes)
        by_q = found["q0"].reshape(start.q.shape)
        along = start.xp.einsum("bkn,bn->bk", directions, by_q)
        return found | {"q0": along.reshape(*start.batch, self.robot.nv)}

    @through_numpy_or_cupy
    def _pulled_back(
        self,
        weights: Sequence[Array],
        q0: Any,
        v0: Any,
        p: Any,
        parameters: Any,
        external: Any,
    ) -> dict[str, Array]:
        """The gradient by the numbers of q0, v0 and p, from weights of q and v as recorded."""
        start = self._start(q0, v0, p, parameters, external)
        at_steps = {}
        for name, given in zip(("q", "v"), weights, strict=True):
            whole = start.zeros((start.count_of_systems, self.steps + 1, given.shape[-1]))
            whole[:, :: self.every] = given.reshape(len(whole), -1, given.shape[-1])
            at_steps[name] = whole
        return self._accumulated(start, at_steps)

    def _accumulated(self, start: Start, at_steps: Mapping[str, Array]) -> dict[str, Array]:
        """The gradient by reverse accumulation; that by q0 is by its numbers.

        Arguments:
            at_steps: weights of "q" and "v" at every step, (systems, steps + 1, n).
        """
        n = start.count_of_systems
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

    def _stored(self, start: Start) -> Iterator[tuple[int, list[Array]]]:
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
        for first, states in reversed(checkpoints):
            yield first, self._arguments_of_steps(start, states, first, length, names)

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
        gradients = {"q0": by_q, "v0": by_v}
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
        check_names("along", along, [name for name, length in lengths.items() if length])

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


def _spreads(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of one shape can be broadcast to another."""
    padded = (1,) * (len(whole) - len(shape)) + shape
    return len(padded) == len(whole) and all(
        a in (1, b) for a, b in zip(padded, whole, strict=True)
    )
