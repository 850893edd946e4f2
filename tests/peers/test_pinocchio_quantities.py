"""Kinematics, momenta, energies and matrices: Pinocchio's on every URDF of example-robot-data.

The algorithms run on floats here; that compiled kernels equal them is proven elsewhere.
"""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.model.edit import without
from kinetree.robot.load import load_model
from tests.peers import pinocchio_oracle as oracle
from tests.peers.test_pinocchio import CASES, ILL_CONDITIONED, SINGULAR
from tests.tolerances import EXACT, PEER, relative_error

AXES = {
    "world": pin.ReferenceFrame.WORLD,
    "body": pin.ReferenceFrame.LOCAL,
    "origin": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}


class Both:
    """A robot and its peer in the same random state."""

    def __init__(self, file: str, base: str) -> None:
        path = oracle.ROBOTS / file
        self.model = without(load_model(path, base=base, mimic=False), "damping", "friction")
        self.peer = oracle.load(file, base)
        self.data = self.peer.createData()
        rng = np.random.default_rng(11)
        self.q = kt.Robot(self.model).random(rng).tolist()
        self.v, self.a = (x.tolist() for x in rng.standard_normal((2, self.model.nv)))
        self.peer_q = oracle.coordinates(self.peer, np.array(self.q))
        names = [f.name for f in self.model.frames if f.body >= 0]
        self.frames = names[:: max(1, len(names) // 3)]

    def frame(self, name: str) -> int:
        return self.peer.getFrameId(name, pin.FrameType.BODY)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].split('/')[-1]}-{case[1]}")
def both(request) -> Both:
    return Both(*request.param)


@pytest.mark.slow
def test_velocities_accelerations_and_jacobians(both):
    model, peer, data = both.model, both.peer, both.data
    state = (both.peer_q, np.array(both.v), np.array(both.a))
    pin.forwardKinematics(peer, data, *state)
    pin.computeJointJacobiansTimeVariation(peer, data, *state[:2])
    pin.updateFramePlacements(peer, data)
    for name in both.frames:
        at = both.frame(name)
        for axes, reference in AXES.items():
            velocity = algorithms.frame_velocity(model, both.q, both.v, name, axes)
            expected = pin.getFrameVelocity(peer, data, at, reference).vector
            assert relative_error(list(velocity), expected) < PEER
            for kind, get in (
                ("spatial", pin.getFrameAcceleration),
                ("classical", pin.getFrameClassicalAcceleration),
            ):
                arguments = (both.q, both.v, both.a, name, axes, kind)
                got = algorithms.frame_acceleration(model, *arguments)
                assert relative_error(list(got), get(peer, data, at, reference).vector) < PEER
            J = algorithms.jacobian(model, both.q, name, axes)
            assert relative_error(J, pin.getFrameJacobian(peer, data, at, reference)) < PEER
            rate = algorithms.rate(algorithms.jacobian, model, both.q, both.v, name, axes)
            expected = pin.getFrameJacobianTimeVariation(peer, data, at, reference)
            assert relative_error(rate, expected) < PEER


@pytest.mark.slow
def test_the_center_of_mass_momentum_and_energy(both):
    model, peer, data = both.model, both.peer, both.data
    q, v, a = both.q, both.v, both.a
    state = (both.peer_q, np.array(v), np.array(a))
    pin.centerOfMass(peer, data, *state)
    assert relative_error(algorithms.center_of_mass(model, q), data.com[0]) < PEER
    assert relative_error(algorithms.center_of_mass_velocity(model, q, v), data.vcom[0]) < PEER
    got = algorithms.center_of_mass_acceleration(model, q, v, a)
    assert relative_error(got, data.acom[0]) < PEER
    J = pin.jacobianCenterOfMass(peer, data, both.peer_q)
    assert relative_error(algorithms.center_of_mass_jacobian(model, q), J) < PEER
    pin.dccrba(peer, data, *state[:2])
    assert relative_error(algorithms.momentum_matrix(model, q, "center"), data.Ag) < PEER
    rate = algorithms.rate(algorithms.momentum_matrix, model, q, v, "center")
    assert relative_error(rate, data.dAg) < PEER
    momentum = pin.computeCentroidalMomentum(peer, data, *state[:2]).vector
    assert relative_error(algorithms.momentum(model, q, v, "center"), momentum) < PEER
    kinetic = pin.computeKineticEnergy(peer, data, *state[:2])
    assert relative_error([algorithms.kinetic_energy(model, q, v)], [kinetic]) < PEER
    potential = pin.computePotentialEnergy(peer, data, both.peer_q)
    assert relative_error([algorithms.potential_energy(model, q)], [potential]) < PEER
    assert relative_error([algorithms.total_mass(model)], [pin.computeTotalMass(peer)]) < PEER


@pytest.mark.slow
def test_forces_by_every_way_and_the_inverse_of_the_mass_matrix(both, request):
    model, peer, data = both.model, both.peer, both.data
    q, v, a = both.q, both.v, both.a
    state = (both.peer_q, np.array(v), np.array(a))
    tau = pin.rnea(peer, data, *state)
    for way in (algorithms.rnea, algorithms.liu_jain, algorithms.balafoutis_patel):
        assert relative_error(way(model, q, v, a), tau) < PEER
    rest = [0.0] * model.nv
    bias = pin.nonLinearEffects(peer, data, *state[:2])
    assert relative_error(algorithms.balafoutis_patel(model, q, v, rest), bias) < PEER
    gravity = pin.computeGeneralizedGravity(peer, data, both.peer_q)
    assert relative_error(algorithms.balafoutis_patel(model, q, rest, rest), gravity) < PEER
    coriolis = algorithms.coriolis_forces(algorithms.rnea)(model, q, v)
    assert relative_error(coriolis, bias - gravity) < PEER
    wrenches = algorithms.joint_wrenches(model, q, v, a)
    pin.rnea(peer, data, *state)
    expected = [data.f[k].vector for k in range(1, peer.njoints)]
    assert relative_error([list(w) for w in wrenches], expected) < PEER

    file = request.node.callspec.params["both"][0]
    if file in SINGULAR or file in ILL_CONDITIONED:
        return
    M = np.array(algorithms.crba(model, q))
    inverse = np.array(pin.computeMinverse(peer, data, both.peer_q))
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    scale = np.abs(inverse).max()
    for way in (algorithms.mass_matrix_inverse, algorithms.minverse):
        ours = np.array(way(model, q))
        assert relative_error(ours / scale, inverse / scale) < PEER
        assert relative_error(ours @ M, np.eye(model.nv)) < EXACT * np.linalg.cond(M)
    # hybrid: every other joint told its acceleration
    told = set(model.coordinate_order[::2])
    found = algorithms.hybrid_dynamics(model, q, v, a, tau.tolist(), [], told)
    tolerance = PEER + EXACT * np.linalg.cond(M)
    assert relative_error(found[0], a) < tolerance
    assert relative_error(found[1], tau) < tolerance
