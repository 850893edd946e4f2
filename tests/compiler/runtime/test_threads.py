"""The pool of threads: same results, real parallelism, clean ends."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt


@pytest.fixture
def threads():
    yield kt.set_threads
    kt.set_threads(1)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_results_do_not_depend_on_the_number_of_threads(threads, count):
    robot = kt.robots.chain(12)
    rng = np.random.default_rng(0)
    for n in (1, 100, 5003):
        q, v, a = rng.standard_normal((3, n, 12))
        threads(1)
        expected = robot.forward_dynamics(q, v, a)
        threads(count)
        for _ in range(20):
            assert (robot.forward_dynamics(q, v, a) == expected).all()
        strided = np.asfortranarray(q)
        assert (robot.forward_dynamics(strided, v, a) == expected).all()


def test_the_count_can_be_read_raised_and_lowered(threads):
    for count in (3, 1, 2):
        threads(count)
        assert kt.get_threads() == count
    threads(None)
    assert kt.get_threads() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two", True, 10**6])
def test_a_wrong_count_is_refused(threads, bad):
    with pytest.raises(kt.errors.KinetreeError, match="whole number from 1"):
        threads(bad)


def run(code):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


SETUP = """
import time, numpy as np, kinetree as kt
robot = kt.robots.chain(12)
q, v, a = np.random.default_rng(0).standard_normal((3, 20000, 12))
robot.forward_dynamics(q, v, a)
"""


@pytest.mark.slow
def test_a_process_ends_while_its_workers_sleep():
    assert run(SETUP + "kt.set_threads(4); robot.forward_dynamics(q, v, a); print('done')") == [
        "done"
    ]


@pytest.mark.slow
def test_a_process_ends_while_its_workers_spin():
    assert run(SETUP + "kt.set_threads(4); print('done')") == ["done"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_workers_of_its_own():
    code = (
        SETUP
        + """
import os
kt.set_threads(2)
expected = robot.forward_dynamics(q, v, a)
child = os.fork()
if child == 0:
    same = (robot.forward_dynamics(q, v, a) == expected).all()
    os._exit(0 if same else 1)
print(os.waitpid(child, 0)[1])
"""
    )
    assert run("import warnings; warnings.simplefilter('ignore')\n" + code) == ["0"]


@pytest.mark.slow
def test_the_interpreter_runs_on_while_a_batch_is_computed():
    code = (
        SETUP
        + """
import threading
ticks, stop = [0], threading.Event()
def tick():
    while not stop.is_set():
        ticks[0] += 1
        time.sleep(0.0002)
thread = threading.Thread(target=tick); thread.start()
q, v, a = (np.repeat(x, 20, axis=0) for x in (q, v, a))
out = np.empty_like(q)
before = ticks[0]
robot.forward_dynamics(q, v, a, out=out)
print(ticks[0] - before)
stop.set(); thread.join()
"""
    )
    assert int(run(code)[0]) >= 3
