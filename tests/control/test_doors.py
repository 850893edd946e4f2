"""Whatever is given to controllers, they answer, or refuse by a sentence that names it."""

import numpy as np
import pytest

from kinetree import control
from kinetree.errors import KinetreeError
from tests.doors import ROBOT, arguments_of, wrong_answers

STATE = np.array([0.1, 0.2])
STATES = np.tile(STATE, (4, 1))
PD = control.pd(ROBOT)
FRAME = {"robot": ROBOT, "frame": "tip"}


def still(model, t, q, v, k):
    return [0.0, 0.0]


CALLS = {
    "pd": (control.pd, {"robot": ROBOT}),
    "computed_torque": (control.computed_torque, {"robot": ROBOT}),
    "passivity": (control.passivity, {"robot": ROBOT}),
    "adaptive": (control.adaptive, {"robot": ROBOT, "bodies": ["tip"]}),
    "impedance": (control.impedance, FRAME),
    "operational_space": (control.operational_space, FRAME),
    "lqr": (control.lqr, {"robot": ROBOT, "target": STATE}),
    "tracking_lqr": (
        control.tracking_lqr,
        {"robot": ROBOT, **dict.fromkeys(("q", "v", "tau"), STATES), "dt": 0.01},
    ),
    "compensated": (control.compensated, {"controller": PD}),
    "MomentumObserver": (control.MomentumObserver, {"robot": ROBOT}),
    "observer.update": (
        control.MomentumObserver(ROBOT).update,
        {**dict.fromkeys(("q", "v", "tau"), STATE), "dt": 0.01},
    ),
    "InverseKinematics": (control.InverseKinematics, FRAME),
    "solve": (
        control.InverseKinematics(ROBOT, "tip", orientation=False).solve,
        {"target": (0.1, 0.0, 0.5), "iterations": 3, "restarts": 1},
    ),
    "Controller": (
        control.Controller,
        {"robot": ROBOT, "name": "own", "law": still, "inputs": {"k": 1.0}},
    ),
    "forces": (PD.forces, {"q": STATE, "v": STATE, "kp": 1.0}),
    "pack": (PD.pack, {"kp": 1.0}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_of_any_argument_is_taken_or_refused_by_an_error_that_names_it(name):
    call, given = CALLS[name]
    call(**given)
    arguments = {*arguments_of(call), *given}
    assert [x for key in arguments for x in wrong_answers(call, given, key)] == []


def test_a_regulator_that_does_not_exist_is_refused():
    with pytest.raises(KinetreeError, match="the Riccati equation has no solution"):
        control.lqr(ROBOT, STATE, R=-1.0)
