"""MJCF texts with tendons, actuators and sensors, and MuJoCo's numbers for them in our terms."""

import mujoco
import numpy as np

import kinetree as kt
from tests.peers.mujoco_oracle import Peer

STATES = 100
ROBOT = """
<mujoco><option timestep="0.002" integrator="Euler"/><compiler angle="radian"/>
<worldbody>
 <geom name="post" type="cylinder" size="0.06 0.2" pos="0.3 0.05 0.9" euler="1.57 0 0"/>
 <site name="anchor" pos="-0.1 0.1 1.2"/><site name="anchor2" pos="0.1 -0.1 1.2"/>
 <body name="upper" pos="0 0 1">
  <joint name="s" axis="0 1 0" damping="0.3" ref="0.1"/>
  <joint name="s2" axis="1 0.2 0" armature="0.02"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/>
  <site name="u1" pos="0.2 0.05 0.06"/><site name="u2" pos="0.35 0 0.06" euler="0.3 0.2 0.1"/>
  <geom name="ball" type="sphere" size="0.07" pos="0.4 0 0"/>
  <site name="side" pos="0.4 0 0.12"/><site name="inside" pos="0.4 0 0.03"/>
  <body name="lower" pos="0.4 0 0">
   <joint name="e" axis="0 1 0" range="-2 2" actuatorfrcrange="-3 3"/>
   <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
   <site name="l1" pos="0.15 0.02 0.05"/><site name="tip" pos="0.3 0 0" euler="0.2 0.4 0.1"/>
   <body name="hand" pos="0.3 0 0" euler="0.3 0 0.2">
    <joint name="w" type="ball" damping="0.01"/>
    <geom type="box" size="0.05 0.03 0.02" pos="0.05 0 0"/>
    <site name="palm" pos="0.05 0.01 0" euler="0 0.3 0.6"/>
    <body name="plate" pos="0.1 0 0.02" euler="0.1 0.2 0.3">
     <geom type="box" size="0.02 0.02 0.01"/><site name="ft" pos="0.01 0 0"/>
     <body name="finger" pos="0.03 0 0">
      <joint name="f" type="slide" axis="1 0 0.2" stiffness="3"/><geom size="0.02"/>
     </body>
    </body>
   </body>
  </body>
 </body>
 <body name="drone" pos="0.5 0.5 0.5">
  <freejoint name="free"/><geom type="ellipsoid" size="0.1 0.06 0.04" pos="0.02 0 0.01"/>
  <site name="jet" pos="0.05 0 0" euler="0.1 0.5 0"/>
 </body>
</worldbody>
SECTIONS
</mujoco>"""


def text(**sections):
    """The robot with sections such as actuator=...; tendons that they name are given, too."""
    return ROBOT.replace("SECTIONS", "".join(f"<{k}>{v}</{k}>" for k, v in sections.items()))


def dense(count, width, numbers, rows, starts, columns):
    """A matrix from MuJoCo's sparse one."""
    found, columns = np.zeros((count, width)), np.ravel(columns)
    for i in range(count):
        at = slice(starts[i], starts[i] + rows[i])
        found[i, columns[at]] = np.ravel(numbers)[at]
    return found


def moment_arms(m, d):
    sparse = d.moment_rownnz, d.moment_rowadr, d.moment_colind
    return dense(m.nu, m.nv, d.actuator_moment, *sparse)


def tendon_jacobian(m, d):
    home = d if hasattr(d, "ten_J_rownnz") else m
    sparse = home.ten_J_rownnz, home.ten_J_rowadr, home.ten_J_colind
    return dense(m.ntendon, m.nv, d.ten_J, *sparse)


class Pair:
    """A robot here and in MuJoCo, at random states with random controls."""

    def __init__(self, mjcf, count=STATES, seed=0):
        self.robot = kt.load(mjcf, contact=False)
        self.m = mujoco.MjModel.from_xml_string(mjcf)
        self.peer = Peer(self.robot, self.m)
        rng, robot = np.random.default_rng(seed), self.robot
        self.q, self.v, self.a = robot.random(rng, count), *rng.normal(size=(2, count, robot.nv))
        self.act = rng.normal(size=(count, self.m.na))
        self.ctrl = rng.normal(size=(count, self.m.nu))
        self.given = (self.q, self.v, self.act if self.m.na else None, self.ctrl)

    def theirs(self, read):
        """What a function reads of MuJoCo's data at each state, actuation computed."""
        found = []
        for k in range(len(self.q)):
            self.peer.move_to(self.q[k], self.v[k])
            self.peer.d.ctrl[:], self.peer.d.act[:] = self.ctrl[k], self.act[k]
            mujoco.mj_fwdActuation(self.m, self.peer.d)
            found.append(np.array(read(self.peer.d)))
        return np.array(found)

    def torques(self):
        """qfrc_actuator, as our velocities feel it."""
        return self.theirs(lambda d: self.peer.T.T @ d.qfrc_actuator)

    def inverse_dynamics(self):
        found = []
        for k in range(len(self.q)):
            self.peer.move_to(self.q[k], self.v[k])
            found.append(self.peer.inverse_dynamics(self.a[k]))
        return np.array(found)


def close(ours, theirs, tolerance=1e-9):
    """Agreement relative to the largest number."""
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= tolerance * (1.0 + np.abs(theirs).max())


def beside_mj_step(mjcf, seconds=1.0, strength=0.1, seed=0):
    """The difference of coordinates and activations after a motion under random controls."""
    robot, m = kt.load(mjcf, contact=False), mujoco.MjModel.from_xml_string(mjcf)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    steps, rng = round(seconds / m.opt.timestep), np.random.default_rng(seed)
    ctrl = strength * rng.normal(size=(steps, m.nu))
    q0, v0 = robot.neutral(), 0.1 * rng.normal(size=robot.nv)
    moved = robot.without("friction").simulate(
        q0,
        v0,
        time=steps * m.opt.timestep,
        dt=m.opt.timestep,
        method="implicit-damping",
        ctrl=ctrl,
        series=True,
        record=["memory"] if m.na else [],
    )
    peer, end = Peer(robot, m), Peer(robot, m)
    peer.move_to(q0, v0)
    for u in ctrl:
        peer.d.ctrl[:] = u
        mujoco.mj_step(m, peer.d)
    end.move_to(moved.q[-1], moved.v[-1])
    act = np.abs(moved["memory"][-1] - peer.d.act).max() if m.na else 0.0
    assert np.isfinite(moved.q).all()
    assert np.abs(peer.d.qvel).max() > 1e-3
    return max(np.abs(end.d.qpos - peer.d.qpos).max(), act)
