"""LLVM IR of a program: straight-line code on vectors of lanes, one state a lane.

A *body* is a function `void name(ptr operands, ptr scratch)`. `operands` points to one pointer per
input, then those of the results; element j of an operand lies at j * lanes, its lanes side by side.

With one lane that is simply the row of a state, and there is a pointer for each output. With
several, there is one pointer, to the *distinct* results: what stands in a matrix twice is written
once, and `name_index` says, for each element of each output in turn, how many bytes from there its
lanes lie. Such a body has a third argument, what is pending of the tile before, and sees to it that
it is written little by little (`kinetree.emit.streams`). Results that are the same for every state
are written by a function of their own, `void name_constants(ptr operands)`, once for many tiles.

The body is cut into chunk functions that hand values on through `scratch`; sines and the like are
computed for many arguments at once by the routines of `kinetree.emit.routines`.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from dataclasses import dataclass

from kinetree.emit.layout import ADVANCE, ALL
from kinetree.emit.scratch import Slots, waiting
from kinetree.errors import DtypeError
from kinetree.graph.program import Program
from kinetree.graph.schedule import (
    RESULTS,
    Batch,
    Chunk,
    is_truth,
    number_arguments,
    schedule,
)

MANY_ZEROS = 64  # in a result, from which on it is filled with them first
CHUNK_SIZE = 400
"""Operations a chunk: the code generator's time grows faster than the length of a block."""
KEEP = 32
"""Operations for which a value that also lies in memory is kept: later it is loaded again. Else the
code generator would keep it, and if registers run out, in a second place."""


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


@dataclass(frozen=True)
class Body:
    """The text of a body.

    scratch, results: its elements of scratch and its distinct results, for each lane.
    tiles: how many tiles of results it needs, one after the other.
    """

    text: str
    scratch: int
    results: int
    tiles: int


TEMPLATES = {
    "neg": "fneg {v} {0}",
    "add": "fadd {v} {0}, {1}",
    "sub": "fsub {v} {0}, {1}",
    "mul": "fmul {v} {0}, {1}",
    "div": "fdiv {v} {0}, {1}",
    "sqrt": "call {v} @llvm.sqrt.{s}({v} {0})",
    "fma": "call {v} @llvm.fma.{s}({v} {0}, {v} {1}, {v} {2})",
    "less": "fcmp olt {v} {0}, {1}",
    "select": "select {b} {0}, {v} {1}, {v} {2}",
}
"""Operation -> its instruction: {v} the vector type, {b} its truth type, {s} its short name."""


SIGNS = {"fms": (2,), "fnma": (0,), "fnms": (0, 2)}
"""Fused operation -> which arguments of an fma it has with the other sign: a factor, the addend."""


def emit_body(program: Program, name: str, target: Target, lanes: int) -> Body:
    """The body of a (fused) program for some number of lanes."""
    return _Emitter(program, name, target, lanes).body()


def declarations(target: Target, lanes: int) -> str:
    """What the bodies of one module call."""
    v, _, s = _types(target, lanes)
    return f"declare {v} @llvm.sqrt.{s}({v})\ndeclare {v} @llvm.fma.{s}({v}, {v}, {v})\n"


def shared_declarations(target: Target) -> str:
    """What the bodies of one module call, whatever their lanes."""
    routines = (f"declare void @{target.routine(name)}(ptr, ptr, i64)\n" for name in RESULTS)
    advance = f"declare void @{target.routine(ADVANCE)}(ptr, i64)\n"
    return "".join(routines) + advance + "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"


def _types(target: Target, lanes: int) -> tuple[str, str, str]:
    short = "f64" if target.type == "double" else "f32"
    if lanes == 1:
        return target.type, "i1", short
    return f"<{lanes} x {target.type}>", f"<{lanes} x i1>", f"v{lanes}{short}"


