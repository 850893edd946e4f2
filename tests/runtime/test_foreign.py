"""Arrays of other packages: who takes them, and what is said if a package is missing."""

import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DtypeError, MissingExtraError
from kinetree.runtime import foreign


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("casadi", "pip install 'kinetree[casadi]'"),
        ("dask", "pip install 'kinetree[dask]'"),
        ("jax", "pip install 'kinetree[jax]'"),
        ("sympy", "pip install 'kinetree[symbolic]'"),
        ("torch", "pip install 'kinetree[torch]'"),
    ],
)
def test_a_missing_package_gives_the_line_that_installs_it(package, line, monkeypatch):
    module = foreign.MODULES[package]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.array", None)
    monkeypatch.delitem(sys.modules, f"kinetree.runtime.foreign.{module}", raising=False)
    monkeypatch.delitem(foreign.IMPORTED, module, raising=False)
    with pytest.raises(MissingExtraError) as caught:
        foreign.foreign_module(module)
    assert line in str(caught.value)


def test_a_casadi_function_asks_for_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    monkeypatch.delitem(sys.modules, "kinetree.runtime.foreign.casadi_arrays", raising=False)
    with pytest.raises(MissingExtraError, match=r"kinetree\[casadi\]"):
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
