"""Derivatives: Pinocchio's on every URDF of example-robot-data, fixed and floating.

The algorithms run on arrays of states here; that compiled kernels equal them is proven elsewhere.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.constraints import constrained_derivatives
from kinetree.compiler.graph import interpret
from kinetree.constraints import LoopJoint
from kinetree.model.edit import without
from kinetree.robot.load import load_model
from kinetree.spatial import Force, Vector3
from tests.peers import pinocchio_oracle as oracle
from tests.peers.test_pinocchio import CASES, ILL_CONDITIONED, SINGULAR, load
from tests.peers.test_pinocchio_quantities import AXES
from tests.tolerances import EPS, PEER, relative_error

STATES = 3
SOLVED = 10 * PEER
HUMANOID = ("talos_data/robots/talos_reduced.urdf", "floating")
ARM = ("panda_description/urdf/panda.urdf", "fixed")


class Both:
    """A robot and its peer in the same random states; a scalar of ours is one number a state."""

    def __init__(self, file: str, base: str) -> None:
        path = oracle.ROBOTS / file
        self.model = without(load_model(path, base=base, mimic=False), "damping", "friction")
        self.peer = oracle.load(file, base)
        self.data = self.peer.createData()
        rng = np.random.default_rng(17)
        self.q = kt.Robot(self.model).random(rng, STATES)
        self.v, self.a = rng.standard_normal((2, STATES, self.model.nv))
        peer_q = [oracle.coordinates(self.peer, q) for q in self.q]
        self.states = list(zip(peer_q, self.v, self.a, strict=True))

    def ours(self, algorithm, *arrays, acting=()):
        """The matrices that an algorithm gives, of each state."""
        found = algorithm(self.model, *(list(x.T) for x in arrays), acting)
        parts = found if isinstance(found, tuple) else (found,)
        full = [[[np.broadcast_to(x, STATES) for x in row] for row in part] for part in parts]
        return np.moveaxis(np.array(full), -1, 0)

    def theirs(self, function, k, *more):
        """The matrices that Pinocchio gives of state k, of which the last is half a symmetric."""
        dq, dv, upper = function(self.peer, self.data, *self.states[k], *more)
        return np.array([dq, dv, np.triu(upper) + np.triu(upper, 1).T])


def worst(found, expected):
    return max(relative_error(*pair) for pair in zip(found, expected, strict=True))


def wrenches(both, *names):
    """Random ones on frames, and what Pinocchio makes of them, by joints."""
    rng = np.random.default_rng(23)
    ours, theirs = [], [pin.Force.Zero() for _ in range(both.peer.njoints)]
    for name in names:
        w = rng.standard_normal(6)
        ours.append((name, Force(Vector3(*w[:3]), Vector3(*w[3:]))))
        frame = both.peer.frames[both.peer.getBodyId(name)]
        theirs[frame.parentJoint] += frame.placement.act(pin.Force(w))
    return ours, theirs


@pytest.fixture(
    scope="module", params=CASES, ids=lambda case: f"{case[0].split('/')[-1]}-{case[1]}"
)
def both(request) -> Both:
    return Both(*request.param)


@pytest.mark.slow
def test_the_derivatives_of_inverse_dynamics_agree(both):
    found = both.ours(algorithms.inverse_derivatives, both.q, both.v, both.a)
    for k in range(STATES):
        assert worst(found[k], both.theirs(pin.computeRNEADerivatives, k)) < PEER


@pytest.mark.slow
def test_the_derivatives_of_forward_dynamics_agree(both, request):
    file = request.node.callspec.params["both"][0]
    if file in SINGULAR:
        return
    found = both.ours(algorithms.forward_derivatives, both.q, both.v, both.a)
    for k in range(STATES):
        expected = both.theirs(pin.computeABADerivatives, k)
        lost = EPS * np.linalg.cond(expected[2]) if file in ILL_CONDITIONED else 0.0
        assert worst(found[k], expected) < max(SOLVED, lost)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_derivatives_under_external_wrenches_agree(base):
    both = Both(HUMANOID[0], base)
    acting, forces = wrenches(both, "gripper_left_base_link", "right_sole_link", "head_2_link")
    state = (both.q, both.v, both.a)
    tau = both.ours(algorithms.inverse_derivatives, *state, acting=acting)
    a = both.ours(algorithms.forward_derivatives, *state, acting=acting)
    (held,) = np.moveaxis(both.ours(algorithms.gravity_derivatives, both.q, acting=acting), 1, 0)
    for k, (q, _, _) in enumerate(both.states):
        assert worst(tau[k], both.theirs(pin.computeRNEADerivatives, k, forces)) < PEER
        assert worst(a[k], both.theirs(pin.computeABADerivatives, k, forces)) < SOLVED
        expected = pin.computeStaticTorqueDerivatives(both.peer, both.data, q, forces)
        assert relative_error(held[k], expected) < PEER


@pytest.mark.parametrize(("case", "name"), [(ARM, "panda_hand"), (HUMANOID, "head_2_link")])
@pytest.mark.parametrize("axes", AXES)
def test_the_derivatives_of_a_frames_motion_agree(case, name, axes):
    robot, peer = load(*case), oracle.load(*case)
    data = peer.createData()
    rng = np.random.default_rng(5)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
    pin.computeForwardKinematicsDerivatives(peer, data, q, v, a)
    at = peer.getFrameId(name, pin.FrameType.BODY)
    velocity = pin.getFrameVelocityDerivatives(peer, data, at, AXES[axes])
    _, *acceleration = pin.getFrameAccelerationDerivatives(peer, data, at, AXES[axes])
    if axes == "origin":  # Pinocchio's do not count that the origin moves, too
        J = velocity[1][:3]
        for by_q, motion in (
            (velocity[0], robot.velocity(q, v, name, axes=axes)),
            (acceleration[0], robot.acceleration(q, v, a, name, axes=axes, kind="spatial")),
        ):
            by_q[:3] += np.cross(motion[3:], J, axisb=0, axisc=0)
    assert worst(robot.derivatives.velocity(q, v, name, axes=axes), velocity) < PEER
    found = robot.derivatives.acceleration(q, v, a, name, axes=axes, kind="spatial")
    assert worst(found, acceleration) < PEER


@pytest.mark.slow
def test_the_derivatives_of_the_centroidal_momentum_agree():
    robot, peer = load(*HUMANOID), oracle.load(*HUMANOID)
    data = peer.createData()
    rng = np.random.default_rng(6)
    q, (v, a) = robot.random(rng, STATES), rng.standard_normal((2, STATES, robot.nv))
    momenta = interpret(robot.kernel("momentum_derivatives").program, q, v)
    rates = interpret(robot.kernel("momentum_rate_derivatives").program, q, v, a)
    for k in range(STATES):
        dh, *dh_rate = pin.computeCentroidalDynamicsDerivatives(peer, data, q[k], v[k], a[k])
        A = pin.ccrba(peer, data, q[k], v[k])
        assert worst([x[k] for x in momenta], (dh, A)) < PEER
        assert worst([x[k] for x in rates], dh_rate) < PEER


@pytest.mark.slow
def test_constrained_dynamics_on_two_feet():
    feet = ("leg_left_6_link", "leg_right_6_link")
    both = Both(*HUMANOID)
    both.model = replace(both.model, constraints=tuple(LoopJoint(name, name) for name in feet))
    models = pin.StdVec_RigidConstraintModel()
    datas = pin.StdVec_RigidConstraintData()
    for name in feet:
        frame = both.peer.frames[both.peer.getFrameId(name)]
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D,
            both.peer,
            frame.parentJoint,
            frame.placement,
            0,
            pin.SE3.Identity(),
            pin.LOCAL,
        )
        models.append(contact)
        datas.append(contact.createData())
    pin.initConstraintDynamics(both.peer, both.data, models, datas)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)
    tau = 10.0 * both.a
    found = constrained_derivatives(both.model, *(list(x.T) for x in (both.q, both.v, tau)))
    for k, (q, v, _) in enumerate(both.states):
        pin.constraintDynamics(both.peer, both.data, q, v, tau[k], models, datas, settings)
        pin.computeConstraintDynamicsDerivatives(both.peer, both.data, models, datas)
        d = both.data
        theirs = [d.ddq_dq, d.ddq_dv, d.ddq_dtau, d.dlambda_dq, d.dlambda_dv, d.dlambda_dtau]
        for part, expected in zip(found, theirs, strict=True):
            ours = [[np.broadcast_to(x, STATES)[k] for x in row] for row in part]
            assert relative_error(ours, expected) < PEER
