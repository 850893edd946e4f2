"""Liu & Jain, eq. 48 to 85, as the tutorial's text has them: in NumPy, on the tree of its Figure 1.

The tree of Figure 1 has links 1 to 4 with p(2) = 1, p(3) = p(4) = 2 and n = (2, 3, 1, 1).
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import ExponentialBall, Revolute, euler, universal
from tests.tolerances import EXACT, relative_error

FEW = 100 * EXACT
PARENT = (-1, 0, 1, 1)
N = (2, 3, 1, 1)
OFFSET = np.array([[0.1, 0.0, 0.2], [0.3, -0.1, 0.2], [0.0, 0.4, 0.1], [0.2, -0.3, 0.0]])
CENTER = np.array([[0.0, 0.1, 0.2], [0.2, 0.0, 0.1], [0.1, 0.1, 0.0], [0.0, 0.2, -0.1]])
MASS = (2.0, 1.5, 1.0, 0.5)
TURNING = np.array(
    [[0.03, 0.02, 0.04], [0.02, 0.03, 0.01], [0.01, 0.02, 0.015], [0.01, 0.008, 0.01]]
)
GRAVITY = np.array([0.0, 0.0, -9.81])
SLICES = (slice(0, 2), slice(2, 5), slice(5, 6), slice(6, 7))
STEP = 1e-30


def skew(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def about(axis, angle):
    u = skew(np.eye(3)["xyz".index(axis)])
    return np.eye(3) + np.sin(angle) * u + (1 - np.cos(angle)) * u @ u


def exponential(r):
    """Eq. 53."""
    theta = np.sqrt(r @ r)
    return (
        np.eye(3)
        + np.sin(theta) / theta * skew(r)
        + (1 - np.cos(theta)) / theta**2 * (skew(r) @ skew(r))
    )


def rotations(q, chart):
    """R_k: rotation of link k in its parent, from q_k alone."""
    ball = q[2:5]
    second = (
        exponential(ball)
        if chart == "exponential"
        else (
            about("x", ball[0]) @ about("y", ball[1]) @ about("z", ball[2])  # before (52)
        )
    )
    return [about("x", q[0]) @ about("y", q[1]), second, about("y", q[5]), about("z", q[6])]


def global_rotations(q, chart):
    """R_k^0 = R_p(k)^0 R_k."""
    found = []
    for k, R in enumerate(rotations(q, chart)):
        found.append(R if PARENT[k] < 0 else found[PARENT[k]] @ R)
    return found


def origins(q, chart):
    found, R = [], global_rotations(q, chart)
    for k, p in enumerate(PARENT):
        found.append(OFFSET[k] if p < 0 else found[p] + R[p] @ OFFSET[k])
    return found


def point_of(q, chart, k, c):
    return origins(q, chart)[k] + global_rotations(q, chart)[k] @ c


def slopes(function, q):
    columns = [np.imag(function(q + 1j * STEP * unit)) / STEP for unit in np.eye(7)]
    return np.stack(columns, axis=-1)


def local_jacobians(q, chart):
    """J^_omega k, with [omega^] = R' R^T: eq. 52 and 54 are what these are."""
    found = []
    for k in range(4):
        dR = slopes(lambda y, k=k: rotations(y, chart)[k], q)
        R = rotations(q, chart)[k]
        columns = [dR[:, :, j] @ R.T for j in range(7)]
        found.append(np.array([[W[2, 1], W[0, 2], W[1, 0]] for W in columns]).T[:, SLICES[k]])
    return found


def ancestors(k):
    while k >= 0:
        yield k
        k = PARENT[k]


def angular_jacobians(q, chart):
    """Eq. 51: R_p(l)^0 J^_l for every l in p(1, k)."""
    R0, hats = global_rotations(q, chart), local_jacobians(q, chart)
    found = []
    for k in range(4):
        J = np.zeros((3, 7))
        for l in ancestors(k):
            J[:, SLICES[l]] = (R0[PARENT[l]] if PARENT[l] >= 0 else np.eye(3)) @ hats[l]
        found.append(J)
    return found


