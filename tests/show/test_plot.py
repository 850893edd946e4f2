"""Pictures: what is drawn are the robot's numbers."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Coupling, HeldFrame, RollingWheel
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.show.plot import CONSTRAINT
from tests.doors import ROBOT, arguments_of, wrong_answers

pytest.importorskip("matplotlib")
ARM = kt.robots.arm()


@pytest.fixture(scope="module")
def motion():
    return ARM.simulate(ARM.neutral() + 0.4, np.zeros(7), time=0.2, dt=1e-3)


def test_a_trajectory_shows_every_coordinate_and_the_limits_that_are_near(motion):
    figure = kt.plot.trajectory(ARM, motion)
    panels = figure.axes
    assert len(panels) == 3
    solid = [line for line in panels[0].lines if line.get_linestyle() == "-"]
    for k, line in enumerate(solid):
        assert (line.get_ydata() == motion.q[:, k]).all()
    assert len(solid) == ARM.nq
    still = {"times": [0.0, 1.0], "q": np.tile(ARM.limits.upper, (2, 1))}
    dashed = len(kt.plot.trajectory(ARM, still, ["q"]).axes[0].lines) - ARM.nq
    assert dashed >= ARM.nq


def test_the_total_energy_is_the_sum_and_stays(motion):
    kinetic, potential, total = (x.get_ydata() for x in kt.plot.energy(ARM, motion).axes[0].lines)
    assert np.allclose(total, kinetic + potential)
    assert (kinetic == ARM.kinetic_energy(motion.q, motion.v)).all()


def test_a_torque_map_has_the_gravity_forces():
    figure = kt.plot.torque_map(ARM, ("joint2", "joint4"), "joint2", count=11)
    values = figure.axes[0].collections[0].get_array().reshape(11, 11)
    q = ARM.neutral()
    q[1], q[3] = ARM.limits.lower[1], ARM.limits.upper[3]
    assert values[10, 0] == pytest.approx(ARM.gravity_forces(q)[1])


def test_sparsity_is_that_of_the_numbers():
    robot = kt.robots.quadruped()
    M, L = (axes.images[0].get_array() for axes in kt.plot.sparsity(robot).axes)
    assert (np.asarray(M) == (robot.mass_matrix(robot.random(0)) != 0)).all()
    assert not np.triu(np.asarray(L), 1).any()


@pytest.mark.parametrize("make", [kt.robots.arm, kt.robots.human, lambda: kt.robots.tree(31)])
def test_a_tree_has_a_circle_a_body_and_no_two_at_one_place(make):
    robot = make()
    axes = kt.plot.tree(robot).axes[0]
    places = {tuple(x) for c in axes.collections for x in np.round(c.get_offsets(), 9).tolist()}
    assert len(places) == len(robot.bodies) + 1


def test_a_tree_joins_the_bodies_of_each_constraint():
    robot = kt.robots.four_bar().constrain(
        Coupling("gear", {"crank_joint": [0, 1], "rocker_joint": [0, 2]}),
        HeldFrame("held", "coupler"),
    )
    axes = kt.plot.tree(robot).axes[0]
    joined = {
        line.get_label(): set(zip(*line.get_data(), strict=True))
        for line in axes.lines
        if line.get_label() in robot.constraints.names
    }
    circles = [tuple(c.get_offsets()[0]) for c in axes.collections]
    place = dict(zip([*robot.bodies, "world"], circles, strict=True))
    assert joined == {
        "loop": {place["coupler"], place["rocker"]},
        "gear": {place["crank"], place["rocker"]},
        "held": {place["coupler"], place["world"]},
    }


def dots(axes):
    """The orange dots of constraints, pair by pair."""
    orange = [line for line in axes.lines if line.get_color() == CONSTRAINT]
    return [np.array(getattr(line, "get_data_3d", line.get_data)()).T for line in orange]


def test_a_skeleton_has_its_loops_where_the_frames_meet_and_shows_those_that_are_open():
    robot = kt.robots.four_bar()
    (closed,) = dots(kt.plot.skeleton(robot, view="xz").axes[0])
    assert np.allclose(closed[0], closed[1])
    q = np.array([0.3, -0.2, 0.5])
    (opened,) = dots(kt.plot.skeleton(robot, q).axes[0])
    for pair, (frame, reach) in zip(opened, {"coupler": 0.35, "rocker": 0.3}.items(), strict=True):
        assert np.allclose(pair, (robot.pose(q, frame) @ [reach, 0, 0, 1])[:3])
    (flat,) = dots(kt.plot.skeleton(robot, q, "xz").axes[0])
    assert (flat == opened[:, [0, 2]]).all()


def test_a_skeleton_has_rods_between_their_ends_and_wheels_at_one_point():
    rods = dots(kt.plot.skeleton(kt.robots.parallel_ankle()).axes[0])
    length = float(np.linalg.norm(rods[0][0] - rods[0][1]))
    assert length == pytest.approx(np.hypot(0.01, 0.3))
    cart = ARM.constrain(RollingWheel("wheel", "tool", radius=0.1, at_frame=(0, 0, 0.2)))
    (wheel,) = dots(kt.plot.skeleton(cart).axes[0])
    assert np.allclose(wheel, [(ARM.pose(ARM.neutral(), "tool") @ [0, 0, 0.2, 1])[:3]])


def test_errors_name_what_would_be_valid(motion):
    with pytest.raises(UnknownNameError, match="did you mean 'joint2'"):
        kt.plot.torque_map(ARM, ("joint22", "joint4"), "joint2")
    with pytest.raises(UnknownNameError, match="valid are 'times', 'q', 'v', 'tau'"):
        kt.plot.trajectory(ARM, motion, ["x"])
    with pytest.raises(KinetreeError, match="choose one environment"):
        kt.plot.energy(ARM, {**motion, "q": motion.q[None]})


SIMULATION = ROBOT.simulate([0.1, 0.2], [0.1, 0.2], time=0.05, dt=0.01)
CALLS = {
    "trajectory": (kt.plot.trajectory, {"robot": ROBOT, "motion": SIMULATION}),
    "energy": (kt.plot.energy, {"robot": ROBOT, "motion": SIMULATION}),
    "torque_map": (
        kt.plot.torque_map,
        {
            "robot": ROBOT,
            "joints": ROBOT.labels.q,
            "torque": ROBOT.labels.v[0],
            "count": 3,
        },
    ),
    "sparsity": (kt.plot.sparsity, {"robot": ROBOT}),
    "tree": (kt.plot.tree, {"robot": ROBOT}),
    "skeleton": (kt.plot.skeleton, {"robot": ROBOT, "q": [0.1, 0.2], "view": "xz"}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_of_any_argument_is_taken_or_refused_by_an_error_that_names_it(name):
    call, given = CALLS[name]
    call(**given)
    words = {"motion": ("the motion",), "joints": ("coordinate",)}
    wrong = [
        x
        for key in arguments_of(call)
        for x in wrong_answers(call, given, key, words=words.get(key, ()))
    ]
    assert wrong == []
