"""Derivatives of constrained dynamics against complex steps along q (+) delta."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import joints as j
from kinetree.algorithms import constraints as algorithms
from kinetree.algorithms.constraints import NO_STABILIZATION, Baumgarte
from kinetree.constraints import Coupling, HeldFrame, LoopJoint
from kinetree.model.loads import load
from tests.algorithms.test_derivatives import slopes
from tests.constrained_robots import EVERY, four_bar, two_arms
from tests.tolerances import relative_error

WAYS = (
    algorithms.constrained_derivatives,
    algorithms.constrained_derivatives_in_own_frames,
)
CLOSE = 1e-9
"""Beside a complex step; what the proximal iterations leave is far smaller."""
BOX = (0.02, 0.03, 0.025)


def expected(model, state, loads=(), names=(), stabilization=NO_STABILIZATION):
    """The derivatives of the accelerations by q, v and tau, then those of the forces."""

    def dynamics(model, q, v, tau):
        a, forces, _ = algorithms.constrained_dynamics(
            model, q, v, tau, loads, names, stabilization
        )
        return a + forces

    found = slopes(model, dynamics, *state)
    return [d[: model.nv] for d in found] + [d[model.nv :] for d in found]


def worst(way, model, state, *settings):
    found = way(model, *state, *settings)
    pairs = zip(found, expected(model, state, *settings), strict=True)
    return max(relative_error(np.array(a, float), b) for a, b in pairs)


def random_state(robot, seed=3):
    """Anywhere: neither loops nor velocities respect the constraints."""
    rng = np.random.default_rng(seed)
    v, tau = rng.standard_normal((2, robot.nv))
    return [list(map(float, x)) for x in (robot.random(rng), v, tau)]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", EVERY)
def test_derivatives_are_those_of_complex_steps(name, way):
    robot = two_arms().constrain(EVERY[name][0])
    assert worst(way, robot.model, random_state(robot)) < CLOSE


@pytest.mark.parametrize("name", EVERY)
def test_stabilisation_is_differentiated_too(name):
    robot = two_arms().constrain(EVERY[name][0])
    settings = ((), (), Baumgarte(rate=5.0, damping=0.7))
    assert worst(WAYS[1], robot.model, random_state(robot), *settings) < CLOSE


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_redundant_rows_have_derivatives(way):
    robot = four_bar()
    assert worst(way, robot.model, random_state(robot)) < CLOSE


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_several_constraints_share_joints(way):
    every = ("rod", "foot", "cam", "blade")
    robot = two_arms().constrain(*(EVERY[name][0] for name in every))
    assert worst(way, robot.model, random_state(robot)) < CLOSE
    some = ((), ("foot", "cam"))
    assert worst(way, robot.model, random_state(robot), *some) < CLOSE


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_loop_may_join_two_trees_or_end_at_the_world(way):
    a = kt.Assembly("two_trees")
    for side, x in (("left", 0.0), ("right", 1.0)):
        a.add(f"{side}0", "base", j.Revolute("y"), (x, 0, 0), BOX, mass=1.0, com=(0.2, 0, 0))
        a.add(f"{side}1", f"{side}0", j.Ball(), (0.4, 0, 0.1), BOX, mass=0.7, com=(0.1, 0, 0))
    ball = LoopJoint("ball", "left1", "right1", j.Ball(), at_frame=(0.3, 0, 0))
    universal = LoopJoint("hook", "left1", "right1", j.universal("x", "y"), at_frame=(0.3, 0, 0))
    from_the_world = HeldFrame("socket", "base", "right1", rows=("x", "z"))
    for loop in (ball, universal, from_the_world):
        robot = a.robot().constrain(loop)
        assert worst(way, robot.model, random_state(robot)) < CLOSE


def test_loads_and_drives_are_differentiated_too():
    drive = kt.Drive(armature=0.1, damping=0.2, stiffness=3.0)
    a = kt.Assembly("sprung")
    a.add("upper", "base", j.Revolute("y"), (0, 0, 0), BOX, mass=1.0, com=(0.2, 0, 0), drive=drive)
    a.add("lower", "upper", j.Revolute("x"), (0.4, 0, 0), BOX, mass=0.7, com=(0.1, 0, 0.1))
    a.add("gear", "base", j.Revolute("x"), (0, 0.5, 0), BOX, mass=0.2)
    teeth = Coupling("teeth", {"gear_joint": [0.0, 1.0], "upper_joint": [0.1, -2.5, 0.3]})
    robot = a.robot().constrain(teeth, HeldFrame("tip", "lower", rows=("x",)))
    acting = [
        load(kt.Point("lower"), [1.0, -2.0, 0.5, 0.1, 0.2, 0.3]),
        load("gear", [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]),
    ]
    assert worst(WAYS[0], robot.model, random_state(robot), acting) < CLOSE
