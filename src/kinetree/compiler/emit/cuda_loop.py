"""CUDA C++ of a lowered program in a loop over time: one system a thread, its state close by.

The first results of the program are the next values of its first arguments, the *states*. They lie
in shared memory, twice: a step reads the one copy and writes the other. Other arguments are
constant, or a *series* with a value for each step. At every so many steps, before they change,
states or results are *recorded*.

A thread needs nothing of the others, so that the loop over time has no barrier in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import Shape, row_pitch, threads_of_block
from kinetree.compiler.emit.cuda_body import body_lines, head
from kinetree.compiler.graph.lower import Lowered
from kinetree.compiler.graph.program import size
from kinetree.errors import KinetreeError


def emit_cuda_loop(
    lowered: Lowered,
    name: str,
    states: int,
    series: int,
    record: Sequence[str] = (),
    shared: Collection[int] = (),
) -> str:
    """The text of a kernel.

    Its parameters are the arguments, (systems, n), and those of series, (systems, steps, n); the
    final states; the records, (systems, times, n); and the numbers of systems, of steps, and of
    steps between records.

    Arguments:
        states: how many arguments are states.
        series: how many of the last arguments are series.
        record: the names of states, and of results that are not next states.
        shared: the constants that have one row for all systems.
    """
    return _Loop(lowered, identifier(name), states, series, record, shared).text()


def loop_shape(lowered: Lowered, series: int) -> Shape:
    """How the kernel is launched."""
    rows = _rows(lowered, series)
    item = 4 if lowered.kind == "float" else 8
    threads = threads_of_block(sum(rows) * item)
    if not threads:
        raise KinetreeError(
            f"{lowered.name}: the state of a system and what is recorded, {sum(rows)} numbers, are "
            "too many for a GPU's shared memory"
        )
    return Shape(threads, threads * sum(rows) * item, 0)


def _rows(lowered: Lowered, series: int) -> list[int]:
    """Rows of a system in shared memory: arguments that are no series, then results."""
    inputs = lowered.inputs[: len(lowered.inputs) - series]
    shapes = [*(x.shape for x in inputs), *(x.shape for x in lowered.outputs)]
    return [row_pitch(size(shape)) for shape in shapes]


class _Loop:
    def __init__(
        self,
        lowered: Lowered,
        name: str,
        states: int,
        series: int,
        record: Sequence[str],
        shared: Collection[int],
    ) -> None:
        self.lowered, self.name, self.states, self.shared = lowered, name, states, shared
        self.first_series = len(lowered.inputs) - series
        self.shape = loop_shape(lowered, series)
        self.inputs = [size(x.shape) for x in lowered.inputs]
        self.outputs = [size(x.shape) for x in lowered.outputs]
        self.rows = _rows(lowered, series)
        self.starts = [0, *accumulate(self.shape.threads * row for row in self.rows)]
        names = [x.name for x in lowered.inputs[:states]]
        results = [x.name for x in lowered.outputs]
        self.records = [
            (True, names.index(x)) if x in names else (False, results.index(x)) for x in record
        ]

    def text(self) -> str:
        return "\n".join([head(self.lowered.kind), self._step(), self._run(), self._kernel()])

    def _at(self, row: int) -> str:
        """Where a thread's row starts in shared memory."""
        return f"shared + {self.starts[row]} + tid * {self.rows[row]}"

    def _step(self) -> str:
        """A function from one row of states to another."""
        pointers = [f"const T *a{k}" for k in range(len(self.inputs))]
        pointers += [f"T *o{k}" for k in range(len(self.outputs))]
        body = body_lines(self.lowered, lambda k, e: f"a{k}[{e}]", self._places)
        declared = f"DEVICE void {self.name}_step({', '.join(pointers)})"
        return "\n".join([declared, "{", *body, "}\n"])

    def _places(self, result: int) -> list[str]:
        return [f"o{k}[{element}]" for k, element in self.lowered.places[result]]

    # the loop of one thread

    def _run(self) -> str:
        own = "int tid, long long first, long long steps, long long every, T *shared"
        lines = [f"DEVICE void {self.name}_run({own}{self._parameters_of_arrays()})", "{"]
        for k in range(self.states):
            lines += [
                f"    T *now{k} = {self._at(k)};",
                f"    T *next{k} = {self._at(self._of(k))};",
            ]
        lines += [
            f"    T *seen{k} = {self._at(self._of(k))};"
            for k in range(self.states, len(self.outputs))
        ]
        lines += [
            "    const long long times = (steps + every - 1) / every;",
            "    for (long long step = 0; step < steps; ++step) {",
            *self._recorded(before=True),
            f"        {self.name}_step({', '.join(self._arguments())});",
            *self._recorded(before=False),
        ]
        for k in range(self.states):
            lines.append(f"        {{ T *old = now{k}; now{k} = next{k}; next{k} = old; }}")
        lines.append("    }")
        for k, count in enumerate(self.inputs[: self.states]):
            lines += [
                f"    for (int e = 0; e < {count}; ++e)",
                f"        final{k}[(first + tid) * {count} + e] = now{k}[e];",
            ]
        return "\n".join([*lines, "}\n"])

    def _of(self, output: int) -> int:
        """The row of a result."""
        return self.first_series + output

    def _arguments(self) -> list[str]:
        found = [f"now{k}" for k in range(self.states)]
        found += [f"({self._at(k)})" for k in range(self.states, self.first_series)]
        found += [
            f"in{k} + ((first + tid) * steps + step) * {self.inputs[k]}"
            for k in range(self.first_series, len(self.inputs))
        ]
        found += [f"next{k}" for k in range(self.states)]
        return found + [f"seen{k}" for k in range(self.states, len(self.outputs))]

    def _recorded(self, before: bool) -> list[str]:
        lines = []
        for j, (state, k) in enumerate(self.records):
            if state == before:
                count = self.inputs[k] if state else self.outputs[k]
                source = f"now{k}" if state else f"seen{k}"
                to = f"record{j}[((first + tid) * times + step / every) * {count} + e]"
                lines += [
                    "        if (step % every == 0)",
                    f"            for (int e = 0; e < {count}; ++e) {to} = {source}[e];",
                ]
        return lines

    # the kernel

    def _parameters_of_arrays(self) -> str:
        names = [f"const T *in{k}" for k in range(len(self.inputs))]
        names += [f"T *final{k}" for k in range(self.states)]
        names += [f"T *record{j}" for j in range(len(self.records))]
        return "".join(f", {name}" for name in names)

    def _load(self) -> list[str]:
        lines = []
        for k, count in enumerate(self.inputs[: self.first_series]):
            if count:
                to = f"shared[{self.starts[k]} + row * {self.rows[k]} + column]"
                at = "column" if k in self.shared else f"(first + row) * {count} + column"
                lines += [
                    f"    for (int i = tid; i < alive * {count}; i += {self.shape.threads}) {{",
                    f"        const int row = i / {count}, column = i % {count};",
                    f"        LATER({to}, in{k}[{at}]);",
                    "    }",
                ]
        return [*lines, "    ARRIVED"]

    def _kernel(self) -> str:
        arrays = self._parameters_of_arrays()
        names = "".join(f", {word.split()[-1].lstrip('*')}" for word in arrays.split(",")[1:])
        restricted = arrays.removeprefix(", ").replace("*", "*RESTRICT ")
        threads = self.shape.threads
        size_ = self.shape.shared // (4 if self.lowered.kind == "float" else 8)
        numbers = "long long systems, long long steps, long long every"
        run = f"{self.name}_run(tid, first, steps, every, shared{names})"
        load = "\n".join(self._load())
        own = "int tid, long long first, int alive, T *shared"
        loaded = f"{self.name}_load(tid, first, alive, shared{names})"
        return f"""DEVICE void {self.name}_load({own}{arrays})
{{
{load}
}}

#ifndef KINETREE_HOST
extern "C" __global__ void __launch_bounds__({threads}) {self.name}({restricted}, {numbers})
{{
    extern __shared__ __align__(16) unsigned char memory[];
    T *shared = reinterpret_cast<T *>(memory);
    const int tid = threadIdx.x;
    const long long first = (long long)blockIdx.x * {threads};
    const int alive = systems - first < {threads} ? (int)(systems - first) : {threads};
    {loaded};
    __syncthreads();
    if (tid < alive) {run};
}}
#else
extern "C" void {self.name}({restricted}, {numbers})
{{
    T *shared = new T[{size_}];
    for (long long first = 0; first < systems; first += {threads}) {{
        const int alive = systems - first < {threads} ? (int)(systems - first) : {threads};
        for (int tid = 0; tid < {threads}; ++tid) {loaded};
        for (int tid = 0; tid < alive; ++tid) {run};
    }}
    delete[] shared;
}}
#endif
"""
