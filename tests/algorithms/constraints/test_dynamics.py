"""Constrained dynamics against the optimality conditions, solved densely by NumPy."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HeldFrame, LoopJoint
from kinetree.errors import KinetreeError
from tests.constrained_robots import EVERY, four_bar, two_arms


def state(robot, seed, assembled=True):
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    q = robot.constraints.assemble(q) if assembled else q
    v = robot.constraints.project_velocity(q, rng.standard_normal(robot.nv))
    return q, v, rng.standard_normal(robot.nv)


def solved(robot, q, v, tau):
    """The accelerations and the forces of least norm, of M a + b = tau + J^T f, J a = -J' v."""
    M, J = robot.mass_matrix(q), robot.constraints.jacobian(q)
    free = np.linalg.solve(M, tau - robot.bias_forces(q, v))
    G = J @ np.linalg.solve(M, J.T)
    forces = np.linalg.lstsq(G, -robot.constraints.bias(q, v) - J @ free, rcond=1e-10)[0]
    return free + np.linalg.solve(M, J.T @ forces), forces


@pytest.mark.parametrize("name", ["weld", "hinge", "universal", "sole", "wheel", "cam"])
def test_accelerations_and_forces_solve_the_equations_of_motion(name):
    robot = two_arms().constrain(EVERY[name][0])
    q, v, tau = state(robot, 5)
    a, forces, residual = robot.constraints.forward_dynamics(q, v, tau)
    wanted, wanted_forces = solved(robot, q, v, tau)
    np.testing.assert_allclose(a, wanted, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(forces, wanted_forces, atol=1e-10 * np.abs(wanted_forces).max())
    assert residual < 1e-12
    np.testing.assert_array_equal(robot.forward_dynamics(q, v, tau), a)


@pytest.mark.parametrize("name", ["hinge", "grip", "wheel"])
def test_external_forces_and_drives_act(name):
    robot = two_arms().constrain(EVERY[name][0])
    q, v, tau = state(robot, 6)
    push = np.array([3.0, -2.0, 1.0, 0.5, 0.2, -0.4])
    a, forces, _ = robot.constraints.forward_dynamics(q, v, tau, external={"right2": push})
    needed = robot.inverse_dynamics(q, v, a, external={"right2": push})
    J = robot.constraints.jacobian(q)
    np.testing.assert_allclose(needed, tau + J.T @ forces, atol=1e-10)


def test_redundant_rows_give_unique_accelerations_and_least_forces():
    robot = four_bar()
    q = robot.constraints.assemble([0.6, -0.3, 1.0])
    v = robot.constraints.project_velocity(q, [1.0, 0.0, 0.0])
    tau = np.array([0.3, 0.0, -0.2])
    J = robot.constraints.jacobian(q)
    assert J.shape == (5, 3)
    assert np.linalg.matrix_rank(J) == 2
    a, forces, residual = robot.constraints.forward_dynamics(q, v, tau)
    wanted, wanted_forces = solved(robot, q, v, tau)
    np.testing.assert_allclose(a, wanted, atol=1e-10)
    np.testing.assert_allclose(forces, wanted_forces, atol=1e-8)
    assert residual < 1e-10


def test_single_precision_takes_redundant_rows_too():
    robot = four_bar()
    q = robot.constraints.assemble([0.6, -0.3, 1.0])
    v, tau = np.zeros(3), np.array([0.3, 0.0, -0.2])
    a, _, _ = robot.constraints.forward_dynamics(q, v, tau)
    small = (x.astype(np.float32) for x in (q, v, tau))
    a32, forces32, _ = robot.constraints.forward_dynamics(*small)
    assert a32.dtype == np.float32
    np.testing.assert_allclose(a32, a, atol=2e-3 * np.abs(a).max())
    assert np.isfinite(forces32).all()


def test_constraints_are_switched_on_and_off_in_each_state():
    feet = [HeldFrame("one", "left3"), HeldFrame("two", "right2")]
    robot = two_arms().constrain(*feet)
    rng = np.random.default_rng(7)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    tau = rng.standard_normal(robot.nv)
    active = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], float)
    a, forces, _ = robot.constraints.switched_dynamics(q, v, tau, active)
    names = [("one", "two"), ("one",), ("two",)]
    for k, chosen in enumerate(names):
        wanted, f, _ = robot.constraints.forward_dynamics(q, v, tau, constraints=chosen)
        np.testing.assert_allclose(a[k], wanted, atol=1e-9 * np.abs(wanted).max())
        on = np.repeat(active[k], 6) > 0
        np.testing.assert_allclose(forces[k][on], f, atol=1e-9 * np.abs(f).max())
        assert not forces[k][~on].any()
    free = robot.without("constraints").forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a[3], free, atol=1e-10 * np.abs(free).max())


