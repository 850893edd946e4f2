"""Mechanisms whose equations fit on a line."""

import math

import numpy as np
import pytest

import kinetree as kt
from tests.tolerances import EXACT, relative_error

PENDULUM = """
<robot name="pendulum">
  <link name="world"/>
  <joint name="hinge" type="continuous">
    <parent link="world"/><child link="bob"/><axis xyz="0 1 0"/>
  </joint>
  <link name="bob">
    <inertial>
      <origin xyz="0 0 -0.7"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.03" izz="0.1"/>
    </inertial>
  </link>
</robot>
"""

DOUBLE_PENDULUM = """
<robot name="double">
  <link name="world"/>
  <joint name="a" type="revolute">
    <parent link="world"/><child link="one"/><axis xyz="0 1 0"/><limit lower="-9" upper="9"/>
  </joint>
  <link name="one">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="3"/><inertia ixx="0" iyy="0.2" izz="0"/>
    </inertial>
  </link>
  <joint name="b" type="revolute">
    <parent link="one"/><child link="two"/><origin xyz="0 0 -1.1"/><axis xyz="0 1 0"/>
    <limit lower="-9" upper="9"/>
  </joint>
  <link name="two">
    <inertial>
      <origin xyz="0 0 -0.4"/><mass value="2"/><inertia ixx="0" iyy="0.1" izz="0"/>
    </inertial>
  </link>
</robot>
"""

CART_POLE = """
<robot name="cart_pole">
  <link name="rail"/>
  <joint name="slide" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-5" upper="5"/>
  </joint>
  <link name="cart"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="hinge" type="continuous">
    <parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/>
  </joint>
  <link name="pole">
    <inertial>
      <origin xyz="0 0 0.6"/><mass value="0.5"/><inertia ixx="0" iyy="0.02" izz="0"/>
    </inertial>
  </link>
</robot>
"""

G = 9.81


def random(n, count=50):
    return np.random.default_rng(0).uniform(-3, 3, (3, count, n))


def test_a_pendulum():
    robot = kt.load(PENDULUM)
    q, v, a = random(1)
    inertia = 0.03 + 2 * 0.7**2
    tau = inertia * a + 2 * G * 0.7 * np.sin(q)
    assert relative_error(robot.inverse_dynamics(q, v, a), tau) < EXACT
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < EXACT
    assert robot.mass_matrix([0.3])[0, 0] == pytest.approx(inertia, rel=EXACT)


def test_a_double_pendulum():
    robot = kt.load(DOUBLE_PENDULUM)
    q, v, a = random(2)
    l1, c1, c2, m1, m2, i1, i2 = 1.1, 0.5, 0.4, 3.0, 2.0, 0.2, 0.1
    cos2, sin2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    m22 = i2 + m2 * c2**2
    m12 = m22 + m2 * l1 * c2 * cos2
    m11 = i1 + m1 * c1**2 + m2 * l1**2 + m22 + 2 * m2 * l1 * c2 * cos2
    h = -m2 * l1 * c2 * sin2
    s1, s12 = np.sin(q[:, 0]), np.sin(q[:, 0] + q[:, 1])
    gravity2 = m2 * G * c2 * s12
    gravity1 = (m1 * c1 + m2 * l1) * G * s1 + gravity2
    coriolis1 = h * v[:, 1] * (2 * v[:, 0] + v[:, 1])
    coriolis2 = -h * v[:, 0] ** 2
    tau1 = m11 * a[:, 0] + m12 * a[:, 1] + coriolis1 + gravity1
    tau2 = m12 * a[:, 0] + m22 * a[:, 1] + coriolis2 + gravity2
    expected = np.stack([tau1, tau2], axis=-1)
    assert relative_error(robot.inverse_dynamics(q, v, a), expected) < EXACT
    bias = np.stack([coriolis1 + gravity1, coriolis2 + gravity2], axis=-1)
    assert relative_error(robot.bias_forces(q, v), bias) < EXACT
    M = np.array([[m11, m12], [m12, np.full_like(m12, m22)]]).transpose(2, 0, 1)
    assert relative_error(robot.mass_matrix(q), M) < EXACT


def test_a_cart_with_a_pole():
    robot = kt.load(CART_POLE)
    assert robot.joints == ("slide", "hinge")
    q, v, a = random(2)
    m, mc, c, i = 0.5, 4.0, 0.6, 0.02
    cos, sin = np.cos(q[:, 1]), np.sin(q[:, 1])
    force = (m + mc) * a[:, 0] + m * c * (cos * a[:, 1] - sin * v[:, 1] ** 2)
    torque = (i + m * c**2) * a[:, 1] + m * c * cos * a[:, 0] - m * G * c * sin
    expected = np.stack([force, torque], axis=-1)
    assert relative_error(robot.inverse_dynamics(q, v, a), expected) < EXACT
    assert relative_error(robot.forward_dynamics(q, v, expected), a) < EXACT


def test_a_free_body_falls():
    robot = kt.load(PENDULUM.replace("continuous", "fixed"), base="floating")
    q = robot.random(0, 20)
    v = np.zeros((20, 6))
    acceleration = robot.forward_dynamics(q, v, np.zeros(6))
    rotation = robot.poses(q)[:, 0, :3, :3]
    falling = np.einsum("nij,nj->ni", rotation, acceleration[:, :3])
    assert relative_error(falling, np.tile([0.0, 0.0, -G], (20, 1))) < EXACT
    assert np.abs(acceleration[:, 3:]).max() < EXACT


def test_a_free_body_under_a_force_at_its_centre_moves_straight():
    robot = kt.load(PENDULUM.replace("continuous", "fixed"), base="floating")
    q = robot.neutral()
    force = np.array([4.0, 0.0, 2 * G])
    wrench = np.concatenate([force, np.cross([0.0, 0.0, -0.7], force)])
    a = robot.forward_dynamics(q, np.zeros(6), np.zeros(6), external={"bob": wrench})
    assert relative_error(a, [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]) < EXACT


def test_a_spinning_top_precesses_as_euler_says():
    robot = kt.load(PENDULUM.replace("continuous", "fixed"), base="floating")
    inertia = np.diag([0.1, 0.03, 0.1])
    w = np.array([0.3, 5.0, -0.4])
    c = np.array([0.0, 0.0, -0.7])
    v = np.concatenate([-np.cross(w, c), w])  # the centre is at rest
    a = robot.forward_dynamics(robot.neutral(), v, np.zeros(6))
    expected = np.linalg.solve(inertia, -np.cross(w, inertia @ w))
    assert relative_error(a[3:], expected) < EXACT
    assert math.isclose(np.linalg.norm(expected), np.linalg.norm(a[3:]), rel_tol=EXACT)
