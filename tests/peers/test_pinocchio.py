"""Agreement with Pinocchio on every URDF of example-robot-data, fixed and floating."""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.errors import ModelError, SingularModelError
from tests.peers import pinocchio_oracle as oracle
from tests.tolerances import PEER, relative_error

STATES = 100

# files that Pinocchio refuses too: what is wrong with them
DEFECTIVE = {
    "falcon_description/urdf/falcon.urdf": r"top_propeller_joint.*no link 'Z_propeller'",
    "ur_description/urdf/ur3.urdf": r"has no link",
}

# robots without a moving joint, when the base is fixed
RIGID = {
    "bluevolta_description/urdf/bluevolta.urdf",
    "hector_description/robots/quadrotor_base.urdf",
    "iris_description/robots/iris_simple.urdf",
}

# robots whose mass matrix is singular, and the joint that moves no inertia
SINGULAR = {
    "bluevolta_description/urdf/bluevolta_bravo7_gripper.urdf": "bravo_finger1_joint",
    "bravo7_description/urdf/bravo7_gripper.urdf": "bravo_finger1_joint",
    "falcon_description/urdf/falcon_bravo7_gripper.urdf": "bravo_finger1_joint",
    "romeo_description/urdf/romeo.urdf": "LFinger21",
    "romeo_description/urdf/romeo_laas_small.urdf": "l_gripper_joint",
}

# robots with links of next to no rotational inertia (condition of M from 5e9 on): there the two
# are compared with the acceleration that was put in; which is the nearer changes from state to
# state, so ours must not be several times as far
ILL_CONDITIONED = {
    "human_description/robots/human.urdf",
    "icub_description/robots/icub.urdf",
    "icub_description/robots/icub_reduced.urdf",
}

CASES = [
    (file, base)
    for file in oracle.urdf_files()
    for base in ("fixed", "floating")
    if file not in DEFECTIVE and not (base == "fixed" and file in RIGID)
]


def load(file: str, base: str, mimic: bool = False) -> kt.Robot:
    """As Pinocchio takes it: without friction, and by default every joint on its own."""
    return kt.load(oracle.ROBOTS / file, base=base, mimic=mimic).without("damping", "friction")


def test_the_package_holds_the_files_these_lists_speak_of():
    files = oracle.urdf_files()
    assert len(files) >= 75
    assert set(files) >= {*DEFECTIVE, *RIGID, *SINGULAR, *ILL_CONDITIONED}


@pytest.mark.parametrize("file", DEFECTIVE)
def test_a_defective_file_is_refused_for_its_true_defect(file):
    with pytest.raises(ModelError, match=DEFECTIVE[file]):
        load(file, "fixed")
    with pytest.raises(ValueError, match="does not contain a valid URDF"):
        oracle.load(file)


@pytest.mark.parametrize("file", sorted(RIGID))
def test_a_robot_without_joints_loads_and_says_that_nothing_moves(file):
    robot = load(file, "fixed")
    assert robot.nv == oracle.load(file).nv == 0
    with pytest.raises(kt.errors.ShapeError, match="no moving joint"):
        robot.mass_matrix(np.zeros(0))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "base"), CASES)
def test_poses_forces_masses_and_accelerations_agree(file, base):
    robot, peer = load(file, base), oracle.load(file, base)
    data = peer.createData()
    assert robot.joints == tuple(peer.names)[1:]
    rng = np.random.default_rng(7)
    q = robot.random(rng, STATES)
    v, a = rng.standard_normal((2, STATES, robot.nv))
    peer_q = [oracle.coordinates(peer, x) for x in q]

    poses, tau, M = robot.poses(q), robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    for i in range(STATES):
        pin.forwardKinematics(peer, data, peer_q[i])
        expected = np.array([data.oMi[k].homogeneous for k in range(1, peer.njoints)])
        assert relative_error(poses[i], expected) < PEER
        assert relative_error(tau[i], pin.rnea(peer, data, peer_q[i], v[i], a[i])) < PEER
        upper = np.triu(pin.crba(peer, data, peer_q[i]))
        assert relative_error(M[i], upper + np.triu(upper, 1).T) < PEER

    if file in SINGULAR:
        with pytest.raises(SingularModelError, match=f"{SINGULAR[file]!r}.* without moving"):
            robot.forward_dynamics(q, v, tau)
        return
    ours = robot.forward_dynamics(q, v, tau)
    theirs = np.array([pin.aba(peer, data, *s).copy() for s in zip(peer_q, v, tau, strict=True)])
    if file in ILL_CONDITIONED:
        assert relative_error(ours, a) < max(PEER, 4 * relative_error(theirs, a))
    else:
        assert relative_error(ours, theirs) < PEER


