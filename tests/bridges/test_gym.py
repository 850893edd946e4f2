"""Environments for learning."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import kinetree as kt
from kinetree.bridges import gym
from tests.doors import arguments_of, wrong_answers

ENVIRONMENTS = (gym.CartPoleSwingUp, gym.DoublePendulumSwingUp, gym.ReachingArm)


@pytest.mark.parametrize("make", ENVIRONMENTS)
def test_an_environment_keeps_to_its_spaces(make):
    env = make(4)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    for _ in range(20):
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        assert reward.shape == terminated.shape == truncated.shape == (4,)
        assert not terminated.any()
        assert not truncated.any()


@pytest.mark.parametrize("make", ENVIRONMENTS)
def test_a_seed_gives_the_same_episode(make):
    runs = []
    for _ in range(2):
        env = make(3)
        env.reset(seed=7)
        actions = np.random.default_rng(0).uniform(-1, 1, (10, *env.action_space.shape))
        runs.append([env.step(action)[0] for action in actions])
    assert np.array_equal(*runs)


@pytest.mark.parametrize("make", ENVIRONMENTS)
def test_an_episode_is_cut_off_and_starts_anew_with_the_next_step(make):
    env = make(2, episode=5)
    env.reset(seed=0)
    still = np.zeros(env.action_space.shape)
    ends = [env.step(still)[3] for _ in range(7)]
    assert [bool(end.all()) for end in ends] == [False] * 4 + [True, False, False]


def test_environments_do_not_disturb_each_other():
    env, alone = gym.CartPoleSwingUp(3), gym.CartPoleSwingUp(1)
    env.reset(seed=0)
    alone.reset(seed=0)
    alone.q, alone.v = env.q[1:2].copy(), env.v[1:2].copy()
    for _ in range(10):
        env.step(np.array([[1.0], [0.5], [-1.0]]))
        alone.step(np.array([[0.5]]))
    assert (env.q[1] == alone.q[0]).all()


def test_a_reaching_arm_learns_to_reach():
    W, history = gym.random_search(gym.ReachingArm, iterations=40)
    assert W.shape == (2, 6)
    assert np.mean(history[-5:]) > 0.6 * np.mean(history[:3])  # both are negative


SMALL = gym.DoublePendulumSwingUp(2)
OPTIONS = {"num_envs": 2, "dt": 0.01, "substeps": 1, "episode": 2, "method": "euler"}
CALLS = {
    "CartPoleSwingUp": (gym.CartPoleSwingUp, OPTIONS),
    "DoublePendulumSwingUp": (gym.DoublePendulumSwingUp, {**OPTIONS, "limits": kt.Enforcement()}),
    "ReachingArm": (gym.ReachingArm, OPTIONS),
    "step": (SMALL.step, {"action": np.zeros((2, 1))}),
    "reset": (SMALL.reset, {"seed": 0}),
    "random_search": (
        gym.random_search,
        {
            "make": lambda n: gym.DoublePendulumSwingUp(n, episode=2),
            "iterations": 1,
            "directions": 2,
        },
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_of_any_argument_is_taken_or_refused_by_an_error_that_names_it(name):
    call, given = CALLS[name]
    call(**given)
    arguments = {*arguments_of(call), *given}
    assert [x for key in arguments for x in wrong_answers(call, given, key)] == []
