"""Agreement with MuJoCo on MJCF files, and what of them is refused or left out."""

import re
import sys
from pathlib import Path

import mujoco
import numpy as np
import pybullet_data
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.errors import FileFormatError, MissingExtraError, ModelError, ModelWarning
from kinetree.model.formats.mjcf_remarks import remarks
from kinetree.model.joints import Floating
from kinetree.model.model import Drive, Limits
from kinetree.robot.load import check_file
from tests.peers import pinocchio_oracle
from tests.peers.mujoco_oracle import Peer, mjcf_of_urdf
from tests.tolerances import PEER, relative_error

STATES = 5
PYBULLET = Path(pybullet_data.getDataPath()) / "mjcf"

LOAD = '<inertial pos="0.1 -0.2 0.05" mass="1.5" diaginertia="0.02 0.03 0.04"/>'

MODELS = {
    "a hinge beside its body's origin": f"""
        <worldbody><body name="arm" pos="0 0 1" euler="20 30 40">
          <joint name="hinge" type="hinge" axis="1 2 -1" pos="0.1 0.2 0.3"/>{LOAD}
        </body></worldbody>""",
    "slides, of which one is slanted": f"""
        <worldbody><body name="cart"><joint type="slide" axis="1 0 0"/>{LOAD}
          <body name="lift" pos="0 0 0.2" quat="0.9 0.1 0.3 -0.2">
            <joint type="slide" axis="1 1 3" pos="0.4 0 0"/>{LOAD}</body>
        </body></worldbody>""",
    "a ball beside its body's origin": f"""
        <worldbody><body name="upper" pos="0 1 0" euler="0 45 0">
          <joint name="shoulder" type="ball" pos="0.1 -0.2 0.3" damping="0.4" armature="0.1"/>{LOAD}
          <body name="lower" pos="0 0 -0.5"><joint name="elbow" axis="0 1 0"/>{LOAD}</body>
        </body></worldbody>""",
    "a free body that carries others": f"""
        <worldbody><body name="trunk" pos="1 2 3" euler="10 20 30"><freejoint name="base"/>{LOAD}
          <body name="leg" pos="0 0 -0.5"><joint name="knee" axis="0 1 0"/>{LOAD}</body>
        </body></worldbody>""",
    "a free joint with rotors and damping": f"""
        <worldbody><body name="trunk">
          <joint type="free" name="base" armature="0.3" damping="0.2"/>{LOAD}
        </body></worldbody>""",
    "several joints on one body": f"""
        <worldbody><body name="hand" pos="0 0 1" euler="30 0 10">
          <joint name="x" type="slide" axis="1 0 0"/>
          <joint name="a" axis="0 0 1" pos="0.1 0 0"/>
          <joint name="b" axis="0 1 1" pos="0 0.2 0" ref="30"/>
          <joint name="y" type="slide" axis="0 1 0"/>{LOAD}
        </body></worldbody>""",
    "slides and a ball on one body": f"""
        <worldbody><body name="hand" pos="0 0 1" euler="30 0 10">
          <joint name="x" type="slide" axis="1 0 0"/>
          <joint name="z" type="slide" axis="0 0 1" ref="0.3"/>
          <joint name="ball" type="ball" pos="0 0 0.3"/>{LOAD}
        </body></worldbody>""",
    "references that are not zero": f"""
        <compiler angle="radian"/>
        <worldbody><body name="arm" pos="0 0 1" euler="0.1 0.2 0.3">
          <joint name="hinge" axis="0 1 0" pos="0.1 0.2 0.3" ref="0.7"/>{LOAD}
          <body name="slider" pos="0.3 0 0">
            <joint name="slide" type="slide" axis="0 0 1" ref="-0.4"/>{LOAD}</body>
        </body></worldbody>""",
    "rotors, damping and friction": f"""
        <worldbody><body name="arm">
          <joint name="hinge" axis="0 1 0" armature="0.3" damping="0.2" frictionloss="0.1"/>{LOAD}
          <body name="slider" pos="0.3 0 0">
            <joint name="slide" type="slide" damping="2" frictionloss="1" armature="0.5"/>{LOAD}
            <body><joint name="ball" type="ball" frictionloss="0.6"/>{LOAD}</body></body>
        </body></worldbody>""",
    "inertia from geometry": """
        <worldbody><body name="one"><joint axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.3 0.1 0.2" size="0.05"/>
          <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30" density="500"/>
          <body name="two" pos="0.3 0 0"><joint axis="1 0 0"/>
            <geom type="ellipsoid" size="0.1 0.2 0.3" mass="2"/>
            <geom type="cylinder" size="0.1 0.2" pos="0 0.2 0" quat="0.9 0.1 0.3 -0.2"/>
            <geom type="sphere" size="0.1" pos="0 0 0.4"/></body>
        </body></worldbody>""",
    "an inertia with products": """
        <worldbody><body name="one"><joint axis="0 1 0"/>
          <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.03 0.04 0.05 0.01 -0.005 0.002"/>
        </body></worldbody>""",
    "an inertia that is turned": """
        <worldbody><body name="one"><joint axis="1 1 0"/>
          <inertial pos="0.1 0.2 0.3" euler="10 20 30" mass="2" diaginertia="0.03 0.04 0.05"/>
        </body></worldbody>""",
    "bodies fixed in bodies, and sites": f"""
        <worldbody><site name="origin" pos="1 1 1"/>
          <body name="stand" pos="0 0 1" euler="0 0 30"><geom size="0.1"/>
            <body name="arm" pos="0.1 0 0" euler="5 0 0"><joint name="hinge"/>{LOAD}
              <body name="wrist" pos="0.2 0 0" euler="0 60 0">{LOAD}
                <site name="tool" pos="0 0 0.1" euler="0 90 0"/>
                <body name="finger" pos="0.1 0 0"><joint name="grip" axis="0 1 0"/>{LOAD}
                  <site name="tip" pos="0.05 0 0"/></body></body></body></body>
        </worldbody>""",
    "defaults, and angles of another sequence": f"""
        <compiler angle="radian" eulerseq="ZYX"/>
        <default><joint damping="0.5" axis="0 1 0"/>
          <default class="strong"><joint armature="0.7" pos="0 0 0.1"/></default></default>
        <worldbody><body name="one" euler="0.1 0.2 0.3"><joint name="a"/>{LOAD}
          <body name="two" pos="0 0 0.5" euler="-0.3 0.2 1" childclass="strong">
            <joint name="b"/>{LOAD}</body>
        </body></worldbody>""",
    "joints that follow others": f"""
        <worldbody><body name="one"><joint name="driven" axis="0 1 0" ref="20" damping="0.3"/>{LOAD}
          <body name="two" pos="0 0 0.5">
            <joint name="driver" type="slide" axis="1 0 0" ref="0.2" armature="0.3"/>{LOAD}
            <body name="three" pos="0 0 0.5"><joint name="own" axis="1 0 0"/>{LOAD}</body></body>
        </body></worldbody>
        <equality><joint joint1="driven" joint2="driver" polycoef="0.1 -1.5 0 0 0"/></equality>""",
    "springs of hinges and slides": f"""
        <compiler angle="radian"/>
        <worldbody><body name="one"><joint name="a" axis="0 1 0" stiffness="3"/>{LOAD}
          <body name="two" pos="0 0 0.5">
            <joint name="b" axis="1 2 0" stiffness="2" springref="0.4" pos="0.1 0.2 0.3"/>{LOAD}
            <body name="three"><joint name="c" stiffness="2" ref="0.7" springref="-0.2"/>{LOAD}
              <body name="four" pos="0 1 0"><joint name="d" type="slide" stiffness="5" ref="0.3"/>
                <joint name="e" type="slide" axis="1 0 0" stiffness="4" ref="-1" springref="2"/>
                {LOAD}</body></body></body>
        </body></worldbody>""",
    "springs of balls": f"""
        <worldbody><body name="one" euler="10 20 30">
          <joint name="a" type="ball" stiffness="3" pos="0.1 0.2 0.3"/>{LOAD}
          <body name="two" pos="0 0 0.5">
            <joint name="x" type="slide" stiffness="2" springref="0.3"/>
            <joint name="b" type="ball" stiffness="2" damping="1"/>{LOAD}</body>
        </body></worldbody>""",
    "springs of free bodies": f"""
        <worldbody><body name="one" pos="1 2 3" euler="10 20 30">
          <joint name="a" type="free" stiffness="3"/>{LOAD}
          <body name="leg"><joint name="knee" stiffness="2" springref="30" axis="0 1 0"/>{LOAD}
          </body></body>
        <body name="two"><joint name="b" type="free" stiffness="2" damping="0.1"/>{LOAD}</body>
        </worldbody>""",
    "springs of joints that follow others": f"""
        <worldbody><body name="one">
          <joint name="driven" axis="0 1 0" ref="20" stiffness="3" springref="40"/>{LOAD}
          <body name="two" pos="0 0 0.5">
            <joint name="driver" type="slide" ref="0.2" stiffness="2" springref="0.5"/>{LOAD}
          </body></body></worldbody>
        <equality><joint joint1="driven" joint2="driver" polycoef="0.1 -1.5 0 0 0"/></equality>""",
    "a spring and a damper by their time constants": f"""
        <worldbody><body name="one"><joint axis="0 1 0" springdamper="0.1 0.5"/>{LOAD}</body>
        </worldbody>""",
    "another gravity": f"""
        <option gravity="1 -2 3"/>
        <worldbody><body name="one"><joint axis="0 1 0"/>{LOAD}</body></worldbody>""",
    "no gravity, no damping and no springs, by flags": f"""
        <option><flag gravity="disable" damper="disable" spring="disable"/></option>
        <worldbody><body name="one"><joint axis="0 1 0" damping="1" stiffness="2"/>{LOAD}</body>
        </worldbody>""",
    "springs without gravity and damping, by flags": f"""
        <option><flag gravity="disable" damper="disable"/></option>
        <worldbody><body name="one"><joint axis="0 1 0" damping="1" stiffness="2"/>{LOAD}</body>
        </worldbody>""",
    "bodies that are put where they are from outside": f"""
        <worldbody><body name="target" mocap="true" pos="1 0 0"><geom size="0.1"/></body>
          <body name="one"><joint axis="0 1 0"/>{LOAD}</body></worldbody>""",
    "bodies and joints without names": f"""
        <worldbody><body><joint axis="0 1 0"/>{LOAD}<body name="body1"><joint/>{LOAD}</body></body>
          <body><joint name="body1_joint"/>{LOAD}</body></worldbody>""",
}

