"""The schedule: everything once, in an order that can be executed, functions gathered."""

from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree import robots
from kinetree.compiler.graph import trace
from kinetree.compiler.graph.fuse import fuse
from kinetree.compiler.graph.schedule import (
    RESULTS,
    ROUTINES,
    Batch,
    Chunk,
    number_arguments,
    schedule,
)
from kinetree.scalar import (
    FUNCTIONS,
    LEAVES,
    atan2,
    cos,
    less,
    logical_and,
    logical_not,
    logical_or,
    select,
    sin,
)
from tests.compiler.graph.test_fuse import programs


def test_truth_values_that_share_parts_are_looked_through_once():
    def chain(x):
        truth = less(0.0, x[0])
        for k in range(60):
            other = less(x[1], float(k))
            truth = logical_or(logical_and(truth, other), logical_and(truth, logical_not(other)))
        return [select(truth, x[0], x[1])]

    program = trace("p", lambda x: {"y": chain(x)}, {"x": (2,)})
    (last,) = (n for n, node in enumerate(program.nodes) if node.op == "select")
    assert len(number_arguments(program, last)) < 200


def computed(step):
    """The nodes that a step computes."""
    if isinstance(step, Chunk):
        return list(step.nodes)
    return [n for results in step.results for n in results if n is not None]


def numbers_behind(program, n):
    """The arguments of a node, those of a truth value in place of the truth value."""
    found = set()
    for a in program.nodes[n].args:
        found |= set(program.nodes[a].args) if program.nodes[a].op == "less" else {a}
    return found


def assert_good(program, chunk_size):
    steps = schedule(program, chunk_size)
    leaves = {n for n, node in enumerate(program.nodes) if node.op in LEAVES}
    truths = {n for n, node in enumerate(program.nodes) if node.op == "less"}
    # every number once; truth values are made where they are used
    order = [n for step in steps for n in computed(step)]
    assert sorted(order) == [n for n in range(len(program.nodes)) if n not in leaves | truths]
    # arguments before their users: within a chunk too, but not within a batch
    done = set(leaves)
    for step in steps:
        if isinstance(step, Chunk):
            for n in step.nodes:
                assert program.nodes[n].op not in FUNCTIONS
                assert done.issuperset(numbers_behind(program, n))
                done.add(n)
        else:
            assert done.issuperset(a for arguments in step.arguments for a in arguments)
            done.update(computed(step))
    # each result of a batch is the function of its arguments that its place says
    for step in steps:
        if isinstance(step, Batch):
            assert len(step.arguments) == len(step.results) == len(set(step.arguments))
            for arguments, results in zip(step.arguments, step.results, strict=True):
                assert len(results) == RESULTS[step.routine]
                assert any(n is not None for n in results)
                for position, n in enumerate(results):
                    if n is not None:
                        assert ROUTINES[program.nodes[n].op] == (step.routine, position)
                        assert program.nodes[n].args == arguments
    # stretches between batches: as few chunks as fit, of about one length
    for is_chunk, stretch in groupby(steps, lambda step: isinstance(step, Chunk)):
        if is_chunk:
            lengths = [len(chunk.nodes) for chunk in stretch]
            assert 1 <= min(lengths) <= max(lengths) <= chunk_size
            assert max(lengths) - min(lengths) <= 1
            assert len(lengths) == -(-sum(lengths) // chunk_size)
    return steps


@settings(max_examples=100)
@given(programs(), st.sampled_from([1, 2, 3, 7, 1500]))
def test_a_random_program_is_done_once_in_order_in_bounded_chunks(program, chunk_size):
    assert_good(program, chunk_size)
    assert_good(fuse(program), chunk_size)


@pytest.mark.parametrize("chunk_size", [1, 10, 100, 1500])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "integrate"])
def test_a_robots_program_is_done_once_in_order_in_bounded_chunks(quantity, chunk_size):
    program = robots.tree(6, base="floating").kernel(quantity).program
    assert_good(fuse(program), chunk_size)


