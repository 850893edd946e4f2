"""C code, compiled: it gives the interpreter's values, and its own self-test passes."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.graph import interpret, trace
from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import DtypeError, KinetreeError, MissingFileError
from kinetree.scalar import sin, sqrt
from tests.mixed_robots import ROBOTS, every_kernel, gripper, share_of_kernels
from tests.tolerances import SINGLE, relative_error

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
STATES = 3
TOLERANCE = 1e-12
"""Of an entry, relative to the largest: sums may be fused, and so rounded, otherwise."""

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler is installed"
)
needs_cmake = pytest.mark.skipif(not shutil.which("cmake"), reason="CMake is not installed")


def compiler(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return name


def library(command, codes, folder, options=("-O0",)):
    """Several functions compiled as one source."""
    source = Path(folder) / "all.c"
    for code in codes:
        code.save(folder)
    source.write_text("".join(f'#include "{code.name}.c"\n' for code in codes))
    path = source.with_suffix(".so")
    flags = [*STRICT, *options, "-fPIC", "-shared", "-o", str(path), str(source), "-lm"]
    done = subprocess.run([command, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return ctypes.CDLL(str(path))


def call(loaded, code, state):
    """The results of a function for one state."""
    kind = DTYPES[code.kind]
    given = [np.ascontiguousarray(x, kind) for x in state]
    results = [np.full(shape, np.nan, kind) for _, shape in code.outputs]
    getattr(loaded, code.name)(*(ctypes.c_void_p(x.ctypes.data) for x in (*given, *results)))
    return results


def states(robot, program):
    """Random states of a robot; quaternions have length one."""
    rng = np.random.default_rng(0)
    return [
        robot.random(rng, STATES)
        if i.name in ("q", "q0", "q1")
        else rng.uniform(-1.0, 1.0, (STATES, *i.shape))
        for i in program.inputs
    ]


def interpreted(program, arrays):
    """What the interpreter gives, results that are numbers for every state, too."""
    found = interpret(program, *arrays)
    pairs = zip(found, program.outputs, strict=True)
    return [np.broadcast_to(x, (STATES, *output.shape)) for x, output in pairs]


def named(kernels):
    """A name for the function of each kernel, and the kernel."""
    return {identifier(f"{quantity}_{method}"): kernel for quantity, method, kernel in kernels}


# every quantity


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("command", ["gcc", "clang"])
def test_every_quantity_by_every_method_has_the_interpreters_values(command, name, tmp_path):
    robot = ROBOTS[name]()
    # the text is the same for both: one of them sees all of it
    kernels = named(every_kernel(robot) if command == "gcc" else share_of_kernels(name))
    command = compiler(command)
    codes = {function: kernel.c_code(name=function) for function, kernel in kernels.items()}
    loaded = library(command, codes.values(), tmp_path)
    assert len(codes) > (60 if command == "gcc" else 15)
    for function, kernel in kernels.items():
        given = states(robot, kernel.program)
        expected = interpreted(kernel.program, given)
        for k in range(STATES):
            results = call(loaded, codes[function], [x[k] for x in given])
            for result, wanted in zip(results, expected, strict=True):
                assert relative_error(result, wanted[k]) < TOLERANCE, function


@pytest.mark.slow
@pytest.mark.parametrize("command", ["gcc", "clang"])
def test_every_quantity_in_floats_loses_what_single_precision_loses(command, tmp_path):
    robot = ROBOTS["gripper"]()
    kernels = named(every_kernel(robot))
    command = compiler(command)
    codes = {function: kernel.c_code("float32", function) for function, kernel in kernels.items()}
    loaded = library(command, codes.values(), tmp_path)
    for function, kernel in kernels.items():
        given = [x.astype(np.float32) for x in states(robot, kernel.program)]
        exact = interpreted(kernel.program, [x.astype(float) for x in given])
        rough = interpreted(kernel.program, given)
        for k in range(STATES):
            results = call(loaded, codes[function], [x[k] for x in given])
            for result, r, wanted in zip(results, rough, exact, strict=True):
                tolerance = SINGLE + 10.0 * relative_error(r[k], wanted[k])
                assert relative_error(result, wanted[k]) < tolerance, function


# what is built


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_built_function_takes_what_its_kernel_takes(dtype, tmp_path):
    robot = kt.robots.arm()
    kernel = robot.kernel("inverse_dynamics")
    function = kernel.c_code(dtype).build(tmp_path, flags=[*STRICT, "-O2"])
    rng = np.random.default_rng(1)
    q, (v, a) = robot.random(rng, (2, 3)), rng.standard_normal((2, 3, 7))
    tau = function(q, v, a)
    assert tau.shape == (2, 3, 7)
    assert tau.dtype == dtype
    tolerance = TOLERANCE if dtype == "float64" else SINGLE
    assert relative_error(tau, kernel(q, v, a)) < tolerance
    np.testing.assert_array_equal(function(q[0, 0].tolist(), v[0], a[0]), tau[0, 0])
    with pytest.raises(KinetreeError, match="the last axis must be 7"):
        function(q[..., :6], v, a)


@needs_compiler
def test_a_number_for_each_state_is_an_array_without_axes_or_one_a_state(tmp_path):
    robot = kt.robots.cart_pole()
    kernel = robot.kernel("kinetic_energy")
    function = kernel.c_code().build(tmp_path)
    q, v = np.random.default_rng(0).standard_normal((2, 4, 2))
    assert function(q[0], v[0]).shape == ()
    assert relative_error(function(q[0], v[0]), kernel(q[0], v[0])) < TOLERANCE
    assert relative_error(function(q, v), kernel(q, v)) < TOLERANCE
    assert function(q[:0], v[:0]).shape == (0,)


@needs_compiler
def test_a_function_may_be_built_again_under_the_same_name(tmp_path):
    one, two = (kt.robots.chain(n).kernel("mass_matrix") for n in (2, 3))
    first, second = one.c_code().build(tmp_path), two.c_code().build(tmp_path)
    assert first(np.zeros(2)).shape == (2, 2)
    assert second(np.zeros(3)).shape == (3, 3)
    assert relative_error(first(np.ones(2)), one(np.ones(2))) < TOLERANCE


@needs_compiler
def test_the_object_has_one_symbol_no_variable_and_calls_nothing_but_mathematics(tmp_path):
    code = kt.robots.arm().kernel("forward_dynamics").c_code()
    _, source, *_ = code.save(tmp_path)
    target = tmp_path / "f.o"
    command = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))))
    subprocess.run([command, "-O2", "-std=c99", "-c", source, "-o", target], check=True)
    done = subprocess.run(["nm", target], capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in done.stdout.splitlines()]
    assert [name for kind, name in symbols if kind == "T"] == ["forward_dynamics"]
    assert {kind for kind, _ in symbols} <= set("TtUr")
    called = {name for kind, name in symbols if kind == "U"}
    assert called <= {"sin", "cos", "sincos", "sqrt", "fma", "memcpy", "memset"}


@pytest.mark.slow
@needs_cmake
@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_self_test_builds_with_cmake_and_passes(dtype, tmp_path):
    robot = gripper()
    code = robot.kernel("forward_dynamics_derivatives").c_code(dtype, "gripper_derivatives")
    code.save(tmp_path)
    build = tmp_path / "build"
    flags = f"-DCMAKE_C_FLAGS={' '.join(STRICT[1:])}"
    run(["cmake", "-S", str(tmp_path), "-B", str(build), flags])
    run(["cmake", "--build", str(build)])
    output = run([str(build / "gripper_derivatives_test")])
    assert output == "gripper_derivatives: passed\n"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_compiler
def test_the_self_test_fails_where_a_result_is_wrong(tmp_path):
    code = kt.robots.double_pendulum().kernel("mass_matrix").c_code()
    _, source, test, _ = code.save(tmp_path)
    before, product, after = source.read_text().rpartition(" * ")
    assert product
    source.write_text(f"{before} - {after}")
    program = tmp_path / "test"
    command = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))))
    subprocess.run([command, source, test, "-o", program, "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "expected" in done.stdout
    assert "FAILED" in done.stdout


def self_test(code, folder):
    """What the self-test of a code prints, and whether it passes."""
    _, source, test, _ = code.save(folder)
    program = folder / "test"
    command = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))))
    strict = [command, *STRICT, source, test, "-o", program, "-lm"]
    subprocess.run(strict, check=True)
    return subprocess.run([program], capture_output=True, text=True, check=False)


@needs_compiler
@pytest.mark.parametrize("quantity", ["constrained_dynamics", "constrained_dynamics_derivatives"])
def test_the_code_of_a_closed_chain_passes_its_self_test(quantity, tmp_path):
    code = kt.robots.four_bar().kernel(quantity).c_code()
    done = self_test(code, tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout == f"{code.name}: passed\n"


@needs_compiler
@pytest.mark.parametrize(("constant", "passes"), [(0.0, True), (-2.0, False)])
def test_a_self_test_has_states_with_finite_results_or_says_that_there_is_none(
    constant, passes, tmp_path
):
    program = trace("f", lambda x: {"y": [sqrt(x[0] + constant)]}, {"x": (1,)})
    done = self_test(Kernel(None, lambda: program).c_code(), tmp_path)
    assert done.stdout.startswith("f: passed" if passes else "f: not tested, because no state")
    assert (done.returncode == 0) == passes


@needs_compiler
def test_sines_of_large_angles_are_the_libraries(tmp_path):
    kernel = Kernel(None, lambda: trace("f", lambda x: {"y": [sin(v) for v in x]}, {"x": (4,)}))
    x = np.array([1e5, -3e7, 1e300, -2.0])
    y = kernel.c_code().build(tmp_path)(x)
    np.testing.assert_allclose(y, np.sin(x), rtol=1e-15)


# what is refused


@pytest.mark.parametrize("name", ["3x", "a b", "double", "main", "größe"])
def test_a_name_that_is_none_of_c_is_refused(name):
    with pytest.raises(KinetreeError, match="cannot name a C function"):
        kt.robots.cart_pole().kernel("mass_matrix").c_code(name=name)


@pytest.mark.parametrize("dtype", ["float16", int, "no such", np.complex128])
def test_a_dtype_that_is_no_float_is_refused(dtype):
    with pytest.raises(DtypeError, match="float64 or float32 is expected"):
        kt.robots.cart_pole().kernel("mass_matrix").c_code(dtype)


def test_a_compiler_that_is_missing_is_named(tmp_path, monkeypatch):
    code = kt.robots.cart_pole().kernel("mass_matrix").c_code()
    with pytest.raises(MissingFileError, match="'no-such-cc' cannot be run"):
        code.build(tmp_path, "no-such-cc")
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(MissingFileError, match="there is no C compiler"):
        code.build(tmp_path)


@needs_compiler
def test_what_a_compiler_says_is_passed_on(tmp_path):
    code = kt.robots.cart_pole().kernel("mass_matrix").c_code()
    with pytest.raises(KinetreeError, match="no-such-flag"):
        code.build(tmp_path, flags=["-no-such-flag"])
