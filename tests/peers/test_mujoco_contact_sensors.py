"""Sensors of contacts beside MuJoCo, at states where shapes touch."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.peers.equipped_mjcf import close
from tests.peers.mujoco_oracle import Peer

STATES = 100
ALL = "found force torque dist pos normal tangent"
ROBOT = """<mujoco><option timestep="0.002" CONE/><worldbody>
<geom name="floor" type="plane" size="3 2 .1"/>
<site name="low" type="box" size="1 1 .03"/><site name="ball" size=".3" pos=".1 0 .1"/>
<body name="base" pos="0 0 .2"><freejoint name="free"/>
 <geom name="trunk" type="sphere" size=".1" mass="2" condim="6" friction="1 .02 .01"/>
 <body name="leg" pos=".25 0 0"><joint name="hip" axis="0 1 0"/>
  <geom name="shin" type="capsule" fromto="0 0 0 0 0 -.1" size=".06" mass=".3" condim="4"/>
  <body name="foot" pos="0 0 -.1"><joint name="ankle" axis="0 1 0"/>
   <geom name="sole" type="sphere" size=".05" pos=".03 0 0" mass=".1" condim="1"/></body></body>
</body>
<body name="load" pos="0 .1 .35"><freejoint name="loose"/>
 <geom name="can" type="capsule" size=".08 .1" mass=".4"/></body>
</worldbody><sensor>SENSORS</sensor></mujoco>"""
CONES = {"pyramidal": "", "elliptic": 'cone="elliptic" impratio="2"'}
SENSORS = (
    "",
    'geom1="floor"',
    'geom2="floor" num="3"',
    'geom1="trunk" num="2" reduce="mindist"',
    'body1="leg" num="2" reduce="maxforce"',
    'subtree1="base" geom2="floor" reduce="netforce"',
    'subtree1="base" num="4"',
    'reduce="netforce"',
    'geom1="can" body2="base" num="2"',
    'site="low" num="3" reduce="maxforce"',
    'site="ball" geom2="floor"',
    'site="ball" body2="load" num="2" reduce="mindist" cutoff="1"',
)


def sensors(*which):
    return "".join(f'<contact data="{ALL}" {x}/>' for x in which)


class Touching:
    """A robot that touches the ground and a loose body, here and in MuJoCo."""

    def __init__(self, mjcf, count=STATES):
        self.robot, self.m = kt.load(mjcf), mujoco.MjModel.from_xml_string(mjcf)
        self.peer = Peer(self.robot, self.m)
        self.m.opt.disableflags = 0
        self.m.opt.iterations = self.m.opt.ls_iterations = 200
        self.m.opt.tolerance = self.m.opt.ls_tolerance = 1e-14
        rng = np.random.default_rng(2)
        self.q = np.tile(self.robot.neutral(), (count, 1))
        tangent = 0.3 * rng.normal(size=(count, self.robot.nv))
        for body, at in zip(self.robot.model.bodies, self.robot.model.v_slices, strict=True):
            if body.joint.nv == 6:
                tangent[:, at.start : at.start + 3] *= [0.3, 0.3, 0.2]
        self.q = self.robot.integrate(self.q, tangent)
        self.q[:, 2] -= 0.1
        self.v = 0.5 * rng.normal(size=(count, self.robot.nv))

    def forward(self):
        """Accelerations and readings of MuJoCo."""
        a, shown = [], []
        for q, v in zip(self.q, self.v, strict=True):
            self.peer.move_to(q, v)
            mujoco.mj_forward(self.m, self.peer.d)
            d = self.peer.d
            a.append(np.linalg.lstsq(self.peer.T, d.qacc - self.peer.T_rate_v, rcond=None)[0])
            shown.append(d.sensordata.copy())
        return np.array(a), np.array(shown)


@pytest.mark.parametrize("cone", CONES)
def test_contacts_are_sensed_as_in_mujoco(cone):
    text = ROBOT.replace("CONE", CONES[cone]).replace("SENSORS", sensors(*SENSORS))
    pair = Touching(text)
    a, theirs = pair.forward()
    ours = pair.robot.sensors(pair.q, pair.v, a)
    assert (theirs[:, 0] >= 3).sum() > 10, "many states have several contacts"
    at = 0
    for sensor in pair.robot.model.equipment.sensors:
        own = slice(at, at + sensor.size)
        assert np.abs(theirs[:, own]).max() > 0.0
        close(ours[:, own], theirs[:, own])
        at += sensor.size
    assert at == theirs.shape[1]


def test_numbers_of_contact_sensors_have_names():
    text = ROBOT.replace("CONE", "").replace(
        "SENSORS",
        '<contact name="skin" geom1="trunk" data="found force"/>'
        '<contact name="two" geom1="trunk" data="dist" num="2"/>',
    )
    names = ("skin.found", "skin.force.normal", "skin.force.tangent1", "skin.force.tangent2")
    assert kt.load(text).sensors.labels == (*names, "two.0.dist", "two.1.dist")


def test_a_robot_without_contacts_senses_none():
    text = ROBOT.replace("CONE", "").replace("SENSORS", sensors(*SENSORS[:3]))
    robot = kt.load(text, contact=False)
    still = np.zeros(robot.nv)
    assert (robot.sensors(robot.neutral(), still, still) == 0.0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fields": ("force", "color")}, "color"),
        ({"reduce": "sum"}, "sum"),
        ({"slots": 0}, "at least one field of one contact"),
        ({"fields": ()}, "at least one field of one contact"),
    ],
)
def test_a_bad_watch_is_refused(given, message):
    with pytest.raises(kt.errors.KinetreeError, match=message):
        kt.equipment.Watch(**given)


def test_a_contact_sensor_needs_a_watch():
    with pytest.raises(kt.errors.ModelError, match="has a `watch`"):
        kt.equipment.Sensor(name="skin", kind="contact")
