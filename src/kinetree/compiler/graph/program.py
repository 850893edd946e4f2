"""Programs: what a trace leaves once dead nodes are gone, in an order that can be executed."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kinetree._lazy import cached_property
from kinetree.compiler.graph.expression import Expression, Function, TooLongError, Trace
from kinetree.compiler.graph.garbage import without_searches
from kinetree.errors import TraceError
from kinetree.scalar import ALIASES, CALLS, FUNCTIONS, LEAVES, TRUTHS

LONGEST_WITHOUT_CALLS = 6000
"""Nodes: longer programs are traced with functions.

Shorter ones have none: straight-line code keeps more in registers and folds more, and its length
does not matter yet, neither to a compiler nor to a processor's caches.
"""


class Node(NamedTuple):
    """One operation; its arguments are earlier nodes of the same program.

    Attributes:
        op: the name of the operation.
        args: the numbers of the nodes that are its arguments.
        value: the number of a `const`; (argument's position, element) of an `input`; the position
            of the function of a `call` or `call_if`; the position of the result of an `item`.
    """

    op: str
    args: tuple[int, ...]
    value: Any = None


class Input(NamedTuple):
    """An argument of a program.

    Attributes:
        name: what it is called.
        shape: of one state's value.
    """

    name: str
    shape: tuple[int, ...]


class Output(NamedTuple):
    """A result of a program.

    Attributes:
        name: what it is called.
        shape: of one state's value.
        nodes: the numbers of the nodes of its elements, in C order.
    """

    name: str
    shape: tuple[int, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A straight-line program over scalars.

    Attributes:
        method: the algorithm, in words; no part of the digest.
        functions: the programs that its calls run; each has an argument for each group, and one
            result.
        name: of what it computes.
        inputs, outputs: its arguments and results.
        nodes: its operations, in the order of execution.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    nodes: tuple[Node, ...]
    method: str = ""
    functions: tuple[Program, ...] = ()

    @property
    def signature(self) -> str:
        """NumPy's signature of the core shapes, such as (7),(7),(7)->(7)."""

        def shapes(operands: Sequence[Input] | Sequence[Output]) -> str:
            return ",".join(f"({','.join(map(str, o.shape))})" for o in operands)

        return f"{shapes(self.inputs)}->{shapes(self.outputs)}"

    @cached_property
    def operations(self) -> Counter[str]:
        """How often each operation is done for one state, leaves and aliases left out.

        Guarded calls are counted as if they were all made.
        """
        total = Counter(node.op for node in self.nodes if node.op not in LEAVES | ALIASES)
        for node in self.nodes:
            if node.op in CALLS:
                total += self.functions[node.value].operations
        return total

    @cached_property
    def truths(self) -> frozenset[int]:
        """The nodes that are truth values and no numbers."""
        return frozenset(n for n, node in enumerate(self.nodes) if node.op in TRUTHS)

    @cached_property
    def guarded(self) -> bool:
        """Whether it has guarded calls."""
        return any(node.op == "call_if" for node in self.nodes)

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
        for function in self.functions:
            h.update(function.digest.encode())
        return h.hexdigest()


def size(shape: Iterable[int]) -> int:
    """How many elements a shape has."""
    return math.prod(shape)


@without_searches()
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
        limit: how many nodes may be traced; TooLongError beyond. Above
            LONGEST_WITHOUT_CALLS, what the function runs by `scalar.call` becomes functions of the
            program.

    Returns:
        The program, without the nodes that no result needs.
    """
    shapes = {key: tuple(shape) for key, shape in inputs.items()}
    try:
        with Trace(min(limit, LONGEST_WITHOUT_CALLS), inner=True) as t:
            return _program(name, t, shapes, _traced(t, function, shapes))
    except TooLongError:
        if limit <= LONGEST_WITHOUT_CALLS:
            raise
    with Trace(limit) as t:
        return _program(name, t, shapes, _traced(t, function, shapes))


def _traced(
    t: Trace, function: Callable[..., Mapping[str, Any]], inputs: Mapping[str, tuple[int, ...]]
) -> Results:
    arguments = [
        [t.input(argument, i) for i in range(size(shape))] for argument, shape in inputs.items()
    ]
    try:
        found = function(*arguments)
    except (AttributeError, TypeError) as e:
        if reason := _foreign_function(e):
            raise TraceError(f"{reason} ({str(e).splitlines()[0]})") from e
        raise
    return {key: _flatten(t, value) for key, value in found.items()}


def _foreign_function(error: AttributeError | TypeError) -> str | None:
    """Why another package's function failed with traced scalars; None if that is not the reason."""
    said = str(error)
    if "Cannot cast ufunc" in said:  # the functions of np.linalg take no objects
        return (
            "a function of np.linalg was called with traced scalars, which it does not take; "
            "kinetree.algorithms.dense.inverse_symmetric(A) inverts a symmetric positive definite "
            "matrix"
        )
    if "ufunc" in said or said.startswith("'Expression' object has no attribute"):
        return (
            "a NumPy function was called with traced scalars: use kinetree.scalar instead, as in "
            "kinetree.scalar.sin(q)"
        )
    if "numpy.object_" in said or "JAX" in said or "abstract array" in said:
        return (
            "a function of PyTorch or JAX was called with traced scalars: use NumPy's arrays and "
            "kinetree.scalar instead, as in kinetree.scalar.sin(q)"
        )
    return None


Results = Mapping[str, tuple[tuple[int, ...], list[Expression]]]
"""For each result its shape and its elements."""


def _program(
    name: str, t: Trace, inputs: Mapping[str, tuple[int, ...]], results: Results
) -> Program:
    """What is left of a trace once dead nodes are gone."""
    order = live(t.nodes, (e for _, elements in results.values() for e in elements))
    number = {e.number: i for i, e in enumerate(order)}
    position = {argument: i for i, argument in enumerate(inputs)}
    called = {id(f): f for f in (e.value for e in order if e.op in CALLS)}
    place = {key: i for i, key in enumerate(called)}

    def value(e: Expression) -> Any:
        if e.op == "input":
            return position[e.value[0]], e.value[1]
        return place[id(e.value)] if e.op in CALLS else e.value

    return Program(
        name=name,
        inputs=tuple(Input(argument, shape) for argument, shape in inputs.items()),
        outputs=tuple(
            Output(key, shape, tuple([number[e.number] for e in elements]))
            for key, (shape, elements) in results.items()
        ),
        nodes=tuple(
            [Node(e.op, tuple([number[a.number] for a in e.args]), value(e)) for e in order]
        ),
        functions=tuple(_function(f"{name}.{i}", f) for i, f in enumerate(called.values())),
    )


def _function(name: str, f: Function) -> Program:
    inputs = {str(g): (n,) for g, n in enumerate(f.lengths)}
    return _program(name, f.trace, inputs, {"results": ((len(f.items),), f.items)})


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


def shaped(flat: Sequence[Any], shape: Sequence[int]) -> Any:
    """Nested lists of a shape."""
    if not shape:
        return flat[0]
    step = size(shape[1:])
    return [shaped(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


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
    """The shape and the elements of nested lists of scalars, or of an array of them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
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
