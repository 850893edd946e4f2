"""Guarded calls in a trace: what `scalar.call_if` runs where a condition holds.

The function is traced apart, once for all calls that have zeros and ones in the same places and in
which the same arguments stand for results where the condition does not hold. In the trace there is
a `call_if` node: the condition, the arguments that the function reads, and a value for each result
that it changes; and an `item` node for each of those. A result that is zero or one whether the
call is made or not is that number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree import scalar
from kinetree.compiler.graph.expression import SPECIAL, Expression, Trace, Traced
from kinetree.compiler.graph.program import live
from kinetree.errors import TraceError
from kinetree.scalar import TRUTHS
from kinetree.scalar.calls import check_structure
from kinetree.scalar.structure import put_together, take_apart


class GuardedFunction:
    """What a guarded call runs.

    Attributes:
        lengths: how many scalars its one group of arguments has: those that it reads.
        items: the results that it changes.
        arguments: the positions of those that it reads, among all.
        changed: the positions of those that it changes, among all results.

    Arguments:
        pattern: for each scalar of the arguments, its number if that is special.
        links: for each result, the argument that stands for it where the condition does not hold.
        blanks: or the number that does, if that is special.
        wanted: the structure of the results.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        structures: Sequence[Any],
        pattern: Sequence[float | None],
        links: Sequence[int | None],
        blanks: Sequence[float | None],
        wanted: Any,
        limit: float,
    ) -> None:
        self.trace = t = Trace(limit, inner=True)
        given: list[Traced] = []
        for number in pattern:
            known = number is not None
            given.append(number if known else t.input("0", len(given)))
        scalars = iter(given)
        values = [put_together(structure, scalars) for structure in structures]
        found: list[Any] = []
        check_structure(function, take_apart(function(*values), found), wanted)
        results = [_number(t, x) for x in found]
        self.changed = [
            k
            for k, (x, link, blank) in enumerate(zip(results, links, blanks, strict=True))
            if (type(x) is not float or x != blank if link is None else x is not given[link])
        ]
        self.items = [t.lift(results[k]) for k in self.changed]
        inputs = [e for e in live(t.nodes, self.items) if e.op == "input"]
        self.arguments = [e.value[1] for e in inputs]
        for k, e in enumerate(inputs):
            e.value = ("0", k)
        self.lengths = (len(inputs),)


def guarded_call(
    condition: Expression, function: Callable[..., Any], values: Sequence[Any], otherwise: Any
) -> Any:
    """The results of a function where a condition holds, and other values elsewhere."""
    t = condition.trace
    if condition.op not in TRUTHS:
        raise TraceError("call_if of a number: a condition is expected, such as a < b")
    scalars: list[Any] = []
    others: list[Any] = []
    structures = tuple([take_apart(value, scalars) for value in values])
    wanted = take_apart(otherwise, others)
    operands, kept = ([_number(t, x) for x in xs] for xs in (scalars, others))
    links = _links(operands, kept)
    linked = set(links)
    pattern = tuple(
        [
            x if type(x) is float and x in SPECIAL and i not in linked else None
            for i, x in enumerate(operands)
        ]
    )
    blanks = tuple(
        [
            x if type(x) is float and x in SPECIAL and link is None else None
            for x, link in zip(kept, links, strict=True)
        ]
    )
    called = t.function(
        (function, structures, pattern, links, blanks, wanted),
        lambda: GuardedFunction(function, structures, pattern, links, blanks, wanted, t.limit),
    )
    results = list(kept)
    if called.items:
        given = [*(operands[i] for i in called.arguments), *(kept[k] for k in called.changed)]
        call = t.calling("call_if", called, [condition, *map(t.lift, given)])
        for item, k in enumerate(called.changed):
            results[k] = t.item(call, item)
    return put_together(wanted, iter(results))


def _number(t: Trace, value: Any) -> Traced:
    """A float or an expression that is a number."""
    found = t.operand(value)
    if type(found) is Expression and found.op in TRUTHS:
        raise TraceError(
            "a condition among the values of call_if: only numbers can be passed, such as "
            "kinetree.scalar.select(condition, 1.0, 0.0)"
        )
    return found


def _links(operands: Sequence[Traced], kept: Sequence[Traced]) -> tuple[int | None, ...]:
    """For each value, the argument that is the same, in runs that are as long as can be.

    Numbers have one only if all values are a run, as the first state of an iteration is: else the
    function would not know them any more.
    """
    given, wanted = [_key(x) for x in operands], [_key(x) for x in kept]
    places: dict[Any, list[int]] = {}
    for i, key in enumerate(given):
        places.setdefault(key, []).append(i)
    links: list[int | None] = []
    while len(links) < len(kept):
        at = len(links)
        runs = [_run(given, wanted, i, at) for i in places.get(wanted[at], ())]
        if at or not any(len(run) == len(kept) for run in runs):
            runs = [_of_nodes(operands, run) for run in runs]
        links += list(max(runs, key=len, default=())) or [None]
    return tuple(links)


def _run(given: Sequence[Any], wanted: Sequence[Any], start: int, at: int) -> range:
    """The arguments from `start` on that are the same as the values from `at` on, by their keys."""
    most = min(len(given) - start, len(wanted) - at)
    count = next((k for k in range(most) if given[start + k] != wanted[at + k]), most)
    return range(start, start + count)


def _of_nodes(operands: Sequence[Traced], run: range) -> range:
    """The beginning of a run, up to the first number."""
    stop = next((i for i in run if type(operands[i]) is float), run.stop)
    return range(run.start, stop)


def _key(x: Traced) -> Any:
    return ("node", x.number) if type(x) is Expression else x


scalar.register_guards(Expression, guarded_call)
