"""Guarded calls: every target against the interpreter."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import sympy

from kinetree import scalar
from kinetree.compiler.emit.cuda import emit_cuda, style
from kinetree.compiler.graph import interpret, trace, verify
from kinetree.compiler.graph import program as graph_program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime import foreign
from kinetree.compiler.runtime.gpu.device_kernel import GpuKernel
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.scalar import call_if, less, select, sin
from tests import host_cupy
from tests.compiler.emit.test_cuda import compiled, needs_compiler, run
from tests.compiler.guarded_programs import EVERY, contacts, mixed, program, states
from tests.tolerances import EXACT, relative_error

every_program = pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
DOUBLE, FLOAT = 1e-11, 2e-3
every_kind = pytest.mark.parametrize(("kind", "limit"), [("double", DOUBLE), ("float", FLOAT)])
DTYPES = {"double": np.float64, "float": np.float32}


@pytest.fixture(autouse=True)
def programs_are_long(monkeypatch):
    """Every program is long enough for functions that are called without a condition."""
    monkeypatch.setattr(graph_program, "LONGEST_WITHOUT_CALLS", 0)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Machine code is made here and now, of the chunk size that the test asks for."""
    monkeypatch.setenv("KINETREE_CACHE", "")


def expected(made, arrays):
    with np.errstate(all="ignore"):
        return interpret(made, *arrays)


def assert_same(found, wanted, limit):
    found = found if isinstance(found, (tuple, list)) else (found,)
    for a, b in zip(found, wanted, strict=True):
        assert np.isfinite(b).all()
        assert relative_error(np.asarray(a), b) < limit


# machine code


@every_program
@pytest.mark.parametrize(("chunk", "kind", "limit"), [(3, "double", DOUBLE), (400, "float", FLOAT)])
def test_machine_code(function, chunk, kind, limit, monkeypatch):
    monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies.CHUNK", chunk)
    made = verify(program(function))
    kernel = Kernel(None, lambda: made)
    for which in ("some", "all", "no"):
        for count in (1, 2, 7, 8, 37):
            arrays = [x.astype(DTYPES[kind]) for x in states(function, count, which)]
            wanted = expected(made, [x.astype(float) for x in arrays])
            assert_same(kernel(*arrays), wanted, limit)


def random_chain(seed):
    """A program of guarded calls on a state, each with some of a few functions, at random."""
    rng = np.random.default_rng(seed)
    size = 5

    def changing(which):
        def function(state, others):
            mixed_up = list(state)
            for k, (i, j, what) in enumerate(which):
                a, b = state[i], others[j]
                new = [a, b, sin(a) * b, a - b * 0.5, 2.0, select(less(a, b), a, state[k])][what]
                mixed_up[k] = new
            if which[0][2] == 2:
                mixed_up = call_if(less(mixed_up[0], 0.3), inner, mixed_up, otherwise=mixed_up)
            return mixed_up

        def inner(values):
            return [values[-1], *(x * 0.75 for x in values[:-1])]

        return function

    functions = [
        changing([tuple(rng.integers(0, (size, 2, 6))) for _ in range(size)]) for _ in range(3)
    ]
    choices = rng.integers(0, 3, 12), rng.integers(0, size, (12, 4)), rng.random(12)

    def chain(x):
        state = [x[0], x[1] * x[2], 0.0, sin(x[3]), x[4] + 1.0]
        kept = []
        for which, (i, j, k, m), chance in zip(*choices, strict=True):
            condition = less(state[i], x[j] + 0.5 * chance)
            others = [x[k] if chance < 0.5 else state[m] * 0.5, state[k]]
            before = state
            state = call_if(condition, functions[which], state, others, otherwise=state)
            if chance < 0.3:
                kept.append(before[m] + state[k])
        return {"state": state, "kept": kept or [0.0]}

    return verify(trace(f"chain{seed}", chain, {"x": (size,)}))


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_in_machine_code(seed, monkeypatch):
    monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies.CHUNK", 1 + 5 * (seed % 3))
    made = random_chain(seed)
    x = np.random.default_rng(seed).normal(size=(23, 5))
    kernel = Kernel(None, lambda: made)
    wanted = expected(made, [x])
    assert_same(kernel(x), wanted, DOUBLE)
    for k in range(3):
        assert_same(kernel(x[k]), [y[k] for y in wanted], DOUBLE)


