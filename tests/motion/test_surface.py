"""The surface of motions that meet equalities: its rows, its first motion, steps along it."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.motion.flat import Flat, states_of
from kinetree.motion.surface import MET, Surface, normal
from kinetree.motion.transition_problem import Problem
from kinetree.motion.transition_settings import Settings, checked
from tests.motion.bipeds import biped, standing


@pytest.fixture(scope="module")
def flying():
    """A biped that stands, flies and stands: held feet, and a root without force in between."""
    robot = biped()
    q = standing(robot, 0.5)
    feet = ("left_foot", "right_foot")
    supports = [kt.Support(foot, last=0.3) for foot in feet]
    supports += [kt.Support(foot, first=0.5) for foot in feet]
    settings = checked(Settings(coefficients=19, supports=supports))
    ends = states_of(robot, q, "first"), states_of(robot, q, "second")
    return Problem(Flat(robot), *ends, 0.8, settings)


def test_derivatives_of_rows_by_coefficients(flying):
    surface, every, h = Surface(flying), np.arange(1), 1e-6
    rng = np.random.default_rng(0)
    c = flying.start()
    c, d = c + 0.1 * rng.standard_normal(c.shape), rng.standard_normal(c.shape)
    rows, J = surface.expand(c, every)
    assert rows.shape == (1, surface.count)
    assert np.allclose(rows, surface.rows(c, every))
    ahead, behind = (surface.rows(c + k * h * d, every)[0] for k in (1, -1))
    slope = J[0] @ d.ravel()
    assert np.allclose((ahead - behind) / (2 * h), slope, atol=1e-6 * np.abs(slope).max())


def test_the_first_motion_meets_the_equalities(flying):
    surface = Surface(flying)
    c, met = surface.start(flying.start())
    assert met
    assert np.abs(surface.rows(c, np.arange(1))).max() < MET


def test_steps_back_leave_out_rows_that_others_imply():
    J = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])  # the last is a sum
    step = normal(J, J.T).back(np.array([1.0, 2.0, 3.0]))
    assert np.allclose(J @ step, [-1.0, -2.0, -3.0])
    assert np.allclose(step, [-0.5, -2.0, -0.5])  # the shortest
