"""CUDA C++ of a lowered program: one state a thread, arrays of rows through shared memory.

A block of threads works on as many states. It has three phases, with a barrier between them: it
loads the states' rows into shared memory with coalesced reads, each thread computes on its own
rows, and the results are stored with coalesced writes. `cuda_layout` says where rows lie.

Duplicate results are stored once, and an index tells the last phase where. Results that are too
many for shared memory go to a scratch area in global memory, one column after the other, which the
last phase transposes.

The phases are functions of a thread's number. Compiled for the host (KINETREE_HOST), a loop over
the threads of each phase stands in for the barrier: so the text is tested where there is no GPU.
"""

from __future__ import annotations

from collections.abc import Collection

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda_body import Body, head
from kinetree.compiler.emit.cuda_functions import (
    ALIVE,
    FIRST,
    SHARED,
    TID,
    DeviceFunction,
    Parameter,
    pointers,
    restricted,
)
from kinetree.compiler.emit.cuda_layout import (
    ITEM_BYTES,
    STRIP,
    WARP,
    Layout,
    SharedRows,
    Staging,
)
from kinetree.compiler.emit.cuda_units import in_kernels_unit
from kinetree.compiler.graph.lowered import Lowered, Style
from kinetree.compiler.graph.program import size

INDEXED_COLUMNS = 1024
"""The most columns whose indices a warp keeps in registers."""
STATES = Parameter("long long", "states")
SCRATCH = Parameter("T *", "scratch")
PHASE = Parameter("int", "phase")


GUARDED_STEP = {"float": 8_000, "double": 3_000}
"""The most operations of a step in a program with guarded calls, which is one kernel at any length.
In longer functions `ptxas` spills nearly all values."""


def style(kind: str, guarded: bool = False) -> Style:
    """The settings for lowering: one step, in an order that keeps few values alive.

    Products and sums are fused here, because compilers miss many of them, and short code is fast.

    Arguments:
        guarded: whether the program has guarded calls.
    """
    chunk = GUARDED_STEP[kind] if guarded else 1 << 30
    return Style(kind, fused=True, chunk=chunk, narrow=True)


def emit_cuda(
    lowered: Lowered, name: str, shared: Collection[int] = (), layout: Layout | None = None
) -> str:
    """The text of a kernel.

    Its parameters are the arguments and the results, with contiguous rows; the scratch; and the
    number of states.

    Arguments:
        shared: the arguments that have one row for all states.
        layout: of arguments and results; by default contiguous rows.
    """
    return _Printer(lowered, identifier(name), shared, layout or Layout.of(lowered)).text()


