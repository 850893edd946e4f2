"""Whole-body control beside a general solver of the problem with all its unknowns."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import CenterOfMassTask, FrameTask, PostureTask, Stance, WholeBody

FEET = ("front_left_foot", "front_right_foot", "hind_left_foot", "hind_right_foot")
G = 9.81


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def robot():
    return kt.robots.quadruped().without("contacts")


def bent(robot):
    q = robot.neutral()
    q[7:] = np.tile([0.0, 0.6, -1.2], 4)
    q[2] = -robot.pose(q, FEET[0])[2, 3]
    return q


@pytest.fixture(scope="module")
def body(robot):
    tasks = [
        CenterOfMassTask(weight=10.0),
        FrameTask(frame=robot.frames[0], weight=2.0),
        PostureTask(weight=0.1),
    ]
    return WholeBody(robot, tasks, [Stance(foot, friction=0.4) for foot in FEET])


def states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.integrate(bent(robot), 0.1 * rng.standard_normal((count, robot.nv)))
    v = 0.2 * rng.standard_normal((count, robot.nv))
    center = robot.center_of_mass(q) + 0.05 * rng.standard_normal((count, 3))
    return q, v, center


def full_program(robot, body, q, v, center):
    """H, g, A, b, C, d over (a, forces / weight, tau / limits), by the robot's own methods."""
    nv, m = robot.nv, sum(float(b.inertia.mass) for b in robot.model.bodies)
    weight, limits = m * G, robot.limits.effort[6:]
    n = nv + 12 + len(limits)
    J = np.concatenate([robot.jacobian(q, foot, axes="origin")[:3] for foot in FEET])
    rates = np.concatenate([robot.jacobian_rate(q, v, foot, axes="origin")[:3] for foot in FEET])
    S = np.concatenate([np.zeros((6, len(limits))), np.diag(limits)])
    A = np.zeros((nv + 12, n))
    A[:nv, :nv], A[:nv, nv : nv + 12], A[:nv, nv + 12 :] = robot.mass_matrix(q), -weight * J.T, -S
    A[nv:, :nv] = J
    b = np.concatenate([-robot.bias_forces(q, v), -rates @ v - 20.0 * J @ v])
    C = np.zeros((16, n))
    facets = body._settings.stances[0].facets(0.1)
    for k in range(4):
        C[4 * k : 4 * k + 4, nv + 3 * k : nv + 3 * k + 3] = facets
    C = np.concatenate([C, np.eye(n)[nv + 12 :], -np.eye(n)[nv + 12 :]])
    d = np.concatenate([np.zeros(16), np.ones(2 * len(limits))])
    H, g = np.diag([0.0] * nv + [1e-2] * (n - nv)), np.zeros(n)
    base, pose = robot.frames[0], robot.pose(q, robot.frames[0])
    Jb = robot.jacobian(q, base, axes="origin")
    Jb_rate = robot.jacobian_rate(q, v, base, axes="origin")
    target = body.inputs[f"{base}_target"]
    turn = pose[:3, :3] @ kt.pose_log(_turned(pose[:3, :3].T))[3:]
    error = np.concatenate([target[:3] - pose[:3, 3], turn])
    rows = [
        (2.0, Jb, 100.0 * error - 20.0 * Jb @ v - Jb_rate @ v),
        (0.1, np.eye(nv)[6:], (100.0 * robot.difference(q, robot.neutral()) - 20.0 * v)[6:]),
    ]
    for w, R, value in rows:
        H[:nv, :nv] += w * R.T @ R
        g[:nv] -= w * R.T @ value
    R = np.zeros((3, n))
    R[:, nv : nv + 12] = np.tile(G * np.eye(3), 4)
    wanted = 100.0 * (center - robot.center_of_mass(q)) - 20.0 * robot.centroidal.jacobian(q) @ v
    H += 10.0 * R.T @ R
    g -= 10.0 * R.T @ (wanted + G * np.eye(3)[2])
    return H, g, A, b, C, d


