"""Actuators, sensors and keyframes of a robot, and simulations under controls."""

import re
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError, UnknownNameError
from kinetree.scalar import exp
from tests.equipped_robots import equipped_arm

ARM = equipped_arm()
START = ARM.neutral(), np.zeros(7)


def test_names_and_ranges():
    actuation = ARM.actuation
    assert actuation.names == ("motor", "servo", "winch", "jet")
    assert (actuation.nu, actuation.na, actuation.activations) == (4, 2, ("winch", "jet"))
    assert actuation.ranges.control[0].tolist() == [-1.0, 1.0]
    assert np.isinf(actuation.ranges.force).all()
    assert actuation.ranges.activation.shape == (2, 2)


def test_a_motor_and_a_servo_do_what_they_say():
    tau = ARM.actuation.forces(*START, [0.0, 0.0], [2.0, 0.5, 0.0, 0.0])
    assert np.allclose(tau[:2], [3.0, 2.5])  # the control is bounded by one


def test_a_batch_broadcasts():
    tau = ARM.actuation.forces(*START, np.zeros((3, 1, 2)), np.zeros((5, 4)))
    assert tau.shape == (3, 5, 7)


def test_activations_are_asked_for_where_there_are_some():
    with pytest.raises(KinetreeError, match="act is None: the activations of winch, jet"):
        ARM.actuation.forces(*START, None, np.zeros(4))
    motors = kt.robots.arm().edit.equip(kt.equipment.motor("m", "joint1"))
    with pytest.raises(KinetreeError, match="act has 2 numbers: no actuator"):
        motors.actuation.forces(*START, [1.0, 2.0], [1.0])
    assert motors.actuation.forces(*START, None, [2.0])[0] == 2.0


@pytest.mark.parametrize("call", ["actuation.lengths", "tendons.lengths", "sensors.readings"])
def test_a_robot_without_parts_says_so(call):
    door, method = call.split(".")
    arguments = [START[0]] if method == "lengths" else [*START, np.zeros(7), None, None]
    with pytest.raises(KinetreeError, match=r"has no (actuators|tendons|sensors)"):
        getattr(getattr(kt.robots.arm(), door), method)(*arguments)


def test_constant_controls_are_the_same_as_a_controller_that_returns_them():
    ctrl, settings = [0.5, 0.3, 1.0, 0.2], {"time": 0.1, "record": ["memory"]}
    given = ARM.simulate(*START, ctrl=ctrl, act=[0.1, 0.2], **settings)
    law = ARM.actuation.law(lambda t, q, v, p: ctrl, act=[0.1, 0.2])
    asked = ARM.simulate(*START, law, **settings)
    assert np.allclose(given.q, asked.q, atol=1e-12)
    assert given["memory"].shape == (101, 2)
    short = ARM.actuation.law(lambda t, q, v: ctrl, act=[0.1, 0.2])  # without inputs p
    assert (ARM.simulate(*START, short, **settings).q == asked.q).all()
    with pytest.raises(KinetreeError, match=r"the controller is called with \(t, q, v, p\)"):
        ARM.simulate(*START, ARM.actuation.law(lambda t: ctrl), **settings)


def test_an_exact_filter_is_exact_and_the_other_is_its_tangent():
    moved = ARM.simulate(*START, ctrl=[0, 0, 1.0, 1.0], time=0.1, record=["memory"])
    winch, jet = moved["memory"][-1]
    assert np.isclose(jet, 1.0 - np.exp(-0.1 / 0.2), atol=1e-12)
    assert np.isclose(winch, 1.0 - (1.0 - 1e-3 / 0.1) ** 100, atol=1e-12)


def test_a_controller_with_a_memory_keeps_it_beside_the_activations():
    class Counter:
        memory = np.zeros(1)

        def __call__(self, t, q, v, p, memory):
            return [memory[0], 0.0, 0.0, 0.0], [exp(0.0)]

    moved = ARM.simulate(*START, ARM.actuation.law(Counter()), time=0.1, record=["memory"])
    assert np.allclose(moved["memory"][-1], [0.1, 0.0, 0.0])


