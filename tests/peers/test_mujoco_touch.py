"""Sensors of touch, rays and limits beside MuJoCo; limits and friction of tendons in contact."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.robot.load import check_file
from tests.peers.equipped_mjcf import close
from tests.peers.mujoco_oracle import Peer

STATES = 100
FREE = 'contype="0" conaffinity="0"'
ROBOT = f"""<mujoco><compiler angle="radian"/><option timestep="0.002" CONE/>
<worldbody><geom name="floor" type="plane" size="3 2 .1"/>
<geom type="box" size=".1 1 1" pos="1.2 0 .5" {FREE}/>
<geom type="cylinder" size=".2 .3" pos="-.8 .5 .3" euler=".3 .2 0" {FREE}/>
<geom type="capsule" size=".1 .3" pos=".3 -.8 .6" euler="1 .3 0" {FREE}/>
<geom type="ellipsoid" size=".2 .1 .3" pos=".2 .9 .4" euler="1 .3 0" {FREE}/>
<geom type="sphere" size=".2" pos="-.6 -.7 .9" {FREE}/>
<geom type="sphere" size="20" rgba="1 1 1 0" {FREE}/>
<body name="base" pos="0 0 .3"><freejoint name="free"/>
 <geom type="box" size=".2 .15 .05" mass="2" {FREE}/>
 <site name="r1" euler="1.5 .2 0"/><site name="r2" euler="-1.3 1.2 0"/>
 <site name="r3" euler="3 .1 0"/><site name="r4" euler=".2 1.5 0"/><site name="r5" euler="1 -1 1"/>
 <body name="leg" pos=".15 0 -.05">
  <joint name="hip" axis="0 1 0" range="-.3 .3" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass=".3"/><site name="ft"/>
  <site name="ball" pos="0 0 -.2" size=".04"/>
  <site name="cuff" type="box" pos="0 0 -.1" size=".04 .04 .1"/>
  <body name="foot" pos="0 0 -.2"><joint name="ankle" axis="0 1 0" range="-.5 .5" margin=".02"/>
   <geom type="sphere" size=".035" mass=".1"/><site name="sole" type="cylinder" size=".05 .05"/>
  </body></body>
 <body name="leg2" pos="-.15 0 -.05"><joint name="hip2" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass=".3"/>
  <site name="knob" pos=".05 0 -.1"/></body>
</body></worldbody>
<tendon><fixed name="t" range="-.1 .1" margin=".01" frictionloss=".2" solreflimit=".03 .8">
 <joint joint="hip" coef="1"/><joint joint="hip2" coef="-.7"/></fixed>
 <spatial name="s" range="0 .3" frictionloss=".1" solimpfriction=".8 .9 .01">
 <site site="cuff"/><site site="knob"/></spatial></tendon>
<sensor><touch site="ball"/><touch site="cuff"/><touch site="sole" cutoff="100"/>
<rangefinder site="r1"/><rangefinder site="r2" cutoff="0.5"/><rangefinder site="r3"/>
<rangefinder site="r4"/><rangefinder site="r5"/>
<jointlimitpos joint="hip"/><jointlimitvel joint="hip"/><jointlimitfrc joint="hip"/>
<jointlimitfrc joint="ankle"/><tendonlimitpos tendon="t"/><tendonlimitvel tendon="t"/>
<tendonlimitfrc tendon="t"/><tendonlimitpos tendon="s"/><tendonlimitfrc tendon="s"/>
FORCES</sensor></mujoco>"""
CONES = {"pyramidal": "", "elliptic": 'cone="elliptic" impratio="2"'}


class Standing:
    """A robot that touches the ground, here and in MuJoCo, at states where it does."""

    def __init__(self, mjcf):
        self.robot, self.m = kt.load(mjcf), mujoco.MjModel.from_xml_string(mjcf)
        self.peer = Peer(self.robot, self.m)
        self.m.opt.disableflags = 0
        self.m.opt.iterations = self.m.opt.ls_iterations = 200
        self.m.opt.tolerance = self.m.opt.ls_tolerance = 1e-14
        rng = np.random.default_rng(1)
        self.q = np.zeros((STATES, self.robot.nq))
        self.q[:, :3] = rng.normal(size=(STATES, 3)) * [0.3, 0.3, 0.02] + [0, 0, 0.25]
        turned = np.c_[0.15 * rng.normal(size=(STATES, 3)), np.ones(STATES)]
        self.q[:, 3:7] = turned / np.linalg.norm(turned, axis=1)[:, None]
        self.q[:, 7:] = 0.3 * rng.normal(size=(STATES, self.robot.nq - 7))
        self.v = 0.5 * rng.normal(size=(STATES, self.robot.nv))

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


@pytest.fixture(scope="module")
def standing():
    return Standing(ROBOT.replace("CONE", CONES["pyramidal"]).replace("FORCES", ""))


def test_touch_rays_and_limits_are_sensed_as_in_mujoco(standing):
    a, theirs = standing.forward()
    close(standing.robot.sensors(standing.q, standing.v, a), theirs)
    seen = (theirs != 0.0).sum(axis=0)
    assert (seen > 1).all(), "every sensor shows something"
    assert (theirs[:, 3:8] == -1.0).any()


def test_force_sensors_feel_contacts():
    mjcf = ROBOT[: ROBOT.index("<tendon>")] + "<sensor>FORCES</sensor></mujoco>"
    forces = '<force site="ft"/><torque site="ft"/><accelerometer site="r1"/>'
    pair = Standing(mjcf.replace("CONE", CONES["elliptic"]).replace("FORCES", forces))
    a, theirs = pair.forward()
    assert np.abs(theirs).max() > 50.0
    close(pair.robot.sensors(pair.q, pair.v, a), theirs)


def test_limits_and_friction_of_tendons_act_in_contact_as_in_mujoco(standing):
    a, _ = standing.forward()
    tau = np.zeros(standing.v.shape)
    ours = standing.robot.forward_dynamics(standing.q, standing.v, tau)
    assert np.abs(ours - a).max() < 1e-6 * np.abs(a).max()


SEEN = """<mujoco><asset>
<mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .3 .3 .6"/>
<hfield name="hills" nrow="4" ncol="5" size="1 .8 .5 .2"
 elevation="0 1 0 1 .4  .5 .2 .3 .9 .1  0 0 .1 1 .7  .2 .8 .6 0 .5"/></asset>
