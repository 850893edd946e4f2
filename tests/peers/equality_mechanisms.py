"""Mechanisms with MJCF equality constraints, here and in MuJoCo.

MuJoCo's rows differ from ours in sign and axes, so what both forbid is compared: the row spaces of
the Jacobians, where errors vanish, and accelerations. Its constraints are soft: the compliance is
(1 - d) / d with the impedance d, at most 0.9999. Accelerations at five impedances are extrapolated
to none. It leaves out the rate of the Jacobian, so accelerations are compared at rest.
"""

import warnings

import mujoco
import numpy as np

import kinetree as kt
from kinetree.errors import ModelWarning
from tests.peers.mujoco_oracle import Peer

BAR = '<inertial pos="0.25 0.01 0.02" mass="1.5" diaginertia="0.002 0.03 0.031"/>'
SMALL = '<inertial pos="0 0.01 0.03" mass="0.2" diaginertia="1e-4 2e-4 2.5e-4"/>'
LEAST = 1.01e-4
"""A compliance that MuJoCo takes: the impedance is below 0.9999."""


def mjcf(inside: str) -> str:
    return f'<mujoco model="m"><compiler angle="radian"/>{inside}</mujoco>'


FOUR_BAR = f"""
    <worldbody><body name="crank" pos="0 0 1"><joint name="a" axis="0 1 0"/>{BAR}
        <body name="coupler" pos="0.5 0 0"><joint name="b" axis="0 1 0"/>{BAR}
            <site name="tip" pos="1.1 0.1 0"/></body></body>
      <body name="rocker" pos="1 0 1"><joint name="c" axis="0 1 0"/>{BAR}
        <site name="end" pos="0.8 0.1 0"/></body></worldbody>"""
GRIPPER = f"""
    <worldbody><body name="palm"><joint name="wrist" axis="1 0 0"/>{BAR}
      <body name="left" pos="0.1 0.05 0"><joint name="l" axis="0 0 1" ref="0.2"/>{SMALL}
        <body name="left_tip" pos="0 0 0.1"><joint name="lt" axis="0 0 1"/>{SMALL}</body></body>
      <body name="right" pos="0.1 -0.05 0"><joint name="r" axis="0 0 1" ref="-0.1"/>{SMALL}
      <body name="finger"><joint name="s" type="slide" axis="0 1 0" ref="0.3"/>{SMALL}</body>
      </body></body></worldbody>"""
FREE = f"""
    <worldbody><body name="one" pos="1 2 3" euler="0.1 0.2 0.3"><freejoint/>{BAR}</body>
      <body name="two" pos="1.2 2.5 3" euler="0.5 0 -0.3"><freejoint/>{BAR}
        <body name="arm" pos="0.1 0 0"><joint name="elbow" type="ball"/>{BAR}
        <site name="hand" pos="0.1 0.2 0.3" euler="0.4 0.2 0"/></body></body>
      <site name="wall" pos="0.3 0.2 2" euler="0 0.3 0.1"/></worldbody>"""
LEG = f"""
    <worldbody><body name="pelvis" pos="0 0 1"><freejoint name="base"/>{BAR}
      <body name="thigh" pos="0.1 0 0"><joint name="hip" axis="0 1 0"/>{BAR}
        <body name="knee" pos="0.4 0 0"><joint name="knee" axis="0 1 0"/>{SMALL}
          <body name="shin" pos="0.05 0 0">
            <joint name="shin" axis="0 1 0" stiffness="50" damping="0.1"/>{BAR}
            <body name="tarsus" pos="0.4 0 0"><joint name="ankle" axis="0 1 0"/>{BAR}
              <body name="heel" pos="-0.05 0 0">
                <joint name="heel" axis="0 1 0" stiffness="80" springref="0.05"/>{SMALL}</body>
              <body name="crank" pos="0.05 0 0"><joint name="crank" axis="0 1 0"/>{SMALL}
                <body name="plantar" pos="0.1 0 0"><joint name="plantar" axis="0 1 0"/>{SMALL}
                </body></body>
              <body name="foot" pos="0.3 0 0"><joint name="toe" axis="0 1 0"/>{SMALL}</body>
            </body></body></body>
        <body name="rod" pos="0 0.05 0"><joint name="rod" type="ball"/>{BAR}</body>
      </body></body></worldbody>"""