def linear_jacobians(q, chart, points=CENTER):
    """Eq. 57: of points fixed in the links."""
    return [slopes(lambda y, k=k: point_of(y, chart, k, points[k]), q) for k in range(4)]


def D_and_R(q, chart):
    """Eq. 64 and the block-diagonal R of eq. 63."""
    O, I = np.zeros((3, 3)), np.eye(3)
    D = np.block([[I, O, O, O], [-I, I, O, O], [O, -I, I, O], [O, -I, O, I]])
    R0 = global_rotations(q, chart)
    R = np.zeros((12, 12))
    for k, block in enumerate((I, R0[0], R0[1], R0[1])):
        R[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    return D, R


def block_diagonal(blocks):
    total = np.zeros((12, 7))
    for k, block in enumerate(blocks):
        total[3 * k : 3 * k + 3, SLICES[k]] = block
    return total


def robot_of(chart):
    ball = ExponentialBall() if chart == "exponential" else euler("xyz")
    figure = kt.Assembly("figure 1", "base")
    joints = (universal("x", "y"), ball, Revolute("y"), Revolute("z"))
    for k, joint in enumerate(joints):
        parent = "base" if PARENT[k] < 0 else f"link{PARENT[k] + 1}"
        figure.add(
            f"link{k + 1}", parent, joint, OFFSET[k], TURNING[k], mass=MASS[k], com=CENTER[k]
        )
    return figure.robot()


class Case:
    def __init__(self, chart):
        rng = np.random.default_rng(4)
        self.chart, self.robot = chart, robot_of(chart)
        self.q, self.v, self.a, self.tau = rng.uniform(-1.0, 1.0, (4, 7))
        self.rng = rng
        self.Jv = np.vstack(linear_jacobians(self.q, chart))
        self.Jw = np.vstack(angular_jacobians(self.q, chart))
        self.hats = local_jacobians(self.q, chart)
        self.J = np.vstack([self.Jv, self.Jw])
        self.D, self.R = D_and_R(self.q, chart)
        self.hat = block_diagonal(self.hats)


@pytest.fixture(scope="module", params=["euler", "exponential"])
def case(request):
    return Case(request.param)


def rows(a):
    return np.reshape(a, (-1, 3))


def test_states_are_those_of_section_5(case):
    x, R, v, w = case.robot.cartesian.state(case.q, case.v)
    expected = [point_of(case.q, case.chart, k, CENTER[k]) for k in range(4)]
    assert relative_error(x, expected) < FEW
    assert relative_error(R, global_rotations(case.q, case.chart)) < FEW
    assert relative_error(v, rows(case.Jv @ case.v)) < FEW  # (57)
    assert relative_error(w, rows(case.Jw @ case.v)) < FEW  # (50)
    assert (
        relative_error(case.robot.cartesian.jacobians(case.q)[:, :3].reshape(12, 7), case.Jv) < FEW
    )
    assert (
        relative_error(case.robot.cartesian.jacobians(case.q)[:, 3:].reshape(12, 7), case.Jw) < FEW
    )


def test_the_stacked_jacobian_takes_velocities_to_links_and_its_pseudo_inverse_back(case):
    # (60), (61): J^+ = (J^T J)^-1 J^T, with V that no q' gives
    V = case.rng.standard_normal(24)
    expected = np.linalg.inv(case.J.T @ case.J) @ case.J.T @ V
    assert relative_error(expected, np.linalg.pinv(case.J) @ V) < FEW
    found = case.robot.cartesian.velocity(case.q, rows(V[:12]), rows(V[12:]))
    assert relative_error(found.value, expected) < FEW
    assert found.residual.max() > 0.1  # the motion is none of the robot's
    V = case.J @ case.v
    found = case.robot.cartesian.velocity(case.q, rows(V[:12]), rows(V[12:]))
    assert relative_error(found.value, case.v) < FEW
    assert found.residual.max() < FEW


def test_the_connectivity_matrix_is_that_of_figure_1(case):
    assert (case.robot.cartesian.connectivity() == case.D).all()  # (64)


def test_local_jacobians_are_relative_ones_and_block_diagonal(case):
    # (63), (65): J^ = R^T D J_omega
    assert relative_error(case.hat, case.R.T @ case.D @ case.Jw) < FEW
    assert (
        relative_error(case.robot.cartesian.local_jacobians(case.q)[:, 3:].reshape(12, 7), case.hat)
        < FEW
    )
    if case.chart == "euler":
        x, y, z = np.eye(3)
        q1, q2, _ = case.q[2:5]
        columns = (x, about("x", q1) @ y, about("x", q1) @ about("y", q2) @ z)
        assert relative_error(case.hats[1], np.array(columns).T) < FEW  # (52)
    else:
        r = case.q[2:5]
        t = np.linalg.norm(r)
        expected = (
            np.eye(3)
            + (1 - np.cos(t)) / t**2 * skew(r)
            + (t - np.sin(t)) / t**3 * skew(r) @ skew(r)
        )
        assert relative_error(case.hats[1], expected) < FEW  # (54)


def test_relative_velocities_give_the_velocity_joint_by_joint(case):
    # (62) to (66), from angular velocities alone
    w = case.Jw @ case.v
    hat = case.R.T @ case.D @ w
    expected = np.concatenate(
        [np.linalg.pinv(block) @ hat[3 * k : 3 * k + 3] for k, block in enumerate(case.hats)]
    )
    for method in ("relative", "stacked"):
        found = case.robot.cartesian.velocity(case.q, None, rows(w), method=method)
        assert relative_error(found.value, expected) < FEW
        assert relative_error(found.value, case.v) < FEW
    # and with angular velocities that no q' gives: each joint by itself
    w = case.rng.standard_normal(12)
    hat = case.R.T @ case.D @ w
    expected = np.concatenate(
        [np.linalg.pinv(block) @ hat[3 * k : 3 * k + 3] for k, block in enumerate(case.hats)]
    )
    found = case.robot.cartesian.velocity(case.q, None, rows(w), method="relative")
    assert relative_error(found.value, expected) < FEW
    stacked = case.robot.cartesian.velocity(case.q, None, rows(w)).value
    assert relative_error(stacked, np.linalg.pinv(case.Jw) @ w) < FEW


def test_forces_at_points_and_body_torques_give_generalised_forces(case):
    # (67), with tau = tau' + [r - x] f (before 68) giving (48) the same Q
    f, torque, points = case.rng.standard_normal((3, 4, 3))
    Jp = np.vstack(linear_jacobians(case.q, case.chart, points))
    Q = Jp.T @ f.ravel() + case.Jw.T @ torque.ravel()
    cartesian = case.robot.cartesian
    assert (
        relative_error(cartesian.generalized_forces(case.q, f, at=points, body_torque=torque), Q)
        < FEW
    )
    arms = np.array(
        [
            point_of(case.q, case.chart, k, points[k]) - point_of(case.q, case.chart, k, CENTER[k])
            for k in range(4)
        ]
    )
    moment = torque + np.cross(arms, f)
    assert relative_error(case.Jv.T @ f.ravel() + case.Jw.T @ moment.ravel(), Q) < FEW
    assert relative_error(cartesian.generalized_forces(case.q, f, moment=moment), Q) < FEW
    loads = {}
    for k in range(4):
        loads[kt.Point(f"link{k + 1}")] = np.concatenate([f[k], points[k]])
        loads[kt.BodyTorque(f"link{k + 1}")] = torque[k]
    assert relative_error(case.robot.generalized_forces(case.q, loads), Q) < FEW
    loads = {kt.CenterWrench(f"link{k + 1}"): np.concatenate([f[k], moment[k]]) for k in range(4)}
    assert relative_error(case.robot.generalized_forces(case.q, loads), Q) < FEW


def test_joint_torques_are_body_torques_and_generalised_forces(case):
    hat = case.rng.standard_normal((4, 3))
    body = rows((case.R.T @ case.D).T @ hat.ravel())  # (68)
    R0 = global_rotations(case.q, case.chart)
    assert relative_error(body[1], R0[0] @ hat[1] - R0[1] @ hat[2] - R0[1] @ hat[3]) < FEW
    cartesian = case.robot.cartesian
    f, torque = cartesian.body_wrenches(case.q, hat)
    assert relative_error(torque, body) < FEW
    assert np.abs(f).max() == 0.0
    assert relative_error(cartesian.joint_torques_of_body_torques(case.q, body), hat) < FEW
    pulls = case.rng.standard_normal((4, 3))
    Q = case.Jv.T @ pulls.ravel() + case.hat.T @ hat.ravel()  # (69)
    assert relative_error(Q, case.Jv.T @ pulls.ravel() + case.Jw.T @ body.ravel()) < FEW
    assert relative_error(cartesian.generalized_forces(case.q, pulls, joint_torque=hat), Q) < FEW
    loads = {kt.JointTorque(f"link{k + 1}_joint"): hat[k] for k in range(4)}
    found = case.robot.generalized_forces(case.q, loads)
    assert relative_error(found, case.hat.T @ hat.ravel()) < FEW


def test_the_least_forces_and_torques_are_the_pseudo_inverse(case):
    both = np.linalg.pinv(np.hstack([case.Jv.T, case.Jw.T])) @ case.tau  # (70)
    f, torque = case.robot.cartesian.link_forces(case.q, case.tau)
    assert relative_error(f, rows(both[:12])) < FEW
    assert relative_error(torque, rows(both[12:])) < FEW
    back = case.robot.cartesian.generalized_forces(case.q, f, moment=torque)
    assert relative_error(back, case.tau) < FEW
    # after (70): where the points of forces are known, eq. 69 is inverted
    points = case.rng.standard_normal((4, 3))
    Jp = np.vstack(linear_jacobians(case.q, case.chart, points))
    both = np.linalg.pinv(np.hstack([Jp.T, case.hat.T])) @ case.tau
    f, hat = case.robot.cartesian.link_forces_and_joint_torques(case.q, case.tau, at=points)
    assert relative_error(f, rows(both[:12])) < FEW
    assert relative_error(hat, rows(both[12:])) < FEW


def test_joint_by_joint_the_least_torques_are_small_pseudo_inverses(case):
    pairs = zip(case.hats, SLICES, strict=True)
    expected = [np.linalg.pinv(block.T) @ case.tau[at] for block, at in pairs]
    f, hat = case.robot.cartesian.joint_torques(case.q, case.tau)
    assert relative_error(hat, expected) < FEW  # (71)
    assert np.abs(f).max() == 0.0


def test_the_intermediates_are_those_of_section_7(case):
    R = rotations(case.q, case.chart)
    hats = case.hats
    w_hat = [block @ case.v[at] for block, at in zip(hats, SLICES, strict=True)]
    moving = case.q + 1j * STEP * case.v
    columns = [hat.imag / STEP for hat in complex_hats(moving, case.chart)]
    dw_hat = [hats[k] @ case.a[SLICES[k]] + columns[k] @ case.v[SLICES[k]] for k in range(4)]
    v, w, dv, dw = ([None] * 4 for _ in range(4))
    for k, p in enumerate(PARENT):
        still = np.zeros(3)
        w_p, dw_p = (w[p], dw[p]) if p >= 0 else (still, still)
        v_p, dv_p = (v[p], dv[p]) if p >= 0 else (still, -GRAVITY)  # (85)
        arm = OFFSET[k] - CENTER[p] if p >= 0 else still
        w[k] = R[k].T @ (w_p + w_hat[k])  # (78)
        v[k] = R[k].T @ (v_p + np.cross(w_p, arm)) + np.cross(w[k], CENTER[k])  # (76)
        dw[k] = R[k].T @ (dw_p + dw_hat[k] + np.cross(w_p, w_hat[k]))  # (80)
        dv[k] = (
            R[k].T @ (dv_p + np.cross(dw_p, arm) + np.cross(w_p, np.cross(w_p, arm)))
            + np.cross(w[k], np.cross(w[k], CENTER[k]))
            + np.cross(dw[k], CENTER[k])
        )  # (79)
    f, t = ([np.zeros(3) for _ in range(4)] for _ in range(2))
    for k in reversed(range(4)):
        children = [i for i, p in enumerate(PARENT) if p == k]
        f[k] = MASS[k] * dv[k] + sum((R[i] @ f[i] for i in children), start=np.zeros(3))  # (72)
        I = np.diag(TURNING[k])
        t[k] = I @ dw[k] + np.cross(w[k], I @ w[k]) + np.cross(CENTER[k], f[k])  # (73)
        for i in children:
            t[k] = t[k] + R[i] @ t[i] + np.cross(OFFSET[i] - CENTER[k], R[i] @ f[i])
    found = case.robot.cartesian.intermediates(case.q, case.v, case.a)
    for ours, theirs in zip(found, (v, w, dv, dw, f, t), strict=True):
        assert relative_error(ours, theirs) < FEW
    tau = np.concatenate([hats[k].T @ R[k] @ t[k] for k in range(4)])
    assert relative_error(case.robot.inverse_dynamics(case.q, case.v, case.a), tau) < FEW


def complex_hats(q, chart):
    """J^ at complex coordinates: eq. 52 and 54."""
    found = [np.stack([np.eye(3)[0] + 0j, about("x", q[0]) @ np.eye(3)[1]], axis=1)]
    if chart == "euler":
        x, y, z = np.eye(3)
        first = about("x", q[2])
        found.append(np.stack([x + 0j, first @ y, first @ about("y", q[3]) @ z], axis=1))
    else:
        r = q[2:5]
        t = np.sqrt(r @ r)
        W = skew(r)
        found.append(np.eye(3) + (1 - np.cos(t)) / t**2 * W + (t - np.sin(t)) / t**3 * W @ W)
    return [*found, np.eye(3)[:, 1:2] + 0j, np.eye(3)[:, 2:] + 0j]


def test_coriolis_forces_come_from_the_kinetic_energy(case):
    # (17): C = M' q' - (dM/dq q')^T q' / 2, with M of (16) and (48)
    def mass(q):
        total = np.zeros((7, 7))
        R0, Jv, Jw = (
            f(q, case.chart) for f in (global_rotations, linear_jacobians, angular_jacobians)
        )
        for k in range(4):
            I = R0[k] @ np.diag(TURNING[k]) @ R0[k].T
            total += MASS[k] * Jv[k].T @ Jv[k] + Jw[k].T @ I @ Jw[k]
        return total

    h = 1e-5
    dM = np.stack([(mass(case.q + h * e) - mass(case.q - h * e)) / (2 * h) for e in np.eye(7)], -1)
    expected = (dM @ case.v) @ case.v - 0.5 * np.einsum("ijk,i,j->k", dM, case.v, case.v)
    found = case.robot.cartesian.coriolis_by_energy(case.q, case.v)
    assert relative_error(found, expected) < 1e-8
    assert relative_error(found, case.robot.coriolis_forces(case.q, case.v)) < FEW


def test_momenta_and_energies_of_links(case):
    _, R, v, w = case.robot.cartesian.state(case.q, case.v)
    P = case.robot.cartesian.momenta(case.q, case.v)
    T = case.robot.cartesian.kinetic_energies(case.q, case.v)
    for k in range(4):
        I = R[k] @ np.diag(TURNING[k]) @ R[k].T  # (21)
        assert relative_error(P[k], np.concatenate([MASS[k] * v[k], I @ w[k]])) < FEW
        assert T[k] == pytest.approx(0.5 * MASS[k] * v[k] @ v[k] + 0.5 * w[k] @ I @ w[k])  # (27)
    assert T.sum() == pytest.approx(case.robot.kinetic_energy(case.q, case.v))


def test_the_share_of_a_body_is_the_torque_that_it_alone_needs(case):
    # lecture 9: the torque at joint 1 due to body 2
    shares = case.robot.cartesian.torque_shares(case.q, case.v, case.a)
    tau = case.robot.inverse_dynamics(case.q, case.v, case.a)
    assert relative_error(shares.sum(axis=0), tau) < FEW
    alone = case.robot
    for k in (0, 2, 3):
        alone = alone.edit.replace_inertia(f"link{k + 1}", mass=0.0)
    assert relative_error(shares[1], alone.inverse_dynamics(case.q, case.v, case.a)) < FEW
    assert np.abs(shares[1, 5:]).max() == 0.0
