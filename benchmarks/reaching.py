"""Reaching without collision, timing of paths, whole-body control: checked, then timed.

    python -m benchmarks.reaching [reach] [path] [body] [--targets N] [--save FILE]
        [--proxsuite PYTHON]
    python -m benchmarks.reaching reach --gpu [--scene FILE]

Panda and G1 come from example-robot-data. `--save` pickles Panda's scene, for a machine that has no
robot files. `--proxsuite` names an interpreter with ProxQP, and perhaps Clarabel (`pip install
proxsuite clarabel scipy`): solutions are compared with theirs. With `--gpu`, targets are CuPy's
arrays. Times of the host are of one thread.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import lsq_linear

import kinetree as kt
from kinetree.geometry import Box, Capsule, Collider, ContactPair

HAND = "panda_hand"
TOLERANCE = 1e-6
CLEARANCE = 0.0


def row(name: str, value: object, each: float, unit: str, note: str = "") -> None:
    print(f"| {name} | {value} | {each:.4g} {unit} | {note} |", flush=True)


# Panda above a table with three boxes


def scene() -> kt.Robot:
    """Panda, each link a capsule around its mesh, above a table with three boxes."""
    from benchmarks.pinocchio_rows import ROBOTS

    file = ROBOTS / "panda_description/urdf/panda.urdf"
    fingers = dict.fromkeys(("panda_finger_joint1", "panda_finger_joint2"), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # meshes touch as capsules
        robot = kt.load(file, locked=fingers, self_collision=True)
    links = [f"panda_link{k}_mesh_capsule" for k in range(1, 8)] + [f"{HAND}_mesh_capsule"]
    pedestal = Collider("pedestal", "panda_link0", Capsule(0.1, 0.06), (-0.03, 0.0, 0.05))
    grasp = Collider("fingers", HAND, Capsule(0.02, 0.04), (0.0, 0.0, 0.085))
    obstacles = [
        Collider("table", None, Box((0.4, 0.6, 0.02)), (0.65, 0.0, -0.02)),
        Collider("tall_box", None, Box((0.08, 0.08, 0.15)), (0.5, 0.3, 0.15)),
        Collider("low_box", None, Box((0.1, 0.06, 0.1)), (0.55, -0.3, 0.1)),
        Collider("shelf", None, Box((0.05, 0.15, 0.05)), (0.7, 0.05, 0.3)),
    ]
    pairs = [
        (one, other)
        for i, one in enumerate(links)
        for j, other in enumerate(links)
        if j > i + 1 and (i, j) != (5, 7)  # link6 carries the hand through link7
    ]
    pairs += [(one, "fingers") for one in links[:5]]
    pairs += [("pedestal", one) for one in (*links[3:], "fingers")]
    pairs += [(wall.name, one) for wall in obstacles for one in (*links[1:], "fingers")]
    return robot.without("contacts").collide(
        pedestal, grasp, *obstacles, *(ContactPair(*pair) for pair in pairs)
    )


def reachable(robot: kt.Robot, count: int) -> np.ndarray:
    """Poses of the hand in random configurations without collision."""
    found: list[np.ndarray] = []
    rng = np.random.default_rng(7)  # the solver's table has another seed
    while sum(map(len, found)) < count:
        q = robot.random(rng, 1 << 16)
        found.append(q[robot.distances(q).min(axis=-1) > CLEARANCE])
    return robot.pose(np.concatenate(found)[:count], HAND)


def check_reached(robot: kt.Robot, found: Any, targets: np.ndarray, sample: int = 300) -> None:
    """Poses and limits by another way, distances by Coal."""
    q = found.q[found.success]
    away = robot.pose(q, HAND) - targets[found.success]
    assert np.abs(away[..., :3, 3]).max() <= 1.01 * TOLERANCE
    assert np.abs(away[..., :3, :3]).max() <= 2.0 * TOLERANCE
    assert (q >= robot.limits.lower).all()
    assert (q <= robot.limits.upper).all()
    assert robot.distances(q).min() >= CLEARANCE
    try:
        import coal
    except ImportError:
        return
    least = min(_coal_distance(coal, robot, one) for one in q[:sample])
    assert least >= CLEARANCE - 1e-9, f"Coal finds a distance of {least}"


def _coal_distance(coal: Any, robot: kt.Robot, q: np.ndarray) -> float:
    """The least distance of all pairs, as Coal computes it."""
    colliders = {c.name: c for c in robot.model.colliders}

    def posed(name: str) -> tuple[Any, Any]:
        c = colliders[name]
        X = np.eye(4)
        X[:3, :3] = [[float(x) for x in row] for row in c.at.rotation.rows]
        X[:3, 3] = [float(x) for x in c.at.translation]
        X = X if c.frame is None else robot.pose(q, c.frame) @ X
        shape = (
            coal.Box(*(2.0 * np.array(c.shape.half_edges)))
            if isinstance(c.shape, Box)
            else coal.Capsule(c.shape.radius, 2.0 * c.shape.half_length)
        )
        return shape, coal.Transform3s(X[:3, :3], X[:3, 3])

    least = np.inf
    for pair in robot.model.contacts:
        found = coal.DistanceResult()
        one, other = posed(pair.first), posed(pair.second)
        least = min(least, coal.distance(*one, *other, coal.DistanceRequest(), found))
    return float(least)


def bench_reach(robot: kt.Robot, count: int) -> None:
    targets = reachable(robot, count)
    solver = kt.control.InverseKinematics(robot, HAND, clearance=CLEARANCE)
    found = solver.solve(targets, tolerance=TOLERANCE)  # compiles
    check_reached(robot, found, targets)
    assert found.success.mean() >= 0.99
    walls, processors = [], []
    for _ in range(5):
        wall, processor = time.perf_counter(), time.process_time()
        found = solver.solve(targets, tolerance=TOLERANCE)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    solved = found.success.sum()
    print("\n| collision-free inverse kinematics | solved | time | |\n|-|-|-|-|")
    note = f"{solved / min(processors):,.0f} a second of processor time; {solver_note(found)}"
    rate = solved / min(walls)
    row("Panda, one thread", f"{rate:,.0f} a second", 1e6 * min(walls) / solved, "us", note)


def solver_note(found: Any) -> str:
    return (
        f"{float(found.success.mean()):.2%} of the targets, {float(found.tries.mean()):.2f} tries"
    )


def bench_reach_gpu(robot: kt.Robot, count: int) -> None:
    import cupy as cp

    host = reachable(robot, count)
    solver = kt.control.InverseKinematics(robot, HAND, clearance=CLEARANCE)
    targets = cp.asarray(host)
    found = solver.solve(targets, tolerance=TOLERANCE)
    on_host = found._replace(
        **{name: cp.asnumpy(getattr(found, name)) for name in ("q", "success")}
    )
    check_reached(robot, on_host, host)
    assert float(found.success.mean()) >= 0.99
    times = []
    for _ in range(5):
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        found = solver.solve(targets, tolerance=TOLERANCE)
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - began)
    rate = float(found.success.sum()) / min(times)
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print("\n| collision-free inverse kinematics | solved | time | |\n|-|-|-|-|")
    value = f"{rate / 1e6:.2f} million a second"
    row(f"Panda, {count:,} targets, {device}", value, 1e3 * min(times), "ms", solver_note(found))


# paths


def bench_path() -> None:
    """1,000 waypoints of Panda, limits of speed and force kept to 1e-6 everywhere."""
    from benchmarks.motion import panda

    robot = panda()
    u = np.linspace(0.0, 1.0, 1000)[:, None]
    home = np.array([0.0, -0.785, 0.0, -2.0, 0.0, 1.8, 0.785])
    turns, sizes = [1.0, 2.0, 1.5, 1.0, 2.0, 1.0, 3.0], [0.6, 0.3, 0.6, 0.3, 0.6, 0.4, 0.6]
    points = home + np.sin(2.0 * np.pi * u * turns) * sizes
    motion = robot.time_path(points)  # compiles
    print("\n| timing of a path | duration | time | |\n|-|-|-|-|")
    for name, settings in (("speeds and efforts", {}), ("efforts alone", {"velocity": np.inf})):
        motion = robot.time_path(points, **settings)
        at = motion.at(np.linspace(0.0, motion.duration, 20_001))
        effort = np.abs(robot.inverse_dynamics(*at) / robot.limits.effort).max(axis=-1)
        speed = np.abs(at.v / robot.limits.velocity).max(axis=-1)
        speed = speed if not settings else 0.0 * speed
        assert effort.max() <= 1.0 + 1e-6
        assert speed.max() <= 1.0 + 1e-6
        walls, processors = [], []
        for _ in range(20):
            wall, processor = time.perf_counter(), time.process_time()
            robot.time_path(points, **settings)
            walls.append(time.perf_counter() - wall)
            processors.append(time.process_time() - processor)
        tight = (np.maximum(effort, speed) > 0.99).mean()
        note = f"{1e3 * min(processors):.1f} ms of processor time; {tight:.1%} of it at a limit"
        row(
            f"Panda, 1,000 waypoints, {name}",
            f"{motion.duration:.3f} s",
            1e3 * min(walls),
            "ms",
            note,
        )


# whole-body control


def standing_g1(states: int) -> tuple[kt.Robot, Any, dict[str, np.ndarray]]:
    """G1 on two feet: its controller, and states with targets."""
    from benchmarks.pinocchio_rows import ROBOTS
    from kinetree.control import CenterOfMassTask, FrameTask, PostureTask, Stance, WholeBody
    from kinetree.control.pose import seven_numbers

    file = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
    drives = ("armature", "damping", "friction", "springs", "contacts")
    robot = kt.load(file, base="floating").without(*drives)
    sole = [(x, y, -0.03) for x in (-0.05, 0.12) for y in (-0.025, 0.025)]
    stances = [Stance(f"{side}_ankle_roll_link", sole) for side in ("left", "right")]
    tasks = [
        CenterOfMassTask(weight=10.0),
        FrameTask(frame="torso_link", weight=5.0),
        PostureTask(weight=0.1),
    ]
    rng, home = np.random.default_rng(0), robot.neutral()
    home[7:13] = home[13:19] = [-0.3, 0.0, 0.0, 0.6, -0.3, 0.0]
    away = 0.1 * rng.standard_normal((states, robot.nv))
    away[:, :6] *= 0.2
    q = robot.integrate(home, away)
    given = {
        "q": q,
        "v": 0.1 * rng.standard_normal((states, robot.nv)),
        "center_of_mass_target": robot.center_of_mass(q) + 0.02 * rng.standard_normal((states, 3)),
        "torso_link_target": seven_numbers(robot, "torso_link", robot.pose(q, "torso_link")),
        "posture_target": np.broadcast_to(home, q.shape),
    }
    return robot, WholeBody(robot, tasks, stances), given


def full_program(robot: kt.Robot, body: Any, given: dict[str, np.ndarray], k: int) -> Any:
    """H, g, A, b, C, d of one state over (a, w, tau), scaled as the controller does."""
    from kinetree.control.body_program import LEVER

    q, v, nv = given["q"][k], given["v"][k], robot.nv
    settings = body._settings
    mass = sum(float(x.inertia.mass) for x in robot.model.bodies)
    weight, limits = 9.81 * mass, np.array(settings.limits)
    nw, nu = 6 * len(settings.stances), len(limits)
    n = nv + nw + nu
    J, rates = (
        np.vstack([f(s.frame) for s in settings.stances])
        for f in (
            lambda frame: robot.jacobian(q, frame, axes="body"),
            lambda frame: robot.jacobian_rate(q, v, frame, axes="body"),
        )
    )
    units = np.tile([weight] * 3 + [weight * LEVER] * 3, len(settings.stances))
    S = np.zeros((nv, nu))
    S[list(settings.motors), range(nu)] = limits
    top = np.hstack([robot.mass_matrix(q), -J.T * units, -S]) / mass
    A = np.vstack([top, np.hstack([J, np.zeros((nw, nw + nu))])])
    b = np.concatenate([-robot.bias_forces(q, v) / mass, -rates @ v - 20.0 * J @ v])
    C = []
    for i, stance in enumerate(settings.stances):
        facets = stance.facets(LEVER)
        C.append(np.zeros((len(facets), n)))
        C[-1][:, nv + 6 * i : nv + 6 * i + 6] = facets
    d = np.concatenate([np.zeros(sum(map(len, C))), np.ones(2 * nu)])
    C = np.vstack([*C, np.eye(n)[nv + nw :], -np.eye(n)[nv + nw :]])
    H = np.diag([0.0] * nv + [settings.force_weight] * nw + [settings.effort_weight] * nu)
    g = np.zeros(n)
    Jt = robot.jacobian(q, "torso_link", axes="origin")
    drift = robot.acceleration(q, v, np.zeros(nv), "torso_link", axes="origin", kind="classical")
    force = np.zeros((3, n))
    for i, stance in enumerate(settings.stances):
        at = nv + 6 * i
        force[:, at : at + 3] = 9.81 * robot.pose(q, stance.frame)[:3, :3]
    away = given["center_of_mass_target"][k] - robot.center_of_mass(q)
    com = 100.0 * away - 20.0 * robot.centroidal.jacobian(q) @ v
    posture = 100.0 * robot.difference(q, given["posture_target"][k]) - 20.0 * v
    rows = (
        (10.0, force, com + 9.81 * np.eye(3)[2]),
        (5.0, np.hstack([Jt, np.zeros((6, nw + nu))]), -20.0 * Jt @ v - drift),
        (0.1, np.eye(n)[6:nv], posture[6:]),
    )
    for w, R, value in rows:
        H, g = H + w * R.T @ R, g - w * R.T @ value
    return H, g, A, b, C, d


ORACLE = """
import sys, time, pickle, numpy as np, proxsuite
problems = pickle.load(open(sys.argv[1], "rb"))
found, times = [], []
for H, g, A, b, C, d in problems:
    qp = proxsuite.proxqp.dense.QP(len(g), len(b), len(d))
    qp.settings.eps_abs, qp.settings.eps_rel, qp.settings.max_iter = 1e-11, 0.0, 10000
    qp.init(H, g, A, b, C, np.full(len(d), -1e20), d)
    began = time.perf_counter()
    qp.solve()
    times.append(time.perf_counter() - began)
    found.append({"ProxQP": (qp.results.x, qp.results.y, qp.results.z)})
