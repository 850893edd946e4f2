"""Constraints as data: what is refused, and how it is said."""

import numpy as np
import pytest

from kinetree import constraints as c
from kinetree import joints as j
from kinetree.errors import AssemblyError, ModelError, UnknownNameError
from tests.constrained_robots import four_bar, two_arms


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: c.LoopJoint("", "left5"), "the name of a constraint is ''"),
        (lambda: c.LoopJoint("loop", "left5", joint="hinge"), "a joint of kinetree.joints is"),
        (lambda: c.LoopJoint("loop", "left5", joint=j.Floating()), "forbids no motion"),
        (
            lambda: c.LoopJoint("loop", "left5", at_frame=(1, 2)),
            "loop: at_frame must be three numbers",
        ),
        (lambda: c.Rod("rod", "left5", length=0.0), "more than zero is expected"),
        (lambda: c.RollingWheel("wheel", "left5", radius=-1.0), "more than zero is expected"),
        (lambda: c.HeldFrame("foot", "left5", rows=("x", "x")), "at least one row is expected"),
        (lambda: c.Coupling("gear", {"left0_joint": [1.0]}), "no coordinate has an effect"),
        (lambda: c.Coupling("gear", {"left0_joint": 3}), "a list of coefficients is expected"),
        (lambda: c.Coupling("gear", [1, 2]), "the names of joints with coefficients"),
    ],
)
def test_a_constraint_that_cannot_be_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_an_unknown_row_is_refused():
    with pytest.raises(UnknownNameError, match="foot has no row 'roll'"):
        c.HeldFrame("foot", "left5", rows=("roll",))


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (c.LoopJoint("loop", "hand"), "constraint 'loop': robot 'two_arms' has no frame 'hand'"),
        (c.LoopJoint("loop", "left5", "left5"), "both of its frames are fixed in body 'left5'"),
        (c.Coupling("gear", {"knee": [0, 1]}), "constraint 'gear': .* 'knee'"),
        (c.Coupling("gear", {"left1_joint": [0, 1]}), "'left1_joint' has more than one coordinate"),
    ],
)
def test_a_constraint_that_does_not_fit_the_robot_is_refused(constraint, message):
    with pytest.raises(ModelError, match=message):
        two_arms().constrain(constraint)


def test_two_constraints_of_one_name_are_refused():
    with pytest.raises(ModelError, match="two constraints are named 'loop'"):
        two_arms().constrain(c.LoopJoint("loop", "left5"), c.LoopJoint("loop", "right2"))


def test_what_is_no_constraint_is_refused():
    with pytest.raises(ModelError, match=r"one of kinetree\.constraints is expected"):
        two_arms().constrain("left5")


def test_constraints_are_part_of_the_digest():
    robot = two_arms()
    digests = {
        robot.model.digest,
        robot.constrain(c.Rod("rod", "left5", length=1.0)).model.digest,
        robot.constrain(c.Rod("rod", "left5", length=2.0)).model.digest,
        robot.constrain(c.LoopJoint("rod", "left5", joint=j.Ball())).model.digest,
    }
    assert len(digests) == 4


def test_a_loop_that_cannot_close_is_named():
    robot = four_bar((3.0, 0.5, 0.5, 0.5))
    with pytest.raises(AssemblyError, match=r"cannot be assembled from there: loop\.[xz] is still"):
        robot.constraints.assemble(np.zeros(3))


def test_the_state_that_cannot_be_assembled_is_named():
    robot = four_bar()
    q = robot.constraints.assemble(
        np.array([[0.6, -0.3, 1.0], [0.7, -0.3, 1.0]]), held="crank_joint"
    )
    np.testing.assert_allclose(q[:, 0], [0.6, 0.7], atol=1e-15)
    np.testing.assert_allclose(robot.constraints.errors(q), 0.0, atol=1e-12)
    with pytest.raises(UnknownNameError, match="no moving joint 'knee'"):
        robot.constraints.assemble(q, held="knee")
