"""Tendons, actuators and sensors as data: what is refused, and what editing makes of them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.equipment import FixedTendon, Place, Sensor, TendonTransmission, Watch, motor
from kinetree.errors import ModelError, ModelWarning
from kinetree.model.actuators import Actuator
from tests.equipped_robots import equipped, equipped_arm

ARM = equipped_arm()


def names(robot):
    return {f"{what} {part.name}" for what, part in robot.model.equipment.parts()}


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (motor("m", "elbow"), "actuator 'm'"),
        (motor("motor", "joint1"), "two actuators are named 'motor'"),
        (Actuator(name="w", transmission=TendonTransmission("rope")), "has no tendon 'rope'"),
        (FixedTendon(name="t", coefficients=(("joint9", 1.0),)), "tendon 't'"),
        (Sensor(name="s", kind="gyro", place=Place("nowhere")), "sensor 's'"),
        (
            Sensor(name="s", kind="contact", watch=Watch(second=("nothing",))),
            "sensor 's': the robot has no collider 'nothing'",
        ),
        ("a motor", "a part of kinetree.equipment is expected"),
    ],
)
def test_parts_of_what_does_not_exist_are_refused(part, words):
    with pytest.raises(ModelError, match=words):
        ARM.edit.equip(part)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "smell"}, "kind of sensor"),
        ({"kind": "gyro"}, "refers to a place"),
        ({"kind": "jointpos", "place": Place("link1")}, "refers to a joint"),
        ({"kind": "tendonpos"}, "refers to a tendon"),
    ],
)
def test_a_sensor_refers_to_what_its_kind_needs(given, words):
    with pytest.raises(kt.errors.KinetreeError, match=words):
        Sensor(name="s", **given)


def test_a_force_sensor_needs_to_know_what_it_carries():
    sensor = Sensor(name="s", kind="force", place=Place(ARM.frames[-1]))
    equipment = ARM.model.equipment
    with pytest.raises(ModelError, match="what it carries is not known"):
        replace(ARM.model, equipment=replace(equipment, sensors=(sensor,)))


def test_a_locked_joint_is_a_number_in_a_tendon():
    locked = ARM.edit.lock({"joint1": 0.4})
    assert "actuator motor" not in names(locked)
    assert names(ARM) - names(locked) == {"actuator motor"}
    q = ARM.random(0)
    q[0] = 0.4
    v, a = np.zeros(7), np.zeros(7)
    assert np.allclose(locked.tendons.lengths(q[1:]), ARM.tendons.lengths(q))
    ours = ARM.inverse_dynamics(q, v, a)[1:]
    assert np.allclose(locked.inverse_dynamics(q[1:], v[1:], a[1:]), ours)


def test_what_refers_to_a_lost_part_is_lost_with_it():
    both = ARM.edit.lock({"joint1": 0.0, "joint2": 0.0})
    assert "tendon fixed" not in names(both)
    assert names(ARM.without("tendons")) == names(ARM) - {
        "tendon fixed",
        "tendon string",
        "actuator winch",
        "sensor stretch",
        "sensor pull",
    }
    assert ARM.without("actuators").actuation.names == ()


def test_a_subtree_keeps_its_own_and_refuses_what_reaches_outside():
    with pytest.raises(ModelError, match="connects the subtree"):
        ARM.edit.subtree("link2")
    part = ARM.without("tendons").edit.subtree("link3")
    assert {"sensor imu", "sensor load"} <= names(part)


def test_both_robots_keep_their_equipment_when_one_carries_the_other():
    tool = ARM.frames[-1]
    pair = ARM.edit.attach(ARM, tool, prefix="tool_")
    assert names(pair) == names(ARM) | {x.replace(" ", " tool_", 1) for x in names(ARM)}
    with pytest.raises(ModelError, match="prefix"):
        ARM.edit.attach(equipped(kt.robots.arm()), tool)


def test_a_payload_is_felt_by_the_force_sensor_behind_it():
    tool = ARM.frames[-1]
    loaded = ARM.edit.attach_payload(tool, 2.0)
    q, still = ARM.neutral(), np.zeros(7)
    more = [x.sensors.named(x.sensors(q, still, still))["load"] for x in (ARM, loaded)]
    assert np.isclose(np.linalg.norm(more[1] - more[0]), 2.0 * 9.81)


def test_a_force_sensor_measures_what_its_joint_transmits():
    q, v, a = ARM.random(1), np.full(7, 0.3), np.full(7, 0.2)
    bare = ARM.without("tendons")
    wrench = bare.kernel("joint_wrenches")(q, v, a)[-1]
    load = bare.sensors.named(bare.sensors(q, v, a))["load"]
    assert np.allclose(load, wrench[:3])


def test_equipment_is_part_of_the_digest_but_states_are_not():
    more = ARM.edit.equip(motor("another", "joint3"))
    assert more.model.digest != ARM.model.digest
    state = kt.equipment.Keyframe(name="away")
    assert ARM.edit.equip(state).model.digest == ARM.model.digest


def test_what_is_written_to_mjcf_reads_back(tmp_path):
    pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        ARM.save(file)
    again = kt.load(file)
    assert names(again) == names(ARM) - {"keyframe home"}  # it does not say where all joints are
    rng = np.random.default_rng(0)
    q, (v, a) = ARM.random(rng), rng.normal(size=(2, 7))
    act, ctrl = rng.normal(size=2), rng.normal(size=4)
    given = q, v, act, ctrl
    assert np.allclose(again.actuation.forces(*given), ARM.actuation.forces(*given), atol=1e-9)
    ours, theirs = (x.sensors(q, v, a, act, ctrl) for x in (ARM, again))
    assert np.allclose(ours, theirs, atol=1e-9)
    assert np.allclose(again.inverse_dynamics(q, v, a), ARM.inverse_dynamics(q, v, a), atol=1e-9)


def test_what_urdf_cannot_express_is_named(tmp_path):
    with pytest.warns(ModelWarning, match="tendon fixed"):
        ARM.save(tmp_path / "arm.urdf")


def test_a_subtree_keeps_the_contact_sensors_whose_sides_it_has():
    chain = kt.robots.chain(4)
    balls = [
        kt.geometry.Collider(f"ball{k}", f"link{k}", kt.geometry.Sphere(0.05)) for k in (1, 3, 4)
    ]
    robot = chain.collide(*balls, kt.geometry.ContactPair("ball3", "ball4"))
    watched = {"all": (None, None), "own": (("ball3",), ("ball4",)), "cut": (("ball1",), None)}
    for name, (first, second) in watched.items():
        watch = Watch(first=first, second=second)
        robot = robot.edit.equip(Sensor(name=name, kind="contact", watch=watch))
    part = robot.edit.subtree("link3")
    assert [x.name for x in part.model.equipment.sensors] == ["all", "own"]
