"""CUDA C++ of a lowered program: one state a thread, arrays of rows through shared memory.

A block of threads works on as many states. It has three phases, with a barrier between them: it
loads the states' rows into shared memory with coalesced reads, each thread computes on its own
rows, and the results are stored with coalesced writes. Rows in shared memory have an odd number of
elements, so that threads side by side never meet in one bank.

Results that are too many for shared memory go to a scratch area in global memory, one column after
the other, which the last phase transposes.

The phases are functions of a thread's number. Compiled for the host (KINETREE_HOST), a loop over
the threads of each phase stands in for the barrier: so the text is tested where there is no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.emit.c import TEMPLATES, TRUTHS, identifier
from kinetree.graph.lower import RESULT, Compute, Instruction, Load, Lowered, Operand, Style
from kinetree.graph.program import size

GOOD_BYTES = 100 * 1024
"""Shared memory of a block that leaves room for a second one on a multiprocessor."""
MOST_BYTES = 227 * 1024
"""All of it that a block can have, on compute capability 9.0."""
STRIP = 32
"""Columns that the last phase transposes at once."""


def style(kind: str) -> Style:
    """How programs are lowered: as one step, whose order keeps few values alive.

    The compiler fuses products and sums itself, and knows sines and cosines.
    """
    return Style(kind, chunk=1 << 30, narrow=True)


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


def launch_shape(lowered: Lowered) -> Shape:
    """As many threads as shared memory allows."""
    item = 4 if lowered.kind == "float" else 8
    inputs = sum(_padded(size(i.shape)) for i in lowered.inputs)
    row = inputs + _padded(lowered.results)
    for threads in (128, 64, 32):
        if threads * row * item <= (GOOD_BYTES if threads > 32 else MOST_BYTES):
            return Shape(threads, threads * row * item, 0)
    threads = 128 if 128 * inputs * item <= GOOD_BYTES else 32
    strip = STRIP * (threads + 1)
    return Shape(threads, max(threads * inputs, strip) * item, threads * lowered.results)


def _padded(count: int) -> int:
    return count | 1


def emit_cuda(lowered: Lowered, name: str) -> str:
    """The text of a kernel.

    Its parameters are, for each argument and each result, a pointer and the elements from one
    state's row to the next; the scratch; and the number of states.
    """
    return _Printer(lowered, identifier(name), launch_shape(lowered)).text()


HEAD = """typedef {kind} T;
#ifdef KINETREE_HOST
#include <math.h>
#define DEVICE static
#define CONSTANT static const
#else
#define DEVICE static __device__ __forceinline__
#define CONSTANT static __device__ const
#endif
"""


class _Printer:
    def __init__(self, lowered: Lowered, name: str, shape: Shape) -> None:
        self.lowered, self.name, self.shape = lowered, name, shape
        self.f = "f" if lowered.kind == "float" else ""
        self.inputs = [size(i.shape) for i in lowered.inputs]
        self.outputs = [size(o.shape) for o in lowered.outputs]
        self.row = _padded(lowered.results)
        starts = [0]
        for count in self.inputs:
            starts.append(starts[-1] + shape.threads * _padded(count))
        self.starts = starts

    def text(self) -> str:
        parts = [HEAD.format(kind=self.lowered.kind), self._index()]
        parts += [self._load(), self._compute(), self._store(), self._kernel(), self._host()]
        return "\n".join(parts)

    # parameters

    def _in(self) -> str:
        return "".join(f", const T *in{k}, long long step{k}" for k in range(len(self.inputs)))

    def _out(self) -> str:
        return "".join(f", T *out{k}, long long pitch{k}" for k in range(len(self.outputs)))

    def _names(self, declared: str) -> str:
        return "".join(f", {word.split()[-1].lstrip('*')}" for word in declared.split(",")[1:])

    # phases

    def _index(self) -> str:
        """Which result each element of an output is, where that is not its own number."""
        tables = []
        first = 0
        for k, elements in enumerate(self.lowered.elements):
            if tuple(elements) != tuple(range(first, first + len(elements))):
                values = ", ".join(map(str, elements))
                tables.append(f"CONSTANT unsigned short index{k}[{len(elements)}] = {{{values}}};")
            first += len(elements)
        return "\n".join(tables)

    def _result(self, k: int, column: str) -> str:
        """The number of the result that an element of output k is."""
        elements = self.lowered.elements[k]
        start = sum(self.outputs[:k])
        if tuple(elements) == tuple(range(start, start + len(elements))):
            return f"{start} + {column}" if start else column
        return f"index{k}[{column}]"

    def _load(self) -> str:
        own = f"int tid, long long first, int alive, T *shared{self._in()}"
        lines = [f"DEVICE void {self.name}_load({own})", "{"]
        for k, count in enumerate(self.inputs):
            at = f"shared[{self.starts[k]} + row * {_padded(count)} + column]"
            lines += self._over_rows(count, f"{at} = in{k}[(first + row) * step{k} + column];")
        return "\n".join([*lines, "}\n"])

    def _over_rows(self, count: int, statement: str) -> list[str]:
        """A loop of all threads over the rows of their states, neighbours side by side."""
        if not count:
            return []
        return [
            f"    for (int i = tid; i < alive * {count}; i += {self.shape.threads}) {{",
            f"        const int row = i / {count}, column = i % {count};",
            f"        {statement}",
            "    }",
        ]

    def _compute(self) -> str:
        head = f"DEVICE void {self.name}_compute(int tid, T *shared, T *scratch)"
        pointers = [
            f"    const T *a{k} = shared + {self.starts[k]} + tid * {_padded(count)};"
            for k, count in enumerate(self.inputs)
            if count
        ]
        if self.shape.scratch:
            pointers.append("    T *r_ = scratch + tid;")
        else:
            pointers.append(f"    T *r_ = shared + {self.starts[-1]} + tid * {self.row};")
        body = []
        for step in self.lowered.steps:
            body += ["    {", *(f"    {self._statement(x)};" for x in step.code), "    }"]
        numbers = [
            f"    {self._place(result)} = {self._number(value)};"
            for result, value in self.lowered.constants
        ]
        return "\n".join([head, "{", *pointers, *body, *numbers, "}\n"])

    def _place(self, result: int) -> str:
        step = self.shape.threads if self.shape.scratch else 1
        return f"r_[{result * step}]"

    def _statement(self, instruction: Instruction) -> str:
        if isinstance(instruction, Load):
            place = instruction.place
            at = self._place(place.element) if place.area == RESULT else None
            value = at or f"a{place.area}[{place.element}]"
            return f"const T r{instruction.register} = {value}"
        if isinstance(instruction, Compute):
            kind = "bool" if instruction.op in TRUTHS else "T"
            args = map(self._operand, instruction.args)
            value = TEMPLATES[instruction.op].format(*args, f=self.f)
            return f"const {kind} r{instruction.register} = {value}"
        return f"{self._place(instruction.place.element)} = {self._operand(instruction.value)}"

    def _operand(self, operand: Operand) -> str:
        return f"r{operand}" if isinstance(operand, int) else self._number(operand)

    def _number(self, value: float) -> str:
        text = f"{value!r}{self.f}"
        return f"({text})" if value < 0.0 else text

    def _store(self) -> str:
        declared = self._out()
        head = (
            f"DEVICE void {self.name}_store(int tid, long long first, int alive, T *shared, "
            f"T *scratch, int phase{declared})"
        )
        lines = [head, "{"]
        for k, count in enumerate(self.outputs):
            target = f"out{k}[(first + row) * pitch{k} + column]"
            if not self.shape.scratch:
                result = self._result(k, "column")
                source = f"shared[{self.starts[-1]} + row * {self.row} + {result}]"
                lines += self._over_rows(count, f"{target} = {source};")
            else:
                lines += self._strips(k, count)
        return "\n".join([*lines, "}\n"])

    def _strips(self, k: int, count: int) -> list[str]:
        """Columns from scratch, a strip at a time, through shared memory: even phases read it."""
        threads = self.shape.threads
        strips = -(-count // STRIP)
        first = 2 * sum(-(-n // STRIP) for n in self.outputs[:k])
        result = self._result(k, "column")
        return [
            f"    if (phase >= {first} && phase < {first + 2 * strips}) {{",
            f"        const int start = (phase - {first}) / 2 * {STRIP};",
            f"        const int width = start + {STRIP} < {count} ? {STRIP} : {count} - start;",
            f"        for (int i = tid; i < {threads} * width; i += {threads}) {{",
            "            if (phase % 2 == 0) {",
            f"                const int row = i % {threads}, column = start + i / {threads};",
            f"                shared[(i / {threads}) * {threads + 1} + row] = "
            f"scratch[({result}) * {threads} + row];",
            "            } else {",
            "                const int row = i / width, column = start + i % width;",
            f"                if (row < alive) out{k}[(first + row) * pitch{k} + column] = "
            f"shared[(i % width) * {threads + 1} + row];",
            "            }",
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
            each.format(f"{self.name}_load(tid, first, alive, shared{ins})"),
            barrier,
            each.format(f"if (tid < alive) {self.name}_compute(tid, shared, scratch)"),
            barrier,
            f"for (int phase = 0; phase < {self._phases}; ++phase) {{",
            each.format(f"{self.name}_store(tid, first, alive, shared, scratch, phase{outs})"),
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
        operands = (self._in() + self._out()).removeprefix(", ")
        return f"{operands}, T *scratch, long long states"
