"""What a simulation gives, and its files."""

import numpy as np
import pytest

import kinetree as kt

PENDULUM = kt.robots.double_pendulum()


@pytest.fixture(scope="module", params=[(), (3,), (2, 2)], ids=str)
def run(request):
    q0 = np.random.default_rng(0).standard_normal((*request.param, 2))
    return PENDULUM.simulate(q0, [0, 0], time=0.1, dt=0.01, record=["energy", "mass_matrix"])


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_what_is_saved_is_loaded(run, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    run.save(tmp_path / f"run{suffix}")
    again = kt.Simulation.load(tmp_path / f"run{suffix}")
    assert list(again) == list(run)
    for name in run:
        assert (again[name] == run[name]).all()
        assert again[name].shape == run[name].shape
    assert np.isnan(again.diverged).all()
    assert again.diverged.shape == run.diverged.shape


def test_parquet_without_pyarrow_names_the_extra(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(kt.errors.MissingExtraError, match=r"kinetree\[files\]"):
        run.save(tmp_path / "run.parquet")


def test_it_is_drawn(run, tmp_path):
    run.plot(tmp_path / "run.png", ["q", "energy"])
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_wrong_names_are_told_the_right_ones(run, tmp_path):
    with pytest.raises(kt.errors.UnknownNameError, match="did you mean 'energy'"):
        run["enrgy"]
    with pytest.raises(kt.errors.KinetreeError, match=r"ends with \.npz or \.parquet"):
        run.save(tmp_path / "run.csv")
    with pytest.raises(kt.errors.MissingFileError, match="no such file"):
        kt.Simulation.load(tmp_path / "other.npz")
