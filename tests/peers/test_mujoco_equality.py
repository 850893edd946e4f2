"""Agreement with MuJoCo on equality constraints, small mechanisms of each kind."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import joints as j
from kinetree.constraints import Coupling, LoopJoint
from kinetree.errors import ModelError
from kinetree.robot.load import check_file
from tests.peers.equality_mechanisms import (
    BAR,
    FOUR_BAR,
    GRIPPER,
    LIKE_MENAGERIE,
    MODELS,
    Mechanism,
    loaded,
    mjcf,
    near,
)
from tests.tolerances import relative_error


def row_space(J: np.ndarray) -> np.ndarray:
    """The projection onto the space that the rows of a matrix span."""
    _, values, right = np.linalg.svd(J)
    rank = int((values > 1e-9 * values[0]).sum())
    return right[:rank].T @ right[:rank]


@pytest.fixture(scope="module", params=MODELS)
def mechanism(request) -> Mechanism:
    return Mechanism(mjcf(MODELS[request.param]))


def test_errors_vanish_where_those_of_mujoco_do(mechanism):
    robot = mechanism.robot
    for seed in range(3):
        open_ = near(robot, seed)
        closed = robot.constraints.assemble(open_)
        mechanism.move_to(closed)
        assert np.abs(mechanism.rows()[0]).max() < 1e-9
        mechanism.move_to(open_)
        there = np.abs(mechanism.rows()[0]).max()
        assert there > 1e-3
        assert np.abs(robot.constraints.errors(open_)).max() > 1e-3


def test_what_is_forbidden_is_what_mujoco_forbids(mechanism):
    robot = mechanism.robot
    q = robot.constraints.assemble(near(robot, 5))
    mechanism.move_to(q)
    ours, theirs = robot.constraints.jacobian(q), mechanism.rows()[1]
    assert relative_error(row_space(ours), row_space(theirs)) < 1e-8


def test_accelerations_at_rest_are_the_limit_of_mujocos(mechanism):
    robot = mechanism.robot
    rng = np.random.default_rng(7)
    q = robot.constraints.assemble(near(robot, 7))
    tau = rng.standard_normal(robot.nv)
    mechanism.move_to(q)
    wanted = mechanism.acceleration(tau)
    found = robot.forward_dynamics(q, np.zeros(robot.nv), tau)
    assert relative_error(found, wanted) < 1e-5


def test_each_kind_of_equality_has_its_constraint():
    robot = loaded(mjcf(MODELS["a leg with two rods and springs"]))
    assert [type(x) for x in robot.model.constraints] == [LoopJoint, LoopJoint]
    assert [x.name for x in robot.model.constraints] == ["achilles", "plantar"]
    assert robot.model.constraints[0].joint == j.Ball()
    robot = loaded(mjcf(MODELS["a joint that is held, and one with two leaders"]))
    # r mimics l, so that the second equality of r is one of l and lt
    assert [x.joints for x in robot.model.constraints] == [("wrist",), ("l", "lt")]
    assert all(isinstance(x, Coupling) for x in robot.model.constraints)
    assert "r" not in robot.joints


def test_a_coupling_of_a_slide_is_in_metres():
    robot = loaded(mjcf(MODELS["a parallel gripper"]))
    assert [label.unit for label in robot.constraints.rows] == ["rad", "m"]


def test_a_loop_at_the_world_is_closed_on_the_world():
    for kind in ("to", "from"):
        (loop,) = loaded(mjcf(MODELS[f"a connect {kind} the world"])).model.constraints
        assert (loop.frame, loop.base) == ("coupler", "world")


def test_a_loop_of_a_file_goes_with_the_mount():
    text = mjcf(MODELS["a connect to the world"])
    robot, moved = loaded(text), kt.load(text, mount=(0.1, 0.2, 0.3))
    q = near(robot, 1)
    assert relative_error(moved.constraints.errors(q), robot.constraints.errors(q)) < 1e-14


def test_joints_that_follow_each_other_in_a_circle_are_one_joint():
    circle = '<joint joint1="l" joint2="lt"/><joint joint1="lt" joint2="l"/>'
    robot = loaded(mjcf(f"{GRIPPER}<equality>{circle}</equality>"))
    assert robot.joints == ("wrist", "lt", "r", "s")
    assert robot.model.constraints == ()


def test_joints_that_cannot_follow_each_other_in_a_circle_are_refused_by_name():
    circle = """<joint joint1="l" joint2="lt"/>
        <joint name="back" joint1="lt" joint2="l" polycoef="0.5 1 0 0 0"/>"""
    wanted = "constraint 'back': since its joints mimic each other nothing in it can move, and its "
    with pytest.raises(ModelError, match=f"{wanted}sum is -0.5 rad instead of 0"):
        kt.load(mjcf(f"{GRIPPER}<equality>{circle}</equality>"))


def test_linear_equalities_are_passed_over_if_asked_and_others_are_not():
    text = mjcf(MODELS["a parallel gripper"])
    assert loaded(text).constraints.names == ("joint1", "joint2")
    robot = kt.load(text, mimic=False)
    assert "r" in robot.joints
    assert robot.constraints.names == ("joint1", "joint2")


def test_a_joint_locked_in_a_file_is_a_number_in_its_couplings():
    robot = kt.load(mjcf(MODELS["a parallel gripper"]), locked={"l": 0.2})
    assert [x.joints for x in robot.model.constraints] == [("lt",), ("s",)]


def test_an_equality_that_is_not_active_is_a_note():
    text = mjcf(FOUR_BAR + '<equality><connect site1="tip" site2="end" active="false"/></equality>')
    robot = loaded(text)
    assert robot.model.constraints == ()
    notes = [str(p) for p in check_file(text) if "equality" in p.element]
    line = text[: text.index("<connect")].count("\n") + 1
    assert notes == [
        f"<string>:{line}: note: equality 'connect0': it is left out, since it is not active at "
        "the start"
    ]


def floating(equality: str) -> kt.Robot:
    """A free body beside a site of the world."""
    free = f'<body name="box" pos="0 0 1"><freejoint/>{BAR}</body><site name="wall" pos="1 2 3"/>'
    return loaded(mjcf(f"<worldbody>{free}</worldbody><equality>{equality}</equality>"))


def test_what_a_free_body_is_tied_to_stays_in_the_world_when_the_body_is_attached():
    box = floating('<connect name="tie" body1="box" anchor="0.1 0.2 0.3"/>')
    both = kt.robots.arm().edit.attach(box, "tool")
    (tie,) = both.model.constraints
    assert tie.base is None
    assert np.allclose(list(tie.at_base.translation), [0.1, 0.2, 1.3])


def test_a_frame_of_the_world_that_is_not_attached_cannot_be_held():
    held = LoopJoint("held", "wall", "box", j.Ball())
    with pytest.raises(ModelError, match="'held' holds link 'wall', which is fixed in the world"):
        kt.robots.arm().edit.attach(floating("").constrain(held), "tool")


def test_mechanisms_like_those_of_menagerie_load_without_a_warning():
    biped, gripper = (loaded(mjcf(text)) for text in LIKE_MENAGERIE.values())
    assert len(biped.constraints.rows) == 12
    assert biped.nv == 6 + 2 * 13
    assert len(gripper.constraints.rows) == 6
    assert "right_driver" not in gripper.joints  # it mimics the left one
