"""Programs in parts: rows that belong together, values that are handed on."""

import itertools

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.graph import interpret, trace, verify
from kinetree.compiler.graph.parts import split
from kinetree.scalar import LEAVES
from tests.mixed_robots import turret
from tests.tolerances import relative_error


def operations(part):
    return sum(node.op not in LEAVES for node in part.program.nodes)


def run(parts, program, arrays):
    """Interpret parts one after the other."""
    flat = [x.reshape(len(x), -1) for x in arrays]
    between = [None] * len(parts.between)
    results = [np.full((len(flat[0]), int(np.prod(o.shape))), np.nan) for o in program.outputs]
    for part in parts.parts:
        given = [[*flat, *between][s.array][:, s.start : s.start + s.length] for s in part.inputs]
        found = interpret(part.program, *given)
        for s, value in zip(part.outputs, found, strict=True):
            value = np.broadcast_to(value, (len(flat[0]), s.length))
            if s.array < len(results):
                results[s.array][:, s.start : s.start + s.length] = value
            else:
                between[s.array - len(results)] = value
    return results


def check(program, limit, seed=0):
    arrays = [
        np.random.default_rng(seed).uniform(-1, 1, (3, int(np.prod(i.shape))))
        for i in program.inputs
    ]
    parts = split(program, limit)
    expected = interpret(program, *arrays)
    for a, b in zip(expected, run(parts, program, arrays), strict=True):
        assert relative_error(b, a.reshape(b.shape)) < 1e-13
    return parts


def test_a_short_program_is_one_part():
    program = kt.robots.arm().kernel("forward_dynamics").program
    parts = check(program, 10_000)
    assert len(parts.parts) == 1
    assert not parts.between


def test_limbs_on_a_fixed_base_are_told_apart_without_a_repeated_operation():
    def two(x, y):
        first, second = sum(a * a for a in x), sum(a * b for a, b in itertools.pairwise(y))
        return {"m": [[first, 0.0, first * first], [0.0, second, second + 1.0]]}

    program = trace("two", two, {"x": (9,), "y": (9,)})
    parts = check(program, 20)
    assert [len(p.inputs) for p in parts.parts] == [1, 1]
    assert sum(map(operations, parts.parts)) == sum(program.operations.values())


def test_a_long_program_is_cut_and_hands_values_on():
    program = kt.robots.arm().kernel("forward_dynamics_derivatives").program
    parts = check(program, 900)
    assert parts.between
    assert max(map(operations, parts.parts)) < 1.31 * 900


def test_results_that_are_arguments_or_numbers_belong_to_a_part():
    program = trace("easy", lambda x: {"y": [x[1], 2.0, x[0]]}, {"x": (2,)})
    assert len(check(program, 10).parts) == 1


@pytest.mark.parametrize("limit", [300, 1000, 3000])
def test_truth_values_are_compared_again_instead_of_being_handed_on(limit):
    program = turret().kernel("inverse_dynamics_weighted_second_derivatives").program
    parts = check(program, limit)
    assert parts.between
    for part in parts.parts:
        verify(part.program)
