"""The layout's rules: what may import what, and what an algorithm may not speak of."""

import ast
import importlib
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kinetree
from kinetree.model import joints

ROOT = Path(kinetree.__file__).parent

ORDER = [
    "errors",
    "kinds",
    "_lazy",
    "_optional",
    "files",
    "scalar",
    "spatial",
    "model",
    "joints",
    "constraints",
    "equipment",
    "geometry",
    "typing",
    "algorithms",
    "compiler",
    "quantities",
    "robot",
    "simulate",
    "control",
    "motion",
    "identify",
    "robots",
    "capture",
    "show",
    "bridges",
    "cli",
]
"""The parts, in the order of CONTRIBUTING's map: each imports only from those before it."""
USES = ROOT / "robot/uses.py"
"""The one file that imports what is built on its part, on first access."""
COMPILER = ["graph", "emit", "native", "runtime"]
"""The parts of the compiler, in their own order."""
COMPILER_MAY_IMPORT = {"errors", "kinds", "_lazy", "_optional", "files", "scalar"}
PHYSICS_MAY_IMPORT = {
    "__future__",
    "abc",
    "collections",
    "collections.abc",
    "dataclasses",
    "itertools",
    "typing",
    "math",
}

LATER = {"files", "simulate", "control", "motion", "identify", "capture", "show", "bridges", "cli"}
"""Parts that are imported on first use."""
LIGHT = {*sys.stdlib_module_names, "numpy"} - {"asyncio", "multiprocessing", "tempfile", "unittest"}
"""Packages of which `import kinetree` may import modules."""


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


def imports(path: Path, eager: bool = False) -> set[str]:
    """The modules that a file imports: anywhere in it, or only when it is imported itself."""
    tree = ast.parse(path.read_text())
    found = set()
    for node in tree.body if eager else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {_module(f"{node.module}.{alias.name}") for alias in node.names}
    return found


def _module(name: str) -> str:
    """The module that a dotted name is, or is in."""
    path = ROOT.parent / name.replace(".", "/")
    return name if path.is_dir() or path.with_suffix(".py").exists() else name.rpartition(".")[0]


def ours(names: set[str]) -> set[str]:
    return {name.removeprefix("kinetree.") for name in names if name.startswith("kinetree.")}


@pytest.mark.parametrize("part", ORDER)
def test_a_part_imports_only_from_the_parts_before_it(part):
    allowed = {*ORDER[: ORDER.index(part) + 1]}
    for path in modules(part):
        if path != USES:
            wrong = {name for name in ours(imports(path)) if name.split(".")[0] not in allowed}
            assert not wrong, f"{path} imports {wrong}"


@pytest.mark.parametrize("part", COMPILER)
def test_the_compiler_knows_no_physics_and_has_an_order_of_its_own(part):
    allowed = {f"compiler.{name}" for name in COMPILER[: COMPILER.index(part) + 1]}
    for path in modules(f"compiler/{part}"):
        for name in ours(imports(path)):
            first, second = (*name.split("."), "")[:2]
            assert first in COMPILER_MAY_IMPORT or f"{first}.{second}" in allowed, f"{path}: {name}"


def test_no_two_modules_need_each_other_to_be_imported():
    order: TopologicalSorter[str] = TopologicalSorter()
    for path in ROOT.rglob("*.py"):
        name = _name(path)
        order.add(name, *(ours(imports(path, eager=True)) - {name}))
    order.prepare()  # raises where there is a cycle


