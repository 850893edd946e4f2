"""SymPy: a kernel called with symbols gives expressions with the values of the interpreter."""

import numpy as np
import pytest

from tests.mixed_robots import ROBOTS, gripper, interpreted, random_state, share_of_kernels
from tests.tolerances import relative_error

sympy = pytest.importorskip("sympy")

TOLERANCE = 1e-12


def numbers(result, shape):
    """SymPy's expression, matrix or array as numbers of a shape."""
    entries = result if isinstance(result, sympy.Expr) else sympy.flatten(result.tolist())
    return np.array(entries, float).reshape(shape)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_takes_sympys_numbers(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in share_of_kernels(name):
        arrays = random_state(robot, kernel)
        found = kernel(*(sympy.Array(x.tolist()) if x.ndim else sympy.Float(x) for x in arrays))
        found = found if isinstance(found, tuple) else (found,)
        for got, wanted in zip(found, interpreted(kernel, arrays), strict=True):
            error = relative_error(numbers(got, wanted.shape), wanted)
            assert error < TOLERANCE, (quantity, method)


def test_expressions_of_symbols_have_the_kernels_values():
    robot = gripper()
    kernel = robot.kernel("mass_matrix")
    q = sympy.Matrix(sympy.symbols(f"q:{robot.nq}"))
    (value,) = random_state(robot, kernel)
    found = kernel(q).subs(dict(zip(q, value, strict=True)))
    assert relative_error(numbers(found, (robot.nv, robot.nv)), kernel(value)) < TOLERANCE
