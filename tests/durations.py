"""Which tests `make test-fast` leaves out: those that `make slow-tests` found to take long.

`slow_tests.txt` has a line for each test function whose tests take longer than `LIMIT` on average,
however many parameters it has, so that new ones need no new list.
"""

from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).parent / "slow_tests.txt"
LIMIT = 0.15
"""Seconds on a quiet machine. All tests that take less fit into two minutes on two cores."""


def function(nodeid: str) -> str:
    """A test's file and function, without its parameters."""
    return nodeid.partition("[")[0]


def listed() -> frozenset[str]:
    """The functions in the list."""
    return frozenset(LIST.read_text().split())


class Recorder:
    """A plugin of pytest that measures what runs, and writes the list again.

    Functions that did not run stay in it or out of it.
    """

    def __init__(self) -> None:
        self._seconds: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report):
        """Add up setup, call and teardown of a test."""
        tests = self._seconds[function(report.nodeid)]
        tests[report.nodeid] = tests.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self):
        """Write the list."""
        measured = {name: sum(t.values()) / len(t) for name, t in self._seconds.items()}
        slow = {name for name, seconds in measured.items() if seconds > LIMIT}
        LIST.write_text("\n".join(sorted((listed() - measured.keys()) | slow)) + "\n")
