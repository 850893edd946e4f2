"""dask: methods stay lazy, chunks run anywhere, and a worker may die."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError
from tests.mixed_robots import ROBOTS, every_kernel, random_state

da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


@pytest.fixture(scope="module")
def state():
    return np.random.default_rng(0).standard_normal((3, 100, 7))


@pytest.mark.slow
def test_every_kernel_takes_dask_arrays():
    robot = ROBOTS[
        "rider"
    ]()  # as many velocities as coordinates would hide one taken for the other
    for quantity, method, kernel in every_kernel(robot):
        arrays = random_state(robot, kernel, (5,))
        lazy = kernel(*(da.from_array(x, chunks=(2, *x.shape[1:])) for x in arrays))
        found = lazy if isinstance(lazy, tuple) else (lazy,)
        expected = kernel(*arrays)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        for got, same in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(got.compute(scheduler="sync"), same, (quantity, method))


def test_results_are_lazy_and_keep_the_chunks_of_the_batch(arm, state):
    q, v, a = (da.from_array(x, chunks=(25, 7)) for x in state)
    tau = arm.inverse_dynamics(q, v, a)
    assert isinstance(tau, da.Array)
    assert tau.chunks == ((25, 25, 25, 25), (7,))
    assert (tau.compute() == arm.inverse_dynamics(*state)).all()


def test_the_axis_of_a_state_is_put_together(arm, state):
    q = da.from_array(state[0], chunks=(50, 3))
    assert (arm.mass_matrix(q).compute() == arm.mass_matrix(state[0])).all()


def test_several_results_are_several_arrays(arm, state):
    lazy = arm.inverse_dynamics_derivatives(*(da.from_array(x, chunks=(50, 7)) for x in state))
    expected = arm.inverse_dynamics_derivatives(*state)
    for got, wanted in zip(lazy, expected, strict=True):
        assert got.shape == (100, 7, 7)
        assert (got.compute() == wanted).all()


def test_other_arguments_broadcast(arm, state):
    q = da.from_array(state[0], chunks=(50, 7))
    still = np.zeros(7)
    found = arm.inverse_dynamics(q, still, still)
    assert (found.compute() == arm.inverse_dynamics(state[0], still, still)).all()


def test_single_precision_stays_single(arm, state):
    q = da.from_array(state[0].astype(np.float32), chunks=(50, 7))
    M = arm.mass_matrix(q)
    assert M.dtype == M.compute().dtype == np.float32


def test_what_is_wrong_is_said(arm, state):
    q = da.from_array(state[0], chunks=(50, 7))
    with pytest.raises(KinetreeError, match="out= is for NumPy"):
        arm.mass_matrix(q, out=np.zeros((100, 7, 7)))
    with pytest.raises(ShapeError, match="takes q, v, a: 1 arrays"):
        arm.kernel("inverse_dynamics")(q)
    with pytest.raises(ShapeError, match="last axis must be 7"):
        arm.mass_matrix(q[:, :6])


def test_a_process_makes_an_unpickled_kernel_once(arm):
    text = pickle.dumps(arm.kernel("inverse_dynamics"))
    assert pickle.loads(text) is pickle.loads(text)


CLUSTER = """
import os, signal, time
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
import kinetree as kt

def slowly(chunk):
    time.sleep(0.05)
    return chunk

if __name__ == "__main__":
    robot = kt.robots.arm()
    whole = np.random.default_rng(0).standard_normal((3, 400, 7))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            q, v, a = (da.from_array(x, chunks=(10, 7)).map_blocks(slowly) for x in whole)
            future = client.compute(robot.inverse_dynamics(q, v, a))
            time.sleep(0.5)
            pids = client.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
            tau = future.result(timeout=60)
    assert (tau == robot.inverse_dynamics(*whole)).all()
    print("all is well")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_two_worker_processes_finish_though_one_dies(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=180, env=os.environ
    )
    assert "all is well" in done.stdout, done.stderr[-3000:]
