"""Pictures: what is drawn are the robot's numbers."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
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


def test_errors_name_what_would_be_valid(motion):
    with pytest.raises(UnknownNameError, match="did you mean 'joint2'"):
        kt.plot.torque_map(ARM, ("joint22", "joint4"), "joint2")
    with pytest.raises(UnknownNameError, match="valid are 'q', 'v', 'tau'"):
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
