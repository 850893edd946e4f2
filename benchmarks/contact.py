"""Contact beside MuJoCo, on the same robots in the same process.

    python -m benchmarks.contact [--only quadruped g1 ...] [--derivatives] [--save FILE]

Robots stand on a plane, held by springs of their joints. Both libraries make the same motion, which
is checked before anything is timed: positions after half a second agree to 1e-4 m or rad. One
thread; both make the same steps from the same states, in which the robot stands, each a little
different: MuJoCo makes those of a state in one call (`mj_step` with nstep), so that Python costs it
little; ours are a compiled rollout of all states. Times are the processor's, so that other programs
on it do not count.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

import kinetree as kt
from benchmarks.gpu_contact import save, standing
from benchmarks.pinocchio_rows import ROBOTS
from benchmarks.timing import on_the_quietest, seconds_in_turn
from kinetree.geometry import Collider, ContactPair, Plane, Sphere

DT = 0.002
AGREE_AFTER = 250
STEPS = 50
STATES = 256
PEERS = 8
"""States of which MuJoCo makes the steps."""
PERTURBED = 1e-4
"""How far states are from one that stands, m and rad."""
G1 = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
HUMANOID = Path(gymnasium.__file__).parent / "envs/mujoco/assets/humanoid.xml"


@dataclass(frozen=True)
class Case:
    """A robot that stands.

    robot: makes it.
    height: of its base at the start, m.
    asked: how many times faster than MuJoCo's step.
    """

    name: str
    robot: Callable[[], kt.Robot]
    height: float
    asked: float


def sprung(robot: kt.Robot, stiffness: float, damping: float) -> kt.Robot:
    """The robot with a spring and a damper at each hinge."""
    drive = kt.Drive(armature=0.01, damping=damping, stiffness=stiffness)
    bodies = tuple(
        replace(body, drive=drive) if body.joint.nv == 1 else body for body in robot.model.bodies
    )
    return kt.Robot(replace(robot.model, bodies=bodies))


def quadruped() -> kt.Robot:
    return sprung(kt.robots.quadruped(), 400.0, 8.0).on_ground(friction=0.8)


def g1() -> kt.Robot:
    """Eight balls under the feet."""
    robot = sprung(kt.load(G1, base="floating"), 400.0, 8.0)
    parts: list[Any] = [Collider("floor", None, Plane())]
    for side in ("left", "right"):
        for k, (x, y) in enumerate(((-0.05, 0.025), (-0.05, -0.025), (0.12, 0.03), (0.12, -0.03))):
            ball = f"{side}{k}"
            parts.append(Collider(ball, f"{side}_ankle_roll_link", Sphere(0.005), (x, y, -0.03)))
            parts.append(ContactPair("floor", ball, friction=0.8))
    return robot.collide(*parts)


def humanoid() -> kt.Robot:
    """Gymnasium's, with all its pairs; MuJoCo's Euler in the place of RK4."""
    robot = kt.load(HUMANOID)
    options = replace(robot.model.contact_options, integrator="euler", timestep=DT)
    return sprung(kt.Robot(replace(robot.model, contact_options=options)), 300.0, 5.0)


def humanoid_on_feet() -> kt.Robot:
    """The humanoid with its pairs with the floor alone."""
    robot = humanoid()
    model = robot.model
    floor = tuple(pair for pair in model.contacts if "floor" in pair.name.split("/"))
    return kt.Robot(replace(model, contacts=floor))


CASES = {
    "quadruped": Case("quadruped, 4 feet", quadruped, 0.4205, 20.0),
    "g1": Case("G1, 8 foot points", g1, 0.0, 20.0),
    "humanoid": Case("humanoid, 126 pairs", humanoid, 1.3, 10.0),
    "humanoid_floor": Case("humanoid, floor alone", humanoid_on_feet, 1.3, 10.0),
}
ON_A_GPU = {
    "g1": {"float32": 40.0, "float64": 15.0},
    "humanoid": {"float32": 80.0, "float64": 15.0},
    "humanoid_floor": {"float32": 80.0, "float64": 15.0},
}
"""Million steps a second that are asked for on an H200."""


class Peer:
    """A robot in MuJoCo."""

    def __init__(self, file: Path) -> None:
        self.m = mujoco.MjModel.from_xml_path(str(file))
        self.m.opt.timestep = DT
        self.d = mujoco.MjData(self.m)

    def put(self, q: Any, v: Any) -> None:
        """Begin at a state of ours, of a floating robot."""
        mujoco.mj_resetData(self.m, self.d)
        self.d.qpos[:] = np.r_[q[:3], q[6], q[3:6], q[7:]]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, self.d.qpos[3:7])
        self.d.qvel[:] = np.r_[turn.reshape(3, 3) @ v[:3], v[3:]]

    def steps(self, count: int) -> Any:
        mujoco.mj_step(self.m, self.d, nstep=count)
        p = self.d.qpos
        return np.r_[p[:3], p[4:7], p[3], p[7:]]


def both(case: Case) -> tuple[kt.Robot, Peer]:
    """The robot here and in MuJoCo, from one file."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        file = Path(folder) / "robot.xml"
        case.robot().save(file)
        return kt.load(file), Peer(file)


