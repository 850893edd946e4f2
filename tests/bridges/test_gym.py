"""Environments for learning."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import kinetree as kt
from kinetree.bridges import gym
from kinetree.bridges.motors import Controls
from kinetree.errors import KinetreeError
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


@pytest.mark.filterwarnings("ignore:.*Box observation space")
@pytest.mark.parametrize("make", ENVIRONMENTS)
def test_one_environment_passes_gymnasiums_checks(make):
    name = f"kinetree/{make.__name__}-v0"
    env = gymnasium.make(name, render_mode="rgb_array")
    check_env(env.unwrapped)
    alone, batch = gymnasium.make(name), gymnasium.make_vec(name, num_envs=3)
    assert isinstance(batch, make)
    first, _ = alone.reset(seed=5)
    seen, _ = make(1).reset(seed=5)
    assert np.array_equal(first, seen[0])


def test_a_name_with_a_module_needs_no_import():
    code = 'import gymnasium as g; g.make("kinetree.bridges.gym:kinetree/ReachingArm-v0").reset()'
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("make", ENVIRONMENTS)
def test_episodes_start_at_once_if_asked_to(make):
    env = make(3, episode=4, autoreset="same_step")
    later = make(3, episode=4)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    env.reset(seed=1)
    later.reset(seed=1)
    action = np.full(env.action_space.shape, 0.5)
    for _ in range(4):
        found, expected = env.step(action), later.step(action)
        for x, y in zip(found[1:4], expected[1:4], strict=True):
            assert np.array_equal(x, y)
    assert found[3].all()
    assert np.array_equal(found[4]["final_obs"], expected[0])
    assert found[4]["_final_obs"].all()
    assert np.array_equal(found[0], later.step(action)[0])  # the same first states, a step earlier
    with pytest.raises(KinetreeError, match="next_step"):
        make(1, autoreset="never")


LEG = """<mujoco><worldbody><body><joint name="hip" axis="0 1 0" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/></body></worldbody><actuator>
<position name="servo" joint="hip" kp="30" kv="2" ctrlrange="-0.5 1.5"/>
<motor name="motor" joint="hip" gear="3"/></actuator></mujoco>"""


class Driven(gym.RobotEnv):
    """A leg whose actions are the controls of its actuators."""

    def __init__(self, num_envs):
        leg = kt.load(LEG, contact=False)
        super().__init__(leg, num_envs, Controls(leg, unit=0.2), dt=0.005, substeps=3)

    def start(self, rng, which):
        return np.zeros((len(which), 1)), np.zeros((len(which), 1))

    def observe(self):
        return np.concatenate([self.q, self.v], axis=-1)

    def reward(self, action):
        return np.zeros(self.num_envs)


def test_actions_are_controls_of_actuators_within_their_ranges():
    env = Driven(2)
    env.reset(seed=0)
    actions = np.array([[-1.0, 0.5], [0.3, -1.0]])
    for _ in range(4):
        env.step(actions)
    ctrl = np.array([0.5, 0.0]) + np.array([1.0, 0.2]) * actions
    zero = np.zeros((2, 1))
    motion = env.robot.simulate(zero, zero, time=0.06, dt=0.005, ctrl=ctrl, method="euler")
    assert np.allclose(env.q, motion.q[:, -1], atol=1e-12)
    assert env.single_action_space.shape == (2,)


def test_actuators_with_activations_are_refused_as_actions():
    filtered = LEG.replace("<motor", '<general dyntype="filter" dynprm="0.1"')
    with pytest.raises(KinetreeError, match=r"actuator 'motor' .* has an activation"):
        Controls(kt.load(filtered, contact=False))
    with pytest.raises(KinetreeError, match="has no actuators"):
        Controls(kt.robots.cart_pole())


class Falling(gym.CartPoleSwingUp):
    """An episode ends when the cart leaves the middle."""

    def done(self):
        return np.abs(self.q[:, 0]) > 0.3


def test_an_episode_that_is_done_starts_anew_with_the_next_step():
    env = Falling(2)
    env.reset(seed=0)
    pushed, rested = np.array([[1.0], [0.0]]), []
    for _ in range(60):
        seen, reward, terminated, truncated, _ = env.step(pushed)
        rested.append((seen[0], reward[0], terminated[0]))
        assert not truncated.any()
        assert not terminated[1]
    end = next(k for k, row in enumerate(rested) if row[2])
    assert abs(rested[end][0][0]) > 0.3  # the observation of the end
    after, reward, terminated = rested[end + 1]
    assert abs(after[0]) <= 0.05
    assert reward == 0.0
    assert not terminated


class Diverging(gym.DoublePendulumSwingUp):
    """A state that blows up."""

    def start(self, rng, which):
        q, v = super().start(rng, which)
        return q, v + 1e200


def test_a_state_that_diverges_ends_its_episode_with_numbers():
    env = Diverging(2)
    env.reset(seed=0)
    seen, reward, terminated, _, _ = env.step(np.zeros((2, 1)))
    assert terminated.all()
    assert np.isfinite(seen).all()
    assert np.isfinite(reward).all()


class Returning(gym.CartPoleSwingUp):
    """A task whose methods return what the test says."""

    def __init__(self, **methods):
        for name, found in methods.items():
            setattr(self, name, lambda *_, found=found: found)
        super().__init__(4)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"reward": np.ones((4, 1))}, r"Returning.reward returns has shape \(4, 1\); \(4,\) is"),
        ({"reward": None}, "Returning.reward returns has dtype object"),
        ({"done": np.zeros((4, 1), bool)}, r"Returning.done returns has shape \(4, 1\); \(4,\) is"),
        ({"done": None}, "Returning.done returns has dtype object"),
        ({"observe": np.zeros(4)}, r"Returning.observe returns has shape \(4,\); \(4, n\) is"),
        ({"observe": np.zeros((2, 4))}, r"observe returns has shape \(2, 4\); \(4, n\) is"),
        ({"start": np.zeros((4, 2))}, "Returning.start must return q and v"),
        (
            {"start": (np.zeros((4, 3)), 0.0)},
            r"q of Returning.start has shape \(4, 3\); \(4, 2\) is",
        ),
        ({"start": (0.0, np.full((4, 2), np.nan))}, "v of Returning.start must be finite"),
    ],
)
def test_what_a_task_returns_wrongly_is_named(methods, message):
    with pytest.raises(KinetreeError, match=message):
        Returning(**methods).step(np.zeros((4, 1)))


def test_a_task_may_return_lists_and_one_number_for_all():
    rows = [[0.0, 0.1, 0.0, 0.0]] * 4
    start = ([0.0, 3.0], [[0.0, 0.0]] * 4)
    env = Returning(observe=rows, reward=1.0, done=[False, True, False, False], start=start)
    seen, reward, terminated, _, _ = env.step([[0.0]] * 4)
    assert seen.shape == (4, 4)
    assert (reward == 1.0).all()
    assert terminated.tolist() == [False, True, False, False]


def test_a_task_without_a_method_says_which():
    class Bare(gym.RobotEnv):
        pass

    with pytest.raises(NotImplementedError, match=r"Bare needs a method start\(rng, which\)"):
        Bare(kt.robots.cart_pole(), 2, [1.0, 0.0])


def test_an_action_that_is_not_a_number_is_refused():
    env = gym.CartPoleSwingUp(2)
    env.reset(seed=0)
    with pytest.raises(KinetreeError, match="action holds nan"):
        env.step(np.array([[0.0], [np.nan]]))


def test_gymnasiums_modes_of_starting_anew_are_taken():
    mode = gymnasium.vector.AutoresetMode
    envs = gymnasium.make_vec("kinetree/ReachingArm-v0", num_envs=2, autoreset=mode.SAME_STEP)
    assert envs.unwrapped.starts_at_once
    with pytest.raises(KinetreeError, match="valid are 'next_step', 'same_step'"):
        gym.ReachingArm(2, autoreset=mode.DISABLED)


def test_environments_are_drawn():
    env = gym.CartPoleSwingUp(2, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    for _ in range(20):
        env.step(np.array([[1.0], [-1.0]]))
    after = env.render()
    assert [picture.shape for picture in after] == [(360, 480, 3)] * 2
    assert (before[0] != after[0]).any()
    assert (after[0] != after[1]).any()
    assert gym.CartPoleSwingUp(1).render() is None
    with pytest.raises(kt.errors.KinetreeError, match="valid are 'rgb_array'"):
        gym.CartPoleSwingUp(1, render_mode="human")


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
    "DoublePendulumSwingUp": (
        gym.DoublePendulumSwingUp,
        {**OPTIONS, "enforcement": kt.Enforcement()},
    ),
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


def test_gymnasiums_wrappers_of_batches_take_the_names():
    envs = gymnasium.make_vec("kinetree/ReachingArm-v0", num_envs=3, episode=4)
    for wrapper in ("RecordEpisodeStatistics", "ClipAction", "NormalizeObservation"):
        envs = getattr(gymnasium.wrappers.vector, wrapper)(envs)
    envs = gymnasium.wrappers.vector.NormalizeReward(envs, gamma=0.95)
    envs.reset(seed=0)
    infos = [envs.step(np.ones((3, 2)))[4] for _ in range(6)]
    assert [bool("episode" in x) for x in infos] == [False] * 3 + [True, False, False]
    assert infos[3]["_episode"].all()
    assert (infos[3]["episode"]["l"] == 4).all()
