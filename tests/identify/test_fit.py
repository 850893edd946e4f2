"""From logs to parameters: exact data exactly, noisy data within their predicted deviations."""

import tracemalloc

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import IdentificationWarning, KinetreeError, LogError, UnknownNameError
from kinetree.identify import (
    Log,
    Parameters,
    accumulate,
    base_parameters,
    fit,
    pseudo_inertia,
    weighted,
)
from tests.identify.motions import changed, made_log, smooth_motion

PENDULUM = kt.robots.double_pendulum()


def with_friction(robot, seed=0):
    parameters = Parameters(robot, ("damping", "friction"))
    theta = parameters.nominal
    count = len(theta) - parameters.inertial_count
    theta[-count:] = np.random.default_rng(seed).uniform(0.1, 0.5, count)
    return parameters.applied(theta)


@pytest.mark.parametrize(
    "name",
    [
        "arm",
        pytest.param("quadruped", marks=pytest.mark.slow),
        pytest.param("human", marks=pytest.mark.slow),
    ],
)
def test_exact_data_give_exact_base_parameters_and_forces(name):
    robot = getattr(kt.robots, name)()
    real = changed(robot)
    found = fit(robot, made_log(robot, real), drives=(), method="base")
    expected = found.estimate.base.of(real.regressors.parameters)
    assert np.abs(found.estimate.values - expected).max() < 1e-9 * np.abs(expected).max()
    other = smooth_motion(robot, seed=5)[1:]
    tau = real.inverse_dynamics(*other)
    assert np.abs(found.robot.inverse_dynamics(*other) - tau).max() < 1e-10 * np.abs(tau).max()


def test_friction_and_rotors_are_found_too():
    parameters = Parameters(PENDULUM, ("armature", "damping", "friction", "offset"))
    theta = parameters.nominal
    theta[-8:] = [0.2, 0.3, 0.4, 0.5, 0.02, 0.03, 0.04, 0.05]
    t, q, v, a = smooth_motion(PENDULUM)
    tau = parameters.applied(theta).inverse_dynamics(q, v, a) + theta[[-5, -1]]
    found = fit(PENDULUM, Log(PENDULUM, t, q, tau, v, a), drives=parameters.drives, method="base")
    assert np.allclose(found.estimate.values, found.estimate.base.of(theta), atol=1e-10)
    assert np.allclose(found.predicted(found.log), tau, atol=1e-9)


def test_known_drives_are_taken_into_account():
    real = with_friction(PENDULUM)
    found = fit(real, made_log(real, changed(real)), drives=(), method="base")
    expected = found.estimate.base.of(changed(real).regressors.parameters)
    assert np.allclose(found.estimate.values, expected, atol=1e-10)


def test_errors_are_as_large_as_predicted():
    """Over many seeds, deviations from the truth divided by their predictions are normal."""
    base = base_parameters(PENDULUM, drives=("damping", "friction"))
    real = with_friction(changed(PENDULUM))
    truth = base.of(Parameters(real, ("damping", "friction")).nominal)
    t, q, v, a = smooth_motion(PENDULUM, seconds=2.0, rate=100.0)
    clean = real.inverse_dynamics(q, v, a)
    scores = []
    for seed in range(200):
        noise = np.random.default_rng(seed).standard_normal(clean.shape) * [0.2, 0.05]
        estimate = weighted(base, accumulate(base, Log(PENDULUM, t, q, clean + noise, v, a)))
        scores.append((estimate.values - truth) / estimate.deviations)
    scores = np.array(scores)
    inside = (np.abs(scores) < 1.96).mean(axis=0)
    # 95 % with a standard deviation of 1.5 % over 200 seeds
    assert (inside > 0.90).all()
    assert (inside < 0.99).all()
    assert 0.93 < inside.mean() < 0.97


def test_the_noise_of_each_joint_is_found():
    log = made_log(PENDULUM, changed(PENDULUM))
    rng = np.random.default_rng(0)
    noisy = Log(
        PENDULUM,
        log.time,
        log.q,
        log.tau + rng.standard_normal(log.q.shape) * [1, 0.01],
        log.v,
        log.a,
    )
    found = fit(PENDULUM, noisy, drives=(), method="base")
    assert np.allclose(found.estimate.noise, [1.0, 0.01], rtol=0.05)
    equal = fit(PENDULUM, noisy, drives=(), method="base", weights="equal")
    truth = found.estimate.base.of(changed(PENDULUM).regressors.parameters)
    assert np.abs(found.estimate.values - truth).max() < np.abs(equal.estimate.values - truth).max()


def test_outliers_hardly_matter_if_they_are_weighted_down():
    log = made_log(PENDULUM, changed(PENDULUM), noise=0.01)
    tau = log.tau.copy()
    tau[::20] += 30.0
    broken = Log(PENDULUM, log.time, log.q, tau, log.v, log.a)
    truth = base_parameters(PENDULUM).of(changed(PENDULUM).regressors.parameters)
    errors = [
        np.abs(fit(PENDULUM, broken, drives=(), method="base", weights=w).estimate.values - truth)
        for w in ("joints", "robust")
    ]
    assert errors[1].max() < 0.02 * errors[0].max()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["log-cholesky", "lmi"])
