"""Differentiation: programs made from a program by the chain rule, forward and in reverse.

One table says how each operation changes with its arguments. A forward sweep carries rates along
a direction from the arguments to the results; a reverse sweep carries weights of results back to
the arguments. Both build nodes in the trace they read, so what a derivative shares with the
program, or with other derivatives, is there once; where nothing changes, nothing is built.

An argument may be a point of a manifold with fewer directions than numbers. Its *chart* gives, at
the argument, the rate of its numbers along each direction; derivatives are then by directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from kinetree.compiler.graph import fold
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.expression import Expression, Trace, Traced
from kinetree.compiler.graph.program import Program, live, shaped, size, trace
from kinetree.compiler.graph.through_calls import ThroughCalls
from kinetree.scalar import ALIASES, LEAVES, OPERATIONS

TangentMap = Callable[[Sequence[Expression]], Sequence[Sequence[Any]]]
"""From an argument's numbers to their rates along each direction: rows are directions."""
Sparse = dict[int, Traced]
"""Node -> a number that goes with it; what is not there is zero."""


def partials(node: Expression) -> Iterable[tuple[Expression, Traced]]:
    """The arguments a node changes with, each with how much."""
    if node.args and node.op not in LEAVES:  # changes do not pass the calls that are left
        rule = OPERATIONS[node.op].partials
        assert rule is not None
        # numbers stay floats, so that products with them fold
        args = [x.value if x.op == "const" else x for x in node.args]
        for argument, factor in zip(node.args, rule(node, *args), strict=True):
            if factor is not None:
                yield argument, factor


def push(nodes: Iterable[Expression], rates: Sparse) -> Sparse:
    """A forward sweep: the rates of nodes, in their order, from those of their arguments."""
    tangents = dict(rates)
    for node in nodes:
        if not _uses(node, tangents):
            continue
        total = None
        for argument, factor in partials(node):
            rate = tangents.get(argument.number)
            if rate is not None:
                term = factor * rate
                total = term if total is None else total + term
        if total is not None and not _is_zero(total):
            tangents[node.number] = total
    return tangents


def pull(
    nodes: Sequence[Expression],
    weights: Sparse,
    moving: set[int],
    gates: Mapping[int, Expression],
) -> Sparse:
    """A reverse sweep: what each moving node weighs, from the weights of what is made of it.

    Arguments:
        gates: of some nodes the conditions without which they weigh nothing.
    """
    cotangents = dict(weights)
    for node in reversed(nodes):
        weight = cotangents.get(node.number)
        if weight is None or _is_zero(weight):
            continue
        if not _uses(node, moving):
            continue
        gate = gates.get(node.number)
        for argument, factor in partials(node):
            if argument.number in moving:
                if gate is not None and type(factor) is Expression:
                    weight = _chosen(gate, weight)
                term = _gated(factor, weight)
                known = cotangents.get(argument.number)
                cotangents[argument.number] = term if known is None else known + term
    return cotangents


def _chosen(condition: Expression, weight: Traced) -> Traced:
    """The weight where a condition holds, else zero."""
    if type(weight) is Expression and weight.op == "select" and weight.args[0] is condition:
        return weight
    return fold.function(condition.trace, "select", condition, weight, 0.0)


def _gated(factor: Traced, weight: Traced) -> Traced:
    """factor * weight; where a choice makes the weight zero, whatever the factor is there."""
    if type(weight) is Expression and weight.op == "select":
        condition, *chosen = weight.args
        a, b = (x.value if x.op == "const" else x for x in chosen)
        if _is_zero(a) or _is_zero(b):
            products = (x if _is_zero(x) else _gated(factor, x) for x in (a, b))
            return fold.function(weight.trace, "select", condition, *products)
    return factor * weight


def _followed(node: Expression) -> tuple[Expression, ...]:
    """The arguments that changes pass through a node from."""
    if node.op in LEAVES:
        return ()
    return node.args[1:] if node.op in ALIASES else node.args


def _is_zero(x: Traced) -> bool:
    return type(x) is not Expression and x == 0.0


def _uses(node: Expression, numbers: Container[int]) -> bool:
    """Whether some of a node's arguments are among others."""
    return any(a.number in numbers for a in node.args)


