"""Fusing a product with the sum that uses it: one instruction and one rounding for two.

A product is fused only where that removes it: when every user is a sum or difference that is not
already fused with its other argument. Done on the graph and not left to a target, so that every
width of a kernel, and so every position in a batch, rounds alike.
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.compiler.graph.program import Node, Output, Program

NEGATIVE = {"fma": "fnms", "fms": "fnma", "fnma": "fms"}
"""Fused operation -> the one that gives its negative."""


def fuse(program: Program) -> Program:
    """The program with fma, fms, fnma and fnms in place of the products they absorb."""
    users = _users(program)
    partner: dict[int, int] = {}  # sum -> the product it absorbs
    products = [n for n, node in enumerate(program.nodes) if node.op == "mul" and users[n]]
    for product in sorted(products, key=lambda n: len(users[n])):
        if all(
            user >= 0
            and program.nodes[user].op in ("add", "sub")
            and user not in partner
            and users[product].count(user) == 1
            for user in users[product]
        ):
            partner.update(dict.fromkeys(users[product], product))
    absorbed = set(partner.values())
    # a sign, too, goes with the sum that only it uses, and is changed where that is computed
    negated = {
        node.args[0]
        for n, node in enumerate(program.nodes)
        if node.op == "neg" and node.args[0] in partner and users[node.args[0]] == [n]
    }
    nodes: list[Node] = []
    number: dict[int, int] = {}
    for n, node in enumerate(program.nodes):
        if n in absorbed:
            continue
        if node.op == "neg" and node.args[0] in negated:
            number[n] = number[node.args[0]]
            continue
        number[n] = len(nodes)
        fused = _fused(program, node, partner.get(n), number)
        nodes.append(Node(NEGATIVE[fused.op], fused.args) if n in negated else fused)
    outputs = tuple(
        Output(o.name, o.shape, tuple(number[n] for n in o.nodes)) for o in program.outputs
    )
    return replace(
        program,
        outputs=outputs,
        nodes=tuple(nodes),
        functions=tuple(fuse(function) for function in program.functions),
    )


def _fused(program: Program, node: Node, product: int | None, number: dict[int, int]) -> Node:
    if product is None:
        return Node(node.op, tuple([number[a] for a in node.args]), node.value)
    a, b = [number[x] for x in program.nodes[product].args]
    left, right = node.args
    if node.op == "add":
        return Node("fma", (a, b, number[right if left == product else left]))
    if left == product:
        return Node("fms", (a, b, number[right]))
    return Node("fnma", (a, b, number[left]))


def _users(program: Program) -> list[list[int]]:
    """The users of each node; an output counts as user -1."""
    users: list[list[int]] = [[] for _ in program.nodes]
    for n, node in enumerate(program.nodes):
        for a in node.args:
            users[a].append(n)
    for output in program.outputs:
        for n in output.nodes:
            users[n].append(-1)
    return users