def test_consistent_estimates_are_inertias_of_bodies(method, tmp_path):
    if method == "lmi":
        pytest.importorskip("cvxpy")
    robot = kt.robots.arm()
    log = made_log(robot, with_friction(changed(robot)), noise=0.3)
    free = fit(robot, log, method="base")
    assert free.impossible  # what the constraint is for
    found = fit(robot, log, method=method)
    assert found.impossible == ()
    P = pseudo_inertia(found.theta[:70].reshape(-1, 10))
    assert (np.linalg.eigvalsh(P) > 0.0).all()
    assert (found.theta[70:] >= 0.0).all()
    # no worse than the noise on another motion
    test = made_log(robot, with_friction(changed(robot)), noise=0.3, seed=7)
    assert (found.errors(test).rms < 0.33).all()
    mujoco = pytest.importorskip("mujoco")
    found.save(tmp_path / "arm.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml")).nv == 7


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quadruped", "human"])
def test_a_floating_robot_is_fitted_to_its_noise(name):
    robot = getattr(kt.robots, name)()
    found = fit(robot, made_log(robot, changed(robot), noise=0.2))
    assert found.impossible == ()
    assert (found.theta[found.parameters.inertial_count :] >= 0.0).all()
    test = made_log(robot, changed(robot), noise=0.2, seed=9)
    assert (found.errors(test).rms < 0.22).all()


@pytest.mark.slow
def test_both_ways_to_consistency_agree():
    pytest.importorskip("cvxpy")
    robot = kt.robots.arm()
    log = made_log(robot, changed(robot), noise=0.05)
    first, second = (fit(robot, log, drives=(), method=m) for m in ("log-cholesky", "lmi"))
    base = first.estimate.base
    apart = (base.of(first.theta) - base.of(second.theta)) / first.estimate.deviations
    assert np.abs(apart).max() < 0.2


def test_what_the_data_do_not_show_stays_as_it_was():
    robot = kt.robots.arm()
    log = made_log(robot, robot)
    found = fit(robot, log, drives=())
    masses = robot.regressors.parameters[::10]
    assert np.allclose(found.theta[::10], masses, rtol=0.02)


def test_too_little_excitation_is_said_by_name():
    t, q, v, a = smooth_motion(PENDULUM)
    q[:, 1], v[:, 1], a[:, 1] = 0.3, 0.0, 0.0
    log = Log(PENDULUM, t, q, PENDULUM.inverse_dynamics(q, v, a), v, a)
    with pytest.warns(IdentificationWarning) as caught:
        found = fit(PENDULUM, log)
    said = " ".join(str(w.message) for w in caught)
    assert "joint 'lower_joint' did not move" in said
    assert "the data say nothing about" in said
    assert "lower_joint.damping" in said
    assert "lower_joint.damping" in found.vague
    assert found.values["lower_joint.damping"] == pytest.approx(0.0, abs=1e-6)


def test_forces_that_were_not_measured_are_said_by_joint():
    log = made_log(PENDULUM, PENDULUM, 0.01)
    with pytest.raises(LogError, match=r"joint 'upper_joint', joint 'lower_joint'\) are zero"):
        fit(PENDULUM, Log(PENDULUM, log.time, log.q, 0.0 * log.tau, log.v, log.a))
    one = log.tau * [1.0, 0.0]
    with pytest.warns(IdentificationWarning, match="force of joint 'lower_joint' is zero"):
        fit(PENDULUM, Log(PENDULUM, log.time, log.q, one, log.v, log.a))


def test_several_logs_are_one():
    log = made_log(PENDULUM, changed(PENDULUM), noise=0.1)
    whole = fit(PENDULUM, log, method="base")
    parts = fit(PENDULUM, [log.part(slice(0, 700)), log.part(slice(700, None))], method="base")
    assert np.allclose(whole.estimate.values, parts.estimate.values, rtol=1e-10)
    assert parts.log is None


def test_logs_that_dask_compressed_are_one():
    dask = pytest.importorskip("dask")
    logs = [made_log(PENDULUM, changed(PENDULUM), 0.01, seed=k) for k in range(3)]
    base = base_parameters(PENDULUM, drives=("damping",))
    jobs = [dask.delayed(accumulate)(base, log) for log in logs]
    first, *others = dask.compute(*jobs, scheduler="processes", num_workers=2)
    for other in others:
        first.merge(other)
    found = fit(PENDULUM, first, drives=("damping",))
    assert np.allclose(found.theta, fit(PENDULUM, logs, drives=("damping",)).theta, rtol=1e-9)
    with pytest.raises(KinetreeError, match="accumulate the data with the same drives"):
        fit(PENDULUM, first, drives=())
    with pytest.raises(KinetreeError, match="needs the logs themselves"):
        fit(PENDULUM, first, drives=("damping",), weights="robust")


def test_memory_does_not_grow_with_the_log():
    piece = made_log(PENDULUM, changed(PENDULUM), motion=smooth_motion(PENDULUM, seconds=10.0))
    base = base_parameters(PENDULUM)

    def peak(count):
        accumulate(base, piece)
        tracemalloc.start()
        factors = accumulate(base, (piece for _ in range(count)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert factors.rows.tolist() == [2000 * count] * 2
        return most

    assert peak(20) < 1.1 * peak(2)


def test_wrong_calls_are_said():
    t, q, v, a = smooth_motion(PENDULUM)
    with pytest.raises(LogError, match=r"no velocities or accelerations; filtered"):
        fit(PENDULUM, Log(PENDULUM, t, q, v))
    log = Log(PENDULUM, t, q, v, v, a)
    with pytest.raises(UnknownNameError, match="valid are 'log-cholesky', 'lmi', 'base'"):
        fit(PENDULUM, log, method="magic")
    with pytest.raises(KinetreeError, match="trust must be a positive number"):
        fit(PENDULUM, log, trust=0.0)
    with pytest.raises(KinetreeError, match=r"'log\.csv' is a path; kinetree\.identify\.read"):
        fit(PENDULUM, "log.csv")