class _Emitter:
    def __init__(self, program: Program, name: str, target: Target, lanes: int) -> None:
        self.program, self.name, self.target, self.lanes = program, name, target, lanes
        self.v, self.b, self.s = _types(target, lanes)
        self.align = target.itemsize * lanes
        self.steps = schedule(program, CHUNK_SIZE)
        self.columns = [n for output in program.outputs for n in output.nodes]
        self.stores = self._stores()
        found = waiting(self.steps, self.stores) if lanes > 1 else None
        self.tiles = 1 if found else 2
        self.until, self.late = found or (len(self.steps), set())
        places = self.stores.keys() - self.late
        self.slots = Slots(program, self.steps, target.lanes // lanes, places, self.late)
        self.operand_count = 1 + max(k for places in self.stores.values() for k, _ in places)
        self.addresses = 0

    def _stores(self) -> dict[int, list[tuple[int, int]]]:
        """Node -> the (operand, element) places it is written to."""
        inputs = len(self.program.inputs)
        if self.lanes > 1:
            return {n: [(inputs, k)] for k, n in enumerate(dict.fromkeys(self.columns))}
        stores: dict[int, list[tuple[int, int]]] = {}
        for k, output in enumerate(self.program.outputs, inputs):
            for element, n in enumerate(output.nodes):
                stores.setdefault(n, []).append((k, element))
        return stores

    def _index(self) -> str:
        """Where each element of each output lies among the distinct results, in bytes.

        Whole vectors may be read from the last element on.
        """
        if self.lanes == 1:
            return ""
        places = (self.stores[n][0][1] * self.align for n in self.columns)
        values = ", ".join(f"i32 {place}" for place in (*places, *[0] * self.lanes))
        length = len(self.columns) + self.lanes
        return f"@{self.name}_index = constant [{length} x i32] [{values}]\n"

    def body(self) -> Body:
        functions, calls = [], []
        for k, step in enumerate(self.steps):
            if isinstance(step, Chunk):
                chunk = f"{self.name}.{k}"
                functions.append(self._chunk(chunk, step))
                calls.append(f"  call void @{chunk}(ptr %operands, ptr %scratch)")
            else:
                functions.append(self._gather(f"{self.name}.{k}", step))
                calls.append(f"  call void @{self.name}.{k}(ptr %operands, ptr %scratch)")
                calls += self._call(step, k)
            if self.lanes > 1:
                share = ALL * min(k + 1, self.until) // self.until
                advance = self.target.routine(ADVANCE)
                calls.append(f"  call void @{advance}(ptr %pending, i64 {share})")
        chunked = {n for step in self.steps if isinstance(step, Chunk) for n in step.nodes}
        leaves = [n for n in self.stores if n not in chunked or n in self.late]
        constants = [n for n in leaves if self.program.nodes[n].op == "const"]
        others = [n for n in leaves if self.program.nodes[n].op != "const"]
        functions.append(self._leaf_stores(f"{self.name}.leaves", others))
        functions.append(self._constant_stores(f"{self.name}.constants", constants))
        calls.append(f"  call void @{self.name}.leaves(ptr %operands, ptr %scratch)")
        pending = ", ptr %pending" if self.lanes > 1 else ""
        text = "\n".join(
            [
                *functions,
                f"define void @{self.name}(ptr %operands, ptr %scratch{pending}) #0 {{",
                *calls,
                "  ret void\n}\n",
                f"define void @{self.name}_constants(ptr %operands) #0 {{",
                f"  call void @{self.name}.constants(ptr %operands, ptr null)",
                "  ret void\n}\n",
                self._index(),
            ]
        )
        return Body(text, self.slots.count, len(self.stores), self.tiles)

    def _function(self, name: str, lines: list[str]) -> str:
        head = f"define internal void @{name}(ptr noalias %operands, ptr noalias %scratch) #0 {{"
        pointers = [
            f"  %o{k}.at = getelementptr ptr, ptr %operands, i64 {k}\n"
            f"  %o{k} = load ptr, ptr %o{k}.at, align 8"
            for k in range(self.operand_count)
            if any(f"ptr %o{k}," in line for line in lines)
        ]
        return "\n".join([head, *pointers, *lines, "  ret void\n}\n"])

    def _chunk(self, name: str, step: Chunk) -> str:
        lines: list[str] = []
        known: dict[int, str] = {}
        used: dict[int, int] = {}
        for time, n in enumerate(step.nodes):
            node = self.program.nodes[n]
            for a in number_arguments(self.program, n):
                if time - used.get(a, time) > KEEP and self._place(a):
                    known.pop(a, None)
                used[a] = time
            args = [self._value(a, known, lines) for a in node.args]
            self._instruction(n, node.op, args, lines)
            known[n], used[n] = f"%v{n}", time
            if n not in self.late:
                for operand, element in self.stores.get(n, ()):
                    self._store(f"%v{n}", f"%o{operand}", element, lines)
            if n in self.slots.of:
                self._store(f"%v{n}", "%scratch", self.slots.of[n], lines)
        return self._function(name, lines)

    def _instruction(self, n: int, op: str, args: list[str], lines: list[str]) -> None:
        for which in SIGNS.get(op, ()):
            lines.append(f"  %n{n}.{which} = fneg {self.v} {args[which]}")
            args[which] = f"%n{n}.{which}"
        op = "fma" if op in SIGNS else op
        if op == "fma" and not self.target.fma:
            lines.append(f"  %m{n} = fmul {self.v} {args[0]}, {args[1]}")
            op, args = "add", [f"%m{n}", args[2]]
        text = TEMPLATES[op].format(*args, v=self.v, b=self.b, s=self.s)
        lines.append(f"  %v{n} = {text}")

    def _gather(self, name: str, step: Batch) -> str:
        """Lay the arguments of a batch side by side."""
        lines: list[str] = []
        known: dict[int, str] = {}
        area = self.slots.areas[id(step)]
        for i, arguments in enumerate(step.arguments):
            for j, a in enumerate(arguments):
                value = self._value(a, known, lines)
                self._store(value, "%scratch", area.argument(j) + i, lines)
        for j in range(len(step.arguments[0])):  # routines take whole vectors
            for i in range(len(step.arguments), area.padded):
                self._store(self._number(1.0), "%scratch", area.argument(j) + i, lines)
        return self._function(name, lines)

    def _call(self, step: Batch, k: int) -> list[str]:
        area = self.slots.areas[id(step)]
        count = area.padded * self.lanes
        at = f"%r{k}"
        t = self.target
        return [
            f"  {at}.a = getelementptr {t.type}, ptr %scratch, i64 {area.argument(0) * self.lanes}",
            f"  {at}.r = getelementptr {t.type}, ptr %scratch, i64 {area.result(0) * self.lanes}",
            f"  call void @{t.routine(step.routine)}(ptr {at}.a, ptr {at}.r, i64 {count})",
        ]

    def _leaf_stores(self, name: str, leaves: list[int]) -> str:
        """Write results that no chunk writes: arguments, results of routines, what waited."""
        lines: list[str] = []
        known: dict[int, str] = {}
        for n in leaves:
            for operand, element in self.stores[n]:
                value = self._value(n, known, lines)
                self._store(value, f"%o{operand}", element, lines)
        return self._function(name, lines)

    def _constant_stores(self, name: str, constants: list[int]) -> str:
        """Write numbers; an operand of which many elements are zero is first filled with that."""
        lines: list[str] = []
        filled: set[int] = set()
        zeros = [n for n in constants if _is_plain_zero(self.program.nodes[n].value)]
        for n in zeros:
            count = Counter(operand for operand, _ in self.stores[n])
            filled |= {operand for operand, times in count.items() if times >= MANY_ZEROS}
        sizes = self._operand_sizes()
        for operand in sorted(filled):
            arguments = f"ptr %o{operand}, i8 0, i64 {sizes[operand] * self.align}, i1 false"
            lines.append(f"  call void @llvm.memset.p0.i64({arguments})")
        for n in constants:
            value = self._number(self.program.nodes[n].value)
            for operand, element in self.stores[n]:
                if n not in zeros or operand not in filled:
                    self._store(value, f"%o{operand}", element, lines)
        return self._function(name, lines)

    def _operand_sizes(self) -> dict[int, int]:
        """How many elements (of a tile: vectors) each operand that is written to has."""
        inputs = len(self.program.inputs)
        if self.lanes > 1:
            return {inputs: len(self.stores)}
        return {k: len(o.nodes) for k, o in enumerate(self.program.outputs, inputs)}

    def _value(self, n: int, known: dict[int, str], lines: list[str]) -> str:
        """The name of a node's value in the function being written, loaded if need be."""
        if n in known:
            return known[n]
        node = self.program.nodes[n]
        if node.op == "const":
            known[n] = self._number(node.value)
            return known[n]
        if is_truth(self.program, n):
            args = [self._value(a, known, lines) for a in node.args]
            self._instruction(n, node.op, args, lines)
            known[n] = f"%v{n}"
            return known[n]
        place = self._place(n)
        assert place is not None
        at = self._address(*place, lines)
        known[n] = f"{at}.value"
        lines.append(f"  {known[n]} = load {self.v}, ptr {at}, align {self.align}")
        return known[n]

    def _place(self, n: int) -> tuple[str, int] | None:
        """Where a value lies in memory, once it is computed: base and element."""
        node = self.program.nodes[n]
        if node.op == "input":
            return f"%o{node.value[0]}", node.value[1]
        if n in self.slots.of:
            return "%scratch", self.slots.of[n]
        if n in self.stores:
            operand, element = self.stores[n][0]
            return f"%o{operand}", element
        return None

    def _number(self, value: float) -> str:
        text = _hexadecimal(self._rounded(value))
        return text if self.lanes == 1 else f"splat ({self.target.type} {text})"

    def _rounded(self, value: float) -> float:
        """A number as the target's type holds it."""
        if self.target.type == "double":
            return value
        try:
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            raise DtypeError(
                f"{self.program.name}: the constant {value} does not fit float32; use float64"
            ) from None

    def _address(self, base: str, element: int, lines: list[str]) -> str:
        self.addresses += 1
        at, offset = f"%p{self.addresses}", element * self.lanes
        lines.append(f"  {at} = getelementptr {self.target.type}, ptr {base}, i64 {offset}")
        return at

    def _store(self, value: str, base: str, element: int, lines: list[str]) -> None:
        at = self._address(base, element, lines)
        lines.append(f"  store {self.v} {value}, ptr {at}, align {self.align}")


def _is_plain_zero(value: float) -> bool:
    """Whether a number is the zero whose bits are all zero."""
    return value == 0.0 and math.copysign(1.0, value) > 0.0


def _hexadecimal(value: float) -> str:
    """A number as LLVM reads it, exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
