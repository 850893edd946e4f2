"""Scalar programs: tracing, folding, verification, interpretation.

    expression ──► fold ──► program ──► verify ──► schedule, fuse ──► (emit)

The graph knows nothing of robots. A *trace* records what a Python function does to symbolic
scalars as hash-consed nodes from one closed set of operations; a *program* is what is left of it
once dead nodes are gone.
"""

from kinetree.compiler.graph.expression import Expression, TooLongError, Trace
from kinetree.compiler.graph.guarded import guarded_call
from kinetree.compiler.graph.interpret import interpret
from kinetree.compiler.graph.program import Input, Node, Output, Program, trace
from kinetree.compiler.graph.verify import verify

__all__ = [
    "Expression",
    "Input",
    "Node",
    "Output",
    "Program",
    "TooLongError",
    "Trace",
    "guarded_call",
    "interpret",
    "trace",
    "verify",
]
