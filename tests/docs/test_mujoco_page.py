"""Rows of docs/mujoco.md, against MuJoCo itself."""

import numpy as np
import pytest

import kinetree as kt
from tests.tolerances import relative_error

mujoco = pytest.importorskip("mujoco")
CLOSE = 1e-10


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    path = tmp_path_factory.mktemp("mujoco") / "arm.xml"
    with pytest.warns(kt.errors.ModelWarning):
        kt.robots.arm().save(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    robot, data = kt.load(path), mujoco.MjData(model)
    rng = np.random.default_rng(0)
    q, (v, tau) = robot.random(rng), rng.standard_normal((2, robot.nv))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    return robot, model, data, q, v, tau


def test_the_rows_of_dynamics(both):
    robot, model, data, q, v, tau = both
    M = np.zeros((robot.nv, robot.nv))
    mujoco.mj_fullM(model, data, M)
    assert relative_error(robot.mass_matrix(q), M) < CLOSE
    assert relative_error(robot.forward_dynamics(q, v, tau), data.qacc) < CLOSE
    bare = robot.without("damping", "friction", "springs")
    assert relative_error(bare.bias_forces(q, v), data.qfrc_bias) < CLOSE


def test_the_rows_of_kinematics(both):
    robot, model, data, q, _, _ = both
    body = robot.bodies[-1]
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    linear, angular = np.zeros((2, 3, robot.nv))
    mujoco.mj_jacBody(model, data, linear, angular, number)
    assert relative_error(robot.jacobian(q, body), np.vstack([linear, angular])) < CLOSE
    pose = robot.pose(q, body)
    assert np.allclose(pose[:3, 3], data.xpos[number], atol=CLOSE)
    assert np.allclose(pose[:3, :3].ravel(), data.xmat[number], atol=CLOSE)


def test_the_rows_of_configurations_and_steps(both):
    robot, model, data, q, v, tau = both
    moved, difference, dt = q.copy(), np.zeros(robot.nv), 1e-3
    mujoco.mj_integratePos(model, moved, v, dt)
    assert np.allclose(robot.integrate(q, v * dt), moved)
    mujoco.mj_differentiatePos(model, difference, 1.0, q, moved)
    assert np.allclose(robot.difference(q, moved), difference)
    model.opt.timestep = dt
    mujoco.mj_step(model, data)
    q1, v1 = robot.step(q, v, tau, dt, method="implicit-damping")
    assert np.allclose(q1, data.qpos, atol=CLOSE)
    assert np.allclose(v1, data.qvel, atol=1e-8)
    assert robot.kernel("step").jacobian().interface.outputs