def test_errors_decay_with_baumgarte_terms():
    robot = two_arms().constrain(EVERY["ball"][0])
    q, v, tau = state(robot, 8, assembled=False)
    rate = 7.0
    a, _, _ = robot.constraints.forward_dynamics(
        q, v, tau, stabilization=kt.Baumgarte(rate=rate, damping=0.8)
    )
    J = robot.constraints.jacobian(q)
    got = J @ a + robot.constraints.bias(q, v)
    wanted = -2 * 0.8 * rate * (J @ v) - rate**2 * robot.constraints.errors(q)
    np.testing.assert_allclose(got, wanted, atol=1e-9)


def test_least_joint_forces_stand_on_two_feet():
    robot = two_arms().constrain(HeldFrame("one", "left3"), HeldFrame("two", "right2"))
    rng = np.random.default_rng(9)
    q, v = robot.random(rng), np.zeros(robot.nv)
    a = np.zeros(robot.nv)
    tau, forces, residual = robot.constraints.inverse_dynamics(q, v, a, actuated=robot.joints[1:])
    assert residual < 1e-8
    assert not tau[:6].any()
    J = robot.constraints.jacobian(q)
    needed = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau + J.T @ forces, needed, atol=1e-8)
    # no smaller forces do it: tau is normal to all that can be added
    free = np.linalg.svd(J[:, :6].T)[2][6:]
    np.testing.assert_allclose(free @ J[:, 6:] @ tau[6:], 0.0, atol=1e-6)


def test_a_motion_that_nothing_can_give_has_a_residual():
    robot = two_arms().constrain(EVERY["cam"][0])
    q, v, a = np.asarray(robot.random(0)), np.zeros(robot.nv), np.zeros(robot.nv)
    _, _, residual = robot.constraints.inverse_dynamics(q, v, a)
    weight = 9.81 * sum(float(b.inertia.mass) for b in robot.model.bodies)
    assert residual > 0.5 * weight


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_an_impact_reverses_the_rows_and_keeps_all_other_momentum(restitution):
    robot = two_arms().constrain(EVERY["foot"][0])
    rng = np.random.default_rng(10)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    after, impulses = robot.constraints.impact(q, v, restitution)
    J, M = robot.constraints.jacobian(q), robot.mass_matrix(q)
    np.testing.assert_allclose(J @ after, -restitution * J @ v, atol=1e-10)
    np.testing.assert_allclose(M @ (after - v), J.T @ impulses, atol=1e-10)
    if restitution == 1.0:
        assert after @ M @ after == pytest.approx(v @ M @ v, rel=1e-10)


@pytest.mark.parametrize("restitution", [-0.1, 1.5, [0.0, 2.0]])
def test_a_restitution_that_would_add_energy_is_refused(restitution):
    robot = four_bar()
    with pytest.raises(KinetreeError, match=r"restitution=.*: a number from 0 to 1 is expected"):
        robot.constraints.impact(robot.neutral(), np.zeros(robot.nv), restitution)


SIX = ("x", "y", "z", "rx", "ry", "rz")


