"""The disk cache: private, atomic, checked, and never in the way."""

import os
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import cache
from kinetree.errors import CacheWarning


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("KINETREE_CACHE", str(path))
    return path


def run(code: str, folder, **environment) -> str:
    """Run code in a fresh process with its own cache."""
    env = {**os.environ, "KINETREE_CACHE": str(folder), **environment}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert result.returncode == 0, result.stderr
    return result.stdout


CALL = """
import numpy as np, kinetree as kt
robot = kt.robots.arm()
print(robot.inverse_dynamics(robot.random(0), np.ones(7), np.ones(7)).tolist())
"""

CALL_WITHOUT_TRACING = (
    """
import kinetree.quantities.tracing
def refuse(*a): raise SystemExit("traced")
kinetree.quantities.tracing.Tracer.program = refuse
"""
    + CALL
)


def test_an_entry_comes_back_as_it_was_saved(folder):
    assert cache.load("x") is None
    cache.save("x", b"content")
    assert cache.load("x") == b"content"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_folder_is_private(folder):
    cache.save("x", b"")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_others_may_write_to_is_not_used(folder):
    for mode in (0o777, 0o775):  # the second is what umask 002 leaves
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
        cache._warn.cache_clear()
        with pytest.warns(CacheWarning, match=r"others may write to it; 'chmod go-w'"):
            cache.save("x", b"content")
        assert cache.load("x") is None  # and no second warning
        assert not list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_an_entry_others_may_write_to_is_not_used(folder):
    cache.save("x", b"content")
    (folder / "x").chmod(0o666)
    assert cache.load("x") is None


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
def test_an_entry_of_another_user_is_not_used(folder, monkeypatch):
    cache.save("x", b"content")
    assert cache.load("x") == b"content"
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    monkeypatch.setattr(cache, "folder", lambda: folder)
    assert cache.load("x") is None


def test_an_entry_under_the_name_of_another_is_found_out(folder):
    cache.save("x", b"content")
    (folder / "y").write_bytes((folder / "x").read_bytes())
    assert cache.load("y") is None


@pytest.mark.slow
def test_exchanged_kernels_are_compiled_again(folder):
    first = run(CALL, folder)
    entries = sorted(folder.iterdir())
    contents = [path.read_bytes() for path in entries]
    for path, content in zip(entries, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert run(CALL, folder) == first


@pytest.mark.skipif(os.name != "posix", reason="the home directory of POSIX")
def test_without_a_home_directory_there_is_a_warning_and_no_cache(monkeypatch):
    for name in ("KINETREE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}["no entry"])
    cache._warn.cache_clear()
    with pytest.warns(CacheWarning, match="there is no home directory"):
        assert cache.load("x") is None


def test_an_empty_setting_turns_the_cache_off(monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", "")
    cache.save("x", b"content")
    assert cache.load("x") is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "file" / "cache"))
    cache._warn.cache_clear()
    with pytest.warns(CacheWarning, match="every process compiles anew"):
        cache.save("x", b"content")
    assert cache.load("x") is None


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "garbage"])
def test_a_damaged_entry_is_found_out(folder, damage):
    cache.save("x", b"content" * 100)
    path = folder / "x"
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "truncate": data[:middle],
            "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "garbage": b"\0" * len(data),
        }[damage]
    )
    assert cache.load("x") is None


@pytest.mark.slow
def test_damaged_kernels_are_compiled_again(folder):
    first = run(CALL, folder)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-7])
    assert run(CALL, folder) == first
    assert run(CALL_WITHOUT_TRACING, folder) == first


@pytest.mark.slow
def test_a_second_process_neither_traces_nor_compiles(folder):
    first = run(CALL, folder)
    before = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    assert run(CALL_WITHOUT_TRACING, folder) == first
    assert {p.name: p.stat().st_mtime_ns for p in folder.iterdir()} == before


