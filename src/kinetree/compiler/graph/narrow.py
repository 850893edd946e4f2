"""The order of a program's nodes that keeps few values alive.

Two orders are compared: that of the trace, and depth first from the results, which finishes each
result before it begins the next. Which of them is better depends on the algorithm. The measure is
the largest number of values that are waiting to be used.
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.compiler.graph.program import Output, Program
from kinetree.scalar import LEAVES


def narrow(program: Program) -> Program:
    """The same program in the better of the two orders."""
    other = depth_first(program)
    return other if most_alive(other) < most_alive(program) else program


def depth_first(program: Program) -> Program:
    """The program with each result computed to its end before the next one."""
    order: list[int] = []
    done: set[int] = set()
    for output in program.outputs:
        for result in output.nodes:
            pending = [(result, False)]
            while pending:
                n, ready = pending.pop()
                if n in done:
                    continue
                if ready:
                    done.add(n)
                    order.append(n)
                else:
                    pending.append((n, True))
                    pending += ((a, False) for a in reversed(program.nodes[n].args))
    number = {n: k for k, n in enumerate(order)}
    nodes = [program.nodes[n] for n in order]
    return replace(
        program,
        nodes=tuple(node._replace(args=tuple(number[a] for a in node.args)) for node in nodes),
        outputs=tuple(
            Output(o.name, o.shape, tuple(number[n] for n in o.nodes)) for o in program.outputs
        ),
    )


def most_alive(program: Program) -> int:
    """The largest number of values alive at once, less those that can be loaded again."""
    last: dict[int, int] = {}
    for n, node in enumerate(program.nodes):
        last.update(dict.fromkeys(node.args, n))
    ending = [0] * len(program.nodes)
    for n, at in last.items():
        if program.nodes[n].op not in LEAVES:
            ending[at] += 1
    alive = most = 0
    for n, node in enumerate(program.nodes):
        alive -= ending[n]
        if node.op not in LEAVES and n in last:
            alive += 1
        most = max(most, alive)
    return most
