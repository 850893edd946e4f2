"""Constraints through edits: each keeps them, adapts them, or refuses them by name."""

import re

import numpy as np
import pytest

import kinetree as kt
from kinetree import constraints as c
from kinetree import joints as j
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.errors import ModelError
from kinetree.model.constraints.coupling import polynomial, substituted
from tests.constrained_robots import BOX, four_bar, two_arms
from tests.tolerances import relative_error

GEAR = c.Coupling("gear", {"right0_joint": [0.2, 1.0, 0.5], "right2_joint": [0.0, -2.0]})
ROD = c.Rod("rod", "left5", "right3", length=0.7)
GRIP = c.LoopJoint("grip", "left3", "right2", j.Revolute("y"), at_frame=(0.1, 0, 0))
FOOT = c.HeldFrame("foot", "left3", rows=("x", "z"), at_base=(0.1, 0.2, 0.3))


def errors(robot: kt.Robot, q) -> np.ndarray:
    return np.array(constraint_rows(robot.model, list(q)).error, float)


def jacobian(robot: kt.Robot, q) -> np.ndarray:
    J = constraint_rows(robot.model, list(q)).J
    return np.array([[row.get(k, 0.0) for k in range(robot.nv)] for row in J], float)


def some(robot: kt.Robot, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array(robot.random(rng))


KEEPING = {
    "add_frame": lambda r: r.edit.add_frame("more", "left2", at=(0.1, 0, 0)),
    "attach_payload": lambda r: r.edit.attach_payload("right3", 1.0),
    "replace_inertia": lambda r: r.edit.replace_inertia("left2", 1.0, inertia=BOX),
    "with_gravity": lambda r: r.edit.with_gravity((0, 0, -1.62)),
    "without": lambda r: r.without("damping", "limits"),
}


@pytest.mark.parametrize("edit", KEEPING)
def test_edits_of_other_things_leave_constraints_as_they_are(edit):
    robot = two_arms().constrain(GEAR, ROD, GRIP, FOOT)
    assert KEEPING[edit](robot).model.constraints == robot.model.constraints


def test_constraints_stay_with_coordinates_in_another_order():
    robot = two_arms("fixed").constrain(GEAR, ROD, GRIP)
    turned = robot.edit.reorder(robot.joints[::-1])
    q = some(robot)
    parts = {name: q[s] for name, s in zip(robot.joints, q_slices(robot), strict=True)}
    there = np.concatenate([parts[name] for name in turned.joints])
    assert relative_error(errors(turned, there), errors(robot, q)) < 1e-14


def q_slices(robot: kt.Robot) -> list[slice]:
    return [robot.model.q_slices[i] for i in robot.model.coordinate_order]


def test_constraints_have_the_same_errors_in_another_chart():
    robot = two_arms().constrain(GEAR, ROD, GRIP, FOOT)
    recharted = robot.edit.rechart("zyx")
    q = some(robot)
    there = robot.charts.conversion(recharted).configuration(q)
    assert relative_error(errors(recharted, there), errors(robot, q)) < 1e-12


# locking


def test_a_locked_joint_is_a_number_in_a_coupling():
    robot = two_arms("fixed").constrain(GEAR)
    held = 0.3
    locked = robot.edit.lock({"right0_joint": held})
    (left,) = locked.model.constraints
    assert left.joints == ("right2_joint",)
    q = some(locked)
    at = list(locked.joints).index("right2_joint")
    wanted = 0.2 + held + 0.5 * held**2 - 2.0 * q[q_slices(locked)[at].start]
    assert abs(errors(locked, q)[0] - wanted) < 1e-15


def test_a_coupling_of_locked_joints_is_dropped_where_it_is_satisfied():
    robot = two_arms("fixed").constrain(GEAR, ROD)
    held = 0.3
    satisfied = (0.2 + held + 0.5 * held**2) / 2
    locked = robot.edit.lock({"right0_joint": held, "right2_joint": satisfied})
    assert locked.model.constraints == (ROD,)


def test_a_coupling_of_locked_joints_is_refused_where_it_is_violated():
    robot = two_arms("fixed").constrain(GEAR)
    with pytest.raises(
        ModelError,
        match=r"constraint 'gear': with 'right0_joint', .* nothing in it can move.* is 0.545",
    ):
        robot.edit.lock({"right0_joint": 0.3, "right2_joint": 0.0})


def test_a_coupling_of_a_joint_whose_leader_is_locked_is_folded():
    a = kt.Assembly("gears")
    for k, mimic in enumerate((None, ("a0_joint", -2.0, 0.1), None)):
        a.add(f"a{k}", "base", j.Revolute("z"), mass=1.0, inertia=BOX, mimic=mimic)
    robot = a.robot().constrain(c.Coupling("gear", {"a0_joint": [0, 1], "a2_joint": [0, 3]}))
    (left,) = robot.edit.lock({"a0_joint": 0.6}).model.constraints
    assert left.polynomials == (("a2_joint", (0.6, 3.0)),)


def test_a_loop_whose_frames_end_on_one_body_is_dropped_where_it_is_closed():
    robot = four_bar()
    q = robot.constraints.assemble([0.3, 0.5, 1.2])
    locked = robot.edit.lock(dict(zip(robot.joints, q, strict=True)))
    assert locked.model.constraints == ()
    assert locked.nv == 0


def test_a_loop_whose_frames_end_on_one_body_is_refused_where_it_is_open():
    with pytest.raises(
        ModelError, match=r"'loop': nothing can move between .* is off by 1.4 m.*assem"
    ):
        four_bar().edit.lock({"crank_joint": 0.0, "coupler_joint": 0.0, "rocker_joint": np.pi})


def test_a_loop_with_a_locked_joint_that_still_moves_is_kept():
    robot = four_bar().edit.lock({"crank_joint": 0.4})
    assert [x.name for x in robot.model.constraints] == ["loop"]
    q = robot.constraints.assemble([0.5, 1.2])
    assert np.abs(errors(robot, q)).max() < 1e-12


# parts


def test_a_subtree_keeps_its_own_constraints_and_drops_those_of_the_rest():
    inside = c.Rod("inside", "left5", "left2", length=0.4)
    outside = c.Rod("outside", "right0", "right3", length=0.4)
    robot = two_arms().constrain(inside, outside, FOOT.renamed(""))
    with pytest.raises(ModelError, match=r"constraint 'foot' connects .*'left1'.* to the world"):
        robot.edit.subtree("left1")
    robot = two_arms().constrain(inside, outside)
    assert robot.edit.subtree("left1").model.constraints == (inside,)


@pytest.mark.parametrize(
    ("constraint", "reached"), [(ROD, "link 'right3'"), (GRIP, "link 'right2'")], ids=str
)
def test_a_subtree_refuses_constraints_that_reach_outside(constraint, reached):
    wanted = f"constraint {constraint.name!r} connects the subtree of 'left0' to {reached}"
    with pytest.raises(ModelError, match=re.escape(wanted)):
        two_arms().constrain(constraint).edit.subtree("left0")


def test_a_subtree_refuses_a_coupling_that_reaches_outside():
    with pytest.raises(
        ModelError, match=r"'gear' connects the subtree of 'right1' to joint 'right0"
    ):
        two_arms().constrain(GEAR).edit.subtree("right1")


def test_both_robots_keep_their_constraints_when_one_is_attached_to_the_other():
    robot = two_arms("fixed").constrain(GEAR, ROD)
    both = robot.edit.attach(four_bar(), "left5", at=(0.1, 0, 0), prefix="tool_")
    assert [x.name for x in both.model.constraints] == ["gear", "rod", "tool_loop"]
    q = some(both)
    own = np.concatenate([q[s] for n, s in zip(both.joints, q_slices(both), strict=True)
                          if n.startswith("tool_")])  # fmt: skip
    assert relative_error(errors(both, q)[2:], errors(four_bar(), own)) < 1e-13


def test_attaching_a_robot_refuses_constraints_of_one_name():
    robot = four_bar()
    tip = c.Coupling("loop", {"finger_joint": [0, 1]})
    a = kt.Assembly("tool", root="palm")
    a.add("finger", "palm", j.Revolute("z"), mass=1.0, inertia=BOX)
    with pytest.raises(ModelError, match=r"both robots have a constraint named 'loop': .* prefix"):
        robot.edit.attach(a.robot().constrain(tip), "crank")


def test_a_loop_closed_on_the_world_goes_with_the_root_of_an_attached_robot():
    a = kt.Assembly("bar", root="palm")
    a.add("bar", "palm", j.Ball(), mass=1.0, inertia=BOX)
    pose = (0.0, 0.0, 0.5)
    held = c.Rod("rod", "bar", at_frame=(0.3, 0, 0), at_base=(0.1, 0.2, 0.3), length=0.2)
    bar = a.robot().constrain(held)
    both = four_bar().edit.attach(bar.edit.with_mount(pose), "crank")
    q = some(both)
    own = q[q_slices(both)[both.joints.index("bar_joint")]]
    # the rod still ends where it did in the world when the root was there
    mounted = bar.edit.with_mount(pose)
    assert relative_error(errors(both, q)[-1:], errors(mounted, own)) < 1e-13
    assert both.model.constraints[-1].base == "palm"


def test_a_foot_of_a_free_robot_stays_on_the_ground_when_the_robot_is_attached():
    free = two_arms("floating").constrain(FOOT)
    hand = kt.Assembly("hand", root="ground")
    hand.add("hand", "ground", j.Prismatic("z"), mass=1.0, inertia=BOX)
    both = hand.robot().edit.attach(free, "hand")
    assert both.model.constraints == (FOOT,)


# roots and mounts


def test_another_root_keeps_loops_and_what_was_closed_on_the_world():
    held = c.LoopJoint("held", "rocker", joint=j.Ball(), at_frame=(0.1, 0, 0), at_base=(1, 0, 0.1))
    robot = four_bar().edit.with_mount((0.1, 0.2, 0.3)).constrain(held)
    rooted = robot.edit.reroot("coupler")
    q = some(robot)
    assert rooted.joints != robot.joints
    there = [q[robot.joints.index(name)] for name in rooted.joints]
    assert relative_error(errors(rooted, there), errors(robot, q)) < 1e-12
    columns = [robot.joints.index(name) for name in rooted.joints]
    assert relative_error(jacobian(rooted, there), jacobian(robot, q)[:, columns]) < 1e-12


def test_a_free_robot_with_another_root_stays_where_its_feet_are():
    robot = two_arms("floating").constrain(FOOT, ROD)
    rooted = robot.edit.reroot("right0")
    assert rooted.model.constraints == robot.model.constraints


def test_what_is_held_in_the_world_stays_there_when_the_robot_is_mounted_elsewhere():
    robot = two_arms("fixed").constrain(FOOT, ROD)
    moved = robot.edit.with_mount((0.5, 0, 0.25))
    assert moved.model.constraints == robot.model.constraints
    q = some(robot)
    assert relative_error(errors(moved, q), errors(robot, q) + np.array([0.5, 0.25, 0.0])) < 1e-13


def test_the_polynomial_of_a_multiple_is_that_polynomial_there():
    f, x = (0.3, -1.0, 2.0, 0.5), 0.7
    moved = substituted(f, -1.5, 0.2)
    assert abs(polynomial(moved, x) - polynomial(f, -1.5 * x + 0.2)) < 1e-14
