"""Programs: what a trace leaves, its texts and counts, and its digest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree.compiler.graph import Input, Node, Output, Program, trace
from kinetree.scalar import atan2, cos, less, select, sin, sqrt


def rotate(x, scale=1.5, name="rotate", output="y"):
    """A small program, to be changed in one place at a time."""

    def function(x):
        s, c = sin(x[2]), cos(x[2])
        return {output: [scale * (c * x[0] - s * x[1]), scale * (s * x[0] + c * x[1])]}

    return trace(name, function, x)


# tracing


def test_a_trace_is_the_operations_of_the_function_in_order():
    program = trace("p", lambda x, y: {"z": [x[0] * y[1] + 2.0]}, {"x": (1,), "y": (2,)})
    assert program == Program(
        "p",
        (Input("x", (1,)), Input("y", (2,))),
        (Output("z", (1,), (4,)),),
        (
            Node("input", (), (0, 0)),
            Node("input", (), (1, 1)),
            Node("mul", (0, 1)),
            Node("const", (), 2.0),
            Node("add", (2, 3)),
        ),
    )


def test_nodes_that_no_result_needs_are_removed():
    def function(x):
        dead = sin(x[0]) * 17.0 + x[1]
        assert dead is not None
        return {"y": [x[2] + 1.0]}

    program = trace("p", function, {"x": (3,)})
    assert [node.op for node in program.nodes] == ["input", "const", "add"]
    assert program.nodes[0].value == (0, 2)


def test_nodes_whose_users_were_folded_away_are_removed():
    program = trace("p", lambda x: {"y": [0.0 * sqrt(x[0]) + x[1]]}, {"x": (2,)})
    assert [node.op for node in program.nodes] == ["input"]


def test_an_argument_that_no_result_needs_keeps_its_place():
    program = trace("p", lambda x, unused, y: {"z": [y[0]]}, {"x": (1,), "unused": (4,), "y": (1,)})
    assert [i.name for i in program.inputs] == ["x", "unused", "y"]
    assert program.nodes == (Node("input", (), (2, 0)),)


def test_nested_results_get_shapes_the_last_axis_fastest():
    def function(x):
        rows = [[x[0], x[1], x[2]], [x[3], x[4], x[5]]]
        return {"scalar": x[0], "vector": x[:2], "matrix": rows, "cube": [rows, rows], "none": []}

    program = trace("p", function, {"x": (2, 3)})
    shapes = {o.name: o.shape for o in program.outputs}
    assert shapes == {
        "scalar": (),
        "vector": (2,),
        "matrix": (2, 3),
        "cube": (2, 2, 3),
        "none": (0,),
    }
    elements = {o.name: [program.nodes[n].value[1] for n in o.nodes] for o in program.outputs}
    assert elements == {
        "scalar": [0],
        "vector": [0, 1],
        "matrix": [0, 1, 2, 3, 4, 5],
        "cube": [0, 1, 2, 3, 4, 5] * 2,
        "none": [],
    }


def test_tuples_nest_like_lists():
    program = trace("p", lambda x: {"y": ((x[0], x[1]), (x[1], x[0]))}, {"x": (2,)})
    assert program.outputs[0].shape == (2, 2)


def test_a_function_is_given_one_flat_list_of_scalars_per_input():
    seen = []
    trace(
        "p", lambda *a: seen.extend(map(len, a)) or {"y": [0.0]}, {"s": (), "v": (3,), "m": (2, 4)}
    )
    assert seen == [1, 3, 8]


def test_numbers_are_results_too():
    program = trace("p", lambda x: {"y": [1, 2.5, x[0]]}, {"x": (1,)})
    assert sorted(program.nodes[n].value for n in program.outputs[0].nodes[:2]) == [1.0, 2.5]


@pytest.mark.parametrize(
    "ragged",
    [
        lambda x: [[x[0], x[1]], [x[0]]],
        lambda x: [x[0], [x[1]]],
        lambda x: [[[x[0]]], [[x[0], x[1]]]],
        lambda x: [[], [x[0]]],
    ],
)
def test_a_ragged_result_is_refused(ragged):
    with pytest.raises(ValueError, match="ragged"):
        trace("p", lambda x: {"y": ragged(x)}, {"x": (2,)})


# texts and counts


def test_the_signature_is_that_of_a_gufunc():
    program = trace(
        "p",
        lambda a, b, c: {"y": [[a[0]] * 4] * 2, "z": b[0], "e": []},
        {"a": (2, 3), "b": (), "c": (7,)},
    )
    assert program.signature == "(2,3),(),(7)->(2,4),(),(0)"


def test_operations_are_counted_without_leaves():
    def function(x):
        s, c = sin(x[0]), cos(x[0])
        return {"y": [s * c + 1.0, s * c - 2.0, -s / c, sqrt(c * c), select(less(s, c), s, 3.0)]}

    program = trace("p", function, {"x": (1,)})
    assert program.operations == {
        "sin": 1,
        "cos": 1,
        "mul": 2,
        "add": 1,
        "sub": 1,
        "div": 1,
        "neg": 1,
        "sqrt": 1,
        "less": 1,
        "select": 1,
    }


def test_a_function_costs_thirty_operations():
    assert trace("p", lambda x: {"y": [x[0], 1.0]}, {"x": (1,)}).cost == 0
    assert trace("p", lambda x: {"y": [x[0] * x[1] + 2.0]}, {"x": (2,)}).cost == 2
    assert trace("p", lambda x: {"y": [sin(x[0]), cos(x[0])]}, {"x": (1,)}).cost == 60
    assert trace("p", lambda x: {"y": [atan2(x[0], x[1]) - 1.0]}, {"x": (2,)}).cost == 31


# digests


def test_equal_programs_have_equal_digests():
    assert rotate({"x": (3,)}).digest == rotate({"x": (3,)}).digest
    assert rotate({"x": (3,)}) == rotate({"x": (3,)})


@pytest.mark.parametrize(
    "other",
    [
        rotate({"x": (3,)}, scale=1.5000000000000002),
        rotate({"x": (3,)}, name="turn"),
        rotate({"x": (3,)}, output="z"),
        rotate({"q": (3,)}),
        rotate({"x": (4,)}),
        rotate({"x": (3, 1)}),
    ],
    ids=["constant", "name", "result's name", "argument's name", "size", "shape"],
)
def test_a_program_that_differs_in_one_thing_has_another_digest(other):
    assert other.digest != rotate({"x": (3,)}).digest


def test_the_shape_of_a_result_is_part_of_the_digest():
    flat = trace("p", lambda x: {"y": [x[0], x[1]]}, {"x": (2,)})
    column = trace("p", lambda x: {"y": [[x[0]], [x[1]]]}, {"x": (2,)})
    assert flat.nodes == column.nodes
    assert flat.digest != column.digest


def test_the_order_of_results_and_of_arguments_is_part_of_the_digest():
    programs = [
        trace("p", lambda x: {"y": [x[0], x[1]]}, {"x": (2,)}),
        trace("p", lambda x: {"y": [x[1], x[0]]}, {"x": (2,)}),
        trace("p", lambda x: {"y": [x[0] - x[1]]}, {"x": (2,)}),
        trace("p", lambda x: {"y": [x[1] - x[0]]}, {"x": (2,)}),
        trace("p", lambda x: {"y": [x[1] / x[0]]}, {"x": (2,)}),
    ]
    assert len({p.digest for p in programs}) == len(programs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_digest_is_the_same_in_every_process(seed):
    code = "from tests.compiler.graph.test_program import rotate; print(rotate({'x': (3,)}).digest)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == rotate({"x": (3,)}).digest