@pytest.mark.parametrize("file", ["talos_data/robots/talos_reduced.urdf"])
def test_integrate_and_difference_agree_on_a_floating_base(file):
    robot, peer = load(file, "floating"), oracle.load(file, "floating")
    rng = np.random.default_rng(3)
    q0, q1 = robot.random(rng, STATES), robot.random(rng, STATES)
    for scale in (1e-9, 1e-3, 0.3, 1.0, 2.0):
        dv = scale * rng.standard_normal((STATES, robot.nv))
        moved = robot.integrate(q0, dv)
        for i in range(STATES):
            expected = pin.integrate(peer, q0[i], dv[i])
            # a quaternion and its opposite are one rotation
            sign = np.sign(expected[3:7] @ moved[i, 3:7])
            expected[3:7] *= sign
            assert relative_error(moved[i], expected) < PEER
    between = robot.difference(q0, q1)
    for i in range(STATES):
        assert relative_error(between[i], pin.difference(peer, q0[i], q1[i])) < PEER


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_external_wrenches_agree(base):
    file = "talos_data/robots/talos_reduced.urdf"
    robot, peer = load(file, base), oracle.load(file, base)
    data = peer.createData()
    rng = np.random.default_rng(5)
    frames = ("gripper_left_base_link", "right_sole_link", "head_2_link")
    q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
    wrenches = {name: rng.standard_normal(6) for name in frames}
    acting = [pin.Force.Zero() for _ in range(peer.njoints)]
    for name, w in wrenches.items():
        frame = peer.frames[peer.getBodyId(name)]
        acting[frame.parentJoint] += frame.placement.act(pin.Force(w))
    tau = pin.rnea(peer, data, q, v, a, acting)
    assert relative_error(robot.inverse_dynamics(q, v, a, external=wrenches), tau) < PEER
    qdd = pin.aba(peer, data, q, v, tau, acting)
    assert relative_error(robot.forward_dynamics(q, v, tau, external=wrenches), qdd) < PEER


@pytest.mark.slow
def test_frame_poses_agree():
    file = "tiago_description/robots/tiago.urdf"
    robot, peer = load(file, "fixed"), oracle.load(file)
    data = peer.createData()
    q = robot.random(2)
    pin.framesForwardKinematics(peer, data, oracle.coordinates(peer, q))
    for name in robot.frames:
        expected = data.oMf[peer.getBodyId(name)].homogeneous
        assert relative_error(robot.pose(q, name), expected) < PEER


# a joint that mimics one the file does not have: the left hand's names lack their prefix
MIMICS_NOBODY = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "'Left_index_q2' mimics 'index_q1'"
}

# Pinocchio wants the joint that is mimicked to come first in the tree
PINOCCHIO_REFUSES = {
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_full_v2_box.urdf",
}

MIMICKING = [
    file
    for file in oracle.urdf_files()
    if file not in DEFECTIVE and "<mimic" in (oracle.ROBOTS / file).read_text()
]


@pytest.mark.parametrize("file", MIMICS_NOBODY)
def test_a_joint_that_mimics_nobody_is_named(file):
    with pytest.raises(ModelError, match=MIMICS_NOBODY[file]):
        load(file, "fixed", mimic=True)


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted({*MIMICKING} - {*MIMICS_NOBODY} - PINOCCHIO_REFUSES))
def test_mimicking_joints_agree(file):
    robot, peer = load(file, "fixed", mimic=True), oracle.load(file, mimic=True)
    data = peer.createData()
    assert robot.nv == peer.nv <= load(file, "fixed").nv
    rng = np.random.default_rng(11)
    q = robot.random(rng, 20)
    v, a = rng.standard_normal((2, 20, robot.nv))
    tau, M, poses = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q), robot.poses(q)
    for i in range(20):
        peer_q = oracle.coordinates(peer, q[i])
        pin.forwardKinematics(peer, data, peer_q)
        expected = np.array([data.oMi[k].homogeneous for k in range(1, peer.njoints)])
        assert relative_error(poses[i], expected) < PEER
        assert relative_error(tau[i], pin.rnea(peer, data, peer_q, v[i], a[i])) < PEER
        upper = np.triu(pin.crba(peer, data, peer_q))
        assert relative_error(M[i], upper + np.triu(upper, 1).T) < PEER


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(PINOCCHIO_REFUSES))
def test_mimicking_joints_that_come_before_what_they_mimic_are_projections(file):
    with pytest.raises(ValueError, match="not in the kinematic tree"):
        oracle.load(file, mimic=True)
    robot, free = load(file, "fixed", mimic=True), load(file, "fixed")
    assert robot.nv < free.nv
    # q_free = G q + offset, from the bodies of one in the order of the other
    G, offset = np.zeros((free.nv, robot.nv)), np.zeros(free.nv)
    for k, body in enumerate(robot.model.bodies):
        joint = body.joint
        at = robot.model.v_slices[k].start
        G[k, at] = getattr(joint, "multiplier", 1.0)
        offset[k] = getattr(joint, "offset", 0.0)
    rng = np.random.default_rng(2)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
    tau = free.inverse_dynamics(G @ q + offset, G @ v, G @ a)
    assert relative_error(robot.inverse_dynamics(q, v, a), G.T @ tau) < PEER
    M = free.mass_matrix(G @ q + offset)
    assert relative_error(robot.mass_matrix(q), G.T @ M @ G) < PEER
