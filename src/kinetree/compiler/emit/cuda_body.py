"""The body of a program as CUDA C++, and the helpers in front of it, which all kernels share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from kinetree.compiler.emit.c import TEMPLATES, TRUTHS
from kinetree.compiler.emit.cuda_functions import Parameter
from kinetree.compiler.emit.cuda_units import ROUTINE, Routine, declaration, pieces, units
from kinetree.compiler.emit.sine import COS, HALF_PI, SIN, SINE_LIMIT
from kinetree.compiler.graph.lowered import (
    RECORD,
    RESULT,
    SCRATCH,
    Compute,
    Guard,
    Instruction,
    Load,
    Lowered,
    Operand,
    Place,
    Step,
)

HEAD = """typedef {kind} T;
#ifdef KINETREE_HOST
#include <math.h>
#define DEVICE static
#define CONSTANT static const
#define RESTRICT
#define WIDE 0
#define UNROLL(n)
#define ARRIVED
#define LATER(to, from) to = from
#define FIXED(number) number
#else
#define FIXED(number) __ldg(&(number))
#define DEVICE static __device__ __forceinline__
#define CONSTANT static __device__ const
#define RESTRICT __restrict__
#define WIDE 1
#define PRAGMA(text) _Pragma(#text)
#define UNROLL(n) PRAGMA(unroll n)
#if __CUDA_ARCH__ >= 800
#define ARRIVED asm volatile("cp.async.wait_all;" ::: "memory");
#define LATER(to, from) later<sizeof(T)>(&(to), &(from))
/* Copy to shared memory without waiting: ARRIVED waits for all copies of a thread. */
template <int bytes> DEVICE void later(void *to, const void *from)
{{
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from),
                     "n"(bytes));
}}
#else
#define ARRIVED
#define LATER(to, from) to = from
template <int bytes> DEVICE void later(void *to, const void *from)
{{
    *static_cast<int4 *>(to) = *static_cast<const int4 *>(from);
}}
#endif
#endif

/* Load rows that lie one behind the other into shared memory, all threads side by side. */
DEVICE void load_rows(T *to, const T *from, int count, int tid, int threads)
{{
#if WIDE
    const int wide = 16 / sizeof(T);
    if (count % wide == 0 && reinterpret_cast<unsigned long long>(from) % 16 == 0
        && reinterpret_cast<unsigned long long>(to) % 16 == 0) {{
        for (int i = tid; i < count / wide; i += threads) later<16>(to + i * wide, from + i * wide);
        return;
    }}
#endif
    for (int i = tid; i < count; i += threads) LATER(to[i], from[i]);
}}

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
#ifndef KINETREE_HOST
static __device__ __noinline__ float2 far_away(float x)
{
    float2 y;
    sincosf(x, &y.x, &y.y);
    return y;
}
#endif
/* Sine and cosine: the angle less multiples of pi/2 in three parts, then polynomials. */
DEVICE void both(float x, float *s, float *c)
{
#ifdef KINETREE_HOST
    *s = sinf(x); *c = cosf(x);
#else
    const float t = fmaf(x, 0.636619747f, 12582912.0f), k = t - 12582912.0f;
    const int q = __float_as_int(t);
    float r = fmaf(k, -1.57079637e+0f, x);
    r = fmaf(k, 4.37113883e-8f, r);
    r = fmaf(k, 1.7151245e-15f, r);
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
    float2 y = {q & 2 ? -sine : sine, (q + 1) & 2 ? -cosine : cosine};
    if (!(fabsf(x) <= 1e5f)) y = far_away(x);
    *s = y.x;
    *c = y.y;
#endif
}
"""


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


OWN = Parameter("T *", "s")
MEMORY = OWN, Parameter("const int *", "row")
"""A thread's local memory, and the offsets in it of the values that a call passes."""


def head(kind: str) -> str:
    """The definitions that every kernel begins with."""
    return HEAD.format(kind=kind) + SINCOS[kind]


