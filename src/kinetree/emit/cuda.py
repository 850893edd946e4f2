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
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.emit.c import TEMPLATES, TRUTHS, identifier
from kinetree.emit.sine import COS, HALF_PI, SIN, SINE_LIMIT
from kinetree.graph.lower import RESULT, Compute, Instruction, Load, Lowered, Operand, Style
from kinetree.graph.program import size

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
    """

    stride: int | None = None
    tiled: bool = False


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
    resident = {t: MOST_BYTES // (t * row * item + RESERVED) * t for t in (128, 64, 32)}
    threads = max(resident, key=lambda t: min(resident[t], ENOUGH))
    if resident[threads]:
        return Shape(threads, threads * row * item, 0)
    threads = 128 if 128 * inputs * item <= GOOD_BYTES else 32
    strip = STRIP * (threads + 1)
    return Shape(threads, max(threads * inputs, strip) * item, threads * lowered.results)


def _input_pitches(lowered: Lowered, layout: Layout) -> int:
    """The elements of one state's arguments in shared memory."""
    pairs = zip(lowered.inputs, layout.inputs, strict=True)
    return sum(_pitch(size(i.shape)) for i, rows in pairs if not rows.tiled)


def _staged(lowered: Lowered, layout: Layout) -> list[int]:
    """The length of each row of results in shared memory: the distinct ones, or each output's.

    Rows as they are in the outputs are copied faster. They are taken if that costs no threads.
    """
    item = 4 if lowered.kind == "float" else 8
    outputs = [
        0 if rows.tiled else _pitch(size(o.shape))
        for o, rows in zip(lowered.outputs, layout.outputs, strict=True)
    ]
    room = 128 * (_input_pitches(lowered, layout) + sum(outputs)) * item <= GOOD_BYTES
    if room or any(rows.tiled for rows in layout.outputs):
        return outputs
    shared = _pitch(lowered.results)
    return [shared] if shared * WORTH <= sum(outputs) else outputs


def _pitch(count: int) -> int:
    """The elements from one row to the next in shared memory."""
    return count if math.gcd(count, 32) <= CONFLICTS else count | 1


