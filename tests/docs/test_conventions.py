"""Each row of docs/conventions.md, by its number."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import Drive
from tests.tolerances import EXACT, relative_error

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"

TREE = """
<robot name="tree">
  <link name="root"/>
  <joint name="b_arm" type="continuous">
    <parent link="root"/><child link="arm"/><origin xyz="0 0.5 0"/><axis xyz="0 0 1"/>
  </joint>
  <link name="arm">
    <inertial>
      <origin xyz="0.2 0 0"/><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/>
    </inertial>
  </link>
  <joint name="flange" type="fixed">
    <parent link="arm"/><child link="tool"/><origin xyz="0.4 0 0" rpy="0 0 1.5707963267948966"/>
  </joint>
  <link name="tool"><inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial></link>
  <joint name="c_finger" type="prismatic">
    <parent link="tool"/><child link="finger"/><axis xyz="1 0 0"/><limit lower="0" upper="0.1"/>
  </joint>
  <link name="finger">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
  </link>
  <joint name="a_leg" type="revolute">
    <parent link="root"/><child link="leg"/><axis xyz="0 1 0"/><limit lower="-2" upper="2"/>
  </joint>
  <link name="leg">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/>
    </inertial>
  </link>
</robot>
"""


@pytest.fixture(scope="module")
def robot():
    return kt.load(TREE)


@pytest.fixture(scope="module")
def floating():
    return kt.load(TREE, base="floating")


def test_every_row_of_the_page_has_its_test():
    rows = [int(n) for n in re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.MULTILINE)]
    tests = [int(name.split("_")[2]) for name in globals() if name.startswith("test_row_")]
    assert rows == list(range(1, len(rows) + 1))
    assert sorted(tests) == rows


def test_row_1_units_are_si(robot):
    # 2 kg, half a metre out, horizontal: 9.81 N m
    assert robot.gravity_forces([np.pi / 2, 0.0, 0.0])[0] == pytest.approx(9.81)


def test_row_2_gravity_points_down_the_z_axis(robot):
    assert tuple(robot.model.gravity) == (0.0, 0.0, -9.81)


def test_row_3_six_vectors_are_linear_first(floating):
    force_up = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    q, rest = floating.neutral(), np.zeros(floating.nv)
    without = floating.inverse_dynamics(q, rest, rest)
    with_it = floating.inverse_dynamics(q, rest, rest, external={"root": force_up})
    assert (without - with_it)[:6] == pytest.approx(force_up)


def test_row_4_a_pose_maps_the_frame_to_the_world(robot):
    pose = robot.pose([0.0, np.pi / 2, 0.0], "tool")
    assert pose[:3, 3] == pytest.approx([0.0, 0.9, 0.0])
    assert pose[:3, 0] == pytest.approx([-1.0, 0.0, 0.0])  # the frame's x axis, turned twice
    assert pose[3].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_row_5_bodies_are_depth_first_and_alphabetical(robot):
    assert robot.joints == ("a_leg", "b_arm", "c_finger")
    assert robot.bodies == ("leg", "arm", "finger")
    other = kt.load(TREE, joints=["c_finger", "a_leg", "b_arm"])
    assert other.joints == ("c_finger", "a_leg", "b_arm")
    assert other.bodies == robot.bodies
    q = np.array([0.1, 0.2, 0.03])
    order = [2, 0, 1]
    assert (other.mass_matrix(q[order]) == robot.mass_matrix(q)[np.ix_(order, order)]).all()
    assert (other.poses(q[order]) == robot.poses(q)).all()


def test_row_6_a_floating_base_is_position_and_quaternion(floating):
    assert floating.joints[0] == "root_joint"
    assert floating.neutral()[:7].tolist() == [0, 0, 0, 0, 0, 0, 1]
    half = np.sqrt(0.5)
    q = np.concatenate([[1.0, 2.0, 3.0, 0.0, 0.0, half, half], np.zeros(3)])
    expected = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    assert relative_error(floating.pose(q, "root"), expected) < EXACT


def test_row_7_the_base_moves_in_its_own_frame(floating):
    half = np.sqrt(0.5)
    q = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, half, half], np.zeros(3)])  # x points to y
    step = np.zeros(floating.nv)
    step[0] = 0.25
    assert floating.integrate(q, step)[:3] == pytest.approx([0.0, 0.25, 0.0])
    # the joint force on the base carries its weight, along its own axes
    tilted = np.concatenate([[0.0, 0.0, 0.0, half, 0.0, 0.0, half], np.zeros(3)])  # y points up
    weight = floating.gravity_forces(tilted)[:3]
    assert weight == pytest.approx([0.0, 6.5 * 9.81, 0.0])


def test_row_8_a_continuous_joint_is_one_angle(robot):
    assert robot.nq == robot.nv == 3
    turn = np.array([0.0, 2 * np.pi, 0.0])
    assert relative_error(robot.poses(turn), robot.poses(0 * turn)) < EXACT


def test_row_9_integrate_is_the_exponential_map(floating):
    rng = np.random.default_rng(0)
    q, dv = floating.random(rng), rng.uniform(-1, 1, floating.nv)
    whole = floating.integrate(q, dv)
    stepped = q
    for _ in range(64):  # a constant velocity in the moving frame
        stepped = floating.integrate(stepped, dv / 64)
    assert relative_error(stepped, whole) < EXACT
    assert relative_error(floating.difference(q, whole), dv) < EXACT


def test_row_10_an_external_wrench_acts_on_the_robot_in_the_frame(robot):
    q, rest = np.array([0.0, 0.3, 0.02]), np.zeros(3)
    push = np.array(
        [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    )  # along the tool's x axis, which c_finger is not
    tau = robot.inverse_dynamics(q, rest, rest, external={"finger": push})
    assert tau[2] == pytest.approx(-2.0)  # holds the finger against the push
    a = robot.forward_dynamics(q, rest, robot.gravity_forces(q), external={"finger": push})
    assert a[2] > 0.0  # without that, it is pushed along


def test_row_11_batch_axes_come_first_and_broadcast(robot):
    q = robot.random(0, (4, 1))
    v = np.zeros((5, 3))
    assert robot.bias_forces(q, v).shape == (4, 5, 3)
    assert robot.mass_matrix(q).shape == (4, 1, 3, 3)
    assert robot.poses(q).shape == (4, 1, 3, 4, 4)


@pytest.mark.parametrize(
    ("given", "result"),
    [(np.float64, np.float64), (np.float32, np.float32), (np.int64, np.float64)],
)
def test_row_12_types_in_and_out(robot, given, result):
    assert robot.mass_matrix(np.zeros(3, given)).dtype == result
    assert robot.mass_matrix(np.zeros((2, 3), given)).dtype == result


def test_row_13_fixed_links_are_fused_and_keep_their_frames(robot):
    assert robot.frames == ("root", "leg", "arm", "tool", "finger")
    arm = robot.model.bodies[1]
    assert arm.inertia.mass == 4.0
    assert robot.model.frame("tool").body == 1
    assert robot.model.frame("root").body == -1


def test_row_14_a_joint_that_mimics_has_no_coordinate():
    mimic = "<mimic joint='a_leg' multiplier='0.1'/>"
    robot = kt.load(TREE.replace('<limit lower="0"', mimic + '<limit lower="0"'))
    assert robot.joints == ("a_leg", "b_arm")
    assert robot.nv == 2
    assert robot.poses(np.array([0.5, 0.0]))[2, 1, 3] == pytest.approx(0.5 + 0.05)


def test_row_15_drives_take_their_share():
    dynamics = '<dynamics damping="2" friction="3"/>'
    robot = kt.load(TREE.replace('<limit lower="-2"', dynamics + '<limit lower="-2"'))
    bare = robot.without("damping", "friction")
    q, v, a = robot.random(0), np.array([-0.5, 1.0, 1.0]), np.zeros(3)
    taken = robot.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a)
    assert taken == pytest.approx([-1.0 - 3.0, 0.0, 0.0])
    assert (robot.gravity_forces(q) == bare.gravity_forces(q)).all()
    body = robot.model.bodies[0]
    sprung = replace(body, drive=Drive(stiffness=10.0, rest=(0.25,)))
    held = kt.Robot(replace(robot.model, bodies=(sprung, *robot.model.bodies[1:])))
    loose = held.without("springs")
    stretch = q[0] - 0.25
    for force in (
        (held.gravity_forces(q) - loose.gravity_forces(q)),
        (held.inverse_dynamics(q, v, a) - loose.inverse_dynamics(q, v, a)),
    ):
        assert force == pytest.approx([10.0 * stretch, 0.0, 0.0])
    energy = held.potential_energy(q) - loose.potential_energy(q)
    assert energy == pytest.approx(5.0 * stretch**2)


def test_row_16_nan_stays_in_its_state(robot):
    q = robot.random(0, 11)
    expected = robot.mass_matrix(q)
    for bad in (np.nan, np.inf):
        broken = q.copy()
        broken[4] = bad
        with np.errstate(invalid="ignore"):
            M = robot.mass_matrix(broken)
        assert not np.isfinite(M[4]).all()
        others = np.arange(11) != 4
        assert (M[others] == expected[others]).all()


def test_row_17_a_motion_is_seen_in_three_ways(robot):
    q, v = np.array([0.0, np.pi / 2, 0.0]), np.array([0.0, 1.0, 0.0])  # the arm turns, along y
    # the tool is 0.4 m out on an arm at (0, 0.5, 0): at (0, 0.9, 0), its x axis along -x
    origin = robot.velocity(q, v, "tool")
    assert origin == pytest.approx([-0.4, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert robot.velocity(q, v, "tool", axes="origin") == pytest.approx(origin)
    body = robot.velocity(q, v, "tool", axes="body")
    assert body == pytest.approx([0.4, 0.0, 0.0, 0.0, 0.0, 1.0])
    world = robot.velocity(q, v, "tool", axes="world")  # of the point now at the world's origin
    assert world == pytest.approx([0.5, 0.0, 0.0, 0.0, 0.0, 1.0])
    for axes, expected in (("origin", origin), ("body", body), ("world", world)):
        assert robot.jacobian(q, "tool", axes=axes) @ v == pytest.approx(expected)
    assert (robot.velocity(q, v, "tool", axes="LOCAL") == body).all()


def test_row_18_momentum_is_about_the_center_of_mass():
    floating = kt.load(TREE, base="floating")
    q, v = floating.neutral(), np.zeros(9)
    v[2] = 2.0  # up
    p = [0.0, 0.0, 2.0 * floating.total_mass]
    assert floating.momentum(q, v) == pytest.approx([*p, 0.0, 0.0, 0.0])
    about_origin = np.cross(floating.center_of_mass(q), p)
    assert floating.momentum(q, v, about="world") == pytest.approx([*p, *about_origin])
    heavy = kt.load(TREE.replace('<link name="root"/>', ROOT_OF_A_TON))
    assert heavy.total_mass == kt.load(TREE).total_mass


ROOT_OF_A_TON = """<link name="root"><inertial>
<mass value="499"/><inertia ixx="9" iyy="9" izz="9"/></inertial></link>"""


def test_row_19_a_force_acts_on_a_point_in_the_worlds_axes(robot):
    q, rest = np.array([0.0, np.pi / 2, 0.0]), np.zeros(3)
    push = np.array([2.0, 0.0, 0.0, 0.0, 0.1, 0.0])  # 2 N along the world's x, 0.1 m along tool y
    tau = robot.inverse_dynamics(q, rest, rest, external={kt.Point("tool"): push})
    free = robot.inverse_dynamics(q, rest, rest)
    # the tool's y points along -y of the world there: the lever is 0.4 - 0.1 m
    assert (tau - free)[1] == pytest.approx(2.0 * 0.3)


def test_row_20_charts_and_their_singular_states():
    human = kt.robots.human().edit.rechart("zyx")
    assert human.nq == human.nv
    q, v = human.random(0), np.ones(human.nv)
    assert (human.charts.coordinate_rates(q, v) == v).all()
    at = human.model.q_slices[human.bodies.index("head")]
    q[at] = [0.1, np.pi / 2, 0.3]
    assert np.isfinite(human.inverse_dynamics(q, v, v)).all()
    with pytest.raises(kt.errors.SingularChartError, match="head_joint"):
        human.forward_dynamics(q, v, v)


def test_row_21_a_robot_from_mjcf_has_mujocos_joints_in_its_order():
    body = '<geom size="0.1"/>'
    robot = kt.load(
        f"""<mujoco><worldbody><body name="b"><freejoint name="free"/>{body}
        <body name="z"><joint name="two"/><joint name="one" axis="1 0 0"/>{body}</body>
        <body name="a"><joint name="three"/>{body}</body></body></worldbody></mujoco>"""
    )
    assert robot.joints == ("free", "two", "one", "three")
    assert robot.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]


def test_row_22_derivatives_by_q_are_along_velocities():
    robot = kt.robots.quadruped()
    rng = np.random.default_rng(0)
    q, (v, a, delta) = robot.random(rng), rng.standard_normal((3, robot.nv))
    dq, _, _ = robot.inverse_dynamics_derivatives(q, v, a)
    assert dq.shape == (robot.nv, robot.nv)
    h = 1e-6
    ends = [robot.inverse_dynamics(robot.integrate(q, s * h * delta), v, a) for s in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * h)
    assert dq @ delta == pytest.approx(slope, rel=1e-6, abs=1e-6 * np.abs(slope).max())


def test_row_23_a_quaternion_may_have_any_length_but_zero(floating):
    rng = np.random.default_rng(0)
    q, (v, a) = floating.random(rng), rng.standard_normal((2, floating.nv))
    longer = q.copy()
    longer[3:7] *= 2.5
    assert relative_error(floating.poses(longer), floating.poses(q)) < EXACT
    tau = floating.inverse_dynamics(q, v, a)
    assert relative_error(floating.inverse_dynamics(longer, v, a), tau) < EXACT
    assert relative_error(floating.integrate(longer, v), floating.integrate(q, v)) < EXACT
    assert relative_error(floating.normalize(longer), q) < EXACT
    both = np.stack([q, longer])
    both[1, 3:7] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        poses = floating.poses(both)
        with pytest.raises(kt.errors.StateError, match="state 1: joint 'root_joint' has the coor"):
            floating.normalize(both)
    assert (poses[0] == floating.poses(q)).all()
    assert np.isnan(poses[1, :, :3, :3]).all()