try:
    import clarabel, scipy.sparse as sp
except ImportError:
    problems = []
for solutions, (H, g, A, b, C, d) in zip(found, problems):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(len(d))]
    rows = sp.csc_matrix(np.vstack([A, C]))
    P = sp.csc_matrix(np.triu(H))
    done = clarabel.DefaultSolver(P, g, rows, np.concatenate([b, d]), cones, settings).solve()
    x, z = np.array(done.x), np.array(done.z)
    solutions["Clarabel"] = x, z[: len(b)], z[len(b) :]
pickle.dump((found, float(np.median(times))), open(sys.argv[2], "wb"))
"""


def oracles(python: str, problems: list[Any]) -> tuple[list[dict[str, Any]], float]:
    """(x, y, z) of ProxQP, and of Clarabel if that interpreter has it; ProxQP's median time."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given"), Path(folder, "found")
        given.write_bytes(pickle.dumps(problems))
        subprocess.run([python, "-c", ORACLE, str(given), str(found)], check=True)
        return pickle.loads(found.read_bytes())


def left_of(program: Any, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
    """The largest violation of the conditions of optimality, relative to their terms."""
    H, g, A, b, C, d = program
    dual = np.abs(H @ x + g + A.T @ y + C.T @ z).max() / np.abs(g).max()
    primal = max(np.abs(A @ x - b).max(), (C @ x - d).max()) / np.abs(x).max()
    return max(dual, primal, -z.min(), np.abs(z * (C @ x - d)).max()) / max(np.abs(z).max(), 1.0)


def own_solution(robot: kt.Robot, body: Any, given: Any, found: Any, k: int) -> np.ndarray:
    """(a, w, tau) of the controller, scaled as in `full_program`."""
    from kinetree.control.body_program import LEVER

    weight = 9.81 * sum(float(x.inertia.mass) for x in robot.model.bodies)
    parts = [found.a[k]]
    for stance, wrench in zip(body._settings.stances, found.wrenches[k], strict=True):
        R = robot.pose(given["q"][k], stance.frame)[:3, :3]
        parts += [R.T @ wrench[:3] / weight, R.T @ wrench[3:] / (weight * LEVER)]
    motors = list(body._settings.motors)
    return np.concatenate([*parts, found.tau[k, motors] / np.array(body._settings.limits)])


def multipliers(program: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers that come nearest to showing that x is optimal, those of bounds not negative."""
    H, g, A, _, C, d = program
    tight = np.flatnonzero(C @ x - d > -1e-7)
    columns = np.hstack([A.T, C[tight].T])
    least = np.concatenate([np.full(len(A), -np.inf), np.zeros(len(tight))])
    best = lsq_linear(columns, -(H @ x + g), (least, np.inf), method="bvls", tol=1e-15).x
    z = np.zeros(len(d))
    z[tight] = best[len(A) :]
    return best[: len(A)], z


def check_body(
    python: str, robot: kt.Robot, body: Any, given: Any, found: Any, checked: int
) -> None:
    """Solutions beside ProxQP's and Clarabel's, and their conditions of optimality."""
    problems = [full_program(robot, body, given, k) for k in range(checked)]
    solutions, seconds = oracles(python, problems)
    row("ProxQP, dense, the full problem", "", 1e6 * seconds, "us", "one after the other")
    solved = np.flatnonzero(found.violated[:checked] == -1)
    own = {k: own_solution(robot, body, given, found, k) for k in solved}
    left = [left_of(problems[k], x, *multipliers(problems[k], x)) for k, x in own.items()]
    print(
        f"conditions of optimality of the full problem hold to {max(left):.1e} (most) in all "
        f"{len(solved)} solved of {checked} states, by multipliers that no solver gave"
    )
    for name in solutions[0]:
        fine = [k for k in solved if left_of(problems[k], *solutions[k][name]) <= 1e-8]
        u = slice(-len(body._settings.limits), None)
        apart = np.array([np.abs(own[k][u] - solutions[k][name][0][u]).max() for k in fine])
        print(
            f"{name} is optimal to 1e-8 in {len(fine)} of them; joint forces over their limits "
            f"differ by {np.median(apart):.1e} (median), {apart.max():.1e} (most)"
        )


def bench_body(python: str | None, states: int = 512, checked: int = 100) -> None:
    robot, body, given = standing_g1(states)
    found = body.solve(**given)  # compiles
    solved = found.violated == -1
    print("\n| whole-body control of G1 on two feet | solved | time of one state | |\n|-|-|-|-|")
    if python:
        check_body(python, robot, body, given, found, checked)
    walls, processors = [], []
    for _ in range(40):
        wall, processor = time.perf_counter(), time.process_time()
        body.solve(**given)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    note = f"{1e6 * min(processors) / states:.1f} us of processor time; {states} states at once"
    row("Kinetree, one thread", f"{solved.mean():.2%}", 1e6 * min(walls) / states, "us", note)
    for k in np.flatnonzero(~solved)[:5]:
        what = body.demands[int(found.violated[k])]
        print(f"state {k} is not solved: {what}; residual {found.residual[k]:.1e}")


def bench() -> None:
    """All rows, without peers that need another interpreter."""
    bench_reach(scene(), 10_000)
    bench_path()
    bench_body(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=["reach", "path", "body", []], default=[])
    parser.add_argument("--gpu", action="store_true", help="targets are CuPy's arrays")
    parser.add_argument("--targets", type=int, help="how many; 10,000, or 1,000,000 with --gpu")
    parser.add_argument("--save", type=Path, metavar="FILE", help="pickle Panda's scene")
    parser.add_argument("--scene", type=Path, metavar="FILE", help="such a file")
    parser.add_argument("--proxsuite", metavar="PYTHON", help="an interpreter that has ProxQP")
    given = parser.parse_args()
    kt.set_threads(1)
    names = given.names or ["reach", "path", "body"]
    if given.save:
        given.save.write_bytes(pickle.dumps(scene()))
        return
    if "reach" in names:
        robot = pickle.loads(given.scene.read_bytes()) if given.scene else scene()
        count = given.targets or (1_000_000 if given.gpu else 10_000)
        (bench_reach_gpu if given.gpu else bench_reach)(robot, count)
    if "path" in names:
        bench_path()
    if "body" in names:
        bench_body(given.proxsuite)


if __name__ == "__main__":
    main()
