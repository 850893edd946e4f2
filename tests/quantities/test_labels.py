"""What each number of an argument is: its joint and its unit, for every kind of joint."""

import pytest
from hypothesis import given

import kinetree as kt
from kinetree import joints
from kinetree.compiler.graph.program import size
from kinetree.quantities import QUANTITIES, Kind
from kinetree.quantities.labels import labels, notes
from tests.equipped_robots import equipped_arm
from tests.random_models import models

QUATERNION = ["j.qx", "j.qy", "j.qz", "j.qw"]
EXPECTED = {
    "revolute": (joints.Revolute("x"), {"j": "rad"}, {"j": "rad"}),
    "prismatic": (joints.Prismatic("x"), {"j": "m"}, {"j": "m"}),
    "screw": (joints.Screw("x", 0.1), {"j": "rad"}, {"j": "rad"}),
    "ball": (
        joints.Ball(),
        dict.fromkeys(QUATERNION, ""),
        dict.fromkeys(["j.wx", "j.wy", "j.wz"], "rad"),
    ),
    "floating": (
        joints.Floating(),
        dict.fromkeys(["j.x", "j.y", "j.z"], "m") | dict.fromkeys(QUATERNION, ""),
        dict.fromkeys(["j.vx", "j.vy", "j.vz"], "m")
        | dict.fromkeys(["j.wx", "j.wy", "j.wz"], "rad"),
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_elements_have_the_names_and_the_units_of_their_joint(name):
    joint, coordinates, displacements = EXPECTED[name]
    a = kt.Assembly("r")
    a.add("b", "base", joint, inertia=[1, 1, 1], mass=1.0, name="j")
    model = a.model()
    assert dict(labels(model, Kind.CONFIGURATION)) == coordinates
    assert dict(labels(model, Kind.DISPLACEMENT)) == displacements
    forces = [{"rad": "N m", "m": "N"}[unit] for unit in displacements.values()]
    assert [x.unit for x in labels(model, Kind.FORCE)] == forces
    rates = [f"{unit}/s" if unit else "1/s" for unit in coordinates.values()]
    assert [x.unit for x in labels(model, Kind.COORDINATE_RATE)] == rates


def test_a_time_is_one_number():
    assert labels(kt.robots.arm().model, Kind.TIME) == [("time", "s")]


def test_labels_follow_the_order_of_coordinates():
    robot = kt.robots.arm().edit.reorder([f"joint{k}" for k in (3, 1, 2, 4, 5, 6, 7)])
    assert [x.name for x in labels(robot.model, Kind.CONFIGURATION)][:2] == ["joint3", "joint1"]


@given(models())
def test_every_number_of_a_random_robot_has_a_label(model):
    for kind in Kind:
        assert len(labels(model, kind)) == size(kind.shape(model))


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_argument_and_result_of_a_quantity_has_a_note(quantity):
    row = QUANTITIES[quantity]
    robot = equipped_arm() if row.equipped else kt.robots.quadruped()
    found = notes(robot.model, row, {"external['x']": "a wrench"})
    assert set(found) == {*(name for name, _ in row.arguments), *row.results, "external['x']"}
    assert all(found.values())
