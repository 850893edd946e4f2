"""Contact beside MuJoCo: accelerations at random states, and motions over time."""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
LEGS = [(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)]


def walker(cone="pyramidal", condim=3):
    """A trunk on four legs with balls for feet, capsules for shanks, limits and dry friction."""
    legs = "".join(
        f"""<body name="u{i}" pos="{x} {y} 0">
        <joint name="h{i}" axis="1 0 0" range="-0.8 0.8" limited="true"/>
        <joint name="s{i}" axis="0 1 0" range="-1 1" limited="true" frictionloss="0.3"/>
        <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.003 0.003 0.001"/>
        <body name="l{i}" pos="0 0 -0.15"><joint name="k{i}" axis="0 1 0" damping="0.1"/>
        <inertial pos="0 0.01 -0.07" mass="0.3" diaginertia="0.001 0.001 0.0005"/>
        <geom type="sphere" size="0.03" pos="0 0 -0.15"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.12" size="0.02"/></body></body>"""
        for i, (x, y) in enumerate(LEGS)
    )
    apart = "".join(f'<exclude body1="l{i}" body2="l{j}"/>' for i in range(4) for j in range(i))
    return f"""<mujoco><option timestep="0.002" cone="{cone}" impratio="1.5"/>
    <default><geom condim="{condim}" friction="0.8 0.02 0.01"/></default>
    <worldbody><geom type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 0.3"><freejoint/>
    <inertial pos="0.01 0 0" mass="5" diaginertia="0.05 0.08 0.1"/>{legs}</body></worldbody>
    <contact>{apart}</contact></mujoco>"""


BALLS = """<mujoco><option timestep="0.002" integrator="Euler"/><compiler angle="radian"/>
    <worldbody><geom type="plane" size="0 0 1" pos="0 0 -3"/>
    <body pos="0 0 1"><joint name="hip" type="ball" range="0 0.5"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04" mass="2"/>
    <body pos="0 0 -0.4"><joint name="knee" type="ball" pos="0.02 0 0.01" range="0 0.4"
    margin="0.05" solreflimit="0.03 0.8"/><geom type="box" pos="0.1 0 -0.15" size="0.1 0.04 0.15"/>
    </body></body></worldbody></mujoco>"""
"""Two ball joints that turn by limited angles."""


class Beside:
    """A robot here and in MuJoCo, which solves as well as it can."""

    def __init__(self, source):
        self.m = mujoco.MjModel.from_xml_path(str(source)) if isinstance(source, Path) else None
        if self.m is None:
            self.m = mujoco.MjModel.from_xml_string(source)
        self.m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        self.m.opt.iterations = self.m.opt.ls_iterations = 200
        self.m.opt.tolerance = self.m.opt.ls_tolerance = 1e-14
        self.d = mujoco.MjData(self.m)
        self.robot = kt.load(source)
        self.free = self.m.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE

    def to_ours(self, qpos, *rates):
        """A state of MuJoCo's: its quaternion is ordered otherwise, its velocity in the world."""
        if not self.free:
            return qpos, *rates
        back = Rotation.from_quat(qpos[[4, 5, 6, 3]]).as_matrix().T
        turned = [np.r_[back @ x[:3], x[3:]] for x in rates]
        return np.r_[qpos[:3], qpos[4:7], qpos[3], qpos[7:]], *turned

    def random_states(self, count, seed=0):
        rng, m = np.random.default_rng(seed), self.m
        for _ in range(count):
            qpos = m.qpos0.copy()
            for j, at in enumerate(m.jnt_qposadr):
                if m.jnt_limited[j]:
                    lower, upper = m.jnt_range[j]
                    middle, half = (lower + upper) / 2, (upper - lower) / 2
                    qpos[at] = middle + half * rng.uniform(-1.1, 1.1)
                elif m.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
                    qpos[at] += rng.uniform(-0.5, 0.2)
            if self.free:
                qpos[2] = rng.uniform(0.1, 1.05) * qpos[2]
                qpos[3:7] += 0.3 * rng.normal(size=4)
                qpos[3:7] /= np.linalg.norm(qpos[3:7])
            yield qpos, 0.5 * rng.normal(size=m.nv), rng.normal(size=m.nv)

    def qacc(self, qpos, qvel, force):
        d = self.d
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = qpos, qvel, force
        d.ctrl[:] = d.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self.m, d)
        return d.qacc.copy(), d.ncon

    def errors(self, count, cone="auto"):
        """The relative error of the accelerations at each state, and the numbers of contacts."""
        states = list(self.random_states(count))
        given = [np.stack(x) for x in zip(*(self.to_ours(*x) for x in states), strict=True)]
        a, residual = self.robot.contact.dynamics(*given, contact=kt.ContactSolver(40, cone=cone))
        assert residual.max() < 1e-12
        found, contacts = [], []
        for ours, q, v, state in zip(a, *given[:2], states, strict=True):
            theirs, ncon = self.qacc(*state)
            if self.free:
                turn = Rotation.from_quat(q[3:7]).as_matrix()
                ours = np.r_[turn @ (ours[:3] + np.cross(v[3:6], v[:3])), ours[3:]]
            found.append(np.abs(ours - theirs).max() / np.abs(theirs).max())
            contacts.append(ncon)
        return np.array(found), np.array(contacts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hopper", "half_cheetah", "ant"])
def test_accelerations_are_mujocos(name):
    errors, contacts = Beside(ASSETS / f"{name}.xml").errors(200)
    assert (contacts > 0).mean() > 0.05
    assert errors.max() < 1e-10


@pytest.mark.slow
def test_a_humanoid_that_can_touch_itself_accelerates_as_mujocos():
    errors, contacts = Beside(ASSETS / "humanoid.xml").errors(100)
    assert contacts.max() > 10
    assert errors.max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cone", "condim", "bound"),
    [
        ("pyramidal", 1, 1e-10),
        ("pyramidal", 3, 1e-10),
        ("pyramidal", 4, 1e-10),
        ("elliptic", 3, 1e-7),  # MuJoCo stops earlier where a cone is curved
        ("elliptic", 6, 1e-7),
    ],
)
def test_cones_of_every_dimension_are_mujocos(cone, condim, bound):
    errors, contacts = Beside(walker(cone, condim)).errors(200)
    assert (contacts > 0).mean() > 0.5
    assert errors.max() < bound


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_robot_that_falls_onto_its_feet_moves_as_in_mujoco(cone):
    pair = Beside(walker(cone))
    qpos = pair.m.qpos0.copy()
    qpos[2] = 0.36
    qvel = np.zeros(pair.m.nv)
    qvel[0] = 0.3
    pair.d.qpos[:], pair.d.qvel[:] = qpos, qvel
    for _ in range(500):
        mujoco.mj_step(pair.m, pair.d)
    q, v = pair.to_ours(qpos, qvel)
    motion = pair.robot.simulate(q, v, time=1.0, dt=0.002)
    q_end, v_end = pair.to_ours(pair.d.qpos, pair.d.qvel)
    assert np.abs(motion.q[-1] - q_end).max() < 1e-8
    assert np.abs(motion.v[-1] - v_end).max() < 1e-6
    assert motion.q[-1, 2] < 0.3  # it has landed


