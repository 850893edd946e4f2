"""Ranges of ball joints: swing and twist cones in models, files, steps and transitions."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.algorithms.ball_limits import angles, ball_limits
from kinetree.algorithms.nearest_rotation import nearest_rotation
from kinetree.errors import KinetreeError, ModelError
from kinetree.model.prepare.reframe import reframe
from kinetree.robot.ball_excess import ball_excess
from kinetree.spatial import Rotation as Turn

CONE = kt.BallRange((0.4, 0.9), (-0.3, 0.6), center=(0.2, -0.5, 0.1))
SLANTED = kt.BallRange(0.7, 0.5, axis=(1.0, 0.2, 0.3), across=(0.0, 1.0, 0.0))
LIMB = {"mass": 1.0, "com": (0.02, 0.0, -0.2), "inertia": (0.03, 0.02, 0.01)}


def arm(joint=None, base="floating"):
    """Two limbs on ball joints with elliptic and round cones."""
    robot = kt.Assembly("arm", "base", mass=2.0, inertia=(0.02, 0.03, 0.04))
    ball = joint or kt.joints.Ball()
    upper, lower = kt.Limits(ball=CONE), kt.Limits(ball=SLANTED)
    robot.add("upper", "base", ball, (0.0, 0.1, 0.0), limits=upper, name="shoulder", **LIMB)
    robot.add("lower", "upper", ball, (0.0, 0.0, -0.4), limits=lower, name="wrist", **LIMB)
    return robot.robot(base)


ARM = arm()


def beyond():
    """Swings and twists beyond their limits."""
    turn = np.zeros(12)
    turn[6:9], turn[9:] = [0.9, -0.4, 0.0], [0.2, 0.9, 0.3]
    return ARM.integrate(ARM.neutral(), turn)


def excess(robot, q):
    return np.stack([x for _, x in ball_excess(robot, q)], axis=-1)


def test_the_edge_of_a_cone_is_where_swings_have_their_largest_angles():
    turn = Rotation.from_rotvec(CONE.center)
    for axis, most in (([1, 0, 0], 0.4), ([0, 1, 0], 0.9), ([-1, 0, 0], 0.4), ([0, -1, 0], 0.9)):
        q = ARM.neutral()
        for angle, out in ((most, 0.0), (0.5 * most, -0.3), (most + 0.1, 0.1)):
            q[7:11] = (turn * Rotation.from_rotvec(angle * np.array(axis))).as_quat()
            found = excess(ARM, q)[0]
            assert found == pytest.approx(out, abs=1e-9) if out >= 0.0 else found < 0.0
    q[7:11] = (turn * Rotation.from_rotvec([0.0, 0.0, 0.75])).as_quat()
    assert excess(ARM, q)[0] == pytest.approx(0.15, abs=1e-9)


@pytest.mark.parametrize("joint", [kt.joints.Ball(), kt.joints.ExponentialBall()])
def test_random_configurations_fill_the_ranges(joint):
    robot = arm(joint)
    inside = excess(robot, robot.random(0, (500,)))
    assert inside.max() <= 1e-9
    assert inside.max() > -0.02
    assert inside.min() < -0.25


def test_an_angle_beside_twists_to_one_side_is_kept_by_random_and_by_clamped_rotations():
    given = kt.BallRange(angle=0.9, twist=(0.4, 1.5), center=(0.2, -0.5, 0.1))
    random = given.sample(np.random.default_rng(0), (2000,))
    inside = np.stack([np.broadcast_to(x, 2000) for x in angles(given, random)])
    for low, high, found in zip((0.4, -np.inf), (0.9, 0.9), inside, strict=True):
        assert low - 1e-9 <= found.min()
        assert found.max() <= high + 1e-9
    assert inside[1].max() > 0.89
    for turn in Rotation.random(100, np.random.default_rng(1)).as_quat():
        nearest = nearest_rotation(given, Turn.quat_xyzw(*turn))
        twist, angle = angles(given, nearest)
        assert 0.4 - 1e-9 <= twist <= 0.9 + 1e-9
        assert angle <= 0.9 + 1e-9
    with pytest.raises(ModelError, match="no rotation is within both"):
        kt.BallRange(angle=0.3, twist=(0.4, 1.5))


def test_angles_change_along_their_slopes():
    q, h = ARM.random(1), 1e-6
    found = list(ball_limits(ARM.model, list(q)))
    assert [x.name for x in found] == ["swing", "twist", "swing", "twist"]
    for k in range(6, 12):
        step = h * np.eye(12)[k]
        ends = [list(ball_limits(ARM.model, list(ARM.integrate(q, s * step)))) for s in (1, -1)]
        for limit, one, two in zip(found, *ends, strict=True):
            slope = dict(zip(limit.at, limit.slopes, strict=True)).get(k, 0.0)
            assert (one.value - two.value) / (2 * h) == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_ranges_are_the_same_in_other_frames_and_from_another_root():
    q = ARM.integrate(ARM.neutral(), np.random.default_rng(2).standard_normal((20, 12)))
    expected = excess(ARM, q)
    prepared = reframe(ARM.model)
    for state in q:
        values = [x.value for x in ball_limits(prepared, list(state))]
        given = [x.value for x in ball_limits(ARM.model, list(state))]
        assert np.allclose(values, given, atol=1e-9)
    other = ARM.edit.reroot("lower")
    joints = [body.joint_name for body in ARM.model.bodies[1:]]
    places = dict(zip(joints, ARM.model.q_slices[1:], strict=True))
    there = np.zeros((20, other.nq))
    there[:, 6] = 1.0
    for body, at in zip(other.model.bodies, other.model.q_slices, strict=True):
        if body.joint_name in places:
            there[:, at] = q[:, places[body.joint_name]]
    order = [joints.index(name) for name, _ in ball_excess(other, there)]
    assert np.allclose(excess(other, there), expected[:, order], atol=1e-9)


def test_clamped_ball_joints_stay_in_their_ranges_and_leave_them_freely():
    robot = arm(base="fixed")
    q, v, left = robot.random(3), np.array([4.0, -3.0, 2.0, 5.0, 6.0, -4.0]), 0
    how = kt.Enforcement("clamp")
    for _ in range(300):
        tau = -0.2 * v
        q, v = robot.step(q, v, tau, 0.01, method="euler", enforcement=how)
        assert excess(robot, q).max() < 1e-9
        left += excess(robot, q).max() < -1e-3
    assert 0 < left < 290
    assert np.abs(v).max() < 1.0  # it comes to rest, leaning against its limits


def test_springs_push_ball_joints_back_along_the_slopes_of_angles():
    q = beyond()
    assert (excess(ARM, q) > 0.05).all()
    still, zero = np.zeros(12), np.zeros(12)
    how = kt.Enforcement("spring", stiffness=10.0, damping=0.0)
    _, free = ARM.step(q, still, zero, 1e-3, method="euler")
    _, pushed = ARM.step(q, still, zero, 1e-3, method="euler", enforcement=how)
    tau = ARM.mass_matrix(q) @ (pushed - free) / 1e-3
    found = list(ball_limits(ARM.model, list(q)))
    swing, twist = (next(x for x in found if x.name == name) for name in ("swing", "twist"))
    assert swing.value > 0.0 > twist.value - 0.6
    assert np.allclose(tau[6:9], -10.0 * swing.value * np.array(swing.slopes), atol=1e-6)
    assert np.allclose(tau[:6], 0.0, atol=1e-6)


def test_the_step_with_contact_is_differentiated_at_limits_of_ball_joints():
    ground = kt.geometry.Collider("floor", None, kt.geometry.Plane(), (0.0, 0.0, -5.0))
    tip = kt.geometry.Collider("tip", "lower", kt.geometry.Sphere(0.05))
    robot = ARM.collide(ground, tip, kt.geometry.ContactPair("floor", "tip"))
    q, v, tau = beyond(), 0.3 * np.arange(12.0) - 1.5, np.zeros(12)
    A, _ = robot.linearize(q, v, tau, 0.002)
    eps, n = 1e-6, robot.nv
    dq, dv = np.split(eps * np.concatenate([np.eye(2 * n), -np.eye(2 * n)]), 2, axis=-1)
    q1, _ = robot.step(q, v, tau, 0.002)
    ends, speeds = robot.step(robot.integrate(q, dq), v + dv, tau, 0.002)
    moved = np.concatenate([robot.difference(q1, ends), speeds], axis=-1)
    assert np.allclose((moved[: 2 * n] - moved[2 * n :]).T / (2 * eps), A, atol=1e-6)
    assert np.abs(A[n:, :n]).max() > 1.0  # limits push


def test_mjcf_has_the_largest_angle(tmp_path):
    robot = kt.Assembly("pendulum", "world")
    turning = kt.Limits(ball=kt.BallRange(angle=0.7))
    robot.add("bob", "world", kt.joints.Ball(), limits=turning, name="hinge", **LIMB)
    robot.robot("fixed").save(tmp_path / "bob.xml")
    assert kt.load(tmp_path / "bob.xml").limits.balls["hinge"].angle == 0.7


def test_a_transition_keeps_to_the_ranges():
    base = kt.Assembly("limb", "world")
    base.add("arm", "world", kt.joints.Ball(), limits=kt.Limits(ball=CONE), name="joint", **LIMB)
    robot, turn = base.robot("fixed"), Rotation.from_rotvec(CONE.center)
    ends = [
        (turn * Rotation.from_rotvec(x)).as_quat() for x in ([0.3, 0.4, 0.5], [0.3, -0.4, -0.25])
    ]
    ends[0] = ends[0], np.array([3.0, 2.0, 0.0])  # it turns outwards
    found = robot.transition(*ends, 0.6)
    assert found.converged, found.message
    times = np.linspace(0.0, 0.6, 301)
    assert excess(robot, found.at(times).q).max() < 1e-3
    free = robot.transition(*ends, 0.6, bounded=())
    assert excess(robot, free.at(times).q).max() > 1e-2
    assert free.value < found.value
    with pytest.raises(KinetreeError, match="beyond its range in the second state"):
        robot.transition(ends[1], (turn * Rotation.from_rotvec([1.0, 0.0, 0.0])).as_quat(), 0.6)


@pytest.mark.parametrize("joint", [kt.joints.Ball(), kt.joints.ExponentialBall()])
def test_inverse_kinematics_keeps_to_the_ranges(joint):
    robot = arm(joint, "fixed").edit.add_frame("tip", "lower", at=(0.0, 0.0, -0.3))
    solver = kt.control.InverseKinematics(robot, "tip")
    targets = robot.pose(robot.random(3, batch=300), "tip")
    found = solver.solve(targets)
    assert found.success.mean() > 0.97
    q = found.q[found.success]
    assert np.abs(robot.pose(q, "tip") - targets[found.success]).max() < 1e-5
    assert excess(robot, q).max() < 1e-6
    above = np.array([0.0, 0.1, 0.69])  # the upper limb would point upwards
    none = solver.solve(np.append(above, [0.0, 0.0, 0.0, 1.0]), restarts=2)
    assert not none.success
    wide = kt.control.InverseKinematics(robot, "tip", orientation=False)
    reached = wide.solve(above, restarts=2)
    assert not reached.success
    assert "range of joint 'shoulder'" in solver.demands
    assert wide.demands[reached.violated] in reached.message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"swing": 4.0}, "at most pi"),
        ({"swing": -0.1}, "positive angles"),
        ({"swing": (1.0, 2.0, 3.0)}, "one or two angles"),
        ({"twist": (0.5, -0.5)}, "the lower angle"),
        ({"angle": math.nan}, "must be finite"),
        ({"center": (0.0, 1.0)}, "three numbers"),
    ],
)
def test_ranges_without_meaning_are_refused(given, message):
    with pytest.raises(ModelError, match=message):
        kt.BallRange(**given)


def test_a_range_of_what_is_no_ball_joint_is_an_error():
    robot = kt.Assembly("arm", "base")
    robot.add("link", "base", kt.joints.Revolute("z"), limits=kt.Limits(ball=CONE), **LIMB)
    assert any("no ball joint" in x.message for x in robot.robot("fixed").problems())


HALF_TURNS = (kt.BallRange(1.0, 0.5), kt.BallRange(1.0), kt.BallRange(twist=0.5))


@pytest.mark.parametrize("given", HALF_TURNS, ids=["both", "swing", "twist"])
def test_a_swing_by_half_a_turn_has_no_twist_and_leads_back_to_the_cone(given):
    robot = kt.Assembly("limb", "base")
    robot.add("limb", "base", kt.joints.Ball(), limits=kt.Limits(ball=given), **LIMB)
    robot = robot.robot()
    q, still = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
    for limit in ball_limits(robot.model, list(q)):
        assert np.isfinite(limit.value)
        assert np.isfinite(np.array(limit.slopes, float)).all()
    q1, v1 = robot.step(q, still, still, 1e-6, method="euler", enforcement=kt.Enforcement("clamp"))
    assert np.isfinite(v1).all()
    assert np.linalg.norm(q1) == pytest.approx(1.0)
    assert excess(robot, q1).max() < 1e-9


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_cones_that_are_open_one_way_have_slopes(kind):
    robot = kt.Assembly("limb", "base")
    limits = kt.Limits(ball=kt.BallRange((math.pi, 1.0)))
    robot.add("limb", "base", kt.joints.Ball(), limits=limits, **LIMB)
    robot = robot.robot()
    q, v = np.array([0.6, 0.0, 0.0, 0.8], kind), np.ones(3, kind)
    how = kt.Enforcement("spring")
    q1, v1 = robot.step(q, v, 0.0 * v, kind(1e-3), method="euler", enforcement=how)
    assert np.isfinite(q1).all()
    assert np.isfinite(v1).all()


def test_angles_may_be_numbers_of_any_kind():
    assert kt.BallRange(np.float32(0.5), np.int64(1)) == kt.BallRange(0.5, 1.0)


@pytest.mark.parametrize("narrow", [kt.BallRange(1.0, 1e-4), kt.BallRange(1e-3, 0.5)])
def test_targets_are_reached_by_ball_joints_that_hardly_turn_one_way(narrow):
    robot = kt.Assembly("arm", "base")
    ball, at = kt.joints.Ball(), (0.0, 0.0, -0.4)
    robot.add("upper", "base", ball, limits=kt.Limits(ball=narrow), **LIMB)
    robot.add("middle", "upper", kt.joints.Revolute("y"), at, **LIMB)
    robot.add("lower", "middle", ball, at, limits=kt.Limits(ball=kt.BallRange(1.0, 0.5)), **LIMB)
    robot = robot.robot()
    targets = robot.pose(robot.random(0, (50,)), "lower")[:, :3, 3]
    solver = kt.control.InverseKinematics(robot, "lower", orientation=False)
    found = solver.solve(targets)
    assert found.success.all()
    assert excess(robot, found.q).max() < 1e-8


@pytest.mark.parametrize("turn", [-3.1, -2.0, -0.1, 2.6, 3.1])
def test_a_twist_beyond_its_limits_is_led_back_by_the_shorter_way(turn):
    """With limits from 0 to 2.5, a twist of -3.1 is beyond 2.5, and not below 0."""
    robot = kt.Assembly("limb", "base")
    limits = kt.Limits(ball=kt.BallRange(twist=(0.0, 2.5)))
    robot.add("limb", "base", kt.joints.Ball(), limits=limits, **LIMB)
    robot = robot.robot().edit.with_gravity((0.0, 0.0, 0.0))
    q, still = np.array([0.0, 0.0, math.sin(turn / 2), math.cos(turn / 2)]), np.zeros(3)
    ways = [(abs(math.remainder(turn - end, 2 * math.pi)), end) for end in (0.0, 2.5)]
    away, nearest = min(ways)
    assert excess(robot, q) == pytest.approx(away)
    how = kt.Enforcement("clamp")
    q1, _ = robot.step(q, still, still, 1e-3, method="euler", enforcement=how)
    assert 2.0 * math.atan2(q1[2], q1[3]) == pytest.approx(nearest, abs=1e-9)
