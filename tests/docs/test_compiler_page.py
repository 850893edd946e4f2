"""docs/compiler.md shows what the compiler makes of a program today."""

import importlib.util
import math
from pathlib import Path

import pytest

from kinetree.compiler.graph import interpret

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    path = ROOT / "tools/compiler_page.py"
    spec = importlib.util.spec_from_file_location("compiler_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_compiler_makes(tool):
    kept = (ROOT / "docs/compiler.md").read_text()
    assert tool.page() == kept, "run tools/compiler_page.py"


def test_the_program_of_the_page_is_the_formula_beside_it(tool):
    mass, length, gravity = 2.0, 0.5, 9.81
    (tau,) = interpret(tool.kernel().program, [0.3], [7.0], [1.5])
    expected = mass * gravity * length * math.sin(0.3) + mass * length**2 * 1.5
    assert tau == pytest.approx([expected], rel=1e-14)


def test_every_stage_of_the_page_has_text(tool):
    text = tool.page()
    assert text.count("```") == 2 * 8
    for part in ("sin(n0)", "fma(r2", "fma.v4f64", "tau[0] = r4;", "DEVICE void"):
        assert part in text
