"""Times of launches on a GPU, by events."""

from __future__ import annotations

import statistics
from typing import Any

import cupy as cp

LAUNCHES = 9


def seconds(launch: Any) -> float:
    """The median time of a launch, by events."""
    launch()
    times = []
    for _ in range(LAUNCHES):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        launch()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) * 1e-3)
    return statistics.median(times)
