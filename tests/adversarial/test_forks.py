"""Forks while other threads compile: neither process may wait for the other's locks."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

HEAD = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of forks with threads
import numpy as np, kinetree as kt

def forked(task):
    child = os.fork()
    if child == 0:
        signal.alarm(100)  # ends a child that waits for ever
        try:
            os._exit(0 if task() else 1)
        finally:
            os._exit(2)
    return child

def succeeded(child):
    return os.waitpid(child, 0)[1] == 0

def compiles(seed):
    robot = kt.robots.chain(4, seed=seed)
    q = robot.random(0, 20)
    M = robot.mass_matrix(q)
    interpreted = robot.kernel("mass_matrix").on_scalars(*q[:1].tolist())[0]
    return np.allclose(M[0], interpreted, rtol=1e-12, atol=1e-12)
"""

EVERY_STAGE = """
robot = kt.robots.human("fixed")
q, v = robot.random(0), np.ones(robot.nv)
found = []

def compile_():
    found.append(robot.forward_dynamics(q[None].repeat(20, 0), v, v))

kt.set_threads(2 if sys.argv[1] == "workers" else 1)
thread = threading.Thread(target=compile_)
begun = time.monotonic()
thread.start()
waiting, go = os.pipe()

def child(k):
    os.read(waiting, 1)  # so that children do not slow down what is forked next
    signal.alarm(100)  # the time of its turn, not that of waiting for it
    return compiles(k)

children = []
for k in range(41):  # 0 to 2 s after the start
    time.sleep(max(0.0, begun + 0.05 * k - time.monotonic()))
    children.append(forked(lambda: child(k)))
for _ in children:
    os.write(go, b"1")
    assert os.wait()[1] == 0
thread.join()
assert (found[0] == robot.forward_dynamics(q, v, v)).all()
print("survived")
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["alone", "workers"])
def test_a_fork_at_any_stage_of_a_compilation_leaves_both_processes_working(tmp_path, threads):
    run = python(HEAD + EVERY_STAGE, threads, cache=tmp_path)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


HELD = """
from concurrent.futures import ThreadPoolExecutor
from kinetree.compiler.runtime.backend import COMPILING

assert compiles(1)
compiling, done = threading.Event(), threading.Event()

def compile_():
    with COMPILING:  # as long as the fork takes, and then on other threads
        compiling.set()
        done.wait()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(abs, range(9)))

thread = threading.Thread(target=compile_)
thread.start()
compiling.wait()
child = forked(lambda: compiles(2))
done.set()
assert succeeded(child)
thread.join()
print("survived")
"""


IMPORTED = """
import importlib, pathlib

folder = pathlib.Path(sys.argv[1])
(folder / "late.py").write_text("import __main__; __main__.wait(); complete = True")
sys.path.insert(0, str(folder))
begun, resume = threading.Event(), threading.Event()
pauses = [resume]  # for the first who imports it

def wait():
    if pauses:
        pause = pauses.pop()
        begun.set()
        pause.wait()

thread = threading.Thread(target=importlib.import_module, args=("late",))
thread.start()
begun.wait()
child = forked(lambda: importlib.import_module("late").complete)
child_imports = succeeded(child)
resume.set()
thread.join()
assert child_imports and sys.modules["late"].complete
print("survived")
"""


def test_a_child_imports_what_another_thread_was_importing(tmp_path):
    run = python(HEAD + IMPORTED, str(tmp_path), cache=tmp_path)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


HERE = """
import pathlib

folder = pathlib.Path(sys.argv[1])
(folder / "forking.py").write_text(
    "import __main__\\n"
    "child = __main__.forked(lambda: __import__('forking') is __main__.sys.modules['forking'])\\n"
    "after = 1\\n"
)
sys.path.insert(0, str(folder))
import forking
assert succeeded(forking.child) and forking.after
print("survived")
"""


def test_a_module_that_forks_while_it_is_imported_stays_the_same_in_the_child(tmp_path):
    run = python(HEAD + HERE, str(tmp_path), cache=tmp_path)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


def test_a_fork_does_not_wait_for_a_compilation(tmp_path):
    run = python(HEAD + HELD, cache=tmp_path)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


OWN = """
from kinetree.compiler.runtime.backend import COMPILING

with COMPILING:
    child = forked(lambda: compiles(1))
assert succeeded(child) and compiles(2)
print("survived")
"""


def test_a_thread_that_forks_while_it_compiles_goes_on_in_both_processes(tmp_path):
    run = python(HEAD + OWN, cache=tmp_path)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


def python(script, *arguments, cache):
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env=os.environ | {"KINETREE_CACHE": str(cache)},
    )
