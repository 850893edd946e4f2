"""Contact held against MuJoCo and closed forms: accelerations, forces, motions, distances.

    python -m benchmarks.contact_checks [--only accelerations motions closed_forms
        gradient distances] [--robots NAME ...] [--states N] [--compared N] [--pairs PAIR ...]

Each line has what is asked for beside what was found. Nothing is timed here but the gradient of a
rollout, beside the rollout.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

import kinetree as kt
from benchmarks.contact import g1, quadruped
from benchmarks.contact_closed_forms import closed_form_lines
from benchmarks.contact_distances import distance_lines
from benchmarks.timing import seconds_in_turn

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
STATES = 1000
ROBOTS: dict[str, Callable[[], Path | kt.Robot]] = {
    "hopper": lambda: ASSETS / "hopper.xml",
    "ant": lambda: ASSETS / "ant.xml",
    "quadruped": quadruped,
    "g1": g1,
    "humanoid": lambda: ASSETS / "humanoid.xml",
}
SOLVER = kt.ContactSolver(iterations=40, tolerance=1e-12)


class Beside:
    """A robot here and in MuJoCo, which solves as well as it can."""

    def __init__(self, source: Path | kt.Robot) -> None:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            if isinstance(source, kt.Robot):
                source.save(Path(folder) / "robot.xml")
                source = Path(folder) / "robot.xml"
            self.m, self.robot = mujoco.MjModel.from_xml_path(str(source)), kt.load(source)
        self.m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        self.m.opt.iterations = self.m.opt.ls_iterations = 200
        self.m.opt.tolerance = self.m.opt.ls_tolerance = 1e-14
        self.d = mujoco.MjData(self.m)
        self.free = self.m.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE

    def turn(self, qpos: Any) -> Any:
        """The rotation of a floating base."""
        found = np.zeros(9)
        mujoco.mju_quat2Mat(found, qpos[3:7])
        return found.reshape(3, 3)

    def to_ours(self, qpos: Any, *rates: Any) -> tuple[Any, ...]:
        """A state of MuJoCo's: its quaternion is ordered otherwise, its velocity in the world."""
        if not self.free:
            return qpos.copy(), *(x.copy() for x in rates)
        back = self.turn(qpos).T
        turned = [np.r_[back @ x[:3], x[3:]] for x in rates]
        return np.r_[qpos[:3], qpos[4:7], qpos[3], qpos[7:]], *turned

    def random_states(self, count: int) -> Iterator[tuple[Any, Any, Any]]:
        """qpos, qvel and forces, with joints within and a little beyond their limits."""
        rng, m = np.random.default_rng(0), self.m
        for _ in range(count):
            qpos = m.qpos0.copy()
            for j, at in enumerate(m.jnt_qposadr):
                if m.jnt_limited[j]:
                    lower, upper = m.jnt_range[j]
                    qpos[at] = (lower + upper) / 2 + (upper - lower) / 2 * rng.uniform(-1.1, 1.1)
                elif m.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
                    qpos[at] += rng.uniform(-0.5, 0.2)
            if self.free:
                qpos[2] = rng.uniform(0.1, 1.05) * (qpos[2] or 0.8)
                qpos[3:7] += 0.3 * rng.normal(size=4)
                qpos[3:7] /= np.linalg.norm(qpos[3:7])
            yield qpos, 0.5 * rng.normal(size=m.nv), rng.normal(size=m.nv)

    def forward(self, qpos: Any, qvel: Any, force: Any) -> tuple[Any, Any, Any]:
        """Accelerations, the constraints' forces on the joints, the sum of contact forces."""
        d = self.d
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = qpos, qvel, force
        d.ctrl[:] = d.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self.m, d)
        total, own = np.zeros(3), np.zeros(6)
        for k in range(d.ncon):
            mujoco.mj_contactForce(self.m, d, k, own)
            ground = self.m.geom_bodyid[d.contact[k].geom1] == 0
            total += ground * (d.contact[k].frame.reshape(3, 3).T @ own[:3])
        return d.qacc.copy(), d.qfrc_constraint.copy(), total


