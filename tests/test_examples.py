"""The examples run, and find what their text says."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested_and_listed():
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names == {
        "swing_up",
        "payload",
        "free_flight",
        "pick",
        "transitions",
        "maximal_coordinates",
    }
    text = (FOLDER / "README.md").read_text()
    assert all(f"`{name}.py`" in text for name in names)


def test_the_pole_stands(tmp_path):
    assert example("swing_up").main(tmp_path) > 0.9
    assert (tmp_path / "swing_up.png").exists()


def test_the_load_is_learnt(tmp_path):
    known, adaptive = example("payload").main(tmp_path)
    assert adaptive < 0.1 * known


@pytest.mark.slow
def test_the_energy_of_the_variational_integrator_is_bounded(tmp_path):
    drift = example("free_flight").main(tmp_path, 50.0)
    assert drift["variational"] < 1.0
    assert drift["midpoint"] > drift["variational"]


def test_the_tool_arrives(tmp_path):
    assert example("pick").main(tmp_path) < 1e-3


def test_bodies_in_bullet_follow_and_stay_together(tmp_path):
    pytest.importorskip("pybullet")
    for run in example("maximal_coordinates").main(tmp_path, 0.1).values():
        assert run.error.max() < 2e-3
        assert run.residual.max() < 1e-4
    assert (tmp_path / "maximal_coordinates.svg").exists()


@pytest.mark.slow
def test_the_figure_salutes_with_little_effort(tmp_path):
    assert example("transitions").main(tmp_path) < 0.5
    assert (tmp_path / "transition_figures.png").exists()