# what MuJoCo refuses of the files of pybullet_data: their words are no longer known to it
REFUSED = {
    "ground.xml",
    "ground_plane.xml",
    "half_cheetah.xml",
    "hopper.xml",
    "humanoid_fixed.xml",
    "humanoid_symmetric.xml",
    "swimmer.xml",
    "walker2d.xml",
}
FILES = sorted({path.name for path in PYBULLET.glob("*.xml")} - REFUSED)

URDFS = [
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_left_arm.urdf",
    "ur_description/urdf/ur5_robot.urdf",
]


def mjcf(inside):
    return f"<mujoco>{inside}</mujoco>"


def close(actual, expected):
    """Whether two arrays agree, relative to the largest entry."""
    return np.abs(actual - expected).max() <= PEER * np.abs(expected).max()


def check(robot, m):
    peer = Peer(robot, m)
    rng = np.random.default_rng(0)
    frames = {f.name: (f.body, np.array(f.placement.matrix())) for f in robot.model.frames}
    energies = []
    for _ in range(STATES):
        q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
        peer.move_to(q, v)
        poses = [*robot.poses(q), np.eye(4)]  # the last is the world
        for name, expected in peer.poses().items():
            body, placement = frames[name]
            assert close(poses[body] @ placement, expected), name
        assert close(robot.mass_matrix(q), peer.mass_matrix())
        tau = peer.inverse_dynamics(a)
        assert close(robot.inverse_dynamics(q, v, a), tau)
        assert close(robot.forward_dynamics(q, v, tau), a)
        check_motion(robot.model, peer, q.tolist(), v.tolist())
        energy = algorithms.potential_energy(robot.model, q.tolist())
        energies.append((energy, peer.potential_energy()))
    changes = np.diff(energies, axis=0)  # what stands still counts only there
    assert relative_error(*changes.T / max(1.0, np.abs(energies).max())) < PEER