def test_all_sines_and_cosines_of_an_arm_are_one_call():
    robot = robots.arm()
    steps = assert_good(robot.kernel("inverse_dynamics").program, 1500)
    (batch,) = (step for step in steps if isinstance(step, Batch))
    assert batch.routine == "sincos"
    assert len(batch.arguments) <= robot.nq
    assert steps[0] is batch


def steps_of(function, chunk_size=1500):
    program = trace("p", lambda x: {"y": function(*x)}, {"x": (3,)})
    return program, assert_good(program, chunk_size)


def shape(steps):
    """The kinds of steps, with how many calls or nodes each has."""
    return [
        (step.routine, len(step.arguments)) if isinstance(step, Batch) else len(step.nodes)
        for step in steps
    ]


def test_sine_and_cosine_of_one_argument_share_a_call():
    program, (batch, _) = steps_of(lambda a, b, c: [sin(a) * cos(a)])
    assert len(batch.arguments) == 1
    assert [program.nodes[n].op for n in batch.results[0]] == ["sin", "cos"]


def test_a_result_of_a_routine_that_nobody_asks_for_is_none():
    program, (batch,) = steps_of(lambda a, b, c: [sin(a), cos(b)])
    ops = [[None if n is None else program.nodes[n].op for n in r] for r in batch.results]
    assert ops == [["sin", None], [None, "cos"]]


def test_functions_that_can_be_ready_together_are_one_call():
    _, steps = steps_of(lambda a, b, c: [sin(a) + cos(b) * sin(a * b + c)])
    assert shape(steps) == [2, ("sincos", 3), 2]


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_functions_of_functions_get_a_stage_each(depth):
    def function(a, b, c):
        for _ in range(depth):
            a = sin(a)
        return [a, cos(b)]

    _, steps = steps_of(function)
    assert shape(steps) == [("sincos", 2)] + [("sincos", 1)] * (depth - 1)


def test_arithmetic_between_two_stages_comes_between_them_and_the_rest_at_the_end():
    program, steps = steps_of(lambda a, b, c: [sin(2.0 * sin(a) + b), 3.0 * sin(a), a * b])
    assert shape(steps) == [("sincos", 1), 2, ("sincos", 1), 2]
    assert {program.nodes[n].op for n in steps[1].nodes} == {"mul", "add"}


def test_each_routine_of_a_stage_gets_a_call_of_its_own():
    _, steps = steps_of(lambda a, b, c: [sin(a), atan2(a, b), atan2(b, a), cos(c)])
    assert sorted(shape(steps)) == [("atan2", 2), ("sincos", 2)]


def test_an_arctangent_of_a_sine_is_a_stage_after_it():
    _, steps = steps_of(lambda a, b, c: [atan2(sin(a), cos(a))])
    assert shape(steps) == [("sincos", 1), ("atan2", 1)]


def test_a_truth_value_is_not_scheduled_and_what_it_compares_is():
    program, steps = steps_of(lambda a, b, c: [select(less(a * b, c), sin(a), sin(a * a))])
    assert shape(steps) == [1, ("sincos", 2), 2]
    assert [program.nodes[n].op for n in steps[-1].nodes] == ["mul", "select"]


def test_a_program_without_operations_has_no_steps():
    assert steps_of(lambda a, b, c: [a, 1.0])[1] == []


@pytest.mark.parametrize(
    ("length", "chunk_size", "expected"),
    [(10, 10, [10]), (11, 10, [5, 6]), (21, 10, [7, 7, 7]), (3, 1, [1, 1, 1]), (20, 7, [6, 7, 7])],
)
def test_a_stretch_is_cut_into_as_few_chunks_as_fit_all_of_about_one_length(
    length, chunk_size, expected
):
    def function(a, b, c):
        for _ in range(length):
            a = a / b
        return [a]

    assert shape(steps_of(function, chunk_size)[1]) == expected
