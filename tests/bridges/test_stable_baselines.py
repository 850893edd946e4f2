"""Stable-Baselines3 on batches of environments, where it is installed."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("stable_baselines3")
pytestmark = pytest.mark.filterwarnings("ignore")

from stable_baselines3.common.env_util import make_vec_env  # noqa: E402

from kinetree.bridges import gym  # noqa: E402
from kinetree.bridges.stable_baselines import BatchEnv  # noqa: E402
from kinetree.errors import KinetreeError  # noqa: E402
from tests.test_examples import example  # noqa: E402


def test_ends_of_episodes_have_the_last_observation_and_say_whether_time_was_up():
    env = BatchEnv(gym.ReachingArm(3, episode=5, autoreset="same_step"))
    env.seed(1)
    env.reset()
    for _ in range(4):
        _, _, over, infos = env.step(np.ones((3, 2)))
        assert not over.any()
        assert infos == [{}] * 3
    seen, _, over, infos = env.step(np.ones((3, 2)))
    assert over.all()
    for first, info in zip(seen, infos, strict=True):
        assert info["TimeLimit.truncated"]
        assert (first[2:4] == 0.0).all()  # it rests at the start
        assert (info["terminal_observation"][2:4] != 0.0).any()
    assert env.get_attr("episode", [0, 2]) == [5, 5]


def test_tasks_that_start_with_the_next_step_are_refused():
    with pytest.raises(KinetreeError, match="same_step"):
        BatchEnv(gym.ReachingArm(2))


def test_make_vec_env_takes_the_names():
    env = make_vec_env("kinetree/ReachingArm-v0", 2, seed=0)
    assert env.reset().shape == (2, 6)


@pytest.mark.slow
def test_the_arm_learns_to_reach():
    returns = example("baselines").main("arm", 250_000)
    assert returns[-1] > 0.6 * returns[0]  # which are negative
    assert returns[-1] > -16.0