def _aligned(count: int) -> int:
    """Rounded up to vectors of 16 bytes."""
    return -(-count // 4) * 4


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


HEAD = """typedef {kind} T;
#ifdef KINETREE_HOST
#include <math.h>
#define DEVICE static
#define CONSTANT static const
#define WIDE 0
#define UNROLL(n)
#else
#define DEVICE static __device__ __forceinline__
#define CONSTANT static __device__ const
#define WIDE 1
#define PRAGMA(text) _Pragma(#text)
#define UNROLL(n) PRAGMA(unroll n)
#endif

/* Copy rows that lie one behind the other, all threads side by side. */
DEVICE void copy_rows(T *to, const T *from, int count, int tid, int threads)
{{
#if WIDE
    const int wide = 16 / sizeof(T);
    if (count % wide == 0 && reinterpret_cast<unsigned long long>(from) % 16 == 0
        && reinterpret_cast<unsigned long long>(to) % 16 == 0) {{
        const int4 *source = reinterpret_cast<const int4 *>(from);
        int4 *target = reinterpret_cast<int4 *>(to);
        for (int i = tid; i < count / wide; i += threads) target[i] = source[i];
        return;
    }}
#endif
    for (int i = tid; i < count; i += threads) to[i] = from[i];
}}
"""
FLOAT_SINES = """
/* Sine and cosine: the angle less multiples of pi/2, in double precision, then polynomials. */
DEVICE void both(float x, float *s, float *c)
{
#ifdef KINETREE_HOST
    *s = sinf(x); *c = cosf(x);
#else
    const double k = rint((double)x * 0.63661977236758138);
    const float r = (float)fma(k, -1.5707963267948966, (double)x);
    const int q = (int)__double2ll_rn(k);
    const float z = r * r;
    float a = fmaf(2.86567956e-6f, z, -1.98559923e-4f);
    a = fmaf(a, z, 8.33338592e-3f);
    a = fmaf(a, z, -1.66666672e-1f);
    a = fmaf(a * z, r, r);
    float b = fmaf(2.44677067e-5f, z, -1.38877297e-3f);
    b = fmaf(b, z, 4.16666567e-2f);
    b = fmaf(b, z, -0.5f);
    b = fmaf(b, z, 1.0f);
    const float sine = q & 1 ? b : a, cosine = q & 1 ? a : b;
    *s = q & 2 ? -sine : sine;
    *c = (q + 1) & 2 ? -cosine : cosine;
#endif
}
"""
"""Right for angles up to 1e9: the product of k and the error of pi/2 stays below half an ulp."""


def _double_sines() -> str:
    """The same with the polynomials of the CPU; beyond their range the library takes over."""

    def horner(name: str, coefficients: Sequence[float]) -> str:
        lines = [f"    double {name} = {coefficients[-1]!r};"]
        lines += [f"    {name} = fma({name}, z, {c!r});" for c in reversed(coefficients[:-1])]
        return "\n".join(lines)

    first, second, third, _ = map(repr, HALF_PI)
    return f"""
#ifndef KINETREE_HOST
static __device__ __noinline__ double2 far_away(double x)
{{
    double2 y;
    sincos(x, &y.x, &y.y);
    return y;
}}
#endif
/* Sine and cosine: the angle less multiples of pi/2 in three parts, then polynomials. */
DEVICE void both(double x, double *s, double *c)
{{
#ifdef KINETREE_HOST
    *s = sin(x); *c = cos(x);
#else
    const double k = rint(x * {2.0 / math.pi!r});
    const double t = fma(k, -{first}, x), u = fma(k, -{second}, t);
    const double r = fma(k, -{third}, u);
    const int q = (int)k;
    const double z = r * r;
{horner("p", SIN["double"])}
{horner("o", COS["double"])}
    const double a = fma(z * r, p, r), b = fma(z * z, o, fma(z, -0.5, 1.0));
    const double sine = q & 1 ? b : a, cosine = q & 1 ? a : b;
    double2 y = {{q & 2 ? -sine : sine, (q + 1) & 2 ? -cosine : cosine}};
    if (!(fabs(x) <= {SINE_LIMIT!r})) y = far_away(x);
    *s = y.x;
    *c = y.y;
#endif
}}
"""


SINCOS = {"float": FLOAT_SINES, "double": _double_sines()}
"""A function for both at once: most angles need both."""


class _Printer:
    def __init__(
        self, lowered: Lowered, name: str, shared: Collection[int], layout: Layout
    ) -> None:
        self.lowered, self.name, self.shared, self.layout = lowered, name, shared, layout
        self.shape = shape = launch_shape(lowered, layout)
        self.f = "f" if lowered.kind == "float" else ""
        self.inputs = [size(i.shape) for i in lowered.inputs]
        self.outputs = [size(o.shape) for o in lowered.outputs]
        self.tiled_outputs = any(rows.tiled for rows in layout.outputs)
        self.staged = _staged(lowered, layout)
        self.indexed = not self.tiled_outputs and (
            len(self.staged) < len(self.outputs)
            or (len(self.outputs) == 1 and self.staged[0] != _pitch(self.outputs[0]))
        )
        inputs = zip(self.inputs, layout.inputs, strict=True)
        rows = [*(0 if i.tiled else _pitch(n) for n, i in inputs), *self.staged]
        self.starts = [0]
        for row in rows:
            self.starts.append(self.starts[-1] + shape.threads * row)
        self.known: dict[str, str] = {}

    def text(self) -> str:
        parts = [HEAD.format(kind=self.lowered.kind), SINCOS[self.lowered.kind], self._index()]
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
        own = f"int tid, long long first, int alive, T *shared{self._in()}"
        lines = [f"DEVICE void {self.name}_load({own})", "{"]
        for k, count in enumerate(self.inputs):
            start, pitch, threads = self.starts[k], _pitch(count), self.shape.threads
            stride = self.layout.inputs[k].stride or count
            if not count or self.layout.inputs[k].tiled:
                continue
            to = f"shared[{start} + row * {pitch} + column]"
            if k in self.shared:
                lines += self._over_rows(count, f"{to} = in{k}[column];")
            elif pitch == count == stride:
                from_ = f"in{k} + first * {count}, alive * {count}"
                lines.append(f"    copy_rows(shared + {start}, {from_}, tid, {threads});")
            else:
                lines += self._over_rows(count, f"{to} = in{k}[(first + row) * {stride} + column];")
        return "\n".join([*lines, "}\n"])

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

    def _compute(self) -> str:
        head = (
            f"DEVICE void {self.name}_compute(int tid, long long first, T *shared, T *scratch"
            f"{self._in()}{self._out()})"
        )
        pointers = [
            f"    const T *a{k} = in{k} + {self._tile(count)};"
            if self.layout.inputs[k].tiled
            else f"    const T *a{k} = shared + {self.starts[k]} + tid * {_pitch(count)};"
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
        body: list[str] = []
        for step in self.lowered.steps:
            self.known = {}
            body += [
                "    {",
                *(f"    {line};" for x in step.code for line in self._lines(x)),
                "    }",
            ]
        numbers = [
            f"    {place} = {self._number(value)};"
            for result, value in self.lowered.constants
            for place in self._places(result)
        ]
        return "\n".join([head, "{", *pointers, *body, *numbers, "}\n"])

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

    def _lines(self, instruction: Instruction) -> list[str]:
        if isinstance(instruction, Load):
            place = instruction.place
            if place.area == RESULT:
                value = self._places(place.element)[0]
            else:
                step = WARP if self.layout.inputs[place.area].tiled else 1
                value = f"a{place.area}[{place.element * step}]"
            return [f"const T r{instruction.register} = {value}"]
        if isinstance(instruction, Compute):
            args = [self._operand(x) for x in instruction.args]
            if instruction.op in ("sin", "cos"):
                return self._sine(instruction, args[0])
            kind = "bool" if instruction.op in TRUTHS else "T"
            value = TEMPLATES[instruction.op].format(*args, f=self.f)
            return [f"const {kind} r{instruction.register} = {value}"]
        value = self._operand(instruction.value)
        return [f"{place} = {value}" for place in self._places(instruction.place.element)]

    def _sine(self, instruction: Compute, x: str) -> list[str]:
        """The sine or the cosine of an angle; the other is computed with the first one."""
        lines = []
        if x not in self.known:
            name = self.known[x] = f"{len(self.known)}"
            lines = [f"T s_{name}, c_{name}", f"both({x}, &s_{name}, &c_{name})"]
        which = "s" if instruction.op == "sin" else "c"
        return [*lines, f"const T r{instruction.register} = {which}_{self.known[x]}"]

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
            if self.layout.outputs[k].tiled:
                continue
            if self.shape.scratch:
                lines += self._strips(k, count)
            elif self.indexed:
                lines += self._store_row_by_row(k, count, self.starts[-2], self.staged[0])
            else:
                lines += self._store_rows(k, count)
        return "\n".join([*lines, "}\n"])

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
            each.format(f"{self.name}_load(tid, first, alive, shared{ins})"),
            barrier,
            each.format(
                f"if (tid < alive) {self.name}_compute(tid, first, shared, scratch{ins}{outs})"
            ),
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
