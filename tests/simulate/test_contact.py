"""Contact in simulations: what closed forms, weights and momentum say, and gradients."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.compiler.emit.cuda_loop import loop_shape
from kinetree.geometry import Box, Collider, ContactPair, Plane, Sphere

ELLIPTIC = kt.ContactSolver(cone="elliptic")
G = 9.81


def body(shape, mass=1.0, inertia=0.01, slope=0.0, **pair):
    """A free body above a plane, which may be inclined about y."""
    robot = kt.Assembly("body", "body", mass=mass, inertia=(inertia,) * 3).robot("floating")
    plane = np.eye(4)
    plane[:3, :3] = Rotation.from_rotvec([0.0, slope, 0.0]).as_matrix()
    return robot.collide(
        Collider("plane", None, Plane(), plane),
        Collider("shape", "body", shape),
        ContactPair("plane", "shape", **pair),
    )


def standing(slope, height):
    turn = Rotation.from_rotvec([0.0, slope, 0.0])
    return np.r_[turn.apply([0.0, 0.0, height]), turn.as_quat()]


def world_velocity(q, v):
    turn = Rotation.from_quat(q[..., 3:7])
    return turn.apply(v[..., :3]), turn.apply(v[..., 3:])


def test_a_block_sticks_below_the_angle_of_friction():
    block = body(Box((0.1, 0.1, 0.05)), slope=0.3, friction=0.5)  # tan 0.3 = 0.31
    motion = block.simulate(standing(0.3, 0.05), np.zeros(6), time=1.0, dt=0.002, contact=ELLIPTIC)
    way = np.linalg.norm(motion.q[:, :3] - motion.q[0, :3], axis=1)
    assert way[-1] < 2e-3  # a soft contact creeps
    speed = np.linalg.norm(motion.v[-1, :3])
    assert speed < 1e-3


def test_a_block_slides_above_the_angle_of_friction_as_coulomb_says():
    slope, mu = 0.5, 0.3
    block = body(Box((0.1, 0.1, 0.05)), slope=slope, friction=mu)
    start = standing(slope, 0.05)
    motion = block.simulate(start, np.zeros(6), time=1.0, dt=0.0005, contact=ELLIPTIC)
    forces = block.contact.forces(motion.q, motion.v, motion.tau, contact=ELLIPTIC)
    normal = Rotation.from_rotvec([0.0, slope, 0.0]).apply([0.0, 0.0, 1.0])
    along = forces.sum(axis=1) @ normal
    across = np.linalg.norm(forces.sum(axis=1) - np.outer(along, normal), axis=1)
    sliding = (along > 1.0) & (motion.times > 0.2)
    assert across[sliding] == pytest.approx(mu * along[sliding], rel=1e-6)
    # the contacts of this convex model push a sliding body off the ground: it hops, and only its
    # mean acceleration is Coulomb's
    speeds = np.linalg.norm(motion.v[:, :3], axis=1)
    a = (speeds[-1] - speeds[400]) / (motion.times[-1] - motion.times[400])
    assert a == pytest.approx(G * (math.sin(slope) - mu * math.cos(slope)), rel=0.01)


def test_a_sliding_ball_begins_to_roll_at_five_sevenths_of_its_speed():
    ball = body(Sphere(0.1), inertia=0.4 * 0.1**2, friction=0.3)
    v = np.zeros(6)
    v[0] = 1.0
    motion = ball.simulate(standing(0.0, 0.1), v, time=0.5, dt=0.001, contact=ELLIPTIC)
    linear, angular = world_velocity(motion.q[-1], motion.v[-1])
    assert linear[0] == pytest.approx(5 / 7, abs=2e-3)  # a soft ground shortens the lever
    assert angular[1] * motion.q[-1, 2] == pytest.approx(linear[0], rel=3e-3)


def test_a_ball_on_an_undamped_contact_comes_back_to_its_height():
    ball = body(Sphere(0.1), condim=1, solref=(-1e4, 0.0), solimp=(0.99, 0.99, 0.001, 0.5, 2.0))
    start = standing(0.0, 1.1)
    motion = ball.simulate(start, np.zeros(6), time=1.2, dt=0.0005, method="rk4")
    z = motion.q[:, 2]
    touched = int(np.argmin(z))
    assert z[touched] < 0.1
    assert z[touched:].max() == pytest.approx(1.1, abs=2e-3)


def test_a_ball_on_a_damped_contact_loses_energy_at_every_touch():
    ball = body(Sphere(0.1), solref=(0.02, 0.3))
    motion = ball.simulate(standing(0.0, 0.6), np.zeros(6), time=2.0, dt=0.001, record=["energy"])
    energy = motion["energy"]
    assert energy[-1] < 0.35 * energy[0]
    assert motion.q[-1, 2] == pytest.approx(0.1, abs=2e-3)


@pytest.mark.slow
def test_a_tower_of_ten_boxes_stands():
    assembly = kt.Assembly("tower", "ground")
    for i in range(10):
        joint = kt.joints.Floating()
        assembly.add(f"box{i}", "ground", joint, mass=1.0, inertia=(1 / 150,) * 3)
    shapes = [Collider(f"c{i}", f"box{i}", Box((0.1, 0.1, 0.1))) for i in range(10)]
    pairs = [ContactPair("plane", "c0")]
    pairs += [ContactPair(f"c{i}", f"c{i + 1}") for i in range(9)]
    tower = assembly.robot("fixed").collide(Collider("plane", None, Plane()), *shapes, *pairs)
    q = tower.neutral().reshape(10, 7)
    q[:, 2] = 0.1 + 0.2 * np.arange(10)
    settled = tower.simulate(q.ravel(), np.zeros(tower.nv), time=2.0, dt=0.002)
    motion = tower.simulate(settled.q[-1], settled.v[-1], time=10.0, dt=0.002, every=500)
    assert np.abs(motion.q - motion.q[0]).max() < 1e-4


def test_forces_of_a_standing_robot_carry_its_weight():
    robot = kt.robots.quadruped().on_ground()
    q = robot.neutral()
    q[2] = 0.4195

    def hold(t, q, v, p):
        return [0.0] * 6 + [-400.0 * x - 8.0 * s for x, s in zip(q[7:], v[6:], strict=True)]

    motion = robot.simulate(
        q, np.zeros(robot.nv), hold, time=2.0, dt=0.002, record=["contact_forces"]
    )
    total = motion["contact_forces"][-1].sum(axis=0)
    weight = 12.0 * G
    assert total == pytest.approx([0.0, 0.0, weight], abs=0.5)
    assert (robot.distances(motion.q[-1]) < 0.0).all()


def test_bodies_that_collide_in_free_flight_keep_their_momentum():
    assembly = kt.Assembly("balls", "world_link")
    for name, mass in (("a", 1.0), ("b", 3.0)):
        assembly.add(name, "world_link", kt.joints.Floating(), mass=mass, inertia=(0.01,) * 3)
    robot = assembly.robot("fixed").edit.with_gravity((0.0, 0.0, 0.0))
    robot = robot.collide(
        Collider("ca", "a", Sphere(0.1)), Collider("cb", "b", Sphere(0.1)), ContactPair("ca", "cb")
    )
    q, v = robot.neutral().reshape(2, 7), np.zeros((2, 6))
    q[1, :2] = 0.3, 0.05
    v[0, 0] = 1.0
    motion = robot.simulate(q.ravel(), v.ravel(), time=0.5, dt=0.001)
    turned = world_velocity(motion.q.reshape(-1, 2, 7)[-1], motion.v.reshape(-1, 2, 6)[-1])[0]
    momentum = turned[0] + 3.0 * turned[1]
    assert turned[1][0] > 0.1  # it was hit
    assert momentum == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)


def test_contact_can_be_left_out():
    ball = body(Sphere(0.1))
    free = ball.simulate(standing(0.0, 0.5), np.zeros(6), time=1.0, dt=0.01, contact=False)
    assert free.q[-1, 2] < -4.0
    assert ball.without("contacts").forward_dynamics(standing(0.0, 0.05), *np.zeros((2, 6)))[
        2
    ] == pytest.approx(-G)


def test_deep_penetration_is_resolved_without_an_explosion():
    block = body(Box((0.1, 0.1, 0.1)))
    with pytest.warns(kt.errors.SimulationWarning, match=r"plane/shape.* overlap by 0.2 m"):
        motion = block.simulate(standing(0.0, -0.1), np.zeros(6), time=3.0, dt=0.002)
    assert np.isfinite(motion.q).all()
    assert motion.q[:, 2].max() < 1.0
    assert motion.q[-1, 2] == pytest.approx(0.1, abs=2e-3)


def test_overlapping_shapes_may_have_dots_in_their_names():
    ball = kt.Assembly("body", "body", mass=1.0, inertia=(0.01,) * 3).robot("floating")
    ball = ball.collide(
        Collider("floor.1", None, Plane()),
        Collider("ball.1", "body", Sphere(0.1)),
        ContactPair("floor.1", "ball.1"),
    )
    with pytest.warns(kt.errors.SimulationWarning, match=r"floor\.1.*ball\.1 overlap by 0.2 m"):
        ball.simulate(standing(0.0, -0.1), np.zeros(6), time=0.01, dt=0.002)


def test_a_start_with_a_quaternion_of_zeros_diverges_with_a_warning():
    block = body(Box((0.1, 0.1, 0.1)))
    with pytest.warns(kt.errors.SimulationWarning, match="the simulation diverged"):
        motion = block.simulate(np.zeros(7), np.zeros(6), time=0.01, dt=0.002)
    assert motion.diverged


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_derivatives_of_a_step_are_its_differences(cone):
    robot = kt.robots.quadruped().on_ground(friction=0.6)
    solver = kt.ContactSolver(cone=cone)
    rng = np.random.default_rng(2)
    q = np.tile(robot.neutral(), (6, 1))
    q[:, 2] = 0.415
    q[:, 7:] += 0.05 * rng.normal(size=(6, 12))
    v, tau = 0.3 * rng.normal(size=(6, 18)), 3.0 * rng.normal(size=(6, 18))
    A, B = robot.linearize(q, v, tau, 0.002, contact=solver)
    q1, _ = robot.step(q, v, tau, 0.002, contact=solver)
    assert (robot.distances(q) < 0.0).any()

    def step(dq, dv, dtau):
        end, speed = robot.step(robot.integrate(q, dq), v + dv, tau + dtau, 0.002, contact=solver)
        return np.concatenate([robot.difference(q1, end), speed], axis=-1)

    eps, zero = 1e-6, np.zeros(18)
    for k in range(18):
        unit = eps * np.eye(18)[k]
        for which, column in ((0, A[..., k]), (1, A[..., 18 + k]), (2, B[..., k])):
            steps = [zero, zero, zero]
            steps[which] = unit
            difference = (step(*steps) - step(*(-x for x in steps))) / (2 * eps)
            assert np.abs(difference - column).max() < 1e-6 * (1 + np.abs(column).max())


@pytest.mark.slow
def test_the_gradient_of_a_rollout_on_the_ground_is_that_of_differences():
    robot = kt.robots.quadruped().on_ground(friction=0.6)
    q = robot.neutral()
    q[2] = 0.42
    rollout = robot.rollout(
        lambda t, q, v, p: (
            [0.0] * 6 + [-80 * (x - p[0]) - 2 * s for x, s in zip(q[7:], v[6:], strict=True)]
        ),
        steps=100,
        dt=0.002,
        p_length=1,
    )
    v = np.zeros(18)

    def height(angle):
        return rollout(q, v, p=np.array([angle])).q[-1, 2]

    weights = np.zeros(19)
    weights[2] = 1.0
    slope = rollout.gradient(q, v, {"q": weights}, p=np.array([0.1]))["p"]
    difference = (height(0.1 + 1e-6) - height(0.1 - 1e-6)) / 2e-6
    assert abs(difference) > 1e-3
    assert slope == pytest.approx([difference], rel=1e-5)


def test_more_contacts_than_a_gpu_thread_has_memory_for_are_refused():
    step = SimpleNamespace(
        name="rollout", kind="float", inputs=(), outputs=(), functions=(), scratch=200_000
    )
    with pytest.raises(
        kt.errors.KinetreeError, match=r"200000 numbers .* 512 KiB .* contact pairs"
    ):
        loop_shape(step, 0)


def test_what_no_solver_is_refused():
    ball = body(Sphere(0.1))
    state = (standing(0.0, 0.1), np.zeros(6), np.zeros(6))
    with pytest.raises(kt.errors.KinetreeError, match="a ContactSolver is expected"):
        ball.contact.dynamics(*state, contact="fast")
    with pytest.raises(kt.errors.KinetreeError, match="iterations must be a whole number from 1"):
        ball.contact.dynamics(*state, contact=kt.ContactSolver(iterations=0))
    with pytest.raises(kt.errors.KinetreeError, match="cone"):
        ball.contact.dynamics(*state, contact=kt.ContactSolver(cone="round"))
    with pytest.raises(kt.errors.KinetreeError, match="does not honour"):
        ball.step(*state, 0.01, method="variational")
