"""Carried weights and fluids beside MuJoCo, and passive forces by themselves."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.peers.equipped_mjcf import close
from tests.peers.mujoco_oracle import Peer

STATES = 100
ROBOT = """<mujoco><compiler angle="radian"/>
<option density="1000" viscosity="0.3" wind="0.3 -0.2 0.1"/><worldbody>
<body name="arm" pos="0 0 1" gravcomp="0.7"><joint name="s" axis="0 1 0" damping="0.3"/>
 <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/>
 <body name="fin" pos="0.4 0 0"><joint name="w" type="ball" damping="0.1" stiffness="2"/>
  <geom type="box" size=".1 .05 .03" pos=".1 0 0" SHAPE/>
  <body name="tip" pos=".1 .2 .3" euler=".2 .1 .3" gravcomp="1.5">
   <geom type="cylinder" size=".1 .05" pos=".1 0 0" SHAPE/></body></body></body>
<body name="fish" pos="1 0 0" gravcomp="1.2"><freejoint name="free"/>
 <geom type="ellipsoid" size=".1 .06 .04" pos=".02 0 .01" SHAPE/></body>
</worldbody></mujoco>"""
SHAPES = {
    "boxes": "",
    "ellipsoids": 'fluidshape="ellipsoid" fluidcoef=".6 .3 1.2 .8 1.5"',
}


class Immersed:
    """A robot here and in MuJoCo, which keeps its fluid."""

    def __init__(self, mjcf):
        self.robot, self.m = kt.load(mjcf, contact=False), mujoco.MjModel.from_xml_string(mjcf)
        self.peer = Peer(self.robot, self.m)
        rng = np.random.default_rng(0)
        self.q = self.robot.random(rng, STATES)
        self.v, self.a = rng.normal(size=(2, STATES, self.robot.nv))

    def passive(self):
        found = []
        for q, v in zip(self.q, self.v, strict=True):
            self.peer.move_to(q, v)
            found.append(self.peer.T.T @ self.peer.d.qfrc_passive)
        return np.array(found)

    def inverse_dynamics(self):
        found = []
        for q, v, a in zip(self.q, self.v, self.a, strict=True):
            self.peer.move_to(q, v)
            found.append(self.peer.inverse_dynamics(a))
        return np.array(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_passive_forces_and_dynamics_are_those_of_mujoco(shape):
    pair = Immersed(ROBOT.replace("SHAPE", SHAPES[shape]))
    robot, q, v, a = pair.robot, pair.q, pair.v, pair.a
    assert np.abs(pair.m.opt.density) == 1000.0
    close(robot.actuation.passive_forces(q, v), pair.passive())
    tau = pair.inverse_dynamics()
    close(robot.inverse_dynamics(q, v, a), tau)
    assert np.allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-7)


def test_derivatives_have_carried_weights_and_fluids_in_them():
    robot = Immersed(ROBOT.replace("SHAPE", SHAPES["ellipsoids"])).robot
    rng = np.random.default_rng(1)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    by_q, by_v, _ = robot.inverse_dynamics_derivatives(q, v, a)
    step = 1e-6
    moved = np.array([robot.integrate(q, s * u) for u in np.eye(robot.nv) for s in (step, -step)])
    ends = robot.inverse_dynamics(moved, v, a).reshape(robot.nv, 2, -1)
    assert np.allclose((ends[:, 0] - ends[:, 1]).T / (2 * step), by_q, atol=1e-4)
    faster = np.array([v + s * u for u in np.eye(robot.nv) for s in (step, -step)])
    ends = robot.inverse_dynamics(q, faster, a).reshape(robot.nv, 2, -1)
    assert np.allclose((ends[:, 0] - ends[:, 1]).T / (2 * step), by_v, atol=1e-4)


def test_gravity_forces_are_the_gradient_of_the_energy_with_carried_weights():
    robot = kt.load(ROBOT.replace("SHAPE", ""), contact=False).without("fluid")
    q, step = robot.random(np.random.default_rng(2)), 1e-6
    ends = [[robot.integrate(q, s * u) for s in (step, -step)] for u in np.eye(robot.nv)]
    energies = robot.potential_energy(np.array(ends))
    slope = (energies[:, 0] - energies[:, 1]) / (2 * step)
    assert np.allclose(slope, robot.gravity_forces(q), atol=1e-6)
    plain = robot.without("compensation")
    assert not np.allclose(plain.gravity_forces(q), robot.gravity_forces(q), atol=1e-3)


def test_effects_can_be_switched_off_and_parts_named():
    robot = kt.load(ROBOT.replace("SHAPE", ""), contact=False)
    names = [x.name for x in robot.model.equipment.body_forces]
    assert names[0] == "arm compensation"
    assert "fish fluid" in names
    assert not robot.without("fluid", "compensation").model.equipment.body_forces


def test_carried_weights_and_the_fluid_are_written(tmp_path):
    fixed = 'euler=".2 .1 .3" gravcomp="1.5">'
    joined = ROBOT.replace("SHAPE", "").replace(fixed, '><joint name="t"/>')
    robot = kt.load(joined, contact=False)
    robot.save(tmp_path / "saved.xml")
    again = kt.load(tmp_path / "saved.xml", contact=False)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, 5), rng.normal(size=(5, robot.nv))
    close(again.actuation.passive_forces(q, v), robot.actuation.passive_forces(q, v))


def test_what_mjcf_cannot_say_of_forces_on_bodies_is_named(tmp_path):
    robot = kt.load(ROBOT.replace("SHAPE", SHAPES["ellipsoids"]), contact=False)
    with pytest.warns(match="the gravity compensation of 'fin', the fluid around"):
        robot.save(tmp_path / "saved.xml")