class _Replay:
    """A program's nodes in a trace, and the directions of its arguments."""

    def __init__(
        self, program: Program, arguments: Sequence[Sequence[Expression]], charts: Mapping[str, Any]
    ) -> None:
        self.program = program
        self.t = arguments[0][0].trace
        self.directions = {
            declared.name: _directions(self.t, numbers, charts.get(declared.name))
            for declared, numbers in zip(program.inputs, arguments, strict=True)
        }
        through = ThroughCalls(self.t)
        made = values(program, arguments, opened=through)
        self.outputs = [[self.t.lift(made[n]) for n in o.nodes] for o in program.outputs]
        self.nodes = live(self.t.nodes, (e for elements in self.outputs for e in elements))
        self.users: dict[int, list[int]] = {}
        for node in self.nodes:
            for a in _followed(node):
                self.users.setdefault(a.number, []).append(node.number)
        results = {e.number for elements in self.outputs for e in elements}
        self.gates = through.gates(self.nodes, results, self.users)

    def moving(self, sources: Iterable[int]) -> set[int]:
        """The nodes that change with some of them."""
        reached = set(sources)
        pending = list(reached)
        while pending:
            for user in self.users.get(pending.pop(), ()):
                if user not in reached:
                    reached.add(user)
                    pending.append(user)
        return reached


def _directions(
    t: Trace, numbers: Sequence[Expression], chart: TangentMap | None
) -> list[list[tuple[Expression, Traced]]]:
    """For each direction of an argument, the numbers that change and their rates."""
    if chart is None:
        return [[(x, 1.0)] for x in numbers]
    directions = []
    for row in chart(numbers):
        rates = [(x, t.operand(rate)) for x, rate in zip(numbers, row, strict=True)]
        directions.append([(x, rate) for x, rate in rates if not _is_zero(rate)])
    return directions


def _shapes(
    program: Program, charts: Mapping[str, TangentMap]
) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """The shapes of a program's arguments, and of the directions they can move in."""
    points = {declared.name: declared.shape for declared in program.inputs}
    free = {}
    for name, shape in points.items():
        chart = charts.get(name)
        if chart is None:
            free[name] = shape
        else:
            t = Trace()
            free[name] = (len(chart([t.input(name, i) for i in range(size(shape))])),)
    return points, free


def _fresh(names: Iterable[str], prefix: str, taken: Iterable[str]) -> dict[str, str]:
    """For each name another that nobody has: with a prefix, or with several."""
    used, renamed = set(taken), {}
    for name in names:
        new = prefix + name
        while new in used:
            new = prefix + new
        renamed[name] = new
        used.add(new)
    return renamed


def jvp(program: Program, charts: Mapping[str, TangentMap]) -> Program:
    """The results and their rates, from arguments and theirs: dq beside q, and so on."""
    points, free = _shapes(program, charts)
    names = _fresh(points, "d", points)
    results = _fresh((o.name for o in program.outputs), "d", (o.name for o in program.outputs))

    def function(*arrays: Sequence[Expression]) -> dict[str, Any]:
        primals, along = arrays[: len(points)], arrays[len(points) :]
        replay = _Replay(program, primals, charts)
        rates: Sparse = {}
        for directions, amounts in zip(replay.directions.values(), along, strict=True):
            for direction, amount in zip(directions, amounts, strict=True):
                for x, rate in direction:
                    term = rate * amount
                    known = rates.get(x.number)
                    rates[x.number] = term if known is None else known + term
        tangents = push(replay.nodes, rates)
        values = {}
        for output, elements in zip(program.outputs, replay.outputs, strict=True):
            changes = [tangents.get(e.number, 0) for e in elements]
            values[output.name] = shaped(elements, output.shape)
            values[results[output.name]] = shaped(changes, output.shape)
        return values

    return trace(f"{program.name}.jvp", function, points | {names[n]: free[n] for n in points})


