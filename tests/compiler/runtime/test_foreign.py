"""Arrays of other packages: who takes them, and what is said if a package is missing."""

import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import foreign
from kinetree.errors import DtypeError, MissingExtraError, ShapeError
from tests.tolerances import EXACT, relative_error


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("casadi", "pip install 'kinetree[tools]'"),
        ("dask", "pip install 'kinetree[tools]'"),
        ("jax", "pip install 'kinetree[tools]'"),
        ("sympy", "pip install 'kinetree[symbolic]'"),
        ("torch", "pip install torch"),
    ],
)
def test_a_missing_package_gives_the_line_that_installs_it(package, line, monkeypatch):
    module = foreign.MODULES[package]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.array", None)
    monkeypatch.delitem(sys.modules, f"kinetree.compiler.runtime.foreign.{module}", raising=False)
    monkeypatch.delitem(foreign.IMPORTED, module, raising=False)
    with pytest.raises(MissingExtraError) as caught:
        foreign.foreign_module(module)
    assert line in str(caught.value)


def test_a_casadi_function_asks_for_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    monkeypatch.delitem(
        sys.modules, "kinetree.compiler.runtime.foreign.casadi_arrays", raising=False
    )
    monkeypatch.delitem(foreign.IMPORTED, "casadi_arrays", raising=False)
    with pytest.raises(MissingExtraError, match=r"kinetree\[tools\]"):
        kt.robots.double_pendulum().kernel("mass_matrix").casadi()


@pytest.mark.slow
def test_importing_and_calling_kinetree_imports_no_other_package():
    code = (
        "import sys, numpy as np, kinetree as kt\n"
        "kt.robots.double_pendulum().mass_matrix(np.zeros(2))\n"
        f"print(*(set({sorted(foreign.MODULES)}) & set(sys.modules)))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""


CALLS_OF_NUMPY = """
import sys
import numpy as np
import kinetree as kt
from kinetree.compiler.runtime.kernel import Kernel

robot = kt.robots.double_pendulum()
state = np.zeros((3, 2))

def functions():
    called = []
    def note(frame, event, argument):
        if event == "call":
            called.append((frame.f_code.co_filename, frame.f_code.co_name))
        elif event == "c_call":
            called.append(argument.__name__)
    sys.setprofile(note)
    robot.inverse_dynamics(*state)
    sys.setprofile(None)
    return called

robot.inverse_dynamics(*state)
before, methods = functions(), dict(vars(Kernel))
if sys.argv[1] == "torch":
    import torch
    arrays = torch.zeros(3, 2, dtype=torch.float64)
else:
    import jax.numpy
    arrays = jax.numpy.zeros((3, 2))
assert not isinstance(robot.inverse_dynamics(*arrays), np.ndarray)
assert functions() == before, (before, functions())
assert dict(vars(Kernel)) == methods
assert 1 <= len(before) <= 8, before
"""


@pytest.mark.slow
@pytest.mark.parametrize("package", ["torch", "jax"])
def test_a_call_with_numpy_is_the_same_after_another_package_was_used(package):
    pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, "-c", CALLS_OF_NUMPY, package], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_arrays_that_nobody_knows_are_left_to_numpy():
    class Other:
        def __array__(self, dtype=None, copy=None):
            return np.zeros(2)

    robot = kt.robots.double_pendulum()
    assert foreign.foreign_name([Other()]) == ""
    assert (robot.mass_matrix(Other()) == robot.mass_matrix(np.zeros(2))).all()
    with pytest.raises(DtypeError):
        robot.mass_matrix(["a", "b"])


def test_normalizing_symbols_checks_no_numbers():
    sympy = pytest.importorskip("sympy")
    robot = kt.robots.quadruped()
    q = sympy.Matrix(sympy.symbols(f"q:{robot.nq}"))
    assert robot.normalize(q).shape == (robot.nq, 1)


def beside(package):
    """A configuration of the arm as a package's own array."""
    q = np.full(7, 0.1)
    if package == "dask":
        return pytest.importorskip("dask.array").from_array(q)
    if package == "torch":
        return pytest.importorskip("torch").from_numpy(q)
    if package == "casadi":
        return pytest.importorskip("casadi").DM(q)
    if package == "jax":
        return pytest.importorskip("jax.numpy").asarray(q)
    return pytest.importorskip("sympy").Matrix(q)


@pytest.mark.parametrize("package", ["dask", "torch", "casadi", "jax", "sympy"])
@pytest.mark.parametrize(
    "wrong",
    [
        np.ma.masked_array(np.zeros(7), [True] + [False] * 6),
        np.array(["0.5"] * 7),
        ["0.5"] * 7,
        "0.5",
        np.zeros(7, complex),
        [1j] * 7,
        np.array([0.1] * 7, object),
        np.zeros(7, "datetime64[s]"),
    ],
    ids=["masked", "text", "texts", "word", "complex", "complexes", "objects", "dates"],
)
def test_what_numpy_is_refused_every_package_is_refused(package, wrong):
    if package == "sympy" and np.asarray(wrong).dtype.kind == "O":
        pytest.skip("NumPy's arrays of objects are how expressions are kept in arrays")
    q, zero = beside(package), np.zeros(7)
    robot = kt.robots.arm()
    with pytest.raises((DtypeError, ShapeError), match="inverse_dynamics: v"):
        robot.inverse_dynamics(np.full(7, 0.1), wrong, zero)
    with pytest.raises((DtypeError, ShapeError), match="inverse_dynamics: v"):
        robot.inverse_dynamics(q, wrong, zero)


def test_masked_and_complex_arrays_of_dask_are_refused():
    da = pytest.importorskip("dask.array")
    robot = kt.robots.arm()
    for wrong in (np.ma.masked_array(np.zeros(7), [True] + [False] * 6), np.zeros(7, complex)):
        with pytest.raises(DtypeError, match="mass_matrix: q"):
            robot.mass_matrix(da.from_array(wrong, asarray=False))


@pytest.mark.parametrize("package", ["dask", "torch", "casadi", "jax"])
def test_lists_and_integers_beside_a_packages_arrays_are_float64(package):
    robot = kt.robots.arm()
    if package == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    v, a = [0.1] * 7, np.arange(7)
    expected = robot.inverse_dynamics(np.full(7, 0.1), v, a)
    found = robot.inverse_dynamics(beside(package), v, a)
    assert relative_error(np.asarray(found).ravel(), expected) < EXACT
