"""One of everything, in seconds."""

import numpy as np

import kinetree as kt
from tests.tolerances import EXACT, relative_error


def test_a_robot_from_a_file_to_its_dynamics(tmp_path):
    path = tmp_path / "two_links.urdf"
    path.write_text(
        """
        <robot name="two_links">
          <link name="base">
            <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
          </link>
          <joint name="shoulder" type="revolute">
            <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
            <limit lower="-2" upper="2" effort="10" velocity="3"/>
          </joint>
          <link name="upper">
            <inertial>
              <origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/>
            </inertial>
          </link>
          <joint name="slider" type="prismatic">
            <parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 0 1"/>
            <limit lower="0" upper="0.3" effort="10" velocity="3"/>
          </joint>
          <link name="lower">
            <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
          </link>
        </robot>
        """
    )
    for base in ("fixed", "floating"):
        robot = kt.load(path, base=base)
        rng = np.random.default_rng(0)
        q = robot.random(rng, 11)
        v, a = rng.standard_normal((2, 11, robot.nv))
        tau = robot.inverse_dynamics(q, v, a)
        M, bias = robot.mass_matrix(q), robot.bias_forces(q, v)
        assert relative_error(np.einsum("nij,nj->ni", M, a) + bias, tau) < EXACT
        assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-11
        assert relative_error(robot.difference(q, robot.integrate(q, v)), v) < EXACT
        assert relative_error(robot.pose(q, "lower"), robot.poses(q)[:, -1]) < EXACT
        assert relative_error(robot.gravity_forces(q), robot.bias_forces(q, 0 * v)) < EXACT
        single = robot.inverse_dynamics(*(x.astype(np.float32) for x in (q, v, a)))
        assert single.dtype == np.float32


def test_a_loop_stays_closed():
    robot = kt.robots.four_bar()
    q = robot.constraints.assemble([0.5, 0.0, 0.0], held="crank_joint")
    v = robot.constraints.project_velocity(q, [1.0, 0.0, 0.0])
    a, forces, residual = robot.constraints.forward_dynamics(q, v, np.zeros(3))
    J = robot.constraints.jacobian(q)
    assert relative_error(J @ a, -robot.constraints.bias(q, v)) < 1e-9
    assert relative_error(robot.inverse_dynamics(q, v, a), J.T @ forces) < 1e-9
    assert residual < 1e-9
    run = robot.simulate(q, v, time=0.05, dt=1e-3, record=["constraint_errors"])
    assert np.abs(run["constraint_errors"]).max() < 1e-10
