"""Whatever is given to identification, it answers, or refuses by a sentence that names it."""

import numpy as np
import pytest

from kinetree import identify
from tests.doors import ROBOT, arguments_of, wrong_answers

TIME = np.linspace(0.0, 1.0, 120)
Q = np.stack([np.sin(3 * TIME), np.cos(5 * TIME)], axis=-1)
V = np.stack([3 * np.cos(3 * TIME), -5 * np.sin(5 * TIME)], axis=-1)
A = np.stack([-9 * np.sin(3 * TIME), -25 * np.cos(5 * TIME)], axis=-1)
TAU = ROBOT.inverse_dynamics(Q, V, A)
LOG = identify.Log(ROBOT, TIME, Q, TAU, V, A)
BASE = identify.base_parameters(ROBOT)
FACTORS = identify.accumulate(BASE, LOG)
FOUND = identify.fit(ROBOT, LOG)
PHI = np.zeros(20)
COLUMNS = {"time": TIME, "q": Q, "tau": TAU}
CALLS = {
    "Log": (identify.Log, {"robot": ROBOT, "time": TIME, "q": Q, "tau": TAU}),
    "Parameters": (identify.Parameters, {"robot": ROBOT}),
    "accumulate": (identify.accumulate, {"base": BASE, "logs": LOG}),
    "base_parameters": (identify.base_parameters, {"robot": ROBOT}),
    "differentiated": (identify.differentiated, {"log": LOG}),
    "exciting_motion": (identify.exciting_motion, {"robot": ROBOT, "iterations": 1}),
    "filtered": (identify.filtered, {"log": LOG, "cutoff": 10.0}),
    "fit": (identify.fit, {"robot": ROBOT, "logs": LOG}),
    "fit_output_error": (
        identify.fit_output_error,
        {"robot": ROBOT, "log": LOG, "window": 10, "iterations": 1},
    ),
    "from_order": (identify.from_order, {"phi": PHI, "order": "mujoco"}),
    "from_pseudo_inertia": (identify.from_pseudo_inertia, {"P": np.eye(4)}),
    "log_of_columns": (identify.log_of_columns, {"robot": ROBOT, "table": COLUMNS}),
    "ordinary": (identify.ordinary, {"base": BASE, "factors": FACTORS}),
    "payload": (identify.payload, {"robot": ROBOT, "log": LOG, "frame": "tip"}),
    "pseudo_inertia": (identify.pseudo_inertia, {"phi": PHI[:10]}),
    "read": (identify.read, {"path": "log.npz", "robot": ROBOT}),
    "resampled": (identify.resampled, {"log": LOG}),
    "reweighted": (identify.reweighted, {"base": BASE, "logs": LOG}),
    "splined": (identify.splined, {"log": LOG}),
    "to_order": (identify.to_order, {"phi": PHI, "order": "mujoco"}),
    "weighted": (identify.weighted, {"base": BASE, "factors": FACTORS}),
    "log.split": (LOG.split, {}),
    "log.part": (LOG.part, {"rows": slice(0, 50)}),
    "log.without": (LOG.without, {"which": np.zeros(120, bool), "reason": "none"}),
    "log.without_standstill": (LOG.without_standstill, {"speed": 0.1}),
    "found.save": (FOUND.save, {"file": "robot.urdf"}),
    "found.report": (FOUND.report, {}),
    "found.predicted": (FOUND.predicted, {"log": LOG}),
    "found.errors": (FOUND.errors, {"log": LOG}),
}
WORDS = {"rate": ("velocity of joint",), "cutoff": ("cut-off",), "table": ("columns",)}
"""By what else an error calls an argument: a rate that loses the motion, for one."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_of_any_argument_is_taken_or_refused_by_an_error_that_names_it(
    name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    np.savez("log.npz", **COLUMNS)
    call, given = CALLS[name]
    call(**given)
    wrong = [
        x
        for key in arguments_of(call)
        for x in wrong_answers(call, given, key, words=WORDS.get(key, ()))
    ]
    assert wrong == []


def test_an_identified_robot_is_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    robot, page = tmp_path / "robot.urdf", tmp_path / "report.md"
    FOUND.save(robot)
    FOUND.report(page)
    before = robot.read_bytes(), page.read_bytes()

    def interrupted(path, text, **options):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(type(robot), "write_text", interrupted)
    for save, file in ((FOUND.save, robot), (FOUND.report, page)):
        with pytest.raises(KeyboardInterrupt):
            save(file)
    assert (robot.read_bytes(), page.read_bytes()) == before
    assert set(tmp_path.iterdir()) == {robot, page}
