"""CUDA C++ of a lowered program in a loop over time: one system a thread, its state on chip.

The first results of the program are the next values of its first arguments, the *states*. They lie
in shared memory, twice: a step reads the one copy and writes the other. If shared memory has room
for too few systems, they lie in each thread's local memory instead. Other arguments are constant,
or a *series* with a value for each step. Every N steps, states before the step or results of it are
*recorded*.

Threads are independent, so that the loop over time has no barrier.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda_body import Body, head
from kinetree.compiler.emit.cuda_functions import (
    ALIVE,
    FIRST,
    SHARED,
    TID,
    DeviceFunction,
    Parameter,
    declared,
    pointers,
    restricted,
)
from kinetree.compiler.emit.cuda_layout import (
    ITEM_BYTES,
    THREADS_TO_HIDE_LATENCY,
    WARP,
    Shape,
    SharedRows,
    place_rows,
    row_pitch,
    threads_at_once,
    threads_of_block,
)
from kinetree.compiler.emit.cuda_units import in_kernels_unit
from kinetree.compiler.graph.lowered import Lowered
from kinetree.compiler.graph.program import size
from kinetree.errors import KinetreeError

SYSTEMS = Parameter("long long", "systems")
STEPS = Parameter("long long", "steps")
EVERY = Parameter("long long", "every")
"""The numbers of systems, of steps, and of steps from one record to the next."""
OWN_MEMORY = 512 << 10
"""Bytes: the most local memory of a thread."""


def emit_cuda_loop(
    lowered: Lowered,
    name: str,
    states: int,
    series: int,
    record: Sequence[str] = (),
    shared: Collection[int] = (),
    backwards: bool = False,
) -> str:
    """The text of a kernel.

    Its parameters are the arguments, (systems, n), and those of series, (systems, steps, n); the
    final states; the records, (systems, times, n); and the numbers of systems, of steps, and of
    steps between records.

    Arguments:
        states: the number of arguments that are states.
        series: the number of last arguments that are series.
        record: the names of states, and of results that are not next states.
        shared: the constants that have one row for all systems.
        backwards: whether series and records run from the last step to the first.
    """
    return _Loop(lowered, identifier(name), states, series, record, shared, backwards).text()


def loop_shape(lowered: Lowered, series: int) -> Shape:
    """The launch configuration; without shared memory, states are in threads' local memory."""
    row = sum(_pitches(lowered, series))
    item = ITEM_BYTES[lowered.kind]
    threads = threads_of_block(row * item)
    resident = threads_at_once(threads, row * item) if threads else 0
    own = not threads or (lowered.functions and resident < THREADS_TO_HIDE_LATENCY)
    if (lowered.scratch + (row if own else 0)) * item > OWN_MEMORY:
        raise KinetreeError(
            f"{lowered.name}: a step keeps {lowered.scratch} numbers at once, more than the "
            f"{OWN_MEMORY >> 10} KiB of a thread on a GPU: leave out some of what it computes, "
            "such as contact pairs"
        )
    return Shape(WARP, 0, 0) if own else Shape(threads, threads * row * item, 0)


def _pitches(lowered: Lowered, series: int) -> list[int]:
    """The pitches of a system's rows in shared memory: arguments except series, then results."""
    inputs = lowered.inputs[: len(lowered.inputs) - series]
    shapes = [*(x.shape for x in inputs), *(x.shape for x in lowered.outputs)]
    return [row_pitch(size(shape)) for shape in shapes]


class Recorded(NamedTuple):
    """A recorded quantity: a state, before a step, or a result, after it; and its position."""

    state: bool
    position: int


