"""The verifier: a broken program for every rule, and good ones."""

import math

import pytest

from kinetree import robots
from kinetree.compiler.graph import Input, Node, Output, Program, trace, verify
from kinetree.compiler.graph.fuse import fuse
from kinetree.errors import VerificationError
from kinetree.scalar import atan2, cos, less, select, sin, sqrt

X = Node("input", (), (0, 0))
Y = Node("input", (), (0, 1))


def program(*nodes, result=None, outputs=None):
    """A program of some nodes whose result is the last, or another."""
    inputs = (Input("x", (2,)),)
    if outputs is None:
        outputs = (Output("y", (1,), (len(nodes) - 1 if result is None else result,)),)
    return Program("broken", inputs, outputs, nodes)


BROKEN = {
    "an unknown operation": (
        program(X, Node("tan", (0,))),
        r"node 1 \(tan\) is not an operation",
    ),
    "too many arguments": (
        program(X, Y, Node("neg", (0, 1))),
        r"node 2 \(neg\) has 2 arguments, 1 expected",
    ),
    "too few arguments": (
        program(X, Node("add", (0,))),
        r"node 1 \(add\) has 1 arguments, 2 expected",
    ),
    "arguments of a leaf": (
        program(X, Node("const", (0,), 1.0)),
        r"node 1 \(const\) has 1 arguments, 0 expected",
    ),
    "an argument that comes later": (
        program(X, Node("add", (0, 2)), Y),
        r"node 1 \(add\) uses node 2, which does not come before it",
    ),
    "itself as an argument": (
        program(X, Node("neg", (1,))),
        r"node 1 \(neg\) uses node 1, which does not come before it",
    ),
    "a negative argument": (
        program(X, Node("neg", (-1,))),
        r"node 1 \(neg\) uses node -1, which does not come before it",
    ),
    "an argument that is not there": (
        program(X, Node("neg", (7,))),
        r"node 1 \(neg\) uses node 7, which does not come before it",
    ),
    "a truth value in arithmetic": (
        program(X, Y, Node("less", (0, 1)), Node("add", (0, 2))),
        r"node 3 \(add\) uses node 2, which is 'b' and not 'r'",
    ),
    "a number as a condition": (
        program(X, Y, Node("select", (0, 0, 1))),
        r"node 2 \(select\) uses node 0, which is 'r' and not 'b'",
    ),
    "an infinite constant": (
        program(Node("const", (), math.inf)),
        r"node 0 \(const\) holds inf, not a finite number",
    ),
    "a constant that is not a number": (
        program(Node("const", (), math.nan)),
        r"node 0 \(const\) holds nan, not a finite number",
    ),
    "an integer as a constant": (
        program(Node("const", (), 1)),
        r"node 0 \(const\) holds 1, not a finite number",
    ),
    "a constant without its value": (
        program(Node("const", ())),
        r"node 0 \(const\) holds None, not a finite number",
    ),
    "an argument beyond the last": (
        program(Node("input", (), (1, 0))),
        r"node 0 \(input\) reads argument 1 of 1",
    ),
    "an argument before the first": (
        program(Node("input", (), (-1, 0))),
        r"node 0 \(input\) reads argument -1 of 1",
    ),
    "an element beyond the last": (
        program(X, Node("input", (), (0, 2)), Node("add", (0, 1))),
        r"node 1 \(input\) reads element 2 of Input\(name='x', shape=\(2,\)\)",
    ),
    "an element before the first": (
        program(Node("input", (), (0, -1))),
        r"node 0 \(input\) reads element -1 of",
    ),
    "an input that says nothing": (
        program(Node("input", ())),
        r"node 0 \(input\)",
    ),
    "a result with too few nodes": (
        program(X, outputs=(Output("y", (2, 2), (0, 0)),)),
        r"result 'y' has 2 nodes for \(2, 2\)",
    ),
    "a result with too many nodes": (
        program(X, outputs=(Output("y", (), (0, 0)),)),
        r"result 'y' has 2 nodes for \(\)",
    ),
    "a result that is not there": (
        program(X, result=1),
        r"result 'y' is node 1, which is not a number",
    ),
    "a negative result": (
        program(X, result=-1),
        r"result 'y' is node -1, which is not a number",
    ),
    "a truth value as result": (
        program(X, Y, Node("less", (0, 1))),
        r"result 'y' is node 2, which is not a number",
    ),
    "a dead operation": (
        program(X, Node("neg", (0,)), Node("sin", (0,)), result=1),
        "node 2 is dead",
    ),
    "a dead leaf": (
        program(Node("const", (), 1.0), X, Node("neg", (1,))),
        "node 0 is dead",
    ),
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_a_program_with_one_fault_is_refused_and_the_node_named(broken, message):
    with pytest.raises(VerificationError, match=message) as caught:
        verify(broken)
    assert str(caught.value).startswith("program 'broken': ")


def everything(x):
    a, b, c = x
    s = sin(a * b + c) - cos(a * b - c)
    root = sqrt(s * s + 1.0)
    return {"y": [select(less(s, root / b), atan2(s, -a), 2.0), s], "z": [[a, 1.0], [s, s]], "w": a}


@pytest.mark.parametrize(
    "good",
    [
        trace("everything", everything, {"x": (3,)}),
        fuse(trace("everything", everything, {"x": (3,)})),
        trace("constant", lambda x: {"y": [1.0]}, {"x": (3,)}),
        trace("empty", lambda x: {"y": []}, {"x": (3,)}),
        Program("no inputs", (), (Output("y", (), (0,)),), (Node("const", (), 0.0),)),
        Program("nothing", (), (), ()),
    ],
    ids=lambda p: p.name,
)
def test_a_good_program_is_given_back(good):
    assert verify(good) is good


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_the_programs_of_a_robot_are_good_before_and_after_fusing(quantity):
    program = robots.tree(5, base="floating").kernel(quantity).program
    assert verify(program) is program
    verify(fuse(program))
