"""C99 of a lowered program: one function, with static functions for its steps.

The text allocates nothing, has no globals and needs nothing but `math.h`. Scratch memory is an
array on the stack of the function; the header says how many numbers it holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from kinetree.compiler.emit.c_names import identifier
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
    Style,
)
from kinetree.compiler.graph.program import Input, Output
from kinetree.scalar import FUNCTIONS, OPERATIONS

TEMPLATES = {
    "neg": "-{0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "sqrt": "sqrt{f}({0})",
    "fma": "fma{f}({0}, {1}, {2})",
    "fms": "fma{f}({0}, {1}, -{2})",
    "fnma": "fma{f}(-{0}, {1}, {2})",
    "fnms": "fma{f}(-{0}, {1}, -{2})",
    "abs": "fabs{f}({0})",
    "min": "{1} < {0} ? {1} : {0}",
    "max": "{0} < {1} ? {1} : {0}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "logical_and": "{0} && {1}",
    "logical_or": "{0} || {1}",
    "logical_not": "!{0}",
    "select": "{0} ? {1} : {2}",
}
TEMPLATES |= {
    name: f"{name}{{f}}({', '.join(f'{{{i}}}' for i in range(len(OPERATIONS[name].arguments)))})"
    for name in FUNCTIONS
}
"""Operation -> its expression; {f} is f in the names of functions for floats. A function has the
name that the C library gives it."""
TRUTHS = frozenset({"less", "less_equal", "logical_and", "logical_or", "logical_not"})
"""Operations that give an int."""
ROW = ("const int *restrict row",)
"""The last parameter of a function that guarded calls run: where values are that they pass."""
LINE = 100
"""Characters of a line of the prototype."""
CHUNK = 400
"""Operations of a step: compilers take more than twice the time for twice the length."""
APART = """/* Steps stay functions of their own: one long function would take minutes to compile. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif
"""


def style(kind: str) -> Style:
    """How programs are lowered for C.

    Functions are computed for many arguments at once, so that compilers can vectorise them.
    Products and sums are left for compilers to fuse.
    """
    return Style(kind, routines=True, chunk=CHUNK)


def header(lowered: Lowered, name: str, comment: str, notes: Mapping[str, str]) -> str:
    """The header: the prototype, and what each argument and result holds.

    Arguments:
        name: of the function.
        comment: what it computes.
        notes: for arguments and results, what they hold, in which order and unit.
    """
    printer = _Printer(lowered, name)
    inputs = len(lowered.inputs)
    lines = [comment, ""]
    for k, operand in enumerate(_operands(lowered)):
        axes = "".join(f"[{n}]" for n in operand.shape) or "[1]"
        note = notes.get(operand.name, operand.name).replace("\n", "\n      ")
        lines.append(f"{'in ' if k < inputs else 'out'} {printer.names[k]}{axes}: {note}")
    lines += ["", "Matrices are stored row by row. No two arrays may overlap."]
    text = "\n".join(f" * {line}".rstrip() for line in "\n".join(lines).split("\n"))
    text = text.replace("*/", "* /").replace("/*", "/ *")  # names of joints may hold anything
    return f"""#ifndef {name.upper()}_H
#define {name.upper()}_H

#ifdef __cplusplus
extern "C" {{
#endif

/*
{text}
 */
{_prototype(name, printer.parameters(range(len(printer.names))))};

/* How many numbers of scratch memory the function keeps on the stack. */
#define {name.upper()}_SCRATCH {lowered.scratch}

#ifdef __cplusplus
}}
#endif

#endif
"""


def _prototype(name: str, parameters: str) -> str:
    """The declaration of a function, one parameter a line if they do not fit on one."""
    line = f"void {name}({parameters})"
    return line if len(line) < LINE else line.replace("(", "(\n    ").replace(", ", ",\n    ")


def source(lowered: Lowered, name: str) -> str:
    """The source of the function; every name in it begins with the function's."""
    printer = _Printer(lowered, name)
    operands = range(len(printer.names))
    every = [*lowered.steps, *(step for f in lowered.functions for step in f.steps)]
    routines = {step.call.routine for step in every if step.call}
    scratch = [f"    {printer.type} s[{lowered.scratch}];"] if lowered.scratch else []
    return "\n".join(
        [
            f'#include <math.h>\n\n#include "{name}.h"\n',
            APART,
            *(routine_text(routine, lowered.kind, name) for routine in sorted(routines)),
            *printer.functions(),
            *(printer.step(f"step_{k}", step) for k, step in enumerate(lowered.steps)),
            f"void {name}({printer.parameters(operands, 'restrict ')})\n{{",
            *scratch,
            *(f"    (void){printer.names[k]};" for k in operands),  # some may go unused
            *printer.constants(),
            *(f"    {printer.call(f'step_{k}', step)};" for k, step in enumerate(lowered.steps)),
            "}\n",
        ]
    )


