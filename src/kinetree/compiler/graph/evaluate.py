"""Programs run on any scalars: numbers, symbols, or the scalars of another trace."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol

from kinetree import scalar
from kinetree.compiler.graph.program import Program, size, trace
from kinetree.scalar import OPERATIONS
from kinetree.scalar.calls import CALLS_THAT_PAY, settled

Compute = Callable[[str, list[Any]], Any]
"""Does an operation on its arguments."""


class Opened(Protocol):
    """Which calls are replaced by what they call."""

    def calls(self, program: Program) -> Container[int]:
        """Those calls of a program, or of a function of it."""

    def within(self, condition: Any) -> AbstractContextManager[None]:
        """The context in which a guarded call is replaced."""


def values(
    program: Program,
    arguments: Sequence[Sequence[Any]],
    compute: Compute | None = None,
    opened: Opened | None = None,
) -> list[Any]:
    """The value of every node, on any scalars; of a call, the list of its results.

    Arguments:
        arguments: for each argument of the program, its elements.
        compute: does an operation on its arguments; by default as its definition says.
        opened: which calls are not calls of the scalars' trace either; by default all plain ones,
            and no guarded one.
    """
    return list(_Run(program, arguments, compute, opened).values())


def results(
    function: Program,
    *groups: Sequence[Any],
    compute: Compute | None = None,
    opened: Opened | None = None,
) -> list[Any]:
    """The results of a function of a program, on any scalars."""
    computed = values(function, groups, compute, opened)
    return [computed[n] for n in function.outputs[0].nodes]


class _Run:
    """One run of a program."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[Sequence[Any]],
        compute: Compute | None,
        opened: Opened | None,
    ) -> None:
        self.program, self.arguments = program, arguments
        self.compute, self.opened = compute, opened
        self.open: Container[int] = () if opened is None else opened.calls(program)
        # one object for each function, by which a trace knows it again
        self.called = [partial(results, function) for function in program.functions]
        self.inlined = [
            partial(results, function, compute=compute, opened=opened)
            for function in program.functions
        ]
        self.computed: list[Any] = []

    def values(self) -> list[Any]:
        """The values of all nodes."""
        computed, apply = self.computed, self.compute or _defined
        for n, (op, args, value) in enumerate(self.program.nodes):
            if op == "const":
                computed.append(value)
            elif op == "input":
                computed.append(self.arguments[value[0]][value[1]])
            elif op == "item":
                computed.append(computed[args[0]][value])
            elif op == "call":
                computed.append(self._call(n, [computed[a] for a in args], value))
            elif op == "call_if":
                computed.append(self._guarded(n, [computed[a] for a in args], value))
            else:
                computed.append(apply(op, [computed[a] for a in args]))
        return computed

    def _call(self, n: int, args: list[Any], position: int) -> list[Any]:
        groups = _groups(self.program.functions[position], args)
        if self.opened is None or n in self.open:
            return self.inlined[position](*groups)
        return scalar.call(self.called[position], *groups, times=CALLS_THAT_PAY)

    def _guarded(self, n: int, args: list[Any], position: int) -> list[Any]:
        function = self.program.functions[position]
        count = len(function.outputs[0].nodes)
        condition, other = args[0], args[-count:]
        groups = _groups(function, args[1:-count])
        if self.compute is None and n not in self.open:
            return scalar.call_if(condition, self.called[position], *groups, otherwise=other)
        decided = settled(condition)
        with nullcontext() if self.opened is None else self.opened.within(condition):
            taken = other if decided is False else self.inlined[position](*groups)
        if decided is not None:
            return taken
        choose = self.compute or _defined
        pairs = zip(taken, other, strict=True)
        return [choose("select", [condition, a, b]) for a, b in pairs]


def _groups(function: Program, args: Sequence[Any]) -> list[list[Any]]:
    """The arguments of a call as its function takes them."""
    remaining = iter(args)
    return [[next(remaining) for _ in range(size(i.shape))] for i in function.inputs]


def _defined(op: str, args: list[Any]) -> Any:
    return OPERATIONS[op].compute(*args)


def selected(program: Program, nodes: Mapping[str, Sequence[int]]) -> Program:
    """The program whose results are some of another's nodes.

    Arguments:
        nodes: maps the name of each result, a vector, to the numbers of its nodes.
    """

    def function(*arrays: Sequence[Any]) -> dict[str, Any]:
        computed = values(program, arrays)
        return {name: [computed[n] for n in chosen] for name, chosen in nodes.items()}

    return trace(program.name, function, {i.name: i.shape for i in program.inputs})