def vjp(program: Program, charts: Mapping[str, TangentMap], wrt: Sequence[str]) -> Program:
    """The gradients of the results' weighted sum, by some arguments: from those and the weights."""
    points, _ = _shapes(program, charts)
    names = _fresh((o.name for o in program.outputs), "weights_", points)
    weights = {names[o.name]: o.shape for o in program.outputs}

    def function(*arrays: Sequence[Expression]) -> dict[str, Any]:
        primals, weighing = arrays[: len(points)], arrays[len(points) :]
        replay = _Replay(program, primals, charts)
        start: Sparse = {}
        for elements, amounts in zip(replay.outputs, weighing, strict=True):
            for e, amount in zip(elements, amounts, strict=True):
                start[e.number] = start[e.number] + amount if e.number in start else amount
        moving = replay.moving(_sources(replay, wrt))
        cotangents = pull(replay.nodes, start, moving, replay.gates)
        return {
            f"d{name}": [_weight(d, cotangents) for d in replay.directions[name]] for name in wrt
        }

    return trace(f"{program.name}.vjp", function, points | weights)


def jacobian(
    program: Program,
    charts: Mapping[str, TangentMap],
    wrt: Sequence[str],
    keep: Mapping[str, str] | None = None,
    limit: float = math.inf,
) -> Program:
    """The derivatives of each result by some arguments, their directions as a last axis.

    Arguments:
        wrt: names of arguments.
        keep: if not all derivatives are wanted, which, and how they are to be called: by
            "dresult_dargument", as they are called else.
        limit: as in `trace`.
    """
    points, _ = _shapes(program, charts)

    def function(*arrays: Sequence[Expression]) -> dict[str, Any]:
        replay = _Replay(program, arrays, charts)
        columns = [d for name in wrt for d in replay.directions[name]]
        rows = [e for elements in replay.outputs for e in elements]
        matrix = _matrix(replay, rows, columns)
        results: dict[str, Any] = {}
        row = 0
        for output, elements in zip(program.outputs, replay.outputs, strict=True):
            own, row = matrix[row : row + len(elements)], row + len(elements)
            start = 0
            for name in wrt:
                stop = start + len(replay.directions[name])
                flat = [x for line in own for x in line[start:stop]]
                shape = (*output.shape, stop - start)
                results[f"d{output.name}_d{name}"] = shaped(flat, shape)
                start = stop
        return results if keep is None else {keep[name]: results[name] for name in keep}

    return trace(f"{program.name}.jacobian", function, points, limit)


def _sources(replay: _Replay, wrt: Iterable[str]) -> set[int]:
    return {x.number for name in wrt for d in replay.directions[name] for x, _ in d}


def _weight(direction: Iterable[tuple[Expression, Traced]], cotangents: Sparse) -> Any:
    total: Any = 0
    for x, rate in direction:
        if x.number in cotangents:
            total = total + rate * cotangents[x.number]
    return total


def _matrix(
    replay: _Replay,
    rows: Sequence[Expression],
    columns: Sequence[Sequence[tuple[Expression, Traced]]],
) -> list[list[Any]]:
    """The derivatives of rows by columns: column by column or row by row, as takes fewer steps."""
    needed: dict[int, int] = {}  # node -> how many rows need it
    distinct = list({e.number: e for e in rows}.values())
    for e in distinct:
        for node in _below(e):
            needed[node] = needed.get(node, 0) + 1
    reached = [replay.moving(x.number for x, _ in d) for d in columns]
    moving: set[int] = set().union(*reached)
    forward = sum(len(r) for r in reached)
    reverse = 2 * sum(count for n, count in needed.items() if n in moving)
    if forward <= reverse:
        place = {node.number: node for node in replay.nodes}
        sweeps = [
            push(
                (place[n] for n in sorted(touched) if n in place), {x.number: rate for x, rate in d}
            )
            for d, touched in zip(columns, reached, strict=True)
        ]
        return [[column.get(e.number, 0) for column in sweeps] for e in rows]
    lines = {
        e.number: [
            _weight(d, weights)
            for weights in [pull(replay.nodes, {e.number: 1.0}, moving, replay.gates)]
            for d in columns
        ]
        for e in distinct
    }
    return [lines[e.number] for e in rows]


def _below(e: Expression) -> set[int]:
    """The numbers of the nodes that one needs, its own included."""
    below: set[int] = set()
    pending = [e]
    while pending:
        node = pending.pop()
        if node.number not in below:
            below.add(node.number)
            pending.extend(_followed(node))
    return below
