"""How long a call takes, for the reports of `kinetree demo` and `kinetree bench`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


def seconds(call: Callable[[], Any], total: float = 0.2) -> float:
    """The median time of a call, s.

    Arguments:
        call: what is timed; it is called twice before, so that nothing is compiled meanwhile.
        total: how long to measure, about, s.
    """
    call()
    started = time.perf_counter()
    call()
    once = max(time.perf_counter() - started, 1e-7)
    repeat = max(1, int(total / 9 / once))
    times = []
    for _ in range(9):
        started = time.perf_counter()
        for _ in range(repeat):
            call()
        times.append((time.perf_counter() - started) / repeat)
    return float(np.median(times))
