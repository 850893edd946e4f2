"""Tasks with contact: walking, hopping, lifting."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium

import kinetree as kt
from kinetree.bridges.gym_names import TASKS as TASK_MODULES
from kinetree.bridges.gym_names import register
from kinetree.bridges.hopping import HopperHop
from kinetree.bridges.legged import HumanoidWalk, QuadrupedWalk
from kinetree.bridges.lifting import GOAL, GripperLift
from kinetree.bridges.motors import Servos
from kinetree.bridges.variation import Variation

register()
TASKS = (QuadrupedWalk, HumanoidWalk, HopperHop, GripperLift)
VARIED = Variation(load=1.0, load_offset=0.05, friction=0.3, gain=0.1, latency=0.01, push=0.1)
WALKERS = (QuadrupedWalk, HumanoidWalk, HopperHop)


def stepped(env, steps, seed=0):
    """All observations under random actions."""
    seen = [env.reset(seed=seed)[0]]
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        seen.append(env.step(rng.uniform(-1.0, 1.0, env.action_space.shape))[0])
    return np.array(seen)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_task_keeps_to_its_spaces_and_a_seed_gives_the_same_episode(task):
    env = task(5, variation=VARIED, episode=15)
    seen = stepped(env, 20)
    assert all(env.observation_space.contains(x) for x in seen)
    assert np.array_equal(seen, stepped(env, 20))
    assert not np.array_equal(seen, stepped(env, 20, seed=1))
    assert np.ptp(env.numbers, axis=0)[[0, -1]].min() > 0.0  # loads and friction differ


@cache
def plain(task):
    """Four environments that do not differ: they are compiled once."""
    return task(4, episode=1000)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_a_name(task):
    assert gymnasium.spec(f"kinetree/{task.__name__}-v0").kwargs == {"task": task.__name__}
    assert TASK_MODULES[task.__name__] == task.__module__.split(".")[-1]


@pytest.mark.slow
@pytest.mark.parametrize("task", WALKERS)
def test_the_forces_of_a_robot_that_stands_are_its_weight(task):
    env = plain(task)
    env.reset(seed=0)
    for _ in range(60):
        _, _, terminated, _, _ = env.step(np.zeros(env.action_space.shape))
        assert not terminated.any()
    weight = 9.81 * env.robot.total_mass
    push = env.forces.sum(axis=1) / weight
    assert np.allclose(push[:, 2], 1.0, atol=0.01)
    assert np.allclose(push[:, :2], 0.0, atol=0.05)  # it sways
    energy = env.robot.kinetic_energy(env.q, env.v)
    assert (energy < 0.5 * env.robot.total_mass * 0.15**2).all()


@pytest.mark.slow
def test_a_robot_that_falls_ends_its_episode_and_stands_again():
    env = plain(QuadrupedWalk)
    env.reset(seed=0)
    env.q[1, 3:7] = [1.0, 0.0, 0.0, 0.0]  # on its back
    _, _, terminated, _, _ = env.step(np.zeros((4, 12)))
    assert terminated.tolist() == [False, True, False, False]
    env.step(np.zeros((4, 12)))
    assert env.up[1, 2] > 0.9


@pytest.mark.slow
def test_one_call_makes_the_steps_of_an_action():
    env = plain(QuadrupedWalk)
    env.reset(seed=0)
    action = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 12))
    q, v = env.q.copy(), env.v.copy()
    p = env.servos.pack(action, env.action, np.zeros(4), np.ones(4))
    run = env.robot.simulate(q, v, env.servos, time=5 * env.dt, dt=env.dt, p=p, method="euler")
    env.step(action)
    assert np.array_equal(env.q, run.q[:, -1])
    assert np.array_equal(env.tau, run.tau[:, -1])


@pytest.mark.slow
def test_a_scripted_gripper_lifts_the_block():
    env = GripperLift(4, episode=1000, variation=Variation(load=0.2, friction=0.2))
    env.reset(seed=0)
    for target, grip in ((-0.75, -0.5), (-0.75, 0.9), (0.3, 0.9)):
        for _ in range(50):
            _, reward, terminated, _, _ = env.step(np.tile([target, grip, grip], (4, 1)))
            assert not terminated.any()
    assert (env.lifted > 0.9 * GOAL).all()
    assert (reward > 1.0).all()
    loaded = (0.3 + env.numbers[:, 0]) * 9.81
    held = env.forces[:, env._fingers].sum(axis=1)
    assert np.allclose(held[:, 2], loaded, rtol=0.02)  # the fingers carry it


SLIDES = kt.Assembly("two", "base")
SLIDES.add("cart", "base", kt.joints.Prismatic("x"), mass=1.0, limits=kt.Limits(effort=5.0))
SLIDES.add("spinner", "cart", kt.joints.Revolute("y"), mass=1.0, inertia=(0.1, 0.1, 0.1))


def test_servos_pull_towards_their_targets_within_their_effort():
    servos = Servos(SLIDES.robot(), {"cart_joint": 0.5}, reach=2.0, stiffness=3.0, damping=0.5)
    assert (servos.actions, servos.inputs) == (1, 4)
    one = np.ones(1)

    def force(t, action, before, late, gain):
        p = servos.pack(action * one, before * one, np.array(late), np.array(gain))
        return [float(x) for x in servos(t, [0.1, 0.0], [0.2, 0.0], p)]

    assert force(0.0, 0.25, 9.0, 0.0, 1.0) == pytest.approx([3.0 * 0.9 - 0.1, 0.0])
    assert force(0.0, 0.25, 0.0, 0.01, 1.0) == pytest.approx([3.0 * 0.4 - 0.1, 0.0])
    assert force(0.01, 0.25, 0.0, 0.01, 2.0) == [5.0, 0.0]
    assert force(0.0, -9.0, 0.0, 0.0, 1.0) == [-5.0, 0.0]
    with pytest.raises(kt.errors.KinetreeError, match="valid are 'cart_joint'"):
        Servos(SLIDES.robot(), {"cart": 0.0})


def test_variations_are_as_wide_as_asked_for():
    rng, varied = np.random.default_rng(0), Variation(load=2.0, load_offset=0.1, push=0.3, pushes=1)
    loads = varied.loads(rng, 1000)
    assert loads.shape == (1000, 10)
    assert 1.8 < loads[:, 0].max() <= 2.0
    c = loads[:, 1:4] / loads[:, :1]
    assert 0.09 < np.abs(c).max() <= 0.1
    trace = loads[:, 4:7].sum(axis=-1)
    assert np.allclose(trace, 2.0 * loads[:, 0] * (c**2).sum(axis=-1))
    kicks = varied.kicks(rng, 10_000, 0.1)
    hit = kicks.any(axis=-1)
    assert hit.mean() == pytest.approx(0.1, abs=0.02)
    assert kicks[hit].std() == pytest.approx(0.3, abs=0.02)
    with pytest.raises(kt.errors.KinetreeError, match="load is negative"):
        Variation(load=-1.0)
    with pytest.raises(kt.errors.KinetreeError, match=r"gain=1.0: less than 1 is expected"):
        Variation(gain=1.0)
