"""LLVM IR of a lowered program: straight-line code on vectors of lanes, one state a lane.

A *body* is a list of functions `void step(ptr operands, ptr scratch)`, to be called one after the
other; `name_steps` is the table of their addresses. `operands` points to one pointer per argument,
then those of the results; element j of an operand lies at j * lanes, its lanes side by side.

With one lane that is simply the row of a state, and there is a pointer for each output. With
several, there is one pointer, to the distinct results, and `name_index` says, for each element of
each output in turn, how many bytes from there its lanes lie. Results that are the same for every
state are written by a function of their own, `void name_constants(ptr operands)`, once for many
tiles.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.compiler.graph.lowered import (
    RECORD,
    RESULT,
    SCRATCH,
    Call,
    Compute,
    Function,
    Guard,
    Load,
    Lowered,
    Operand,
    Place,
    Repeat,
    Step,
)
from kinetree.compiler.graph.schedule import RESULTS

MANY_ZEROS = 64
"""Zeros in an output from which on it is filled with them first."""


@dataclass(frozen=True)
class Target:
    """What the code is for.

    type: "double" or "float".
    lanes: of a full vector of that type.
    fma: whether the processor multiplies and adds in one instruction.
    """

    type: str
    lanes: int
    fma: bool

    @property
    def itemsize(self) -> int:
        return 8 if self.type == "double" else 4

    def routine(self, name: str) -> str:
        """The symbol of a routine for this type."""
        return f"kinetree_{name}_{self.type}"


TEMPLATES = {
    "neg": "fneg {v} {0}",
    "add": "fadd {v} {0}, {1}",
    "sub": "fsub {v} {0}, {1}",
    "mul": "fmul {v} {0}, {1}",
    "div": "fdiv {v} {0}, {1}",
    "sqrt": "call {v} @llvm.sqrt.{s}({v} {0})",
    "fma": "call {v} @llvm.fma.{s}({v} {0}, {v} {1}, {v} {2})",
    "abs": "call {v} @llvm.fabs.{s}({v} {0})",
    "less": "fcmp olt {v} {0}, {1}",
    "less_equal": "fcmp ole {v} {0}, {1}",
    "logical_and": "and {b} {0}, {1}",
    "logical_or": "or {b} {0}, {1}",
    "logical_not": "xor {b} {0}, {true}",
    "select": "select {b} {0}, {v} {1}, {v} {2}",
}
"""Operation -> its instruction: {v} the vector type, {b} its truth type, {s} its short name."""
INTRINSICS = {"sqrt": 1, "fma": 3, "fabs": 1}
"""LLVM's functions that the templates call, and how many arguments each takes."""
EXPANSIONS = {"min": ("less", (1, 0), (1, 0)), "max": ("less", (0, 1), (1, 0))}
"""Operation -> a choice: the condition, its arguments, and the arguments chosen from."""
SIGNS = {"fms": (2,), "fnma": (0,), "fnms": (0, 2)}
"""Fused operation -> which arguments of an fma it has with the other sign: a factor, the addend."""
INSTRUCTIONS = {*TEMPLATES, *EXPANSIONS, *SIGNS}
"""The operations that are printed; functions are calls of routines."""


def emit_body(
    lowered: Lowered, name: str, target: Target, lanes: int, length: float = math.inf
) -> list[str]:
    """The body of a lowered program for some number of lanes, as modules to be linked together.

    Arguments:
        length: of a module, in instructions; with the next step a new one begins.
    """
    return _Printer(lowered, name, target, lanes).modules(length)


def declarations(target: Target, lanes: int) -> str:
    """What the bodies of one module call."""
    v, _, s = _types(target, lanes)
    return "".join(
        f"declare {v} @llvm.{name}.{s}({', '.join([v] * count)})\n"
        for name, count in INTRINSICS.items()
    )


def shared_declarations(target: Target) -> str:
    """What the bodies of one module call, whatever their lanes."""
    routines = (f"declare void @{target.routine(name)}(ptr, ptr, i64)\n" for name in RESULTS)
    return "".join(routines) + "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"


