"""Files that are complete or absent, and locks."""

import os
import subprocess
import sys
from contextlib import suppress

from kinetree.files.atomic import complete, locked


def test_a_file_gets_its_name_when_it_is_complete(tmp_path, monkeypatch):
    path, order = tmp_path / "a.csv", []
    synced, replaced = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (order.append("fsync"), synced(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("replace"), replaced(a, b)))
    path.write_text("old")
    with complete(path) as temporary, complete(path) as other:
        assert temporary != other
        temporary.write_text("new")
        other.write_text("newer")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert order[:2] == ["fsync", "replace"]
    assert os.listdir(tmp_path) == ["a.csv"]


def test_an_error_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "a.csv"
    with suppress(ZeroDivisionError), complete(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert not os.listdir(tmp_path)


HOLDS = """
import sys, time
from pathlib import Path
from kinetree.files.atomic import locked
with locked(Path(sys.argv[1])) as held:
    print(held, flush=True)
    sys.stdin.readline()
"""


def test_a_lock_has_one_holder_and_dies_with_it(tmp_path):
    path = tmp_path / "folder" / "lock"
    command = [sys.executable, "-c", HOLDS, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"True\n"
        with locked(path) as held:
            assert not held
        process.kill()
        process.wait()
        with locked(path) as held:
            assert held


def test_a_lock_whose_file_was_deleted_is_not_the_lock(tmp_path):
    path = tmp_path / "lock"
    with locked(path) as first:
        path.unlink()
        with locked(path) as second:
            assert (first, second, path.exists()) == (True, True, True)  # of two files
