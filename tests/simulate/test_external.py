"""External loads in simulations, beside steps that take them one by one."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError

STEPS, DT = 20, 2e-3
ARM = kt.robots.arm()
Q, V = np.linspace(0.1, 0.7, 7), np.linspace(-0.3, 0.3, 7)
WRENCH = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
SERIES = np.random.default_rng(0).normal(size=(STEPS, 6))


def stepped(load, q=Q, v=V):
    """The states after each step under loads given by `load(k, q, v)`."""
    states = [(q, v)]
    for k in range(STEPS):
        q, v = states[-1]
        states.append(ARM.step(q, v, np.zeros(7), DT, external=load(k, q, v)))
    return np.array([q for q, _ in states]), np.array([v for _, v in states])


def simulated(external, **settings):
    return ARM.simulate(Q, V, time=STEPS * DT, dt=DT, external=external, **settings)


def test_a_constant_wrench_acts_at_every_step():
    run = simulated({"tool": WRENCH})
    q, v = stepped(lambda k, q, v: {"tool": WRENCH})
    np.testing.assert_allclose(run.q, q, atol=1e-13)
    np.testing.assert_allclose(run.v, v, atol=1e-12)


def test_a_series_of_forces_on_a_point_acts_step_by_step():
    key = kt.Point("link5")
    run = simulated({key: SERIES}, series=True)
    q, _ = stepped(lambda k, q, v: {key: SERIES[k]})
    np.testing.assert_allclose(run.q, q, atol=1e-13)


def test_a_function_of_time_and_state_acts_beside_a_constant_wrench():
    def drag(t, q, v):
        speed = ARM.velocity(q, v, "tool", axes="body")
        return -0.05 * np.array(speed) * (1.0 + t)

    run = simulated({"tool": drag, "link3": WRENCH})
    q, _ = stepped(
        lambda k, q, v: {
            "tool": -0.05 * ARM.velocity(q, v, "tool", axes="body") * (1.0 + k * DT),
            "link3": WRENCH,
        }
    )
    np.testing.assert_allclose(run.q, q, atol=1e-13)


def test_loads_of_a_batch_differ_between_environments():
    scales = np.array([0.0, 1.0, -2.0])
    run = simulated({"tool": scales[:, None] * WRENCH})
    for scale, q in zip(scales, run.q, strict=True):
        np.testing.assert_allclose(q, simulated({"tool": scale * WRENCH}).q, atol=1e-14)


def test_records_know_the_loads():
    run = simulated({"tool": WRENCH}, record=["forward_dynamics"])
    expected = ARM.forward_dynamics(run.q, run.v, run.tau, external={"tool": WRENCH})
    np.testing.assert_allclose(run["forward_dynamics"], expected, rtol=1e-10, atol=1e-10)


def test_a_controller_keeps_its_own_inputs():
    pd = kt.control.pd(ARM, kp=0.5, kd=0.01)
    law = simulated({"tool": WRENCH}, controller=pd, p=pd.pack(target=Q))
    forces = ARM.simulate(
        Q,
        V,
        lambda t, q, v, p: pd(t, q, v, p) + ARM.generalized_forces(q, {"tool": WRENCH}),
        time=STEPS * DT,
        dt=DT,
        p=pd.pack(target=Q),
    )
    np.testing.assert_allclose(law.q, forces.q, atol=1e-12)


def test_a_series_of_loads_leaves_the_inputs_of_the_controller_constant():
    pd = kt.control.pd(ARM, kp=0.5, kd=0.01)
    constant = simulated({"tool": WRENCH}, controller=pd)
    series = np.broadcast_to(WRENCH, (STEPS, 6))
    np.testing.assert_array_equal(
        simulated({"tool": series}, controller=pd, series=True).q, constant.q
    )


def test_adaptive_steps_take_loads():
    run = ARM.simulate_adaptive(Q, V, time=0.04, times=[0.0, 0.04], external={"tool": WRENCH})
    fine = ARM.simulate(Q, V, time=0.04, dt=1e-3, method="rk4", external={"tool": WRENCH})
    np.testing.assert_allclose(run.q[-1], fine.q[-1], atol=1e-8)


def test_a_rollout_takes_other_loads_in_each_call_and_differentiates_by_them():
    rollout = ARM.rollout(None, STEPS, DT, external={"tool": np.zeros(6)})
    np.testing.assert_array_equal(rollout(Q, V).q, simulated({}).q)
    load = {"tool": WRENCH}
    np.testing.assert_allclose(rollout(Q, V, external=load).q, simulated(load).q, atol=1e-14)
    weights = {"q": np.ones(7)}
    gradient = rollout.gradient(Q, V, weights, external=load)
    assert "p" not in gradient
    h = 1e-4
    for k, unit in enumerate(np.eye(6)):
        above, below = (
            rollout(Q, V, external={"tool": WRENCH + s * h * unit}).q[-1].sum() for s in (1, -1)
        )
        assert gradient["external"][k] == pytest.approx((above - below) / (2 * h), abs=1e-8)
        rates, _ = rollout.sensitivity(Q, V, {"external": unit}, external=load)
        assert rates[-1].sum() == pytest.approx(gradient["external"][k], abs=1e-12)


@pytest.mark.parametrize(
    ("external", "settings", "words"),
    [
        ({"nowhere": WRENCH}, {}, "nowhere"),
        ({"tool": WRENCH[:3]}, {}, "last axis must be 6"),
        ({"tool": WRENCH}, {"series": True}, "with series=True"),
        ({"tool": lambda t, q, v: [0.0, 0.0, 1.0]}, {}, "returns 3 numbers; 6 are expected"),
        ([WRENCH], {}, "loads by frame"),
        ({kt.BodyTorque("tool"): WRENCH[:3]}, {}, "takes no BodyTorque"),
    ],
)
def test_wrong_loads_are_refused_by_name(external, settings, words):
    with pytest.raises(KinetreeError, match=words):
        simulated(external, **settings)
