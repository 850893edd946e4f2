"""The identities between the algorithms, on built-in robots and all of example-robot-data."""

import numpy as np
import pytest

from kinetree import algorithms
from kinetree.robot.load import load_model
from kinetree.spatial import Force, Vector3
from tests.algorithms.test_identities import forward, state
from tests.algorithms.test_kinematics import along, imaginary
from tests.algorithms.test_ways import BUILT_IN
from tests.peers import pinocchio_oracle as oracle
from tests.peers.test_pinocchio import DEFECTIVE, SINGULAR
from tests.tolerances import EXACT, relative_error, solved

# joints there mimic a fixed one
BAD_MIMICS = {"alex_description/urdf/alex_psyonic_hands.urdf"}
FILES = [f for f in oracle.urdf_files() if f not in DEFECTIVE]


@pytest.fixture(params=[*BUILT_IN, *FILES])
def model(request):
    if request.param in BUILT_IN:
        return BUILT_IN[request.param]().model
    mimic = request.param not in BAD_MIMICS
    return load_model(oracle.ROBOTS / request.param, base="floating", mimic=mimic)


@pytest.mark.slow
def test_all_identities_hold(model, request):
    q, v, a = state(model, 13)
    rest = [0.0] * model.nv
    tau = np.array(algorithms.rnea(model, q, v, a))
    M = np.array(algorithms.crba(model, q))
    # three inverse dynamics; M is the slope of tau
    for way in (algorithms.liu_jain, algorithms.balafoutis_patel):
        assert relative_error(way(model, q, v, a), tau) < EXACT
    bias = np.array(algorithms.rnea(model, q, v, rest))
    assert relative_error(bias + M @ a, tau) < EXACT
    assert (M == M.T).all()
    # energy: v^T M v / 2, and gravity is its slope
    kinetic = [algorithms.kinetic_energy(model, q, v)]
    assert relative_error(kinetic, [0.5 * np.array(v) @ M @ v]) < EXACT
    gravity = np.array(algorithms.rnea(model, q, rest, rest))
    slope = imaginary([algorithms.potential_energy(model, along(model, q, v))])
    scale = 1.0 + np.abs(gravity) @ np.abs(v)
    assert abs(slope[0] - gravity @ v) < EXACT * scale
    # power: the rate of the kinetic energy is what is left of the joints' power
    bare = algorithms.coriolis_forces(algorithms.rnea)(model, q, v)
    rate = np.array(algorithms.rate(algorithms.crba, model, q, v))
    assert relative_error([0.5 * np.array(v) @ rate @ v], [np.array(bare) @ v]) < EXACT * 10
    # momentum: its matrix, and its rate is the wrench on the whole robot
    A = np.array(algorithms.momentum_matrix(model, q, "world"))
    assert relative_error(A @ v, algorithms.momentum(model, q, v, "world")) < EXACT
    change = np.array(algorithms.rate(algorithms.momentum_matrix, model, q, v, "world"))
    wrenches = algorithms.joint_wrenches(model, q, v, a)
    carried = np.zeros(6)
    for i, X in enumerate(algorithms.poses(model, q)):
        if model.bodies[i].parent < 0:
            carried += list(X.to_parent(wrenches[i]))
    m, c = algorithms.total_mass(model), np.array(algorithms.center_of_mass(model, q))
    weight = m * np.array(list(model.gravity))
    carried += np.concatenate([weight, np.cross(c, weight)])
    assert relative_error(A @ a + change @ v, carried) < EXACT * 10
    # an external wrench is felt through the Jacobian
    frame = model.frames[-1].name
    f = np.random.default_rng(2).standard_normal(6)
    acting = [(frame, Force(Vector3(*f[:3]), Vector3(*f[3:])))]
    J = np.array(algorithms.jacobian(model, q, frame, "body"))
    pushed = np.array(algorithms.rnea(model, q, v, a, acting))
    assert relative_error(tau - pushed, J.T @ f) < EXACT * max(1.0, np.abs(tau).max())
    # forward dynamics undoes inverse dynamics
    if request.node.callspec.params["model"] not in SINGULAR:
        assert relative_error(forward(model, q, v, tau.tolist()), a) < solved(M, tau)
