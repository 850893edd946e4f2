"""What is reported of a robot's constraints: open loops, contradictions, redundancy, mobility."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import constraints as c
from kinetree import joints as j
from kinetree.errors import ModelWarning
from kinetree.quantities.mobility import constraint_problems
from tests.constrained_robots import BOX, four_bar, two_arms


def said(robot: kt.Robot, notes: bool = True) -> list[str]:
    return [str(problem) for problem in constraint_problems(robot.model, notes)]


def test_a_loop_that_is_open_at_the_neutral_configuration_is_a_note_with_its_gap():
    first = said(four_bar())[0]
    assert first.startswith("note: constraint 'loop': at the neutral configuration it is not sat")
    assert "loop" in first
    assert "x is off by 200 mm; robot.constraints.assemble(q) finds" in first
    assert not [x for x in said(four_bar((1.5, 0.5, 1.8, 0.8))) if "neutral" in x]


def test_an_angle_is_in_degrees():
    gear = c.Coupling("gear", {"crank_joint": [0.1, 1.0]})
    robot = four_bar().without("constraints").constrain(gear)
    assert "sum is off by 5.73 degrees" in said(robot)[0]


def test_the_four_bar_has_one_degree_of_freedom_and_three_redundant_rows():
    rows, mobility = said(four_bar())[1:]
    assert rows.startswith("note: the constraints: redundant: loop.y, loop.rx, loop.rz follow from")
    assert "they leave 1 of 3 degrees of freedom: 5 rows of rank 2; Grübler's" in mobility
    assert mobility.endswith("is -2")


def test_rows_that_are_not_redundant_are_not_named():
    robot = two_arms().constrain(c.LoopJoint("loop", "left5", "right3", j.Ball()))
    (mobility,) = [x for x in said(robot) if "neutral" not in x]
    assert f"they leave {robot.nv - 3} of {robot.nv} degrees of freedom: 3 rows" in mobility


def test_the_rank_is_that_of_the_jacobian_where_the_loops_are_closed():
    weld = c.LoopJoint("weld", "left5", "right3")
    again = c.LoopJoint("again", "right3", "left5", j.Revolute("y"))
    robot = two_arms().constrain(weld, again)
    q = robot.constraints.assemble(robot.random(np.random.default_rng(0)))
    rank = np.linalg.matrix_rank(robot.constraints.jacobian(q), 1e-9)
    assert rank == 6
    redundant, mobility = [x for x in said(robot) if "neutral" not in x]
    assert "again.x, again.y, again.z, again.rx, again.rz follow from the others" in redundant
    assert f"{robot.nv - rank} of {robot.nv}" in mobility


def test_rows_that_contradict_each_other_are_a_warning_that_names_them():
    one = c.LoopJoint("one", "left5", "right3")
    two = c.LoopJoint("two", "left5", "right3", at_base=(0, 0, 0.1))
    robot = two_arms().constrain(one, two)
    (warning,) = said(robot, notes=False)
    assert warning.startswith("warning: the constraints: no configuration was found that satisfies")
    assert ".z is off by 50 mm, and one.z, two.z contradict each other" in warning


def test_a_linkage_that_is_too_short_cannot_close():
    (warning,) = said(four_bar((1.0, 0.1, 0.2, 0.3)), notes=False)
    assert "loop.x is off by " in warning
    assert said(four_bar(), notes=False) == []


def test_couplings_in_a_circle_that_cannot_be_are_a_warning():
    robot = (
        four_bar()
        .without("constraints")
        .constrain(
            c.Coupling("first", {"crank_joint": [0, 1], "rocker_joint": [0, -2]}),
            c.Coupling("second", {"crank_joint": [1, -0.5], "rocker_joint": [0, 1]}),
        )
    )
    assert "first.sum, second.sum contradict each other" in said(robot, notes=False)[0]


def test_a_robot_lists_them_among_its_problems_and_an_assembly_warns():
    robot = four_bar()
    found = [str(problem) for problem in robot.problems()]
    assert [x for x in found if "constraints" in x] == said(robot)
    a = kt.Assembly("short")
    a.add("bar", "base", j.Revolute("z"), mass=1.0, inertia=BOX)
    a.constrain(c.LoopJoint("loop", "bar", "base", j.Ball(), at_base=(1, 0, 0)))
    with pytest.warns(ModelWarning, match="the constraints: no configuration was found"):
        a.robot()


def test_one_row_that_cannot_be_satisfied_contradicts_no_other():
    robot = kt.robots.arm().constrain(c.Rod("rod", "tool", length=50.0))
    (warning,) = [x for x in said(robot) if x.startswith("warning")]
    assert "no configuration was found that satisfies them: in the nearest one rod.len" in warning
    assert "contradict" not in warning
