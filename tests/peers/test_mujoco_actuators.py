"""Actuators beside MuJoCo: lengths, moment arms, forces, activations, motions under controls."""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelWarning
from kinetree.model.formats import mjcf_length_ranges
from tests.peers.equipped_mjcf import Pair, beside_mj_step, close, moment_arms, text

ASSETS = sorted((Path(gymnasium.__file__).parent / "envs/mujoco/assets").glob("*.xml"))
ACTUATORS = {
    "motor": '<motor joint="s" gear="3" ctrlrange="-1 1"/>',
    "position": '<position joint="e" kp="20" kv="1.5" forcerange="-4 4"/>',
    "a critically damped position": '<position joint="e" kp="20" dampratio="1" timeconst="0.1"/>',
    "velocity": '<velocity joint="s2" kv="0.7"/>',
    "intvelocity": '<intvelocity joint="s" kp="12" actrange="-0.6 0.6"/>',
    "damper": '<damper joint="s2" kv="2" ctrlrange="0 1"/>',
    "cylinder": '<cylinder tendon="fix" timeconst="0.3" area="0.5" bias="0.1 0.2 0.3" gear="2"/>',
    "an affine gain and bias": '<general joint="w" gear="0.3 0.2 -0.4 0 0 0" gaintype="affine" '
    'gainprm="1 2 3" biastype="affine" biasprm="0.1 -0.3 -0.2"/>',
    "an exact filter in the parent": '<general jointinparent="w" gear="0.3 0.2 -0.4 0 0 0" '
    'dyntype="filterexact" dynprm="0.2" gainprm="1.3"/>',
    "a filter": '<general tendon="straight" dyntype="filter" dynprm="0.05" gainprm="-2"/>',
    "an integrator": '<general tendon="straight" dyntype="integrator" gainprm="3" '
    'actrange="-1 1"/>',
    "an early filter": '<general joint="s" dyntype="filter" dynprm="0.05" gainprm="2" '
    'actearly="true" actrange="-0.5 0.5"/>',
    "a spatial tendon": '<motor tendon="straight" gear="-2"/>',
    "a bounded tendon": '<motor tendon="weak"/><motor tendon="weak" gear="2" forcerange="-1 1"/>',
    "a thruster": '<motor site="jet" gear="1 2 3 0.1 0.2 0.3"/>',
    "a site and a reference": '<general site="palm" refsite="u2" gear="1 -0.5 0.2 0 0 0" '
    'gainprm="2" biastype="affine" biasprm="0 -3 -0.4"/>',
    "turning and a reference": '<general site="tip" refsite="u1" gear="0 0 0 0.3 0.2 0.1" '
    'biastype="affine" biasprm="0 -3 -0.4"/>',
    "a free body": '<motor joint="free" gear="1 2 3 0.4 0.5 0.6"/>',
    "a free body in the world": '<motor jointinparent="free" gear="1 2 3 0.4 0.5 0.6"/>',
    "a muscle": '<muscle tendon="straight" force="50" lengthrange="0.4 0.8"/>',
    "a smooth muscle": '<muscle joint="e" scale="3" tausmooth="0.1" timeconst="0.02 0.05" '
    'lengthrange="-1 1.5" gear="0.4"/>',
    "a slider and a crank": '<general cranksite="l1" slidersite="anchor" cranklength="1.2" '
    'biastype="affine" biasprm="0 -1 -0.2"/>',
}
TENDONS = """
<fixed name="fix"><joint joint="s" coef="0.5"/><joint joint="e" coef="-1.2"/></fixed>
<fixed name="weak" actuatorfrcrange="-0.5 0.3"><joint joint="s" coef="0.5"/></fixed>
<spatial name="straight"><site site="anchor"/><site site="u1"/><site site="l1"/></spatial>"""