class _Loop:
    def __init__(
        self,
        lowered: Lowered,
        name: str,
        states: int,
        series: int,
        record: Sequence[str],
        shared: Collection[int],
        backwards: bool,
    ) -> None:
        self.lowered, self.name, self.states, self.shared = lowered, name, states, shared
        self.backwards = backwards
        self.first_series = len(lowered.inputs) - series
        self.shape = loop_shape(lowered, series)
        self.inputs = [size(x.shape) for x in lowered.inputs]
        self.outputs = [size(x.shape) for x in lowered.outputs]
        pitches = _pitches(lowered, series)
        self.own = sum(pitches) if not self.shape.shared else 0
        rows = place_rows(pitches, 1 if self.own else self.shape.threads)
        self.input_rows, self.output_rows = rows[: self.first_series], rows[self.first_series :]
        names = [x.name for x in lowered.inputs[:states]]
        results = [x.name for x in lowered.outputs]
        self.records = [
            Recorded(True, names.index(x)) if x in names else Recorded(False, results.index(x))
            for x in record
        ]
        self.arrays = [
            *pointers("const T *", "in", len(self.inputs)),
            *pointers("T *", "final", states),
            *pointers("T *", "record", len(self.records)),
        ]
        self.load = DeviceFunction(f"{name}_load", [TID, FIRST, ALIVE, SHARED, *self.arrays])
        self.run = DeviceFunction(f"{name}_run", [TID, FIRST, STEPS, EVERY, SHARED, *self.arrays])

    def text(self) -> str:
        routines, step = self._step()
        run = self.run.text(self._run_lines())
        load = self.load.text(self._load_lines())
        kernel = "\n".join([step, run, load, self._kernel()])
        return "\n".join(
            [head(self.lowered.kind) + routines, in_kernels_unit(kernel, self.lowered)]
        )

    def _step(self) -> tuple[str, str]:
        """The routines that a step calls, and the function from one row of states to the next."""
        arguments = pointers("const T *", "a", len(self.inputs))
        results = pointers("T *", "o", len(self.outputs))
        pointed = [*arguments, *results]
        body = Body(self.lowered, self.name, lambda k, e: f"a{k}[{e}]", self._places, pointed)
        step = DeviceFunction(f"{self.name}_step", pointed).text(body.lines())
        return body.routines(), step

    def _places(self, result: int) -> list[str]:
        return [f"o{k}[{element}]" for k, element in self.lowered.places[result]]

    # the loop of one thread

    def _run_lines(self) -> list[str]:
        return [
            *self._row_pointers(),
            "    const long long times = (steps + every - 1) / every;",
            "    for (long long step = 0; step < steps; ++step) {",
            *self._recorded(before=True),
            f"        {self.name}_step({', '.join(self._arguments())});",
            *self._recorded(before=False),
            *(
                f"        {{ T *old = now{k}; now{k} = next{k}; next{k} = old; }}"
                for k in range(self.states)
            ),
            "    }",
            *self._final(),
        ]

    def _row_pointers(self) -> list[str]:
        """Pointers to current states, to their next values, and to other results."""
        lines = self._own_rows()
        for k in range(self.states):
            lines += [
                f"    T *now{k} = {self._row(self.input_rows[k])};",
                f"    T *next{k} = {self._row(self.output_rows[k])};",
            ]
        return lines + [
            f"    T *seen{k} = {self._row(self.output_rows[k])};"
            for k in range(self.states, len(self.outputs))
        ]

    def _own_rows(self) -> list[str]:
        """A thread's local memory with its arguments, if they are not in shared memory."""
        if not self.own:
            return []
        lines = [f"    T own[{self.own}];"]
        for k, (start, _) in enumerate(self.input_rows):
            count = self.inputs[k]
            at = "e" if k in self.shared else f"(first + tid) * {count} + e"
            lines.append(f"    for (int e = 0; e < {count}; ++e) own[{start} + e] = in{k}[{at}];")
        return lines

    def _row(self, rows: SharedRows) -> str:
        return f"own + {rows.start}" if self.own else rows.own_row

    def _final(self) -> list[str]:
        """Write the final states."""
        lines = []
        for k, count in enumerate(self.inputs[: self.states]):
            lines += [
                f"    for (int e = 0; e < {count}; ++e)",
                f"        final{k}[(first + tid) * {count} + e] = now{k}[e];",
            ]
        return lines

    def _arguments(self) -> list[str]:
        """The arguments of a step."""
        at = self._index("step", "steps")
        return [
            *(f"now{k}" for k in range(self.states)),
            *(f"({self._row(rows)})" for rows in self.input_rows[self.states :]),
            *(
                f"in{k} + ((first + tid) * steps + {at}) * {self.inputs[k]}"
                for k in range(self.first_series, len(self.inputs))
            ),
            *(f"next{k}" for k in range(self.states)),
            *(f"seen{k}" for k in range(self.states, len(self.outputs))),
        ]

    def _index(self, position: str, count: str) -> str:
        """The index of a step's value in a series or record."""
        return f"{count} - 1 - {position}" if self.backwards else position

    def _recorded(self, before: bool) -> list[str]:
        """Write the records of states, before a step, or of results, after it."""
        lines = []
        for j, (state, k) in enumerate(self.records):
            if state == before:
                count = self.inputs[k] if state else self.outputs[k]
                source = f"now{k}" if state else f"seen{k}"
                index = self._index("step / every", "times")
                to = f"record{j}[((first + tid) * times + {index}) * {count} + e]"
                lines += [
                    "        if (step % every == 0)",
                    f"            for (int e = 0; e < {count}; ++e) {to} = {source}[e];",
                ]
        return lines

    # the kernel

    def _load_lines(self) -> list[str]:
        lines: list[str] = []
        for k, (start, pitch) in enumerate(() if self.own else self.input_rows):
            if count := self.inputs[k]:
                to = f"shared[{start} + row * {pitch} + column]"
                at = "column" if k in self.shared else f"(first + row) * {count} + column"
                lines += [
                    f"    for (int i = tid; i < alive * {count}; i += {self.shape.threads}) {{",
                    f"        const int row = i / {count}, column = i % {count};",
                    f"        LATER({to}, in{k}[{at}]);",
                    "    }",
                ]
        return [*lines, "    ARRIVED"]

    def _kernel(self) -> str:
        threads = self.shape.threads
        elements = max(self.shape.shared // ITEM_BYTES[self.lowered.kind], 1)
        parameters = f"{restricted(self.arrays)}, {declared([SYSTEMS, STEPS, EVERY])}"
        return f"""#ifndef KINETREE_HOST
extern "C" __global__ void __launch_bounds__({threads}) {self.name}({parameters})
{{
    extern __shared__ __align__(16) unsigned char memory[];
    T *shared = reinterpret_cast<T *>(memory);
    const int tid = threadIdx.x;
    const long long first = (long long)blockIdx.x * {threads};
    const int alive = systems - first < {threads} ? (int)(systems - first) : {threads};
    {self.load.call};
    __syncthreads();
    if (tid < alive) {self.run.call};
}}
#else
extern "C" void {self.name}({parameters})
{{
    T *shared = new T[{elements}];
    for (long long first = 0; first < systems; first += {threads}) {{
        const int alive = systems - first < {threads} ? (int)(systems - first) : {threads};
        for (int tid = 0; tid < {threads}; ++tid) {self.load.call};
        for (int tid = 0; tid < alive; ++tid) {self.run.call};
    }}
    delete[] shared;
}}
#endif
"""