def test_a_long_function_is_several_modules(monkeypatch):
    monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies.CHUNK", 20)
    monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies.MODULE", 60)
    made, arrays = program(contacts), states(contacts)
    kernel = Kernel(None, lambda: made)
    assert_same(kernel(*arrays), expected(made, arrays), DOUBLE)


def test_one_state_and_many_give_the_same_bits():
    made = program(contacts)
    kernel = Kernel(None, lambda: made)
    arrays = states(contacts, 19)
    together = kernel(*arrays)
    for k in range(19):
        for a, b in zip(together, kernel(*(x[k] for x in arrays)), strict=True):
            assert (a[k] == b).all()


def accelerate(x, v, u):
    """A force that grows where something is touched."""
    return v + 0.1 * (sin(x) - u), x * 1.01


def stepped(x, v, u):
    """One step of a bouncing motion."""
    hits = less(x[0], 0.0)
    speed, place = call_if(hits, accelerate, x[0], v[0], u[0], otherwise=(v[0], x[0]))
    return {"x": [place + 0.05 * speed], "v": [speed - 0.02], "speed": [speed * speed]}


LOOP = trace("bounce", stepped, {"x": (1,), "v": (1,), "u": (1,)})


def rolled(systems, steps):
    """The loop by the interpreter."""
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(systems, 1)), np.zeros((systems, 1))
    u = rng.normal(size=(systems, steps, 1))
    given, speeds = [x, v, u], []
    for k in range(steps):
        x, v, speed = interpret(LOOP, x, v, u[:, k])
        speeds.append(speed)
    return given, {"x": x, "v": v}, np.stack(speeds, 1)


def test_a_loop_over_time():
    given, final, speeds = rolled(21, 40)
    found = TimeLoop(Kernel(None, lambda: LOOP), states=2, series=1)(given, 21, 40, 1, ("speed",))
    for name, wanted in final.items():
        assert relative_error(found.final[name], wanted) < DOUBLE
    assert relative_error(found.records["speed"], speeds) < DOUBLE


# C


@every_program
@every_kind
def test_c(function, kind, limit, tmp_path):
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler is installed")
    made = program(function)
    flags = ("-Wall", "-Wextra", "-Werror", "-pedantic")
    built = Kernel(None, lambda: made).c_code(DTYPES[kind]).build(tmp_path, flags=flags)
    for which in ("some", "all", "no"):
        arrays = [x.astype(DTYPES[kind]) for x in states(function, 9, which)]
        assert_same(built(*arrays), expected(made, [x.astype(float) for x in arrays]), limit)


# CUDA


@needs_compiler
@every_program
@every_kind
def test_cuda(function, kind, limit, tmp_path):
    made = program(function)
    library = compiled({"kernel": emit_cuda(lower(made, style(kind)), "kernel")}, tmp_path)
    for which in ("some", "all", "no"):
        arrays = [x.astype(DTYPES[kind]) for x in states(function, 45, which)]
        found = run(library.kernel, made, arrays, kind)
        assert_same(found, expected(made, [x.astype(float) for x in arrays]), limit)


@needs_compiler
@pytest.mark.parametrize("seed", range(3))
def test_random_chains_in_cuda(seed, tmp_path):
    made = random_chain(seed)
    library = compiled({"kernel": emit_cuda(lower(made, style("double")), "kernel")}, tmp_path)
    x = np.random.default_rng(seed).normal(size=(45, 5))
    assert_same(run(library.kernel, made, [x]), expected(made, [x]), DOUBLE)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.slow
