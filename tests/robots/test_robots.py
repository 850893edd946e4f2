"""The built-in robots: physical, of the size they say, with the branches asked for."""

import numpy as np
import pytest
import tools.robot_files as robot_files

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.robots.files import FOLDER
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

MECHANISMS = {
    "four-bar": (kt.robots.four_bar, 1),
    "slider-crank": (kt.robots.slider_crank, 1),
    "row of four-bars": (lambda base="fixed": kt.robots.four_bars(3, base), 1),
    "Bricard's mechanism": (kt.robots.bricard, 1),
    "squeezer": (kt.robots.squeezer, 1),
    "hexapod": (kt.robots.hexapod, 6),
    "leg with a parallel ankle": (kt.robots.parallel_ankle, 4),
}
"""Robots with loops, and how many degrees of freedom the loops leave."""


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


@pytest.mark.parametrize("name", [*ROBOTS, *MECHANISMS])
def test_every_body_could_exist(name):
    make = ROBOTS[name] if name in ROBOTS else MECHANISMS[name][0]
    for body in make().model.bodies:
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


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_are_closed_at_neutral_and_leave_the_freedoms_they_say(name):
    make, freedoms = MECHANISMS[name]
    robot = make()
    q = robot.neutral()
    np.testing.assert_allclose(robot.constraints.errors(q), 0.0, atol=EXACT)
    J = robot.constraints.jacobian(q)
    assert robot.nv - np.linalg.matrix_rank(J, tol=1e-9) == freedoms


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_float(name):
    robot = MECHANISMS[name][0]("floating")
    fixed = MECHANISMS[name][0]()
    assert robot.nv == fixed.nv + 6
    assert robot.constraints.names == fixed.constraints.names


def test_a_row_of_four_bars_needs_one():
    with pytest.raises(ModelError, match="at least one four-bar"):
        kt.robots.four_bars(0)


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


@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_the_files_of_the_package_are_those_that_our_writers_write(name):
    robot = kt.load(kt.robots.file(name))
    built_in = getattr(kt.robots, name)("fixed")
    assert robot.labels == built_in.labels
    q = built_in.random(0)
    np.testing.assert_allclose(robot.mass_matrix(q), built_in.mass_matrix(q), atol=1e-12)
    for file, text in robot_files.files().items():
        assert (FOLDER / file).read_text() == text


def test_an_unknown_file_is_refused_by_name():
    with pytest.raises(kt.errors.KinetreeError, match="valid are 'arm', 'quadruped'"):
        kt.robots.file("panda")


def test_the_mesh_of_the_arm_is_drawn():
    pytest.importorskip("trimesh")
    from kinetree.show.view.parts import parts

    found = parts(kt.load(kt.robots.file("arm")).model)
    assert not found.failed
    assert sum(p.source == "mesh" for p in found.surfaces) == 8  # four links in two colours
