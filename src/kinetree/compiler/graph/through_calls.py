"""Calls that derivatives pass through: they are replaced by what they call.

All others, whose results reach those of the program only through `stop_gradient` or conditions,
stay calls of one routine.

What a guarded call has computed where its condition does not hold may be infinite. Rates are
chosen, not weighted; but weights of a reverse sweep meet such numbers as factors. So the nodes that
nothing but such a call uses are known here, with the condition under which they count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from kinetree.compiler.graph.expression import Expression, Trace
from kinetree.compiler.graph.program import Program
from kinetree.scalar import ALIASES, CALLS, TRUTHS, logical_and


class Region(NamedTuple):
    """The nodes of one guarded call.

    condition: its own.
    whole: it and those of the calls around it.
    around: the regions that this one is in, itself included.
    """

    condition: Expression
    whole: Expression
    around: frozenset[int]


class ThroughCalls:
    """The calls of a program that derivatives pass through, replaced in a trace.

    regions: of nodes that were made in place of guarded calls.
    """

    def __init__(self, t: Trace) -> None:
        self.t = t
        self.regions: dict[int, Region] = {}
        self._now: Region | None = None
        self._count = 0

    def calls(self, program: Program) -> set[int]:
        """The calls of a program whose results change its own."""
        pending = [n for output in program.outputs for n in output.nodes]
        reached = set(pending)
        while pending:
            node = program.nodes[pending.pop()]
            for a in node.args[1:] if node.op in ALIASES else node.args:
                if a not in reached and a not in program.truths:
                    reached.add(a)
                    pending.append(a)
        return {n for n in reached if program.nodes[n].op in CALLS}

    @contextmanager
    def within(self, condition: Any) -> Iterator[None]:
        """While a guarded call is replaced, note the nodes that are made."""
        if type(condition) is not Expression:
            yield
            return
        before, first = self._now, len(self.t.nodes)
        whole = condition if before is None else logical_and(before.whole, condition)
        around = frozenset() if before is None else before.around
        self._count += 1
        self._now = region = Region(condition, whole, around | {self._count})
        yield
        for n in range(first, len(self.t.nodes)):
            self.regions.setdefault(n, region)
        self._now = before

    def gates(
        self, nodes: Sequence[Expression], outputs: set[int], users: Mapping[int, Sequence[int]]
    ) -> dict[int, Expression]:
        """The conditions under which nodes count that nothing uses but their guarded call.

        Arguments:
            nodes: those that are needed, in their order.
            outputs: the numbers of those that are results.
            users: the nodes that use each.
        """
        place = {node.number: node for node in nodes}
        found: dict[int, Expression] = {}
        for node in reversed(nodes):
            region = self.regions.get(node.number)
            if region is not None and node.number not in outputs:
                own = (place[user] for user in users.get(node.number, ()))
                weighing = (user for user in own if user.op not in TRUTHS)
                if all(self._counts_in(region, node, user, found) for user in weighing):
                    found[node.number] = region.whole
        return found

    def _counts_in(
        self, region: Region, node: Expression, user: Expression, found: Mapping[int, Expression]
    ) -> bool:
        """Whether a user needs a node only where its region's condition holds."""
        other = self.regions.get(user.number)
        if other is not None and region.around <= other.around:
            return user.number in found
        is_choice = user.op == "select" and user.args[0] is region.condition
        return is_choice and user.args[1] is node and user.args[2] is not node
