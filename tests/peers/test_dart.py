"""DART's calls and their counterparts, on the same skeletons: what docs/dart.md says is true."""

import re
from dataclasses import replace
from pathlib import Path

import dartpy as dart
import numpy as np
import pytest

import kinetree as kt
from kinetree.model.formats.write_urdf import write_urdf
from tests.peers import pinocchio_oracle as oracle
from tests.tolerances import relative_error

PAGE = Path(__file__).parents[2] / "docs/dart.md"
AGREEMENT = 1e-8


def panda() -> kt.Robot:
    file = oracle.ROBOTS / "panda_description/urdf/panda.urdf"
    return kt.load(file, mimic=False).without("damping", "friction")


def talos() -> kt.Robot:
    file = oracle.ROBOTS / "talos_data/robots/talos_reduced.urdf"
    return kt.load(file, base="floating").without("damping", "friction")


ROBOTS = {
    "arm": kt.robots.arm,
    "cart pole": kt.robots.cart_pole,
    "double pendulum": kt.robots.double_pendulum,
    "tree": lambda: kt.robots.tree(9, seed=2),
    "quadruped, fixed": lambda: kt.robots.quadruped(base="fixed"),
    "quadruped, floating": kt.robots.quadruped,
    "panda": panda,
    "talos, floating": talos,
}


class Both:
    """A robot and the same as a DART skeleton, in the same state.

    DART gives links without inertia one of its own, so only bodies are handed over. Its free joint
    has the rotation vector first, then the position; its velocities are angular first and in the
    parent's axes, where ours are in the body's: v_DART = B v, with B orthogonal.
    """

    def __init__(self, robot: kt.Robot) -> None:
        self.robot = robot
        bare = [f for f in robot.model.frames if f.body < 0 or f.name in robot.bodies]
        frames = tuple(bare[: 1 + len(robot.bodies)])
        model = replace(robot.model, shapes=(), colliders=(), frames=frames)
        free = robot.nq != robot.nv
        loader, options = dart.utils.DartLoader(), dart.utils.DartLoaderOptions()
        kinds = dart.utils.DartLoaderRootJointType
        options.mDefaultRootJointType = kinds.FLOATING if free else kinds.FIXED
        loader.setOptions(options)
        self.skeleton = loader.parseSkeletonString(write_urdf(model), "")
        self.skeleton.setGravity(list(model.gravity))
        dofs = [self.skeleton.getDof(i).getName() for i in range(self.skeleton.getNumDofs())]
        rng = np.random.default_rng(6)
        self.q, (self.v, self.a, self.tau) = robot.random(rng), rng.standard_normal((3, robot.nv))
        self.a_turn = np.zeros(robot.nv)  # B^T B' v
        self.B = np.zeros((robot.nv, robot.nv))
        ours = {name: k for k, name in enumerate(robot.joints)}
        positions = []
        if free:
            self.a_turn[:3] = np.cross(self.v[3:6], self.v[:3])
            self.B[:3, 3:6] = self.B[3:6, :3] = robot.poses(self.q)[0, :3, :3]
            axis = self.q[3:6] / np.linalg.norm(self.q[3:6])
            angle = 2.0 * np.arctan2(np.linalg.norm(self.q[3:6]), self.q[6])
            positions += [*(axis * angle), *self.q[:3]]
        for row in range(len(positions), robot.nv):
            k = ours[dofs[row]] + (5 if free else 0)
            self.B[row, k] = 1.0
            positions.append(self.q[k + robot.nq - robot.nv])
        self.skeleton.setPositions(positions)
        self.skeleton.setVelocities(self.B @ self.v)
        self.skeleton.setForces(self.B @ self.tau)
        self.accelerate()
        self.name = robot.bodies[-1]
        self.node = self.skeleton.getBodyNode(self.name)

    def accelerate(self) -> None:
        self.skeleton.setAccelerations(self.B @ (self.a + self.a_turn))

    def columns(self, rows: np.ndarray) -> np.ndarray:
        """A Jacobian in DART's velocities, without the columns that do not move the node."""
        moving = (self.robot.jacobian(self.q, self.name) @ self.B.T).any(axis=0)
        return (rows @ self.B.T)[:, moving]


def angular_first(rows: np.ndarray) -> np.ndarray:
    return rows[[3, 4, 5, 0, 1, 2]]


