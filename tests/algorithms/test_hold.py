"""The linearised motion over a step in which the joint forces are held."""

import numpy as np
import pytest
from scipy.linalg import expm

import kinetree as kt
from kinetree.robot.linearization import COMPILED_HOLD
from tests.tolerances import EXACT, relative_error

QUADRUPED = kt.robots.quadruped()
BALL = kt.Assembly("top", "base")
BALL.add("top", "base", kt.joints.Ball(), mass=1.0, inertia=(0.01, 0.02, 0.03), com=(0, 0, 0.1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "robot", [kt.robots.arm(), BALL.robot(), QUADRUPED], ids=lambda robot: robot.name
)
@pytest.mark.parametrize("dt", [1e-3, 0.2, -0.01])
def test_it_is_the_exponential_of_the_linearised_motion(robot, dt):
    n, rng = robot.nv, np.random.default_rng(0)
    q, (v, tau) = robot.random(rng, 4), rng.standard_normal((2, 4, n))
    A, B = robot.linearize(q, v, tau)
    both = np.zeros((4, 3 * n, 3 * n))
    both[:, : 2 * n, : 2 * n], both[:, : 2 * n, 2 * n :] = A, B
    exact = expm(both * dt)[:, : 2 * n]
    found = np.concatenate(robot.linearize(q, v, tau, dt), axis=-1)
    assert relative_error(found, exact) < 10 * EXACT


def test_small_robots_are_compiled_and_large_ones_are_not():
    assert kt.robots.arm().nv <= COMPILED_HOLD < QUADRUPED.nv


def test_a_method_without_a_step_is_refused():
    with pytest.raises(kt.errors.KinetreeError, match="pass dt"):
        kt.robots.arm().linearize(np.zeros(7), np.zeros(7), np.zeros(7), method="rk4")
