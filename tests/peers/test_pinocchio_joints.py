"""Each joint type that Pinocchio has, against it, between two other bodies."""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link
from kinetree.model.joints import (
    Ball,
    Floating,
    Prismatic,
    Revolute,
    Screw,
    euler,
    planar,
    universal,
)
from kinetree.model.model import Limits
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.tolerances import PEER, relative_error

X, Y, Z = (Vector3(*row) for row in np.eye(3).tolist())
OBLIQUE = Vector3(0.48, -0.6, 0.64)


def as_array(v):
    return np.array(list(v))


CASES = {
    "revolute": (Revolute(OBLIQUE), pin.JointModelRevoluteUnaligned(as_array(OBLIQUE))),
    "prismatic": (Prismatic(OBLIQUE), pin.JointModelPrismaticUnaligned(as_array(OBLIQUE))),
    "helical": (Screw(OBLIQUE, 0.3), pin.JointModelHelicalUnaligned(as_array(OBLIQUE), 0.3)),
    "universal": (universal(X, Z), pin.JointModelUniversal(as_array(X), as_array(Z))),
    "quaternion ball": (Ball(), pin.JointModelSpherical()),
    "zyx ball": (euler("zyx"), pin.JointModelSphericalZYX()),
    "floating": (Floating(), pin.JointModelFreeFlyer()),
    "planar": (planar(), pin.JointModelPlanar()),
}


def transforms(seed):
    rng = np.random.default_rng(seed)
    rpy, xyz = rng.uniform(-1, 1, (2, 3)).tolist()
    X = Transform(Rotation.rpy(*rpy), Vector3(*xyz))
    matrix = np.array(X.matrix())
    return X, pin.SE3(matrix[:3, :3], matrix[:3, 3])


def inertias(seed):
    rng = np.random.default_rng(seed)
    mass, (a, b, c) = rng.uniform(1, 3), rng.uniform(0.1, 0.3, 3)
    center = rng.uniform(-0.3, 0.3, 3)
    about = Symmetric3(b + c, a + c, a + b, 0.01, -0.02, 0.015)
    matrix = np.array([list(row) for row in about.rows])
    ours = Inertia.about_center(mass, Vector3(*center.tolist()), about)
    return ours, pin.Inertia(mass, center, matrix)


@pytest.fixture(params=CASES, scope="module")
def pair(request):
    """A chain of a revolute joint, the joint in question and another revolute joint."""
    joint, peer_joint = CASES[request.param]
    chain = [
        (Revolute(Y), pin.JointModelRY()),
        (joint, peer_joint),
        (Revolute(X), pin.JointModelRX()),
    ]
    links, connections, peer = [Link("l0", Inertia.zero(), "")], [], pin.Model()
    for i, (ours, theirs) in enumerate(chain):
        (X_ours, X_theirs), (I_ours, I_theirs) = transforms(i), inertias(i)
        links.append(Link(f"l{i + 1}", I_ours, ""))
        connections.append(Connection(f"j{i}", f"l{i}", f"l{i + 1}", X_ours, ours, Limits(), ""))
        number = peer.addJoint(i, theirs, X_theirs, f"j{i}")
        peer.appendBodyToJoint(number, I_theirs, pin.SE3.Identity())
    return request.param, kt.Robot(assemble(Description("chain", links, connections))), peer


def in_pinocchio(kind, q, v):
    """Pinocchio's q, and the matrix T(q) with v_pin = T v, and its rate."""
    T, T_rate = np.eye(len(v)), np.zeros((len(v), len(v)))
    if kind == "planar":  # (x, y, angle), rates in the plane: theirs turn with the body
        angle, rate = q[3], v[3]
        c, s = np.cos(angle), np.sin(angle)
        T[1:3, 1:3] = [[c, s], [-s, c]]
        T_rate[1:3, 1:3] = rate * np.array([[-s, c], [-c, -s]])
        q = np.concatenate([q[:3], [c, s], q[4:]])
    return q, T, T_rate


def test_poses_forces_masses_and_accelerations_agree(pair):
    kind, robot, peer = pair
    data = peer.createData()
    rng = np.random.default_rng(0)
    for _ in range(100):
        q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
        peer_q, T, T_rate = in_pinocchio(kind, q, v)
        peer_v, peer_a = T @ v, T @ a + T_rate @ v
        tau = robot.inverse_dynamics(q, v, a)
        assert relative_error(tau, T.T @ pin.rnea(peer, data, peer_q, peer_v, peer_a)) < PEER
        upper = np.triu(pin.crba(peer, data, peer_q))
        M = T.T @ (upper + np.triu(upper, 1).T) @ T
        assert relative_error(robot.mass_matrix(q), M) < PEER
        qdd = pin.aba(peer, data, peer_q, peer_v, np.linalg.solve(T.T, tau))
        expected = np.linalg.solve(T, qdd - T_rate @ v)
        if np.linalg.cond(M) < 1e6:  # away from the singularities of Euler angles
            assert relative_error(robot.forward_dynamics(q, v, tau), expected) < PEER
        pin.forwardKinematics(peer, data, peer_q)
        poses = np.array([data.oMi[k].homogeneous for k in range(1, peer.njoints)])
        assert relative_error(robot.poses(q), poses) < PEER
