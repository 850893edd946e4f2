"""The built-in robots: physical, of the size they say, with the branches asked for."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from tests.tolerances import EXACT, relative_error

ROBOTS = {
    "arm": kt.robots.arm,
    "quadruped": kt.robots.quadruped,
    "human": kt.robots.human,
    "double pendulum": kt.robots.double_pendulum,
    "cart-pole": kt.robots.cart_pole,
    "chain": lambda: kt.robots.chain(9),
    "floating chain": lambda: kt.robots.chain(9, base="floating"),
    "tree": lambda: kt.robots.tree(9, 3),
    "biped of the paper": lambda: kt.robots.legged(2, 10),
    "quadruped of the paper": lambda: kt.robots.legged(4, 5),
}


def mass(robot):
    return sum(body.inertia.mass for body in robot.model.bodies)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_the_mass_matrix_is_positive_and_the_dynamics_invert(name):
    robot = ROBOTS[name]()
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng, 20), rng.standard_normal((2, 20, robot.nv))
    assert np.linalg.eigvalsh(robot.mass_matrix(q)).min() > 0.0
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_every_body_could_exist(name):
    for body in ROBOTS[name]().model.bodies:
        moments = body.inertia.second_moments().rows  # of mass, about the origin: never negative
        assert body.inertia.mass > 0.0
        assert np.linalg.eigvalsh([list(row) for row in moments]).min() > 0.0


def test_the_human_has_the_mass_and_the_height_of_the_table():
    robot = kt.robots.human()
    assert robot.nv == 43
    assert mass(robot) == pytest.approx(73.0)
    q = robot.neutral()
    top = robot.pose(q, "head")[2, 3] + 0.2429
    sole = robot.pose(q, "left_foot")[2, 3]
    assert top - sole == pytest.approx(1.741, abs=0.12)  # the ankle is above the ground


def test_the_human_is_symmetric():
    robot = kt.robots.human()
    tau = robot.gravity_forces(robot.neutral())
    assert tau[:3] == pytest.approx([0.0, 0.0, 73.0 * 9.81])
    assert abs(tau[3]) < EXACT * tau[2]  # no moment about the line it walks along


def test_the_arm_and_the_quadruped_weigh_what_they_say():
    assert mass(kt.robots.arm()) == pytest.approx(18.0)
    assert mass(kt.robots.quadruped()) == pytest.approx(12.0)
    assert kt.robots.quadruped().nv == 18


def test_the_textbook_mechanisms_are_as_described():
    assert kt.robots.cart_pole().joints == ("slide", "hinge")
    robot = kt.robots.double_pendulum()
    # two rods of 1 kg and 1 m, held out straight
    assert robot.gravity_forces([-np.pi / 2, 0.0]) == pytest.approx([-2 * 9.81, -0.5 * 9.81])


def test_trees_branch_as_asked():
    assert [b.parent for b in kt.robots.tree(7, 2).model.bodies] == [-1, 0, 1, 1, 0, 4, 4]
    assert [b.parent for b in kt.robots.chain(4).model.bodies] == [-1, 0, 1, 2]
    assert [b.parent for b in kt.robots.legged(2, 3).model.bodies] == [-1, 0, 1, -1, 3, 4]
    for bad in (lambda: kt.robots.tree(0), lambda: kt.robots.legged(2, 0)):
        with pytest.raises(ModelError, match="at least one"):
            bad()


def test_the_seed_decides():
    one, same, other = (kt.robots.chain(5, seed=s) for s in (1, 1, 2))
    assert one.model == same.model
    assert one.model != other.model