def test_cuda_compiles_to_ptx_with_one_routine_for_all_iterations(tmp_path):
    file, ptx = tmp_path / "kernel.cu", tmp_path / "kernel.ptx"
    file.write_text(emit_cuda(lower(program(contacts), style("double")), "kernel"))
    subprocess.run(["nvcc", "-arch=sm_90", "-ptx", str(file), "-o", str(ptx)], check=True)
    text = ptx.read_text()
    assert text.count(".func") >= 2
    assert text.count("sqrt.rn.f64") == 1


@pytest.fixture
def cp(monkeypatch, tmp_path):
    if host_cupy.COMPILER is None:
        pytest.skip("no C++ compiler")
    yield host_cupy.installed(monkeypatch, tmp_path)
    foreign.IMPORTED.pop("cupy_arrays", None)  # which knows the stand-in
    sys.modules.pop(f"{foreign.__name__}.cupy_arrays", None)


def test_a_program_with_guarded_calls_is_one_launch_on_a_gpu(cp):
    made = program(mixed)
    kernel = Kernel(None, lambda: made)
    assert len(GpuKernel(kernel.interface, made, "double").parts) == 1
    (x,) = states(mixed, 45)
    assert_same(kernel(cp.asarray(x)), expected(made, [x]), DOUBLE)


def test_a_loop_over_time_on_a_gpu(cp):
    given, final, speeds = rolled(45, 20)
    loop = TimeLoop(Kernel(None, lambda: LOOP), states=2, series=1)
    found = loop([cp.asarray(x) for x in given], 45, 20, 1, ("speed",))
    for name, wanted in final.items():
        assert relative_error(np.asarray(found.final[name]), wanted) < DOUBLE
    assert relative_error(np.asarray(found.records["speed"]), speeds) < DOUBLE


# symbols


def small(x):
    """Two guarded calls in each other."""

    def outer(a, b):
        return [a * b, call_if(less(a, 0.5), lambda a, b: a - b, a, b, otherwise=b)]

    return {"y": call_if(less(x[0], x[1]), outer, *x, otherwise=[*x])}


SMALL = trace("small", small, {"x": (2,)})
POINTS = np.array([[0.1, 0.7], [0.6, 0.7], [0.9, 0.2]])


def test_sympy():
    a, b = sympy.symbols("a b", real=True)
    found = Kernel(None, lambda: SMALL)(sympy.Matrix([a, b]))
    for point, wanted in zip(POINTS, interpret(SMALL, POINTS)[0], strict=True):
        numbers = dict(zip((a, b), point, strict=True))
        assert relative_error(np.array(found.subs(numbers), float).ravel(), wanted) < EXACT


def test_casadi(tmp_path):
    cs = pytest.importorskip("casadi")
    kernel = Kernel(None, lambda: SMALL)
    wanted = interpret(SMALL, POINTS)[0]
    J = interpret(kernel.jacobian("x").program, POINTS)[0]
    x = cs.SX.sym("x", 2)
    for function in (kernel.casadi("plain"), kernel.casadi("outside", compiled=True)):
        slope = function.jacobian()
        for k, point in enumerate(POINTS):
            assert relative_error(np.asarray(function(point)).ravel(), wanted[k]) < EXACT
            assert relative_error(np.asarray(slope(point, wanted[k])), J[k]) < EXACT
    assert cs.symvar(kernel(x))


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    from kinetree.compiler.runtime.foreign.jax_arrays import traced

    (found,) = traced(Kernel(None, lambda: SMALL), jnp.asarray(POINTS))
    assert relative_error(np.asarray(found), interpret(SMALL, POINTS)[0]) < 1e-6


def test_a_plain_call_of_a_guarded_function_is_shared():
    made = program(EVERY[-1])
    assert sum(node.op == "call" for node in made.nodes) == 30
    assert all(function.functions for function in made.functions)
    assert scalar.call(lambda a: a, 1.0, times=30) == 1.0