def check_motion(model, peer, q, v):
    """Jacobians, the centre of mass, the kinetic energy; on floats, which compiles nothing."""
    for name, expected in peer.jacobians().items():
        J = np.array(algorithms.jacobian(model, q, name, "origin"))
        assert np.abs(J - expected).max() <= PEER * max(1.0, np.abs(expected).max()), name
    center, J = peer.center_of_mass()
    assert relative_error(algorithms.center_of_mass(model, q), center) < PEER
    assert relative_error(algorithms.center_of_mass_jacobian(model, q), J) < PEER
    energy = [peer.kinetic_energy()]
    assert relative_error([algorithms.kinetic_energy(model, q, v)], energy) < PEER


DRIVEN = f"""<worldbody><body><joint type="free" armature="{{}}" damping="{{}}"/>{LOAD}
      <body pos="0.2 0 0.1"><joint name="ball" type="ball" armature="0.1" damping="0.3"/>{LOAD}
        <body pos="0 0 0.4"><joint name="hinge" axis="0 1 0" armature="0.2" damping="0.1"/>{LOAD}
        </body></body></body></worldbody>"""
"""A free body that carries a ball joint and a hinge, with drives on all of them."""
DRIVES = pytest.mark.parametrize("drive", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.4), (0.5, 0.4)])