def _turned(R):
    X = np.eye(4)
    X[:3, :3] = R
    return X


def as_unknowns(robot, found, k):
    """Our solution as unknowns of the full program."""
    weight = G * sum(float(b.inertia.mass) for b in robot.model.bodies)
    tau = found.tau[k, 6:] / robot.limits.effort[6:]
    return np.concatenate([found.a[k], found.wrenches[k, :, :3].ravel() / weight, tau])


def test_solutions_meet_the_conditions_of_optimality_of_the_full_problem(robot, body):
    from scipy.optimize import lsq_linear

    q, v, center = states(robot, 20)
    found = body.solve(q, v, center_of_mass_target=center)
    assert (found.violated == -1).all()
    active = 0
    for k in range(len(q)):
        H, g, A, b, C, d = full_program(robot, body, q[k], v[k], center[k])
        x = as_unknowns(robot, found, k)
        assert np.abs(A @ x - b).max() < 1e-8
        assert (C @ x - d).max() < 1e-8
        tight = C[d - C @ x < 1e-7]
        rows = np.concatenate([A, tight])
        scale = np.linalg.norm(rows, axis=-1, keepdims=True)
        least = np.concatenate([np.full(len(A), -np.inf), np.zeros(len(tight))])
        slope = H @ x + g
        forces = lsq_linear((rows / scale).T, -slope, (least, np.inf), tol=1e-14, method="bvls")
        assert np.linalg.norm(forces.fun) < 1e-6 * np.linalg.norm(g)
        active += len(tight)
    assert active > 20  # cones were needed


def test_no_general_solver_finds_a_better_solution_of_the_full_problem(robot, body):
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    q, v, center = states(robot, 20)
    found = body.solve(q, v, center_of_mass_target=center)
    for k in range(len(q)):
        H, g, A, b, C, d = full_program(robot, body, q[k], v[k], center[k])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        cones = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(len(d))]
        rows, sides = sparse.csc_matrix(np.vstack([A, C])), np.concatenate([b, d])
        P = sparse.csc_matrix(np.triu(H))
        x = np.array(clarabel.DefaultSolver(P, g, rows, sides, cones, settings).solve().x)
        ours = as_unknowns(robot, found, k)
        cost = [0.5 * y @ H @ y + g @ y for y in (ours, x)]
        assert cost[0] <= cost[1] + 1e-10 * abs(cost[1])
        assert np.abs(ours - x).max() < 1e-4 * np.abs(x).max()


def test_forces_accelerations_and_joint_forces_obey_the_dynamics(robot, body):
    q, v, center = states(robot, 12, seed=1)
    found = body.solve(q, v, center_of_mass_target=center)
    loads = np.zeros((12, robot.nv))
    for k, foot in enumerate(FEET):
        J = robot.jacobian(q, foot, axes="origin")
        loads += np.einsum("bij,bi->bj", J, found.wrenches[:, k])
        slip = np.einsum("bij,bj->bi", J[:, :3], found.a)
        drift = np.einsum("bij,bj->bi", robot.jacobian_rate(q, v, foot, axes="origin")[:, :3], v)
        damped = -20.0 * np.einsum("bij,bj->bi", J[:, :3], v)
        assert np.abs(slip + drift - damped).max() < 1e-7
        f = found.wrenches[:, k, :3]
        assert (np.abs(f[:, :2]).max(axis=-1) <= 0.4 * f[:, 2] + 1e-6).all()
    total = robot.inverse_dynamics(q, v, found.a)
    assert np.abs(total - loads - found.tau).max() < 1e-8
    assert (found.tau[:, :6] == 0.0).all()
    assert (np.abs(found.tau) <= robot.limits.effort * (1.0 + 1e-6)).all()


