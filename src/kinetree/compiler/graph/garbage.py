"""Python's search for cyclic garbage, put off while many objects are made that all stay.

A trace makes hundreds of thousands of objects and drops hardly one. Each search visits all that
were made since the last one, and from time to time all there are: half of the time of a trace.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_searches() -> Iterator[None]:
    """Run a block, or as a decorator a function, without searches for garbage.

    Where threads overlap, searches go on when the one ends that stopped them.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()