class _Printer:
    def __init__(
        self, lowered: Lowered, name: str, shared: Collection[int], layout: Layout
    ) -> None:
        self.lowered, self.name, self.shared, self.layout = lowered, name, shared, layout
        self.staging = Staging(lowered, layout)
        self.shape, self.indexed = self.staging.shape, self.staging.indexed
        self.inputs = [size(i.shape) for i in lowered.inputs]
        self.outputs = [size(o.shape) for o in lowered.outputs]
        in_ = pointers("const T *", "in", len(self.inputs))
        out = pointers("T *", "out", len(self.outputs))
        self.arrays = [*in_, *out]
        block = [TID, FIRST, ALIVE, STATES, SHARED]
        memory = [SHARED, SCRATCH, *self.arrays]
        self.load = DeviceFunction(f"{name}_load", [*block, *in_])
        self.compute = DeviceFunction(f"{name}_compute", [TID, FIRST, *memory])
        self.store = DeviceFunction(f"{name}_store", [*block, SCRATCH, PHASE, *out])

    def text(self) -> str:
        shared = [head(self.lowered.kind), self._printed().routines()]
        kernel = [self._index(), self.load.text(self._load_lines())]
        kernel += [self.compute.text(self._compute_lines()), self.store.text(self._store_lines())]
        kernel += [self._kernel(), self._host()]
        return "\n".join([*filter(None, shared), in_kernels_unit("\n".join(kernel), self.lowered)])

    def _index(self) -> str:
        """The index from elements of an output to distinct results."""
        if not (self.indexed or self.shape.scratch):
            return ""
        tables = []
        for k, elements in enumerate(self.lowered.elements):
            values = ", ".join(map(str, elements))
            tables.append(f"CONSTANT unsigned short index{k}[{len(elements) or 1}] = {{{values}}};")
        return "\n".join(tables)

    # the first phase

    def _load_lines(self) -> list[str]:
        staged = [
            line
            for k, count in enumerate(self.inputs)
            if count and not self.layout.inputs[k].tiled
            for line in self._load_input(k, count)
        ]
        return [*staged, "    ARRIVED"]

    def _load_input(self, k: int, count: int) -> list[str]:
        """Load an argument of all states."""
        start, pitch = self.staging.inputs[k]
        stride = self.layout.inputs[k].stride or count
        to = f"shared[{start} + row * {pitch} + column]"
        if k in self.shared:
            return self._over_rows(count, f"LATER({to}, in{k}[column]);")
        if self.layout.inputs[k].columns:
            to = f"shared[{start} + tid * {pitch} + column]"
            source = f"in{k}[column * states + first + tid]"
            return self._over_columns(count, f"LATER({to}, {source});")
        if pitch == count == stride:
            rows = f"in{k} + first * {count}, alive * {count}"
            return [f"    load_rows(shared + {start}, {rows}, tid, {self.shape.threads});"]
        source = f"in{k}[(first + row) * {stride} + column]"
        return self._over_rows(count, f"LATER({to}, {source});")

    def _over_rows(self, count: int, statement: str, unrolled: int = 1) -> list[str]:
        """A loop of all threads over the contiguous rows of the block's states.

        Adjacent threads move adjacent elements, across the ends of rows, so that memory is written
        in whole sectors.
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

    # the second phase

    def _compute_lines(self) -> list[str]:
        pointers = [f"    {x.declaration} = {at};" for x, at in self._pointers().items()]
        return [*pointers, *self._printed().lines()]

    def _printed(self) -> Body:
        return Body(self.lowered, self.name, self._argument, self._places, [*self._pointers()])

    def _pointers(self) -> dict[Parameter, str]:
        """Pointers to the arguments and the results of a thread's state."""
        arguments = {
            Parameter("const T *", f"a{k}"): f"in{k} + {self._tile(count)}"
            if self.layout.inputs[k].tiled
            else self.staging.inputs[k].own_row
            for k, count in enumerate(self.inputs)
            if count
        }
        return arguments | self._result_pointers()

    def _result_pointers(self) -> dict[Parameter, str]:
        if self.shape.scratch:
            return {Parameter("T *", "o0"): "scratch + tid"}
        staged = {
            Parameter("T *", f"o{k}"): rows.own_row
            for k, rows in enumerate(self.staging.results)
            if rows.pitch
        }
        tiled = {
            Parameter("T *", f"o{k}"): f"out{k} + {self._tile(count)}"
            for k, count in enumerate(self.outputs)
            if self.layout.outputs[k].tiled
        }
        return staged | tiled

    def _tile(self, count: int) -> str:
        """The offset of a state's first element in an array of tiles."""
        return f"(first + tid) / {WARP} * {count * WARP} + tid % {WARP}"

    def _argument(self, position: int, element: int) -> str:
        step = WARP if self.layout.inputs[position].tiled else 1
        return f"a{position}[{element * step}]"

    def _places(self, result: int) -> list[str]:
        """The places where a result is stored."""
        if self.shape.scratch:
            return [f"o0[{result * self.shape.threads}]"]
        if self.indexed:
            return [f"o0[{result}]"]
        return [
            f"o{k}[{element * WARP if self.layout.outputs[k].tiled else element}]"
            for k, element in self.lowered.places[result]
        ]

    # the last phase

    def _store_lines(self) -> list[str]:
        return [
            line
            for k, count in enumerate(self.outputs)
            if not self.layout.outputs[k].tiled
            for line in self._store_output(k, count)
        ]

    def _store_output(self, k: int, count: int) -> list[str]:
        """Store an output of all states."""
        if self.layout.outputs[k].columns:
            to = f"out{k}[column * states + first + tid]"
            source = self._source_of_column(k)
            return self._over_columns(count, f"if (phase == 0) {to} = {source};")
        if self.shape.scratch:
            return self._strips(k, count)
        if self.indexed:
            return self._store_row_by_row(k, count, self.staging.results[0])
        return self._store_rows(k, count)

    def _source_of_column(self, k: int) -> str:
        """The place of a thread's own element of an output, by column."""
        if self.shape.scratch:
            return f"scratch[index{k}[column] * {self.shape.threads} + tid]"
        if self.indexed:
            start, pitch = self.staging.results[0]
            return f"shared[{start} + tid * {pitch} + index{k}[column]]"
        start, pitch = self.staging.results[k]
        return f"shared[{start} + tid * {pitch} + column]"

    def _store_rows(self, k: int, count: int) -> list[str]:
        start, pitch = self.staging.results[k]
        stride = self.layout.outputs[k].stride or count
        if count and pitch == count == stride:
            to = f"out{k} + first * {count}, shared + {start}, alive * {count}"
            return [f"    copy_rows({to}, tid, {self.shape.threads});"]
        if count >= WARP // 2:
            return self._store_row_by_row(k, count, self.staging.results[k])
        source = f"shared[{start} + row * {pitch} + column]"
        return self._over_rows(count, f"out{k}[(first + row) * {stride} + column] = {source};", 8)

    def _store_row_by_row(self, k: int, count: int, rows: SharedRows) -> list[str]:
        """Each warp writes whole rows, 32 elements at once; it keeps its indices in registers."""
        lines = ["    {", f"    const int lane = tid % {WARP};"]
        for begin in range(0, count, INDEXED_COLUMNS):
            columns = range(begin, min(begin + INDEXED_COLUMNS, count), WARP)
            lines += ["    {", *self._store_columns(k, count, rows, columns), "    }"]
        return [*lines, "    }"]

    def _store_columns(self, k: int, count: int, rows: SharedRows, columns: range) -> list[str]:
        """Some columns of all rows; the last ones may be fewer than a warp has lanes."""
        stride = self.layout.outputs[k].stride or count
        indices, moves = [], []
        for c in columns:
            source, partial = f"index{k}[lane + {c}]", c + WARP > count
            guarded = f"lane < {count - c} ? {source} : 0" if partial else source
            indices.append(f"    const int i{c} = {guarded};")
            guard = f"if (lane < {count - c}) " if partial else ""
            at = f"i{c}" if self.indexed else f"lane + {c}"
            moves.append(f"        {guard}to[{c}] = from[{at}];")
        return [
            *(indices if self.indexed else ()),
            f"    for (int row = tid / {WARP}; row < alive; "
            f"row += {self.shape.threads // WARP}) {{",
            f"        const T *from = shared + {rows.start} + row * {rows.pitch};",
            f"        T *to = out{k} + (first + row) * {stride} + lane;",
            *moves,
            "    }",
        ]

    def _strips(self, k: int, count: int) -> list[str]:
        """Columns from scratch, a strip at a time, through shared memory: even phases read it."""
        threads = self.shape.threads
        stride = self.layout.outputs[k].stride or count
        first = sum(map(_phases_of, self.outputs[:k]))
        return [
            f"    if (phase >= {first} && phase < {first + _phases_of(count)}) {{",
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

    # the kernel, and its replacement on the host

    def _body(self, each: str, barrier: str) -> str:
        """A block's work on its states; `each` runs a phase, `barrier` waits for all threads."""
        phases = sum(map(_phases_of, self.outputs)) if self.shape.scratch else 1
        calls = [
            each.format(self.load.call),
            barrier,
            each.format(f"if (tid < alive) {self.compute.call}"),
            barrier,
            f"for (int phase = 0; phase < {phases}; ++phase) {{",
            each.format(self.store.call),
            barrier,
            "}",
        ]
        return "\n".join(f"        {call}" for call in calls if call)

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
{self._body("{};", "__syncthreads();")}
    }}
}}
#endif
"""

    def _host(self) -> str:
        threads = self.shape.threads
        each = f"for (int tid = 0; tid < {threads}; ++tid) {{{{ {{}}; }}}}"
        elements = max(self.shape.shared // ITEM_BYTES[self.lowered.kind], 1)
        return f"""#ifdef KINETREE_HOST
extern "C" void {self.name}({self._parameters()})
{{
    T *shared = new T[{elements}];
    T *own = new T[{max(self.shape.scratch, 1)}];
    scratch = own;
    for (long long first = 0; first < states; first += {threads}) {{
        const int alive = states - first < {threads} ? (int)(states - first) : {threads};
{self._body(each, "")}
    }}
    delete[] shared;
    delete[] own;
}}
#endif
"""

    def _parameters(self) -> str:
        scalars = f"{SCRATCH.declaration}, {STATES.declaration}"
        return ", ".join([restricted(self.arrays), scalars])


def _phases_of(count: int) -> int:
    """The phases that store so many columns from scratch: two for each strip."""
    return 2 * -(-count // STRIP)