def test_a_foot_that_does_not_stand_has_no_force(robot, body):
    q = bent(robot)
    standing = 1.0 - np.eye(4)  # each foot in turn is lifted
    found = body.solve(q, np.zeros(robot.nv), standing=standing)
    assert (found.violated == -1).all()
    for k, foot in enumerate(FEET):
        assert np.abs(found.wrenches[k, k]).max() < 1e-9
        J = robot.jacobian(q, foot, axes="origin")[:3]
        slip = np.abs(found.a @ J.T).max(axis=-1)
        assert slip[standing[:, k] == 1.0].max() < 1e-8


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


def test_a_lower_priority_does_not_disturb_a_higher_one(arm):
    q, v = np.full(7, 0.4), np.zeros(7)
    tool = FrameTask(frame="tool", orientation=False, weight=1e-2)
    wish = {"tool_acceleration": [1.0, 0.5, -0.3], "tool_target": _seven(arm, q)}
    J = arm.jacobian(q, "tool", axes="origin")[:3]
    away = []
    for priority in (1, 2):
        body = WholeBody(arm, [tool, PostureTask(priority=priority)], effort_weight=1e-6)
        found = body.solve(q, v, **wish)
        assert found.violated == -1
        away.append(np.abs(J @ found.a - wish["tool_acceleration"]).max())
    assert away[0] > 0.1
    assert away[1] < 1e-3


def _seven(robot, q):
    return kt.control.pose.seven_numbers(robot, "tool", robot.pose(q, "tool"))


def test_effort_limits_are_kept_and_limits_that_contradict_the_rest_are_named(arm):
    q, v = np.full(7, 0.4), np.zeros(7)
    body = WholeBody(arm, [PostureTask(kp=1e5)], effort_weight=1e-6)
    found = body.solve(q, v)
    assert found.violated == -1
    assert (np.abs(found.tau) <= arm.limits.effort * (1.0 + 1e-6)).all()
    assert (np.abs(found.tau) >= arm.limits.effort * (1.0 - 1e-6)).any()
    held = WholeBody(
        arm, [PostureTask()], [Stance("tool", friction=0.01), Stance("link4", friction=0.01)]
    )
    stuck = held.solve(q, np.full(7, 50.0))  # cones cannot stop both at once
    assert stuck.residual > 1e-6
    named = held.demands[int(stuck.violated)]
    assert named != "conditions of optimality"
    if named.startswith("effort limit"):  # what is named is broken indeed
        joint = int(named.split("'joint")[1].rstrip("'")) - 1
        assert abs(stuck.tau[joint]) > arm.limits.effort[joint]
    else:
        R = arm.pose(q, named.split("'")[1])[:3, :3]
        force = R.T @ stuck.wrenches[held.demands.index(named) // 4, :3]
        assert np.abs(force[:2]).max() > 0.01 * force[2]


def test_what_is_not_a_number_is_no_solution(arm):
    body = WholeBody(arm, [PostureTask()])
    target = np.zeros((2, 7))
    target[1, 3] = np.nan
    found = body.solve(np.full(7, 0.4), np.zeros(7), posture_target=target)
    assert found.violated[0] == -1
    assert body.demands[int(found.violated[1])] == "conditions of optimality"


def test_tasks_and_stances_that_make_no_sense_are_refused(robot):
    with pytest.raises(kt.errors.KinetreeError, match="tasks is empty"):
        WholeBody(robot, [])
    with pytest.raises(kt.errors.KinetreeError, match="two for 'posture'"):
        WholeBody(robot, [PostureTask(), PostureTask()])
    with pytest.raises(kt.errors.KinetreeError, match="lie on a line"):
        WholeBody(robot, [PostureTask()], [Stance(FEET[0], [(0, 0, 0), (1, 0, 0), (2, 0, 0)])])
    with pytest.raises(kt.errors.KinetreeError, match="has no input 'goal'"):
        WholeBody(robot, [PostureTask()]).solve(bent(robot), np.zeros(robot.nv), goal=1.0)