@pytest.fixture(params=ROBOTS, scope="module")
def both(request) -> Both:
    return Both(ROBOTS[request.param]())


# DART's call -> (its value, ours in its order)
CALLS = {
    "skeleton.getMassMatrix()": (
        lambda b: b.skeleton.getMassMatrix(),
        lambda b: b.B @ b.robot.mass_matrix(b.q) @ b.B.T,
    ),
    "skeleton.getCoriolisForces()": (
        lambda b: b.skeleton.getCoriolisForces(),
        lambda b: b.B @ (b.robot.coriolis_forces(b.q, b.v) - turning(b)),
    ),
    "skeleton.getGravityForces()": (
        lambda b: b.skeleton.getGravityForces(),
        lambda b: b.B @ b.robot.gravity_forces(b.q),
    ),
    "skeleton.computeForwardDynamics()": (
        lambda b: forward(b.skeleton),
        lambda b: b.B @ (b.robot.forward_dynamics(b.q, b.v, b.tau) + b.a_turn),
    ),
    "skeleton.computeInverseDynamics()": (
        lambda b: inverse(b),
        lambda b: b.B @ b.robot.inverse_dynamics(b.q, b.v, b.a),
    ),
    "bodyNode.getJacobian()": (
        lambda b: b.node.getJacobian(b.node),
        lambda b: b.columns(angular_first(b.robot.jacobian(b.q, b.name, axes="body"))),
    ),
    "bodyNode.getLinearJacobian()": (
        lambda b: b.node.getLinearJacobian(),
        lambda b: b.columns(b.robot.jacobian(b.q, b.name)[:3]),
    ),
    "bodyNode.getAngularJacobian()": (
        lambda b: b.node.getAngularJacobian(),
        lambda b: b.columns(b.robot.jacobian(b.q, b.name)[3:]),
    ),
    "skeleton.getInvMassMatrix()": (
        lambda b: b.skeleton.getInvMassMatrix(),
        lambda b: b.B @ b.robot.mass_matrix_inverse(b.q) @ b.B.T,
    ),
    "skeleton.getCoriolisAndGravityForces()": (
        lambda b: b.skeleton.getCoriolisAndGravityForces(),
        lambda b: b.B @ (b.robot.bias_forces(b.q, b.v) - turning(b)),
    ),
    "skeleton.getCOM()": (
        lambda b: b.skeleton.getCOM() * b.skeleton.getMass(),
        lambda b: b.robot.center_of_mass(b.q) * b.robot.total_mass + standing(b),
    ),
    "skeleton.computeKineticEnergy()": (
        lambda b: [b.skeleton.computeKineticEnergy()],
        lambda b: [b.robot.kinetic_energy(b.q, b.v)],
    ),
    "bodyNode.getSpatialVelocity()": (
        lambda b: b.node.getSpatialVelocity(),
        lambda b: angular_first(b.robot.velocity(b.q, b.v, b.name, axes="body")),
    ),
    "bodyNode.getLinearVelocity()": (
        lambda b: b.node.getLinearVelocity(),
        lambda b: b.robot.velocity(b.q, b.v, b.name)[:3],
    ),
    "bodyNode.getLinearAcceleration()": (
        lambda b: accelerated(b).getLinearAcceleration(),
        lambda b: b.robot.acceleration(b.q, b.v, b.a, b.name)[:3],
    ),
}


def turning(b):
    """What the change of axes takes of the inertia."""
    return b.robot.mass_matrix(b.q) @ b.a_turn


def forward(skeleton):
    skeleton.computeForwardDynamics()
    return skeleton.getAccelerations()


def inverse(b):
    b.accelerate()
    b.skeleton.computeInverseDynamics()
    found = b.skeleton.getForces()
    b.skeleton.setForces(b.B @ b.tau)
    return found


def accelerated(b):
    b.accelerate()
    return b.node


def standing(b):
    """The moment of what stands still, which DART counts and we do not."""
    return np.array(list(b.robot.model.base_inertia.moment), dtype=float)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_and_its_counterpart_agree(both, call):
    theirs, ours = CALLS[call]
    assert relative_error(ours(both), theirs(both)) < AGREEMENT


def test_the_page_lists_what_is_tested_here():
    section = PAGE.read_text().split("## Names of calls")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(.+?)` \|", section, re.MULTILINE)
    assert sorted(listed) == sorted(CALLS)
