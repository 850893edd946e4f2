"""Keys of programs: equal for the same parts, different for any others."""

from itertools import combinations

from kinetree.compiler.runtime.program_key import ProgramKey

KEYS = [
    ProgramKey("f", parts)
    for parts in [(), ("",), ("a", "b"), ("ab",), ("a|b",), ("a", "b", ""), ('a", "b',), ("a\0b",)]
]


def test_equal_parts_have_equal_digests_whatever_they_are_called():
    assert ProgramKey("f", ("a", "b")).digest == ProgramKey("g", ("a", "b")).digest


def test_where_a_part_ends_makes_a_difference():
    for one, other in combinations(KEYS, 2):
        assert one.digest != other.digest, (one, other)


def test_a_derived_program_keeps_its_subject_and_gets_another_digest():
    key = ProgramKey("f", ("a",))
    assert key.derived("b") == ProgramKey("f", ("a", "b"))
    assert key.derived("b").digest == ProgramKey("f", ("a", "b")).digest != key.digest
