"""Whatever is given to a method of a robot, it answers, or refuses by a sentence of ours."""

import inspect
from operator import attrgetter

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.robot.core import Door

ODD = {
    "None": None,
    "text": "text",
    "an empty list": [],
    "an array without axes": np.array(1.0),
    "not a number": float("nan"),
    "infinity": float("inf"),
    "an array of no numbers": np.full(2, np.nan),
    "a truth value": True,
    "a huge integer": 10**400,
    "an array of objects": np.array([object(), None]),
    "a negative number": -1,
    "zero": 0,
    "an empty array": np.zeros((0, 2)),
    "another shape": np.zeros(3),
    "ragged rows": [[1], [1, 2]],
    "a complex number": 1j,
    "a large number": 1e308,
    "many axes": np.zeros((2, 2, 2)),
    "an object": object(),
    "bytes": b"x",
}
STATE = np.array([0.1, 0.2])
GIVEN = dict.fromkeys(("q", "v", "a", "tau", "q0", "q1", "v0", "dq"), STATE)
GIVEN |= {"dt": 0.01, "frame": "tip", "body": "tip", "time": 0.05, "steps": 5}
VALUES = ("method", "kind", "axes", "frame", "body", "quantity", "file", "other", "factorization")
VALUES += (*GIVEN, "every", "chart", "base", "sparse", "a", "times", "p", "inputs", "limits")
"""Arguments that are tried; names of Python's own types (mappings, sequences) are not."""
LONG = {"simulate_adaptive", "show", "transition", "optimal_control", "mpc"}
"""What runs on, or starts something."""


def two_links():
    assembly = kt.Assembly("two")
    assembly.add("arm", "base", kt.joints.Revolute("y"), mass=1.0, com=(0.0, 0.0, 0.2))
    assembly.add("tip", "arm", kt.joints.Revolute("y"), (0.0, 0.0, 0.4), mass=1.0, com=(0, 0, 0.2))
    return assembly.robot()


ROBOT = two_links()


def public():
    """The names of a robot's methods, those behind doors such as "charts.continuous" included."""
    for name in sorted(dir(ROBOT)):
        if name.startswith("_") or name in LONG:
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "argument", "given"), DOORS)
def test_an_odd_argument_is_taken_or_refused_by_an_error_of_ours(
    method, argument, given, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for what, odd in ODD.items():
        try:
            attrgetter(method)(ROBOT)(**(given | {argument: odd}))
        except KinetreeError:
            pass
        except Exception as e:
            pytest.fail(f"{method}({argument}={what}): {type(e).__name__}: {e}")


def test_the_doors_are_most_methods():
    assert len({name for name, _, _ in DOORS}) > 60
