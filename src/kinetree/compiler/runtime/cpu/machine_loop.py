"""Loops over time as machine code: what `native.time_loop` is told of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.graph.program import size
from kinetree.compiler.native.layout import Plan
from kinetree.compiler.runtime.loop_layout import LoopLayout

if TYPE_CHECKING:
    from kinetree.compiler.runtime.cpu.machine_code import MachineCode, Rollout

PLANS = 64
"""Plans that are kept for further calls."""
FEW = 2
"""Up to so many systems are run one after the other, without lanes."""


class MachineLoops:
    """Chooses the machine code for few systems or that for many.

    Arguments:
        layout: arguments and results of the program.
        code: the program, a `machine_code.MachineCode`.
    """

    def __init__(self, layout: LoopLayout, code: MachineCode) -> None:
        self._layout, self._code = layout, code

    def __call__(self, systems: int) -> MachineLoop:
        return self._few if systems <= FEW else self._many

    @cached_property
    def _few(self) -> MachineLoop:
        return MachineLoop(self._layout, self._code.rollout_one)

    @cached_property
    def _many(self) -> MachineLoop:
        return MachineLoop(self._layout, self._code.rollout)


class MachineLoop:
    """Machine code that runs systems through time; see `runtime.host_loop.Run`.

    Arguments:
        layout: its arguments and results.
        rollout: the function for tiles of systems, or for one after the other.
    """

    def __init__(self, layout: LoopLayout, rollout: Rollout) -> None:
        self._layout, self._rollout = layout, rollout
        self._plans: dict[tuple[int, int, tuple[str, ...]], tuple[np.ndarray, np.ndarray]] = {}

    def __call__(
        self, arrays: list[np.ndarray], steps: int, every: int, records: dict[str, np.ndarray]
    ) -> None:
        operands = [*arrays, *arrays[: self._layout.states], *records.values()]
        strides = [
            [x.strides[0], x.strides[1] if self._has_time(k, len(arrays)) else 0]
            for k, x in enumerate(operands)
        ]
        plan, _ = self._plan(steps, every, tuple(records))
        args = np.array([x.__array_interface__["data"][0] for x in operands], np.int64)
        self._rollout(args, np.array(strides, np.int64), plan, len(arrays[0]))

    def _has_time(self, k: int, arguments: int) -> bool:
        """Whether an operand has an axis of time: series and records."""
        layout = self._layout
        return layout.first_series <= k < arguments or k >= arguments + layout.states

    def _plan(
        self, steps: int, every: int, records: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the machine code is told of a loop, and the table that this refers to."""
        key = (steps, every, records)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._new_plan(*key)
        return plan

    def _new_plan(
        self, steps: int, every: int, records: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        layout = self._layout
        starts = np.cumsum([0, *(size(shape) for _, shape in layout.outputs)])
        results = [name for name, _ in layout.outputs]
        states = [name for name, _ in layout.inputs[: layout.states]]
        plans = [
            [
                states.index(name) if name in states else -1,
                0 if name in states else int(starts[results.index(name)]),
                size(layout.recordable[name]),
            ]
            for name in records
        ]
        sizes = [size(shape) for _, shape in (*layout.inputs, *layout.outputs)]
        identity = np.arange(max(sizes) + 64, dtype=np.int32) * np.int32(self._rollout.vector)
        head = {
            Plan.STEPS: steps,
            Plan.EVERY: every,
            Plan.STATES: layout.states,
            Plan.SERIES: layout.first_series,
            Plan.RECORDS: len(records),
            Plan.LARGEST: max(sizes),
            Plan.IDENTITY: identity.ctypes.data,
        }
        numbers = [*(head[k] for k in sorted(head)), *(n for p in plans for n in p)]
        return np.array(numbers, np.int64), identity