def _types(target: Target, lanes: int) -> tuple[str, str, str]:
    short = "f64" if target.type == "double" else "f32"
    if lanes == 1:
        return target.type, "i1", short
    return f"<{lanes} x {target.type}>", f"<{lanes} x i1>", f"v{lanes}{short}"


class _Printer:
    def __init__(self, lowered: Lowered, name: str, target: Target, lanes: int) -> None:
        self.lowered, self.name, self.target, self.lanes = lowered, name, target, lanes
        self.v, self.b, self.s = _types(target, lanes)
        true = "true" if lanes == 1 else "splat (i1 true)"
        words = {"v": self.v, "b": self.b, "s": self.s, "true": true}
        self.templates = {
            op: text.format("{0}", "{1}", "{2}", **words) for op, text in TEMPLATES.items()
        }
        self.align = target.itemsize * lanes
        self.addresses = 0

    def modules(self, length: float) -> list[str]:
        """Functions and steps in their order; tables and constants in the last module."""
        count = len(self.lowered.steps)
        table = ", ".join(f"ptr @{self.name}.{k}" for k in range(count))
        tables = [
            f"@{self.name}_steps = constant [{count} x ptr] [{table}]",
            self._constants(),
            self._index(),
        ]
        called = [
            (f"{self.name}.f{i}.{k}", step, function)
            for i, function in enumerate(self.lowered.functions)
            for k, step in enumerate(function.steps)
        ]
        steps = [(f"{self.name}.{k}", step, None) for k, step in enumerate(self.lowered.steps)]
        functions = [texts for texts in self._cut(called, length) if texts]
        *parts, last = self._cut(steps, length)
        return [self._module(texts) for texts in (*functions, *parts, [*last, *tables])]

    def _cut(
        self, steps: Sequence[tuple[str, Step, Function | None]], length: float
    ) -> list[list[str]]:
        """The texts of steps, in parts of about so many instructions; the last may be empty."""
        parts: list[list[str]] = [[]]
        done = 0
        for name, step, function in steps:
            parts[-1].append(self._step(name, step, function))
            done += len(step.code)
            if done >= length:
                parts.append([])
                done = 0
        return parts

    def _module(self, texts: list[str]) -> str:
        """A module, with declarations of what it uses of others."""
        text = "\n".join(texts)
        head = shared_declarations(self.target) + declarations(self.target, self.lanes)
        defined = set(re.findall(r"define void @([\w.]+)", text))
        used = set(re.findall(rf"@({self.name}\.[\w.]+)", text)) - defined
        others = [name for name in sorted(used) if not name.endswith(".rows")]
        arguments = {True: "(ptr, ptr, ptr)", False: "(ptr, ptr)"}
        declared = [
            f"declare void @{name}{arguments[name.startswith(f'{self.name}.f')]}\n"
            for name in others
        ]
        return head + "".join(declared) + text

    def _step(self, name: str, step: Step, function: Function | None = None) -> str:
        lines: list[str] = []
        for instruction in step.code:
            if isinstance(instruction, Compute):
                self._compute(instruction, lines)
            elif isinstance(instruction, Load):
                at = self._address(instruction.place, lines)[0]
                register = f"%r{instruction.register}"
                lines.append(f"  {register} = load {self.v}, ptr {at}, align {self.align}")
            else:
                value = self._operand(instruction.value)
                for at in self._address(instruction.place, lines, everywhere=True):
                    lines.append(f"  store {self.v} {value}, ptr {at}, align {self.align}")
        if step.call is not None:
            lines += self._call(step.call)
        table = ""
        if step.repeat is not None:
            table = self._table(name, step.repeat.rows)
            lines += self._repeat(name, step.repeat)
        if step.guard is not None:
            table = self._table(name, [step.guard.row])
            lines += self._guarded(name, step.guard)
        return self._function(name, lines, function) + table

    def _function(self, name: str, lines: list[str], function: Function | None = None) -> str:
        """A function, with the pointers to the operands and the records that it uses."""
        pointers = ["operands", "scratch", *([] if function is None else ["row"])]
        arguments = ", ".join(f"ptr noalias %{pointer}" for pointer in pointers)
        head = f"define void @{name}({arguments}) #0 {{\nentry:"
        text = "\n".join(lines)
        records = [
            self._record(column, area)
            for column, area in enumerate(function.areas if function else ())
            if f"ptr %g{column}," in text
        ]
        text = "\n".join([*records, text])
        pointers = [
            f"  %o{k}.at = getelementptr ptr, ptr %operands, i64 {k}\n"
            f"  %o{k} = load ptr, ptr %o{k}.at, align 8"
            for k in range(len(self.lowered.inputs) + len(self.lowered.outputs))
            if f"ptr %o{k}," in text
        ]
        return "\n".join([head, *pointers, text, "  ret void\n}\n"])

    def _record(self, column: int, area: int) -> str:
        """The pointer to a record: a row has how many bytes after its area's start it begins."""
        g, base = f"%g{column}", self._pointers(Place(area, 0))[0][0]
        return (
            f"  {g}.at = getelementptr i32, ptr %row, i64 {column}\n"
            f"  {g}.start = load i32, ptr {g}.at, align 4\n"
            f"  {g}.bytes = zext i32 {g}.start to i64\n"
            f"  {g} = getelementptr i8, ptr {base}, i64 {g}.bytes"
        )

    def _table(self, name: str, rows: Sequence[Sequence[int]]) -> str:
        """Where the records of each call start, in bytes."""
        starts = [start * self.align for row in rows for start in row]
        values = ", ".join(f"i32 {start}" for start in starts)
        return f"@{name}.rows = internal constant [{len(starts)} x i32] [{values}]\n"

    def _repeat(self, name: str, repeat: Repeat) -> list[str]:
        """A loop over the rows of a table."""
        columns, count = len(repeat.rows[0]), len(repeat.rows)
        return [
            "  br label %again",
            "again:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %again ]",
            f"  %row = getelementptr i32, ptr @{name}.rows, i64 %i",
            *self._steps_of(repeat.function, "%row"),
            f"  %next = add i64 %i, {columns}",
            f"  %more = icmp ult i64 %next, {columns * count}",
            "  br i1 %more, label %again, label %done",
            "done:",
        ]

    def _steps_of(self, function: int, row: str) -> list[str]:
        """The calls of a function's steps."""
        return [
            f"  call void @{self.name}.f{function}.{k}(ptr %operands, ptr %scratch, ptr {row})"
            for k in range(len(self.lowered.functions[function].steps))
        ]

    def _guarded(self, name: str, guard: Guard) -> list[str]:
        """A call that is made if the condition holds in some lane."""
        condition, lines = f"%r{guard.condition}", []
        if self.lanes > 1:
            lines = [
                f"  %lanes = bitcast {self.b} {condition} to i{self.lanes}",
                f"  %some = icmp ne i{self.lanes} %lanes, 0",
            ]
            condition = "%some"
        return [
            *lines,
            f"  br i1 {condition}, label %taken, label %done",
            "taken:",
            *self._steps_of(guard.function, f"@{name}.rows"),
            "  br label %done",
            "done:",
        ]

    def _compute(self, instruction: Compute, lines: list[str]) -> None:
        n, op = instruction.register, instruction.op
        args = [self._operand(x) for x in instruction.args]
        for which in SIGNS.get(op, ()):
            lines.append(f"  %n{n}.{which} = fneg {self.v} {args[which]}")
            args[which] = f"%n{n}.{which}"
        op = "fma" if op in SIGNS else op
        if op == "fma" and not self.target.fma:
            lines.append(f"  %m{n} = {self._text('mul', args[:2])}")
            op, args = "add", [f"%m{n}", args[2]]
        elif op in EXPANSIONS:
            condition, compared, chosen = EXPANSIONS[op]
            lines.append(f"  %c{n} = {self._text(condition, [args[k] for k in compared])}")
            op, args = "select", [f"%c{n}", *(args[k] for k in chosen)]
        lines.append(f"  %r{n} = {self._text(op, args)}")

    def _text(self, op: str, args: list[str]) -> str:
        return self.templates[op].format(*args)

    def _call(self, call: Call) -> list[str]:
        t = self.target
        starts = (("a", call.arguments), ("r", call.results))
        return [
            *(
                f"  %call.{x} = getelementptr {t.type}, ptr %scratch, i64 {slot * self.lanes}"
                for x, slot in starts
            ),
            f"  call void @{t.routine(call.routine)}"
            f"(ptr %call.a, ptr %call.r, i64 {call.length * self.lanes})",
        ]

    def _operand(self, operand: Operand) -> str:
        return f"%r{operand}" if isinstance(operand, int) else self._number(operand)

    def _number(self, value: float) -> str:
        text = _hexadecimal(value)
        return text if self.lanes == 1 else f"splat ({self.target.type} {text})"

    def _address(self, place: Place, lines: list[str], everywhere: bool = False) -> list[str]:
        """The address of a place; if asked for, of all places where a result stands."""
        places = self._pointers(place)
        found = []
        for base, element in places if everywhere else places[:1]:
            self.addresses += 1
            at, offset = f"%p{self.addresses}", element * self.lanes
            lines.append(f"  {at} = getelementptr {self.target.type}, ptr {base}, i64 {offset}")
            found.append(at)
        return found

    def _pointers(self, place: Place) -> list[tuple[str, int]]:
        """Where a place lies: base pointers and elements."""
        inputs = len(self.lowered.inputs)
        if place.area == SCRATCH:
            return [("%scratch", place.element)]
        if place.area <= RECORD:
            return [(f"%g{RECORD - place.area}", place.element)]
        if place.area != RESULT:
            return [(f"%o{place.area}", place.element)]
        if self.lanes > 1:
            return [(f"%o{inputs}", place.element)]
        return [(f"%o{inputs + k}", element) for k, element in self.lowered.places[place.element]]

    def _constants(self) -> str:
        """Write numbers; an operand of which many elements are zero is first filled with that."""
        lines: list[str] = []
        zeros = {k for k, value in self.lowered.constants if _is_plain_zero(value)}
        count = Counter(base for k in zeros for base, _ in self._pointers(Place(RESULT, k)))
        filled = {base for base, times in count.items() if times >= MANY_ZEROS}
        for base in sorted(filled):
            arguments = f"ptr {base}, i8 0, i64 {self._size(base) * self.align}, i1 false"
            lines.append(f"  call void @llvm.memset.p0.i64({arguments})")
        for k, value in self.lowered.constants:
            places = self._pointers(Place(RESULT, k))
            addresses = self._address(Place(RESULT, k), lines, everywhere=True)
            for (base, _), at in zip(places, addresses, strict=True):
                if k not in zeros or base not in filled:
                    lines.append(f"  store {self.v} {self._number(value)}, ptr {at}")
        name = f"{self.name}.constants"
        return "\n".join(
            [
                self._function(name, lines),
                f"define void @{self.name}_constants(ptr %operands) #0 {{",
                f"  call void @{name}(ptr %operands, ptr null)",
                "  ret void\n}\n",
            ]
        )

    def _size(self, base: str) -> int:
        """How many elements (of a tile: vectors) an operand that is written to has."""
        if self.lanes > 1:
            return self.lowered.results
        return len(self.lowered.elements[int(base[2:]) - len(self.lowered.inputs)])

    def _index(self) -> str:
        """Where each element of each output lies among the distinct results, in bytes.

        Whole vectors may be read from the last element on.
        """
        if self.lanes == 1:
            return ""
        places = [k * self.align for own in self.lowered.elements for k in own]
        values = ", ".join(f"i32 {place}" for place in (*places, *[0] * self.lanes))
        return f"@{self.name}_index = constant [{len(places) + self.lanes} x i32] [{values}]\n"


def _is_plain_zero(value: float) -> bool:
    """Whether a number is the zero whose bits are all zero."""
    return value == 0.0 and math.copysign(1.0, value) > 0.0


def _hexadecimal(value: float) -> str:
    """A number as LLVM reads it, exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
