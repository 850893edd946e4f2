"""CUDA C++ of a lowered program: one state a thread, arrays of rows through shared memory.

A block of threads works on as many states. It has three phases, with a barrier between them: it
loads the states' rows into shared memory with coalesced reads, each thread computes on its own
rows, and the results are stored with coalesced writes.

Rows of arrays lie one behind the other, and so they do in shared memory, where threads side by side
then read from different banks, unless the length of a row has a large power of two in it: such rows
are padded to an odd length. Of results that stand in a matrix twice, one is kept, and an index
tells the last phase where.

Results that are too many for shared memory go to a scratch area in global memory, one column after
the other, which the last phase transposes.

The phases are functions of a thread's number. Compiled for the host (KINETREE_HOST), a loop over
the threads of each phase stands in for the barrier: so the text is tested where there is no GPU.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda_body import body_lines, head
from kinetree.compiler.graph.lower import Lowered, Style
from kinetree.compiler.graph.program import size

GOOD_BYTES = 100 * 1024
"""Shared memory of a block that leaves room for a second one on a multiprocessor."""
WORTH = 1.3
"""How many elements must stand for each distinct result before an index is worth it."""
MOST_BYTES = 227 * 1024
"""All of it that a block can have, on compute capability 9.0."""
RESERVED = 1024
"""What the system takes for each block."""
ENOUGH = 256
"""Threads of a multiprocessor beyond which more do not help."""
CONFLICTS = 2
"""Threads that may meet in one bank of shared memory."""
STRIP = 32
"""Columns that the last phase transposes at once."""
WARP = 32
GROUP = 1024
"""Columns whose indices a warp keeps in registers."""


def style(kind: str) -> Style:
    """How programs are lowered: as one step, whose order keeps few values alive.

    Products and sums are fused here: compilers leave many of them apart, and short code is fast.
    """
    return Style(kind, fused=True, chunk=1 << 30, narrow=True)


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched.

    threads: of a block, and so the states that it works on.
    shared: bytes of shared memory of a block.
    scratch: elements of global scratch for each block; zero if results fit shared memory.
    """

    threads: int
    shared: int
    scratch: int


class Rows(NamedTuple):
    """How an array lies in memory.

    stride: from one state's elements to the next one's; None if they follow each other.
    tiled: instead, for each 32 states, all their first elements, then all their second ones.
    columns: instead, all states' first elements, then all their second ones.
    """

    stride: int | None = None
    tiled: bool = False
    columns: bool = False


@dataclass(frozen=True)
class Layout:
    """How arguments and results lie in memory."""

    inputs: tuple[Rows, ...]
    outputs: tuple[Rows, ...]

    @staticmethod
    def of(lowered: Lowered) -> Layout:
        """Rows, one behind the other."""
        return Layout((Rows(),) * len(lowered.inputs), (Rows(),) * len(lowered.outputs))


def launch_shape(lowered: Lowered, layout: Layout | None = None) -> Shape:
    """As many threads as shared memory allows."""
    layout = layout or Layout.of(lowered)
    item = 4 if lowered.kind == "float" else 8
    inputs = _input_pitches(lowered, layout)
    row = inputs + sum(_staged(lowered, layout))
    if threads := threads_of_block(row * item):
        return Shape(threads, threads * row * item, 0)
    threads = 128 if 128 * inputs * item <= GOOD_BYTES else 32
    strip = STRIP * (threads + 1)
    return Shape(threads, max(threads * inputs, strip) * item, threads * lowered.results)