MODELS = {
    "a four-bar with a connect of bodies": FOUR_BAR
    + '<equality><connect body1="coupler" body2="rocker" anchor="0.9 0.1 0.3"/></equality>',
    "a four-bar with a connect of sites": FOUR_BAR
    + '<equality><connect site1="tip" site2="end"/></equality>',
    "a connect to the world": FOUR_BAR
    + '<equality><connect body1="coupler" anchor="0.4 0 0.1"/></equality>',
    "a connect from the world": FOUR_BAR
    + '<equality><connect body1="world" body2="coupler" anchor="1.2 0 0.9"/></equality>',
    "a parallel gripper": GRIPPER
    + """<equality><joint joint1="r" joint2="l" polycoef="0.1 -1 0 0 0"/>
        <joint joint1="lt" joint2="l" polycoef="0.05 -0.5 0.7 -0.3 0.2"/>
        <joint joint1="s" joint2="l" polycoef="0.01 0.1 0.2 0 0"/></equality>""",
    "a joint that is held, and one with two leaders": GRIPPER
    + """<equality><joint joint1="wrist" polycoef="0.3 5 5 5 5"/>
        <joint joint1="r" joint2="l" polycoef="0.1 -1 0 0 0"/>
        <joint joint1="r" joint2="lt" polycoef="0 2 0 0 0"/></equality>""",
    "belts between fixed tendons": GRIPPER
    + """<tendon><fixed name="t1"><joint joint="l" coef="0.4"/><joint joint="wrist" coef="-0.3"/>
        </fixed><fixed name="t2"><joint joint="r" coef="1"/><joint joint="l" coef="0.2"/></fixed>
        </tendon><equality><tendon tendon1="t1" tendon2="t2" polycoef="0.05 -0.7 0 0 0"/>
        <tendon tendon1="t2" polycoef="0.1 3 3 3 3"/></equality>""",
    "a welded pair": FREE + '<equality><weld body1="one" body2="arm"/></equality>',
    "a weld with a pose": FREE
    + """<equality><weld body1="one" body2="two" relpose="0.1 0.2 0.3 0.9 0.1 -0.2 0.3"
        anchor="0.05 0.1 -0.2"/></equality>""",
    "a weld of sites": FREE + '<equality><weld site1="hand" site2="wall"/></equality>',
    "a weld without a torque": FREE
    + '<equality><weld body1="arm" body2="one" torquescale="0"/></equality>',
    "a leg with two rods and springs": LEG
    + """<equality><connect name="achilles" body1="rod" body2="heel" anchor="0.8 -0.05 0"/>
        <connect name="plantar" body1="plantar" body2="foot" anchor="0.2 0 0.1"/></equality>""",
}


def _leg(side: str, y: float) -> str:
    """A leg as Cassie's: springs at shin and heel, an achilles rod on a ball, a plantar rod."""

    def body(name: str, at: str, joint: str, inside: str = "", inertia: str = SMALL) -> str:
        named = f'name="{side}-{name}"'
        return f'<body {named} pos="{at}"><joint {named} {joint}/>{inertia}{inside}</body>'

    pitch, spring = 'axis="0 1 0"', 'axis="0 1 0" stiffness="1500" damping="0.1"'
    plantar = body("plantar-rod", "0.05 0 0.05", pitch)
    tarsus = body(
        "tarsus",
        "0.4 0 0",
        pitch,
        body("heel-spring", "-0.05 0 0", spring)
        + body("foot-crank", "0.05 0 0", pitch, plantar)
        + body("foot", "0.35 0 0", pitch),
        BAR,
    )
    knee = body("knee", "0.4 0 0", pitch, body("shin", "0.05 0 0.05", spring, tarsus, BAR))
    rod = body("achilles-rod", "0 0.04 0", 'type="ball"')
    thigh = body("hip-pitch", "0 0 -0.05", pitch, knee + rod, BAR)
    yaw = body("hip-yaw", "0 0 -0.05", 'axis="0 0 1"', thigh)
    return body("hip-roll", f"0 {y} 0", 'axis="1 0 0"', yaw)