CUSTOM = """
import numpy as np, kinetree as kt
robot = kt.robots.arm()
kernel = robot.custom_kernel(lambda model, q: [x * q[0] for x in q], {"q": 7}, "own")
print(kernel(np.ones((20, 7))).sum())
"""


def test_the_machine_code_of_a_function_of_ones_own_is_kept(folder):
    refuse = """
import kinetree.compiler.runtime.cpu.bodies
def refuse(*a): raise SystemExit("compiled")
kinetree.compiler.runtime.cpu.bodies._generate = refuse
"""
    assert run(CUSTOM, folder) == run(refuse + CUSTOM, folder)


@pytest.mark.slow
def test_processes_that_fill_the_cache_together_do_not_disturb_each_other(folder):
    outputs = []
    threads = [threading.Thread(target=lambda: outputs.append(run(CALL, folder))) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(outputs) == 3
    assert len(set(outputs)) == 1
    assert not [p for p in folder.iterdir() if p.name.startswith("new-")]


def test_keys_depend_on_every_part():
    keys = {cache.key("a"), cache.key("b"), cache.key("a", "b"), cache.key("ab")}
    assert len(keys) == 4


def test_another_robot_is_another_program(folder):
    q = np.zeros(7)
    one, two = kt.robots.chain(7, seed=1), kt.robots.chain(7, seed=2)
    assert not np.allclose(one.mass_matrix(q), two.mass_matrix(q))
    assert one.kernel("mass_matrix").interface.digest != two.kernel("mass_matrix").interface.digest


def used_ago(folder, name, hours):
    then = time.time() - 3600.0 * hours
    os.utime(folder / name, (then, then))


def filled(folder, monkeypatch, count, size=1000):
    """A cache with entries, the first of which was used longest ago."""
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "1 TB")
    names = [cache.key(str(k)) for k in range(count)]
    for k, name in enumerate(names):
        cache.save(name, bytes(size))
        used_ago(folder, name, count - k)
    return names


def test_a_full_cache_loses_what_was_used_longest_ago(folder, monkeypatch):
    names = filled(folder, monkeypatch, 20)
    assert cache.load(names[0]) is not None  # is used
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "15.5 kB")
    cache._written.clear()  # as in another process
    new = cache.key("new")
    cache.save(new, bytes(1000))
    left = set(cache.entries())
    assert {new, names[0], names[-1]} <= left
    assert not left & set(names[1:6])
    assert cache.usage()[1] <= 15_500


def test_the_cache_stays_small_while_one_process_writes(folder, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "100 KB")
    for k in range(400):
        cache.save(cache.key(str(k)), bytes(2000))
    assert 60_000 < cache.usage()[1] < 110_000
    assert cache.load(cache.key("399")) is not None
    cache.save("large", bytes(200_000))
    assert cache.load("large") is None


def test_files_that_a_killed_process_left_are_deleted(folder, monkeypatch):
    filled(folder, monkeypatch, 1)
    for name, hours in (("new-old", 25.0), ("new-recent", 1.0)):
        (folder / name).write_bytes(b"half")
        used_ago(folder, name, hours)
    (folder / "thesis.tex").write_text("precious")
    used_ago(folder, "thesis.tex", 1e4)
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "0 MB")
    cache._delete_oldest(folder)
    assert {path.name for path in folder.iterdir()} == {"new-recent", "thesis.tex"}


def test_a_size_that_is_none_is_a_warning(monkeypatch):
    cache._warn_of_size.cache_clear()
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "much")
    with pytest.warns(CacheWarning, match="KINETREE_CACHE_SIZE='much': a size such as '500 MB'"):
        assert cache.limit() == cache.SIZE
    for text, size in (("", cache.SIZE), ("500 MB", 500_000_000), ("1.5gb", 1_500_000_000)):
        monkeypatch.setenv("KINETREE_CACHE_SIZE", text)
        assert cache.limit() == size
