"""`robot.cartesian`: there and back on every robot, brute force, subsets, noise, messages."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError, StateError, UnknownNameError
from kinetree.model.configurations import random_configurations
from kinetree.quantities import QUANTITIES, plain
from tests.random_models import models
from tests.tolerances import relative_error

SAME = 1e-10
BUILT_IN = {
    "arm": kt.robots.arm,
    "quadruped": kt.robots.quadruped,
    "human": kt.robots.human,
    "human, exponential": lambda: kt.robots.human().edit.rechart("exponential"),
    "cart-pole": kt.robots.cart_pole,
    "double pendulum": kt.robots.double_pendulum,
    "chain": lambda: kt.robots.chain(8),
    "tree": lambda: kt.robots.tree(9, 2),
    "legged": lambda: kt.robots.legged(3, 2),
}


@pytest.fixture(scope="module")
def human():
    return kt.robots.human()


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


def some_state(robot, batch=(), seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, batch), rng.standard_normal((*batch, robot.nv))


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_states_of_links_come_back_as_the_state_they_came_from(name):
    robot = BUILT_IN[name]()
    q, v = some_state(robot, (5,))
    for orientation in ("matrix", "quaternion"):
        state = robot.cartesian.state(q, v, orientation=orientation)
        found = robot.cartesian.generalized(*state, tolerance=1e-9)
        assert relative_error(robot.poses(found.q), robot.poses(q)) < SAME
        again = robot.cartesian.velocity(found.q, state.v, state.w, method="relative")
        assert relative_error(robot.velocities(found.q, found.v), robot.velocities(q, v)) < SAME
        assert relative_error(robot.velocities(found.q, again.value), robot.velocities(q, v)) < SAME


def computed(model, quantity, *arrays, method="", settings=()):
    """A quantity by its algorithm on plain numbers: nothing is compiled."""
    how = QUANTITIES[quantity].methods[method]
    found = how.algorithm(model, *(np.ravel(a).tolist() for a in arrays), *settings)
    parts = found if isinstance(found, tuple) else (found,)
    return [np.array(plain(part), dtype=float) for part in parts]


@given(model=models(max_bodies=4), seed=st.integers(0, 100))
def test_poses_of_random_trees_of_every_joint_come_back(model, seed):
    (q,) = random_configurations(model, np.random.default_rng(seed), (1,))
    v, points = np.zeros(model.nv), np.zeros((len(model.bodies), 3))
    x, R, _, _ = computed(model, "link_states", q, v, points, settings=("matrix",))
    found, residual = computed(model, "link_configuration", x, R, points)
    if all(body.follows is None for body in model.bodies):  # a copy may be a whole turn away
        again = computed(model, "link_states", found, v, points, settings=("matrix",))
        assert relative_error(again[0], x) < SAME
        assert relative_error(again[1], R) < SAME
        assert residual.max() < SAME


@given(model=models(max_bodies=4), seed=st.integers(0, 100), exact=st.booleans())
def test_velocities_and_forces_of_random_trees_are_those_of_a_pseudo_inverse(model, seed, exact):
    rng = np.random.default_rng(seed)
    (q,) = random_configurations(model, rng, (1,))
    v, count = rng.standard_normal(model.nv), len(model.bodies)
    points = rng.uniform(-0.3, 0.3, (count, 3))
    (J,) = computed(model, "link_jacobians", q, points)
    J = J.reshape(-1, model.nv)
    assume(np.linalg.cond(J) < 1e4)
    V = J @ v if exact else rng.standard_normal(len(J))
    linear, angular = np.split(V.reshape(count, 6), 2, axis=1)
    some, ones = ((), "both"), np.ones((count, 2))
    mimics = any(body.follows is not None for body in model.bodies)
    for method in ("crba",) if mimics else ("aba", "crba"):
        given = (q, linear, angular, points, ones)
        found, _ = computed(model, "stacked_velocity", *given, method=method, settings=some)
        assert relative_error(found, np.linalg.pinv(J) @ V) < 1e-8
        least = computed(model, "link_forces", q, v, points, method=method)
        assert relative_error(np.hstack(least).ravel(), np.linalg.pinv(J.T) @ v) < 1e-7
    if exact:
        given = (q, linear, angular, points)
        found, residual = computed(model, "relative_velocity", *given, settings=some)
        assert relative_error(found, v) < 1e-8
        assert residual.max() < 1e-8
    hat = computed(model, "joint_torques", q, v)
    (back,) = computed(model, "forces_of_joints", q, *hat)
    assert relative_error(back, v) < 1e-7
    on_links = computed(model, "body_wrenches", q, *hat, points)
    (again,) = computed(model, "forces_of_links", q, on_links[0], points, on_links[1])
    assert relative_error(again, v) < 1e-7


def test_points_are_centres_origins_frames_or_given_ones(arm):
    q, v = some_state(arm)
    last = arm.bodies[-1]
    at_tool = arm.cartesian.state(q, v, at={last: "tool"})
    assert relative_error(at_tool.x[-1], arm.pose(q, "tool")[:3, 3]) < SAME
    assert relative_error(at_tool.v[-1], arm.velocity(q, v, "tool")[:3]) < SAME
    at_origin = arm.cartesian.state(q, v, at="origin")
    assert relative_error(at_origin.x, arm.poses(q)[:, :3, 3]) < SAME
    assert relative_error(np.c_[at_origin.v, at_origin.w], arm.velocities(q, v)) < SAME
    points = np.full((7, 3), 0.1)
    found = arm.cartesian.generalized(*arm.cartesian.state(q, v, at=points), at=points)
    assert relative_error(found.v, v) < SAME
    J = arm.cartesian.jacobian(q, "tool", (0.1, 0.2, 0.3))
    moved = arm.edit.add_frame("there", "tool", at=(0.1, 0.2, 0.3))
    assert relative_error(J, moved.jacobian(q, "there")) < SAME


def test_some_links_are_enough_if_they_determine_the_motion(human):
    q, v = some_state(human)
    state = human.cartesian.state(q, v)
    left_out = ("left_forearm", "right_shank", "left_shank")
    links = [name for name in human.bodies if name not in left_out]
    some = [human.bodies.index(name) for name in links]
    for method in ("stacked", "relative"):
        found = human.cartesian.velocity(
            q, state.v[some], state.w[some], method=method, links=links
        )
        assert relative_error(found.value, v) < 1e-8
        assert found.residual.max() < 1e-8
    J = human.cartesian.jacobians(q)[some].reshape(-1, human.nv)
    noisy = np.random.default_rng(1).standard_normal((2, len(some), 3))
    found = human.cartesian.velocity(q, *noisy, links=links)
    expected = np.linalg.pinv(J) @ np.concatenate(noisy, axis=-1).ravel()
    assert relative_error(found.value, expected) < SAME


def test_links_that_leave_a_joint_open_are_refused_by_name(human, arm):
    q, v = some_state(human)
    state = human.cartesian.state(q, v)
    few = [name for name in human.bodies if name != "middle_trunk"]  # between two balls
    rows = [human.bodies.index(name) for name in few]
    with pytest.raises(KinetreeError, match=r"do not determine joint '.*_trunk_joint'"):
        human.cartesian.velocity(q, state.v[rows], state.w[rows], links=few)
    few = [name for name in human.bodies if name != "left_hand"]
    rows = [human.bodies.index(name) for name in few]
    with pytest.raises(KinetreeError, match="do not determine joint 'left_hand_joint'"):
        human.cartesian.velocity(q, state.v[rows], state.w[rows], links=few)
    with pytest.raises(KinetreeError, match=r"angular velocities .* determine joint 'root_joint'"):
        human.cartesian.velocity(q, None, state.w)
    with pytest.raises(KinetreeError, match="v or w is expected"):
        human.cartesian.velocity(q, None, None)


def test_a_motion_that_breaks_a_joint_is_told_by_the_joint(human):
    q, v = some_state(human, (3,))
    x, R, linear, angular = human.cartesian.state(q, v, at="origin")
    knee = human.bodies.index("left_shank")
    x[1, knee, 0] += 0.01  # a link may be off, and all that it carries with it
    residual = human.cartesian.configuration(x, R, at="origin").residual
    assert residual[1, knee, 0] == pytest.approx(0.01)
    assert residual[[0, 2]].max() < SAME
    with pytest.raises(StateError, match=r"state 1: joint 'left_(shank|foot)_joint' .* 0.01 m"):
        human.cartesian.configuration(x, R, at="origin", tolerance=1e-6)
    angular[2, knee, 2] += 0.5
    found = human.cartesian.velocity(q, linear, angular, at="origin", method="relative")
    assert found.residual[2, knee, 1] > 0.1
    with pytest.raises(StateError, match="state 2: joint 'left_"):
        human.cartesian.velocity(q, linear, angular, at="origin", method="relative", tolerance=1e-6)


@pytest.mark.slow
def test_least_squares_brings_noisy_poses_nearer_than_joint_by_joint(human):
    q, _ = some_state(human, (4,))
    x, R, _, _ = human.cartesian.state(q)
    rng = np.random.default_rng(3)
    noisy_x = x + 0.01 * rng.standard_normal(x.shape)
    noise = kt.joints.ExponentialBall()
    noisy_R = np.empty_like(R)
    for index in np.ndindex(R.shape[:-2]):
        small = noise.transform(0.02 * rng.standard_normal(3)).rotation
        noisy_R[index] = R[index] @ np.array([list(row) for row in small.rows])

    def total(q):
        found = human.cartesian.state(q)
        relative = np.einsum("...ji,...jk->...ik", found.R, noisy_R)
        angle = np.arccos(np.clip((np.trace(relative, axis1=-2, axis2=-1) - 1) / 2, -1, 1))
        return np.square(found.x - noisy_x).sum((-1, -2)) + np.square(angle).sum(-1)

    by_joint = human.cartesian.configuration(noisy_x, noisy_R).value
    fitted = human.cartesian.configuration(noisy_x, noisy_R, method="least-squares").value
    assert (total(fitted) < 0.9 * total(by_joint)).all()
    for _ in range(20):  # no better one is near
        near = human.integrate(fitted, 1e-4 * rng.standard_normal((4, human.nv)))
        assert (total(near) > total(fitted)).all()


def test_least_squares_finds_a_configuration_from_some_links(human):
    q = human.integrate(human.neutral(), 0.3 * np.random.default_rng(2).standard_normal(human.nv))
    links = [name for name in human.bodies if "forearm" not in name and "shank" not in name]
    rows = [human.bodies.index(name) for name in links]
    state = human.cartesian.state(q, orientation="quaternion")
    x, R = state.x[rows], state.R[rows]
    found = human.cartesian.configuration(x, R, method="least-squares", links=links)
    assert relative_error(human.poses(found.value), human.poses(q)) < 1e-7
    assert found.residual.max() < 1e-7
    with pytest.raises(KinetreeError, match="method='least-squares'"):
        human.cartesian.configuration(x, R, links=links)


def test_wrenches_may_be_given_in_three_axes(arm):
    q, _ = some_state(arm)
    wrench = np.random.default_rng(5).standard_normal(6)
    for axes in ("body", "origin", "world"):
        Q = arm.generalized_forces(q, {kt.Wrench("tool", axes): wrench})
        assert relative_error(Q, arm.jacobian(q, "tool", axes=axes).T @ wrench) < SAME
    assert (
        relative_error(
            arm.generalized_forces(q, {"tool": wrench}),
            arm.jacobian(q, "tool", axes="body").T @ wrench,
        )
        < SAME
    )
    a = arm.inverse_dynamics(q, np.zeros(7), np.zeros(7), external={"tool": wrench})
    b = arm.inverse_dynamics(q, np.zeros(7), np.zeros(7))
    assert relative_error(b - a, arm.generalized_forces(q, {"tool": wrench})) < SAME


def test_one_call_for_a_batch_gives_what_single_calls_give(human):
    q, v = some_state(human, (2, 3))
    state = human.cartesian.state(q, v)
    found = human.cartesian.generalized(*state)
    for index in np.ndindex(2, 3):
        one = human.cartesian.generalized(*(part[index] for part in state))
        assert (one.q == found.q[index]).all()
        assert (one.v == found.v[index]).all()


def test_messages_name_links_joints_and_shapes(arm, human):
    q, v = some_state(arm)
    state = arm.cartesian.state(q, v)
    with pytest.raises(ShapeError, match=r"7 rows are expected.*first without a row is 'link6'"):
        arm.cartesian.configuration(state.x[:5], state.R[:5])
    with pytest.raises(ShapeError, match=r"matrices \(7, 3, 3\) or quaternions \(7, 4\)"):
        arm.cartesian.configuration(state.x, state.R[..., :2])
    with pytest.raises(UnknownNameError, match="no body 'link9': did you mean"):
        arm.cartesian.velocity(q, state.v, state.w, links=["link9"])
    with pytest.raises(KinetreeError, match="in the order of"):
        arm.cartesian.velocity(q, state.v, state.w, links=["link2", "link1"])
    with pytest.raises(KinetreeError, match="frame 'tool' is not on link 'link1'"):
        arm.cartesian.state(q, at={"link1": "tool"})
    with pytest.raises(UnknownNameError, match="valid are 'center', 'origin'"):
        arm.cartesian.state(q, at="middle")
    with pytest.raises(KinetreeError, match="body_torque"):
        arm.cartesian.generalized_forces(q, state.v, at="origin", moment=state.v)
    with pytest.raises(KinetreeError, match="takes no BodyTorque"):
        arm.inverse_dynamics(q, v, v, external={kt.BodyTorque("tool"): np.zeros(3)})
    with pytest.raises(UnknownNameError, match="no joint 'joint9'"):
        arm.generalized_forces(q, {kt.JointTorque("joint9"): np.zeros(3)})
    with pytest.raises(KinetreeError, match="rechart"):
        human.cartesian.coriolis_by_energy(human.neutral(), np.zeros(human.nv))


def test_at_a_singular_chart_the_joint_is_named():
    robot = kt.robots.legged(2, 2, base="floating").edit.rechart("zyx")
    q = robot.neutral()
    q[4] = np.pi / 2
    state = robot.cartesian.state(q)
    with pytest.raises(kt.errors.SingularChartError, match="joint 'root_joint' are singular"):
        robot.cartesian.velocity(q, state.v, state.w)
    with pytest.raises(kt.errors.SingularChartError, match="joint 'root_joint' are singular"):
        robot.cartesian.joint_torques(q, np.ones(robot.nv))
