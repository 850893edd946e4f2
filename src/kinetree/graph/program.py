"""Programs: what a trace leaves once dead nodes are gone, in an order that can be executed."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kinetree.graph.expression import Expression, Trace
from kinetree.lazy import cached_property
from kinetree.scalar import FUNCTIONS, LEAVES


class Node(NamedTuple):
    """One operation: its arguments are numbers of earlier nodes of the same program.

    `value` is the number of a `const`, and (argument's position, element) of an `input`.
    """

    op: str
    args: tuple[int, ...]
    value: Any = None


class Input(NamedTuple):
    """An argument of a program: a name and the shape of one state's value."""

    name: str
    shape: tuple[int, ...]


class Output(NamedTuple):
    """A result of a program: the nodes of its elements, the last axis fastest."""

    name: str
    shape: tuple[int, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A straight-line program over scalars.

    method: in words, which of several ways to the same results it is; no part of its digest.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    nodes: tuple[Node, ...]
    method: str = ""

    @property
    def signature(self) -> str:
        """NumPy's signature of the core shapes, such as (7),(7),(7)->(7)."""

        def shapes(operands: Sequence[Input] | Sequence[Output]) -> str:
            return ",".join(f"({','.join(map(str, o.shape))})" for o in operands)

        return f"{shapes(self.inputs)}->{shapes(self.outputs)}"

    @cached_property
    def operations(self) -> Counter[str]:
        """How often each operation is done for one state, leaves left out."""
        return Counter(node.op for node in self.nodes if node.op not in LEAVES)

    @cached_property
    def cost(self) -> int:
        """The operations of one state in all, a function counted as thirty."""
        return sum(n * (30 if op in FUNCTIONS else 1) for op, n in self.operations.items())

    @cached_property
    def digest(self) -> str:
        """A hash of the content: equal for equal programs, on every machine."""
        h = hashlib.sha256()
        h.update(repr((self.name, self.inputs, self.outputs)).encode())
        for op, args, value in self.nodes:
            text = value.hex() if isinstance(value, float) else repr(value)
            h.update(f"{op}{args}{text};".encode())
        return h.hexdigest()


def size(shape: Iterable[int]) -> int:
    """How many elements a shape has."""
    return math.prod(shape)


def trace(
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, tuple[int, ...]],
    limit: float = math.inf,
) -> Program:
    """Record what a function does to symbolic arguments.

    Arguments:
        name: of the program.
        function: takes one flat list of scalars per input, in order, and returns a mapping from
            each result's name to nested lists of scalars.
        inputs: the shape of each argument.
        limit: how many nodes may be traced; TooLongError beyond.

    Returns:
        The program, without the nodes that no result needs.
    """
    t = Trace(limit)
    arguments = [
        [t.input(argument, i) for i in range(size(shape))] for argument, shape in inputs.items()
    ]
    results = {key: _flatten(t, value) for key, value in function(*arguments).items()}
    order = live(t.nodes, (e for _, elements in results.values() for e in elements))
    number = {e.number: i for i, e in enumerate(order)}
    position = {argument: i for i, argument in enumerate(inputs)}
    return Program(
        name=name,
        inputs=tuple(Input(argument, tuple(shape)) for argument, shape in inputs.items()),
        outputs=tuple(
            Output(key, shape, tuple(number[e.number] for e in elements))
            for key, (shape, elements) in results.items()
        ),
        nodes=tuple(
            Node(
                e.op,
                tuple(number[a.number] for a in e.args),
                (position[e.value[0]], e.value[1]) if e.op == "input" else e.value,
            )
            for e in order
        ),
    )


def rearranged(program: Program, names: Mapping[str, str]) -> Program:
    """The same program with its arguments in another order and under other names.

    Arguments:
        names: each argument's name -> its new name, in the new order.
    """
    place = {declared.name: k for k, declared in enumerate(program.inputs)}
    moved = {place[old]: k for k, old in enumerate(names)}
    return replace(
        program,
        inputs=tuple(Input(new, program.inputs[place[old]].shape) for old, new in names.items()),
        nodes=tuple(
            node._replace(value=(moved[node.value[0]], node.value[1]))
            if node.op == "input"
            else node
            for node in program.nodes
        ),
    )


def live(nodes: Sequence[Expression], results: Iterable[Expression]) -> list[Expression]:
    """The nodes that the results need, in the order in which they were made."""
    needed = set()
    pending = list(results)
    while pending:
        e = pending.pop()
        if e.number not in needed:
            needed.add(e.number)
            pending.extend(e.args)
    return [e for e in nodes if e.number in needed]


def _flatten(t: Trace, value: Any) -> tuple[tuple[int, ...], list[Expression]]:
    """The shape and the elements of nested lists of scalars."""
    if not isinstance(value, (list, tuple)):
        return (), [t.lift(value)]
    shape: tuple[int, ...] = (len(value),)
    elements: list[Expression] = []
    inner: set[tuple[int, ...]] = set()
    for item in value:
        item_shape, item_elements = _flatten(t, item)
        inner.add(item_shape)
        elements += item_elements
    if len(inner) > 1:
        raise ValueError(f"a traced result is ragged: rows of shapes {sorted(inner)}")
    return shape + (inner.pop() if inner else ()), elements
