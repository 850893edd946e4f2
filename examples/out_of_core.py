"""A hundred million states, chunk by chunk, in constant memory and on all cores.

python examples/out_of_core.py [states]
"""

import sys

import dask
import dask.array as da
import numpy as np
from dask.diagnostics import ProgressBar

import kinetree as kt

robot = kt.robots.arm()
CHUNK = 250_000


def peak_memory() -> float:
    """The peak memory of this process so far, in MiB; NaN on Windows."""
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def main(states: int = 100_000_000) -> np.ndarray:
    """The largest force of each joint over random states within the limits, N m."""
    limits = robot.limits
    rng = da.random.default_rng(0)
    shape, chunks = (states, robot.nq), (CHUNK, robot.nq)
    q = limits.lower + (limits.upper - limits.lower) * rng.random(shape, chunks=chunks)
    v = rng.standard_normal(shape, chunks=chunks)
    a = rng.standard_normal(shape, chunks=chunks)
    largest = da.abs(robot.inverse_dynamics(q, v, a)).max(axis=0)
    with ProgressBar(), dask.config.set(scheduler="threads"):
        found = largest.compute()
    print(f"{states} states, at most {peak_memory():.0f} MiB of memory")
    for name, tau in zip(robot.joints, found, strict=True):
        print(f"{name}: {tau:.1f} N m")
    return np.asarray(found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000)