@DRIVES
def test_a_free_body_with_armature_accelerates_as_in_mujoco(drive):
    text = mjcf(DRIVEN.format(*drive))
    robot = kt.load(text)
    peer, rng = Peer(robot, mujoco.MjModel.from_xml_string(text)), np.random.default_rng(0)
    for _ in range(20):
        q, (v, tau) = robot.random(rng), rng.standard_normal((2, robot.nv))
        peer.move_to(q, v)
        assert relative_error(robot.mass_matrix(q), peer.mass_matrix()) < PEER
        bias = peer.inverse_dynamics(np.zeros(robot.nv))
        assert relative_error(robot.bias_forces(q, v), bias) < PEER
        peer.d.qfrc_applied[:] = np.linalg.solve(peer.T.T, tau)
        mujoco.mj_forward(peer.m, peer.d)
        expected = np.linalg.solve(peer.T, peer.d.qacc - peer.T_rate_v)
        assert relative_error(robot.forward_dynamics(q, v, tau), expected) < PEER


@pytest.mark.parametrize("steps", [1, 100])
@DRIVES
def test_a_step_with_implicit_damping_is_mujocos_euler_step(drive, steps):
    text = mjcf(DRIVEN.format(*drive))
    robot, dt = kt.load(text), 0.002
    peer, rng = Peer(robot, mujoco.MjModel.from_xml_string(text)), np.random.default_rng(1)
    peer.m.opt.timestep, peer.m.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_EULER
    q, (v, tau) = robot.random(rng), rng.standard_normal((2, robot.nv))
    tau[:3] = 0.0  # in the world's axes there
    peer.move_to(q, v)
    peer.d.qfrc_applied[:] = tau
    for _ in range(steps):
        mujoco.mj_step(peer.m, peer.d)
        q, v = robot.step(q, v, tau, dt, method="implicit-damping")
    qpos, qvel = peer.d.qpos.copy(), peer.d.qvel.copy()
    peer.move_to(q, v)  # our state in its coordinates
    for start in (3, 7):
        quat = qpos[start : start + 4]
        quat *= np.sign(quat @ peer.d.qpos[start : start + 4])
    assert relative_error(peer.d.qpos, qpos) < PEER
    assert relative_error(peer.d.qvel, qvel) < PEER


