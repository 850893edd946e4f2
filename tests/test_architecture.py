"""The layout's rules: what may import what, and what an algorithm may not speak of."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kinetree

ROOT = Path(kinetree.__file__).parent

# in the order in which data passes; a part imports only from parts named in its own list
ALLOWED = {
    "errors": set(),
    "lazy": set(),
    "scalar": {"errors"},
    "dual": {"scalar"},
    "spatial": {"scalar"},
    "model": {"errors", "lazy", "scalar", "dual", "spatial"},
    "algorithms": {"scalar", "dual", "spatial", "model"},
    "posedness": {"errors", "spatial", "model", "algorithms"},
    "graph": {"errors", "lazy", "scalar"},
    "emit": {"errors", "graph"},
    "native": {"errors", "graph", "emit"},
    "runtime": {"errors", "lazy", "graph", "emit", "native"},
    "citations": set(),
    "quantities": {"spatial", "model", "algorithms", "posedness", "graph", "citations"},
    "loads": {"errors", "spatial", "model", "algorithms"},
    "tracing": {"errors", "loads", "model", "algorithms", "graph", "quantities"},
    "typing": {"loads"},
    "settings": {"errors", "model", "quantities"},
    "kernels": {
        "errors",
        "loads",
        "model",
        "algorithms",
        "posedness",
        "quantities",
        "settings",
        "graph",
        "runtime",
        "tracing",
    },
    "symbolic": {"errors", "model", "quantities", "settings"},
    "coordinates": {"errors", "lazy", "algorithms", "kernels", "runtime", "typing"},
    "speeds": {"errors", "algorithms", "kernels", "runtime", "typing"},
    "rechart": {"errors", "lazy", "model", "algorithms", "kernels", "runtime", "typing"},
    "parametric": {"errors", "model", "kernels", "runtime", "tracing", "typing"},
    "trajectory": {"errors", "lazy", "robot"},
    "robot": {
        "errors",
        "lazy",
        "loads",
        "model",
        "algorithms",
        "quantities",
        "citations",
        "settings",
        "tracing",
        "typing",
        "kernels",
        "coordinates",
        "speeds",
        "rechart",
        "parametric",
        "trajectory",
        "runtime",
    },
    "load": {"model", "robot", "typing"},
    "joints": {"model"},
    "assembly": {"errors", "spatial", "model", "robot"},
    "robots": {"errors", "spatial", "model", "robot", "assembly"},
    "bullet": {"errors", "spatial", "model", "algorithms", "robot", "typing"},
    "motion_capture": {"errors", "spatial", "model", "robot", "robots", "typing"},
}
PHYSICS_MAY_IMPORT = {
    "__future__",
    "collections",
    "collections.abc",
    "dataclasses",
    "itertools",
    "typing",
    "math",
}


def modules(part: str) -> list[Path]:
    single = ROOT / f"{part}.py"
    return [single] if single.exists() else sorted((ROOT / part).rglob("*.py"))


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "kinetree":
                found |= {f"kinetree.{alias.name}" for alias in node.names}
            else:
                found.add(node.module)
    return found


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_towards_the_top(part):
    for path in modules(part):
        for name in imports(path):
            package, _, rest = name.partition(".")
            if package == "kinetree" and rest:
                assert rest.split(".")[0] in ALLOWED[part] | {part}, f"{path} imports {name}"


def test_algorithms_know_nothing_but_physics():
    for path in modules("algorithms"):
        for name in imports(path):
            assert name.startswith("kinetree.") or name in PHYSICS_MAY_IMPORT, f"{path}: {name}"


def test_every_part_has_its_rule():
    parts = {p.stem for p in ROOT.glob("*.py")} | {
        p.parent.name for p in ROOT.glob("*/__init__.py")
    }
    assert parts - {"__init__", "__main__", "cli"} == set(ALLOWED)


def test_an_algorithm_fits_on_two_pages():
    for path in modules("algorithms"):
        text = path.read_text()
        words = ast.get_docstring(ast.parse(text), clean=False) or ""
        assert len(text.splitlines()) - len(words.splitlines()) <= 140, path


def test_the_core_imports_no_optional_package_and_is_quick():
    code = (
        "import time, sys; t = time.process_time(); import kinetree; t = time.process_time() - t\n"
        "print(t); print(*(m for m in ('sympy', 'typer', 'rich', 'scipy', 'pinocchio', 'cupy')"
        " if m in sys.modules))"
    )
    times = []
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # its idle threads are no time of ours
    for _ in range(5):
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=alone
        )
        seconds, optional = out.stdout.split("\n")[:2]
        assert optional == ""
        times.append(float(seconds))
    assert min(times) < 0.3
