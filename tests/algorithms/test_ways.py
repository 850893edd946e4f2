"""One quantity by several ways, equal to rounding; energies, momenta and what follows from them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms import POINTS
from kinetree.algorithms.tree import ancestors
from kinetree.model.edit import without
from kinetree.model.loads import PointForce
from kinetree.spatial import Force, Vector3
from tests.algorithms.test_identities import SEEDS, state
from tests.algorithms.test_kinematics import along, imaginary
from tests.random_models import models, regular_models
from tests.tolerances import EXACT, relative_error, solved

BUILT_IN = {
    "arm": kt.robots.arm,
    "quadruped": kt.robots.quadruped,
    "human": kt.robots.human,
    "cart pole": kt.robots.cart_pole,
    "double pendulum": kt.robots.double_pendulum,
    "tree": lambda: kt.robots.tree(12, seed=3),
}


def loads(model, seed):
    """A wrench on one frame and a force on a point of another."""
    rng = np.random.default_rng(seed)
    one, two = (model.frames[rng.integers(len(model.frames))].name for _ in range(2))
    f, n, g, p = (Vector3(*rng.standard_normal(3)) for _ in range(4))
    return [(one, Force(f, n)), (two, PointForce(g, p))]


# inverse dynamics


@given(models(), SEEDS)
def test_three_inverse_dynamics_agree(model, seed):
    q, v, a = state(model, seed)
    acting = loads(model, seed)
    tau = algorithms.rnea(model, q, v, a, acting)
    assert relative_error(algorithms.liu_jain(model, q, v, a, acting), tau) < EXACT * 10
    assert relative_error(algorithms.balafoutis_patel(model, q, v, a, acting), tau) < EXACT * 10


@pytest.mark.parametrize("name", BUILT_IN)
def test_three_inverse_dynamics_agree_compiled_on_built_in_robots(name):
    robot = BUILT_IN[name]()
    rng = np.random.default_rng(1)
    q, (v, a) = robot.random(rng, 20), rng.standard_normal((2, 20, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    for method in ("rnea", "liu-jain"):
        assert relative_error(robot.inverse_dynamics(q, v, a, method=method), tau) < EXACT * 10


@given(models(), SEEDS)
def test_joint_wrenches_along_the_axes_are_the_joint_forces(model, seed):
    q, v, a = state(model, seed)
    bare = without(model, "armature", "damping", "friction", "springs")
    tau = np.zeros(model.nv)
    wrenches = algorithms.joint_wrenches(bare, q, v, a)
    for i, body in enumerate(model.bodies):
        axes = body.joint.subspace(q[model.q_slices[i]])
        tau[model.v_slices[i]] += [axis.dot(wrenches[i]) for axis in axes]
    assert relative_error(tau, algorithms.rnea(bare, q, v, a)) < EXACT


@given(models(), SEEDS)
def test_what_the_joints_on_the_world_carry_changes_the_momentum(model, seed):
    assume(algorithms.total_mass(model) > 0.0)
    # Newton and Euler for the whole robot about the world's origin
    q, v, a = state(model, seed)
    carried = np.zeros(6)
    wrenches = algorithms.joint_wrenches(model, q, v, a)
    for i, X in enumerate(algorithms.poses(model, q)):
        if model.bodies[i].parent < 0:
            carried += list(X.to_parent(wrenches[i]))
    m, c = algorithms.total_mass(model), np.array(algorithms.center_of_mass(model, q))
    weight = m * np.array(list(model.gravity))
    A = np.array(algorithms.momentum_matrix(model, q, "world"))
    rate = np.array(algorithms.rate(algorithms.momentum_matrix, model, q, v, "world"))
    change = A @ a + rate @ v
    force = carried + np.concatenate([weight, np.cross(c, weight)])
    assert relative_error(change, force) < EXACT * 100


@given(models(), SEEDS)
def test_a_force_on_a_point_is_felt_through_the_points_jacobian(model, seed):
    # Liu & Jain eq. 67: Q = J'^T f
    q, v, a = state(model, seed)
    (_, _), (name, load) = loads(model, seed)
    with_it = np.array(algorithms.rnea(model, q, v, a, [(name, load)]))
    alone = np.array(algorithms.rnea(model, q, v, a))
    J = []
    for unit in np.eye(model.nv):
        X = algorithms.frame_pose(model, along(model, q, unit), name)
        J.append(imaginary(list(X.point(load.point))))
    expected = -np.array(J) @ np.array(list(load.force))
    assert relative_error(with_it - alone, expected) < EXACT * 100 * max(1, np.abs(alone).max())


# the mass matrix


@given(models(max_bodies=5), SEEDS)
def test_three_mass_matrices_agree(model, seed):
    q, _, _ = state(model, seed)
    M = algorithms.crba(model, q)
    assert relative_error(algorithms.mass_by_unit_accelerations(model, q), M) < EXACT
    assert relative_error(algorithms.lagrange_mass(model, q), M) < EXACT


@pytest.mark.slow
@given(models(max_bodies=5), SEEDS)
def test_the_lagrangian_form_gives_the_coriolis_forces(model, seed):
    q, v, _ = state(model, seed)
    c = algorithms.coriolis_forces(algorithms.rnea)(model, q, v)
    assert relative_error(algorithms.lagrange_coriolis_forces(model, q, v), c) < EXACT * 10


@pytest.mark.slow
@settings(max_examples=50)
@given(models(max_bodies=4), SEEDS)
def test_the_lagrangian_matrix_with_its_transpose_is_the_rate_of_the_mass_matrix(model, seed):
    # from eq. 59: M' = sum J'^T M_c J + J^T M_c J' + J^T ([w~] M_c - M_c [w~]) J
    q, v, _ = state(model, seed)
    C = np.array(algorithms.lagrange_coriolis(model, q, v))
    rate = np.array(algorithms.rate(algorithms.crba, model, q, v))
    assert relative_error(C + C.T, rate) < EXACT * 10


@given(models(), SEEDS)
def test_the_rate_of_the_mass_matrix_is_its_derivative_along_the_motion(model, seed):
    q, v, _ = state(model, seed)
    expected = imaginary(algorithms.crba(model, along(model, q, v)))
    assert relative_error(algorithms.rate(algorithms.crba, model, q, v), expected) < EXACT * 10


@given(regular_models(), SEEDS)
def test_the_factors_of_the_mass_matrix(model, seed):
    q, _, _ = state(model, seed)
    M = np.array(algorithms.crba(model, q))
    L = np.array(algorithms.mass_matrix_factor(model, q))
    assert relative_error(L.T @ L, M) < EXACT
    assert (np.triu(L, 1) == 0.0).all()
    if all(body.follows is None for body in model.bodies):
        for i, at in enumerate(model.v_slices):  # a row is zero but for what carries the joint
            carriers = {
                k for l in ancestors(model, i) for k in range(*model.v_slices[l].indices(99))
            }
            others = [k for k in range(model.nv) if k not in carriers]
            assert not L[at, others].any()


@given(regular_models(), SEEDS)
def test_the_inverse_of_the_mass_matrix(model, seed):
    q, _, _ = state(model, seed)
    M = np.array(algorithms.crba(model, q))
    inverse = np.array(algorithms.mass_matrix_inverse(model, q))
    assert (inverse == inverse.T).all()
    tolerance = EXACT * np.linalg.cond(M)
    assert relative_error(inverse @ M, np.eye(model.nv)) < tolerance


@given(regular_models(mimic=False), SEEDS, st.randoms(use_true_random=False))
def test_two_inverses_of_the_mass_matrix_agree_in_any_order(model, seed, random):
    names = [body.joint_name for body in model.bodies]
    random.shuffle(names)
    model = model.reordered(names)
    q, _, _ = state(model, seed)
    M = np.array(algorithms.crba(model, q))
    one, two = algorithms.mass_matrix_inverse(model, q), algorithms.minverse(model, q)
    assert relative_error(two, one) < EXACT * np.linalg.cond(M)


# forward dynamics


@pytest.mark.slow
@given(regular_models(), SEEDS, st.data())
def test_hybrid_dynamics_finds_what_it_was_not_given(model, seed, data):
    q, v, a = state(model, seed)
    acting = loads(model, seed)
    tau = algorithms.rnea(model, q, v, a, acting)
    told = set(data.draw(st.lists(st.sampled_from(model.coordinate_order))))
    entries = {k for i in told for k in range(*model.v_slices[i].indices(model.nv))}
    given_a = [x if k in entries else 99.0 for k, x in enumerate(a)]
    given_tau = [99.0 if k in entries else x for k, x in enumerate(tau)]
    tolerance = solved(algorithms.crba(model, q), tau)
    ways = [algorithms.hybrid_crba]
    if all(body.follows is None for body in model.bodies):
        ways.append(algorithms.hybrid_dynamics)
    for way in ways:
        found_a, found_tau = way(model, q, v, given_a, given_tau, acting, told)
        assert relative_error(found_a, a) < tolerance
        assert relative_error(found_tau, tau) < tolerance


def test_hybrid_dynamics_compiled_and_by_name():
    arm = kt.robots.arm()
    rng = np.random.default_rng(3)
    q, (v, a) = arm.random(rng, 5), rng.standard_normal((2, 5, 7))
    tau = arm.inverse_dynamics(q, v, a)
    for method in ("aba", "crba"):
        found = arm.hybrid_dynamics(q, v, a, tau, arm.joints[2:4], method=method)
        assert relative_error(found[0], a) < 1e-10
        assert relative_error(found[1], tau) < 1e-10
    with pytest.raises(kt.errors.UnknownNameError, match="did you mean"):
        arm.hybrid_dynamics(q, v, a, tau, ["jiont3"])


# energy and momentum


@given(models(), SEEDS)
def test_kinetic_energy_is_that_of_the_mass_matrix(model, seed):
    q, v, _ = state(model, seed)
    M = np.array(algorithms.crba(model, q))
    expected = 0.5 * np.array(v) @ M @ v
    assert relative_error([algorithms.kinetic_energy(model, q, v)], [expected]) < EXACT


@given(models(), SEEDS)
def test_gravity_forces_are_the_slope_of_the_potential_energy(model, seed):
    q, v, _ = state(model, seed)
    rest = [0.0] * model.nv
    tau = np.array(algorithms.rnea(model, q, rest, rest))
    power = imaginary([algorithms.potential_energy(model, along(model, q, v))])
    scale = np.abs(tau) @ np.abs(v) + 1.0
    assert abs(power[0] - tau @ v) < EXACT * scale


@given(models(), SEEDS, st.sampled_from(POINTS))
def test_momentum_is_its_matrix_times_the_velocity(model, seed, about):
    assume(algorithms.total_mass(model) > 0.0)
    q, v, _ = state(model, seed)
    A = np.array(algorithms.momentum_matrix(model, q, about))
    assert relative_error(A @ v, algorithms.momentum(model, q, v, about)) < EXACT


@given(models(), SEEDS, st.sampled_from(POINTS))
def test_momentum_is_the_sum_over_the_bodies(model, seed, about):
    assume(algorithms.total_mass(model) > 0.0)
    q, v, _ = state(model, seed)
    point = np.array(algorithms.center_of_mass(model, q)) if about == "center" else np.zeros(3)
    total = np.zeros(6)
    velocities = algorithms.velocities(model, q, v, "origin")
    for body, X, V in zip(model.bodies, algorithms.poses(model, q), velocities, strict=True):
        center, inertia = body.inertia.center_and_rotational()
        x = np.array(list(X.point(center)))
        w = np.array(list(V.angular))
        arm = x - np.array(list(X.translation), dtype=float)
        p = body.inertia.mass * (np.array(list(V.linear)) + np.cross(w, arm))
        L = np.array([list(row) for row in X.rotation.turn_symmetric(inertia).rows]) @ w
        total += np.concatenate([p, L + np.cross(x - point, p)])
    assert relative_error(algorithms.momentum(model, q, v, about), total) < EXACT * 10


@given(models(), SEEDS)
def test_the_rate_of_the_centroidal_matrix_is_its_derivative_along_the_motion(model, seed):
    assume(algorithms.total_mass(model) > 0.0)
    q, v, _ = state(model, seed)
    expected = imaginary(algorithms.momentum_matrix(model, along(model, q, v), "center"))
    got = algorithms.rate(algorithms.momentum_matrix, model, q, v, "center")
    assert relative_error(got, expected) < EXACT * 10


def test_a_free_robot_keeps_its_momentum():
    robot = kt.robots.quadruped().without("gravity", "damping", "friction", "armature")
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    tau = rng.standard_normal(robot.nv)
    tau[:6] = 0.0  # its own forces only
    a = robot.forward_dynamics(q, v, tau)
    change = robot.momentum_matrix(q) @ a + robot.centroidal.momentum_matrix_rate(q, v) @ v
    scale = np.abs(robot.momentum_matrix(q)) @ np.abs(a)
    assert np.abs(change).max() < 1e-12 * scale.max()


def test_the_weight_of_a_robot_is_carried_by_its_base():
    arm = kt.robots.arm()
    q, rest = arm.random(2), np.zeros(7)
    first = arm.joint_wrenches(q, rest, rest)[0]
    R = arm.poses(q)[0, :3, :3]
    assert relative_error(R @ first[:3], [0.0, 0.0, 9.81 * arm.total_mass]) < EXACT
    light = arm.edit.replace_inertia(arm.bodies[0], 0.0)
    assert light.total_mass < arm.total_mass


def test_gravity_may_point_anywhere():
    model = kt.robots.arm().model
    turned = replace(model, gravity=Vector3(3.0, -2.0, 1.0))
    q = kt.Robot(model).random(4).tolist()
    rest = [0.0] * 7
    one = algorithms.rnea(turned, q, rest, rest)
    for other in (algorithms.liu_jain, algorithms.balafoutis_patel):
        assert relative_error(other(turned, q, rest, rest), one) < EXACT
