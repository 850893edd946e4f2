"""What must hold between the algorithms, on random trees of every joint type."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.drives import spring_energy
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.edit import without
from kinetree.model.joints import Revolute
from kinetree.model.prepare.snap import snap
from kinetree.spatial import Force, Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.random_models import models, regular_models
from tests.tolerances import EXACT, relative_error, solved


def state(model, seed):
    rng = np.random.default_rng(seed)
    robot = kt.Robot(model)
    v, a = rng.standard_normal((2, model.nv))
    return robot.random(rng).tolist(), v.tolist(), a.tolist()


SEEDS = st.integers(0, 2**32 - 1)


def forward(model, *arguments):
    """Forward dynamics: by the articulated-body algorithm where that applies."""
    if any(body.follows is not None for body in model.bodies):
        return algorithms.forward_crba(model, *arguments)
    return algorithms.aba(model, *arguments)


@given(regular_models(), SEEDS)
def test_forward_dynamics_undoes_inverse_dynamics(model, seed):
    q, v, a = state(model, seed)
    tau = algorithms.rnea(model, q, v, a)
    tolerance = solved(algorithms.crba(model, q), tau)
    assert relative_error(forward(model, q, v, tau), a) < tolerance


@pytest.mark.parametrize("way", [algorithms.crba, algorithms.crba_in_one_frame])
def test_the_mass_matrix_counts_both_products_of_joints_that_share_a_velocity(way):
    box = Inertia.about_center(2.0, Vector3(0.1, 0.2, 0.3), Symmetric3.diagonal(0.5))
    there, hinge = Transform(Rotation.identity(), Vector3(0.5, 0.1, 0.2)), Revolute("z")
    links = [Link("base", Inertia.zero()), Link("a", box), Link("b", box)]
    follows = Mimicry("j1", 0.7, 0.2)
    joints = [
        Connection("j1", "base", "a", there, hinge),
        Connection("j2", "a", "b", there, hinge, mimicry=follows),  # of the joint that carries it
    ]
    model = assemble(Description("folding", links, joints))
    at_rest, moving = (algorithms.rnea(model, [0.4], [0.0], [a]) for a in (0.0, 1.0))
    assert relative_error(way(model, [0.4]), [[moving[0] - at_rest[0]]]) < EXACT


@given(regular_models(mimic=False), SEEDS)
def test_two_ways_to_forward_dynamics_agree(model, seed):
    q, v, tau = state(model, seed)
    one, two = algorithms.aba(model, q, v, tau), algorithms.forward_crba(model, q, v, tau)
    bias = algorithms.rnea(model, q, v, [0.0] * model.nv)
    tolerance = solved(algorithms.crba(model, q), np.abs(tau) + np.abs(bias))
    assert relative_error(two, one) < tolerance


@given(models(), SEEDS)
def test_friction_works_against_the_motion_and_armature_against_its_change(model, seed):
    q, v, a = state(model, seed)
    tau = np.array(algorithms.rnea(model, q, v, a))
    bare = without(model, "armature", "damping", "friction")
    taken = tau - np.array(algorithms.rnea(bare, q, v, a))
    expected = np.zeros(model.nv)
    for body, drive, at in zip(model.bodies, model.drives, model.v_slices, strict=True):
        rate, change = np.array(v[at]), np.array(a[at])
        change += body.joint.turning(v[at], v[at]) or 0.0  # in axes that do not turn
        expected[at] += drive.armature * change + drive.damping * rate
        expected[at] += drive.friction * np.sign(rate)
    assert relative_error(taken, expected) < EXACT * max(1.0, np.abs(tau).max())
    M = np.array(algorithms.crba(model, q))
    M = M - np.array(algorithms.crba(bare, q))
    assert np.abs(M - np.diag(np.diag(M))).max() == 0.0


@given(models(), SEEDS)
def test_the_mass_matrix_is_the_forces_of_unit_accelerations(model, seed):
    q, _, _ = state(model, seed)
    rest = [0.0] * model.nv
    still = np.array(algorithms.rnea(model, q, rest, rest))
    columns = [
        np.array(algorithms.rnea(model, q, rest, unit)) - still
        for unit in np.eye(model.nv).tolist()
    ]
    scale = max(1.0, float(np.abs(still).max()))
    M = np.array(algorithms.crba(model, q))
    assert relative_error(np.array(columns).T / scale, M / scale) < EXACT
    assert (M == M.T).all()
    assert np.linalg.eigvalsh(M).min() >= -EXACT * np.abs(M).max()


@pytest.mark.slow
@given(models(), SEEDS)
def test_the_power_of_the_joints_is_the_rate_of_the_energy(model, seed):
    model = without(model, "damping", "friction")
    q, v, a = state(model, seed)
    tau = np.array(algorithms.rnea(model, q, v, a))

    def energy(t):
        """Kinetic and potential energy after a time t of this motion, to second order."""
        step = [t * vi + 0.5 * t * t * ai for vi, ai in zip(v, a, strict=True)]
        rates = [vi + t * ai for vi, ai in zip(v, a, strict=True)]
        at = algorithms.integrate(model, q, step)
        kinetic = 0.5 * np.array(rates) @ np.array(algorithms.crba(model, at)) @ np.array(rates)
        potential = spring_energy(model, at)
        for body, X in zip(model.bodies, algorithms.poses(model, at), strict=True):
            weight = X.rotation @ body.inertia.moment + X.translation * body.inertia.mass
            potential -= weight.dot(model.gravity)
        return kinetic + potential

    h = 1e-4
    rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    power = float(tau @ np.array(v))
    scale = float(np.abs(tau) @ np.abs(v)) + abs(energy(0.0)) + 1.0
    assert abs(rate - power) < 1e-8 * scale


@pytest.mark.slow
@given(regular_models(), SEEDS)
def test_an_external_wrench_is_felt_through_the_motion_of_its_frame(model, seed):
    q, v, a = state(model, seed)
    rng = np.random.default_rng(seed)
    frame = model.frames[rng.integers(len(model.frames))]
    f, n = rng.standard_normal((2, 3))
    wrench = [(frame.name, Force(Vector3(*f), Vector3(*n)))]
    with_it = np.array(algorithms.rnea(model, q, v, a, wrench))
    without = np.array(algorithms.rnea(model, q, v, a))

    def pose(dv):
        X = algorithms.frame_pose(model, algorithms.integrate(model, q, dv), frame.name)
        return np.array(X.matrix())

    h = 1e-6
    here = pose([0.0] * model.nv)
    turned = here[:3, :3].T
    expected = []
    for unit in np.eye(model.nv):
        rate = (pose((h * unit).tolist()) - pose((-h * unit).tolist())) / (2 * h)
        spin = turned @ rate[:3, :3]  # [w] in the frame's axes
        w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        expected.append(-(turned @ rate[:3, 3]) @ f - w @ n)
    assert relative_error(with_it - without, np.array(expected)) < 1e-7
    tau = with_it.tolist()
    tolerance = solved(algorithms.crba(model, q), tau)
    assert relative_error(forward(model, q, v, tau, wrench), a) < tolerance


@pytest.mark.slow
@settings(max_examples=12)
@given(regular_models(max_bodies=4), SEEDS)
def test_compiled_kernels_equal_the_algorithms_on_floats(model, seed):
    q, v, a = state(model, seed)
    robot = kt.Robot(model)
    traced = snap(model)
    tau = np.array(algorithms.rnea(traced, q, v, a))
    assert relative_error(robot.inverse_dynamics(q, v, a), tau) < EXACT
    assert relative_error(robot.mass_matrix(q), np.array(algorithms.crba(traced, q))) < EXACT
    poses = np.array([X.matrix() for X in algorithms.poses(traced, q)])
    assert relative_error(robot.poses(q), poses) < EXACT
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < solved(robot.mass_matrix(q), tau)
    assert relative_error(robot.gravity_forces(q), robot.bias_forces(q, 0 * np.array(v))) < EXACT


@pytest.mark.slow
@given(models(), SEEDS)
def test_moving_there_and_looking_back_gives_the_velocity(model, seed):
    q, v, _ = state(model, seed)
    v = np.clip(v, -1.0, 1.0).tolist()  # less than half a turn
    moved = algorithms.integrate(model, q, v)
    assert relative_error(np.array(algorithms.difference(model, q, moved)), v) < EXACT
    back = algorithms.integrate(model, moved, [-x for x in v])
    between = algorithms.difference(model, q, back)
    assert relative_error(np.array(between), np.zeros(model.nv)) < EXACT
