"""Whatever is given to motions and their plans, they answer, or refuse by a sentence of ours."""

import numpy as np
import pytest

import kinetree as kt
from tests.doors import ROBOT, arguments_of, wrong_answers

STATE = np.array([0.1, 0.2])
TIMES = np.linspace(0.0, 1.0, 8)
PATH = np.stack([np.sin(TIMES), np.cos(TIMES)], axis=-1)
MOTION = kt.Motion(ROBOT, TIMES, PATH)
AFTER = kt.Motion(ROBOT, TIMES, PATH + PATH[-1] - PATH[0])
SIMULATION = ROBOT.simulate(STATE, STATE, time=0.05, dt=0.01)


def effort(t, q, v, tau, pose):
    return tau[0] * tau[0] + tau[1] * tau[1]


def both(t):
    return [t, t]


PROBLEM = ROBOT.optimal_control(effort, steps=5, dt=0.01)
PLANNER = PROBLEM.mpc()
SAMPLING = {"method": "mppi", "samples": 4, "knots": 3, "noise": 1.0}
SAMPLING |= {"temperature": 0.1, "seed": 0}
CALLS = {
    "Motion": (kt.Motion, {"robot": ROBOT, "times": TIMES, "q": PATH, "v": PATH, "a": PATH}),
    "at": (MOTION.at, {"time": 0.5}),
    "resampled": (MOTION.resampled, {"times": 20.0}),
    "cut": (MOTION.cut, {"first": 0.1, "last": 0.5}),
    "faster": (MOTION.faster, {"factor": 2.0}),
    "then": (MOTION.then, {"other": AFTER}),
    "blend": (MOTION.blend, {"other": MOTION, "duration": 0.2}),
    "check_same": (MOTION.check_same, {"other": MOTION}),
    "from_function": (
        kt.Motion.from_function,
        {"robot": ROBOT, "function": both, "duration": 0.1},
    ),
    "from_simulation": (
        kt.Motion.from_simulation,
        {"robot": ROBOT, "simulation": SIMULATION},
    ),
    "load": (kt.Motion.load, {"robot": ROBOT, "path": "motion.npz"}),
    "save": (MOTION.save, {"path": "motion.npz"}),
    "figures": (MOTION.figures, {"count": 2}),
    "transition": (
        ROBOT.transition,
        {"first": STATE, "second": STATE, "duration": 0.5, "coefficients": 8, "iterations": 2},
    ),
    "optimal_control": (ROBOT.optimal_control, {"cost": effort, "steps": 5, "dt": 0.01}),
    "solve": (PROBLEM.solve, {"q0": STATE, "v0": STATE, "iterations": 2}),
    "mpc": (PROBLEM.mpc, {}),
    "mpc by sampling": (PROBLEM.mpc, SAMPLING),
    "control": (PLANNER.control, {"q": STATE, "v": STATE}),
    "run": (PLANNER.run, {"q0": STATE, "v0": STATE, "duration": 0.02}),
    "reset": (PLANNER.reset, {}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_of_any_argument_is_taken_or_refused_by_an_error_that_names_it(
    name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    MOTION.save("motion.npz")
    call, given = CALLS[name]
    call(**given)
    arguments = {*arguments_of(call), *given}
    assert [x for key in arguments for x in wrong_answers(call, given, key)] == []


def test_an_option_that_no_plan_has_is_refused():
    with pytest.raises(kt.errors.UnknownNameError, match="mpc has no option 'sample'"):
        PROBLEM.mpc(method="mppi", sample=4)


def test_a_motion_is_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "motion.npz"
    MOTION.save(file)
    before = file.read_bytes()

    def interrupted(path, **arrays):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        MOTION.save(file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