def _name(path: Path) -> str:
    """The dotted name of a module, without kinetree."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


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


@pytest.mark.parametrize("word", ["Chart", "Motion", "Part", "Placement", "Record", "Twist"])
def test_a_word_names_one_class(word):
    definition = re.compile(rf"^class {word}\b", re.MULTILINE)
    places = [path for path in ROOT.rglob("*.py") if definition.search(path.read_text())]
    assert len(places) == 1, places


BACKENDS = {"Cpu", "Gpu", "Interpreter"}
"""The classes of back ends. `Kernels` gives robots without moving joints the interpreter."""
MAY_NAME_BACKENDS = {"compiler/runtime/backend.py", "quantities/kernels.py"}


def test_back_ends_are_chosen_in_one_place():
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text())
        taken = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if path.relative_to(ROOT).as_posix() not in MAY_NAME_BACKENDS:
            assert not taken & BACKENDS, f"{path} imports {taken & BACKENDS}"


def test_nothing_asks_compiled_code_what_it_can_do():
    asking = {"hasattr", "isinstance", "getattr"}
    for path in modules("compiler/runtime") + modules("simulate") + modules("motion"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in asking:
                text = ast.unparse(node.args[0])
                about = {"compiled", "backend"} & set(re.findall(r"[a-z]+", text))
                assert not about, f"{path}:{node.lineno} asks {text}"


def test_nothing_is_made_by_looking_it_up():
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            made = isinstance(node, ast.FunctionDef) and node.name == "__missing__"
            assert not made, f"{path}:{node.lineno}"


def test_every_part_has_its_place_in_the_order():
    parts = {p.stem for p in ROOT.glob("*.py")} | {
        p.parent.name for p in ROOT.glob("*/__init__.py")
    }
    assert parts - {"__init__", "__main__"} == set(ORDER)


def test_the_map_names_the_parts_in_their_order():
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    drawn = text.partition("src/kinetree/\n")[2].partition("```")[0]
    lines = [line.split()[0] for line in drawn.splitlines() if re.match(r"  \S", line)]
    assert [name.rstrip("/").removesuffix(".py") for name in lines] == ORDER


def first_call(folder: Path) -> set[str]:
    """The modules of which a function runs between `kinetree.load(file)` and the first result."""
    env = {**os.environ, "KINETREE_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", FIRST_CALL, str(folder / "arm.urdf")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return {name.removeprefix("kinetree.") for name in done.stdout.split()}


@pytest.mark.slow
def test_contributing_counts_every_module_of_a_first_call(tmp_path):
    way = first_call(tmp_path)
    text = " ".join((ROOT.parents[1] / "CONTRIBUTING.md").read_text().split())
    told = re.search(r"a first call runs functions of (\d+) modules", text)
    assert told is not None
    assert len(way) == int(told[1]), sorted(way)


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


PUBLIC = [
    "kinetree.capture",
    "kinetree.constraints",
    "kinetree.control",
    "kinetree.equipment",
    "kinetree.geometry",
    "kinetree.identify",
    "kinetree.joints",
    "kinetree.motion",
    "kinetree.plot",
    "kinetree.robots",
    "kinetree.typing",
    "kinetree.robot.symbolic",
    "kinetree.bridges.bullet",
    "kinetree.bridges.gym",
]
"""Modules that users look into."""


@pytest.mark.parametrize("name", PUBLIC)
def test_dir_of_a_module_shows_what_is_public(name):
    if name == "kinetree.bridges.gym":
        pytest.importorskip("gymnasium")
    module = kinetree.plot if name == "kinetree.plot" else importlib.import_module(name)
    assert {n for n in dir(module) if not n.startswith("__")} == set(module.__all__)


def test_dir_of_errors_and_scalars_shows_no_machinery():
    assert all(issubclass(getattr(kinetree.errors, n), Exception) for n in dir(kinetree.errors))
    assert "KinetreeError" in dir(kinetree.errors)
    assert not {"OPERATIONS", "register"} & set(dir(kinetree.scalar))
    assert {"sin", "select", "stop_gradient"} <= set(dir(kinetree.scalar))


IMPORTED = """
import sys
import numpy
before = set(sys.modules)
import kinetree
print(*(set(sys.modules) - before))
"""


def test_the_core_imports_no_optional_package_and_little_beyond_numpy():
    run = [sys.executable, "-c", IMPORTED]
    out = subprocess.run(run, capture_output=True, text=True, check=True)
    imported = set(out.stdout.split())
    outside = {name for name in imported if name.split(".")[0] != "kinetree"}
    assert {name for name in outside if name.split(".")[0] not in LIGHT} == set()
    parts = {name.split(".")[0] for name in ours(imported)}
    assert not parts & LATER, parts & LATER
    assert len(imported) <= 385, sorted(imported)  # their number is most of the time that it takes