def test_rollouts_take_controls_as_their_inputs_and_differentiate_by_them():
    roll = ARM.rollout(ARM.actuation.law(), steps=20)
    ctrl = np.array([0.2, 0.1, 0.3, 0.4])
    moved = roll(*START, ctrl)
    assert np.allclose(moved.q, ARM.simulate(*START, ctrl=ctrl, time=0.02).q)
    found = roll.gradient(*START, {"q": np.eye(7)[0]}, ctrl)["p"]
    ends = [roll(*START, ctrl + s * np.eye(4)[2]).q[-1, 0] for s in (1e-5, -1e-5)]
    assert np.isclose(found[2], (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ctrl": [1.0, 2.0]}, ShapeError, "ctrl has shape"),
        ({"ctrl": np.zeros(4), "act": [1.0]}, ShapeError, "act="),
        ({"act": [1.0, 2.0]}, KinetreeError, "without ctrl"),
        ({"ctrl": np.zeros(4), "p": [1.0]}, KinetreeError, "together with p"),
        ({"ctrl": np.zeros(4), "controller": lambda *x: 0}, KinetreeError, "together with a"),
        ({"controller": ARM.actuation.law(lambda *x: [1.0])}, KinetreeError, "returns 1 controls"),
    ],
)
def test_wrong_controls_are_refused_by_name(given, error, words):
    with pytest.raises(error, match=words):
        ARM.simulate(*START, time=0.01, **given)


def test_a_robot_without_actuators_takes_no_controls():
    with pytest.raises(KinetreeError, match="has no actuators"):
        kt.robots.arm().simulate(*START, ctrl=[1.0], time=0.01)


def test_keyframes_are_a_mapping():
    home = ARM.keyframes["home"]
    assert home.q[0] == 0.4
    assert not home.q[1:].any()
    assert (len(home.act), len(home.ctrl), len(ARM.keyframes)) == (2, 4, 1)
    with pytest.raises(UnknownNameError, match="home"):
        ARM.keyframes["hom"]


def test_keyframes_follow_the_order_of_coordinates():
    turned = ARM.edit.reorder([f"joint{k}" for k in (3, 1, 2, 4, 5, 6, 7)])
    assert turned.keyframes["home"].q[1] == 0.4


def test_readings_are_split_by_name():
    shown = ARM.sensors(*START, np.zeros(7))
    assert {name: len(x) for name, x in ARM.sensors.named(shown).items()} == {
        "imu": 3,
        "load": 3,
        "stretch": 1,
        "pull": 1,
    }
    with pytest.raises(ShapeError, match="readings have shape"):
        ARM.sensors.named(shown[:3])
    with pytest.raises(KinetreeError, match="noise="):
        ARM.sensors(*START, np.zeros(7), noise="much")


def test_sensors_are_recorded_as_they_show_at_each_state():
    ctrl = [0.5, 0.3, 1.0, 0.2]
    moved = ARM.simulate(
        *START, ctrl=ctrl, time=0.02, record=["memory", "sensors", "tendon_lengths"]
    )
    a = ARM.forward_dynamics(moved.q, moved.v, moved.tau)
    shown = ARM.sensors(moved.q, moved.v, a, moved["memory"], ctrl)
    assert np.allclose(moved["sensors"], shown, atol=1e-9)
    assert np.allclose(moved["tendon_lengths"], ARM.tendons.lengths(moved.q))
    still = ARM.simulate(*START, time=0.01, record=["sensors"])
    assert still["sensors"].shape == (11, 8)
    with pytest.raises(KinetreeError, match="has no sensors"):
        kt.robots.arm().simulate(*START, time=0.01, record=["sensors"])


STIFF = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
<geom size="0.1" pos="0 0 -0.5" mass="1"/></body></worldbody><actuator>
<position name="servo" joint="j" kp="KP" kv="KV"/></actuator></mujoco>"""


@pytest.mark.parametrize(("kp", "kv"), [(1e6, 0.0), (10.0, 2e3), (2e5, 300.0)])
def test_gains_that_are_unstable_at_a_step_are_named_with_one_that_would_do(kp, kv):
    pytest.importorskip("mujoco")
    robot = kt.load(STIFF.replace("KP", str(kp)).replace("KV", str(kv)), contact=False)
    state = {"time": 0.2, "ctrl": [0.1], "method": "euler"}
    with pytest.warns(kt.errors.SimulationWarning) as said:
        robot.simulate([0.0], [0.0], dt=0.004, **state)
    warning = next(str(x.message) for x in said if "unstable" in str(x.message))
    assert "'servo'" in warning
    step = float(re.search(r"with dt=([\d.e-]+)", warning)[1])
    assert step < 0.004
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = robot.simulate([0.0], [0.0], dt=step * 0.9, **state | {"time": step * 90})
    assert np.abs(motion.q).max() < 1.0
