"""Rollouts: a robot under a controller, compiled with the loop over time, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.compiler.runtime.foreign import foreign_name, gradient_module
from kinetree.compiler.runtime.foreign.through_numpy import named_in_messages, through_numpy_or_cupy
from kinetree.kinds import optional_function
from kinetree.simulate.divergence import blank_diverged, warn_of_divergence
from kinetree.simulate.result import Simulation
from kinetree.simulate.rollout_derivatives import RolloutDerivatives
from kinetree.simulate.start import Start
from kinetree.simulate.time_loop import NEVER, forward_loop
from kinetree.typing import Array, ArrayLike

Progress = Callable[[float], None]
SEGMENTS = 100
"""The number of progress reports."""


class Rollout(RolloutDerivatives):
    """A robot under a controller for some steps; made by `Robot.rollout`.

    Arguments:
        robot: what moves.
        loop: the robot, its controller, its step, and what is recorded.
        steps, dt, every: the number of steps, their length in s, and the number of steps between
            records.
        series: whether the controller's inputs have a value for each step.
        external: the external loads that are numbers, where a call gives none.
    """

    def __repr__(self) -> str:
        controller = getattr(self.loop.controller, "__name__", self.loop.controller)
        length = f"{self.steps} steps of {self.dt} s"
        return f"<Rollout of {self.robot.name!r} under {controller}: {length}>"

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
            The recorded arrays, (..., T, ...). If q0, v0 or p is a tensor of PyTorch that requires
            a gradient, q and v can be differentiated by it, by `gradient`.
        """
        values: dict[str, Any] = {"q0": q0, "v0": v0, "p": p}
        others = {"parameters": parameters, "external": external}
        module = gradient_module(tuple(values.values()))
        if module is None:
            return self._rolled(**values, **others, progress=progress)
        return self._differentiable(module, values, others, progress)

    def _differentiable(
        self, module: Any, values: dict[str, Any], others: dict[str, Any], progress: Any
    ) -> Simulation:
        """A motion whose q and v autograd can differentiate."""
        tensors = {name: x for name, x in values.items() if foreign_name((x,))}
        found: list[Simulation] = []

        def forward(*given: Any) -> tuple[Array, Array]:
            plain = values | dict(zip(tensors, given, strict=True))
            found.append(self._rolled(**plain, **others, progress=progress))
            return found[0].q, found[0].v

        def pullback(*weights: Any) -> list[Array]:
            plain = values | {name: x.detach() for name, x in tensors.items()}
            by_name = self._pulled_back(weights, **plain, **others)
            return [by_name[name] for name in tensors]

        q, v = module.differentiable(forward, pullback, tuple(tensors.values()))
        return found[0].replaced(q=q, v=v)

    @through_numpy_or_cupy
    @named_in_messages("Rollout.__call__")
    def _rolled(
        self, q0: Any, v0: Any, p: Any, parameters: Any, external: Any, progress: Any
    ) -> Simulation:
        return self.run(self._start(q0, v0, p, parameters, external), progress)

    # forward

    @property
    def _watched(self) -> bool:
        """Whether records are computed inside the loop: else only where they are kept."""
        return self.every == 1 or not self.loop.records

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
