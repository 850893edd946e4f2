"""The memory of large results: kept for the next ones, and never shared by two."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import memory

ARM = kt.robots.arm()
STATES = 4000  # 1.6 MB of mass matrices


@pytest.fixture(autouse=True)
def nothing_kept():
    kt.release_memory()
    yield
    kt.release_memory()


def matrices(seed=0, states=STATES):
    return ARM.mass_matrix(ARM.random(seed, states))


def test_a_large_result_gets_the_memory_of_one_that_is_gone():
    first = matrices()
    address = first.ctypes.data
    del first
    assert memory.STORE.kept() > 0
    again = matrices(1)
    assert again.ctypes.data == address
    assert memory.STORE.kept() == 0


def test_no_result_has_memory_that_a_view_of_another_still_shows():
    first = matrices()
    corner, expected = first[7:9, :2, 3], first[7:9, :2, 3].copy()
    del first
    others = [matrices(seed) for seed in range(1, 5)]
    assert not any(np.may_share_memory(corner, other) for other in others)
    assert (corner == expected).all()


def test_the_results_are_those_of_a_call_with_out():
    q = ARM.random(0, STATES)
    v = np.ones((STATES, 7))
    for _ in range(2):  # in new memory and in memory that was used
        found = ARM.forward_dynamics_derivatives(q, v, v)
        out = tuple(np.empty_like(x) for x in found)
        ARM.forward_dynamics_derivatives(q, v, v, out=out)
        assert all((x == y).all() for x, y in zip(found, out, strict=True))
        assert all(x.dtype is np.dtype(float) and x.flags.c_contiguous for x in found)
        del found


def test_a_small_result_is_an_array_of_numpy():
    small = matrices(states=20)
    assert small.flags.owndata
    assert small.base is None
    del small
    assert memory.STORE.kept() == 0


def test_few_states_with_large_results_are_in_kept_memory_too():
    states = 1 + memory.LARGE // (8 * 7**3)
    found = ARM.christoffel_symbols(ARM.random(0, states))
    assert found.nbytes >= memory.LARGE
    assert not found.flags.owndata


def test_a_large_result_can_be_used_like_any_array():
    M = matrices()
    M.flags.writeable = False
    M.flags.writeable = True
    M[0] += 1.0
    assert type(M) is np.ndarray
    assert (pickle.loads(pickle.dumps(M)) == M).all()
    assert M.copy().flags.owndata
    assert (np.from_dlpack(M) == M).all()
    assert (M.view(np.int64).view(float) == M).all()
    assert not M.flags.owndata
    with pytest.raises(ValueError, match="own"):
        M.resize((3, 7, 7))


def test_a_tensor_keeps_the_memory_of_its_array():
    torch = pytest.importorskip("torch")
    M = matrices()
    expected = M.copy()
    tensor = torch.from_numpy(M)[3:]
    del M
    others = [matrices(seed) for seed in range(1, 4)]
    assert (tensor.numpy() == expected[3:]).all()
    assert len(others) == 3
    del tensor
    assert memory.STORE.kept() > 0


def test_pytorch_gets_large_results_in_kept_memory():
    torch = pytest.importorskip("torch")
    q = torch.from_numpy(ARM.random(0, STATES))
    found = ARM.mass_matrix(q)
    address = found.data_ptr()
    del found
    assert memory.STORE.kept() > 0
    again = ARM.mass_matrix(q)
    assert again.data_ptr() == address
    assert (again.numpy() == matrices()).all()


def test_jax_computes_large_results_in_kept_memory_without_checking_states():
    pytest.importorskip("jax")
    import jax.numpy as jnp

    q = ARM.random(0, STATES).astype(np.float32)
    address = ARM.mass_matrix(jnp.asarray(np.repeat(q, 2, axis=0))).unsafe_buffer_pointer()
    found = ARM.mass_matrix(jnp.asarray(np.repeat(q, 2, axis=0)))
    assert found.unsafe_buffer_pointer() == address
    assert (np.asarray(found) == ARM.mass_matrix(np.repeat(q, 2, axis=0))).all()


def test_what_is_kept_is_bounded(monkeypatch):
    many = [matrices(seed) for seed in range(memory.MOST_ALIKE + 4)]
    size = many[0].base.block.size
    del many
    assert memory.STORE.kept() == memory.MOST_ALIKE * size
    monkeypatch.setattr(memory, "_most", lambda: 3 * size)
    matrices(9)  # gone at once
    assert memory.STORE.kept() == 3 * size
    monkeypatch.setattr(memory, "_most", lambda: 0)
    matrices(9)
    assert memory.STORE.kept() == 0


def test_release_memory_says_how_much_was_kept():
    M = matrices()
    size = M.base.block.size
    assert kt.release_memory() == 0
    del M
    assert kt.release_memory() == size
    assert kt.release_memory() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_system_may_take_what_is_kept():
    def lazily_free():
        with open("/proc/self/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("LazyFree"))

    M = matrices()
    before = lazily_free()
    size = M.nbytes
    del M
    assert lazily_free() - before > 0.5 * size / 1024


def test_where_there_is_no_memory_what_is_kept_goes_first(monkeypatch):
    matrices()
    made = memory.Block
    failures = iter([OSError("no memory")])

    def failing(*arguments):
        for failure in failures:
            raise failure
        return made(*arguments)

    monkeypatch.setattr(memory, "Block", failing)
    larger = matrices(states=3 * STATES)
    assert not larger.flags.owndata
    assert memory.STORE.kept() == 0


def test_threads_never_share_a_result():
    q = [ARM.random(seed, STATES) for seed in range(4)]
    expected = [ARM.mass_matrix(x) for x in q]
    wrong = []

    def compute(k):
        for _ in range(30):
            found = ARM.mass_matrix(q[k])
            if not (found == expected[k]).all():
                wrong.append(k)

    threads = [threading.Thread(target=compute, args=[k]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_child_has_its_own_copy():
    M = matrices()
    expected = M.copy()
    matrices(1)  # one block is kept
    child = os.fork()
    if child == 0:
        M[...] = 0.0
        ARM.mass_matrix(ARM.random(2, STATES))[...] = 0.0
        os._exit(0 if memory.STORE.kept() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (expected == M).all()


def test_results_may_outlive_everything_else():
    script = """
import numpy as np, kinetree as kt
robot = kt.robots.arm()
class Late:
    M = robot.mass_matrix(robot.random(0, 4000))
    def __del__(self):
        self.M[0] = 1.0
late = Late()
late.self = late
np.kept = robot.mass_matrix(robot.random(0, 4000))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
