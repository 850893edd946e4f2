"""Which tests `make test-fast` leaves out: those that `make slow-tests` found to take long.

`slow_tests.txt` has a line for each test function whose tests take longer than `LIMIT` on average,
however many parameters it has, so that new ones need no new list. Processor time is measured, that
of processes that a test starts included: it depends little on what else runs on the machine.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

LIST = Path(__file__).parent / "slow_tests.txt"
LIMIT = 0.1
"""Seconds of processor time. All tests that take less fit into two minutes on two cores."""


def function(nodeid: str) -> str:
    """A test's file and function, without its parameters."""
    return nodeid.partition("[")[0]


def listed() -> frozenset[str]:
    """The functions in the list."""
    return frozenset(LIST.read_text().split())


class Meter:
    """A plugin of pytest that adds its processor time to each report of a test."""

    def __init__(self) -> None:
        self._spent = _spent()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self):
        """Give the report of setup, call or teardown the time since the one before."""
        before, self._spent = self._spent, _spent()
        outcome = yield
        outcome.get_result().processor_time = self._spent - before


def _spent() -> float:
    """The processor time of this process, and of those that it started and that have ended."""
    return sum(os.times()[:4])


class Recorder:
    """A plugin of pytest that adds up what was measured, and writes the list again.

    Functions that did not run stay in it or out of it.
    """

    def __init__(self) -> None:
        self._seconds: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report):
        """Add up setup, call and teardown of a test."""
        tests = self._seconds[function(report.nodeid)]
        tests[report.nodeid] = tests.get(report.nodeid, 0.0) + report.processor_time

    def pytest_sessionfinish(self):
        """Write the list."""
        measured = {name: sum(t.values()) / len(t) for name, t in self._seconds.items()}
        slow = {name for name, seconds in measured.items() if seconds > LIMIT}
        LIST.write_text("\n".join(sorted((listed() - measured.keys()) | slow)) + "\n")
