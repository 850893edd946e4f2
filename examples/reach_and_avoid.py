"""An arm reaches around a wall: configurations without collision, then the fastest motion."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.geometry import Box, Capsule, Collider, ContactPair, Sphere

CLEARANCE = 0.01


def scene() -> kt.Robot:
    """The built-in arm, a post on either side, a table below."""
    walls = [
        Collider("table", None, Box((0.6, 0.6, 0.05)), (0.0, 0.0, -0.3)),
        Collider("wall", None, Box((0.05, 1.0, 1.0)), (0.45, 0.0, 0.3)),
        Collider("post", None, Capsule(0.06, 0.4), (-0.25, 0.3, 0.3)),
    ]
    own = [Collider("tip", "tool", Sphere(0.03)), Collider("elbow", "link4", Capsule(0.05, 0.08))]
    pairs = [ContactPair(wall.name, part.name) for wall in walls for part in own]
    return kt.robots.arm().collide(*walls, *own, *pairs)


def main(folder: Path = Path()) -> float:
    """Draw where the tool can be, and the timing of a way through some of these places."""
    arm = scene()
    solver = kt.control.InverseKinematics(arm, "tool", orientation=False, clearance=CLEARANCE)
    places = np.random.default_rng(0).uniform([-0.6, -0.6, -0.3], [0.5, 0.6, 0.9], (4000, 3))
    found = solver.solve(places, restarts=8)
    print(found.message)
    assert arm.distances(found.q[found.success]).min() >= CLEARANCE

    q = [np.array([0.3, 0.5, 0.2, -1.2, 0.3, 0.8, 0.2])]
    angle = np.linspace(0.0, 2.0 * np.pi, 40)[:, None]
    way = 0.1 * (np.cos(angle) - 1.0) * [1.0, 0.0, 0.0] + 0.1 * np.sin(angle) * [0.0, 0.0, 1.0]
    for place in arm.pose(q[0], "tool")[:3, 3] + way[1:]:  # each from where the one before is
        q.append(solver.solve(place, q[-1], restarts=0).q)
    assert arm.distances(np.array(q)).min() >= CLEARANCE
    motion = arm.time_path(np.array(q))

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    near = np.abs(places[:, 1]) < 0.15
    for inside, color in ((True, "tab:blue"), (False, "lightgray")):
        shown = places[near & (found.success == inside)]
        left.scatter(shown[:, 0], shown[:, 2], s=6, color=color)
    left.add_patch(plt.Rectangle((0.40, -0.7), 0.1, 2.0, color="tab:red", alpha=0.4))
    left.add_patch(plt.Rectangle((-0.6, -0.35), 1.2, 0.1, color="tab:red", alpha=0.4))
    left.set(xlabel="x, m", ylabel="z, m", title="reached without collision", aspect="equal")
    left.set(xlim=(-0.65, 0.65), ylim=(-0.4, 0.95))
    t = np.linspace(0.0, motion.duration, 1000)
    right.plot(t, np.abs(motion.at(t).v / arm.limits.velocity))
    right.set(xlabel="time, s", ylabel="speed / limit", title="once around a circle")
    figure.tight_layout()
    figure.savefig(folder / "reach_and_avoid.svg")
    return float(found.success.mean())


if __name__ == "__main__":
    main()
