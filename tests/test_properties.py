"""Property tests: `make test` gives them the same examples in every run, `make fuzz` others."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tools.fuzz as fuzz
from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent


def drawn():
    """The examples of a property."""
    examples = []

    @settings(max_examples=200)
    @given(st.floats(), st.integers(), st.text(max_size=9))
    def look(x, n, text):
        examples.append((repr(x), n, text))

    look()
    return examples


def test_examples_do_not_depend_on_what_has_been_imported(tmp_path, monkeypatch):
    if not settings.default.derandomize:
        pytest.skip("make fuzz")
    before = drawn()
    lines = [f"A{i}, B{i} = {7919 * i}, {i / 7!r}" for i in range(1000)]
    (tmp_path / "full_of_numbers.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    __import__("full_of_numbers")
    assert "full_of_numbers" in sys.modules
    assert drawn() == before


def test_no_test_draws_at_random_by_itself():
    random = re.compile(r"derandomize=|default_rng\(\)|(?<!\w)Random\(\)|np\.random\.(rand|seed)\b")
    files = [p for p in TESTS.rglob("*.py") if p.name not in ("conftest.py", Path(__file__).name)]
    assert not [str(p) for p in files if random.search(p.read_text())]


FAILED = """
    def test_a_file(file, data, base):
E   AssertionError: no
E   Falsifying example: test_a_file(
E       file=PosixPath('/tmp/robot.urdf'),
E       data=b'<robot>',
E       base='fixed',  # or any other generated value
E   )
"""


def test_a_finding_is_turned_into_an_example_for_the_tests():
    assert fuzz.examples(FAILED, {"file"}) == ["@example(data=b'<robot>', base='fixed')"]
    assert fuzz.examples("E   AssertionError: no\n", ()) == []
    joint = "Falsifying example: test_it(\n    joint=Offset(Ball(nq=4, nv=3), at=(1.0,)),\n)"
    assert fuzz.examples(joint, ()) == ["@example(joint=Offset(Ball(), at=(1.0,)))"]


@pytest.mark.parametrize(("seconds", "status"), [("60", 0), ("-1", 5)])
def test_a_round_of_make_fuzz_in_which_no_test_ran_is_an_error(tmp_path, seconds, status):
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    environment = os.environ | {fuzz.SECONDS: seconds, "PYTHONPATH": str(TESTS.parent)}
    options = ["-p", "tools.fuzz", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    command = [sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), *options, str(tmp_path)]
    assert subprocess.run(command, env=environment, capture_output=True).returncode == status