@pytest.mark.parametrize("name", ACTUATORS)
def test_an_actuator_acts_as_in_mujoco(name):
    pair = Pair(text(tendon=TENDONS, actuator=ACTUATORS[name]))
    actuation = pair.robot.actuation
    close(actuation.lengths(pair.q), pair.theirs(lambda d: d.actuator_length))
    close(actuation.velocities(pair.q, pair.v), pair.theirs(lambda d: d.actuator_velocity))
    arms = pair.theirs(lambda d: moment_arms(pair.m, d) @ pair.peer.T)
    close(actuation.moments(pair.q), arms)
    close(actuation.actuator_forces(*pair.given), pair.theirs(lambda d: d.actuator_force))
    close(actuation.forces(*pair.given), pair.torques())
    if pair.m.na:
        close(actuation.activation_rates(pair.act, pair.ctrl), pair.theirs(lambda d: d.act_dot))


@pytest.mark.slow
@pytest.mark.parametrize("file", ASSETS, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_a_file_of_gymnasium_moves_as_in_mujoco(file):
    pair = Pair(file.read_text())
    close(pair.robot.actuation.forces(*pair.given), pair.torques())
    close(pair.robot.inverse_dynamics(pair.q, pair.v, pair.a), pair.inverse_dynamics())
    assert beside_mj_step(file.read_text(), strength=0.3) < 1e-8


@pytest.mark.slow
def test_a_second_under_controls_of_every_kind_is_mujocos():
    chosen = ("motor", "position", "velocity", "intvelocity", "cylinder", "a filter")
    chosen += ("an exact filter in the parent", "a smooth muscle", "a thruster", "a muscle")
    chosen += ("an early filter",)
    actuators = "".join(ACTUATORS[name] for name in chosen)
    tendons = TENDONS.replace('name="straight"', 'name="straight" stiffness="30" damping="1.5"')
    moved = beside_mj_step(text(tendon=tendons, actuator=actuators).replace("0.002", "0.0005"))
    assert moved < 1e-8


def test_a_mimic_is_driven_through_the_joint_it_follows():
    mjcf = """<mujoco><worldbody>
    <body><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body>
    <body><joint name="b" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef="0.2 -1.5 0 0 0"/></equality>
    <actuator><position joint="b" kp="3" kv="0.2" gear="2"/></actuator></mujoco>"""
    pair = Pair(mjcf, 10)
    assert pair.robot.nv == 1
    close(pair.robot.actuation.lengths(pair.q), pair.theirs(lambda d: d.actuator_length))
    close(pair.robot.actuation.forces(*pair.given), pair.torques())


def test_forces_can_be_differentiated():
    pair = Pair(text(tendon=TENDONS, actuator=ACTUATORS["a muscle"]), 5)
    kernel = pair.robot.kernel("actuation_forces")
    state = pair.q[0], pair.v[0], pair.act[0], pair.ctrl[0]
    by_v, by_act = kernel.jacobian(("v", "act"))(*state)
    step = 1e-6
    for given, found in ((1, by_v), (2, by_act)):
        for k in range(len(state[given])):
            ends = []
            for sign in (step, -step):
                moved = [x.copy() for x in state]
                moved[given][k] += sign
                ends.append(kernel(*moved))
            assert np.allclose((ends[0] - ends[1]) / (2 * step), found[:, k], atol=1e-6)


def test_rotors_and_damping_of_actuators_are_those_of_joints_and_tendons():
    both = 'armature="0.3" damping="0.2"'
    pair = Pair(
        text(
            tendon=TENDONS,
            actuator=f"""<motor joint="s" gear="3" {both}/><motor joint="s" {both} group="2"/>
            <motor jointinparent="w" gear="2 0 1" {both}/><motor tendon="fix" gear="-2" {both}/>
            <motor tendon="straight" damping="0.4"/>""",
        )
    )
    close(pair.robot.inverse_dynamics(pair.q, pair.v, pair.a), pair.inverse_dynamics())


def test_keyframes_and_custom_numbers_are_taken():
    mjcf = text(
        actuator=ACTUATORS["motor"] + ACTUATORS["an integrator"].replace("straight", "t"),
        tendon='<fixed name="t"><joint joint="s" coef="1"/></fixed>',
        keyframe='<key name="home" time="2" ctrl="0.3 0.4" act="0.7" '
        'qpos="0.1 0.2 0.3 1 0 0 0 0.01 0.5 0.6 0.7 0.6 0.8 0 0" '
        'qvel="1 2 3 4 5 6 7 1 2 3 4 5 6"/>',
        custom='<numeric name="mine" data="1 2 3"/>',
    )
    robot = kt.load(mjcf)
    home = robot.keyframes["home"]
    assert list(robot.keyframes) == ["reference", "home"]
    assert home.time == 2.0
    assert home.q.tolist() == [0.1, 0.2, 0.3, 0, 0, 0, 1, 0.01, 0.5, 0.6, 0.7, 0.8, 0, 0, 0.6]
    pair = Pair(mjcf, 1)
    pair.peer.move_to(home.q, home.v)
    assert np.allclose(pair.peer.d.qvel, [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6])
    assert (home.act.tolist(), home.ctrl.tolist()) == ([0.7], [0.3, 0.4])
    assert robot.model.equipment.numerics == (("mine", (1.0, 2.0, 3.0)),)


def test_where_the_file_puts_its_bodies_is_the_reference():
    mjcf = """<mujoco><worldbody><body name="a" pos="1 2 3" euler="0 30 0"><freejoint/>
    <geom size="0.1"/><body name="b" pos="0.5 0 0"><joint name="j" ref="20"/>
    <geom size="0.1"/></body></body></worldbody>{}</mujoco>"""
    robot = kt.load(mjcf.format(""))
    start = robot.keyframes["reference"]
    assert list(robot.keyframes) == ["reference"]
    pair = Pair(mjcf.format(""), 1)
    mujoco.mj_resetData(pair.m, pair.peer.d)
    at = pair.peer.d.qpos.copy()
    pair.peer.move_to(start.q, start.v)
    assert np.array_equal(pair.peer.d.qpos, at)
    assert np.allclose(robot.pose(start.q, "a")[:3, 3], [1, 2, 3])
    named = '<keyframe><key name="reference" qpos="0 0 0 1 0 0 0 0"/></keyframe>'
    assert not kt.load(mjcf.format(named)).keyframes["reference"].q[:3].any()  # the file's own
    plain = (
        "<mujoco><worldbody><body pos='1 0 0'><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    assert not kt.load(plain).keyframes


BICEPS = """<mujoco>{}<worldbody><site name="o" pos="0 0 0.3"/><body>
  <joint name="shoulder" axis="0 1 0" range="-30 60" armature="0.01"/>
  <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/><site name="arm" pos="0.15 0 0.04"/>
  <body pos="0.3 0 0"><joint name="elbow" axis="0 1 0" range="0 100" armature="0.01"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="e" pos="0.1 0 0.04"/></body>
  </body></worldbody>
  <tendon><spatial name="t"><site site="o"/><site site="arm"/></spatial>
    <spatial name="u"><site site="arm"/><site site="e"/></spatial></tendon>
  <actuator><muscle name="deltoid" tendon="t"/><muscle name="biceps" tendon="u"/>
    <muscle name="joint" joint="elbow"/></actuator></mujoco>"""


@pytest.mark.parametrize("options", ["", '<lengthrange accel="5" inttotal="4" interval="1"/>'])
def test_muscles_without_a_length_range_have_the_one_that_the_compiler_finds(options):
    mjcf = BICEPS.format(f"<compiler>{options}</compiler>")
    pair = Pair(mjcf)
    given = [x.gain.length_range for x in pair.robot.model.equipment.actuators]
    assert np.array_equal(given, pair.m.actuator_lengthrange)
    close(pair.robot.actuation.forces(*pair.given), pair.torques())


@pytest.mark.parametrize(("mode", "most"), [("none", 5e9), ("all", 1.0)])
def test_a_muscle_whose_length_range_is_not_known_is_left_out(mode, most, monkeypatch):
    monkeypatch.setattr(mjcf_length_ranges, "MOST_WORK", most)
    mjcf = BICEPS.format(f'<compiler><lengthrange mode="{mode}"/></compiler>')
    with pytest.warns(ModelWarning, match="its length range is not given, and none was found"):
        robot = kt.load(mjcf)
    assert not robot.actuation.names
