"""Forks: a child starts with free locks, whatever the parent's other threads were doing.

A forked child has the calling thread alone. A lock that another thread held would never be released
there, so the child gets new ones. What the other thread was making is not known in the child, which
makes it again.

A fork does not wait for a compilation, which may take seconds. It waits for what a child could not
repair: a shared library that is half loaded, and one call into LLVM. Each wait has a limit, so that
no order in which other packages' handlers take their own locks can make it a deadlock.

Python has a lock for each module that is being imported. A child would wait for ever for those that
other threads held. It forgets these locks and the modules that are half imported, and imports them
again.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

LIMIT = 1.0
"""Seconds that a fork waits at most, for imports and again for a lock."""
PACKAGES = ("kinetree", "llvmlite")
"""Packages of which parts are imported while something is compiled."""


def forkable_lock() -> Any:
    """A reentrant lock that is free in a forked child, unless the forking thread holds it."""
    lock = threading.RLock()
    free_in_children(lock)
    return lock


def free_in_children(lock: Any) -> None:
    """Free a `threading.RLock` in forked children, as the standard library frees its own."""

    def free() -> None:
        if not lock._is_owned():
            lock._at_fork_reinit()

    _at_fork(after_in_child=free)


def hold_during_forks(lock: Any) -> None:
    """Let a fork wait until no other thread holds a `threading.RLock`."""
    forking: set[int] = set()  # the threads that hold it for that

    def hold() -> None:
        if lock.acquire(timeout=LIMIT):
            forking.add(threading.get_ident())

    def release() -> None:
        if threading.get_ident() in forking:
            forking.remove(threading.get_ident())
            lock.release()

    _at_fork(before=hold, after_in_parent=release, after_in_child=release)
    free_in_children(lock)


def _wait_for_imports() -> None:
    """Let other threads finish their imports of packages that load libraries."""
    deadline = time.monotonic() + LIMIT
    while _is_importing() and time.monotonic() < deadline:
        time.sleep(1e-3)


def _is_importing() -> bool:
    """Whether another thread holds the lock of a module of these packages."""
    return any(
        name.partition(".")[0] in PACKAGES and lock.owner is not None
        for name, lock in _locks_of_other_threads()
    )


def _forget_imports() -> None:
    """In a child, forget what other threads were importing, and their locks."""
    for name, _ in list(_locks_of_other_threads()):
        _module_locks().pop(name, None)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


def _locks_of_other_threads() -> Iterator[tuple[str, Any]]:
    """The names of modules that are being imported, and the locks, but for those of this thread."""
    for name, reference in list(_module_locks().items()):
        lock = reference()
        if lock is not None and lock.owner != threading.get_ident():
            yield name, lock


def _module_locks() -> dict[str, Any]:
    """Python's own table of weak references to the locks of modules that are being imported."""
    return getattr(importlib._bootstrap, "_module_locks", {})


def _at_fork(**handlers: Callable[[], None]) -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**handlers)


_at_fork(before=_wait_for_imports, after_in_child=_forget_imports)