def _operands(lowered: Lowered) -> list[Input | Output]:
    return [*lowered.inputs, *lowered.outputs]


class _Printer:
    """Prints the parts of a function.

    names: of the operands, arguments first. An *area* is the position of one, or SCRATCH.
    """

    def __init__(self, lowered: Lowered, function: str) -> None:
        self.lowered, self.type, self.function = lowered, lowered.kind, function
        self.f = "f" if lowered.kind == "float" else ""
        self.areas: dict[int, frozenset[int]] = {}
        self.names: list[str] = []
        for operand in _operands(lowered):
            name = identifier(operand.name)
            while name in (*self.names, "s"):
                name += "_out"
            self.names.append(name)

    def parameters(self, areas: Iterable[int], qualifier: str = "") -> str:
        """The parameters of a function for the areas that it uses; arguments are constant."""
        constant = range(len(self.lowered.inputs))
        return ", ".join(
            f"{'const ' if k in constant else ''}{self.type} *{qualifier}{self._name(k)}"
            for k in areas
        )

    def functions(self) -> list[str]:
        """The functions that guarded calls run, those first that others call."""
        return [
            self.step(f"function_{i}_{k}", step, ROW)
            for i, function in reversed([*enumerate(self.lowered.functions)])
            for k, step in enumerate(function.steps)
        ]

    def step(self, name: str, step: Step, more: Sequence[str] = ()) -> str:
        """The function of a step.

        Arguments:
            more: its last parameters.
        """
        parameters = ", ".join(
            [*filter(None, [self.parameters(self._areas(step), "restrict ")]), *more]
        )
        head = f"APART static void {self.function}_{name}({parameters})"
        lines = ["    (void)row;"] * bool(more)
        lines += [f"    {self._statement(x)};" for x in step.code]
        if step.call is not None:
            c = step.call
            operands = f"&s[{c.arguments}], &s[{c.results}], {c.length}"
            lines.append(f"    {self.function}_{c.routine}({operands});")
        if step.guard is not None:
            lines += self._guarded(step.guard)
        return "\n".join([head, "{", *lines, "}\n"])

    def call(self, name: str, step: Step, *more: str) -> str:
        """The call of a step's function."""
        operands = [*map(self._name, self._areas(step)), *more]
        return f"{self.function}_{name}({', '.join(operands)})"

    def _guarded(self, guard: Guard) -> list[str]:
        """A call that is made if the condition holds."""
        places = ", ".join(map(str, guard.row)) or "0"
        steps = self.lowered.functions[guard.function].steps
        return [
            f"    if (r{guard.condition}) {{",
            f"        static const int passed[] = {{{places}}};",
            *(
                f"        {self.call(f'function_{guard.function}_{k}', step, 'passed')};"
                for k, step in enumerate(steps)
            ),
            "    }",
        ]

    def constants(self) -> list[str]:
        """The statements that store results that are the same for every state."""
        return [
            f"    {self._at(area, element)} = {self._number(value)};"
            for result, value in self.lowered.constants
            for area, element in self._places(Place(RESULT, result))
        ]

    def _statement(self, instruction: Instruction) -> str:
        if isinstance(instruction, Load):
            value = self._at(*self._places(instruction.place)[0])
            return f"const {self.type} r{instruction.register} = {value}"
        if isinstance(instruction, Compute):
            kind = "int" if instruction.op in TRUTHS else self.type
            args = map(self._operand, instruction.args)
            value = TEMPLATES[instruction.op].format(*args, f=self.f)
            return f"const {kind} r{instruction.register} = {value}"
        places = self._places(instruction.place)
        return " = ".join([*(self._at(*x) for x in places), self._operand(instruction.value)])

    def _areas(self, step: Step) -> list[int]:
        """The areas that a step uses, in order."""
        used = {
            area
            for x in step.code
            if not isinstance(x, Compute)
            for area, _ in self._places(x.place)[: 1 if isinstance(x, Load) else None]
        }
        used = {SCRATCH if area <= RECORD else area for area in used}
        if step.guard is not None:
            used |= self._areas_of(step.guard.function)
        return sorted(used | ({SCRATCH} if step.call else set()))

    def _areas_of(self, function: int) -> frozenset[int]:
        """The areas that a function uses."""
        if function not in self.areas:
            steps = self.lowered.functions[function].steps
            self.areas[function] = frozenset(area for step in steps for area in self._areas(step))
        return self.areas[function]

    def _places(self, place: Place) -> list[tuple[int, int]]:
        """The areas and elements that a place stands for: a result may stand in several."""
        if place.area != RESULT:
            return [(place.area, place.element)]
        inputs = len(self.lowered.inputs)
        return [(inputs + k, element) for k, element in self.lowered.places[place.element]]

    def _name(self, area: int) -> str:
        return "s" if area == SCRATCH else self.names[area]

    def _at(self, area: int, element: int) -> str:
        if area <= RECORD:
            return f"s[row[{RECORD - area}]]"
        return f"{self._name(area)}[{element}]"

    def _operand(self, operand: Operand) -> str:
        return f"r{operand}" if isinstance(operand, int) else self._number(operand)

    def _number(self, value: float) -> str:
        text = f"{value!r}{self.f}"
        return f"({text})" if value < 0.0 else text