@pytest.mark.parametrize("rows", [SIX[:3], SIX, ("rx", "ry", "rz", "x"), ("z", "y", "x")])
def test_rows_along_the_held_frame_give_the_forces_along_the_base(rows):
    foot = HeldFrame("foot", "left5", rows=rows, anywhere=True)
    robot = two_arms().constrain(foot)
    rng = np.random.default_rng(12)
    q, (v, tau) = robot.random(rng), rng.standard_normal((2, robot.nv))  # the rows do move
    wanted, wanted_forces = solved(robot, q, v, tau)
    ways = robot.constraints.forward_dynamics(q, v, tau)
    for a, forces, _ in (ways, robot.constraints.switched_dynamics(q, v, tau, [1.0])):
        np.testing.assert_allclose(a, wanted, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(forces, wanted_forces, atol=1e-9 * np.abs(wanted_forces).max())


def test_errors_of_rows_along_the_held_frame_decay_as_named():
    at = np.eye(4)
    at[:3, 3] = 0.3, 0.1, 0.5
    robot = two_arms().constrain(HeldFrame("foot", "left5", rows=SIX[:3], at_base=at))
    rng = np.random.default_rng(13)
    q, (v, tau) = robot.random(rng), rng.standard_normal((2, robot.nv))
    soft = kt.Baumgarte(rate=3.0, damping=0.7)
    a, _, _ = robot.constraints.forward_dynamics(q, v, tau, stabilization=soft)
    J, c = robot.constraints.jacobian(q), robot.constraints
    wanted = -2 * 0.7 * 3.0 * J @ v - 9.0 * c.errors(q)
    np.testing.assert_allclose(J @ a + c.bias(q, v), wanted, atol=1e-8)


def test_projection_is_idempotent_and_leaves_the_inertia_of_allowed_motions():
    robot = two_arms().constrain(EVERY["hinge"][0])
    q, v, _ = state(robot, 11)
    N, M = robot.constraints.projection(q), robot.mass_matrix(q)
    np.testing.assert_allclose(N @ N, N, atol=1e-9)
    np.testing.assert_allclose(robot.constraints.jacobian(q) @ N, 0.0, atol=1e-10)
    np.testing.assert_allclose(N @ v, v, atol=1e-9)
    np.testing.assert_allclose(robot.constraints.inertia(q), N.T @ M @ N, atol=1e-9)


def test_the_delassus_matrix_and_its_inverse():
    robot = two_arms().constrain(EVERY["weld"][0])
    q, _, _ = state(robot, 12)
    J, M = robot.constraints.jacobian(q), robot.mass_matrix(q)
    G = robot.constraints.delassus_matrix(q)
    np.testing.assert_allclose(G, J @ np.linalg.solve(M, J.T), atol=1e-10)
    np.testing.assert_allclose(robot.constraints.delassus_inverse(q) @ G, np.eye(6), atol=1e-8)


def test_methods_for_trees_refuse_a_robot_with_loops():
    robot = four_bar()
    q = np.zeros(3)
    with pytest.raises(KinetreeError, match="has constraints, which 'aba' does not honour"):
        robot.forward_dynamics(q, q, q, method="aba")
    with pytest.raises(KinetreeError, match="which hybrid_dynamics does not honour"):
        robot.hybrid_dynamics(q, q, q, q, accelerated="crank_joint")
    with pytest.raises(KinetreeError, match="has no constraints"):
        two_arms().constraints.errors(two_arms().neutral())


def test_a_loop_of_a_loop_joint_may_be_named_from_either_side():
    robot = two_arms()
    one = robot.constrain(LoopJoint("loop", "left5", "right3"))
    other = robot.constrain(LoopJoint("loop", "right3", "left5"))
    q, v, tau = state(one, 13)
    a, b = (r.forward_dynamics(q, v, tau) for r in (one, other))
    np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(a).max())


def test_where_every_row_is_zero_all_is_finite_and_nothing_is_held():
    # the arm is stretched upwards: no joint moves its tip along z
    robot = kt.robots.arm().constrain(HeldFrame("tip", "tool", rows=("z",), anywhere=True))
    q, still, tau = robot.neutral(), np.zeros(7), np.ones(7)
    assert np.abs(robot.constraints.jacobian(q)).max() < 1e-15
    a, forces, residual = robot.constraints.forward_dynamics(q, still, tau)
    free = robot.without("constraints").forward_dynamics(q, still, tau)
    np.testing.assert_allclose(a, free, atol=1e-9 * np.abs(free).max())
    assert np.isfinite(forces).all()
    assert np.isfinite(residual)
    np.testing.assert_allclose(robot.constraints.project_velocity(q, tau), tau)
    np.testing.assert_allclose(robot.constraints.impact(q, tau)[0], tau)
    assert np.isfinite(robot.constraints.delassus_inverse(q)).all()
