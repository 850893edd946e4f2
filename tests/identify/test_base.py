"""Base parameters: by structure and by numbers, the same."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnknownNameError
from tests.mixed_robots import ROBOTS

COUNTS = [
    ("arm", 43),
    ("quadruped", 94),
    pytest.param("human", 137, marks=pytest.mark.slow),
    ("double_pendulum", 6),
    ("cart_pole", 4),
]


@pytest.mark.parametrize(("name", "count"), COUNTS)
def test_structure_and_numbers_give_the_same_combinations(name, count):
    robot = getattr(kt.robots, name)()
    found, other = robot.base_parameters(), robot.base_parameters(method="numbers")
    assert len(found) == count
    assert np.array_equal(found.pivots, other.pivots)
    assert np.abs(found.matrix - other.matrix).max() < 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_they_agree_for_joints_of_every_kind_with_drives(name):
    robot = ROBOTS[name]()
    drives = ("armature", "damping", "offset")
    found, other = (
        robot.base_parameters(method=how, drives=drives) for how in ("structure", "numbers")
    )
    assert found.matrix.shape == other.matrix.shape
    assert np.abs(found.matrix - other.matrix).max() < 1e-8


def test_robots_of_equal_base_parameters_need_equal_forces():
    robot = kt.robots.arm()
    base = robot.base_parameters()
    rng = np.random.default_rng(0)
    null = np.linalg.svd(base.matrix)[2][len(base) :]
    other = robot.regressors.parameters + rng.standard_normal(len(null)) @ null
    assert np.allclose(base.of(other), base.values, atol=1e-12)
    q, v, a = rng.standard_normal((3, 5, 7))
    Y = robot.regressor(q, v, a)
    assert np.allclose(Y @ other, Y @ robot.regressors.parameters, atol=1e-11)


def test_they_are_printed_by_name():
    text = str(kt.robots.double_pendulum().base_parameters(drives=["armature"]))
    assert text.startswith("7 base parameters of 22 parameters of double_pendulum:")
    assert "1.33343  upper.Iyy + lower.mass + upper_joint.armature" in text
    assert "upper.mass" in kt.robots.double_pendulum().base_parameters().unseen


def test_other_methods_and_drives_are_refused_by_name():
    with pytest.raises(UnknownNameError, match="'structure', 'numbers'"):
        kt.robots.arm().base_parameters(method="guess")
    with pytest.raises(UnknownNameError, match="did you mean 'damping'"):
        kt.robots.arm().base_parameters(drives=["dampening"])
