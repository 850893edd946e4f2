"""What all tests share: a cache of their own, hypothesis' settings, and how workers share tests."""

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests import durations

# one folder for all workers and runs, so that no test writes to the user's cache
os.environ["KINETREE_CACHE"] = str(Path(tempfile.gettempdir()) / "kinetree-tests")

# linear algebra on one thread, before NumPy is imported: workers use all cores already, and threads
# of OpenBLAS that wait for each other took ten times the time of what they compute
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# workers, and processes that tests start, share compiled modules, even where the environment would
# not keep them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

FOLDER = tempfile.TemporaryDirectory(prefix="kinetree-tests-")
"""The working directory of all tests."""

# make test takes the first, make test-fast the second; make fuzz, with a seed, the third
for profile, examples in (("kinetree", 25), ("fast", 5), ("fuzz", 50)):
    settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        derandomize=profile != "fuzz",
        database=None,
        print_blob=profile == "fuzz",
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile("kinetree")


def pytest_sessionstart(session):
    """Let nothing be written to the repository, and examples depend on nothing but their test.

    Hypothesis also draws numbers and texts that stand in the modules imported so far, which differ
    from worker to worker and from run to run.
    """
    if not getattr(session.config.option, "numprocesses", None):  # workers have none themselves
        os.chdir(FOLDER.name)
    if settings.default.derandomize and hasattr(providers, "_get_local_constants"):
        none = providers._local_constants  # as yet
        providers._get_local_constants = lambda: none


AS_USERS_HAVE_IT = (
    "adversarial/",
    "bridges/",
    "cli/",
    "compiler/emit/",
    "compiler/native/",
    "compiler/runtime/test_cache.py",
    "compiler/runtime/test_cpu.py",
    "compiler/runtime/test_host.py",
    "compiler/runtime/test_kernel.py",
    "compiler/runtime/test_memory.py",
    "compiler/runtime/test_native_function.py",
    "compiler/runtime/test_threads.py",
    "compiler/runtime/test_time_loop.py",
    "test_tiny.py",
)
"""Where tests are about machine code: LLVM optimises it as for users.

All other tests are about numbers, which do not depend on that: `compiler/runtime/test_host.py`
checks that results are the same bit for bit. There LLVM would take most of the time; code that is
not optimised runs 1.1 to 1.6 times as long.
"""
TESTS = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Choose how much machine code is optimised."""
    try:
        from kinetree.compiler.runtime.cpu.host import Host
    except ImportError:  # there is no compiler
        return
    file = item.path.relative_to(TESTS).as_posix()
    Host.level = 1 if file.startswith(AS_USERS_HAVE_IT) else 0


# which tests are slow

SLOW = durations.listed()


def pytest_addoption(parser):
    """Have `--slow-tests` write the list of slow tests again, from what runs."""
    parser.addoption("--slow-tests", action="store_true", help="write tests/slow_tests.txt again")


def pytest_configure(config):
    """Measure tests where that is asked for; workers report to the process that started them."""
    if config.getoption("--slow-tests"):
        config.pluginmanager.register(durations.Meter())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(durations.Recorder())


def pytest_itemcollected(item):
    """Mark a test that the list has as long, unless the list is being written."""
    if durations.function(item.nodeid) in SLOW and not item.config.getoption("--slow-tests"):
        item.add_marker("long")


# workers


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, so that no worker waits for another at the end."""
    marks = [
        (item.path, [item.get_closest_marker(name) for name in ("slow", "long")]) for item in items
    ]
    slow = Counter(path for path, found in marks if any(found))
    items.sort(key=lambda item: -slow[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give workers one file after the other.

    Robots and kernels of a file are then made once. Tests with a browser are one piece of work: two
    browsers at once take longer than the tests would wait.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "browser" if file.startswith("tests/show/view/") else file

    config.option.loadscopereorder = False
    return Files(config, log)
