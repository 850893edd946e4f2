"""Kernels as NumPy functions: broadcasting, layouts, memory, errors, determinism."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.graph import interpret
from kinetree.errors import DtypeError, ShapeError
from tests.tolerances import EXACT, SINGLE, relative_error


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


def states(robot, *batch, seed=0):
    rng = np.random.default_rng(seed)
    v, a = rng.standard_normal((2, *batch, robot.nv))
    return robot.random(rng, batch), v, a


@pytest.mark.parametrize("quantity", ["poses", "inverse_dynamics", "mass_matrix", "integrate"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 15, 16, 17, 33])
def test_a_kernel_equals_the_interpreter_for_every_remainder(quantity, n):
    robot = kt.robots.arm(base="floating")
    kernel = robot.kernel(quantity)
    arrays = states(robot, n)[: len(kernel.interface.inputs)]
    (expected,) = interpret(kernel.program, *arrays)
    assert relative_error(kernel(*arrays), expected) < EXACT


def test_single_precision_in_gives_single_precision_out(arm):
    q, v, a = (x.astype(np.float32) for x in states(arm, 21))
    tau = arm.inverse_dynamics(q, v, a)
    assert tau.dtype == np.float32
    expected = arm.inverse_dynamics(*(x.astype(np.float64) for x in (q, v, a)))
    assert relative_error(tau, expected) < SINGLE
    assert arm.inverse_dynamics(q[0], v[0], a[0]).dtype == np.float32
    assert arm.inverse_dynamics(q, v, a.astype(np.float64)).dtype == np.float64


def test_single_precision_alone_does_not_compile_double_precision():
    kernel = kt.robots.chain(2, seed=5).kernel("mass_matrix")
    for batch in ((), (3,)):
        assert kernel(np.zeros((*batch, 2), np.float32)).dtype == np.float32
    assert set(kernel._compiled) == {("cpu", "float")}


def test_lists_integers_and_scalars_of_a_batch_broadcast(arm):
    q, v, _ = states(arm, 4, 1)
    tau = arm.inverse_dynamics(q, v[0, 0].tolist(), np.zeros((3, 7), dtype=int))
    assert tau.shape == (4, 3, 7)
    for i in range(4):
        expected = arm.inverse_dynamics(q[i, 0], v[0, 0], np.zeros(7))
        assert (tau[i] == expected).all()


def test_a_state_has_the_same_bits_alone_in_a_batch_and_on_threads(arm):
    q, v, a = states(arm, 1003)
    together = arm.forward_dynamics(q, v, a)
    for i in (0, 1, 7, 8, 500, 1000, 1001, 1002):
        assert (arm.forward_dynamics(q[i], v[i], a[i]) == together[i]).all()
        assert (arm.forward_dynamics(q[: i + 1], v[: i + 1], a[: i + 1])[i] == together[i]).all()
    assert (arm.forward_dynamics(q, v, a) == together).all()


@pytest.mark.parametrize("n", [1, 5, 8, 30])
def test_every_layout_of_the_operands_gives_the_same_bits(arm, n):
    q, v, a = states(arm, n)
    expected = arm.mass_matrix(q)
    tau = arm.inverse_dynamics(q, v, a)

    def spread(x):  # every second element of every third row
        wide = np.full((3 * n, 14), np.nan)
        wide[::3, ::2] = x
        return wide[::3, ::2]

    views = {
        "column order": np.asfortranarray(q),
        "spread": spread(q),
        "reversed": q[::-1].copy()[::-1],
        "reversed core": q[:, ::-1].copy()[:, ::-1],
        "both reversed": q[::-1, ::-1].copy()[::-1, ::-1],
    }
    for name, view in views.items():
        assert (arm.mass_matrix(view) == expected).all(), name
        assert (arm.inverse_dynamics(view, spread(v), a) == tau).all(), name


@pytest.mark.parametrize("n", [1, 5, 8, 30])
def test_results_go_into_arrays_of_every_layout(arm, n):
    q, _, _ = states(arm, n)
    expected = arm.mass_matrix(q)
    room = np.full((2 * n, 14, 21), np.nan)
    for out in (
        np.empty((n, 7, 7)),
        np.empty((7, 7, n)).transpose(2, 0, 1),
        room[::2, ::2, ::3],
        room[-2::-2, -2::-2, -3::-3],
        np.empty((n, 7, 7)).transpose(0, 2, 1),
    ):
        assert arm.mass_matrix(q, out=out) is out
        assert (out == expected).all()
    assert np.isnan(room[1::2]).all()
    assert np.isnan(room[:, 1::2]).all()
    assert np.isnan(room[:, :, 1::3]).all()


def test_broadcast_and_read_only_inputs_are_taken_as_they_are(arm):
    q, v, a = states(arm)
    many = np.broadcast_to(q, (40, 7))
    frozen = v.copy()
    frozen.flags.writeable = False
    tau = arm.inverse_dynamics(many, frozen, a)
    assert (tau == arm.inverse_dynamics(q, v, a)).all()
    assert tau.shape == (40, 7)


@pytest.mark.parametrize("n", [1, 6, 40])
def test_out_may_overlap_the_inputs(n):
    robot = kt.robots.arm(base="floating")
    q, v, _ = states(robot, n)
    expected = robot.integrate(q, v)
    aliased = q.copy()
    robot.integrate(aliased, v, out=aliased)
    assert (aliased == expected).all()
    # shifted by one row, so that each result lands on the next state's input
    buffer = np.empty((n + 1, robot.nq))
    buffer[:n] = q
    robot.integrate(buffer[:n], v, out=buffer[1:])
    assert (buffer[1:] == expected).all()


def test_an_empty_batch_gives_an_empty_result(arm):
    assert arm.mass_matrix(np.empty((0, 7))).shape == (0, 7, 7)
    assert arm.inverse_dynamics(*np.empty((3, 5, 0, 7))).shape == (5, 0, 7)


GUARDED = """
import ctypes, mmap
import numpy as np
import kinetree as kt

libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE

def guarded(shape, dtype, at_end):
    '''An array whose last (or first) byte touches a page that must not be read or written.'''
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    pages = -(-size // PAGE) + 2
    region = mmap.mmap(-1, pages * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(region))
    for guard in (start, start + (pages - 1) * PAGE):
        assert libc.mprotect(ctypes.c_void_p(guard), PAGE, 0) == 0
    offset = (pages - 1) * PAGE - size if at_end else PAGE
    array = np.frombuffer(region, dtype, int(np.prod(shape)), offset).reshape(shape)
    KEEP.append(region)
    return array

KEEP = []
robots = [kt.robots.arm(), kt.robots.chain(1), kt.robots.chain(3), kt.robots.arm("floating")]
for robot in robots:
    for n in (1, 2, 7, 8, 9, 40):
        for dtype in (np.float64, np.float32):
            for at_end in (False, True):
                rng = np.random.default_rng(0)
                values = robot.random(rng, n), *rng.standard_normal((2, n, robot.nv))
                values = [x.astype(dtype) for x in values]
                arrays = [guarded(x.shape, dtype, at_end) for x in values]
                for a, x in zip(arrays, values):
                    a[...] = x
                for kernel in ("inverse_dynamics", "mass_matrix", "poses", "integrate"):
                    kernel = robot.kernel(kernel)
                    given = arrays[: len(kernel.interface.inputs)]
                    plain = values[: len(kernel.interface.inputs)]
                    expected = kernel(*plain)
                    out = guarded(expected.shape, dtype, at_end)
                    kernel(*given, out=out)
                    assert (out == expected).all()
                    kernel(*[g[::-1, ::-1][::-1, ::-1] for g in given], out=out)
                    assert (out == expected).all()
print("survived")
"""


STREAMED = (
    """
import os, sys
os.environ["KINETREE_CACHE"] = ""
import kinetree.compiler.native.loop, kinetree.compiler.runtime.cpu.host
kinetree.compiler.native.loop.STREAM_BYTES = 1  # everything is large
if sys.argv[1] != "widest":
    kinetree.compiler.runtime.cpu.host._vector_bits = lambda *_: int(sys.argv[1])
    kinetree.compiler.runtime.cpu.host.Host.level = 0  # of bodies; loops are as users have them
"""
    + GUARDED.split("robots = [")[0]
    + """
from numpy.lib.stride_tricks import as_strided

def placed(expected, shift, gap):
    '''Room for results, with so many elements before the first and between two states.'''
    n, *shape = expected.shape
    size, item = expected[0].size, expected.itemsize
    room = np.full(16 + shift + n * (size + gap), np.nan, expected.dtype)
    steps = [item * int(np.prod(shape[k + 1:])) for k in range(len(shape))]
    out = as_strided(room[shift:], expected.shape, [item * (size + gap), *steps])
    rest = np.ones(room.shape, bool)
    for i in range(n):
        rest[shift + i * (size + gap) :][:size] = False
    return out, room, rest

# rows whole vectors apart, half ones, any; 28 and 23 are half ones for sixteen lanes and for four
cases = [(joints, "mass_matrix") for joints in (12, 13, 14, 20, 21)]
for joints, quantity in (*cases, (28, "momentum_matrix"), (23, "momentum_matrix")):
    robot = kt.robots.chain(joints)
    call = getattr(robot, quantity)
    for dtype in (np.float64, np.float32):
        for n in (8, 41):
            q = robot.random(0, n).astype(dtype)
            expected = np.array([call(x) for x in q])
            for shift in range(17):
                for gap in (0, 1, 4):
                    out, room, rest = placed(expected, shift, gap)
                    call(q, out=out)
                    assert (out == expected).all()
                    assert np.isnan(room[rest]).all()
            for at_end in (False, True):
                out = guarded(expected.shape, dtype, at_end)
                call(q, out=out)
                assert (out == expected).all()
robot = kt.robots.chain(12)
states = robot.random(0, 41), *np.random.default_rng(0).standard_normal((2, 41, 12))
single = [robot.forward_dynamics_derivatives(*(x[i] for x in states)) for i in range(41)]
for k, found in enumerate(robot.forward_dynamics_derivatives(*states)):  # several at once
    assert (found == [results[k] for results in single]).all()

from kinetree.compiler.graph import trace
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime.cpu.bodies import style
from kinetree.compiler.runtime.cpu.host import host
from kinetree.compiler.runtime.kernel import Kernel

def late(x):
    y = list(x)
    for _ in range(200):
        y = [a * 0.5 + b * c for a, b, c in zip(y, x, y[1:] + y[:1])]
    results = [[y[i % 12] * x[i % 11] + i for i in range(k, 300 + k)] for k in (0, 300)]
    return {"one": [x[0] * x[1], *results[0]], "two": [*results[1], x[2] * x[3]]}

program = trace("late", late, {"x": (12,)})
target = host().target("double")
assert lower(program, style(target, target.lanes)).late is not None  # what is early waits
kernel = Kernel(None, lambda: program)
for n in (8, 41, 400):
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (n, 12))
    single = [kernel(row) for row in x]
    for k, found in enumerate(kernel(x)):
        assert (found == [results[k] for results in single]).all()