def _rods(side: str) -> str:
    return f"""<connect name="{side}-achilles" body1="{side}-achilles-rod"
        body2="{side}-heel-spring" anchor="0.7 0.02 -0.03"/>
      <connect name="{side}-plantar" body1="{side}-plantar-rod" body2="{side}-foot"
        anchor="0.3 0 0.02"/>"""


BIPED = f"""<worldbody><body name="pelvis" pos="0 0 1"><freejoint name="base"/>{BAR}
    {_leg("left", 0.13)}{_leg("right", -0.13)}</body></worldbody>
  <equality>{_rods("left")}{_rods("right")}</equality>"""


def _finger(side: str, turned: str) -> str:
    def body(name: str, at: str, inside: str = "") -> str:
        named = f'name="{side}_{name}"'
        return f'<body {named} pos="{at}"><joint {named} axis="1 0 0"/>{SMALL}{inside}</body>'

    driver = body("driver", "0 0.03 0.05", body("coupler", "0 0.03 0"))
    spring = body(
        "spring_link", "0 0.01 0.06", body("follower", "0 0.04 0.04", body("pad", "0 0 0.05"))
    )
    return f'<body name="{side}" euler="{turned}">{driver}{spring}</body>'


GRIPPER_OF_FOUR_BARS = f"""<worldbody><body name="wrist"><joint name="wrist" axis="0 0 1"/>{BAR}
    {_finger("right", "0 0 0")}{_finger("left", "0 0 3.14159265358979")}</body></worldbody>
  <equality>
    <connect name="right" body1="right_follower" body2="right_coupler" anchor="0 -0.01 0.02"/>
    <connect name="left" body1="left_follower" body2="left_coupler" anchor="0 -0.01 0.02"/>
    <joint name="together" joint1="right_driver" joint2="left_driver"/></equality>"""
LIKE_MENAGERIE = {
    "a biped with springs and four rods, like Cassie": BIPED,
    "a gripper of two four-bars, like a 2F-85": GRIPPER_OF_FOUR_BARS,
}
"""Mechanisms equal to those of robots of MuJoCo Menagerie, which no package ships."""


def loaded(text: str) -> kt.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        return kt.load(text)


class Mechanism:
    """A mechanism here and in MuJoCo, with its equalities, softer or stiffer."""

    def __init__(self, text: str) -> None:
        self.robot = loaded(text)
        self.m = mujoco.MjModel.from_xml_string(text)
        self.peer = Peer(self.robot, self.m)
        self.m.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.m.opt.tolerance, self.m.opt.iterations = 0.0, 200
        if hasattr(self.m.opt, "ls_iterations"):
            self.m.opt.ls_iterations = 200

    def move_to(self, q: np.ndarray) -> None:
        self.peer.move_to(np.asarray(q), np.zeros(self.robot.nv))
        mujoco.mj_makeConstraint(self.m, self.peer.d)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """MuJoCo's errors, and its Jacobian in our velocities."""
        d = self.peer.d
        J = np.zeros((d.nefc, self.m.nv))
        if mujoco.mj_isSparse(self.m):
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        else:
            J[:] = d.efc_J.reshape(d.nefc, self.m.nv)
        return d.efc_pos.copy(), J @ self.peer.T

    def acceleration(self, tau: np.ndarray) -> np.ndarray:
        """Of MuJoCo, extrapolated to no compliance."""
        d = self.peer.d
        d.qfrc_applied[:] = np.linalg.lstsq(self.peer.T.T, tau, rcond=None)[0]
        total = np.zeros(self.robot.nv)
        for k, weight in enumerate((5, -10, 10, -5, 1), 1):  # Lagrange's, at 1 to 5 times the least
            self.m.eq_solimp[:, :2] = 1.0 / (1.0 + k * LEAST)
            mujoco.mj_forward(self.m, d)
            total += weight * np.linalg.lstsq(self.peer.T, d.qacc, rcond=None)[0]
        return total


def near(robot: kt.Robot, seed: int, size: float = 0.1) -> np.ndarray:
    """A configuration near the neutral one."""
    dq = size * np.random.default_rng(seed).standard_normal(robot.nv)
    return np.asarray(robot.integrate(robot.neutral(), dq))
