"""Links that stick to what they touch, beside MuJoCo."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.peers.equipped_mjcf import close, moment_arms
from tests.peers.mujoco_oracle import Peer
from tests.peers.test_mujoco_contact_sensors import CONES, ROBOT, Touching

ACTUATORS = """<actuator><adhesion name="paw" body="foot" ctrlrange="0 1" gain="20"/>
<adhesion name="belly" body="base" ctrlrange="0 1" gain="5" forcerange="0 3"/>
<adhesion name="lawn" body="world" ctrlrange="0 1" gain="2"/>
<motor name="hip" joint="hip"/></actuator>"""
MARGIN = '<default><geom margin=".01" gap=".05"/></default>'


def mjcf(cone, defaults="", sensors=""):
    text = ROBOT.replace("CONE", CONES[cone]).replace("SENSORS", sensors)
    return text.replace("<worldbody>", f"{defaults}<worldbody>").replace(
        "</worldbody>", f"</worldbody>{ACTUATORS}"
    )


@pytest.mark.parametrize("defaults", ["", MARGIN], ids=["no margin", "margin and gap"])
def test_a_link_sticks_as_in_mujoco(defaults):
    pair = Touching(mjcf("pyramidal", defaults))
    robot, m, d = pair.robot, pair.m, pair.peer.d
    ctrl = np.random.default_rng(0).uniform(-0.2, 1.2, size=(len(pair.q), m.nu))
    arms, forces = [], []
    for q, v, u in zip(pair.q, pair.v, ctrl, strict=True):
        pair.peer.move_to(q, v)
        d.ctrl[:] = u
        mujoco.mj_forward(m, d)
        arms.append(moment_arms(m, d) @ pair.peer.T)
        forces.append(pair.peer.T.T @ d.qfrc_actuator)
    assert (np.abs(arms).max(axis=2) > 0.0).sum(axis=0).min() > 5, "each sticks in some states"
    close(robot.actuation.moments(pair.q), np.array(arms))
    close(robot.actuation.forces(pair.q, pair.v, None, ctrl), np.array(forces))


def test_a_second_of_sticking_is_mujocos():
    text = mjcf("elliptic")
    robot, m = kt.load(text), mujoco.MjModel.from_xml_string(text)
    m.opt.iterations, m.opt.tolerance = 200, 1e-14
    ctrl = np.array([1.0, 0.5, 0.0, 0.3])
    q0, v0 = robot.neutral(), np.zeros(robot.nv)
    for body, at in zip(robot.model.bodies, robot.model.q_slices, strict=True):
        if body.joint.nv == 6:
            q0[at][:3] = [0.0, 0.0, 0.15] if body.name == "base" else [0.0, 3.0, 0.2]
    moved = robot.simulate(q0, v0, time=1.0, dt=m.opt.timestep, ctrl=ctrl)
    peer, end = Peer(robot, m), Peer(robot, m)
    m.opt.disableflags = 0
    peer.move_to(q0, v0)
    peer.d.ctrl[:] = ctrl
    for _ in range(round(1.0 / m.opt.timestep)):
        mujoco.mj_step(m, peer.d)
    end.move_to(moved.q[-1], moved.v[-1])
    assert np.abs(end.d.qpos - peer.d.qpos).max() < 1e-6


def test_nothing_sticks_without_contacts():
    robot = kt.load(mjcf("pyramidal"), contact=False)
    moments = robot.actuation.moments(robot.neutral())
    assert (moments[:3] == 0.0).all()
    assert np.abs(moments[3]).max() == 1.0


def test_what_sticks_is_written(tmp_path):
    robot = kt.load(mjcf("pyramidal"))
    robot.save(tmp_path / "again.xml")
    again = kt.load(tmp_path / "again.xml")
    assert again.actuation.names == robot.actuation.names
    q = robot.neutral()
    q[2] -= 0.12
    close(again.actuation.moments(q), robot.actuation.moments(q))
