"""Output error: a simulation that follows the measured motion, without accelerations."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import LogError, UnknownNameError
from kinetree.identify import Log, base_parameters, fit_output_error
from kinetree.identify.output_error import _Problem
from tests.identify.motions import changed

ROBOT = kt.robots.double_pendulum()


def simulated(real, steps=400, dt=5e-3):
    rng = np.random.default_rng(0)
    t = np.arange(steps) * dt
    pushes = np.stack(
        [8.0 * np.sin(2.0 * t) + 4.0 * np.cos(7.0 * t), 3.0 * np.sin(5.0 * t)], axis=-1
    )
    run = real.simulate(
        np.array([0.5, -0.3]),
        np.zeros(2),
        lambda t, q, v, p: list(p),
        time=steps * dt,
        dt=dt,
        method="midpoint",
        p=pushes,
        series=True,
    )
    noise = 1e-4 * rng.standard_normal(run.q.shape)
    return Log(ROBOT, run.times, run.q + noise, run.tau, run.v)


def test_the_simulation_of_the_result_is_near_the_log():
    real = changed(ROBOT, spread=0.3)
    log = simulated(real)
    found = fit_output_error(ROBOT, log, window=40, noise=1e-4)
    base = base_parameters(ROBOT)
    truth, before = base.of(real.regressors.parameters), base.values
    error = np.abs(base.of(found.regressors.parameters) - truth)
    assert error.max() < 0.05 * np.abs(before - truth).max()


def test_its_gradient_is_that_of_differences():
    problem = _Problem(ROBOT, simulated(changed(ROBOT)), ["lower"], 20, 3.0, 1e-3)
    x = problem.start.ravel() + 0.05
    _, gradient = problem.goal(x)
    h = 1e-5
    steps = [problem.goal(x + h * e)[0] - problem.goal(x - h * e)[0] for e in np.eye(len(x))]
    assert np.allclose(
        gradient, np.array(steps) / (2 * h), rtol=1e-4, atol=1e-3 * np.abs(gradient).max()
    )


def test_what_is_missing_is_said():
    log = simulated(ROBOT)
    with pytest.raises(UnknownNameError, match="no body 'tail'"):
        fit_output_error(ROBOT, log, ["tail"])
    with pytest.raises(LogError, match="401 samples are fewer than a window of 1000"):
        fit_output_error(ROBOT, log, window=1000)
