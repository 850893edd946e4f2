"""Tendons beside MuJoCo: lengths, moment arms, and what they do by themselves in the dynamics."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.peers.equipped_mjcf import Pair, close, tendon_jacobian, text

FIXED = '<joint joint="s" coef="0.5"/><joint joint="e" coef="-1.2"/>'
TENDONS = {
    "fixed": f'<fixed stiffness="2" springlength="0.1 0.3" damping="0.4">{FIXED}</fixed>',
    "armature": '<fixed armature="0.3"><joint joint="s" coef="0.5"/><joint joint="f" coef="2"/>'
    "</fixed>",
    "straight": '<spatial stiffness="30" damping="1.5" springlength="0.2"><site site="anchor"/>'
    '<site site="u1"/><site site="l1"/></spatial>',
    "pulleys": '<spatial stiffness="5"><site site="anchor"/><site site="u1"/><pulley divisor="2"/>'
    '<site site="u1"/><site site="tip"/><pulley divisor="3"/><site site="u1"/>'
    '<geom geom="ball" sidesite="side"/><site site="tip"/></spatial>',
    "sphere": '<spatial damping="0.2"><site site="u1"/><geom geom="ball"/><site site="l1"/>'
    "</spatial>",
    "sphere on a side": '<spatial stiffness="4"><site site="u1"/><geom geom="ball" '
    'sidesite="side"/><site site="tip"/></spatial>',
    "cylinder": '<spatial stiffness="4" damping="0.1"><site site="anchor2"/><geom geom="post"/>'
    '<site site="tip"/><site site="palm"/></spatial>',
    "cylinder on a side": '<spatial stiffness="4"><site site="anchor2"/><geom geom="post" '
    'sidesite="u2"/><site site="tip"/></spatial>',
    "from within": '<spatial stiffness="4"><site site="anchor2"/><geom geom="ball" '
    'sidesite="inside"/><site site="tip"/></spatial>',
}
ITERATED = 1e-7
"""MuJoCo stops its iteration for a way from within there; here it is solved to rounding."""


@pytest.mark.parametrize("name", TENDONS)
def test_a_tendon_is_as_long_and_as_strong_as_in_mujoco(name):
    pair = Pair(text(tendon=TENDONS[name]))
    tolerance = ITERATED if name == "from within" else 1e-9
    tendons = pair.robot.tendons
    close(tendons.lengths(pair.q), pair.theirs(lambda d: d.ten_length))
    close(tendons.velocities(pair.q, pair.v), pair.theirs(lambda d: d.ten_velocity), tolerance)
    arms = pair.theirs(lambda d: tendon_jacobian(pair.m, d) @ pair.peer.T)
    close(tendons.jacobian(pair.q), arms, tolerance)
    ours = pair.robot.inverse_dynamics(pair.q, pair.v, pair.a)
    close(ours, pair.inverse_dynamics(), tolerance)


@pytest.mark.parametrize("name", ["fixed", "armature", "straight", "cylinder"])
def test_dynamics_with_a_tendon_agree_with_each_other(name):
    robot = Pair(text(tendon=TENDONS[name]), 1).robot
    rng = np.random.default_rng(1)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    assert np.allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-8)
    dq, dv, M = robot.inverse_dynamics_derivatives(q, v, a)
    assert np.allclose(M, robot.mass_matrix(q), atol=1e-12)
    assert np.allclose(M, robot.mass_matrix(q, method="rnea"), atol=1e-12)
    step = 1e-6
    for k, unit in enumerate(np.eye(robot.nv)):
        ends = [robot.inverse_dynamics(robot.integrate(q, s * unit), v, a) for s in (step, -step)]
        assert np.allclose((ends[0] - ends[1]) / (2 * step), dq[:, k], atol=1e-5)
        ends = [robot.inverse_dynamics(q, v + s * unit, a) for s in (step, -step)]
        assert np.allclose((ends[0] - ends[1]) / (2 * step), dv[:, k], atol=1e-5)
    ours = robot.forward_dynamics_derivatives(q, v, tau)
    assert np.allclose(ours[0], -np.linalg.solve(M, dq), atol=1e-7)


def test_energy_counts_springs_and_inertia_of_tendons():
    pair = Pair(text(tendon=TENDONS["fixed"] + TENDONS["armature"] + TENDONS["straight"]), 5)
    for q, v in zip(pair.q, pair.v, strict=True):
        pair.peer.move_to(q, v)
        assert np.isclose(pair.robot.kinetic_energy(q, v), pair.peer.kinetic_energy(), rtol=1e-9)
        base = pair.robot.gravity @ np.array(list(pair.robot.model.base_inertia.moment), float)
        ours = pair.robot.potential_energy(q) - base
        assert np.isclose(ours, pair.peer.potential_energy(), rtol=1e-9)


def test_dry_friction_of_a_tendon_opposes_its_velocity():
    robot = Pair(text(tendon=f'<fixed frictionloss="0.7">{FIXED}</fixed>'), 1).robot
    q, v, a = robot.neutral(), np.ones(robot.nv), np.zeros(robot.nv)
    without = robot.without("friction")
    taken = robot.inverse_dynamics(q, v, a) - without.inverse_dynamics(q, v, a)
    rate = robot.tendons.velocities(q, v)[0]
    assert np.allclose(taken, 0.7 * np.sign(rate) * robot.tendons.jacobian(q)[0])


def test_a_step_treats_damping_of_tendons_as_mujocos_euler_does():
    pair = Pair(text(tendon=TENDONS["fixed"]), 1)
    m, d, robot = pair.m, pair.peer.d, pair.robot
    pair.peer.move_to(pair.q[0], pair.v[0])
    mujoco.mj_step(m, d)
    after = robot.step(
        pair.q[0], pair.v[0], np.zeros(robot.nv), m.opt.timestep, method="implicit-damping"
    )
    end = Pair(text(tendon=TENDONS["fixed"]), 1).peer
    end.move_to(*after)
    assert np.abs(end.d.qpos - d.qpos).max() < 1e-12


GRAZED = """<mujoco><compiler angle="radian"/><worldbody>
  <body><joint name="a" axis="0 1 0"/><geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0"/>
  <site name="from" pos="0.25 0 0.1"/><geom name="ball" pos="0.5 0 0.125" size="0.085"/>
  <site name="inside" pos="0.5 0 0.125"/><body pos="0.5 0 0"><joint name="b" axis="0 1 0"/>
  <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0"/><site name="to" pos="0.25 0 0.1"/></body>
  </body></worldbody><tendon><spatial><site site="from"/><geom geom="ball" sidesite="inside"/>
  <site site="to"/></spatial></tendon></mujoco>"""


def test_a_way_from_within_that_all_but_grazes_its_circle_is_the_shortest():
    robot = Pair(GRAZED, 1).robot
    q = np.stack([np.full(21, 1.4), np.linspace(0.488, 0.496, 21)], axis=1)
    lengths, bend = robot.tendons.lengths(q)[:, 0], np.array([0.0, 1e-6])
    ends = [robot.tendons.lengths(q + s * bend)[:, 0] for s in (1, -1)]
    np.testing.assert_allclose(
        robot.tendons.jacobian(q)[:, 0, 1], (ends[0] - ends[1]) / 2e-6, atol=1e-7
    )
    angles = np.linspace(-np.pi, np.pi, 400_001)
    circle = 0.085 * np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1)
    excess = []
    for length, x in zip(lengths, q, strict=True):
        start, end, centre = (robot.pose(x, name)[:3, 3] for name in ("from", "to", "inside"))
        ways = sum(np.linalg.norm(centre + circle - p, axis=1) for p in (start, end))
        assert length == pytest.approx(ways.min(), abs=1e-9)
        excess.append(length - np.linalg.norm(end - start))
    assert min(excess) < 1e-12  # straight
    assert 1e-9 < max(excess) < 1e-4


@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
def test_the_side_site_chooses_between_both_ways_as_in_mujoco(kind):
    slides = "".join(f'<joint type="slide" axis="{x}"/>' for x in ("1 0 0", "0 1 0", "0 0 1"))
    point = f'<body>{slides}<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    mjcf = f"""<mujoco><worldbody><geom name="c" type="{kind}" size="0.05 0.02"/>
    <site name="s" pos="0.31 -0.14 0.07"/>{point}<site name="a"/></body>{point}
    <site name="b"/></body></worldbody><tendon><spatial name="t"><site site="a"/>
    <geom geom="c" sidesite="s"/><site site="b"/></spatial></tendon></mujoco>"""
    m = mujoco.MjModel.from_xml_string(mjcf)
    d, robot = mujoco.MjData(m), kt.load(mjcf)
    q = np.random.default_rng(0).normal(size=(1000, 6)) * 0.08
    theirs = []
    for d.qpos[:] in q:
        mujoco.mj_fwdPosition(m, d)
        theirs.append(d.ten_length.copy())
    assert np.allclose(robot.tendons.lengths(q), theirs, rtol=0, atol=1e-12)