@pytest.mark.parametrize("name", MODELS)
def test_a_small_model_agrees(name):
    text = mjcf(MODELS[name])
    check(kt.load(text, contact=False), mujoco.MjModel.from_xml_string(text))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_a_file_of_pybullet_agrees(file):
    path = PYBULLET / file
    check(kt.load(path, contact=False), mujoco.MjModel.from_xml_path(str(path)))


@pytest.mark.slow
@pytest.mark.parametrize("file", URDFS)
def test_a_urdf_that_mujoco_converted_agrees(file):
    text = mjcf_of_urdf(pinocchio_oracle.ROBOTS / file)
    check(kt.load(text, contact=False), mujoco.MjModel.from_xml_string(text))


ONE = f'<body name="one"><joint name="hinge" axis="0 1 0"/>{LOAD}</body>'


@pytest.mark.parametrize("file", sorted(REFUSED))
def test_what_mujoco_refuses_is_refused_in_its_words(file):
    with pytest.raises(FileFormatError, match=rf"{file}: MuJoCo cannot compile it: .*rror"):
        kt.load(PYBULLET / file)


def test_limits_drives_and_efforts_are_taken():
    robot = kt.load(
        mjcf(f"""<worldbody><body><joint name="turn" range="-90 45" armature="0.1" damping="0.2"
        frictionloss="0.3" actuatorfrcrange="-4 5"/>{LOAD}<body>
        <joint name="slide" type="slide" range="-0.5 1"/>{LOAD}</body></body></worldbody>""")
    )
    turn, slide = robot.model.bodies
    assert turn.limits == Limits(-np.pi / 2, np.pi / 4, effort=5.0)
    assert turn.drive == Drive(0.1, 0.2, 0.3)
    assert slide.limits == Limits(-0.5, 1.0)


def test_springs_are_taken_with_where_they_rest():
    robot = kt.load(mjcf(MODELS["springs of hinges and slides"]))
    drives = {body.joint_name: body.drive for body in robot.model.bodies}
    assert drives["a"] == Drive(stiffness=3.0)
    assert drives["b"] == Drive(stiffness=2.0, rest=(0.4,))
    assert drives["e"] == Drive(stiffness=4.0, rest=(2.0,))
    free, _, other = kt.load(mjcf(MODELS["springs of free bodies"])).model.bodies
    assert free.drive.rest[:3] == (1.0, 2.0, 3.0)
    assert other.drive == Drive(damping=0.1, stiffness=2.0)


def test_coordinates_stand_in_the_order_of_the_file():
    robot = kt.load(
        mjcf(f"""<worldbody><body name="b"><joint name="z"/>{LOAD}</body>
        <body name="a"><joint name="y"/>{LOAD}</body></worldbody>""")
    )
    assert robot.joints == ("z", "y")


def test_given_names_are_kept_and_missing_ones_made_up_around_them():
    robot = kt.load(mjcf(MODELS["bodies and joints without names"]))
    assert robot.frames == ("world", "body1_2", "body1", "body3")
    assert robot.joints == ("body1_2_joint", "body1_joint_2", "body1_joint")


def test_a_site_named_as_a_body_gets_another_name():
    robot = kt.load(
        mjcf(f"""<worldbody><body name="a"><site name="a" pos="1 0 0"/>
        <body name="c"><joint name="a_fixed"/>{LOAD}</body></body></worldbody>""")
    )
    assert set(robot.frames) == {"world", "a", "a_2", "c"}


def test_equalities_are_passed_over_if_asked_or_switched_off():
    text = mjcf(MODELS["joints that follow others"])
    assert kt.load(text).nv == 2
    assert kt.load(text, mimic=False).nv == 3
    assert kt.load(text.replace("joint1=", 'active="false" joint1=')).nv == 3
    off = '<option><flag equality="disable"/></option><worldbody>'
    assert kt.load(text.replace("<worldbody>", off)).nv == 3


