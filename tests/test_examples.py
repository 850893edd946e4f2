"""The examples run, and find what their text says."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kinetree.cli.app import app

FOLDER = Path(__file__).parents[1] / "examples"


def check(path):
    return CliRunner().invoke(app, ["check", str(path)]).output


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
        "maximal_coordinates",
        "out_of_core",
        "policy",
        "reach",
        "identify",
        "transitions",
        "tracking",
        "passivity",
        "contact",
        "gravity_compensation",
        "circle",
        "inverse_kinematics",
        "reach_and_avoid",
        "torque_map",
        "falling_cat",
        "closed_chains",
        "hexapod",
        "standing",
        "ankle",
        "differential",
        "rolling",
        "walk",
        "baselines",
        "trot",
        "push",
    }
    text = (FOLDER / "README.md").read_text()
    assert all(f"`{name}.py`" in text for name in names)
    page = (FOLDER.parent / "docs/examples.md").read_text()
    assert all(f"](../examples/{name}.py)" in page for name in names)


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


@pytest.mark.slow
def test_bodies_in_bullet_follow_and_stay_together(tmp_path):
    pytest.importorskip("pybullet")
    for run in example("maximal_coordinates").main(tmp_path, 0.1).values():
        assert run.error.max() < 2e-3
        assert run.residual.max() < 1e-4
    assert (tmp_path / "maximal_coordinates.svg").exists()


@pytest.mark.slow
def test_the_arm_reaches_its_target_with_less_effort_than_on_a_straight_line(tmp_path):
    pytest.importorskip("casadi")
    off, ratio = example("reach").main(tmp_path, 12)
    assert off < 1e-6
    assert ratio < 0.9
    assert (tmp_path / "reach.svg").exists()


@pytest.mark.slow
def test_the_policy_learns(tmp_path):
    pytest.importorskip("torch")
    first, last = example("policy").main(tmp_path, 30)
    assert last < 0.3 * first


def test_states_are_computed_out_of_core():
    pytest.importorskip("dask")
    found = example("out_of_core").main(500_000)
    assert (found > 0.0).all()


@pytest.mark.slow
def test_a_log_makes_the_model_better(tmp_path):
    before, after = example("identify").main(tmp_path)
    assert after < 0.1 * before
    assert "no problems found" in check(tmp_path / "better.urdf")
    assert "## Base parameters" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "identify.svg").exists()


@pytest.mark.slow
def test_the_figure_salutes_with_little_effort_as_the_page_says(tmp_path, capsys):
    # the other row differs in that no feet are held, and takes as long to compile
    assert example("transitions").main(tmp_path, walking=False) < 0.5
    assert (tmp_path / "transition_figures.png").exists()
    name = "standing to a salute, feet held"
    page = (FOLDER.parent / "docs" / "motion.md").read_text()
    (told,), (found,) = (
        re.findall(rf"\| {name} \| (.*?) \| (.*?) \| (.*?) N \| (.*?) mrad", text)
        for text in (page, capsys.readouterr().out)
    )
    *told_efforts, told_violation = map(float, told)
    *efforts, violation = map(float, found)
    assert np.allclose(efforts, told_efforts, rtol=0.02)
    assert violation < 1.5 * told_violation


def test_computed_torque_follows_a_fast_motion(tmp_path):
    plain, computed = example("tracking").main(tmp_path)
    assert computed < 1e-3 < 0.01 * plain
    assert (tmp_path / "tracking.svg").exists()


def test_the_energy_of_the_error_goes_where_the_gain_takes_it(tmp_path):
    assert example("passivity").main(tmp_path) < 1e-3
    assert (tmp_path / "passivity.svg").exists()


def test_a_push_is_noticed_and_its_force_is_found(tmp_path):
    module = example("contact")
    late, force = module.main(tmp_path)
    assert 0.0 <= late < 0.01
    assert np.abs(force - module.PUSH).max() < 0.5
    assert (tmp_path / "contact.svg").exists()


def test_gravity_is_compensated_in_every_cycle(tmp_path):
    used, late = example("gravity_compensation").main(tmp_path, 50)
    assert used.shape == late.shape == (50,)
    assert (used > 0.0).all()
    assert (late >= 0.0).all()
    assert (tmp_path / "gravity_compensation.svg").exists()


def test_the_tool_draws_a_circle(tmp_path):
    assert example("circle").main(tmp_path) < 0.01
    assert (tmp_path / "circle.svg").exists()


def test_nearly_all_poses_are_reached(tmp_path):
    assert example("inverse_kinematics").main(tmp_path) > 0.999
    assert (tmp_path / "inverse_kinematics.svg").exists()


def test_places_are_reached_without_collision(tmp_path):
    assert 0.5 < example("reach_and_avoid").main(tmp_path) < 0.8
    assert (tmp_path / "reach_and_avoid.svg").exists()


def test_a_million_states_make_a_map(tmp_path):
    share = example("torque_map").main(tmp_path)
    assert share.shape == (1000, 1000)
    assert share.min() < 0.1 < 0.5 < share.max()
    assert np.allclose(share, share[::-1, ::-1])  # to the left as to the right
    assert (tmp_path / "torque_map.png").exists()


def test_the_cat_turns_over_without_angular_momentum(tmp_path):
    angle, momentum = example("falling_cat").main(tmp_path)
    assert abs(angle) > 120.0
    assert momentum < 1e-12
    assert (tmp_path / "falling_cat.svg").exists()


def test_a_driven_four_bar_has_the_energy_of_its_motor_and_stays_closed(tmp_path):
    off, opened = example("closed_chains").main(tmp_path, 1.0)
    assert off < 1e-6
    assert opened["projection"] < 1e-13
    assert opened["projection"] < opened["Baumgarte, 50 / s"] < opened["nothing"] < 1e-5
    assert (tmp_path / "closed_chains.svg").exists()


@pytest.mark.slow
def test_six_cylinders_rock_a_plate(tmp_path):
    off, loops, missing = example("hexapod").main(tmp_path, 0.2)
    assert off < 1e-3
    assert loops < 1e-12
    assert missing < 1e-9
    assert (tmp_path / "hexapod_rocking.svg").exists()


@pytest.mark.slow
def test_a_quadruped_squats_on_its_feet(tmp_path):
    off, slipped, balance = example("standing").main(tmp_path, 0.2)
    assert off < 1e-3
    assert slipped < 1e-3
    assert balance < 1e-3
    assert (tmp_path / "standing.svg").exists()


def test_an_embedded_ankle_accelerates_as_under_constraints(tmp_path):
    off, roll = example("ankle").main(tmp_path)
    assert off < 1e-12
    assert 0.5 < roll < 1.0
    assert (tmp_path / "ankle.svg").exists()


def test_a_differential_gives_both_wheels_the_same_torque(tmp_path):
    speeds, share, balance = example("differential").main(tmp_path)
    assert speeds < 1e-12
    assert share < 1e-5
    assert balance < 1e-6
    assert (tmp_path / "differential.svg").exists()


def test_a_skate_follows_its_cycloid_and_a_wheel_does_not_slip(tmp_path):
    off, slip, change = example("rolling").main(tmp_path)
    assert off < 1e-9
    assert slip < 1e-12
    assert change < 1e-8
    assert (tmp_path / "rolling.svg").exists()


@pytest.mark.slow
def test_a_quadruped_learns_to_walk(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    module = example("walk")
    policy, history = module.train(40, environments=256)
    speed, reward = history[-3:].mean(axis=0)
    assert speed > 0.3 > 0.0 > history[:3, 0].mean()
    assert reward > history[:3, 1].mean() + 0.5
    run = module.walk(policy, 2.0)
    assert not run["fallen"].any()
    assert run["q"][-1, 0] > 0.4
    module.draw(history, run, tmp_path / "walk.png")
    assert (tmp_path / "walk.png").exists()


@pytest.mark.slow
def test_the_quadruped_trots(tmp_path):
    assert 0.3 < example("trot").main(tmp_path, seconds=1.0) < 0.7
    assert (tmp_path / "trot.png").exists()


@pytest.mark.slow
def test_the_human_keeps_its_balance(tmp_path):
    assert example("push").main(tmp_path, seconds=0.6) < 0.04
    assert (tmp_path / "push.png").exists()
