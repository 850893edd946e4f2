"""Pieces of an output: one process at a time, and nothing of anybody else's is touched."""

import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import batch
from kinetree.cli.pieces import LOCK, kept_pieces
from kinetree.files.atomic import locked
from tests.cli.test_app import invoke

ROBOT = kt.robots.double_pendulum()


@pytest.fixture
def command(tmp_path):
    np.savez(tmp_path / "in.npz", q=ROBOT.random(0, 50_000))
    output = tmp_path / "out.csv"
    return ["run", "mass_matrix", "double_pendulum", str(tmp_path / "in.npz"), "-o", str(output)]


def test_a_folder_of_somebody_else_is_neither_used_nor_deleted(tmp_path, command):
    folder = tmp_path / "out.csv.part"
    folder.mkdir()
    for name in ("thesis.tex", "000000.csv", "job"):
        (folder / name).write_text("precious")
        result = invoke(*command)
        assert result.exit_code == 1
        assert "out.csv.part is needed" in result.output
        assert (folder / name).read_text() == "precious"
        (folder / name).unlink()
    folder.rmdir()
    folder.write_text("a file")
    assert invoke(*command).exit_code == 1
    assert folder.read_text() == "a file"
    folder.unlink()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert invoke(*command).exit_code == 1
    assert folder.is_symlink()


def test_files_that_others_put_among_the_pieces_stay(tmp_path):
    output = tmp_path / "out.csv"
    with suppress(ZeroDivisionError), kept_pieces(output, "one") as pieces:
        with pieces.next() as path:
            path.write_text("1")
        (pieces.folder / "thesis.tex").write_text("precious")
        raise ZeroDivisionError
    with kept_pieces(output, "one") as pieces:
        assert len(pieces.paths) == 1
    assert [p.name for p in pieces.folder.iterdir()] == ["thesis.tex"]


def test_pieces_that_were_cut_off_are_not_taken_over(tmp_path):
    output = tmp_path / "out.csv"
    with suppress(ZeroDivisionError), kept_pieces(output, "one") as pieces:
        with pieces.next() as path:
            path.write_text("1")
        with pieces.next() as path:
            path.write_text("half")
            raise ZeroDivisionError
    with kept_pieces(output, "one") as pieces:
        assert [p.read_text() for p in pieces.paths] == ["1"]
    assert not pieces.folder.exists()


def test_an_output_that_another_process_computes_is_refused(tmp_path, command):
    with locked(tmp_path / "out.csv.part" / LOCK):
        result = invoke(*command)
        assert result.exit_code == 1
        assert "another process is computing this output" in result.output
    assert invoke(*command).exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.npz", "out.csv"]


def test_an_output_that_appears_meanwhile_is_not_replaced(tmp_path, command, monkeypatch):
    kept = batch.write_piece

    def write_piece(*piece):
        (tmp_path / "out.csv").write_text("precious")
        kept(*piece)

    monkeypatch.setattr(batch, "write_piece", write_piece)
    result = invoke(*command)
    assert result.exit_code == 1
    assert "already exists" in result.output
    assert (tmp_path / "out.csv").read_text() == "precious"


@pytest.mark.slow
def test_of_two_jobs_at_one_output_each_gives_a_whole_file_or_a_sentence(tmp_path, command):
    expected = None
    for trial in range(4):
        both = []
        for _ in range(2):
            process = [sys.executable, "-m", "kinetree", *command, "--overwrite"]
            both.append(subprocess.Popen(process, stderr=subprocess.PIPE, text=True))
            time.sleep(0.1 * trial)
        errors = [process.communicate()[1] for process in both]
        assert any(process.returncode == 0 for process in both), errors
        for process, error in zip(both, errors, strict=True):
            assert process.returncode == 0 or "another process is computing" in error
        text = (tmp_path / "out.csv").read_text()
        expected = expected or text
        assert text == expected
        assert text.count("\n") == 50_001
        assert sorted(p.name for p in tmp_path.iterdir()) == ["in.npz", "out.csv"]
