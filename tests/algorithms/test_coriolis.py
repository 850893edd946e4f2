"""The Coriolis matrix and the Christoffel symbols, on random trees of every joint type."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.model.edit import without
from kinetree.robot.load import load_model
from kinetree.spatial import Matrix3, Operator, Vector3, christoffel_factor, spatial_factor
from tests.algorithms.test_identities import SEEDS, state
from tests.algorithms.test_kinematics import along, imaginary
from tests.peers import pinocchio_oracle as oracle
from tests.random_models import inertias, models, numbers
from tests.tolerances import EXACT, PEER, relative_error

FACTORS = {"christoffel": christoffel_factor, "spatial": spatial_factor}
FEW = EXACT * 10


def dense(operator):
    """An operator as a 6x6 matrix."""
    rows = []
    for left, right in ((operator.ll, operator.la), (operator.al, operator.aa)):
        rows += [[*a, *b] for a, b in zip(left.rows, right.rows, strict=True)]
    return np.array(rows, dtype=float)


def units():
    from kinetree.spatial import Twist

    for k in range(6):
        e = [1.0 if i == k else 0.0 for i in range(6)]
        yield Twist(Vector3(*e[:3]), Vector3(*e[3:]))


@st.composite
def motions(draw):
    from kinetree.spatial import Twist

    return Twist(*(Vector3(*(draw(numbers(-2.0, 2.0)) for _ in range(3))) for _ in range(2)))


# body-level factors


@given(motions(), inertias())
def test_the_christoffel_factor_is_that_of_eq_12(v, I):
    # ((v x*) I + (I v) x-* - I (v x)) / 2, column by column
    columns = []
    for e in units():
        first = v.cross_force(I @ e) + e.cross_force(I @ v) - I @ v.cross(e)
        columns.append(0.5 * np.array(list(first)))
    B = dense(christoffel_factor(v, I))
    assert relative_error(B, np.array(columns).T) < EXACT
    assert (B[:, :3] == 0.0).all(), "linear motion is taken to nothing"


@given(motions(), inertias())
def test_the_spatial_factor_is_that_of_eq_11(v, I):
    columns = [list(v.cross_force(I @ e)) for e in units()]
    assert relative_error(dense(spatial_factor(v, I)), np.array(columns).T) < EXACT


@pytest.mark.parametrize("name", FACTORS)
@given(v=motions(), I=inertias())
def test_both_factors_are_admissible(name, v, I):
    B = FACTORS[name](v, I)
    assert relative_error(list(B @ v), list(v.cross_force(I @ v))) < EXACT
    rate = [list(v.cross_force(I @ e) - I @ v.cross(e)) for e in units()]  # (13), its columns
    assert relative_error(dense(B) + dense(B.T), np.array(rate).T) < EXACT


# Algorithm 1


@given(models(), SEEDS)
def test_one_pass_gives_the_mass_matrix_and_its_rate(model, seed):
    q, v, _ = state(model, seed)
    H, rate, _ = algorithms.coriolis(model, q, v)
    assert relative_error(H, algorithms.crba(model, q)) < EXACT
    expected = imaginary(algorithms.crba(model, along(model, q, v)))
    assert relative_error(rate, expected) < FEW


@pytest.mark.parametrize("name", FACTORS)
@given(model=models(), seed=SEEDS)
def test_each_factorization_is_valid_and_admissible(name, model, seed):
    q, v, _ = state(model, seed)
    _, rate, C = (np.array(x) for x in algorithms.coriolis(model, q, v, FACTORS[name]))
    forces = algorithms.coriolis_forces(algorithms.rnea)(model, q, v)
    assert relative_error(C @ v, forces) < FEW
    assert relative_error(C + C.T, rate) < FEW


def symbols_by_definition(model, q):
    """Gamma_ijk of eq. 4, with derivatives of the mass matrix by complex steps."""
    slopes = [imaginary(algorithms.crba(model, along(model, q, e))) for e in np.eye(model.nv)]
    d = np.array(slopes).transpose(1, 2, 0)  # [i, j, k] = dH_ij / dq_k
    return 0.5 * (d + d.swapaxes(1, 2) - d.transpose(2, 0, 1))


def holonomic(model):
    return model.nq == model.nv


@settings(max_examples=60)
@given(models(max_bodies=4).filter(holonomic), SEEDS)
def test_the_christoffel_factorization_is_consistent_in_every_chart(model, seed):
    q, v, _ = state(model, seed)
    _, _, C = algorithms.coriolis(model, q, v)
    assert relative_error(C, symbols_by_definition(model, q) @ v) < FEW


def test_the_spatial_and_the_lagrangian_factorizations_are_not_consistent():
    arm = kt.robots.arm()
    q, v = arm.random(1), np.ones(7)
    C = arm.coriolis_matrix(q, v)
    for other in ("spatial", "lagrange"):
        assert relative_error(arm.coriolis_matrix(q, v, factorization=other), C) > 1e-3


def test_a_factor_of_ones_own():
    def mixed(v, I):
        """Half of one and half of the other is admissible, too."""
        a, b = christoffel_factor(v, I), spatial_factor(v, I)
        blocks = ("ll", "la", "al", "aa")
        return Operator(*((getattr(a, x) + getattr(b, x)) * 0.5 for x in blocks))

    def valid_only(v, I):
        """What is added takes v itself to nothing, but is symmetric: |w|^2 - w w^T."""
        w, B = v.angular, spatial_factor(v, I)
        extra = Matrix3(*(Matrix3.cross(w) @ row for row in Matrix3.cross(w).rows))
        return Operator(B.ll, B.la, B.al, B.aa + extra)

    arm = kt.robots.arm()
    q, v = arm.random(1, 3), np.random.default_rng(0).standard_normal((3, 7))
    rate = arm.coriolis.mass_matrix_rate(q, v)
    C = arm.coriolis_matrix(q, v, factorization=mixed)
    both = [arm.coriolis_matrix(q, v, factorization=f) for f in ("christoffel", "spatial")]
    assert relative_error(C, sum(both) / 2) < EXACT
    assert relative_error(C + C.swapaxes(1, 2), rate) < EXACT
    bad = arm.coriolis_matrix(q, v, factorization=valid_only)
    forces = arm.coriolis_forces(q, v)
    assert relative_error((bad @ v[..., None])[..., 0], forces) < EXACT
    assert relative_error(bad + bad.swapaxes(1, 2), rate) > 1e-3
    with pytest.raises(kt.errors.UnknownNameError, match="'christoffel', 'spatial'"):
        arm.coriolis_matrix(q, v, factorization="magic")


# Algorithm 2


@settings(max_examples=60)
@given(models(max_bodies=4), SEEDS)
def test_the_symbols_times_the_velocity_are_the_matrix(model, seed):
    q, v, _ = state(model, seed)
    _, _, C = algorithms.coriolis(model, q, v)
    Gamma = np.array(algorithms.christoffel_symbols(model, q), dtype=float)
    assert relative_error(Gamma @ v, C) < FEW


@pytest.mark.slow
@settings(max_examples=60)
@given(models(max_bodies=4).filter(holonomic), SEEDS)
def test_the_symbols_are_those_of_the_definition(model, seed):
    q, _, _ = state(model, seed)
    Gamma = np.array(algorithms.christoffel_symbols(model, q), dtype=float)
    assert relative_error(Gamma, Gamma.swapaxes(1, 2)) < FEW
    assert relative_error(Gamma, symbols_by_definition(model, q)) < FEW


@settings(max_examples=40)
@given(models(max_bodies=4), SEEDS)
def test_in_quasi_velocities_the_symbols_differ_by_what_the_axes_do_to_each_other(model, seed):
    # Gamma_ijk - Gamma_ikj = Phi_i . I^C (Phi_k x Phi_j) for j, k of one quaternion joint, else 0;
    # and the sum over i and j is yet the rate of the mass matrix (Remark 4)
    q, v, _ = state(model, seed)
    Gamma = np.array(algorithms.christoffel_symbols(model, q), dtype=float)
    rate = np.array(algorithms.rate(algorithms.crba, model, q, v))
    assert relative_error((Gamma + Gamma.swapaxes(0, 1)) @ v, rate) < FEW
    skew = Gamma - Gamma.swapaxes(1, 2)
    quasi = np.zeros(model.nv, bool)
    for body, at in zip(model.bodies, model.v_slices, strict=True):
        quasi[at] = body.joint.nq != body.joint.nv
    skew[:, np.ix_(quasi, quasi)[0].ravel()[:, None], quasi] = 0.0
    assert np.abs(skew).max() < FEW * max(1.0, np.abs(Gamma).max())


@pytest.mark.slow
def test_the_sparse_symbols_are_the_dense_ones():
    for robot in (kt.robots.tree(9), kt.robots.human(), kt.robots.human().edit.rechart("zyx")):
        robot = robot.edit.subtree("upper_trunk") if "human" in robot.name else robot
        q = robot.random(2, 4)
        Gamma = robot.christoffel_symbols(q)
        i, j, k = robot.coriolis.pattern.T
        values = robot.christoffel_symbols(q, sparse=True)
        assert relative_error(values, Gamma[:, i, j, k]) < EXACT
        filled = np.zeros_like(Gamma)
        filled[:, i, j, k] = values
        if robot.nq == robot.nv:
            assert (j <= k).all()
            filled[:, i, k, j] = values
        assert relative_error(filled, Gamma) < EXACT


def test_unrelated_triples_vanish():
    robot = kt.robots.legged(4, 3)
    limb = np.arange(12) // 3
    i, j, k = robot.coriolis.pattern.T
    assert ((limb[i] == limb[j]) & (limb[j] == limb[k])).all()
    assert len(robot.coriolis.pattern) <= 4 * 3 * 6


# control


@given(models(), SEEDS)
def test_a_reference_velocity_is_taken_without_forming_the_matrix(model, seed):
    q, v, w = state(model, seed)
    a = list(reversed(w))
    rest = [0.0] * model.nv
    H, _, C = (np.array(x) for x in algorithms.coriolis(model, q, v))
    g = np.array(algorithms.rnea(without(model, "friction"), q, rest, rest))
    tau = algorithms.passivity_forces(model, q, v, w, a)
    assert relative_error(tau, H @ a + C @ w + g) < FEW


@given(models(), SEEDS)
def test_the_momentum_observer_has_the_rate_of_the_momentum(model, seed):
    q, v, a = state(model, seed)
    rest = [0.0] * model.nv
    H, rate, C = (np.array(x) for x in algorithms.coriolis(model, q, v))
    g = np.array(algorithms.rnea(without(model, "friction"), q, rest, rest))
    tau = H @ a + C @ v + g  # nothing from outside
    p, change = algorithms.momentum_observer(model, q, v, tau.tolist(), rest)
    assert relative_error(p, H @ v) < FEW
    assert relative_error(change, H @ a + rate @ v) < FEW  # the rate of H v
    assert relative_error(np.array(change) - tau + g, C.T @ v) < FEW


def test_the_observer_finds_a_push():
    arm = kt.robots.arm()
    rng = np.random.default_rng(4)
    q, v, dt, gain = arm.random(rng), np.zeros(7), 1e-3, 50.0
    push = np.array([0.0, 0.0, -5.0, 0.0, 0.0, 0.0])
    expected = residual = np.zeros(7)
    estimate = arm.mass_matrix(q) @ v
    for _ in range(300):
        tau = arm.gravity_forces(q) - 5.0 * arm.mass_matrix(q) @ v
        p, rate = arm.coriolis.momentum_observer(q, v, tau, residual)
        residual = gain * (p - estimate)
        estimate = estimate + dt * rate
        a = arm.forward_dynamics(q, v, tau, external={"tool": push})
        expected = arm.jacobian(q, "tool", axes="body").T @ push
        v = v + dt * a
        q = arm.integrate(q, dt * v)
    assert relative_error(residual, expected) < 0.05


# Pinocchio


@pytest.mark.parametrize(
    "file", ["panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf"]
)
def test_pinocchios_coriolis_matrix_is_the_same_where_joints_turn_about_one_axis(file):
    model = load_model(oracle.ROBOTS / file, mimic=False)
    peer = oracle.load(file)
    data = peer.createData()
    q, v, _ = state(model, 3)
    theirs = pin.computeCoriolisMatrix(
        peer, data, oracle.coordinates(peer, np.array(q)), np.array(v)
    )
    _, _, C = algorithms.coriolis(model, q, v)
    assert relative_error(C, theirs) < PEER
