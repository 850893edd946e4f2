"""Lowering: a program as the data that every target prints.

`lower` is the list of passes from a traced program to *steps* of loads, operations and stores. What
a target wants of them is its `Style`. A target then only prints: a table of operations and a page
of text. `lowered` has the data, `areas` says where values lie in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import chain

from kinetree.compiler.graph.aliases import without_aliases
from kinetree.compiler.graph.areas import Areas, FunctionAreas, ProgramAreas, slot_place
from kinetree.compiler.graph.fuse import fuse
from kinetree.compiler.graph.garbage import without_searches
from kinetree.compiler.graph.guard_areas import GuardAreas
from kinetree.compiler.graph.inline import inline
from kinetree.compiler.graph.lowered import (
    SCRATCH,
    Call,
    Compute,
    Function,
    Guard,
    Instruction,
    Load,
    Lowered,
    Operand,
    Place,
    Repeat,
    Step,
    Store,
    Style,
)
from kinetree.compiler.graph.narrow import narrow
from kinetree.compiler.graph.program import Program
from kinetree.compiler.graph.schedule import Batch, Calls, Chunk, Guarded, number_arguments
from kinetree.compiler.graph.verify import verify
from kinetree.errors import DtypeError


@without_searches()
def lower(program: Program, style: Style) -> Lowered:
    """The passes, one after the other."""
    program = _rewritten(program, style)
    areas = ProgramAreas(program, style)
    functions = _callees(areas, style)
    code = _ProgramCode(areas, style)
    return Lowered(
        name=program.name,
        kind=style.kind,
        inputs=program.inputs,
        outputs=program.outputs,
        steps=code.steps(),
        functions=tuple(Function(_code(f, style).steps(), f.record_areas) for f in functions),
        scratch=max([areas.scratch, *(f.scratch for f in functions)]),
        results=areas.count,
        elements=areas.elements,
        constants=code.constants(),
        late=areas.late,
    )


def _callees(areas: ProgramAreas, style: Style) -> list[FunctionAreas | GuardAreas]:
    """All functions: those that the program calls, then those that they call."""
    found: list[FunctionAreas | GuardAreas] = []
    callers: list[Areas] = [areas]
    for caller in callers:
        nodes = caller.program.nodes
        guarded = {node.value for node in nodes if node.op == "call_if"}
        for k in range(len(caller.program.functions)):
            made = (GuardAreas if k in guarded else FunctionAreas)(k, caller, style)
            caller.callees.append((len(found), made))
            found.append(made)
            callers.append(made)
    return found


def _code(areas: FunctionAreas | GuardAreas, style: Style) -> _Code:
    if isinstance(areas, GuardAreas):
        return _GuardedCode(areas, style)
    return _Code(areas, style)


def _rewritten(program: Program, style: Style) -> Program:
    """The passes from programs to programs."""
    program = without_aliases(verify(program))
    program = verify(program) if style.functions else verify(inline(program))
    if style.narrow:
        program = verify(narrow(program))
    if style.fused:
        program = verify(fuse(program))
    return program


class _Code:
    """Writes the steps of a program or of a function.

    stored: the results that steps have stored already.
    """

    def __init__(self, areas: Areas, style: Style) -> None:
        self.areas, self.style, self.program = areas, style, areas.program
        self.stored: set[int] = set()

    def steps(self) -> tuple[Step, ...]:
        """All steps, in the order of execution."""
        made = [self._made(k) for k in range(len(self.areas.steps))]
        return (*chain.from_iterable(made), *self._remaining())

    def _made(self, k: int) -> list[Step]:
        """What becomes of scheduled step k."""
        step = self.areas.steps[k]
        if isinstance(step, Chunk):
            return [Step(self._chunk(step.nodes))]
        if isinstance(step, Batch):
            return [self._batch(k, step)]
        if isinstance(step, Guarded):
            return [self._guarded(k, step)]
        return self._calls(k, step)

    def _chunk(self, nodes: Sequence[int]) -> tuple[Instruction, ...]:
        """Straight-line arithmetic."""
        writer = _Writer(self)
        last_use: dict[int, int] = {}
        keep = self.style.keep
        for time, n in enumerate(nodes):
            if keep is not None:
                for a in number_arguments(self.program, n):
                    if time - last_use.get(a, time) > keep and a in self.areas.places:
                        writer.registers.pop(a, None)
                    last_use[a] = time
            writer.compute(n)
            last_use[n] = time
            for place in self.areas.stores.get(n, ()):
                writer.store(n, place)
            self._finish(writer, n)
        self.stored.update(filter(self.areas.is_stored_at_once, nodes))
        return tuple(writer.code)

    def _finish(self, writer: _Writer, n: int) -> None:
        """What else is done with a value that a chunk has computed."""

    def _batch(self, k: int, batch: Batch) -> Step:
        """The arguments of a routine, and its call."""
        rows = self.areas.batch(k)
        writer = _Writer(self)
        for i, arguments in enumerate(batch.arguments):
            for j, a in enumerate(arguments):
                writer.store(a, Place(SCRATCH, rows.argument(j) + i))
        for j in range(len(batch.arguments[0])):  # any number will do to fill a row
            for i in range(len(batch.arguments), rows.padded):
                writer.code.append(Store(1.0, Place(SCRATCH, rows.argument(j) + i)))
        call = Call(batch.routine, rows.argument(0), rows.result(0), rows.padded)
        return Step(tuple(writer.code), call)

    def _calls(self, k: int, calls: Calls) -> list[Step]:
        """Calls of functions: only programs have them."""
        raise AssertionError(f"{self.program.name}: a function calls function {calls.function}")

    def _guarded(self, k: int, step: Guarded) -> Step:
        """Copies of arguments, and of what stands for results; the condition; the call."""
        writer = _Writer(self)
        for n, slot in self.areas.slots.guards.copies[k]:
            writer.store(n, slot_place(slot))
        condition = writer.compute(self.program.nodes[step.node].args[0])
        position, callee = self.areas.callees[step.function]
        assert isinstance(callee, GuardAreas)
        if callee.mask is not None:
            chosen = writer.made("select", condition, 1.0, 0.0)
            writer.code.append(Store(chosen, callee.mask))
        return Step(tuple(writer.code), guard=Guard(condition, position, callee.row(step.node)))

    def _remaining(self) -> list[Step]:
        """The results that no chunk stores: arguments, results of routines, what was held."""
        left = [
            (n, place)
            for n, place in self.areas.results.items()
            if n not in self.stored and self.program.nodes[n].op != "const"
        ]
        chunk = self.style.chunk
        return [self._stores(left[k : k + chunk]) for k in range(0, len(left), chunk)]

    def _stores(self, values: Iterable[tuple[int, Place]]) -> Step:
        """A step that stores values."""
        writer = _Writer(self)
        for n, place in values:
            writer.store(n, place)
        return Step(tuple(writer.code))

    def number(self, value: float) -> float:
        """A number as the type holds it."""
        if self.style.kind == "double":
            return value
        try:
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            raise DtypeError(
                f"{self.program.name}: the constant {value} does not fit float32; use float64"
            ) from None


class _ProgramCode(_Code):
    """Writes the steps of a program, which may call functions."""

    areas: ProgramAreas

    def constants(self) -> tuple[tuple[int, float], ...]:
        """The results that are the same for every state."""
        nodes = self.program.nodes
        return tuple(
            (place.element, self.number(nodes[n].value))
            for n, place in self.areas.results.items()
            if nodes[n].op == "const"
        )

    def _calls(self, k: int, calls: Calls) -> list[Step]:
        """Copies into records, the calls, and copies of those results that are not in place."""
        records = self.areas.records
        copies = self._stores(
            (n, Place(SCRATCH, slot.record.start + slot.offset))
            for n, slot in records.copies.get(k, ())
        )
        rows = tuple(self.areas.row(call) for call in calls.nodes)
        step = Step(copies.code, repeat=Repeat(calls.function, rows))
        items = {n for call in calls.nodes for n in records.items[call].values()}
        results = [n for n in items if self.areas.is_stored_at_once(n)]
        self.stored.update(results)
        if calls.function in records.in_results or not results:
            return [step]
        return [step, self._stores((n, self.areas.results[n]) for n in results)]


class _GuardedCode(_Code):
    """Writes the steps of a function that guarded calls run."""

    areas: GuardAreas

    def _finish(self, writer: _Writer, n: int) -> None:
        for place in self.areas.at_once.get(n, ()):
            writer.merge(writer.operand(n), place)

    def _remaining(self) -> list[Step]:
        """The other results, all of them read before one is written."""
        writer = _Writer(self)
        found = [(writer.operand(n), place) for n, place in self.areas.last]
        for value, place in found:
            writer.merge(value, place)
        return [Step(tuple(writer.code))] if found else []


class _Writer:
    """Writes the instructions of one step; knows which values are in registers."""

    def __init__(self, owner: _Code) -> None:
        self.owner, self.areas, self.program = owner, owner.areas, owner.program
        self.code: list[Instruction] = []
        self.registers: dict[int, int] = {}
        self.count = 0
        self.mask: int | None = None  # the register of the lanes that are written

    def operand(self, n: int) -> Operand:
        """A node's value: a number, or a register, loaded if need be."""
        register = self.registers.get(n)
        if register is not None:
            return register
        node = self.program.nodes[n]
        if node.op == "const":
            return self.owner.number(node.value)
        if n in self.areas.numbers:
            return self.owner.number(self.areas.numbers[n])
        if n in self.program.truths:  # made anew in each step: only numbers lie in memory
            return self.compute(n)
        register = self._new(n)
        self.code.append(Load(register, self.areas.places[n]))
        return register

    def compute(self, n: int) -> int:
        node = self.program.nodes[n]
        args = tuple([self.operand(a) for a in node.args])
        register = self._new(n)
        self.code.append(Compute(register, node.op, args))
        return register

    def store(self, n: int, place: Place) -> None:
        self.code.append(Store(self.operand(n), place))

    def made(self, op: str, *args: Operand) -> int:
        """A register for an operation that is no node's."""
        register = self._next()
        self.code.append(Compute(register, op, args))
        return register

    def merge(self, value: Operand, place: Place) -> None:
        """Store a value, in those lanes in which a guarded call's condition holds."""
        assert isinstance(self.areas, GuardAreas)
        if self.areas.mask is not None:
            if self.mask is None:
                self.mask = self.made("less", 0.0, self._loaded(self.areas.mask))
            value = self.made("select", self.mask, value, self._loaded(place))
        self.code.append(Store(value, place))

    def _loaded(self, place: Place) -> int:
        register = self._next()
        self.code.append(Load(register, place))
        return register

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    def _new(self, n: int) -> int:
        register = self.registers[n] = self._next()
        return register
