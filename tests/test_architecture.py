"""The layout's rules: what may import what, and what an algorithm may not speak of."""

import ast
import os
import subprocess
import sys
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kinetree
from kinetree.model import joints

ROOT = Path(kinetree.__file__).parent

# in the order in which data passes; a part imports only from parts named in its own list
ALLOWED = {
    "errors": set(),
    "lazy": set(),
    "formats": {"errors"},
    "structure": set(),
    "scalar": {"errors", "structure"},
    "dual": {"scalar"},
    "spatial": {"scalar"},
    "model": {"errors", "lazy", "scalar", "dual", "spatial"},
    "algorithms": {"scalar", "dual", "spatial", "model"},
    "posedness": {"errors", "lazy", "spatial", "model", "algorithms"},
    "graph": {"errors", "lazy", "scalar", "structure"},
    "emit": {"errors", "graph"},
    "native": {"errors", "graph", "emit"},
    "runtime": {"errors", "formats", "lazy", "scalar", "graph", "emit", "native"},
    "citations": set(),
    "quantities": {"spatial", "model", "algorithms", "posedness", "graph", "citations"},
    "loads": {"errors", "spatial", "model", "algorithms"},
    "tracing": {"errors", "loads", "model", "algorithms", "graph", "quantities"},
    "typing": {"loads"},
    "checks": {"errors", "runtime", "typing"},
    "settings": {"errors", "model", "algorithms", "quantities"},
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
    "symbolic": {"errors", "model", "quantities", "settings", "runtime"},
    "coordinates": {"errors", "lazy", "algorithms", "kernels", "runtime", "typing"},
    "speeds": {"errors", "algorithms", "kernels", "runtime", "typing"},
    "rechart": {"checks", "errors", "lazy", "model", "algorithms", "kernels", "runtime", "typing"},
    "parametric": {"errors", "loads", "model", "kernels", "runtime", "typing"},
    "motion": {
        "checks",
        "errors",
        "formats",
        "lazy",
        "scalar",
        "spatial",
        "model",
        "algorithms",
        "runtime",
        "typing",
        "control",
        "simulate",
        "robot",
    },
    "simulate": {
        "checks",
        "errors",
        "formats",
        "graph",
        "lazy",
        "scalar",
        "model",
        "algorithms",
        "quantities",
        "settings",
        "runtime",
        "typing",
        "robot",
    },
    "robot": {
        "checks",
        "errors",
        "lazy",
        "loads",
        "model",
        "algorithms",
        "quantities",
        "citations",
        "settings",
        "typing",
        "kernels",
        "coordinates",
        "speeds",
        "rechart",
        "parametric",
        "motion",
        "simulate",
        "identify",
        "view",
        "runtime",
    },
    "identify": {
        "errors",
        "formats",
        "lazy",
        "spatial",
        "model",
        "typing",
        "motion",
        "robot",
        "simulate",
    },
    "control": {
        "checks",
        "errors",
        "lazy",
        "scalar",
        "spatial",
        "model",
        "algorithms",
        "runtime",
        "typing",
        "robot",
    },
    "load": {"model", "robot", "typing"},
    "joints": {"model"},
    "assembly": {"errors", "spatial", "model", "robot"},
    "robots": {"errors", "spatial", "model", "robot", "assembly"},
    "gym": {
        "errors",
        "algorithms",
        "joints",
        "assembly",
        "robots",
        "robot",
        "simulate",
        "typing",
    },
    "bullet": {"errors", "spatial", "model", "algorithms", "robot", "typing"},
    "view": {"checks", "errors", "formats", "model", "spatial", "robot", "simulate", "typing"},
    "plot": {"checks", "errors", "model", "robot", "simulate", "typing"},
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


# what a first call runs besides the modules that its data passes through
BESIDE = {
    "the words in which everything is written": {
        "scalar",
        "structure",
        "lazy",
        "spatial.*",
        "model.joints.*",
    },
    "checks of what users give": {
        "settings",
        "posedness",
        "model.arguments",
        "model.files",
        "model.lint",
        "model.bounds",
        "runtime.arrays",
    },
    "parts of one station, which nobody else needs here": {
        "model.rounding",
        "algorithms.tree",
        "algorithms.drives",
        "quantities.row",
        "graph.records",
        "runtime.interface",
        "runtime.backend",
        "runtime.foreign",
        "runtime.patience",
        "graph.garbage",
        "runtime.forks",
    },
    "what is compiled once for all kernels": {"native.*", "runtime.support"},
    "what is kept on disk": {"runtime.cache"},
}
STATIONS = 30
FIRST_CALL = """
import sys
import numpy as np
import kinetree
path = sys.argv[1]
kinetree.robots.arm().save(path)
called = set()
def note(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        called.add(frame.f_globals.get("__name__", ""))
sys.setprofile(note)
kinetree.load(path).inverse_dynamics(*np.zeros((3, 7)))
sys.setprofile(None)
print(*(name for name in called if name.startswith("kinetree.")))
"""


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


def test_nothing_but_the_joints_asks_which_kind_of_joint_it_has():
    kinds = {name for name in joints.__all__ if name[0].isupper()} - {"Joint"}
    for path in ROOT.rglob("*.py"):
        if path.parent.name == "joints":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                assert not asked & kinds, f"{path}:{node.lineno} asks for {asked & kinds}"


def test_every_part_has_its_rule():
    parts = {p.stem for p in ROOT.glob("*.py")} | {
        p.parent.name for p in ROOT.glob("*/__init__.py")
    }
    assert parts - {"__init__", "__main__", "cli"} == set(ALLOWED)


def stations(folder: Path) -> set[str]:
    """The modules that the data of a first call passes through, from a file to its result.

    Counted are modules of which a function runs between `kinetree.load(file)` and the result of
    `inverse_dynamics`, with an empty cache, but for those in BESIDE.
    """
    env = {**os.environ, "KINETREE_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", FIRST_CALL, str(folder / "arm.urdf")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    called = {name.removeprefix("kinetree.") for name in done.stdout.split()}
    patterns = [pattern for group in BESIDE.values() for pattern in group]
    return {m for m in called if not any(fnmatch(m, pattern) for pattern in patterns)}


@pytest.mark.slow
def test_a_first_call_passes_at_most_thirty_modules_in_one_direction(tmp_path):
    way = stations(tmp_path)
    assert {"load", "model.urdf", "tracing", "graph.lower", "emit.llvm", "runtime.kernel"} <= way
    assert len(way) <= STATIONS, sorted(way)
    order: TopologicalSorter[str] = TopologicalSorter()
    for name in way:
        path = ROOT / f"{name.replace('.', '/')}.py"
        order.add(name, *({x.removeprefix("kinetree.") for x in imports(path)} & way))
    assert len(list(order.static_order())) == len(way)  # fails where two import each other


def test_the_tests_mirror_the_source():
    tests = Path(__file__).parent
    for folder in (p.parent for p in ROOT.glob("*/__init__.py")):
        assert list((tests / folder.name).glob("test_*.py")), f"tests/{folder.name} is missing"
    ours = {p.name for p in tests.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    mirrored = {p.parent.name for p in ROOT.glob("*/__init__.py")}
    assert ours - mirrored == {"adversarial", "docs", "peers"}


def test_an_algorithm_fits_on_two_pages():
    for path in modules("algorithms"):
        text = path.read_text()
        words = ast.get_docstring(ast.parse(text), clean=False) or ""
        assert len(text.splitlines()) - len(words.splitlines()) <= 140, path


@pytest.mark.slow
def test_the_core_imports_no_optional_package_and_little_beyond_numpy():
    code = (
        "import time, sys; t = [time.process_time()]\n"
        "import numpy; t.append(time.process_time())\n"
        "import kinetree; t.append(time.process_time())\n"
        "print(t[1] - t[0], t[2] - t[1])\n"
        "print(*(m for m in ('sympy', 'typer', 'rich', 'scipy', 'pinocchio', 'cupy', 'llvmlite',"
        " 'torch', 'jax', 'casadi', 'dask', 'numba')"
        " if m in sys.modules))"
    )
    ratios = []
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # its idle threads are no time of ours
    for _ in range(3):
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=alone
        )
        times, optional = out.stdout.split("\n")[:2]
        assert optional == ""
        numpys, ours = map(float, times.split())
        ratios.append(ours / numpys)
    assert min(ratios) < 5.0