def test_shapes_are_kept_with_whole_lengths_in_their_bodies_frames():
    robot = kt.load(mjcf(MODELS["inertia from geometry"]))
    kinds = {shape.kind: shape for shape in robot.model.shapes}
    assert set(kinds) == {"capsule", "box", "ellipsoid", "cylinder", "sphere"}
    assert kinds["box"].size == (0.2, 0.4, 0.6)
    assert kinds["cylinder"].size == (0.1, 0.4)
    assert kinds["sphere"].link == "two"
    assert tuple(kinds["sphere"].placement.translation) == (0.0, 0.0, 0.4)


def test_a_file_that_says_how_its_root_moves_takes_no_other_base():
    with pytest.raises(ModelError, match="<freejoint/> to the body that should float"):
        kt.load(mjcf(f"<worldbody>{ONE}</worldbody>"), base="floating")
    robot = kt.load(mjcf(MODELS["a free body that carries others"]))
    assert isinstance(robot.model.bodies[0].joint, Floating)


TWO = f"{ONE[:-7]}<body name='two' pos='0 0 1'><joint name='other'/>{LOAD}</body></body>"
SITES = f"""{ONE[:-7]}<site name="s"/></body><site name="t" pos="0 0 1"/>"""
LEFT_OUT = {
    "joint 'hinge': the higher-order part of its spring (stiffness) takes no part": ONE.replace(
        "axis", 'stiffness="2 1" axis'
    ),
    "joint 'hinge': the yield of its spring": ONE.replace(
        "axis", 'stiffness="2" springyield="1" axis'
    ),
    "joint 'hinge': the higher-order part of its damping": ONE.replace(
        "axis", 'damping="2 1" axis'
    ),
    "equality 'hold': it takes no part in the dynamics: constraints of spatial tendons": f"""{SITES}
        </worldbody><tendon><spatial name="t"><site site="s"/><site site="t"/></spatial></tendon>
        <equality><tendon name="hold" tendon1="t"/></equality><worldbody>""",
    "equality 'weld1': it is left out, since nothing moves": f"""{TWO}<body name="wall"/>
        </worldbody><equality><joint joint1="hinge" joint2="other"/><weld body1="wall"/></equality>
        <worldbody>""",
    "equality 'pull': it holds on to the mocap body 'grip', which stands still": f"""{TWO}
        <body name="grip" mocap="true"/></worldbody><equality>
        <weld name="pull" body1="grip" body2="two"/></equality><worldbody>""",
    "tendon 't': its armature": f"""{SITES}</worldbody><tendon>
        <spatial name="t" armature="1"><site site="s"/><site site="t"/></spatial></tendon>
        <worldbody>""",
    "tendon 't': the higher-order part of its spring (stiffness)": f"""{SITES}</worldbody><tendon>
        <spatial name="t" stiffness="1 2"><site site="s"/><site site="t"/></spatial></tendon>
        <worldbody>""",
    "actuator 'actuator0': its gain or bias is not supported": f"""{ONE}</worldbody><actuator>
        <general joint="hinge" gaintype="user"/></actuator><worldbody>""",
    "actuator 'motor': the higher-order part of its damping": f"""{ONE}</worldbody><actuator>
        <motor name="motor" joint="hinge" damping="0 1"/></actuator><worldbody>""",
    "actuator 'pid': its plugin": f"""{ONE}</worldbody>
        <extension><plugin plugin="mujoco.pid"/></extension><actuator>
        <plugin name="pid" plugin="mujoco.pid" joint="hinge"><config key="kp" value="1"/></plugin>
        </actuator><worldbody>""",
    "flex 'cloth': its deformation": """<body name="pin"><flexcomp name="cloth" type="grid" dim="2"
        count="3 3 1" mass="1" radius="0.001"/></body>""",
}


