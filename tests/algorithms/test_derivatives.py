"""Derivatives on random trees of every joint type, against complex steps along q (+) delta."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kinetree import algorithms
from kinetree.algorithms import POINTS
from kinetree.algorithms.drives import rotor_products
from kinetree.model.edit import without
from kinetree.model.joints import Floating
from tests.algorithms.test_identities import SEEDS, forward, state
from tests.algorithms.test_kinematics import STEP, along, imaginary
from tests.algorithms.test_ways import loads
from tests.random_models import models, regular_models
from tests.tolerances import EXACT, relative_error, solved

INVERSE = (
    algorithms.inverse_derivatives,
    algorithms.inverse_derivatives_in_own_frames,
    algorithms.balafoutis_patel_partials,
)
FORWARD = (algorithms.forward_derivatives, algorithms.forward_derivatives_in_own_frames)
inverse_ways = pytest.mark.parametrize("way", INVERSE, ids=lambda way: way.__name__)
forward_ways = pytest.mark.parametrize("way", FORWARD, ids=lambda way: way.__name__)


def slopes(model, function, q, *vectors):
    """The derivatives of function(model, q, *vectors) by each, with a last axis of length nv.

    All steps are taken at once: a scalar is an array of one number a step.
    """
    n, count = model.nv, 1 + len(vectors)
    steps = STEP * 1j * np.eye(count * n).reshape(count, n, count * n)
    moved = [list(np.array(x)[:, None] + s) for x, s in zip(vectors, steps[1:], strict=True)]
    found = function(model, algorithms.integrate(model, q, list(steps[0])), *moved)
    return np.split(imaginary(_spread(found, count * n)), count, axis=-1)


def _spread(value, length):
    """What is the same for all steps, for each."""
    if isinstance(value, list):
        return [_spread(x, length) for x in value]
    return np.broadcast_to(value, length)


def worst(found, expected):
    return max(relative_error(*pair) for pair in zip(found, expected, strict=True))


# inverse dynamics


@pytest.mark.slow
@inverse_ways
@given(model=models(), seed=SEEDS)
def test_the_derivatives_of_inverse_dynamics_are_those_of_complex_steps(way, model, seed):
    q, v, a = state(model, seed)
    acting = loads(model, seed)
    expected = slopes(model, lambda *x: algorithms.rnea(*x, acting), q, v, a)
    assert worst(way(model, q, v, a, acting), expected) < EXACT


@pytest.mark.slow
@given(models(), SEEDS)
def test_three_derivatives_of_inverse_dynamics_agree(model, seed):
    q, v, a = state(model, seed)
    acting = loads(model, seed)
    first, *others = (way(model, q, v, a, acting) for way in INVERSE)
    assert max(worst(other, first) for other in others) < EXACT


@pytest.mark.slow
@inverse_ways
@given(model=models(), seed=SEEDS)
def test_the_derivative_by_accelerations_is_the_mass_matrix(way, model, seed):
    q, v, a = state(model, seed)
    _, _, M = (np.array(x) for x in way(model, q, v, a))
    assert relative_error(M, algorithms.crba(model, q)) < EXACT
    if way is not algorithms.balafoutis_patel_partials:  # which finds each entry for itself
        assert (M == M.T).all()


@given(models(max_bodies=4), SEEDS)
def test_damping_enters_dv_armature_da_and_dry_friction_nothing(model, seed):
    q, v, a = state(model, seed)
    bare = without(model, "armature", "damping", "friction")
    damping, armature = np.zeros((2, model.nv))
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        damping[at] += drive.damping
        armature[at] += drive.armature
    # the rotors of a floating joint feel its axes turn: products of velocities
    units = np.eye(model.nv).tolist()
    products = [(rotor_products(model, v, e), rotor_products(model, e, v)) for e in units]
    turning = np.array(products).sum(axis=1).T
    for way in INVERSE:
        dq, dv, da = (np.array(x) for x in way(model, q, v, a))
        bare_dq, bare_dv, bare_da = (np.array(x) for x in way(bare, q, v, a))
        assert (dq == bare_dq).all()
        assert relative_error(dv, bare_dv + np.diag(damping) + turning) < EXACT
        assert relative_error(da, bare_da + np.diag(armature)) < EXACT


@given(models(max_bodies=4), SEEDS)
def test_at_rest_without_gravity_and_springs_forces_do_not_change_with_the_configuration(
    model, seed
):
    q, _, _ = state(model, seed)
    rest = [0.0] * model.nv
    for way in INVERSE:
        dq, _, _ = way(without(model, "gravity", "springs"), q, rest, rest)
        assert not np.any(dq)


def positions(model):
    """Where in v the linear velocities of free bases are."""
    bases = [
        at.start
        for body, at in zip(model.bodies, model.v_slices, strict=True)
        if body.parent < 0 and isinstance(body.joint, Floating)
    ]
    return [start + k for start in bases for k in range(3)]


@given(regular_models(max_bodies=4).filter(positions), SEEDS)
def test_nothing_depends_on_where_a_free_base_is_that_no_spring_holds(model, seed):
    model, acting = without(model, "springs"), loads(model, seed)
    for way in (*INVERSE, *FORWARD):
        dq, _, _ = way(model, *state(model, seed), acting)
        assert not np.array(dq)[:, positions(model)].any()


@given(models(), SEEDS)
def test_the_derivative_of_gravity_forces_is_that_of_complex_steps(model, seed):
    q, _, _ = state(model, seed)
    acting, rest = loads(model, seed), [0.0] * model.nv
    expected = slopes(model, lambda m, x: algorithms.rnea(m, x, rest, rest, acting), q)
    assert worst([algorithms.gravity_derivatives(model, q, acting)], expected) < EXACT


# forward dynamics


@pytest.mark.slow
@forward_ways
@given(model=regular_models(), seed=SEEDS)
def test_the_derivatives_of_forward_dynamics_are_those_of_complex_steps(way, model, seed):
    q, v, tau = state(model, seed)
    acting = loads(model, seed)
    expected = slopes(model, lambda *x: forward(*x, acting), q, v, tau)
    a = forward(model, q, v, tau, acting)
    felt = np.array(algorithms.inverse_derivatives(model, q, v, a, acting))
    tolerance = solved(algorithms.crba(model, q), felt)
    assert worst(way(model, q, v, tau, acting), expected) < tolerance


@forward_ways
@given(model=regular_models(), seed=SEEDS)
def test_the_derivative_by_forces_is_the_inverse_of_the_mass_matrix(way, model, seed):
    q, v, tau = state(model, seed)
    M = np.array(algorithms.crba(model, q))
    _, _, dtau = (np.array(x) for x in way(model, q, v, tau))
    assert (dtau == dtau.T).all()
    assert relative_error(dtau @ M, np.eye(model.nv)) < EXACT * np.linalg.cond(M)


# the mass matrix


@given(models(), SEEDS)
def test_the_derivatives_of_the_mass_matrix_are_those_of_complex_steps(model, seed):
    q, _, _ = state(model, seed)
    dM = np.array(algorithms.mass_derivatives(model, q))
    assert worst([dM], slopes(model, algorithms.crba, q)) < EXACT
    assert (dM == dM.swapaxes(0, 1)).all()


@given(models(), SEEDS)
def test_the_derivatives_of_the_mass_matrix_are_sums_of_christoffel_symbols(model, seed):
    q, _, _ = state(model, seed)
    Gamma = np.array(algorithms.christoffel_symbols(model, q))
    dM = algorithms.mass_derivatives(model, q)
    assert relative_error(dM, Gamma + Gamma.swapaxes(0, 1)) < EXACT


@given(regular_models(), SEEDS)
def test_the_derivatives_of_the_inverse_mass_matrix_are_those_of_complex_steps(model, seed):
    q, _, _ = state(model, seed)
    M = algorithms.crba(model, q)
    found = np.array(algorithms.mass_inverse_derivatives(model, q))
    expected = slopes(model, algorithms.mass_matrix_inverse, q)
    assert worst([found], expected) < EXACT * np.linalg.cond(M)
    assert (found == found.swapaxes(0, 1)).all()


# momentum


@given(models(), SEEDS, st.sampled_from(POINTS))
def test_the_rate_of_the_momentum_is_its_derivative_along_the_motion(model, seed, about):
    assume(algorithms.total_mass(model) > 0.0)
    q, v, a = state(model, seed)
    found = algorithms.momentum_rate(model, q, v, a, about)
    faster = [complex(x, STEP * dx) for x, dx in zip(v, a, strict=True)]
    expected = imaginary(algorithms.momentum(model, along(model, q, v), faster, about))
    assert relative_error(found, expected) < EXACT
    A = np.array(algorithms.momentum_matrix(model, q, about))
    rate = np.array(algorithms.rate(algorithms.momentum_matrix, model, q, v, about))
    assert relative_error(found, A @ a + rate @ v) < EXACT
