"""Distances of a robot's shapes: batches, derivatives, labels, other arrays, refusals."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ModelError
from kinetree.geometry import Box, Capsule, Collider, ContactPair, Cylinder, Plane, Sphere


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm().collide(
        Collider("floor", None, Plane()),
        Collider("hand", "tool", Box((0.05, 0.03, 0.1))),
        Collider("elbow", "link3", Capsule(0.04, 0.1), (0.0, 0.0, 0.1)),
        Collider("ball", "link6", Sphere(0.1)),
        ContactPair("floor", "hand"),
        ContactPair("floor", "ball"),
        ContactPair("ball", "elbow"),
    )


def test_touches_have_the_names_of_their_pairs(arm):
    assert arm.contact.pairs == ("floor/hand", "floor/ball", "ball/elbow")
    hand = tuple(f"floor/hand.{k}" for k in range(1, 5))
    assert arm.contact.touch_names == (*hand, "floor/ball", "ball/elbow")
    assert arm.contact.touch_pairs == (*["floor/hand"] * 4, "floor/ball", "ball/elbow")


def test_distances_are_those_of_the_poses(arm):
    q = arm.random(np.random.default_rng(0), (20,))
    distances, points, normals = arm.contact.touches(q)
    np.testing.assert_array_equal(distances, arm.distances(q))
    assert distances.shape == (20, 6)
    assert points.shape == normals.shape == (20, 6, 3)
    center = arm.pose(q, "link6")[:, :3, 3]
    np.testing.assert_allclose(distances[:, 4], center[:, 2] - 0.1, atol=1e-12)
    hand = arm.pose(q, "tool")
    corners = [(x, y, z, 1) for x in (-0.05, 0.05) for y in (-0.03, 0.03) for z in (-0.1, 0.1)]
    heights = np.sort((hand @ np.array(corners).T)[:, 2], axis=1)
    np.testing.assert_allclose(distances[:, :4].min(axis=1), heights[:, 0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1.0, atol=1e-12)


def test_distances_are_differentiable(arm):
    q = arm.random(np.random.default_rng(1), (10,))
    J = arm.kernel("distances").jacobian("q")(q)
    step = 1e-6
    ahead = np.stack([arm.distances(q + step * e) for e in np.eye(arm.nq)], axis=-1)
    back = np.stack([arm.distances(q - step * e) for e in np.eye(arm.nq)], axis=-1)
    np.testing.assert_allclose(J, (ahead - back) / (2 * step), atol=1e-7)


def test_single_precision_agrees(arm):
    q = arm.random(np.random.default_rng(2), (10,))
    single = arm.distances(q.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, arm.distances(q), atol=1e-5)


def test_a_robot_without_pairs_has_no_distances():
    with pytest.raises(KinetreeError, match=r"has no contact pairs, so distances is not defined"):
        kt.robots.arm().distances(np.zeros(7))


def test_a_pair_without_a_function_is_refused():
    parts = [Collider("a", "link3", Cylinder(1, 1)), Collider("b", "link6", Cylinder(1, 1))]
    with pytest.raises(ModelError, match=r"pair 'a/b': there is no function for a cylinder and a"):
        kt.robots.arm().collide(*parts, ContactPair("a", "b"))


def sledge(runners, friction):
    """A block on balls, each a body of its own."""
    assembly = kt.Assembly("sledge", "block", mass=2.0, inertia=(0.01, 0.01, 0.01))
    feet = []
    for k in range(runners):
        angle = 2.0 * np.pi * k / runners
        at = (0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0)
        drive, moments = {"damping": 0.1}, (1e-3, 1e-3, 1e-3)
        joint = kt.joints.Revolute("z")
        assembly.add(f"foot{k}", "block", joint, at, moments, mass=0.1, drive=drive)
        feet.append(Collider(f"foot{k}", f"foot{k}", Sphere(0.05), (0.0, 0.0, -0.02)))
    return assembly.robot("floating").collide(*feet).on_ground(friction=friction)


@pytest.mark.parametrize("runners", [3, 5])  # in every state, and behind branches
def test_friction_is_a_parameter(runners):
    robot = sledge(runners, 0.5)
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[2], v[0] = 0.0699, 1.0
    mu = np.array([[0.2], [0.5], [0.8]])
    run = robot.simulate(q, v, time=0.1, dt=1e-3, parameters={kt.Friction("ground"): mu})
    for k, friction in enumerate(mu[:, 0]):
        other = sledge(runners, friction).simulate(q, v, time=0.1, dt=1e-3)
        np.testing.assert_allclose(run.q[k], other.q, atol=1e-10)
    assert (np.diff(run.q[:, -1, 0]) < -1e-3).all()  # less far with more friction


def test_friction_is_that_of_a_collider_that_can_touch(arm):
    assert kt.Friction("ball").nominal(arm.model) == [1.0]
    changed = kt.Friction("ball").applied(arm.model, [0.3]).contacts
    assert [pair.friction[:3] for pair in changed[1:]] == [(0.3, 0.3, 0.005)] * 2
    assert changed[0] == arm.model.contacts[0]
    valid = "'floor', 'hand', 'ball', 'elbow'"
    with pytest.raises(KinetreeError, match=f"no touching collider 'tool': valid are {valid}"):
        kt.Friction("tool").nominal(arm.model)


def test_a_held_foot_of_a_floating_robot_that_moves_is_held_with_contacts_too():
    robot = kt.Assembly("walker", "trunk", mass=2.0, inertia=(0.02, 0.03, 0.04))
    leg = {"mass": 0.5, "com": (0.0, 0.0, -0.1), "inertia": (0.004, 0.005, 0.001)}
    robot.add("leg", "trunk", kt.joints.Ball(), (0.1, 0.0, 0.0), **leg)
    walker = robot.robot("floating").collide(
        Collider("floor", None, Plane()), Collider("leg", "leg", Sphere(0.01))
    )
    walker = walker.collide(ContactPair("floor", "leg"))
    held = walker.constrain(kt.constraints.HeldFrame("foot", "leg", rows=("x", "y", "z")))
    rng = np.random.default_rng(0)
    q = held.random(rng)
    q[2] = 5.0  # far above the floor
    v, tau = rng.normal(size=(2, held.nv))
    a, _ = held.contact.dynamics(q, v, tau)
    rigid = held.without("contacts").forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, rigid, rtol=1e-5, atol=1e-6 * np.abs(rigid).max())


def test_all_evaluations_of_a_step_share_the_functions_of_contacts():
    dog = kt.robots.quadruped().on_ground()

    def count(program):
        return len(program.functions) + sum(map(count, program.functions))

    once, four_times = (dog.kernel("step", method).program for method in ("euler", "rk4"))
    assert count(four_times) == count(once)