def acceleration_lines(names: list[str]) -> Iterator[str]:
    """How far accelerations and forces are from mj_forward's, at random states."""
    for name in names:
        beside = Beside(ROBOTS[name]())
        states = list(beside.random_states(STATES))
        q, v, tau = (np.stack(x) for x in zip(*(beside.to_ours(*x) for x in states), strict=True))
        a, residual = beside.robot.contact.dynamics(q, v, tau, contact=SOLVER)
        pushed = beside.robot.inverse_dynamics(q, v, a) - tau
        forces = beside.robot.contact.forces(q, v, tau, contact=SOLVER)
        forces = forces[:, _on_the_ground(beside.robot)].sum(axis=1)
        errors, touching = [], 0
        for k, state in enumerate(states):
            qacc, push, total = beside.forward(*state)
            ours, ours_pushed = a[k], pushed[k]
            if beside.free:
                turn = beside.turn(state[0])
                ours = np.r_[turn @ (ours[:3] + np.cross(v[k, 3:6], v[k, :3])), ours[3:]]
                ours_pushed = np.r_[turn @ ours_pushed[:3], ours_pushed[3:]]
            touching += beside.d.ncon > 0
            errors.append(
                [_relative(ours, qacc), _relative(ours_pushed, push), _relative(forces[k], total)]
            )
        qacc, push, total = np.max(errors, axis=0)
        yield (
            f"{name}: {STATES} states, {touching} touch, residual {residual.max():.0e}; "
            f"accelerations {qacc:.0e}, constraint forces {push:.0e}, contact forces {total:.0e} "
            "(asked 1e-06)"
        )


def _relative(ours: Any, theirs: Any) -> float:
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1.0))


def _on_the_ground(robot: kt.Robot) -> list[int]:
    """The touches with what stands still."""
    still = {c.name for c in robot.model.colliders if c.frame is None}
    return [k for k, x in enumerate(robot.contact.touch_names) if x.split("/")[0] in still]


def motion_lines(names: list[str]) -> Iterator[str]:
    """Motions of a second beside MuJoCo's, until the contacts differ."""
    for name in names:
        beside = Beside(ROBOTS[name]())
        m, d, robot = beside.m, beside.d, beside.robot
        qpos = m.qpos0.copy()
        if beside.free:
            q = beside.to_ours(qpos)[0]
            q[2] += 0.05 - robot.distances(q)[_on_the_ground(robot)].min()
            qpos[2] = q[2]
        else:
            qpos[1] += 0.05
        mujoco.mj_resetData(m, d)
        d.qpos[:], dt = qpos, m.opt.timestep
        start = beside.to_ours(d.qpos, d.qvel)
        steps = round(1.0 / dt)
        motion = robot.simulate(*start, time=steps * dt, dt=dt, contact=SOLVER)
        worst, most = 0.0, 0
        for k in range(1, steps + 1):
            mujoco.mj_step(m, d)
            there = beside.to_ours(d.qpos, d.qvel)
            worst = max(worst, float(np.abs(robot.difference(there[0], motion.q[k])).max()))
            most = max(most, d.ncon)
        yield (
            f"{name}: 1 s of {steps} steps, up to {most} contacts: differs by {worst:.0e} "
            "(asked 1e-04)"
        )


def gradient_lines() -> Iterator[str]:
    """The gradient of 100 steps of a quadruped that stands, by its 12 targets of joints."""
    robot = kt.robots.quadruped().on_ground(friction=0.6)

    def held(t: Any, q: Any, v: Any, p: Any) -> Any:
        return [0.0] * 6 + [-80 * (x - y) - 2 * s for x, y, s in zip(q[7:], p, v[6:], strict=True)]

    rollout = robot.rollout(held, 100, 0.002, p_length=12)
    q, weights, rng = robot.neutral(), np.zeros((robot.nq,)), np.random.default_rng(0)
    q[2], weights[:3] = 0.42, (1.0, 0.5, 2.0)
    p = 0.1 * rng.standard_normal(12)
    found = rollout.gradient(q, np.zeros(18), {"q": weights}, p=p)["p"]

    def ends(p: Any) -> Any:
        return rollout(np.tile(q, (12, 1)), np.zeros((12, 18)), p).q[:, -1] @ weights

    step = 1e-6 * np.eye(12)
    differences = (ends(p + step) - ends(p - step)) / 2e-6
    error = float(np.abs(found - differences).max() / np.abs(differences).max())
    many = np.tile(q, (256, 1)), np.zeros((256, 18)), np.tile(p, (256, 1))
    forward, reverse = seconds_in_turn(
        [
            lambda: rollout(*many),
            lambda: rollout.gradient(many[0], many[1], {"q": weights}, p=many[2]),
        ]
    )
    yield (
        f"gradient of 100 steps of the quadruped: differs from differences by {error:.0e} (asked "
        f"1e-05), takes {reverse / forward:.1f} x the rollout (asked 5)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ["accelerations", "motions", "closed_forms", "gradient", "distances"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--states", type=int, default=10**6, help="of each pair of shapes")
    parser.add_argument("--compared", type=int, default=10**6, help="of them, with MuJoCo")
    parser.add_argument("--pairs", nargs="+", default=[], help='of shapes, such as "capsule-box"')
    given = parser.parse_args()
    kt.set_threads(1)
    lines = {
        "accelerations": lambda: acceleration_lines(given.robots),
        "motions": lambda: motion_lines(given.robots),
        "closed_forms": closed_form_lines,
        "gradient": gradient_lines,
        "distances": lambda: distance_lines(given.states, given.compared, given.pairs),
    }
    for part in given.only:
        for line in lines[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
