"""Aliases left out: what is another node's value becomes that node.

Derivatives are made before; no target sees an alias.
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.compiler.graph.program import Node, Output, Program
from kinetree.scalar import ALIASES, CALLS


def without_aliases(program: Program) -> Program:
    """The same program, each alias replaced by what it stands for.

    What only the derivatives of aliases need is left out.
    """
    return _Merged(program).program if _has_aliases(program) else program


def _has_aliases(program: Program) -> bool:
    own = any(node.op in ALIASES for node in program.nodes)
    return own or any(map(_has_aliases, program.functions))


class _Merged:
    """A program without aliases; of a function, also which of its results each one is now.

    Of a function, results that have become the same node are one, unless its calls are guarded:
    these have a value for each result.
    """

    def __init__(self, program: Program, distinct: bool = False) -> None:
        plain = {node.value for node in program.nodes if node.op == "call"}
        self._functions = [_Merged(f, k in plain) for k, f in enumerate(program.functions)]
        self._nodes: list[Node] = []
        self._number: list[int] = []
        self._items: dict[tuple[int, int], int] = {}
        for node in program.nodes:
            self._number.append(self._moved(program, node))
        outputs = tuple(
            Output(o.name, o.shape, tuple(self._number[n] for n in o.nodes))
            for o in program.outputs
        )
        self.position = list(range(sum(len(o.nodes) for o in outputs)))
        if distinct:
            (output,) = outputs
            places = {n: k for k, n in enumerate(dict.fromkeys(output.nodes))}
            self.position = [places[n] for n in output.nodes]
            outputs = (Output(output.name, (len(places),), tuple(places)),)
        functions = tuple(function.program for function in self._functions)
        self.program: Program = _needed(
            replace(program, outputs=outputs, nodes=tuple(self._nodes), functions=functions)
        )

    def _moved(self, program: Program, node: Node) -> int:
        """The number of a node among those that are left."""
        args = tuple([self._number[a] for a in node.args])
        if node.op in ALIASES:
            return args[0]
        if node.op != "item":
            return self._added(Node(node.op, args, node.value))
        called = program.nodes[node.args[0]].value
        key = args[0], self._functions[called].position[node.value]
        if key not in self._items:
            self._items[key] = self._added(Node("item", args, key[1]))
        return self._items[key]

    def _added(self, node: Node) -> int:
        self._nodes.append(node)
        return len(self._nodes) - 1


def _needed(program: Program) -> Program:
    """The program without nodes and functions that its results do not need."""
    pending = [n for output in program.outputs for n in output.nodes]
    needed = set(pending)
    while pending:
        for a in program.nodes[pending.pop()].args:
            if a not in needed:
                needed.add(a)
                pending.append(a)
    order = [n for n, node in enumerate(program.nodes) if n in needed or node.op == "input"]
    number = {n: k for k, n in enumerate(order)}
    called = sorted({program.nodes[n].value for n in order if program.nodes[n].op in CALLS})
    place = {function: k for k, function in enumerate(called)}

    def moved(node: Node) -> Node:
        value = place[node.value] if node.op in CALLS else node.value
        return Node(node.op, tuple([number[a] for a in node.args]), value)

    return replace(
        program,
        outputs=tuple(
            o._replace(nodes=tuple([number[n] for n in o.nodes])) for o in program.outputs
        ),
        nodes=tuple([moved(program.nodes[n]) for n in order]),
        functions=tuple(program.functions[k] for k in called),
    )
