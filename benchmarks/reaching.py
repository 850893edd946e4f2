"""Reaching without collision, timing of paths, whole-body control: checked, then timed.

    python -m benchmarks.reaching [reach] [path] [body] [--targets N] [--save FILE]
    python -m benchmarks.reaching reach --gpu [--scene FILE]

Panda and G1 come from example-robot-data. `--save` pickles Panda's scene, for a machine that has no
robot files. With `--gpu`, targets are CuPy's arrays. Times of the host are of one thread.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=["reach", []], default=[])
    parser.add_argument("--gpu", action="store_true", help="targets are CuPy's arrays")
    parser.add_argument("--targets", type=int, help="how many; 10,000, or 1,000,000 with --gpu")
    parser.add_argument("--save", type=Path, metavar="FILE", help="pickle Panda's scene")
    parser.add_argument("--scene", type=Path, metavar="FILE", help="such a file")
    given = parser.parse_args()
    kt.set_threads(1)
    names = given.names or ["reach"]
    if given.save:
        given.save.write_bytes(pickle.dumps(scene()))
        return
    if "reach" in names:
        robot = pickle.loads(given.scene.read_bytes()) if given.scene else scene()
        count = given.targets or (1_000_000 if given.gpu else 10_000)
        (bench_reach_gpu if given.gpu else bench_reach)(robot, count)


if __name__ == "__main__":
    main()
