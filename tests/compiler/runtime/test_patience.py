"""People who wait for a compiler are told so, and nobody else."""

import sys
import time

import pytest

from kinetree.compiler.runtime import patience as module
from kinetree.compiler.runtime.patience import patience


@pytest.fixture(autouse=True)
def at_a_prompt(monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(module, "SECONDS", 0.05)
    monkeypatch.delenv("KINETREE_QUIET", raising=False)


def test_who_waits_long_is_told_what_for(capsys):
    with patience("forward_dynamics"):
        time.sleep(0.3)
    assert "compiling forward_dynamics" in capsys.readouterr().err


def test_who_does_not_wait_is_told_nothing(capsys):
    with patience("forward_dynamics"):
        pass
    time.sleep(0.2)
    assert not capsys.readouterr().err


def test_it_can_be_turned_off(capsys, monkeypatch):
    monkeypatch.setenv("KINETREE_QUIET", "1")
    with patience("forward_dynamics"):
        time.sleep(0.2)
    assert not capsys.readouterr().err


def test_programs_are_not_spoken_to(capsys, monkeypatch):
    monkeypatch.delattr(sys, "ps1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with patience("forward_dynamics"):
        time.sleep(0.2)
    assert not capsys.readouterr().err
