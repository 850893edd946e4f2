"""Loops over time: machine code does what calling the kernel again and again does."""

import numpy as np
import pytest

from kinetree import scalar
from kinetree.compiler.graph import trace
from kinetree.compiler.runtime import host_loop
from kinetree.compiler.runtime.interpreter import Interpreter
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.errors import ShapeError, UnknownNameError
from tests.tolerances import EXACT, relative_error

SHAPES = {"n": (), "x": (3,), "gain": (2,), "u": (3,)}


def step(n, x, gain, u):
    """A damped oscillation with a counter, driven by a series."""
    n = n[0]
    pull = [
        scalar.sin(a) * gain[0] - gain[1] * b + c
        for a, b, c in zip(x, x[1:] + x[:1], u, strict=True)
    ]
    return {
        "n": n + 1,
        "x": [a + 0.1 * b for a, b in zip(x, pull, strict=True)],
        "pull": pull,
        "table": [[n, x[0]], [1.5, x[1] * x[2]]],
    }


PROGRAM = trace("step", step, SHAPES)
LOOP = TimeLoop(Kernel(None, lambda: PROGRAM), states=2, series=1)
RECORD = ("x", "pull", "table", "n")


def arguments(systems, steps, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    n, x, gain = np.zeros(systems), rng.normal(size=(systems, 3)), rng.normal(size=(systems, 2))
    given = [n, x, gain, rng.normal(size=(systems, steps, 3))]
    return [a.astype(dtype) for a in given]


def expected(given, steps, every, backwards=False):
    """The same by calling the kernel."""
    kernel = Kernel(None, lambda: PROGRAM)
    n, x, gain, u = given
    u = u[:, ::-1] if backwards else u
    records = {name: [] for name in RECORD}
    for k in range(steps):
        n1, x1, pull, table = kernel(n, x, gain, u[:, k])
        if k % every == 0:
            for name, value in (("x", x), ("pull", pull), ("table", table), ("n", n)):
                records[name].append(value)
        n, x = n1, x1
    stacked = {name: np.stack(values, axis=1) for name, values in records.items()}
    return {"n": n, "x": x}, {k: v[:, ::-1] if backwards else v for k, v in stacked.items()}


def same(rolled, final, records):
    for name, value in final.items():
        assert relative_error(rolled.final[name].reshape(value.shape), value) < 10 * EXACT, name
    for name, value in records.items():
        assert rolled.records[name].shape == value.shape
        assert relative_error(rolled.records[name], value) < 10 * EXACT, name


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("systems", [1, 3, 8, 37])
def test_a_loop_is_calling_the_kernel_again_and_again(systems, every, backwards):
    given = arguments(systems, 12)
    rolled = LOOP(given, systems, 12, every, RECORD, backwards=backwards)
    same(rolled, *expected(given, 12, every, backwards))


def test_single_precision_stays_single():
    given = arguments(5, 4, np.float32)
    rolled = LOOP(given, 5, 4, 1, RECORD)
    assert {x.dtype for x in (*rolled.final.values(), *rolled.records.values())} == {
        np.dtype(np.float32)
    }
    final, _ = expected(arguments(5, 4), 4, 1)
    assert relative_error(rolled.final["x"], final["x"]) < 1e-5


def test_the_interpreter_has_the_same_loop():
    loop = TimeLoop(Kernel(None, lambda: PROGRAM, on=Interpreter()), 2, 1)
    given = arguments(9, 6)
    same(loop(given, 9, 6, 2, RECORD), *expected(given, 6, 2))


def test_pieces_of_time_and_of_systems_change_nothing(monkeypatch):
    given = arguments(700, 10)
    whole = LOOP(given, 700, 10, 2, RECORD)
    monkeypatch.setattr(host_loop, "_pieces", lambda *_: (256, 4))
    parts = LOOP(given, 700, 10, 2, RECORD)
    for a, b in zip(whole, parts, strict=True):
        assert all((a[name] == b[name]).all() for name in a)


def test_what_is_the_same_for_all_systems_is_given_once():
    n, x, gain, u = arguments(11, 5)
    several = [n, x, np.broadcast_to(gain[0], gain.shape), np.broadcast_to(u[0], u.shape)]
    once = LOOP([np.zeros(()), x, gain[0], u[0]], 11, 5, 1, RECORD)
    same(once, *expected([np.ascontiguousarray(a) for a in several], 5, 1))


def test_records_can_be_written_into_a_larger_array():
    given = arguments(20, 6)
    room = np.full((20, 7, 3), np.nan)
    LOOP(given, 20, 6, 1, ("x",), out={"x": room[:, :-1]})
    assert np.isnan(room[:, -1]).all()
    assert relative_error(room[:, :-1], expected(given, 6, 1)[1]["x"]) < 10 * EXACT


def test_no_step_leaves_the_states_as_they_are():
    given = arguments(4, 0)
    rolled = LOOP(given, 4, 0, 1, RECORD)
    assert (rolled.final["x"] == given[1]).all()
    assert rolled.records["x"].shape == (4, 0, 3)


def test_wrong_shapes_and_records_are_named():
    with pytest.raises(ShapeError, match=r"gain has shape \(5,\); \(4, 2\) is expected"):
        LOOP([*arguments(4, 3)[:2], np.zeros(5), np.zeros((3, 3))], 4, 3)
    with pytest.raises(UnknownNameError, match=r"record 'pul'.*'pull'"):
        LOOP(arguments(4, 3), 4, 3, 1, ("pul",))
    with pytest.raises(ShapeError, match=r"pull has shape \(3,\) and cannot be the next"):
        TimeLoop(Kernel(None, lambda: PROGRAM), 3)
