"""Kernels on a GPU, where there is one (make test-gpu): every quantity equals the interpreter."""

import numpy as np
import pytest

from kinetree.errors import KinetreeError, ShapeError
from tests.mixed_robots import ROBOTS, every_kernel, interpreted, random_state
from tests.tolerances import relative_error

cp = pytest.importorskip("cupy", reason="no CuPy")
try:
    cp.cuda.runtime.getDeviceCount()
except cp.cuda.runtime.CUDARuntimeError:
    pytest.skip("no GPU", allow_module_level=True)

SINGLE = 2e-3
"""What single precision may lose in the worst conditioned quantity of these robots."""


@pytest.mark.parametrize("name", ROBOTS)
def test_every_quantity_equals_the_interpreter(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in every_kernel(robot):
        program = kernel.program
        if sum(program.operations.values()) > 20_000:
            continue
        given = random_state(robot, kernel, (77,))
        expected = interpreted(kernel, given)
        loss = 100.0 if "dt" in dict(kernel.interface.inputs) else 1.0  # by dividing by 0.01 s
        for dtype, tolerance in ((np.float64, 1e-12 * loss), (np.float32, SINGLE * loss)):
            found = kernel(*(cp.asarray(x, dtype) for x in given))
            found = found if isinstance(found, tuple) else (found,)
            for a, b in zip(found, expected, strict=True):
                assert a.dtype == dtype
                assert relative_error(a.get(), b) < tolerance, (quantity, method, dtype)


@pytest.mark.parametrize("count", [1, 31, 127, 128, 129, 100_003])
def test_odd_batches_write_everything_and_nothing_else(count):
    robot = ROBOTS["gripper"]()
    kernel = robot.kernel("mass_matrix")
    (q,) = random_state(robot, kernel, (count,))
    room = cp.full((count + 2, robot.nv, robot.nv), cp.nan)
    robot.mass_matrix(cp.asarray(q), out=room[1:-1])
    assert cp.isnan(room[0]).all()
    assert cp.isnan(room[-1]).all()
    assert relative_error(room[1:-1].get(), robot.mass_matrix(q)) < 1e-12


def test_one_state_for_a_batch_and_wrong_shapes():
    robot = ROBOTS["rider"]()
    q, v, a = robot.random(0, 9), np.ones(robot.nv), np.ones((9, robot.nv))
    found = robot.inverse_dynamics(*map(cp.asarray, (q, v, a)))
    assert relative_error(found.get(), robot.inverse_dynamics(q, v, a)) < 1e-12
    with pytest.raises(ShapeError, match="q has shape"):
        robot.mass_matrix(cp.zeros((3, 2)))
    with pytest.raises(KinetreeError, match="C order"):
        robot.mass_matrix(cp.asarray(q), out=cp.empty((9, robot.nv, robot.nv)).swapaxes(1, 2))
