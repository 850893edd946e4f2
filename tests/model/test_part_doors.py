"""Whatever is given to a constraint, shape, tendon, actuator or sensor is taken or refused."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import constraints as c
from kinetree import equipment as e
from kinetree import geometry as g
from kinetree.model.checked import number
from tests.doors import ROBOT, arguments_of, wrong_answers

GROUND = ROBOT.collide(
    g.Collider("floor", None, g.Plane()), g.Collider("ball", "tip", g.Sphere(0.1))
)
JOINT = e.JointTransmission("arm_joint")


def equip(part):
    ROBOT.edit.equip(part)


def drive(**given):
    equip(e.Actuator(name="drive", **{"transmission": JOINT} | given))


def run_along(part):
    equip(e.SpatialTendon(name="tendon", path=(e.Via("arm"), part, e.Via("tip"))))


def shape(solid):
    ROBOT.collide(g.Collider("shape", "tip", solid))


CONSTRAINT = {"name": "held", "frame": "tip"}
TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
PARTS = [
    (c.LoopJoint, CONSTRAINT | {"joint": kt.joints.Ball()}, ROBOT.constrain),
    (c.HeldFrame, CONSTRAINT, ROBOT.constrain),
    (c.Rod, CONSTRAINT | {"length": 0.3}, ROBOT.constrain),
    (c.Coupling, {"name": "gear", "polynomials": {"arm_joint": [0, 1]}}, ROBOT.constrain),
    (c.KnifeEdge, CONSTRAINT, ROBOT.constrain),
    (c.RollingWheel, CONSTRAINT | {"radius": 0.1}, ROBOT.constrain),
    (g.Collider, {"name": "new", "frame": "tip", "shape": g.Sphere(0.1)}, ROBOT.collide),
    (g.ContactPair, {"first": "floor", "second": "ball"}, GROUND.collide),
    (g.Box, {"half_edges": (0.1, 0.2, 0.3)}, shape),
    (g.Capsule, {"radius": 0.1, "half_length": 0.2}, shape),
    (g.ConvexMesh, {"vertices": TETRAHEDRON}, shape),
    (g.HeightField, {"heights": [[0, 0], [0, 1]], "half_x": 1.0, "half_y": 1.0}, shape),
    (e.motor, {"name": "motor", "joint": "arm_joint"}, equip),
    (e.position_servo, {"name": "servo", "joint": "arm_joint", "kp": 2.0}, equip),
    (e.velocity_servo, {"name": "servo", "joint": "arm_joint", "kv": 2.0}, equip),
    (e.Actuator, {"name": "drive", "transmission": JOINT}, equip),
    (e.JointTransmission, {"joint": "arm_joint"}, lambda x: drive(transmission=x)),
    (
        e.SliderCrank,
        {"crank": "tip", "slider": "arm", "rod": 0.2},
        lambda x: drive(transmission=x),
    ),
    (e.Affine, {}, lambda x: drive(gain=x)),
    (e.MuscleGain, {"force": 9.0, "length_range": (0.1, 0.5)}, lambda x: drive(gain=x)),
    (e.Filter, {"time": 0.1}, lambda x: drive(activation=x)),
    (e.FixedTendon, {"name": "tendon", "coefficients": [("arm_joint", 1.0)]}, equip),
    (e.SpatialTendon, {"name": "tendon", "path": [e.Via("arm"), e.Via("tip")]}, equip),
    (e.Wrap, {"kind": "sphere", "radius": 0.1, "place": e.Place("tip")}, run_along),
    (e.Pulley, {"divisor": 2.0}, run_along),
    (e.Sensor, {"name": "sensor", "kind": "jointpos", "of": "arm_joint"}, equip),
    (e.Keyframe, {"name": "home"}, equip),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "given", "add"), PARTS, ids=[p[0].__name__ for p in PARTS])
def test_an_odd_value_is_taken_or_refused_by_an_error_of_ours(make, given, add):
    def added(**values):
        add(make(**values))

    added(**given)
    refused = {"words": ("",)}  # some errors name what the part refers to instead
    wrong = [x for a in arguments_of(make) for x in wrong_answers(added, given, a, **refused)]
    assert wrong == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: e.motor("m", "arm_joint", "1"), r"JointTransmission: gear\[0\] must be a finite"),
        (lambda: e.Filter(time=np.nan), "Filter: time must be a finite number, got nan"),
        (
            lambda: e.FixedTendon(name="t", coefficients=[("arm_joint", None)]),
            r"FixedTendon 't': coefficients\[0\]\[1\] must be a finite number, got None",
        ),
        (lambda: e.Actuator(name="a", transmission="arm_joint"), "must be a Transmission, got"),
        (lambda: e.Sensor(name="s", kind="gyro", place="tip"), "'s': place must be a Place"),
        (lambda: e.SpatialTendon(name="t", path=["tip"]), "path.0. must be a Via or a Wrap or"),
        (lambda: e.Wrap("cone", 0.1, e.Place("tip")), "has no kind 'cone': valid are 'sphere'"),
        (lambda: e.Pulley(0.0), "divisor must be above zero, got 0.0"),
    ],
)
def test_the_message_names_the_part_and_its_argument(make, message):
    with pytest.raises(kt.errors.KinetreeError, match=message):
        make()


def test_lists_become_tuples_and_numbers_floats():
    tendon = e.FixedTendon(name="t", coefficients=[["arm_joint", 2]], rest=[0, np.float32(0.5)])
    assert tendon.coefficients == (("arm_joint", 2.0),)
    assert tendon.rest == (0.0, 0.5)
    assert {type(x) for x in tendon.rest} == {float}
    assert e.Sensor(name="s", kind="jointpos", of="arm_joint").cutoff == np.inf


def test_scalars_that_are_no_numbers_are_kept():
    sympy = pytest.importorskip("sympy")
    k = sympy.Symbol("k")
    assert number("k", k) is k
    assert e.Affine(k).constant is k