def test_a_robot_that_starts_deep_in_the_ground_is_thrown_up_no_higher_than_in_mujoco():
    pair = Beside(walker("pyramidal"))
    q, v = pair.to_ours(pair.m.qpos0, np.zeros(pair.m.nv))
    q[2] -= pair.robot.distances(q).min() + 0.2
    pair.d.qpos[2] = q[2]
    heights = []
    for _ in range(300):
        mujoco.mj_step(pair.m, pair.d)
        heights.append(pair.d.qpos[2])
    with pytest.warns(kt.errors.SimulationWarning, match="overlap by 0.2 m"):
        motion = pair.robot.simulate(q, v, time=0.6, dt=0.002)
    assert max(heights) > q[2] + 0.2
    np.testing.assert_allclose(motion.q[1:, 2], heights, atol=1e-6)


@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_damping_is_implicit_unless_the_file_switches_that_off(flag):
    text = f"""<mujoco><option timestep="0.005"><flag eulerdamp="{flag}"/></option>
    <worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 0.31"><freejoint/>
    <geom type="box" size="0.1 0.1 0.05"/><body><joint axis="0 1 0" damping="0.4"/>
    <geom type="capsule" fromto="0 0 -0.07 0.02 0.03 -0.25" size="0.02"/></body></body></worldbody>
    </mujoco>"""
    pair = Beside(text)
    pair.d.qvel[:] = [0.2, 0.1, -0.5, 0.3, 0.2, 0.1, 4.0]
    q, v = pair.to_ours(pair.d.qpos.copy(), pair.d.qvel.copy())
    motion = pair.robot.simulate(q, v, time=0.2, dt=0.005)
    touched = 0
    for _ in range(40):
        mujoco.mj_step(pair.m, pair.d)
        touched += pair.d.ncon
    q_end, v_end = pair.to_ours(pair.d.qpos, pair.d.qvel)
    assert touched > 5
    assert np.abs(motion.q[-1] - q_end).max() < 1e-8
    assert np.abs(motion.v[-1] - v_end).max() < 1e-6
    q, v, tau = motion.q[-1], motion.v[-1], np.zeros(pair.robot.nv)
    _, B = pair.robot.linearize(q, v, tau, 0.005)
    unit, step = np.eye(pair.robot.nv), 1e-4
    ends = [[pair.robot.step(q, v, s * x, 0.005)[1] for x in unit] for s in (step, -step)]
    slopes = (np.array(ends[0]) - ends[1]).T / (2 * step)
    assert np.allclose(B[pair.robot.nv :], slopes, atol=1e-5 * np.abs(slopes).max())


def test_limits_of_ball_joints_push_as_mujocos():
    pair, rng = Beside(BALLS), np.random.default_rng(1)
    robot = pair.robot
    assert {name: x.angle for name, x in robot.limits.balls.items()} == {"hip": 0.5, "knee": 0.4}
    q = robot.integrate(robot.neutral(), 0.5 * rng.standard_normal((50, 6)))
    v, acting = rng.standard_normal((50, 6)), 0
    a, _ = robot.contact.dynamics(q, v, np.zeros(6))
    for own, x, rates in zip(a, q, v, strict=True):
        pair.d.qpos[:], pair.d.qvel[:] = x[[3, 0, 1, 2, 7, 4, 5, 6]], rates
        mujoco.mj_forward(pair.m, pair.d)
        acting += pair.d.nefc
        assert np.allclose(own, pair.d.qacc, atol=1e-9 * (1 + np.abs(pair.d.qacc).max()))
    assert acting > 50
