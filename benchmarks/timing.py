"""Timing on a shared machine: medians of repeats, two contestants in turn, on a quiet processor."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Call = Callable[[], Any]


def seconds_in_turn(
    calls: list[Call],
    repeats: int = 7,
    at_least: float = 0.05,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The median time of one call of each, measured in turn so that all see the same machine.

    Arguments:
        repeats: how many rounds.
        at_least: how long each is called in a round, in seconds.
        clock: `time.process_time` leaves out what other programs on the processor take.
    """
    counts = []
    for call in calls:
        call()
        started = clock()
        call()
        once = max(clock() - started, 1e-7)
        counts.append(max(1, round(at_least / once)))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, count, mine in zip(calls, counts, times, strict=True):
            loop = range(count)
            started = clock()
            for _ in loop:
                call()
            mine.append((clock() - started) / count)
    return [float(np.median(mine)) for mine in times]


@contextmanager
def on_the_quietest(call: Call) -> Iterator[None]:
    """Stay on the processor where a call takes least at the moment.

    A processor may share its arithmetic units with somebody else's work, for seconds or minutes.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    taken = {}
    try:
        for processor in allowed:
            os.sched_setaffinity(0, {processor})
            (taken[processor],) = seconds_in_turn([call], repeats=3, at_least=0.02)
        os.sched_setaffinity(0, {min(taken, key=lambda processor: taken[processor])})
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def write_bandwidth(size: int) -> float:
    """Bytes a second that one thread writes into an array of some size, again and again."""
    array = np.empty(size // 8)
    (seconds,) = seconds_in_turn([lambda: array.fill(1.0)])
    return array.nbytes / seconds
