"""One contract for arrays: what comes in decides what comes out, or is refused by name.

The rows are in `tests/array_rows.py`; `docs/arrays.md` says the same to users.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime.foreign import KINDS
from kinetree.errors import KinetreeError
from tests.array_rows import (
    COMPILED,
    LOOP,
    NONE,
    NUMPY,
    REFUSED,
    ROWS,
    SCALARS,
    SETTING,
    page_table,
    public,
)
from tests.doors import ROBOT

PAGE = Path(__file__).parents[1] / "docs/arrays.md"
TOLERANCE = {"float64": 1e-11, "float32": 2e-3}
"""Of the largest entry; results in single precision are compared with those in double."""
CALLS = [name for name, row in ROWS.items() if row.way != NONE]
BY_NUMPY = [name for name in CALLS if ROWS[name].way in (NUMPY, LOOP, SETTING)]
WITHOUT_GRADIENT = [*BY_NUMPY, *(name for name in CALLS if ROWS[name].way == REFUSED)]
GIVES_ARRAYS = [name for name in CALLS if ROWS[name].way in (COMPILED, NUMPY, LOOP)]


class Lists:
    """Nested lists of Python's floats: NumPy's arrays come out."""

    package = ""
    numbers = True

    def make(self, x, dtype):
        return x.tolist()

    def is_one(self, x):
        return isinstance(x, np.ndarray)

    def back(self, x):
        return x


class Torch:
    package = "torch_arrays"
    numbers = True

    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def make(self, x, dtype):
        return self.torch.tensor(x.astype(dtype))

    def is_one(self, x):
        return isinstance(x, self.torch.Tensor)

    def back(self, x):
        return x.numpy()


class Jax:
    package = "jax_arrays"
    numbers = True

    def __init__(self):
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)

    def make(self, x, dtype):
        return self.jax.numpy.asarray(x.astype(dtype))

    def is_one(self, x):
        return isinstance(x, self.jax.Array)

    def back(self, x):
        return np.asarray(x)


class Cupy:
    package = "cupy_arrays"
    numbers = True

    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if not self.cupy.cuda.is_available():
            pytest.skip("there is no GPU")

    def make(self, x, dtype):
        return self.cupy.asarray(x.astype(dtype))

    def is_one(self, x):
        return isinstance(x, self.cupy.ndarray)

    def back(self, x):
        return x.get()


class Dask:
    package = "dask_arrays"
    numbers = False

    def __init__(self):
        self.da = pytest.importorskip("dask.array")

    def make(self, x, dtype):
        return self.da.from_array(x.astype(dtype))

    def is_one(self, x):
        return isinstance(x, self.da.Array)

    def back(self, x):
        return x.compute(scheduler="sync")


class Casadi:
    package = "casadi_arrays"
    numbers = False

    def __init__(self):
        self.casadi = pytest.importorskip("casadi")

    def make(self, x, dtype):
        return self.casadi.DM(x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x)

    def is_one(self, x):
        return isinstance(x, self.casadi.DM)

    def back(self, x):
        return x.full()


PACKAGES = {
    "lists": Lists,
    "torch": Torch,
    "JAX": Jax,
    "CuPy": Cupy,
    "dask": Dask,
    "CasADi": Casadi,
}


def arrays_of(result):
    """All arrays of a result, in order."""
    if result is None:
        return []
    if isinstance(result, kt.Simulation):
        return [*result.values(), result.diverged, *result.events]
    if isinstance(result, Mapping):
        return [x for value in result.values() for x in arrays_of(value)]
    if isinstance(result, (tuple, list)):
        return [x for value in result for x in arrays_of(value)]
    if isinstance(result, kt.control.TrackingLQR):
        return [result.p, result.gains, result.cost]
    return [result]


def given(name, package, dtype="float64"):
    return {key: package.make(x, dtype) for key, x in ROWS[name].arrays.items()}


def assert_near(found, expected, tolerance):
    a, b = np.asarray(found, float), np.asarray(expected, float)
    a = a.reshape(b.shape)
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    known = ~np.isnan(b)
    scale = np.abs(b[known]).max(initial=1.0)
    assert np.abs(a - b)[known].max(initial=0.0) <= tolerance * scale


def word_of(name):
    """What messages call a call."""
    words = {"robot.rollout(...)(...)": "Rollout", "control.Controller(...)(...)": "pd"}
    return words.get(name, name.rpartition(".")[2])


def test_every_public_call_has_a_row():
    assert sorted(public()) == sorted(ROWS)


def test_the_page_has_the_table_of_these_rows():
    assert page_table() in PAGE.read_text(), f"docs/arrays.md needs this table:\n{page_table()}"


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_a_package_come_out_as_they_went_in_or_are_refused_by_name(name, package):
    row, kind = ROWS[name], PACKAGES[package]()
    taken = row.way == COMPILED or (kind.numbers and row.way in (NUMPY, LOOP, SETTING))
    if package == "lists":
        taken = True
    if not taken:
        with pytest.raises(KinetreeError) as caught:
            row.call(**given(name, kind))
        assert word_of(name) in str(caught.value)
        assert KINDS[kind.package] in str(caught.value)
        return
    expected = arrays_of(row.call(**row.arrays))
    found = arrays_of(row.call(**given(name, kind)))
    if row.way in (REFUSED, SCALARS):
        return
    assert len(found) == len(expected) or row.way == SETTING
    for x, y in zip(found, expected, strict=True):
        if row.way == SETTING:
            assert_near(x, y, TOLERANCE["float64"])
        else:
            assert kind.is_one(x), f"{type(x)} came out"
            assert_near(kind.back(x), y, TOLERANCE["float64"])


@pytest.mark.parametrize("package", ["torch", "JAX", "CuPy", "dask"])
@pytest.mark.parametrize("name", GIVES_ARRAYS)
def test_float32_comes_out_where_it_does_with_numpy(name, package):
    row, kind = ROWS[name], PACKAGES[package]()
    if not (kind.numbers or row.way == COMPILED):
        pytest.skip("refused, which is tested above")
    single = {key: x.astype(np.float32) for key, x in row.arrays.items()}
    expected = arrays_of(row.call(**single))
    found = arrays_of(row.call(**given(name, kind, "float32")))
    for x, y in zip(found, expected, strict=True):
        assert kind.is_one(x)
        if y.dtype == np.float32:
            assert str(x.dtype).endswith("float32")
        assert_near(kind.back(x), y, TOLERANCE["float32"])


DIFFERENTIABLE = "robot.rollout(...)(...)"
"""By NumPy, and yet autograd goes through it."""


@pytest.mark.parametrize("name", [name for name in WITHOUT_GRADIENT if name != DIFFERENTIABLE])
def test_a_gradient_that_would_be_lost_is_refused_by_name(name):
    kind = Torch()
    arrays = {key: x.requires_grad_() for key, x in given(name, kind).items()}
    with pytest.raises(KinetreeError) as caught:
        ROWS[name].call(**arrays)
    assert word_of(name) in str(caught.value)
    assert KINDS["torch_arrays"] in str(caught.value)


@pytest.mark.parametrize("name", BY_NUMPY)
def test_a_tensor_that_requires_a_gradient_is_taken_where_gradients_are_off(name):
    kind = Torch()
    arrays = {key: x.requires_grad_() for key, x in given(name, kind).items()}
    with kind.torch.no_grad():
        ROWS[name].call(**arrays)


@pytest.mark.parametrize("name", [name for name in CALLS if ROWS[name].way == COMPILED])
def test_a_gradient_passes_through_what_is_compiled(name):
    kind = Torch()
    arrays = {key: x.requires_grad_() for key, x in given(name, kind).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert any(x.requires_grad for x in arrays_of(ROWS[name].call(**arrays)))


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_what_jax_traces_is_refused_by_name_where_numbers_are_needed(name):
    kind = Jax()
    with pytest.raises(KinetreeError) as caught:
        kind.jax.make_jaxpr(lambda arrays: ROWS[name].call(**arrays))(given(name, kind))
    assert word_of(name) in str(caught.value)
    assert KINDS["jax_arrays"] in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch's own
@pytest.mark.parametrize("transform", ["vmap", "jacrev", "jacfwd"])
def test_what_torch_transforms_is_refused_by_name_where_numbers_are_needed(transform):
    torch = pytest.importorskip("torch")
    q = torch.zeros(2, 2, dtype=torch.float64)
    linearized = getattr(torch.func, transform)(lambda x: ROBOT.linearize(x, q[0], q[0])[0])
    with pytest.raises(KinetreeError, match=r"linearize: q is a tensor of PyTorch"):
        linearized(q if transform == "vmap" else q[0])


def test_sympy_is_refused_by_name_where_numbers_are_needed():
    sympy = pytest.importorskip("sympy")
    with pytest.raises(KinetreeError, match="pose_exp: xi is an expression of SymPy"):
        kt.pose_exp(sympy.Matrix(sympy.symbols("a b c d e f")))


def test_arrays_of_two_packages_are_refused_in_one_call():
    torch, jax = Torch(), Jax()
    row = ROWS["robot.linearize"]
    mixed = given("robot.linearize", torch) | {"v": jax.make(row.arrays["v"], "float64")}
    with pytest.raises(KinetreeError, match=r"linearize: q is a tensor .* v is an array of JAX"):
        row.call(**mixed)


@pytest.mark.parametrize("first", ["torch", "JAX", "CuPy", "dask", "CasADi"])
@pytest.mark.parametrize("second", ["torch", "JAX", "CuPy", "dask", "CasADi"])
def test_a_kernel_refuses_arrays_of_two_packages(first, second):
    if first != second:
        one, other = (PACKAGES[name]() for name in (first, second))
        row = ROWS["robot.difference"]
        with pytest.raises(KinetreeError, match=KINDS[other.package]):
            row.call(one.make(row.arrays["q0"], "float64"), other.make(row.arrays["q1"], "float64"))


@pytest.mark.parametrize("package", ["torch", "JAX", "dask"])
def test_a_list_of_arrays_is_no_array_of_a_kernel(package):
    kind = PACKAGES[package]()
    one, other = (kind.make(np.array(x), "float64") for x in (0.1, 0.2))
    for given in ([one, other], [[one, other]]):
        with pytest.raises(KinetreeError, match=f"q is a list, and in it is {KINDS[kind.package]}"):
            ROBOT.mass_matrix(given)


def test_numpy_arrays_and_numbers_stand_beside_tensors():
    kind = Torch()
    row = ROWS["robot.linearize"]
    A, B = row.call(**row.arrays | {"q": kind.make(row.arrays["q"], "float64")}, dt=0.01)
    assert kind.is_one(A)
    assert kind.is_one(B)


def test_a_simulation_of_tensors_is_saved_drawn_and_read_as_any_other(tmp_path):
    kind = Torch()
    row = ROWS["robot.simulate"]
    found, expected = row.call(**given("robot.simulate", kind)), row.call(**row.arrays)
    found.save(tmp_path / "motion.npz")
    np.testing.assert_array_equal(kt.Simulation.load(tmp_path / "motion.npz").q, expected.q)
    motion = kt.Motion.from_simulation(ROBOT, found)
    np.testing.assert_array_equal(motion.q, expected.q)
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "motion.png")


def test_the_solution_of_an_adaptive_simulation_gives_what_went_in():
    kind = Torch()
    row = ROWS["robot.simulate_adaptive"]
    found, expected = row.call(**given("robot.simulate_adaptive", kind)), row.call(**row.arrays)
    for time in (0.02, kind.make(np.array([0.01, 0.02]), "float64")):
        for x, y in zip(found.solution(time), expected.solution(np.asarray(time)), strict=True):
            assert kind.is_one(x)
            np.testing.assert_array_equal(x.numpy(), y)
