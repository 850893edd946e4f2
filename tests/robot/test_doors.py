"""Whatever is given to a method of a robot, it answers, or refuses by a sentence of ours."""

import inspect
from operator import attrgetter

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import kinetree as kt
from kinetree.robot.core import Door
from tests.doors import ROBOT, arguments_of, wrong_answers

STATE = np.array([0.1, 0.2])
GIVEN = dict.fromkeys(("q", "v", "a", "tau", "q0", "q1", "v0", "dq"), STATE)
GIVEN |= {"dt": 0.01, "frame": "tip", "body": "tip", "time": 0.05, "steps": 5}
VALUES = ("method", "kind", "axes", "frame", "body", "quantity", "file", "other", "factorization")
VALUES += (
    *GIVEN,
    "every",
    "chart",
    "base",
    "sparse",
    "a",
    "times",
    "p",
    "p_length",
    "series",
    "enforcement",
)
"""Arguments that are tried of every method; others are tried below."""
ELSEWHERE = {"show", "transition", "optimal_control"}
"""What opens a window, and what belongs to motions."""


def public():
    """The names of a robot's methods, those behind doors such as "charts.continuous" included."""
    for name in sorted(dir(ROBOT)):
        if name.startswith("_") or name in ELSEWHERE:
            continue
        value = getattr(ROBOT, name)
        if isinstance(value, Door):
            inside = [x for x in dir(value) if not x.startswith("_")]
            yield from (f"{name}.{x}" for x in inside if callable(getattr(value, x)))
        elif callable(value):
            yield name


def doors():
    """Each public method with each of its arguments, if the others can be given."""
    for name in public():
        method = attrgetter(name)(ROBOT)
        parameters = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
        needed = {
            p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD
        }
        for p in parameters:
            if p.name in VALUES and needed - {p.name} <= set(GIVEN):
                yield name, p.name, {k: GIVEN[k] for k in needed if k in GIVEN}


DOORS = list(doors())


def same(y):
    return list(y)


def unit(q):
    return [[1.0, 0.0], [0.0, 1.0]]


def itself(model, q):
    return q


def pushed(t, q, v, p):
    return [p[0], 0.0]


TIMES = np.linspace(0.0, 1.0, 8)
SPLINE = make_interp_spline(TIMES, np.stack([np.sin(TIMES), np.cos(TIMES)], axis=-1), k=5)
KERNEL = ROBOT.kernel("mass_matrix")
START = {"q0": STATE, "v0": STATE}
ROLLOUT = ROBOT.rollout(None, 5, 0.01)
SIMULATION = ROBOT.simulate(**START, time=0.05, dt=0.01)
CALLS = {
    "attach": (ROBOT.edit.attach, {"other": ROBOT, "frame": "tip", "prefix": "second_"}),
    "reorder": (ROBOT.edit.reorder, {"joints": ROBOT.joints}),
    "lock": (ROBOT.edit.lock, {"joints": {}}),
    "subtree": (ROBOT.edit.subtree, {"link": "tip"}),
    "reroot": (ROBOT.edit.reroot, {"link": "tip"}),
    "attach_payload": (ROBOT.edit.attach_payload, {"frame": "tip", "mass": 1.0}),
    "replace_inertia": (ROBOT.edit.replace_inertia, {"body": "tip", "mass": 1.0}),
    "with_parameters": (ROBOT.parametric, {"parameters": [kt.Inertial("tip")]}),
    "mounted": (ROBOT.edit.with_mount, {"pose": (0.0, 0.0, 0.0)}),
    "with_gravity": (ROBOT.edit.with_gravity, {"gravity": (0.0, 0.0, 0.0)}),
    "save": (ROBOT.save, {"file": "robot.urdf"}),
    "custom_kernel": (ROBOT.custom_kernel, {"function": itself, "lengths": {"q": 2}}),
    "kernel": (ROBOT.kernel, {"quantity": "mass_matrix"}),
    "kernel.jacobian": (KERNEL.jacobian, {}),
    "kernel.source": (KERNEL.source, {"target": "c"}),
    "kernel.c_code": (KERNEL.c_code, {}),
    "code.save": (KERNEL.c_code().save, {"folder": "code"}),
    "in_coordinates": (ROBOT.charts.in_coordinates, {"chart": same, "count": 2}),
    "in_speeds": (ROBOT.charts.in_speeds, {"A": unit, "count": 2}),
    "hybrid_dynamics": (
        ROBOT.hybrid_dynamics,
        {**dict.fromkeys(("q", "v", "a", "tau"), STATE), "accelerated": ROBOT.joints[0]},
    ),
    "effort": (kt.motion.Effort, {"robot": ROBOT, "trajectory": SPLINE}),
    "rollout": (ROBOT.rollout, {"controller": None, "steps": 5, "dt": 0.01}),
    "rollout(...)": (ROLLOUT.__call__, START),
    "rollout.gradient": (ROLLOUT.gradient, {**START, "weights": {"q": STATE}}),
    "rollout.sensitivity": (ROLLOUT.sensitivity, {**START, "along": {"q0": STATE}}),
    "simulate": (ROBOT.simulate, {**START, "time": 0.05, "dt": 0.01}),
    "simulate_adaptive": (ROBOT.simulate_adaptive, {**START, "time": 0.05, "tolerance": 1e-4}),
    "simulation.save": (SIMULATION.save, {"path": "motion.npz"}),
    "simulation.load": (SIMULATION.load, {"path": "motion.npz"}),
    "simulation.plot": (SIMULATION.plot, {}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "argument", "given"), DOORS)
def test_an_odd_argument_is_taken_or_refused_by_an_error_of_ours(
    method, argument, given, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    foreign = wrong_answers(attrgetter(method)(ROBOT), given, argument, words=("",))
    assert list(foreign) == []


def test_the_doors_are_most_methods():
    assert len({name for name, _, _ in DOORS}) > 60


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_of_any_argument_is_taken_or_refused_by_an_error_that_names_it(
    name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    SIMULATION.save("motion.npz")
    call, given = CALLS[name]
    call(**given)
    wrong = [x for argument in arguments_of(call) for x in wrong_answers(call, given, argument)]
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "argument", ["base", "joints", "locked", "mimic", "chart", "folder", "gravity", "mount"]
)
def test_loading_takes_or_refuses_odd_options(argument, tmp_path):
    file = tmp_path / "robot.urdf"
    ROBOT.save(file)
    assert list(wrong_answers(kt.load, {"source": file}, argument)) == []


def test_a_rollout_refuses_inputs_and_parameters_that_it_was_not_compiled_for():
    with pytest.raises(kt.errors.ShapeError, match="p has 1 numbers; this rollout takes 0"):
        ROLLOUT(STATE, STATE, p=[1.0])
    loads = [kt.Payload("tip"), kt.Inertial("arm")]
    rollout = ROBOT.rollout(pushed, 2, 0.01, p_length=1, parameters=loads)
    numbers = {part: np.array(part.nominal(ROBOT.model), float) for part in reversed(loads)}
    with pytest.raises(kt.errors.KinetreeError, match="this rollout takes Payload"):
        rollout(STATE, STATE, p=[1.0], parameters=numbers)


def test_an_adaptive_simulation_does_not_run_on_for_a_time_beyond_all_bounds():
    with pytest.raises(kt.errors.KinetreeError, match="time must be at most 1e"):
        ROBOT.simulate_adaptive(STATE, STATE, time=1e308)