<worldbody><geom type="mesh" mesh="wedge" pos=".5 .4 .9" euler="20 30 40"/>
<geom type="hfield" hfield="hills" pos="-.2 0 0" euler="5 0 10"/>
<body><freejoint/><geom type="mesh" mesh="wedge"/>EYES
<body pos="0 0 -.5"><joint axis="1 0 0"/><geom size=".1"/></body></body></worldbody>
<sensor>RAYS</sensor></mujoco>"""


def test_rays_meet_meshes_and_height_fields_as_in_mujoco():
    eyes, rays = zip(
        *(
            (f'<site name="e{k}" euler="{50 * k} {70 * k} 0"/>', f'<rangefinder site="e{k}"/>')
            for k in range(8)
        ),
        strict=True,
    )
    mjcf = SEEN.replace("EYES", "".join(eyes)).replace("RAYS", "".join(rays))
    robot, m = kt.load(mjcf), mujoco.MjModel.from_xml_string(mjcf)
    peer, rng, shown = Peer(robot, m), np.random.default_rng(3), []
    q = robot.random(rng, STATES)
    q[:, :3] = rng.uniform([-1.2, -0.8, -0.3], [1.2, 0.8, 1.5], (STATES, 3))
    still = np.zeros((STATES, robot.nv))
    for x in q:
        peer.move_to(x, still[0])
        mujoco.mj_sensorPos(m, peer.d)
        shown.append(peer.d.sensordata.copy())
    theirs = np.array(shown)
    assert ((theirs > 0.0).sum(axis=0) > STATES / 5).all()
    assert (theirs == -1.0).any()
    close(robot.sensors(q, still, still), theirs)


def test_a_ray_meets_the_hull_of_a_mesh_with_many_triangles():
    place = np.random.default_rng(0).normal(size=(1500, 3))
    ball = " ".join(f"{x:.6f}" for x in (place.T / np.linalg.norm(place, axis=1)).T.ravel())
    mjcf = f"""<mujoco><asset><mesh name="ball" vertex="{ball}"/></asset><worldbody>
    <geom name="moon" type="mesh" mesh="ball" pos="0 0 3"/><body><joint/><geom size=".1"/>
    <site name="eye"/></body></worldbody><sensor><rangefinder name="ray" site="eye"/></sensor>
    </mujoco>"""
    said = [x for x in check_file(mjcf) if "ray" in x.element]
    assert ["it sees the hull of geom 'moon'" in x.message for x in said] == [True]
    robot = kt.load(mjcf)
    assert abs(robot.sensors([0.0], [0.0], [0.0])[0] - 2.0) < 0.05


def test_a_touch_sensor_needs_a_zone():
    with pytest.raises(kt.errors.ModelError, match="a touch sensor has one shape, its zone"):
        kt.equipment.Sensor(name="skin", kind="touch", place=kt.equipment.Place("foot"))
