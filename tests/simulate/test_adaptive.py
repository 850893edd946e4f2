"""Simulation with adaptive steps."""

import numpy as np
import pytest

import kinetree as kt

PENDULUM = kt.robots.double_pendulum()


def test_the_energy_stays_within_the_tolerance():
    run = PENDULUM.simulate_adaptive([2.0, 1.0], [0, 0], time=5.0, record=["energy"])
    assert np.ptp(run["energy"]) < 1e-7
    assert run.times[-1] == 5.0


def test_a_fixed_step_converges_to_it():
    peer = PENDULUM.simulate_adaptive([1.0, 0.5], [0, 0], time=1.0, tolerance=1e-12)
    run = PENDULUM.simulate([1.0, 0.5], [0, 0], time=1.0, dt=5e-4, method="rk4")
    assert np.abs(run.q[-1] - peer.q[-1]).max() < 1e-9


def test_quaternions_stay_of_length_one_between_the_steps():
    assembly = kt.Assembly("top", "base")
    com, inertia = (0.0, 0.0, 0.1), (0.01, 0.01, 0.02)
    assembly.add("top", "base", kt.joints.Ball(), mass=1.0, inertia=inertia, com=com)
    robot = assembly.robot()
    run = robot.simulate_adaptive([0.1, 0.0, 0.0, 0.995], [0, 0, 30.0], time=1.0)
    q, v = run.solution(np.linspace(0.0, 1.0, 57))
    assert q.shape == (57, 4)
    assert v.shape == (57, 3)
    assert np.linalg.norm(q, axis=-1) == pytest.approx(1.0, abs=1e-14)
    fine = robot.simulate(run.q[0], run.v[0], time=1.0, dt=5e-4, method="rk4")
    assert np.abs(robot.difference(fine.q[-1], q[-1])).max() < 1e-7


def test_events_are_found():
    def bottom(t, q, v):
        return q[0]

    bottom.terminal = True
    run = PENDULUM.simulate_adaptive([1.0, 0.5], [0, 0], time=5.0, events=[bottom])
    assert run.times[-1] == run.events[0][0] < 1.0
    assert abs(run.q[-1, 0]) < 1e-9


def test_a_controller_with_memory_is_integrated_along():
    arm = kt.robots.arm()
    controller = kt.control.adaptive(arm, ["link7"], adaptation=1e-4)
    options = {"time": 0.2, "tolerance": 1e-6, "record": ["memory"]}
    run = arm.simulate_adaptive(np.full(7, 0.1), np.zeros(7), controller, **options)
    assert np.isfinite(run.tau).all()
    assert run["memory"].shape == (len(run.times), 10)
    assert (run["memory"][0] == controller.memory).all()
    assert (run["memory"][-1] != controller.memory).any()


@pytest.mark.parametrize("tolerance", [0.0, -1e-6, np.nan, np.inf, "small"])
def test_a_tolerance_that_no_step_meets_is_refused(tolerance):
    with pytest.raises(kt.errors.KinetreeError, match="tolerance must be a positive number"):
        PENDULUM.simulate_adaptive([1.0, 0.5], [0, 0], time=1.0, tolerance=tolerance)


def test_a_batch_is_refused():
    with pytest.raises(kt.errors.ShapeError, match="takes one state"):
        PENDULUM.simulate_adaptive(np.zeros((2, 2)), np.zeros(2), time=1.0)