def test_a_remark_says_the_line_of_what_it_is_about(tmp_path):
    (tmp_path / "parts.xml").write_text("""<mujocoinclude>
    <sensor><gyro site="s"/>

    <user dim="2"/></sensor></mujocoinclude>""")
    (tmp_path / "arm.xml").write_text("""<mujoco><include file="parts.xml"/><worldbody>
    <body><joint
     name="hinge" damping="1 2"/><geom size="0.1"/><site name="s"/></body></worldbody>
    <actuator><motor joint="hinge"/></actuator>
    <actuator>
     <general joint="hinge" dyntype="user" actdim="1"/></actuator></mujoco>""")
    found = [str(x) for x in check_file(tmp_path / "arm.xml")]
    for start in (
        "arm.xml:2: warning: joint 'hinge'",
        "arm.xml:6: warning: actuator 'actuator1'",
        "parts.xml:4: note: sensor 'sensor1'",
    ):
        assert [x for x in found if x.removeprefix(f"{tmp_path}/").startswith(start)], found


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_takes_no_part_in_the_dynamics_is_remarked_by_name(what):
    text = mjcf(f"<worldbody>{LEFT_OUT[what]}</worldbody>")
    found = [str(problem) for problem in check_file(text) if problem.severity == "warning"]
    assert [
        problem
        for problem in found
        if re.match(rf"<string>:\d+: warning: {re.escape(what)}", problem)
    ]
    with pytest.warns(ModelWarning, match=r"<string>:(\d+:)? warning: "):
        kt.load(text)


def test_what_a_plugin_of_a_body_does_is_remarked():
    # MuJoCo has had such plugins, and lets others be added
    m = mujoco.MjModel.from_xml_string(mjcf(f"<worldbody>{ONE}</worldbody>"))
    m.body_plugin[1] = 0
    (remark,) = remarks(m, ["hinge"], set())
    assert remark == ("warning", "body 'one'", "its plugin takes no part in the dynamics")


SWITCHED_OFF = {
    'spring="disable"': ONE.replace("axis", 'stiffness="2 1" springyield="1" axis'),
    'damper="disable"': ONE.replace("axis", 'damping="2 1" axis'),
    'equality="disable"': f"""{TWO}</worldbody><equality><weld body1="two"/></equality>
        <worldbody>""",
    'actuation="disable"': f"""{ONE}</worldbody><actuator><position joint="hinge" kp="3"/>
        </actuator><worldbody>""",
}


@pytest.mark.parametrize("flag", SWITCHED_OFF)
def test_what_is_switched_off_is_not_remarked(flag, recwarn):
    inside = f"<option><flag {flag}/></option><worldbody>{SWITCHED_OFF[flag]}</worldbody>"
    robot = kt.load(mjcf(inside))
    assert not recwarn.list
    (drive, *_) = robot.model.drives
    assert drive.stiffness == drive.damping == 0.0


def test_actuators_of_a_group_that_is_switched_off_are_not_remarked(recwarn):
    servo = '<actuator><position joint="hinge" kp="3" group="2"/></actuator>'
    kt.load(mjcf(f'<option actuatorgroupdisable="2"/><worldbody>{ONE}</worldbody>{servo}'))
    assert not recwarn.list


def test_motors_and_tendons_are_taken_without_a_remark():
    tendon = '<tendon><fixed name="t"><joint joint="hinge" coef="1"/></fixed></tendon>'
    motor = '<actuator><motor joint="hinge" gear="100"/></actuator>'
    assert check_file(mjcf(f"<worldbody>{ONE}</worldbody>{tendon}{motor}")) == []


def test_an_equality_that_is_switched_off_is_not_remarked(recwarn):
    kt.load(
        mjcf(f"""<worldbody>{ONE}</worldbody>
        <equality><weld body1="one" active="false"/></equality>""")
    )
    assert not recwarn.list


def test_a_quaternion_next_to_zero_is_the_identity_as_mujoco_has_it():
    turned = ONE.replace("<body", '<body quat="0 0 0 1e-320"')
    text = mjcf(f"<worldbody>{turned}</worldbody>")
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(text))
    mujoco.mj_kinematics(data.model, data)
    robot = kt.load(text)
    found = robot.pose(robot.neutral(), robot.bodies[0])[:3, :3]
    assert relative_error(found, data.xmat[1].reshape(3, 3)) < PEER


