"""What each number of an argument is: its joint and its unit, for every kind of joint."""

import pytest
from hypothesis import given

import kinetree as kt
from kinetree import joints
from kinetree.quantities import QUANTITIES, Kind
from kinetree.quantities.labels import QUATERNION, labels, notes
from tests.random_models import models

EXPECTED = {
    "revolute": (joints.Revolute("x"), ["rad"], ["rad"]),
    "prismatic": (joints.Prismatic("x"), ["m"], ["m"]),
    "screw": (joints.Screw("x", 0.1), ["rad"], ["rad"]),
    "planar": (joints.planar(), ["m", "m", "rad"], ["m", "m", "rad"]),
    "cylindrical": (joints.cylindrical("z"), None, None),
    "ball": (joints.Ball(), list(QUATERNION), ["rad"] * 3),
    "rotation vector": (joints.ExponentialBall(), ["rad"] * 3, ["rad"] * 3),
    "floating": (
        joints.Floating(),
        ["m", "m", "m", *QUATERNION],
        ["m", "m", "m", "rad", "rad", "rad"],
    ),
    "free motion": (
        joints.free_motion(joints.Ball()),
        ["m", "m", "m", *QUATERNION],
        ["m", "m", "m", "rad", "rad", "rad"],
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_coordinates_and_velocities_have_the_units_of_their_joint(name):
    joint, coordinates, displacements = EXPECTED[name]
    a = kt.Assembly("r")
    a.add("b", "base", joint, inertia=[1, 1, 1], mass=1.0, name="j")
    model = a.model()
    if coordinates is None:  # one that turns and slides, in either order
        assert sorted(x.unit for x in labels(model, Kind.CONFIGURATION)) == ["m", "rad"]
        return
    assert [x.unit for x in labels(model, Kind.CONFIGURATION)] == coordinates
    assert [x.unit for x in labels(model, Kind.DISPLACEMENT)] == displacements
    forces = [{"rad": "N m", "m": "N"}[unit] for unit in displacements]
    assert [x.unit for x in labels(model, Kind.FORCE)] == forces
    names = [x.name for x in labels(model, Kind.VELOCITY)]
    count = len(displacements)
    assert names == (["j"] if count == 1 else [f"j[{k}]" for k in range(count)])


def test_labels_follow_the_order_of_coordinates():
    robot = kt.robots.arm().reorder([f"joint{k}" for k in (3, 1, 2, 4, 5, 6, 7)])
    assert [x.name for x in labels(robot.model, Kind.CONFIGURATION)][:2] == ["joint3", "joint1"]


@given(models())
def test_every_number_of_a_random_robot_has_a_label(model):
    for kind in Kind:
        assert len(labels(model, kind)) == kind.length(model)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_argument_and_result_of_a_quantity_has_a_note(quantity):
    row = QUANTITIES[quantity]
    found = notes(kt.robots.quadruped().model, row, ["external['x']"])
    assert set(found) == {*(name for name, _ in row.arguments), *row.results, "external['x']"}
    assert all(found.values())