print("survived")
"""
)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="guard pages by mprotect")
@pytest.mark.parametrize("bits", ["widest", "256", "128"])
def test_streamed_results_land_where_they_belong_whatever_the_alignment(bits):
    run = subprocess.run([sys.executable, "-c", STREAMED, bits], capture_output=True, text=True)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="guard pages by mprotect")
def test_no_byte_outside_the_arrays_is_touched():
    run = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


def test_one_kernel_may_be_called_from_many_threads_at_once(arm):
    q, v, a = states(arm, 8, 257)
    expected = [arm.inverse_dynamics(q[i], v[i], a[i]) for i in range(8)]
    kt.set_threads(2)  # the pool is then fought over, too
    wrong = []

    def hammer(i):
        for _ in range(200):
            if not (arm.inverse_dynamics(q[i], v[i], a[i]) == expected[i]).all():
                wrong.append(i)
            if not (arm.inverse_dynamics(q[i, 0], v[i, 0], a[i, 0]) == expected[i][0]).all():
                wrong.append(i)

    threads = [threading.Thread(target=hammer, args=(i,)) for i in range(8)]
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        kt.set_threads(1)
    assert not wrong


OUTLIVES = """
import gc, weakref
import numpy as np
import kinetree as kt
from kinetree.compiler.runtime.cpu.host import Loaded

def gufunc():
    kernel = kt.robots.chain(3, seed=9).kernel("mass_matrix")
    return kernel.gufunc, kernel(np.ones(3))

made, expected = gufunc()
gc.collect()
junk = [np.full(100000, np.nan) for _ in range(50)]
assert (made(np.ones((20, 3))) == expected).all()
code = [o for o in gc.get_objects() if isinstance(o, Loaded)]
codes = [weakref.ref(o) for o in code]
before = len(codes)
del made, code
gc.collect()
assert sum(r() is not None for r in codes) == before - 1
print("survived")
"""


@pytest.mark.slow
def test_a_gufunc_keeps_its_code_alive_and_no_longer():
    run = subprocess.run([sys.executable, "-c", OUTLIVES], capture_output=True, text=True)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


AT_ONCE = """
import os, threading
os.environ["KINETREE_CACHE"] = ""
import numpy as np
import kinetree as kt

