"""Sensors beside MuJoCo, at random states and accelerations."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.model.sensors import KINDS
from tests.peers.equipped_mjcf import Pair, close, text
from tests.peers.test_mujoco_touch import ROBOT

TENDON = """<spatial name="string" stiffness="30" damping="1.5"><site site="anchor"/>
<site site="u1"/><geom geom="ball" sidesite="side"/><site site="palm"/></spatial>"""
ACTUATOR = """<position name="servo" joint="e" kp="20" kv="1.5"/>
<general name="winch" tendon="string" dyntype="filter" dynprm="0.05" gainprm="-2" gear="2"/>
<motor name="slide" site="palm" refsite="u2" gear="1 -0.5 0.2 0 0 0"/>"""
SENSORS = {
    "inertial": """<accelerometer site="ft"/><gyro site="ft"/><velocimeter site="tip" cutoff="0.5"/>
    <magnetometer site="palm"/><accelerometer site="anchor"/>""",
    "forces": """<force site="ft"/><torque site="ft"/><force site="palm"/><torque site="u1"/>
    <force site="jet"/>""",
    "parts": """<jointpos joint="s"/><jointvel joint="e"/><tendonpos tendon="string"/>
    <tendonvel tendon="string"/><actuatorpos actuator="slide"/><actuatorvel actuator="servo"/>
    <actuatorfrc actuator="servo"/><jointactuatorfrc joint="e"/>
    <tendonactuatorfrc tendon="string"/><ballquat joint="w"/><ballangvel joint="w"/>
    <e_potential/><e_kinetic/>""",
    "frames": """<framepos objtype="body" objname="hand"/>
    <framepos objtype="xbody" objname="hand" reftype="site" refname="tip"/>
    <framequat objtype="site" objname="palm"/>
    <framequat objtype="geom" objname="ball" reftype="body" refname="drone"/>
    <framexaxis objtype="body" objname="drone"/>
    <frameyaxis objtype="site" objname="ft" reftype="body" refname="drone"/>
    <framezaxis objtype="xbody" objname="lower"/><framelinvel objtype="body" objname="drone"/>
    <frameangvel objtype="site" objname="ft" reftype="body" refname="drone"/>
    <framelinvel objtype="site" objname="ft" reftype="body" refname="drone"/>
    <framelinacc objtype="body" objname="drone"/><frameangacc objtype="site" objname="ft"/>
    <framelinacc objtype="xbody" objname="upper"/>""",
    "subtrees": """<subtreecom body="upper"/><subtreelinvel body="upper"/>
    <subtreeangmom body="hand"/><subtreecom body="world"/><subtreeangmom body="plate"/>""",
}


def mujocos(pair, k):
    """MuJoCo's readings at a state, with a sign of quaternions as ours has it."""
    m, d, peer = pair.m, pair.peer.d, pair.peer
    peer.move_to(pair.q[k], pair.v[k])
    d.ctrl[:], d.act[:] = pair.ctrl[k], pair.act[k]
    mujoco.mj_fwdActuation(m, d)
    d.qacc[:] = peer.T @ pair.a[k] + peer.T_rate_v
    mujoco.mj_rnePostConstraint(m, d)
    for stage in (mujoco.mj_sensorPos, mujoco.mj_sensorVel, mujoco.mj_sensorAcc):
        stage(m, d)
    return d.sensordata.copy()


@pytest.mark.parametrize("family", SENSORS)
def test_sensors_show_what_they_show_in_mujoco(family):
    pair = Pair(text(tendon=TENDON, actuator=ACTUATOR, sensor=SENSORS[family]))
    robot = pair.robot
    theirs = np.array([mujocos(pair, k) for k in range(len(pair.q))])
    ours = robot.sensors(pair.q, pair.v, pair.a, pair.act, pair.ctrl)
    at = 0
    for sensor in robot.model.equipment.sensors:
        own = slice(at, at + sensor.size)
        if sensor.kind.endswith("quat"):
            signs = np.sign((ours[:, own] * theirs[:, own]).sum(-1, keepdims=True))
            theirs[:, own] *= signs
        close(ours[:, own], theirs[:, own])
        at += sensor.size
    assert at == theirs.shape[1]


def test_every_kind_of_sensor_is_compared():
    robot = kt.load(text(tendon=TENDON, actuator=ACTUATOR, sensor="".join(SENSORS.values())))
    elsewhere = {"contact"} | {
        x.kind
        for x in kt.load(ROBOT.replace("FORCES", "").replace("CONE", "")).model.equipment.sensors
    }
    assert {sensor.kind for sensor in robot.model.equipment.sensors} | elsewhere == set(KINDS)


def test_a_sensor_of_an_unknown_kind_is_left_out_with_a_note():
    mjcf = text(sensor='<user name="own" dim="2"/><gyro name="gyro" site="ft"/>')
    robot = kt.load(mjcf)
    assert robot.sensors.names == ("gyro",)
    assert robot.sensors.labels == ("gyro.x", "gyro.y", "gyro.z")


def test_noise_is_added_on_request():
    place = '<framepos objtype="site" objname="ft"/>'
    robot = kt.load(text(sensor='<gyro site="ft" noise="0.1"/>' + place))
    q, still = robot.neutral(), np.zeros(robot.nv)
    quiet = robot.sensors(q, still, still)
    loud = np.array([robot.sensors(q, still, still, noise=k) for k in range(400)]) - quiet
    assert (loud[:, 3:] == 0.0).all()
    assert 0.09 < loud[:, :3].std() < 0.11
    assert set(robot.sensors.named(quiet)) == set(robot.sensors.names)
