"""Search for failures of the property tests with fresh random seeds: `make fuzz MINUTES=30`.

Each round runs every property test with a new seed, which is printed. A finding is printed with the
example that fails and the line to add to the tests. The exit status is 1 if there is one. With
`--seed` one round is run again, with that seed. The time counts from the first test: collecting the
tests takes none of it. A round in which no test ran is an error.

The same file is the pytest plugin of these rounds.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from kinetree import joints

ROOT = Path(__file__).resolve().parents[1]
SECONDS = "KINETREE_FUZZ_SECONDS"
"""How long a round starts new tests, from its first one on."""
HUNG = 600
"""Seconds after which a test that goes on counts as one that hangs."""
FALSIFYING = re.compile(
    r"(?:Falsifying (?:explicit )?example|Failing test case): \w+\(\n(.*?)\n\)", re.DOTALL
)
END = pytest.StashKey[float]()
MARGIN = re.compile(r"^(?:E  )?[ |]*", re.MULTILINE)


class WithoutClassVariables(ast.NodeTransformer):
    """Takes numbers of the class out of joints: hypothesis prints them like fields."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        made = getattr(joints, node.func.id, None) if isinstance(node.func, ast.Name) else None
        if isinstance(made, type):
            fields = inspect.signature(made).parameters
            node.keywords = [k for k in node.keywords if k.arg in fields]
        return node


def examples(text: str, fixtures: Collection[str]) -> list[str]:
    """The decorators that repeat the failures in a report.

    Arguments:
        text: of the report.
        fixtures: the arguments that pytest provides.
    """
    found = []
    for block in FALSIFYING.findall(MARGIN.sub("", text)):
        try:
            (statement,) = ast.parse(f"example({block}\n)").body
        except SyntaxError:  # an argument that is not shown as code
            found.append(f"@example({block})")
            continue
        statement = WithoutClassVariables().visit(statement)
        given = [k for k in statement.value.keywords if k.arg not in fixtures]
        found.append(f"@example({', '.join(f'{k.arg}={ast.unparse(k.value)}' for k in given)})")
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Another order in every round, as the time may be up before the last test."""
    random.Random(config.getoption("hypothesis_seed")).shuffle(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """The time of a round starts when its tests are collected."""
    session.config.stash[END] = time.monotonic() + float(os.environ.get(SECONDS, "inf"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.monotonic() > item.config.stash[END]:
        pytest.skip("the time is up")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A round in which every test was skipped has not searched."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = reporter is None or reporter.stats.get("passed") or reporter.stats.get("failed")
    if not ran and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: object):  # type: ignore[no-untyped-def]
    """Add to the report of a failure what repeats it."""
    report = yield
    if report.failed:
        text = report.longreprtext + "".join(content for _, content in report.sections)
        lines = examples(text, getattr(item, "fixturenames", ()))
        advice = "\n".join(lines) or "no example was printed: run the round again with its seed"
        report.sections.append((f"add above {item.name} in {item.location[0]}", advice))
    return report


def rounds(minutes: float, seed: int | None, workers: str) -> int:
    """Run rounds until the time is up; the exit status of the first that finds something."""
    until = time.time() + 60.0 * minutes
    fresh = random.SystemRandom()
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
    count = 0
    while time.time() < until:
        chosen = fresh.randrange(2**32) if seed is None else seed
        print(f"round {count + 1}: --seed {chosen}", flush=True)
        options = [
            "-m",
            "hypothesis",
            "--hypothesis-profile",
            "fuzz",
            f"--hypothesis-seed={chosen}",
        ]
        options += ["-p", "tools.fuzz", "-p", "no:cacheprovider", "--tb=short", "-n", workers]
        options += ["-o", f"faulthandler_timeout={HUNG}"]
        environment[SECONDS] = str(max(1.0, until - time.time()))
        command = [sys.executable, "-m", "pytest", *options, "tests"]
        with subprocess.Popen(command, cwd=ROOT, env=environment) as run:
            try:
                status = run.wait(until - time.time() + 2 * HUNG)
            except subprocess.TimeoutExpired:
                run.terminate()
                print(f"a test hangs: it went on for {HUNG} s after the time was up")
                status = 1
        if status == pytest.ExitCode.NO_TESTS_COLLECTED:
            print("no property test ran: give it more minutes")
            return 1
        if status:
            print(f"found something with --seed {chosen}: mend it, and add the examples above")
            return 1
        count += 1
        if seed is not None:
            break
    print(f"{count} rounds, nothing found")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, help="of a round that is run again")
    parser.add_argument("--workers", default="auto", help="as pytest -n")
    given = parser.parse_args()
    sys.exit(rounds(given.minutes, given.seed, given.workers))