def test_what_mujoco_warns_of_is_remarked_and_leaves_no_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    twice = ONE.replace("<inertial", '<joint name="same" axis="0 1 0"/><inertial')
    with pytest.warns(ModelWarning, match="'hinge': it moves without moving .* and 1 more"):
        kt.load(mjcf(f"<worldbody>{twice}</worldbody>"))
    found = [str(p) for p in check_file(mjcf(f"<worldbody>{twice}</worldbody>"))]
    assert "<string>: warning: the model: Inertia matrix is too" in found[0]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "naming",
    [
        '<include file="other.xml"/>',
        '<asset><mesh name="m" file="m.stl"/></asset>',
        '<asset><texture name="t" type="skybox" fileup="t.png"/></asset>',
        '<asset><model name="o" file="o.xml"/></asset>',
    ],
)
def test_a_text_can_name_no_files(naming, tmp_path):
    text = mjcf(f"{naming}<worldbody>{ONE}</worldbody>")
    for folder in (None, tmp_path):
        with pytest.raises(FileFormatError, match="a model given as text cannot refer to files"):
            kt.load(text, folder=folder)


def test_a_text_that_names_no_files_may_be_given_a_folder(tmp_path):
    assert kt.load(mjcf(f"<worldbody>{ONE}</worldbody>"), folder=tmp_path).nv == 1


def write(path, inside):
    path.parent.mkdir(exist_ok=True)
    path.write_text(mjcf(inside))
    return path


MESH = '<asset><mesh name="m" file="{}"/></asset>'
OUTSIDE = {
    "by its name": {"main": MESH.format("../../etc/passwd")},
    "by its whole path": {"main": MESH.format("/etc/passwd")},
    "by a setting": {"main": '<compiler meshdir="/etc"/>' + MESH.format("passwd")},
    "by an include": {"main": '<include file="../inner.xml"/>'},
    "by what an include names": {
        "main": '<include file="parts/inner.xml"/>',
        "parts/inner": MESH.format("../../secret.stl"),
    },
    "by what an include of an include names": {
        "main": '<include file="parts/inner.xml"/>',
        "parts/inner": '<include file="parts/last.xml"/>',
        "parts/last": MESH.format("/etc/passwd"),
    },
    "by a setting for what an include names": {
        "main": '<compiler meshdir="../.."/><include file="inner.xml"/>',
        "inner": MESH.format("secret.stl"),
    },
    "by an include's setting": {
        "main": '<include file="inner.xml"/>' + MESH.format("secret.stl"),
        "inner": '<compiler assetdir="../.."/>',
    },
    "by what a model that is attached names": {
        "main": '<asset><model name="o" file="inner.xml"/></asset>',
        "inner": MESH.format("../secret.stl"),
    },
}


@pytest.mark.parametrize("way", OUTSIDE)
def test_nothing_is_read_from_outside_the_folder(way, tmp_path):
    folder = tmp_path / "robot"
    folder.mkdir()
    for name, inside in OUTSIDE[way].items():
        write(folder / f"{name}.xml", inside)
    with pytest.raises(FileFormatError, match=r"xml:1: .* points outside the folder .*folder="):
        kt.load(folder / "main.xml")


def test_a_wider_folder_may_be_named(tmp_path):
    part = f"<worldbody>{ONE}</worldbody>"
    write(tmp_path / "parts" / "one.xml", part)
    main = write(tmp_path / "robots" / "main.xml", '<include file="../parts/one.xml"/>')
    with pytest.raises(FileFormatError, match="points outside the folder"):
        kt.load(main)
    assert kt.load(main, folder=tmp_path).joints == ("hinge",)


def test_without_mujoco_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kinetree\[files\]'"):
        kt.load(mjcf(f"<worldbody>{ONE}</worldbody>"))
