"""Derivatives of constrained robots by the public API."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import joints as j
from kinetree.constraints import HeldFrame
from kinetree.errors import KinetreeError
from tests.constrained_robots import four_bar
from tests.mixed_robots import linkage as linkage_with_gear
from tests.tolerances import relative_error

BOX = (0.02, 0.03, 0.025)
PUSH = np.array([1.0, -2.0, 0.5, 0.1, 0.2, 0.3])


def sled() -> kt.Robot:
    """A floating body with one arm, whose tip slides on a plane of the world."""
    a = kt.Assembly("sled", mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.2, 0.25))
    a.add("arm", "base", j.Revolute("y"), (0.2, 0, 0), BOX, mass=1.0, com=(0.1, 0, 0))
    return a.robot("floating").constrain(HeldFrame("tip", "arm", rows=("z", "rx")))


def close(robot, seed=1):
    """A state that respects the constraints."""
    rng = np.random.default_rng(seed)
    q = robot.constraints.assemble(robot.random(rng))
    v = robot.constraints.project_velocity(q, rng.standard_normal(robot.nv))
    return q, v, rng.standard_normal(robot.nv)


@pytest.fixture(scope="module")
def linkage():
    robot = four_bar()
    q = robot.constraints.assemble([0.6, -0.3, 1.0])
    v = robot.constraints.project_velocity(q, [1.0, 0.0, 0.0])
    return robot, (q, v, np.array([0.3, 0.1, -0.2]))


@pytest.mark.parametrize("make", [sled, four_bar], ids=["sled", "four_bar"])
def test_both_methods_agree(make):
    robot = make()
    state = close(robot)
    loads = {robot.frames[-1]: PUSH}
    found, graph = (
        robot.constraints.forward_dynamics_derivatives(*state, external=loads, method=method)
        for method in ("analytic", "graph")
    )
    for a, b in zip(found, graph, strict=True):
        assert relative_error(a, b) < 1e-9
    assert found.forces_dq.shape == (len(robot.constraints.rows), robot.nv)


def test_derivatives_of_accelerations_are_those_of_forward_dynamics(linkage):
    robot, state = linkage
    one = robot.forward_dynamics_derivatives(*state, method="analytic")
    every = robot.constraints.forward_dynamics_derivatives(*state)
    for a, b in zip(one, every[:3], strict=True):
        assert relative_error(a, b) < 1e-12
    assert robot.kernel("forward_dynamics_derivatives", "analytic").method == "analytic"


def test_derivatives_keep_the_rows_satisfied(linkage):
    """J dqdd = - Y: by tau there is no Y, so what joint forces add never opens the loop."""
    robot, state = linkage
    d = robot.constraints.forward_dynamics_derivatives(*state)
    J = robot.constraints.jacobian(state[0])
    np.testing.assert_allclose(J @ d.dtau, 0.0, atol=1e-10)
    np.testing.assert_allclose(d.dtau, d.dtau.T, atol=1e-12)
    needed = robot.mass_matrix(state[0]) @ d.dtau - J.T @ d.forces_dtau
    np.testing.assert_allclose(needed, np.eye(robot.nv), atol=1e-10)


def test_a_constrained_robot_is_linearized(linkage):
    robot, (q, v, tau) = linkage
    A, B = robot.linearize(q, v, tau)
    dq, dv, dtau = robot.forward_dynamics_derivatives(q, v, tau)
    np.testing.assert_array_equal(A, np.block([[np.zeros((3, 3)), np.eye(3)], [dq, dv]]))
    np.testing.assert_array_equal(B, np.vstack([np.zeros((3, 3)), dtau]))
    step = 1e-3
    held_A, held_B = robot.linearize(q, v, tau, step)
    series = np.eye(6) + A * step + A @ A * (step**2 / 2) + A @ A @ A * (step**3 / 6)
    np.testing.assert_allclose(held_A, series, atol=1e-9)
    np.testing.assert_allclose(held_B, B * step + A @ B * (step**2 / 2), atol=1e-7)


def test_inverse_dynamics_have_derivatives(linkage):
    robot, (q, v, tau) = linkage
    a = robot.forward_dynamics(q, v, tau)
    d = robot.constraints.inverse_dynamics_derivatives(q, v, a, actuated=["crank_joint"])

    def forces(q, v, a):
        tau, f, _ = robot.constraints.inverse_dynamics(q, v, a, actuated=["crank_joint"])
        return np.concatenate([tau, f])

    h = 1e-6
    for which, (by, by_f) in enumerate(
        ((d.dq, d.forces_dq), (d.dv, d.forces_dv), (d.da, d.forces_da))
    ):
        for k in range(3):
            ends = []
            for sign in (h, -h):
                state = [np.array(x) for x in (q, v, a)]
                state[which][k] += sign
                ends.append(forces(*state))
            slope = (ends[0] - ends[1]) / (2 * h)
            got = np.concatenate([by[:, k], by_f[:, k]])
            np.testing.assert_allclose(got, slope, atol=1e-4 * max(1.0, np.abs(slope).max()))


def test_parameters_have_derivatives_under_constraints():
    robot = linkage_with_gear()
    q, v, tau = close(robot)
    tuned = robot.parametric([kt.Inertial("coupler"), kt.Placement("rocker_joint")])
    kernel = tuned.kernel("constrained_dynamics")
    p = tuned.parameters
    found = kernel(q, v, tau, p)
    for x, wanted in zip(found, robot.constraints.forward_dynamics(q, v, tau), strict=True):
        np.testing.assert_allclose(x, wanted, atol=1e-9 * max(1.0, np.abs(wanted).max()))
    a_p, forces_p, _ = kernel.jacobian("p")(q, v, tau, p)
    weights = np.array([0.3, -0.7, 0.2, 0.1, 0.5])
    pulled = kernel.vjp("p")(q, v, tau, p, weights, np.zeros(len(forces_p)), np.array(0.0))
    np.testing.assert_allclose(pulled, weights @ a_p, atol=1e-9 * np.abs(a_p).max())
    steps = 1e-6 * np.eye(len(p))
    (a_up, f_up, _), (a_down, f_down, _) = (kernel(q, v, tau, p + s) for s in (steps, -steps))
    for slope, up, down in ((a_p, a_up, a_down), (forces_p, f_up, f_down)):
        assert relative_error(slope, (up - down).T / 2e-6) < 1e-6


def test_robots_without_constraints_are_refused():
    robot = kt.robots.double_pendulum()
    with pytest.raises(KinetreeError, match="constraint"):
        robot.constraints.forward_dynamics_derivatives([0.0] * 2, [0.0] * 2, [0.0] * 2)