def start(case: Case, robot: kt.Robot) -> Any:
    """Upright, the lowest shape 0.1 mm in the ground."""
    q = robot.neutral()
    q[2] = case.height
    planes = {c.name for c in robot.model.colliders if isinstance(c.shape, Plane)}
    ground = [name.split("/")[0] in planes for name in robot.contact.touch_names]
    q[2] -= robot.distances(q)[ground].min() + 1e-4
    return q


def measure(case: Case) -> bool:
    """Print a row; whether what is asked is met."""
    robot, peer = both(case)
    q, zero = start(case, robot), np.zeros(robot.nv)
    motion = robot.simulate(q, zero, time=AGREE_AFTER * DT, dt=DT)
    peer.put(q, zero)
    theirs = peer.steps(AGREE_AFTER)
    error = float(np.abs(robot.difference(theirs, motion.q[-1])).max())
    assert error < 1e-4, error
    q, v = stood(case, robot)
    rollout = robot.rollout(None, steps=STEPS, dt=DT)

    def mujocos_steps() -> None:
        for k in range(PEERS):
            peer.put(q[k], v[k])
            peer.steps(STEPS)

    calls = [lambda: rollout(q, v), mujocos_steps]
    with on_the_quietest(calls[0]):
        ours, mujocos = seconds_in_turn(calls, clock=time.process_time)
    ours, mujocos = ours / (STATES * STEPS), mujocos / (PEERS * STEPS)
    pushing = robot.contact.forces(q, v, np.zeros_like(v))
    touching = (np.abs(pushing).max(axis=-1) > 0.0).sum(axis=-1).mean()
    ratio = mujocos / ours
    print(
        f"{case.name}: {touching:.3g} contacts, differs by {error:.0e}; {1e6 * ours:.2f} us "
        f"a step, {ratio:.1f} x MuJoCo's {1e6 * mujocos:.1f} (asked {case.asked:.0f})",
        flush=True,
    )
    return ratio >= case.asked


def saved(names: Sequence[str], file: Path) -> None:
    """Write robots that stand to a file, for `benchmarks.gpu --contact`."""
    robots = []
    for name in names:
        robot, _ = both(CASES[name])
        robots.append(standing(name, robot, *stood(CASES[name], robot), DT, ON_A_GPU.get(name, {})))
        save(file, robots)


def stood(case: Case, robot: kt.Robot) -> tuple[Any, Any]:
    """Many states of a robot that has stood for half a second, each a little different."""
    motion = robot.simulate(start(case, robot), np.zeros(robot.nv), time=AGREE_AFTER * DT, dt=DT)
    rng = np.random.default_rng(0)
    many = np.tile(motion.q[-1], (STATES, 1))
    q = robot.integrate(many, PERTURBED * rng.standard_normal((STATES, robot.nv)))
    return q, np.tile(motion.v[-1], (STATES, 1))


def in_mujocos_axes(q: Any, v: Any) -> Any:
    """The map from changes of our state to those of MuJoCo's, whose base moves in the world's axes.

    Its linear velocity is R v, which changes by R (dv - v x dphi).
    """
    n = len(v)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.r_[q[6], q[3:6]])
    T, turn = np.eye(2 * n), R.reshape(3, 3)
    T[:3, :3] = T[n : n + 3, n : n + 3] = turn
    T[n : n + 3, 3:6] = -turn @ np.cross(np.eye(3), v[:3])
    return T


def derivatives(case: Case) -> None:
    """The Jacobian of a step beside MuJoCo's finite differences."""
    robot, peer = both(case)
    q = start(case, robot)
    motion = robot.simulate(q, np.zeros(robot.nv), time=0.5, dt=DT)
    many = [np.tile(x, (STATES, 1)) for x in (motion.q[-1], motion.v[-1], motion.tau[-1])]
    peer.put(motion.q[-1], motion.v[-1])
    n = 2 * peer.m.nv + peer.m.na
    A, B = np.zeros((n, n)), np.zeros((n, peer.m.nu))
    calls = [
        lambda: robot.linearize(*many, DT),
        lambda: mujoco.mjd_transitionFD(peer.m, peer.d, 1e-6, True, A, B, None, None),
    ]
    state = [x[0] for x in many]
    ends = robot.step(*state, DT)
    found = in_mujocos_axes(*ends) @ calls[0]()[0][0] @ np.linalg.inv(in_mujocos_axes(*state[:2]))
    calls[1]()
    error = float(np.abs(found - A).max() / np.abs(A).max())
    assert error < 1e-4, error
    with on_the_quietest(calls[1]):
        ours, mujocos = seconds_in_turn(calls, clock=time.process_time)
    ours /= STATES
    print(
        f"{case.name}: Jacobian of a step {1e6 * ours:.1f} us, {mujocos / ours:.0f} x "
        f"mjd_transitionFD's {1e6 * mujocos:.0f} (asked 30), differs by {error:.0e}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--derivatives", action="store_true")
    parser.add_argument("--save", type=Path, help="only write robots that stand, for a GPU")
    given = parser.parse_args()
    kt.set_threads(1)
    if given.save:
        saved(given.only, given.save)
        return
    met = [measure(CASES[name]) for name in given.only]
    if given.derivatives:
        for name in given.only:
            derivatives(CASES[name])
    print("all met" if all(met) else "not all met")


if __name__ == "__main__":
    main()
