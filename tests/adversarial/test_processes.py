"""Processes: forks at the wrong moment, Ctrl-C in the middle of a batch."""

import os
import subprocess
import sys

import pytest

FORKED = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of forks with threads
os.environ["KINETREE_CACHE"] = ""
import numpy as np, kinetree as kt

robot = kt.robots.arm()
x = np.ones((5000, 7))
kt.set_threads(int(sys.argv[1]))
expected = robot.inverse_dynamics(x, x, x)
stop = False

def compile_for_ever():
    while not stop:
        kt.robots.chain(12, seed=int(time.time() * 1e6)).mass_matrix(np.zeros(12))

thread = threading.Thread(target=compile_for_ever)
thread.start()
for _ in range(4):
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        same = (robot.inverse_dynamics(x, x, x) == expected).all()
        compiled = kt.robots.double_pendulum().mass_matrix(np.zeros((9, 2)))
        os._exit(0 if same and np.isfinite(compiled).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
stop = True
thread.join()
print("survived")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_child_forked_while_a_thread_compiles_can_compile_and_call(threads):
    command = [sys.executable, "-c", FORKED, threads]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


INTERRUPTED = """
import _thread, signal, sys, threading, time
import numpy as np, kinetree as kt

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what runs in the background
kt.set_threads(int(sys.argv[1]))
robot = kt.robots.human("fixed")
one = robot.random(0)
v = np.ones(robot.nv)
robot.forward_dynamics(one[None].repeat(50, 0), v, v)
states = np.broadcast_to(one, (40_000_000, robot.nq))  # takes no memory but that of the results
rows = np.broadcast_to(v, (states.shape[0], robot.nv))
out = np.broadcast_to(np.empty(robot.nv), rows.shape)
out.flags.writeable = True  # every result goes to one row
few = slice(len(states) // 200)
started = time.perf_counter()
robot.forward_dynamics(states[few], rows[few], v, out=out[few])
whole = 200 * (time.perf_counter() - started)  # what all of it would take on this machine
told = []

def interrupt():
    time.sleep(0.3)
    told.append(time.perf_counter())
    _thread.interrupt_main()

threading.Thread(target=interrupt).start()
try:
    robot.forward_dynamics(states, rows, v, out=out)
except KeyboardInterrupt:
    late = time.perf_counter() - told[0]
    small = robot.random(1, 500)
    again = robot.forward_dynamics(small, v, v)
    assert (again[7] == robot.forward_dynamics(small[7], v, v)).all()
    print("stopped", late / whole)
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_long_batch_stops_soon_after_an_interrupt(threads):
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED, threads]
    run = subprocess.run(command, capture_output=True, text=True)
    word, late = run.stdout.split() or (run.stderr[-2000:], "nan")
    assert word == "stopped"
    assert float(late) < 0.05  # of the time of the whole batch
