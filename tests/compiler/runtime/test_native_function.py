"""Kernels without checks: bound to arrays, and called by other compiled code."""

import ctypes
import gc
import shutil
import subprocess

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DtypeError, KinetreeError, ShapeError
from tests.mixed_robots import ROBOTS, every_kernel, interpreted, random_state
from tests.tolerances import relative_error


@pytest.fixture(scope="module")
def kernel():
    return kt.robots.arm().kernel("inverse_dynamics")


def state(kernel, dtype=float, batch=()):
    rng = np.random.default_rng(0)
    return [rng.random((*batch, *s)).astype(dtype) for _, s in kernel.interface.inputs]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_a_bound_call_computes_what_is_in_the_arrays_when_it_runs(kernel, dtype, batch):
    q, v, a = state(kernel, dtype, batch)
    out = np.zeros_like(q)
    call = kernel.bind(q, v, a, out=out)
    assert call() is out
    assert (out == kernel(q, v, a)).all()
    q += 0.5
    assert (call() == kernel(q, v, a)).all()


def test_a_bound_call_makes_its_own_results_if_none_are_given(kernel):
    call = kernel.bind(*state(kernel))
    assert call() is call()
    derivatives = kt.robots.arm().kernel("inverse_dynamics_derivatives")
    q, v, a = state(kernel)
    results = derivatives.bind(q, v, a)()
    for found, expected in zip(results, derivatives(q, v, a), strict=True):
        assert (found == expected).all()


def test_a_bound_call_keeps_alive_what_it_needs():
    arrays = state(kt.robots.arm().kernel("inverse_dynamics"))
    call = kt.robots.arm().kernel("inverse_dynamics").bind(*arrays)
    expected = call().copy()
    del arrays
    gc.collect()
    assert (call() == expected).all()


def test_what_cannot_be_bound_is_said(kernel):
    q, v, a = state(kernel)
    with pytest.raises(DtypeError, match="all float64 or all float32"):
        kernel.bind(q, v, a.astype(np.float32))
    with pytest.raises(DtypeError, match="would have to be copied"):
        kernel.bind(q.tolist(), v, a)
    with pytest.raises(ShapeError, match="shares memory"):
        kernel.bind(q, v, a, out=q)
    with pytest.raises(ShapeError, match="in C order"):
        kernel.bind(np.zeros((7, 2))[:, 0], v, a)
    with pytest.raises(ShapeError, match="last axis must be 7"):
        kernel.bind(q[:6], v, a)
    with pytest.raises(DtypeError, match="as for the arguments"):
        kernel.bind(q, v, a, out=np.zeros(7, np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_has_the_interpreters_values_in_batches(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in every_kernel(robot):
        given = random_state(robot, kernel, (9,))
        found = kernel(*given)
        results = found if isinstance(found, tuple) else (found,)
        for got, wanted in zip(results, interpreted(kernel, given), strict=True):
            assert relative_error(got, wanted) < 1e-12, (quantity, method)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_bound_or_as_a_c_function_has_the_interpreters_values(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in every_kernel(robot):
        given = [np.asarray(x) for x in random_state(robot, kernel)]
        results = [np.full(shape, np.nan) for _, shape in kernel.interface.outputs]
        assert kernel.native().ctypes(*(x.ctypes.data for x in (*given, *results))) == 0
        bound = kernel.bind(*given)()
        expected = bound if isinstance(bound, tuple) else (bound,)
        for found, same in zip(results, expected, strict=True):
            np.testing.assert_array_equal(found, same)
        for found, wanted in zip(results, interpreted(kernel, given), strict=True):
            assert relative_error(found, wanted) < 1e-12, (quantity, method)


def test_the_signature_is_a_declaration_in_c(kernel):
    assert kernel.signature == (
        "int inverse_dynamics(const double *q, const double *v, const double *a, double *tau)"
    )
    single = kernel.native("float32").signature
    assert single.startswith("int inverse_dynamics(const float *q")
    assert kernel.address == kernel.native().address


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is installed")
def test_c_calls_a_kernel_by_its_address(kernel, tmp_path):
    source = tmp_path / "caller.c"
    source.write_text(
        "typedef int (*kernel)(const double *, const double *, const double *, double *);\n"
        "int twice(kernel f, const double *q, const double *v, const double *a, double *tau) {\n"
        "  return f(q, v, a, tau) + f(q + 7, v + 7, a + 7, tau + 7);\n"
        "}\n"
    )
    library = tmp_path / "caller.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    twice = ctypes.CDLL(str(library)).twice
    q, v, a = state(kernel, batch=(2,))
    tau = np.zeros_like(q)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (q, v, a, tau)]
    assert twice(ctypes.c_void_p(kernel.address), *pointers) == 0
    assert (tau == kernel(q, v, a)).all()


def test_numba_calls_a_kernel(kernel):
    numba = pytest.importorskip("numba")
    inverse_dynamics = kernel.native().ctypes

    @numba.njit
    def each(q, v, a, tau):
        for k in range(len(q)):
            inverse_dynamics(q[k].ctypes, v[k].ctypes, a[k].ctypes, tau[k].ctypes)

    q, v, a = state(kernel, batch=(3,))
    tau = np.zeros_like(q)
    each(q, v, a, tau)
    assert (tau == kernel(q, v, a)).all()


def test_scipy_integrates_an_energy():
    integrate = pytest.importorskip("scipy.integrate")
    energy = kt.robots.double_pendulum().kernel("potential_energy")
    function = energy.native().low_level_callable()
    found, _ = integrate.quad(function, 0.0, 1.0, args=(0.3,))
    expected, _ = integrate.quad(lambda x: float(energy([x, 0.3])), 0.0, 1.0)
    assert abs(found - expected) < 1e-12


def test_scipy_takes_only_functions_of_one_number(kernel):
    pytest.importorskip("scipy")
    with pytest.raises(KinetreeError, match="return one number"):
        kernel.native().low_level_callable()
