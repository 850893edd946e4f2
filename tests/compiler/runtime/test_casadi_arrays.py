"""CasADi: functions of SX and external functions in C agree with kernels, to second order."""

import shutil

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.emit.c_casadi import interface_source
from kinetree.compiler.graph import interpret
from kinetree.compiler.runtime.c_code import compile_library
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, ShapeError
from kinetree.scalar import LEAVES, OPERATIONS
from tests.compiler.graph.test_interpret import single
from tests.mixed_robots import ROBOTS, gripper, interpreted, random_state, share_of_kernels
from tests.tolerances import relative_error

cs = pytest.importorskip("casadi")

TOLERANCE = 1e-12
needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is installed")


def numbers(matrix, shape):
    """CasADi's matrix as an array of one state's shape."""
    return matrix.full().reshape(shape)


def check(robot, kernel, function, what):
    """That a CasADi function has the values of the interpreter."""
    from kinetree.compiler.runtime.foreign.casadi_arrays import dimensions

    arrays = random_state(robot, kernel)
    shapes = (dimensions(shape) for _, shape in kernel.interface.inputs)
    matrices = [cs.DM(x.reshape(shape)) for x, shape in zip(arrays, shapes, strict=True)]
    found = function.call(matrices)
    for got, wanted in zip(found, interpreted(kernel, arrays), strict=True):
        assert relative_error(numbers(got, wanted.shape), wanted) < TOLERANCE, what


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_is_a_function_of_sx(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in share_of_kernels(name):
        check(robot, kernel, kernel.casadi(), (quantity, method))


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_is_an_external_function(name, tmp_path):
    from kinetree.compiler.runtime.foreign.casadi_arrays import plain_function

    robot = ROBOTS[name]()
    kernels = {f"f{k}": kernel for k, (_, _, kernel) in enumerate(share_of_kernels(name))}
    file = tmp_path / "all.c"  # one run of the compiler for all
    plain = (plain_function(kernel, function) for function, kernel in kernels.items())
    file.write_text("\n".join(map(interface_source, plain)))
    library = str(compile_library(file, level=0))
    assert len(kernels) > 15
    for function, kernel in kernels.items():
        check(robot, kernel, cs.external(function, library), repr(kernel))


@pytest.mark.parametrize("op", sorted(OPERATIONS.keys() - LEAVES))
def test_casadi_gives_each_operation_its_value(op):
    from kinetree.compiler.runtime.foreign.casadi_arrays import sx_function

    program = single(op)
    function = sx_function(Kernel(None, lambda: program), f"one_{op}")
    for state in np.random.default_rng(0).uniform(0.1, 3.0, (5, *program.inputs[0].shape)):
        assert float(function(state)) == pytest.approx(interpret(program, state)[0], rel=1e-14)


def test_arguments_and_results_are_named():
    function = gripper().kernel("inverse_dynamics").casadi("torques")
    assert function.name() == "torques"
    assert function.name_in() == ["q", "v", "a"]
    assert function.name_out() == ["tau"]
    assert set(function(q=cs.DM.zeros(4), v=0, a=0)) == {"tau"}


def test_a_result_that_has_an_arguments_name_gets_another():
    kernel = kt.robots.arm().kernel("integrate")
    function = kernel.casadi()
    assert len({*function.name_in(), *function.name_out()}) == 3


def test_methods_of_a_robot_take_symbols_and_numbers():
    robot = gripper()
    q, v = cs.SX.sym("q", 4), cs.MX.sym("v", 4)
    assert isinstance(robot.mass_matrix(q), cs.SX)
    assert isinstance(robot.gravity_forces(v), cs.MX)
    at = np.array([0.1, 0.2, 0.3, 0.4])
    M = robot.mass_matrix(cs.DM(at))
    assert relative_error(M.full(), robot.mass_matrix(at)) < TOLERANCE


def test_entries_that_are_always_zero_are_structural_zeros():
    robot = kt.robots.quadruped()
    M = robot.kernel("mass_matrix").casadi()
    assert M.nnz_out(0) == int(robot.kernel("mass_matrix").sparsity["M"].sum()) < robot.nv**2


def test_wrong_sizes_and_out_are_refused():
    robot = gripper()
    with pytest.raises(ShapeError, match="4 x 1 is expected"):
        robot.mass_matrix(cs.SX.sym("q", 3))
    with pytest.raises(ShapeError, match="takes q, v: 1 arrays"):
        robot.kernel("kinetic_energy")(cs.SX.sym("q", 4))
    with pytest.raises(KinetreeError, match="out= is for NumPy"):
        robot.mass_matrix(cs.SX.sym("q", 4), out=np.zeros((4, 4)))
    with pytest.raises(KinetreeError, match="cannot name a CasADi function"):
        robot.kernel("mass_matrix").casadi("2 words")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "poses"])
def test_compiled_functions_have_exact_derivatives(name, quantity, tmp_path):
    robot = ROBOTS[name]()
    kernel = robot.kernel(quantity)
    plain, compiled = kernel.casadi(), kernel.casadi(compiled=True, folder=tmp_path)
    arrays = [cs.DM(x) for x in random_state(robot, kernel)]
    results = plain.call(arrays)
    pairs = [(plain.call(arrays), compiled.call(arrays))]
    pairs.append([f.jacobian().call([*arrays, *results]) for f in (plain, compiled)])
    pairs.append([second(f)(cs.vertcat(*arrays)) for f in (plain, compiled)])
    for expected, found in pairs:
        for wanted, got in zip(
            *([x] if isinstance(x, cs.DM) else x for x in (expected, found)), strict=True
        ):
            assert relative_error(got.full(), wanted.full()) < TOLERANCE


def second(function):
    """The Hessian of the sum of squares of all results, by all arguments."""
    sizes = [function.size1_in(k) for k in range(function.n_in())]
    x = cs.MX.sym("x", sum(sizes))
    results = function.call(cs.vertsplit(x, list(np.cumsum([0, *sizes]))))
    cost = sum(cs.sumsqr(y) for y in results)
    return cs.Function("second", [x], [cs.hessian(cost, x)[0]])


@needs_compiler
def test_a_compiled_function_solves_with_ipopt(tmp_path):
    robot = kt.robots.double_pendulum()
    gravity = robot.kernel("gravity_forces").casadi(compiled=True, folder=tmp_path)
    q = cs.MX.sym("q", 2)
    problem = {"x": q, "f": cs.sumsqr(gravity(q)) + 1e-3 * cs.sumsqr(q - 0.2)}
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}
    solution = cs.nlpsol("balance", "ipopt", problem, quiet)(x0=[0.3, 0.2])
    assert float(solution["f"]) < 1e-3
