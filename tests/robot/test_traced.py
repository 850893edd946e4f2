"""Methods of a robot within functions that are traced: laws, costs, events, records."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from tests.array_rows import COMPILED, ROWS
from tests.doors import ROBOT
from tests.test_arrays import arrays_of, assert_near

CALLS = [name for name, row in ROWS.items() if row.way == COMPILED]


def evaluated(call, arrays):
    """The results of a call within a traced function, evaluated at arrays."""

    def function(model, *flat):
        shaped = [np.array(x).reshape(a.shape) for x, a in zip(flat, arrays.values(), strict=True)]
        found = arrays_of(call(**dict(zip(arrays, shaped, strict=True))))
        return {f"result{k}": array for k, array in enumerate(found)}

    kernel = ROBOT.custom_kernel(function, {name: x.size for name, x in arrays.items()})
    return arrays_of(kernel(*(np.ravel(x) for x in arrays.values())))


@pytest.mark.parametrize("name", CALLS)
def test_a_method_on_traced_scalars_is_the_method(name):
    row = ROWS[name]
    expected = arrays_of(row.call(**row.arrays))
    found = evaluated(row.call, row.arrays)
    assert [x.shape for x in found] == [np.shape(x) for x in expected]
    for x, y in zip(found, expected, strict=True):
        assert_near(x, y, 1e-11)


ARM = kt.robots.arm()
GOAL = np.linspace(0.1, 0.7, 7)


def inverse_dynamics_law(t, q, v, p):
    """Computed torque by the mass matrix: arrays throughout."""
    wanted = 4.0 * (GOAL - q) - 4.0 * v
    return ARM.mass_matrix(q) @ wanted + ARM.bias_forces(q, v)


def test_a_law_of_arrays_is_the_law_of_lists():
    law = kt.control.computed_torque(ARM, target=GOAL, kp=4.0, kd=4.0)
    q = np.zeros(7)
    arrays = ARM.simulate(q, q, inverse_dynamics_law, time=0.1)
    np.testing.assert_allclose(arrays.q, ARM.simulate(q, q, law, time=0.1).q, atol=1e-12)


@pytest.mark.parametrize(
    "shape",
    [
        lambda tau: tau,
        lambda tau: tau.tolist(),
        lambda tau: tau.reshape(7, 1),
        lambda tau: [tau[:3], tau[3:]],
        tuple,
    ],
)
def test_forces_come_in_any_shape(shape):
    q = np.zeros(7)
    run = ARM.simulate(q, q, lambda t, q, v, p: shape(ARM.gravity_forces(q)), time=0.01)
    np.testing.assert_allclose(run.q, 0.0, atol=1e-12)


def test_a_law_may_return_numbers_of_numpy():
    run = ARM.simulate(np.zeros(7), np.zeros(7), lambda t, q, v, p: np.zeros(7), time=0.01)
    np.testing.assert_array_equal(run.tau, 0.0)


def test_functions_of_scalars_take_arrays_of_them():
    def law(t, q, v, p):
        swing = kt.scalar.sin(3.0 * t + np.arange(7.0)) * kt.scalar.cos(q)
        return kt.scalar.minimum(kt.scalar.maximum(swing, -0.1), p[0])

    run = ARM.simulate(GOAL, np.zeros(7), law, time=0.05, p=[0.05])
    swing = np.sin(3.0 * run.times[:, None] + np.arange(7.0)) * np.cos(run.q)
    np.testing.assert_allclose(run.tau, np.clip(swing, -0.1, 0.05), atol=1e-14)


def test_a_record_uses_methods_of_the_robot():
    def effective_mass(model, q, v, tau):
        J = ARM.jacobian(q, "tool")[:3]
        return J @ ARM.mass_matrix_inverse(q) @ J.T

    run = ARM.simulate(GOAL, np.zeros(7), inverse_dynamics_law, time=0.01, record=[effective_mass])
    J = ARM.jacobian(run.q, "tool")[:, :3]
    expected = J @ ARM.mass_matrix_inverse(run.q) @ np.swapaxes(J, -1, -2)
    np.testing.assert_allclose(run["effective_mass"], expected, rtol=1e-9)


def test_a_cost_uses_methods_of_the_robot():
    def cost(t, q, v, tau, pose):
        return 1e-3 * tau @ tau + ARM.kinetic_energy(q, v)

    def final(q, v, pose):
        error = ARM.pose(q, "tool")[:3, 3] - 0.4
        return error @ error

    problem = ARM.optimal_control(cost, final, steps=4, dt=0.01)
    q, v, tau = GOAL, np.linspace(0.0, 1.0, 7), np.ones(7)
    expected = 1e-3 * tau @ tau + ARM.kinetic_energy(q, v)
    assert problem.running_cost(0.0, q, v, tau) == pytest.approx(float(expected))
    error = ARM.pose(q, "tool")[:3, 3] - 0.4
    assert problem.final_cost(q, v) == pytest.approx(float(error @ error))


def test_an_event_uses_methods_of_the_robot():
    def low(t, q, v):
        return ARM.pose(q, "tool")[2, 3] - 0.9

    run = ARM.simulate_adaptive(GOAL, np.zeros(7), time=0.5, events=[low])
    q, _ = run.solution(run.events[0][0])
    assert ARM.pose(q, "tool")[2, 3] == pytest.approx(0.9, abs=1e-6)


def test_batches_of_traced_scalars_and_numbers_broadcast():
    def function(model, q):
        return ARM.pose(np.array([q, list(GOAL), q]), "tool")

    found = ARM.custom_kernel(function, {"q": 7})(GOAL)
    np.testing.assert_allclose(found, ARM.pose(np.array([GOAL] * 3), "tool"), atol=1e-14)


def test_states_without_an_answer_are_not_refused_while_tracing():
    robot = kt.robots.human().edit.rechart("xyz")

    def function(model, q):
        return robot.mass_matrix_inverse(q)

    kernel = robot.custom_kernel(function, {"q": robot.nq})
    q = robot.random(0)
    np.testing.assert_allclose(kernel(q), robot.mass_matrix_inverse(q), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda q: ARM.mass_matrix(q[:3]), "the last axis must be 7"),
        (lambda q: ARM.mass_matrix([q, [1.0]]), "the last axis must be 7"),
        (lambda q: ARM.mass_matrix(q, out=np.zeros((7, 7))), "out= is for NumPy's arrays"),
        (lambda q: ARM.difference(np.ma.array(GOAL), q), "masked"),
        (lambda q: ARM.kernel("mass_matrix")(q, q), "takes q: 2 arrays"),
    ],
)
def test_wrong_arguments_are_refused_while_tracing(call, words):
    with pytest.raises(KinetreeError, match=words):
        ARM.custom_kernel(lambda model, q: call(q), {"q": 7})
