"""The inertia that a frame feels, against its definition and against what a force does."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.operational_space import inertia_along
from kinetree.errors import SingularModelError
from tests.mixed_robots import gripper, rider
from tests.tolerances import EXACT, relative_error

ARM = kt.robots.arm()  # seven joints: redundant
REGULAR = [0.3, -0.5, 0.4, -1.2, 0.6, 0.9, -0.2]


def definition(robot, q, frame, axes, count):
    J = robot.jacobian(q, frame, axes=axes)[..., :count, :]
    inverse = J @ np.linalg.inv(robot.mass_matrix(q)) @ J.swapaxes(-1, -2)
    return np.linalg.inv(inverse), np.linalg.cond(inverse).max()


@pytest.mark.parametrize("axes", ["origin", "body", "world"])
@pytest.mark.parametrize(("rows", "count"), [("pose", 6), ("position", 3)])
@pytest.mark.parametrize(("robot", "frame"), [(ARM, "tool"), (rider(), "hand")], ids=str)
def test_it_is_the_inverse_of_j_m_inverse_j_transposed(robot, frame, axes, rows, count):
    q = robot.random(1, 3)
    found = robot.operational_space_inertia(q, frame, axes=axes, rows=rows)
    expected, condition = definition(robot, q, frame, axes, count)
    assert found.shape == (3, count, count)
    assert relative_error(found, expected) < EXACT * max(1.0, condition)
    assert (found == found.swapaxes(-1, -2)).all()
    assert (np.linalg.eigvalsh(found) > 0.0).all()


def test_a_wrench_accelerates_the_frame_as_it_says():
    wrench = np.array([1.0, -2.0, 3.0, 0.2, 0.1, -0.3])
    rest = np.zeros(7)
    tau = ARM.gravity_forces(REGULAR)
    a = ARM.forward_dynamics(REGULAR, rest, tau, external={"tool": wrench})
    A = ARM.acceleration(REGULAR, rest, a, "tool", axes="body")
    found = ARM.operational_space_inertia(REGULAR, "tool", axes="body") @ A
    assert relative_error(found, wrench) < 1e3 * EXACT


def test_a_free_body_feels_its_own_inertia():
    assembly = kt.Assembly("box", inertia=[0.02, 0.03, 0.04], mass=3.0)
    box = assembly.robot("floating")
    found = box.operational_space_inertia(box.random(0), box.frames[0], axes="body")
    expected = np.diag([3.0, 3.0, 3.0, 0.02, 0.03, 0.04])
    assert relative_error(found, expected) < EXACT


def test_it_does_not_depend_on_how_the_redundant_joints_are_driven():
    J, inverse = ARM.jacobian(REGULAR, "tool"), ARM.mass_matrix_inverse(REGULAR)
    L = ARM.operational_space_inertia(REGULAR, "tool")
    consistent = inverse @ J.T @ L  # the dynamically consistent inverse of J
    null = np.eye(7) - J.T @ consistent.T
    assert np.linalg.matrix_rank(null, 1e-9) == 1
    assert np.abs(J @ inverse @ null).max() < 1e-10  # null-space forces do not move the frame


def test_a_frame_whose_rows_are_always_dependent_is_refused_by_name():
    robot = gripper()
    with pytest.raises(SingularModelError, match=r"frame 'drill' have rank 3 .* rows='position'"):
        robot.operational_space_inertia(robot.random(0), "drill")
    position = robot.operational_space_inertia(robot.random(0), "drill", rows="position")
    assert position.shape == (3, 3)


def test_where_neither_has_an_answer_the_message_says_what_does():
    robot = kt.robots.double_pendulum()
    for rows in ("pose", "position"):
        with pytest.raises(SingularModelError, match="mass_matrix_inverse"):
            robot.operational_space_inertia([0.1, 0.2], "lower", rows=rows)


def test_a_frame_of_a_short_branch_is_refused_although_the_robot_has_enough_velocities():
    assembly = kt.Assembly("branches")
    for side in ("left", "right"):
        parent = "base"
        for k in range(4):
            name, axis = f"{side}{k}", kt.joints.Revolute("xyzx"[k])
            assembly.add(name, parent, axis, (0.1, 0.2, 0.3), [0.02, 0.03, 0.04], mass=1.0)
            parent = name
    robot = assembly.robot()
    assert robot.nv == 8
    with pytest.raises(SingularModelError, match="rank 4"):
        robot.operational_space_inertia(robot.random(0), "left3")


def test_the_regularisation_bounds_it_where_rows_are_dependent():
    model, c = kt.robots.double_pendulum().model, 1e-3
    q = [0.4, 0.3]
    M = np.array(kt.Robot(model).mass_matrix(q)).tolist()
    J = np.array(kt.Robot(model).jacobian(q, "lower"))
    found = np.array(inertia_along(factor(M, elimination_order(model)), J.tolist(), c))
    expected = np.linalg.inv(J @ np.linalg.inv(M) @ J.T + c * np.eye(6))
    assert relative_error(found * c, expected * c) < EXACT / c
    assert np.linalg.eigvalsh(found).max() <= (1.0 + 1e-9) / c
