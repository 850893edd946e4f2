"""Memory: what is freed is not used, what cannot be had is said."""

import os
import subprocess
import sys

import pytest

DROPPED = """
import gc, itertools, numpy as np, kinetree as kt
for seed in range(30):
    robot = kt.robots.chain(1, seed=seed)
    x = np.zeros(1)
    robot.inverse_dynamics(x, x, x)
    robot.kernel("inverse_dynamics").jacobian("q")(np.zeros((9, 1)), x, x)
    one = robot.kernel("mass_matrix")
    one(x)
    kept = one._ones[0]  # the function alone, without its kernel
    cycle = [robot, one]
    cycle.append(cycle)
    del robot, one, cycle
    gc.collect()
    assert kept(x).shape == (1, 1)
print("survived")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="settings of glibc's malloc")
def test_robots_that_are_dropped_leave_nothing_that_is_used_again():
    poisoned = {
        "PYTHONMALLOC": "malloc",
        "MALLOC_PERTURB_": "255",
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
    }
    run = subprocess.run(
        [sys.executable, "-c", DROPPED],
        capture_output=True,
        text=True,
        env={**os.environ, **poisoned},
    )
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])


NO_MEMORY = """
import ctypes, resource, sys, numpy as np, kinetree as kt

robot = kt.robots.human()
q, v = robot.random(0, 100), np.ones((100, robot.nv))
kernel = robot.kernel("forward_dynamics_derivatives")
kernel(q[:2], v[:2], v[:2], out=tuple(np.empty((2, robot.nv, robot.nv)) for _ in range(3)))
out = tuple(np.full((100, robot.nv, robot.nv), 7.0) for _ in range(3))
kt.set_threads(int(sys.argv[1]))
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
unlimited = resource.RLIM_INFINITY
taken, count, error = (ctypes.c_void_p * 65536)(), 0, None
resource.setrlimit(resource.RLIMIT_AS, (used, unlimited))
while count < 65536 and (block := libc.malloc(1 << 14)):
    taken[count] = block
    count += 1
for i in range(0, count, 2):  # small pieces are to be had, large ones are not
    libc.free(taken[i])
try:
    kernel(q, v, v, out=out)
except MemoryError as e:
    error = e
resource.setrlimit(resource.RLIMIT_AS, (unlimited, unlimited))
for i in range(1, count, 2):
    libc.free(taken[i])
assert error is not None
assert (out[2] == 7.0).all()
kernel(q, v, v, out=out)
assert (out[2] != 7.0).all()
print("survived")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_kernel_without_memory_to_work_in_raises_memory_error(threads):
    command = [sys.executable, "-c", NO_MEMORY, threads]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stdout == "survived\n", (run.returncode, run.stderr[-2000:])
