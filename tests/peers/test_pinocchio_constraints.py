"""Constrained dynamics beside Pinocchio's: held frames on every robot, impacts, derivatives."""

import numpy as np
import pinocchio as pin
import pytest
from benchmarks.constraint_speed import CASES, Peer, agreement, states

import kinetree as kt
from kinetree.compiler.graph import interpret
from kinetree.constraints import LoopJoint
from kinetree.errors import SingularModelError
from tests.peers.pinocchio_oracle import ROBOTS, urdf_files

TOLERANCE = 1e-8
"""Pinocchio's own; relative."""


def held(file, frames):
    """A floating robot of a file with frames held, and the same in Pinocchio."""
    robot = kt.load(ROBOTS / file, base="floating", mimic=False)
    robot = robot.without("armature", "damping", "friction")
    robot = robot.constrain(*(LoopJoint(name, name) for name in frames))
    feet = CASES[0].__class__("held", file, tuple(frames), 6, (0.0, 0.0, 0.0))
    return robot, Peer(feet)


@pytest.mark.parametrize("feet", CASES, ids=lambda feet: feet.name)
def test_robots_on_their_feet_accelerate_as_pinocchios(feet):
    robot, peer = feet.robot(), Peer(feet)
    q, v, tau = states(robot, 3)
    a, _, residual = robot.constraints.forward_dynamics(q, v, tau)
    assert residual.max() < 1e-6
    for k in range(3):
        theirs = peer.accelerations(q[k], v[k], tau[k])
        np.testing.assert_allclose(a[k], theirs, atol=TOLERANCE * np.abs(theirs).max())


def test_an_impact_is_pinocchios():
    feet = CASES[2]
    robot, peer = feet.robot(), Peer(feet)
    q, v, _ = states(robot, 3)
    for restitution in (0.0, 0.5):
        after, _ = robot.constraints.impact(q, v, restitution)
        for k in range(3):
            theirs = peer.impact(q[k], v[k], restitution)
            np.testing.assert_allclose(after[k], theirs, atol=TOLERANCE * np.abs(theirs).max())


@pytest.mark.slow
def test_derivatives_are_pinocchios():
    robot, peer = CASES[2].robot(), Peer(CASES[2])
    assert max(agreement(robot, peer, states(robot, 3))) < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("file", urdf_files())
def test_two_random_frames_of_every_robot_are_held_as_in_pinocchio(file):
    try:
        model = pin.buildModelFromUrdf(str(ROBOTS / file), pin.JointModelFreeFlyer())
    except ValueError:
        pytest.skip("Pinocchio does not read it")
    if model.nq != model.nv + 1 or model.nv < 10:
        pytest.skip("continuous joints have two coordinates there, or two frames leave no motion")
    rng = np.random.default_rng(0)
    bodies = sorted(f.name for f in model.frames if f.type == pin.BODY and f.parentJoint > 1)
    frames = rng.choice(bodies, 2, replace=False)
    joints = {model.frames[model.getFrameId(name)].parentJoint for name in frames}
    if len(joints) < 2:
        pytest.skip("both frames are on one body")
    robot, peer = held(file, frames)
    q, v, tau = states(robot, 2)
    try:
        kernel = robot.kernel("constrained_dynamics")
        rows = robot.kernel("constraint_jacobian")
    except SingularModelError:
        pytest.skip("its mass matrix is singular")
    for k in range(2):
        J = np.asarray(_interpreted(rows, q[k])[0])
        # rows that depend on each other agree only about velocities that they allow
        allowed = v[k] - np.linalg.pinv(J, rcond=1e-9) @ (J @ v[k])
        a = np.asarray(_interpreted(kernel, q[k], allowed, tau[k])[0])
        if np.linalg.matrix_rank(J, tol=1e-6) < len(J):
            peer.settings = pin.ProximalSettings(1e-14, 1e-8, 20)
        theirs = peer.accelerations(q[k], allowed, tau[k])
        np.testing.assert_allclose(a, theirs, atol=TOLERANCE * max(1.0, np.abs(theirs).max()))


def _interpreted(kernel, *arrays):
    return interpret(kernel.program, *(list(x) for x in arrays))