def routine_text(routine: str, kind: str, name: str) -> str:
    """A C function that computes a routine for n arguments: those of each kind in a row.

    Arguments:
        name: of the function that uses it, with which its own begins.
    """
    f = "f" if kind == "float" else ""
    if routine == "sincos" and kind == "double":
        return _sincos(name)
    body = {
        "sincos": f"y[i] = sin{f}(x[i]);\n        y[n + i] = cos{f}(x[i]);",
        "atan2": f"y[i] = atan2{f}(x[i], x[n + i]);",
    }.get(routine, f"y[i] = {routine}{f}(x[i]);")
    return f"""static void {name}_{routine}(const {kind} *x, {kind} *y, int n)
{{
    for (int i = 0; i < n; ++i) {{
        {body}
    }}
}}
"""


def _sincos(name: str) -> str:
    """Sines, then cosines, of n doubles; compilers vectorise the first loop.

    The reduction by multiples of pi/2 is Cody and Waite's, the polynomials are minimax, as in
    `native.functions`. Beyond its range the C library takes over.
    """

    def horner(name: str, coefficients: Sequence[float]) -> str:
        text = repr(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            text = f"({text} * z {'-' if c < 0.0 else '+'} {abs(c)!r})"
        return f"        const double {name} = {text};"

    first, second, third, fourth = map(repr, HALF_PI)
    return f"""static void {name}_sincos(const double *x, double *y, int n)
{{
    for (int i = 0; i < n; ++i) {{
        const double a = fabs(x[i]) <= {SINE_LIMIT!r} ? fabs(x[i]) : 0.0;
        const int j = (int)(a * {2.0 / math.pi!r} + 0.5);
        const double k = j;
        const double t = a - k * {first}, u = k * {second}, v = t - u;
        const double w = k * {third}, r = v - w;
        const double e = ((t - v) - u) + ((v - r) - w) - k * {fourth};
        const double z = r * r;
{horner("p", SIN["double"])}
{horner("q", COS["double"])}
        const double sine = r + (z * r * p + e);
        const double cosine = (1.0 - 0.5 * z) + (z * z * q - r * e);
        const double s0 = j & 1 ? cosine : sine, c0 = j & 1 ? sine : cosine;
        const double s1 = j & 2 ? -s0 : s0;
        y[i] = x[i] < 0.0 ? -s1 : s1;
        y[n + i] = (j + 1) & 2 ? -c0 : c0;
    }}
    for (int i = 0; i < n; ++i) {{
        if (!(fabs(x[i]) <= {SINE_LIMIT!r})) {{
            y[i] = sin(x[i]);
            y[n + i] = cos(x[i]);
        }}
    }}
}}
"""