def threads_of_block(row: int) -> int:
    """How many threads a block has; zero if the shared memory is too small for 32.

    Arguments:
        row: the bytes of shared memory that each thread needs.
    """
    resident = {t: MOST_BYTES // (t * row + RESERVED) * t for t in (128, 64, 32)}
    threads = max(resident, key=lambda t: min(resident[t], ENOUGH))
    return threads if resident[threads] else 0


def _input_pitches(lowered: Lowered, layout: Layout) -> int:
    """The elements of one state's arguments in shared memory."""
    pairs = zip(lowered.inputs, layout.inputs, strict=True)
    return sum(row_pitch(size(i.shape)) for i, rows in pairs if not rows.tiled)


def _staged(lowered: Lowered, layout: Layout) -> list[int]:
    """The length of each row of results in shared memory: the distinct ones, or each output's.

    Rows as they are in the outputs are copied faster. They are taken if that costs no threads.
    """
    item = 4 if lowered.kind == "float" else 8
    outputs = [
        0 if rows.tiled else row_pitch(size(o.shape))
        for o, rows in zip(lowered.outputs, layout.outputs, strict=True)
    ]
    room = 128 * (_input_pitches(lowered, layout) + sum(outputs)) * item <= GOOD_BYTES
    if room or any(rows.tiled for rows in layout.outputs):
        return outputs
    shared = row_pitch(lowered.results)
    return [shared] if shared * WORTH <= sum(outputs) else outputs


def row_pitch(count: int) -> int:
    """The elements from one row to the next in shared memory."""
    return count if math.gcd(count, 32) <= CONFLICTS else count | 1


def emit_cuda(
    lowered: Lowered, name: str, shared: Collection[int] = (), layout: Layout | None = None
) -> str:
    """The text of a kernel.

    Its parameters are the arguments and the results, rows one behind the other; the scratch; and
    the number of states.

    Arguments:
        shared: the arguments that have one row for all states.
        layout: of arguments and results; by default rows, one behind the other.
    """
    return _Printer(lowered, identifier(name), shared, layout or Layout.of(lowered)).text()


class _Printer:
    def __init__(
        self, lowered: Lowered, name: str, shared: Collection[int], layout: Layout
    ) -> None:
        self.lowered, self.name, self.shared, self.layout = lowered, name, shared, layout
        self.shape = shape = launch_shape(lowered, layout)
        self.inputs = [size(i.shape) for i in lowered.inputs]
        self.outputs = [size(o.shape) for o in lowered.outputs]
        self.tiled_outputs = any(rows.tiled for rows in layout.outputs)
        self.staged = _staged(lowered, layout)
        self.indexed = not self.tiled_outputs and (
            len(self.staged) < len(self.outputs)
            or (len(self.outputs) == 1 and self.staged[0] != row_pitch(self.outputs[0]))
        )
        inputs = zip(self.inputs, layout.inputs, strict=True)
        rows = [*(0 if i.tiled else row_pitch(n) for n, i in inputs), *self.staged]
        self.starts = [0]
        for row in rows:
            self.starts.append(self.starts[-1] + shape.threads * row)

    def text(self) -> str:
        parts = [head(self.lowered.kind), self._index()]
        parts += [self._load(), self._compute(), self._store(), self._kernel(), self._host()]
        return "\n".join(parts)

    # parameters

    def _in(self) -> str:
        return "".join(f", const T *in{k}" for k in range(len(self.inputs)))

    def _out(self) -> str:
        return "".join(f", T *out{k}" for k in range(len(self.outputs)))

    def _names(self, declared: str) -> str:
        return "".join(f", {word.split()[-1].lstrip('*')}" for word in declared.split(",")[1:])

    # phases

    def _index(self) -> str:
        """Which result each element of an output is, where results stand twice."""
        if not (self.indexed or self.shape.scratch):
            return ""
        tables = []
        for k, elements in enumerate(self.lowered.elements):
            values = ", ".join(map(str, elements))
            tables.append(f"CONSTANT unsigned short index{k}[{len(elements) or 1}] = {{{values}}};")
        return "\n".join(tables)

    def _load(self) -> str:
        own = f"int tid, long long first, int alive, long long states, T *shared{self._in()}"
        lines = [f"DEVICE void {self.name}_load({own})", "{"]
        for k, count in enumerate(self.inputs):
            start, pitch, threads = self.starts[k], row_pitch(count), self.shape.threads
            stride = self.layout.inputs[k].stride or count
            if not count or self.layout.inputs[k].tiled:
                continue
            to = f"shared[{start} + row * {pitch} + column]"
            if k in self.shared:
                lines += self._over_rows(count, f"LATER({to}, in{k}[column]);")
            elif self.layout.inputs[k].columns:
                to = f"shared[{start} + tid * {pitch} + column]"
                source = f"in{k}[column * states + first + tid]"
                lines += self._over_columns(count, f"LATER({to}, {source});")
            elif pitch == count == stride:
                from_ = f"in{k} + first * {count}, alive * {count}"
                lines.append(f"    load_rows(shared + {start}, {from_}, tid, {threads});")
            else:
                source = f"in{k}[(first + row) * {stride} + column]"
                lines += self._over_rows(count, f"LATER({to}, {source});")
        return "\n".join([*lines, "    ARRIVED", "}\n"])

    def _over_rows(self, count: int, statement: str, unrolled: int = 1) -> list[str]:
        """A loop of all threads over the rows of their states, one behind the other.

        Threads side by side move elements side by side, across the ends of rows, so that memory
        is written in whole sectors.
        """
        if not count:
            return []
        return [
            f"UNROLL({unrolled})",
            f"    for (int i = tid; i < alive * {count}; i += {self.shape.threads}) {{",
            f"        const int row = i / {count}, column = i % {count};",
            f"        {statement}",
            "    }",
        ]

    def _over_columns(self, count: int, statement: str) -> list[str]:
        """A loop of each thread over the elements of its own state."""
        return [
            "UNROLL(8)",
            f"    for (int column = 0; column < {count}; ++column)",
            f"        if (tid < alive) {statement}",
        ]

    def _compute(self) -> str:
        head = (
            f"DEVICE void {self.name}_compute(int tid, long long first, T *shared, T *scratch"
            f"{self._in()}{self._out()})"
        )
        pointers = [
            f"    const T *a{k} = in{k} + {self._tile(count)};"
            if self.layout.inputs[k].tiled
            else f"    const T *a{k} = shared + {self.starts[k]} + tid * {row_pitch(count)};"
            for k, count in enumerate(self.inputs)
            if count
        ]
        if self.shape.scratch:
            pointers.append("    T *o0 = scratch + tid;")
        else:
            starts = self.starts[len(self.inputs) :]
            pointers += [
                f"    T *o{k} = shared + {starts[k]} + tid * {pitch};"
                for k, pitch in enumerate(self.staged)
                if pitch
            ]
            pointers += [
                f"    T *o{k} = out{k} + {self._tile(count)};"
                for k, count in enumerate(self.outputs)
                if self.layout.outputs[k].tiled
            ]
        body = body_lines(self.lowered, self._argument, self._places)
        return "\n".join([head, "{", *pointers, *body, "}\n"])

    def _argument(self, position: int, element: int) -> str:
        step = WARP if self.layout.inputs[position].tiled else 1
        return f"a{position}[{element * step}]"

    def _tile(self, count: int) -> str:
        """Where a state's first element is in an array of tiles."""
        return f"(first + tid) / {WARP} * {count * WARP} + tid % {WARP}"

    def _places(self, result: int) -> list[str]:
        """Where a result is stored."""
        if self.shape.scratch:
            return [f"o0[{result * self.shape.threads}]"]
        if self.indexed:
            return [f"o0[{result}]"]
        return [
            f"o{k}[{element * WARP if self.layout.outputs[k].tiled else element}]"
            for k, element in self.lowered.places[result]
        ]

    def _store(self) -> str:
        declared = self._out()
        head = (
            f"DEVICE void {self.name}_store(int tid, long long first, int alive, "
            f"long long states, T *shared, T *scratch, int phase{declared})"
        )
        lines = [head, "{"]
        for k, count in enumerate(self.outputs):
            if self.layout.outputs[k].tiled:
                continue
            if self.layout.outputs[k].columns:
                to = f"out{k}[column * states + first + tid]"
                source = self._source_of_column(k)
                lines += self._over_columns(count, f"if (phase == 0) {to} = {source};")
            elif self.shape.scratch:
                lines += self._strips(k, count)
            elif self.indexed:
                lines += self._store_row_by_row(k, count, self.starts[-2], self.staged[0])
            else:
                lines += self._store_rows(k, count)
        return "\n".join([*lines, "}\n"])

    def _source_of_column(self, k: int) -> str:
        """Where a thread's own element of an output is, by its column."""
        if self.shape.scratch:
            return f"scratch[index{k}[column] * {self.shape.threads} + tid]"
        if self.indexed:
            return f"shared[{self.starts[-2]} + tid * {self.staged[0]} + index{k}[column]]"
        start, pitch = self.starts[len(self.inputs) + k], self.staged[k]
        return f"shared[{start} + tid * {pitch} + column]"

    def _store_rows(self, k: int, count: int) -> list[str]:
        start, pitch = self.starts[len(self.inputs) + k], self.staged[k]
        stride = self.layout.outputs[k].stride or count
        if count and pitch == count == stride:
            to = f"out{k} + first * {count}, shared + {start}, alive * {count}"
            return [f"    copy_rows({to}, tid, {self.shape.threads});"]
        if count >= WARP // 2:
            return self._store_row_by_row(k, count, start, pitch)
        source = f"shared[{start} + row * {pitch} + column]"
        return self._over_rows(count, f"out{k}[(first + row) * {stride} + column] = {source};", 8)

    def _store_row_by_row(self, k: int, count: int, start: int, pitch: int) -> list[str]:
        """Each warp writes whole rows, 32 elements at once; it keeps its indices in registers."""
        stride = self.layout.outputs[k].stride or count
        lines = ["    {", f"    const int lane = tid % {WARP};"]
        for begin in range(0, count, GROUP):
            columns = range(begin, min(begin + GROUP, count), WARP)
            lines.append("    {")
            if self.indexed:
                lines += [
                    f"    const int i{c} = {self._within(c, count)}index{k}[lane + {c}]"
                    f"{' : 0' if c + WARP > count else ''};"
                    for c in columns
                ]
            lines += [
                f"    for (int row = tid / {WARP}; row < alive; "
                f"row += {self.shape.threads // WARP}) {{",
                f"        const T *from = shared + {start} + row * {pitch};",
                f"        T *to = out{k} + (first + row) * {stride} + lane;",
            ]
            for c in columns:
                guard = f"if (lane < {count - c}) " if c + WARP > count else ""
                at = f"i{c}" if self.indexed else f"lane + {c}"
                lines.append(f"        {guard}to[{c}] = from[{at}];")
            lines += ["    }", "    }"]
        return [*lines, "    }"]

    def _within(self, column: int, count: int) -> str:
        return f"lane < {count - column} ? " if column + WARP > count else ""

    def _strips(self, k: int, count: int) -> list[str]:
        """Columns from scratch, a strip at a time, through shared memory: even phases read it."""
        threads = self.shape.threads
        strips = -(-count // STRIP)
        stride = self.layout.outputs[k].stride or count
        first = 2 * sum(-(-n // STRIP) for n in self.outputs[:k])
        return [
            f"    if (phase >= {first} && phase < {first + 2 * strips}) {{",
            f"        const int start = (phase - {first}) / 2 * {STRIP};",
            f"        const int width = start + {STRIP} < {count} ? {STRIP} : {count} - start;",
            "        if (phase % 2 == 0) {",
            f"UNROLL({STRIP})",
            f"            for (int c = 0; c < {STRIP}; ++c)",
            f"                if (c < width) shared[c * {threads + 1} + tid] = "
            f"scratch[index{k}[start + c] * {threads} + tid];",
            f"        }} else if (tid % {STRIP} < width) {{",
            f"            const T *from = shared + tid % {STRIP} * {threads + 1};",
            f"            T *to = out{k} + first * {stride} + start + tid % {STRIP};",
            "UNROLL(8)",
            f"            for (int row = tid / {STRIP}; row < alive; row += {threads // STRIP})",
            f"                to[(long long)row * {stride}] = from[row];",
            "        }",
            "    }",
        ]

    # the kernel, and what stands for it on the host

    @property
    def _phases(self) -> int:
        return 2 * sum(-(-n // STRIP) for n in self.outputs) if self.shape.scratch else 1

    def _body(self, each: str, barrier: str, indent: str) -> str:
        """A block's work on its states; `each` runs a phase, `barrier` waits for all threads."""
        ins, outs = self._names(self._in()), self._names(self._out())
        calls = [
            each.format(f"{self.name}_load(tid, first, alive, states, shared{ins})"),
            barrier,
            each.format(
                f"if (tid < alive) {self.name}_compute(tid, first, shared, scratch{ins}{outs})"
            ),
            barrier,
            f"for (int phase = 0; phase < {self._phases}; ++phase) {{",
            each.format(
                f"{self.name}_store(tid, first, alive, states, shared, scratch, phase{outs})"
            ),
            barrier,
            "}",
        ]
        return "\n".join(f"{indent}{call}" for call in calls if call)

    def _kernel(self) -> str:
        threads, scratch = self.shape.threads, self.shape.scratch
        own = f"    scratch += (long long)blockIdx.x * {scratch};\n" if scratch else ""
        return f"""#ifndef KINETREE_HOST
extern "C" __global__ void __launch_bounds__({threads})
{self.name}({self._parameters()})
{{
    extern __shared__ __align__(16) unsigned char memory[];
    T *shared = reinterpret_cast<T *>(memory);
    const int tid = threadIdx.x;
{own}    for (long long first = (long long)blockIdx.x * {threads}; first < states;
         first += (long long)gridDim.x * {threads}) {{
        const int alive = states - first < {threads} ? (int)(states - first) : {threads};
{self._body("{};", "__syncthreads();", "        ")}
    }}
}}
#endif
"""

    def _host(self) -> str:
        threads = self.shape.threads
        each = f"for (int tid = 0; tid < {threads}; ++tid) {{{{ {{}}; }}}}"
        size_ = max(self.shape.shared // (4 if self.lowered.kind == "float" else 8), 1)
        return f"""#ifdef KINETREE_HOST
extern "C" void {self.name}({self._parameters()})
{{
    T *shared = new T[{size_}];
    T *own = new T[{max(self.shape.scratch, 1)}];
    scratch = own;
    for (long long first = 0; first < states; first += {threads}) {{
        const int alive = states - first < {threads} ? (int)(states - first) : {threads};
{self._body(each, "", "        ")}
    }}
    delete[] shared;
    delete[] own;
}}
#endif
"""

    def _parameters(self) -> str:
        operands = (self._in() + self._out()).removeprefix(", ").replace("*", "*RESTRICT ")
        return f"{operands}, T *scratch, long long states"
