"""Compiling ahead, and shipping what was compiled."""

import subprocess
import sys
import zipfile

import pytest
from typer.testing import CliRunner

from kinetree.cli.app import app
from kinetree.compiler.runtime import cache
from kinetree.errors import CacheError

RUN = CliRunner()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_quantities_are_compiled_into_the_cache(folder):
    done = RUN.invoke(app, ["compile", "double_pendulum", "inverse_dynamics", "mass_matrix"])
    assert done.exit_code == 0, done.output
    assert "done" in done.output
    assert len(cache.entries()) >= 6  # interfaces and two bodies each
    assert cache.usage()[0] == len(cache.entries())
    assert cache.usage()[1] > sum(map(len, cache.entries().values()))  # with their heads


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compile", "arm", "inverse_dynamic"], "did you mean 'inverse_dynamics'"),
        (["compile", "arm", "jacobian"], "jacobian needs --frame, one of"),
        (["compile", "arm", "mass_matrix", "--dtype", "int8"], "float64 or float32 is expected"),
        (["cache", "exprot"], "did you mean 'export'"),
        (["cache", "export"], "needs a file"),
    ],
)
def test_wrong_words_get_a_sentence(folder, arguments, message):
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 1
    assert message in done.output


USE = """
import sys
import kinetree as kt
from kinetree.compiler.runtime.cpu import host
host.Host.compile = host.Host.compile_all = None  # there is nothing to compile
print(kt.robots.double_pendulum().inverse_dynamics(*[[0.1, 0.2]] * 3).shape)
"""


@pytest.mark.slow
def test_a_cache_is_shipped_in_a_file(folder, monkeypatch):
    # in a process of its own, which also compiles what all kernels share
    command = [sys.executable, "-m", "kinetree", "compile", "double_pendulum", "inverse_dynamics"]
    subprocess.run(command, check=True, capture_output=True)
    file = folder / "kernels.zip"
    done = RUN.invoke(app, ["cache", "export", str(file)])
    assert "entries written" in done.output
    monkeypatch.setenv("KINETREE_CACHE", str(folder / "other"))
    assert "0 entries" in RUN.invoke(app, ["cache"]).output
    done = RUN.invoke(app, ["cache", "import", str(file)])
    assert done.exit_code == 0, done.output
    run = subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True)
    assert run.stdout == "(2,)\n", run.stderr
    assert "entries deleted" in RUN.invoke(app, ["cache", "clear"]).output
    assert not cache.entries()


def test_a_damaged_file_is_refused_whole(folder):
    RUN.invoke(app, ["compile", "double_pendulum", "inverse_dynamics"])
    file = folder / "kernels.zip"
    cache.export_to(file)
    with zipfile.ZipFile(file) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    name = next(iter(found))
    found[name] = found[name][:-1] + b"?"
    with zipfile.ZipFile(file, "w") as archive:
        for key, data in found.items():
            archive.writestr(key, data)
    cache.clear()
    with pytest.raises(CacheError, match="damaged; nothing was imported"):
        cache.import_from(file)
    assert not cache.entries()
    file.write_bytes(b"no archive")
    with pytest.raises(CacheError, match="is not a cache that was exported"):
        cache.import_from(file)


def exported(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, cache._head(name, content) + content)
    return path


def test_an_import_larger_than_the_cache_is_refused_before_it_is_unpacked(folder, monkeypatch):
    file = exported(folder / "kernels.zip", {cache.key("x"): bytes(50_000_000)})
    assert file.stat().st_size < 100_000
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "1 MB")
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    done = RUN.invoke(app, ["cache", "import", str(file)])
    assert done.exit_code == 1
    assert "has 50 MB of entries, but the cache holds 1 MB; KINETREE_CACHE_SIZE" in done.output


def test_a_size_that_an_archive_pretends_is_not_believed(folder):
    file = exported(folder / "kernels.zip", {cache.key("x"): bytes(5_000_000)})
    data = bytearray(file.read_bytes())
    at = data.index(b"PK\x01\x02") + 24  # uncompressed size, in the central directory
    data[at : at + 4] = (1000).to_bytes(4, "little")
    file.write_bytes(data)
    with pytest.raises(CacheError, match="damaged"):
        cache.import_from(file)
    assert not cache.entries()


def test_encrypted_and_odd_archives_are_refused(folder):
    file = exported(folder / "kernels.zip", {cache.key("x"): b"code"})
    data = bytearray(file.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(data)
    with pytest.raises(CacheError, match="is encrypted"):
        cache.import_from(file)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        exported(file, {cache.key("x"): b"code"}, method)
        with pytest.raises(CacheError, match="a method other than deflate"):
            cache.import_from(file)
    assert not cache.entries()


def test_the_command_says_how_large_the_cache_may_become(folder, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "30 MB")
    assert "0 entries, 0.0 MB of at most 30 MB" in RUN.invoke(app, ["cache"]).output
    assert '"limit": 30000000' in RUN.invoke(app, ["cache", "--json"]).output
