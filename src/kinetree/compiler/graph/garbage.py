"""Python's cyclic garbage collector, paused while many objects are made that all stay.

A trace makes hundreds of thousands of objects and drops hardly one. Each collection visits all
objects made since the last one, and from time to time all there are. This would take half of the
time of a trace.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_searches() -> Iterator[None]:
    """Run a block, or as a decorator a function, with the garbage collector paused.

    Where blocks of several threads overlap, it resumes when the block ends that paused it.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()
