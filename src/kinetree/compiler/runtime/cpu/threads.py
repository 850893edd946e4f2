"""How many threads a batch may use, and the worker threads themselves."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading

from kinetree.compiler.native.thread_pool import ASLEEP, CLOSED, LOCK, Pool, pool_size
from kinetree.compiler.runtime.backend import COMPILING
from kinetree.compiler.runtime.cpu.support import pool_code
from kinetree.errors import KinetreeError

MAX_THREADS = 1024


class _Workers:
    """The memory and threads of the pool, created when more than one thread is requested."""

    def __init__(self) -> None:
        with COMPILING:
            loaded = pool_code()
        self.pool = (ctypes.c_int64 * pool_size(MAX_THREADS))()
        self.pool[Pool.PARTICIPANTS] = CLOSED
        self.threads: list[threading.Thread] = []
        worker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
        self._work = worker(loaded.address("kinetree_worker"))
        python = ctypes.pythonapi
        self._new_lock = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", python))
        self._acquire = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
            ("PyThread_acquire_lock", python)
        )
        self._release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("PyThread_release_lock", python))
        set_pool = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.address("kinetree_set_pool"))
        set_pool(ctypes.addressof(self.pool))

    def use(self, count: int) -> None:
        while len(self.threads) < count - 1:
            self._start(len(self.threads))
        self.pool[Pool.THREADS] = count

    def _field(self, number: int, field: int) -> int:
        return Pool.WORKERS + number * Pool.WORKER_FIELDS + field

    def _start(self, number: int) -> None:
        lock = self._new_lock()
        self._acquire(lock, 1)
        self.pool[self._field(number, LOCK)] = lock
        thread = threading.Thread(
            target=self._work,
            args=(ctypes.addressof(self.pool), number),
            name=f"kinetree-{number + 1}",
            daemon=True,
        )
        self.threads.append(thread)
        thread.start()

    def stop(self) -> None:
        self.pool[Pool.THREADS] = 1
        self.pool[Pool.STOP] = 1
        for number, thread in enumerate(self.threads):
            while thread.is_alive():
                at = self._field(number, ASLEEP)
                if self.pool[at]:
                    self.pool[at] = 0
                    self._release(self.pool[self._field(number, LOCK)])
                thread.join(0.001)


_workers: _Workers | None = None
_count = 1


def get_threads() -> int:
    """The number of threads that a batch may use.

    Returns:
        A positive number.
    """
    return _count


def set_threads(count: int | None) -> None:
    """Set the number of threads that a batch may use; one by default.

    Results are the same to the last bit, whatever the number.

    Arguments:
        count: how many; None for one per core that this process may use.
    """
    global _workers, _count
    if count is None:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_THREADS:
        raise KinetreeError(
            f"set_threads({count!r}): a whole number from 1 to {MAX_THREADS} is expected, or None"
        )
    if _workers is None and count > 1:
        _workers = _Workers()
    if _workers is not None:
        _workers.use(count)
    _count = count


@atexit.register
def _stop() -> None:
    if _workers is not None:
        _workers.stop()


def _after_fork() -> None:
    """In a forked child only the calling thread is left: start again with new workers."""
    global _workers
    if _workers is not None:
        _workers = _Workers()
        _workers.use(_count)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
