"""pose_exp and pose_log: the matrix exponential and logarithm of poses, to rounding."""

import numpy as np
import pytest
from scipy.linalg import expm, logm

import kinetree as kt
from kinetree.errors import KinetreeError, StateError
from tests.tolerances import EXACT, relative_error

RNG = np.random.default_rng(0)
NEAR_HALF_A_TURN = [np.pi - d for d in (1e-1, 1e-4, 1e-8, 1e-12, 1e-15)]
ANGLES = [0.0, 1e-12, 1e-8, 1e-3, 0.9999, 1.0, 1.0001, 2.0, *NEAR_HALF_A_TURN]


def matrix(xi):
    """The 4x4 matrix whose exponential is the pose."""
    v, (x, y, z) = xi[:3], xi[3:]
    rotation = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    return np.block([[np.array(rotation), v[:, None]], [np.zeros((1, 4))]])


def screw(angle):
    axis = RNG.standard_normal(3)
    return np.concatenate([RNG.standard_normal(3), angle * axis / np.linalg.norm(axis)])


@pytest.mark.parametrize("angle", [*ANGLES, 4.0, 7.0])
def test_the_exponential_is_that_of_the_matrix(angle):
    xi = screw(angle)
    assert relative_error(kt.pose_exp(xi), expm(matrix(xi))) < EXACT


@pytest.mark.parametrize("angle", [0.3, 0.9999, 1.0001, 2.0, np.pi - 0.1])
def test_the_logarithm_is_that_of_the_matrix(angle):
    T = expm(matrix(screw(angle)))
    assert relative_error(matrix(kt.pose_log(T)), logm(T).real) < 10 * EXACT


@pytest.mark.parametrize("angle", ANGLES)
def test_the_logarithm_undoes_the_exponential(angle):
    xi = screw(angle)
    T = kt.pose_exp(xi)
    found = kt.pose_log(T)
    assert relative_error(kt.pose_exp(found), T) < EXACT
    if angle < np.pi - 1e-11:  # beyond, rounding decides between the two directions of the axis
        assert relative_error(found, xi) < EXACT


def test_half_turns_about_every_axis():
    axes = np.concatenate([np.eye(3), -np.eye(3), RNG.standard_normal((20, 3))])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    xi = np.concatenate([RNG.standard_normal(axes.shape), np.pi * axes], axis=1)
    T = kt.pose_exp(xi)
    found = kt.pose_log(T)
    assert relative_error(np.linalg.norm(found[:, 3:], axis=1), np.full(26, np.pi)) < EXACT
    assert relative_error(kt.pose_exp(found), T) < EXACT


def test_batches_are_the_states_one_by_one():
    xi = RNG.standard_normal((2, 3, 6))
    T = kt.pose_exp(xi)
    assert T.shape == (2, 3, 4, 4)
    assert (T[1, 2] == kt.pose_exp(xi[1, 2])).all()
    assert (kt.pose_log(T)[1, 2] == kt.pose_log(T[1, 2])).all()
    assert kt.pose_exp(np.zeros((0, 6))).shape == (0, 4, 4)
    assert kt.pose_log(np.zeros((0, 4, 4))).shape == (0, 6)


def test_a_floating_base_moves_by_the_exponential():
    robot = kt.robots.quadruped()
    q, v = robot.random(1), np.zeros(18)
    v[:6] = RNG.standard_normal(6)
    moved = robot.pose(robot.integrate(q, v), "trunk")
    assert relative_error(moved, robot.pose(q, "trunk") @ kt.pose_exp(v[:6])) < EXACT


def test_what_is_no_pose_is_refused_by_a_sentence():
    wrong = np.stack([np.eye(4), 2.0 * np.eye(4)])
    with pytest.raises(StateError, match=r"T\[1\] is not a pose"):
        kt.pose_log(wrong)
    with pytest.raises(StateError, match="T is not a pose"):
        kt.pose_log(np.diag([1.0, 1.0, -1.0, 1.0]))
    for call, given in ((kt.pose_exp, np.zeros(5)), (kt.pose_log, np.eye(3)), (kt.pose_exp, "x")):
        with pytest.raises(KinetreeError):
            call(given)
    with pytest.raises(StateError, match="finite"):
        kt.pose_exp([np.nan] * 6)