robots = [kt.robots.chain(n) for n in (3, 4, 5, 6)]
start, results = threading.Barrier(12), {}

def first_call(i):
    robot, kind = robots[i % 4], (np.float64, np.float32)[i % 2]
    q = np.full((3, robot.nv), 0.5, kind)
    start.wait()
    results[i] = robot.mass_matrix(q), robot.inverse_dynamics(q, q, q)

threads = [threading.Thread(target=first_call, args=(i,)) for i in range(12)]
for t in threads: t.start()
for t in threads: t.join()
for i in range(12):
    for a, b in zip(results[i], results[i % 4]):
        assert (a == b).all()
print("survived")
"""


@pytest.mark.slow
def test_kernels_may_be_compiled_by_many_threads_at_once():
    run = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ((np.zeros(6), np.zeros(7), np.zeros(7)), ShapeError, r"q has shape \(6,\).*must be 7"),
        ((np.zeros(7), np.zeros((4, 8)), np.zeros(7)), ShapeError, r"v has shape \(4, 8\)"),
        ((np.zeros(7), np.zeros(7), 1.0), ShapeError, r"a has shape \(\)"),
        ((np.zeros(7), np.zeros(7, complex), np.zeros(7)), DtypeError, r"v has dtype complex128"),
        ((np.array(["x"] * 7), np.zeros(7), np.zeros(7)), DtypeError, r"q has dtype <U1"),
        ((np.zeros(7, object), np.zeros(7), np.zeros(7)), DtypeError, r"q has dtype object"),
        ((np.zeros(7), np.zeros(7), np.zeros(7, np.longdouble)), DtypeError, r"a has dtype"),
        (([[1.0] * 7, [1.0] * 6], np.zeros(7), np.zeros(7)), ShapeError, r"q is ragged"),
        (
            (np.zeros((2, 7)), np.zeros((3, 7)), np.zeros(7)),
            ShapeError,
            r"batch shapes do not broadcast: q \(2,\), v \(3,\), a \(\)",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_expected(arm, arrays, error, message):
    with pytest.raises(error, match=message) as caught:
        arm.inverse_dynamics(*arrays)
    assert str(caught.value).startswith("inverse_dynamics: ")
    assert isinstance(caught.value, kt.errors.KinetreeError)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros((5, 6)), ShapeError, r"shape \(5, 6\); \(5, 7\) is expected"),
        (np.zeros((4, 7)), ShapeError, r"shape \(4, 7\); \(5, 7\) is expected"),
        (np.zeros((5, 7), int), DtypeError, r"dtype int"),
        ([0.0] * 7, DtypeError, r"is a list; an array is expected"),
        ((np.zeros((5, 7)), np.zeros((5, 7))), ShapeError, r"out has 2 arrays; 1 expected"),
    ],
)
def test_a_wrong_out_is_named_with_what_was_expected(arm, out, error, message):
    with pytest.raises(error, match=message):
        arm.inverse_dynamics(*states(arm, 5), out=out)


def test_a_read_only_out_is_refused(arm):
    out = np.zeros((5, 7))
    out.flags.writeable = False
    with pytest.raises(ShapeError, match="read-only"):
        arm.inverse_dynamics(*states(arm, 5), out=out)


def test_a_missing_argument_is_an_error_of_ours(arm):
    with pytest.raises(kt.errors.KinetreeError, match="takes q, v, a"):
        arm.kernel("inverse_dynamics")(np.zeros(7))


def test_an_argument_too_many_is_refused_and_not_written_to(arm):
    kernel = arm.kernel("mass_matrix")
    for batch in ((), (3,)):
        extra = np.full((*batch, 7, 7), 2.0)
        with pytest.raises(ShapeError, match="takes q: 2 arrays were given"):
            kernel(np.zeros((*batch, 7)), extra)
        assert (extra == 2.0).all()


def test_the_function_for_one_state_is_compiled_when_one_state_comes():
    kernel = kt.robots.chain(2, seed=6).kernel("mass_matrix")
    q = np.random.default_rng(0).normal(size=(5, 2))
    many = kernel(q)
    assert not kernel._ones
    for one in (q[0], q[0].tolist(), q[:1]):
        assert (kernel(one) == many[0]).all()
        assert len(kernel._ones) == 1
    kernel(q[0].astype(np.float32))
    assert len(kernel._ones) == 2


def test_calls_without_the_guard_never_ask_it():
    robot = kt.robots.chain(2, base="floating").edit.rechart("zyx")
    q, v = np.zeros(8), np.zeros(8)
    q[4] = np.pi / 2
    kernel = robot.kernel("forward_dynamics")
    assert kernel.unguarded((q, v, v)).shape == (8,)
    assert kernel.unguarded((q, v, v)).shape == (8,)


def of_forward_dynamics():
    return kt.robots.chain(2, base="floating").kernel("forward_dynamics")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        of_forward_dynamics,
        lambda: of_forward_dynamics().jvp(),
        lambda: of_forward_dynamics().vjp("q").jacobian(("v", "tau")),
        lambda: (
            kt.robots.double_pendulum().charts.in_coordinates(lambda y: [2.0 * y[0], y[1]], 2)._mass
        ),
        lambda: (
            kt.robots.double_pendulum().parametric([kt.Inertial("upper")]).kernel("mass_matrix")
        ),
    ],
)
def test_kernels_pickle(make):
    kernel = make()
    copy = pickle.loads(pickle.dumps(kernel))
    assert repr(copy) == repr(kernel)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((4, *shape)) for _, shape in kernel.interface.inputs]
    one, other = kernel(*arrays), copy(*arrays)
    pairs = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
    for expected, found in pairs:
        assert (found == expected).all()


def test_a_kernel_says_what_it_is(arm):
    assert repr(arm.kernel("mass_matrix", "crba")).startswith(
        "<Kernel mass_matrix by crba: q (7) -> M (7, 7), "
    )


def test_a_kernel_refuses_singular_states_as_its_method_does():
    robot = kt.robots.chain(2, base="floating").edit.rechart("zyx")
    q, v = np.zeros((5, 8)), np.zeros(8)
    q[3, 4] = np.pi / 2
    kernel = robot.kernel("forward_dynamics")
    wide = robot.parametric([kt.Inertial("link1")])
    for call in (
        lambda: kernel(q, v, v),
        lambda: kernel.jvp()(q, v, v, v, v, v),
        lambda: wide.forward_dynamics(q, v, v, wide.parameters),
        lambda: robot.forward_dynamics(q.tolist(), v, v),
    ):
        with pytest.raises(kt.errors.SingularChartError, match=r"state 3: .*'root_joint'"):
            call()


def test_the_kernel_is_a_gufunc_with_its_shapes_in_the_signature(arm):
    kernel = arm.kernel("mass_matrix")
    assert isinstance(kernel.gufunc, np.ufunc)
    assert kernel.gufunc.signature == "(7)->(7,7)"
    assert kernel.gufunc.__name__ == "mass_matrix"
    q = arm.random(0, (2, 3))
    assert (kernel.gufunc(q) == arm.mass_matrix(q)).all()


def test_nan_in_one_state_stays_in_that_state(arm):
    q, v, a = states(arm, 20)
    expected = arm.inverse_dynamics(q, v, a)
    v[5] = np.nan
    tau = arm.inverse_dynamics(q, v, a)
    assert np.isnan(tau[5]).any()
    others = np.arange(20) != 5
    assert (tau[others] == expected[others]).all()


def test_one_state_is_written_into_out_whatever_it_overlaps():
    robot = kt.robots.arm()
    q, v, a = np.random.default_rng(0).normal(size=(3, 7))
    expected = robot.inverse_dynamics(q, v, a)
    for out in (np.empty(7), np.empty(14)[::2], np.empty(7, np.float32)):
        assert robot.inverse_dynamics(q, v, a, out=out) is out
        assert np.allclose(out, expected, rtol=1e-6)
    assert robot.inverse_dynamics(q, v, a, out=a) is a
    assert (a == expected).all()


def test_a_kernel_of_some_numbers_has_them_and_computes_less():
    robot = kt.robots.arm()
    kernel = robot.kernel("mass_matrix")
    some = kernel.selected({"corner": [0, 1, 7], "last": [48]})
    q = robot.random(0, batch=5)
    corner, last = some(q)
    M = kernel(q)
    assert np.allclose(corner, M.reshape(5, -1)[:, [0, 1, 7]], rtol=1e-13)
    assert np.allclose(last, M[:, 6, 6:], rtol=1e-13)
    assert sum(kernel.selected({"last": [48]}).operations.values()) < 0.1 * sum(
        kernel.operations.values()
    )
    again = pickle.loads(pickle.dumps(some))
    assert (again(q)[0] == corner).all()
