"""Table 3 of Echeandia & Wensing again: how long closed forms of the Christoffel symbols take.

SymPy keeps the derivatives of expressions it has met in a cache. That changes what is compared, so
times are taken with the cache and, in a process of its own, without.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from kinetree import algorithms
from kinetree.model import Model
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link
from kinetree.model.joints import Revolute
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

Symbols = list[list[list[Any]]]


class Measured(NamedTuple):
    """Of one way on one mechanism.

    seconds: of the processor.
    length: operations, if every symbol is written out.
    """

    seconds: float
    length: int


def planar_tree(n: int, branching: int = 2) -> Model:
    """A planar mechanism in which every link carries `branching` others, with exact numbers."""
    import sympy

    half, tenth = sympy.Rational(1, 2), sympy.Rational(1, 10)
    inertia = Inertia.about_center(1, Vector3(half, 0, 0), Symmetric3(0, 0, tenth, 0, 0, 0))
    links, connections = [Link("base", Inertia.zero())], []
    for i in range(1, n + 1):
        links.append(Link(f"link{i:02}", inertia))
        parent = "base" if i == 1 else f"link{1 + (i - 2) // branching:02}"
        place = Transform(Rotation.identity(), Vector3(0 if i == 1 else 1, 0, 0))
        axis = Revolute(Vector3(0, 0, 1))
        connections.append(Connection(f"joint{i:02}", parent, links[-1].name, place, axis))
    return assemble(Description(f"planar{n}", links, connections))


def partials(model: Model, q: list[Any]) -> Symbols:
    """The symbols by differentiating a symbolic mass matrix (4)."""
    import sympy

    n, H = model.nv, algorithms.crba(model, q)
    d = [[[sympy.diff(H[i][j], x) for x in q] for j in range(n)] for i in range(n)]
    half = sympy.Rational(1, 2)
    return [
        [[half * (d[i][j][k] + d[i][k][j] - d[j][k][i]) for k in range(n)] for j in range(n)]
        for i in range(n)
    ]


WAYS: dict[str, Callable[..., Symbols]] = {
    "partials of H (4)": partials,
    "Algorithm 2": algorithms.christoffel_symbols,
}


def measured(way: str, n: int, branching: int, runs: int = 3) -> Measured:
    """One way, from nothing: SymPy's cache is emptied first. The fastest of some runs counts."""
    import sympy

    model, q = planar_tree(n, branching), list(sympy.symbols(f"q1:{n + 1}"))
    seconds = math.inf
    for _ in range(runs):
        sympy.core.cache.clear_cache()
        started = time.process_time()
        found = WAYS[way](model, q)
        seconds = min(seconds, time.process_time() - started)
    known: dict[Any, int] = {}
    return Measured(seconds, sum(written_out(entry, known) for entry in sympy.flatten(found)))


def measured_without_cache(way: str, n: int, branching: int) -> Measured:
    """The same with SymPy's cache switched off, which only its environment can do."""
    code = f"import json; from {__name__} import measured as f; print(json.dumps(f(*{{}})))"
    run = subprocess.run(
        [sys.executable, "-c", code.format((way, n, branching))],
        env={**os.environ, "SYMPY_USE_CACHE": "no"},
        capture_output=True,
        text=True,
        check=True,
    )
    return Measured(*json.loads(run.stdout))


def written_out(expression: Any, known: dict[Any, int]) -> int:
    """The operations of an expression when nothing in it is shared: one a further operand.

    Arguments:
        expression: of SymPy.
        known: what was counted before, which keeps shared parts from being walked again.
    """
    if expression not in known:
        operands = expression.args
        total = sum(written_out(part, known) for part in operands)
        known[expression] = total + max(len(operands) - 1, 1) if operands else 0
    return known[expression]