class Body:
    """Prints the body of a program.

    Arguments:
        name: the prefix of its routines' names.
        argument: gives an element of an argument, by the argument's position.
        places: gives the places where a result is stored.
        pointers: those that `argument` and `places` name.
    """

    def __init__(
        self,
        lowered: Lowered,
        name: str,
        argument: Callable[[int, int], str],
        places: Callable[[int], Sequence[str]],
        pointers: Sequence[Parameter],
    ) -> None:
        self.lowered, self.name, self.argument, self.places = lowered, name, argument, places
        self.pointers = pointers
        self.f = "f" if lowered.kind == "float" else ""
        self.angles: dict[str, str] = {}

    def lines(self) -> list[str]:
        """The statements of all steps."""
        slots = max(self.lowered.scratch, 1 if self.lowered.functions else 0)
        scratch = [f"    T s[{slots}];"] if slots else []
        numbers = [
            f"    {place} = {self._number(value)};"
            for result, value in self.lowered.constants
            for place in self.places(result)
        ]
        return [*scratch, *self._all_steps(), *numbers]

    def _all_steps(self) -> list[str]:
        """The statements of all steps; of a program with guarded calls, calls of its pieces."""
        steps = self.lowered.steps
        if not self.lowered.functions:
            return self._steps(steps, "step")
        return self._calls(f"{self.name}_step", steps, [*self.pointers, OWN])

    def _calls(
        self, name: str, steps: Sequence[Step], parameters: Sequence[Parameter]
    ) -> list[str]:
        """Calls of the pieces of a function."""
        operands = ", ".join(x.name for x in parameters)
        return [f"    {name}{piece.suffix}({operands});" for piece in pieces(steps)]

    def routines(self) -> str:
        """The functions of a program with guarded calls, and the tables that calls pass to them.

        Their pointers are not declared `__restrict__`: that doubles the time of `ptxas`, and the
        code is no faster.
        """
        if not self.lowered.functions:
            return ""
        owners = [("step", self.lowered.steps)]
        owners += [(f"f{i}", function.steps) for i, function in enumerate(self.lowered.functions)]
        tables = [
            f"CONSTANT int {self.name}_{owner}_{k}[] = {{{', '.join(map(str, step.guard.row))}}};"
            for owner, steps in owners
            for k, step in enumerate(steps)
            if step.guard is not None and step.guard.row
        ]
        shared_out = units(self.lowered)
        heads = [f"{self._head(x)};" for unit in shared_out for x in unit]
        texts = [
            line
            for k, unit in enumerate(shared_out)
            for line in (
                f"#if KINETREE_UNIT < 0 || KINETREE_UNIT == {k + 1}",
                *(self._routine(x) for x in unit),
                "#endif",
            )
        ]
        return "\n".join([ROUTINE, *tables, *heads, *texts, ""])

    def _head(self, routine: Routine) -> str:
        return declaration(f"{self.name}_{routine.name}", self._parameters(routine))

    def _parameters(self, routine: Routine) -> list[Parameter]:
        return [*self.pointers, OWN] if routine.owner is None else [*self.pointers, *MEMORY]

    def _routine(self, routine: Routine) -> str:
        owner = routine.owner
        steps = self.lowered.steps if owner is None else self.lowered.functions[owner].steps
        if routine.piece is None:
            name = f"{self.name}_{routine.name}"
            lines = self._calls(name, steps, self._parameters(routine))
        else:
            lines = self._steps(
                steps, "step" if owner is None else f"f{owner}", routine.piece.steps
            )
        return "\n".join([self._head(routine), "{", *lines, "}"])

    def _steps(
        self, steps: Sequence[Step], owner: str, chosen: Iterable[int] | None = None
    ) -> list[str]:
        """The statements of the chosen steps, by default of all."""
        body: list[str] = []
        for k in range(len(steps)) if chosen is None else chosen:
            step = steps[k]
            self.angles = {}
            code = [f"    {line};" for x in step.code for line in self._lines(x)]
            call = [] if step.guard is None else [self._guarded(step.guard, f"{owner}_{k}")]
            body += ["    {", *code, *call, "    }"]
        return body

    def _guarded(self, guard: Guard, table: str) -> str:
        """A call that is made if the condition holds."""
        row = f"{self.name}_{table}" if guard.row else "(const int *)0"
        operands = ", ".join([*(x.name for x in self.pointers), "s", row])
        return f"    if (r{guard.condition}) {self.name}_f{guard.function}({operands});"

    def _at(self, place: Place) -> list[str]:
        """The memory that a place stands for."""
        if place.area == SCRATCH:
            return [f"s[{place.element}]"]
        if place.area <= RECORD:
            return [f"s[FIXED(row[{RECORD - place.area}])]"]
        if place.area == RESULT:
            return list(self.places(place.element))
        return [self.argument(place.area, place.element)]

    def _lines(self, instruction: Instruction) -> list[str]:
        if isinstance(instruction, Load):
            return [f"const T r{instruction.register} = {self._at(instruction.place)[0]}"]
        if isinstance(instruction, Compute):
            args = [self._operand(x) for x in instruction.args]
            if instruction.op in ("sin", "cos"):
                return self._sine(instruction, args[0])
            kind = "bool" if instruction.op in TRUTHS else "T"
            value = TEMPLATES[instruction.op].format(*args, f=self.f)
            return [f"const {kind} r{instruction.register} = {value}"]
        value = self._operand(instruction.value)
        return [f"{place} = {value}" for place in self._at(instruction.place)]

    def _sine(self, instruction: Compute, x: str) -> list[str]:
        """The sine or the cosine of an angle; the other is computed with the first one."""
        lines = []
        if x not in self.angles:
            name = self.angles[x] = f"{len(self.angles)}"
            lines = [f"T s_{name}, c_{name}", f"both({x}, &s_{name}, &c_{name})"]
        which = "s" if instruction.op == "sin" else "c"
        return [*lines, f"const T r{instruction.register} = {which}_{self.angles[x]}"]

    def _operand(self, operand: Operand) -> str:
        return f"r{operand}" if isinstance(operand, int) else self._number(operand)

    def _number(self, value: float) -> str:
        text = f"{value!r}{self.f}"
        return f"({text})" if value < 0.0 else text
