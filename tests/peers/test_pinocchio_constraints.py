"""Constrained dynamics beside Pinocchio's: held frames on every robot, impacts, derivatives."""

import numpy as np
import pytest
from benchmarks.constraint_agreement import Skipped, held_anywhere
from benchmarks.constraint_speed import CASES, Peer, agreement, states

from tests.peers.pinocchio_oracle import urdf_files

TOLERANCE = 1e-8
"""Pinocchio's own; relative."""


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
        differences = held_anywhere(file)
    except Skipped as why:
        pytest.skip(str(why))
    assert max(differences) < TOLERANCE
