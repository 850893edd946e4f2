"""Constrained dynamics against Pinocchio, MuJoCo and embedding, as tables of differences.

    python -m benchmarks.constraints --only pinocchio   # robots on their feet, and held anywhere
    python -m benchmarks.constraints --only mujoco      # equality constraints, in the stiff limit
    python -m benchmarks.constraints --only embedding   # embedded mechanisms under constraints

Differences are relative to the largest entry of a result, or to one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from tests.embedded_robots import MECHANISMS
from tests.peers.equality_mechanisms import LIKE_MENAGERIE, MODELS, Mechanism, mjcf, near
from tests.peers.pinocchio_oracle import coordinates, urdf_files

import kinetree as kt
from benchmarks.constraint_speed import (
    AGREEMENT,
    CASES,
    Feet,
    Peer,
    agreement,
    difference,
    states,
)
from benchmarks.pinocchio_rows import ROBOTS
from kinetree.compiler.graph import interpret
from kinetree.errors import SingularModelError

STIFF = 1e-5
"""How near MuJoCo's accelerations come, extrapolated from soft constraints."""
EMBEDDED = 1e-10
DIRECT, ITERATED, ONCE = (1e-12, 0.0, 1), (1e-14, 1e-8, 20), (1e-14, 1e-12, 1)
"""Pinocchio's accuracy, proximal parameter and iterations: where no row is redundant; where some
are; and for its impacts there, which are solved once, with an error in proportion to the parameter.
"""
FEW = 12
"""Velocities: robots with fewer are held at two points instead of two frames."""


class Skipped(Exception):
    """Why a robot cannot be compared."""


def on_feet(feet: Feet, count: int = 4) -> list[float]:
    """Differences of accelerations, their derivatives and impacts of a robot that stands.

    Arguments:
        feet: the robot.
        count: how many random states.
    """
    robot, peer = feet.robot(), Peer(feet)
    q, v, tau = states(robot, count)
    worst = 0.0
    for restitution in (0.0, 0.5):
        after, _ = robot.constraints.impact(q, v, restitution)
        theirs = (peer.impact(q[k], v[k], restitution) for k in range(count))
        worst = max(worst, *(difference(a, b) for a, b in zip(after, theirs, strict=True)))
    return [*agreement(robot, peer, (q, v, tau)), worst]


def held_anywhere(file: str, count: int = 2) -> list[float]:
    """Differences of accelerations and impacts of a floating robot, two random frames of it held.

    Arguments:
        file: of example-robot-data, relative to its folder.
        count: how many random states.
    """
    feet = _two_frames(file)
    robot, peer = feet.robot(mimic=False), Peer(feet)
    try:
        names = ("constraint_jacobian", "constrained_dynamics", "impact")
        rows, dynamics, impact = (robot.kernel(name) for name in names)
    except SingularModelError:
        raise Skipped("its mass matrix is singular") from None
    worst = [0.0, 0.0]
    for q, v, tau in zip(*states(robot, count), strict=True):
        J = np.asarray(_interpreted(rows, q)[0])
        there = coordinates(peer.model, q)
        redundant = np.linalg.matrix_rank(J, tol=1e-6) < len(J)
        peer.settings = pin.ProximalSettings(*(ITERATED if redundant else DIRECT))
        # rows that depend on each other agree only about velocities that they allow
        allowed = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
        ours = np.asarray(_interpreted(dynamics, q, allowed, tau)[0])
        worst[0] = max(worst[0], difference(ours, peer.accelerations(there, allowed, tau)))
        peer.settings = pin.ProximalSettings(*(ONCE if redundant else DIRECT))
        after = np.asarray(_interpreted(impact, q, v, [0.5])[0])
        worst[1] = max(worst[1], difference(after, peer.impact(there, v, 0.5)))
    return worst


def _two_frames(file: str) -> Feet:
    """Two frames at random, on different bodies."""
    try:
        model = pin.buildModelFromUrdf(str(ROBOTS / file), pin.JointModelFreeFlyer())
    except ValueError:
        raise Skipped("Pinocchio does not read it") from None
    joints = {
        f.name: f.parentJoint for f in model.frames if f.type == pin.BODY and f.parentJoint > 1
    }
    if len(set(joints.values())) < 2:
        raise Skipped("it has no two moving bodies")
    rng = np.random.default_rng(0)
    one, two = rng.choice(sorted(joints), 2, replace=False)
    while joints[one] == joints[two]:
        two = rng.choice(sorted(joints))
    return Feet(file, file, (str(one), str(two)), 6 if model.nv >= FEW else 3, (0.0, 0.0, 0.0))


def pinocchio() -> bool:
    """Print the differences from Pinocchio; whether all are within its tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return _robots_on_feet() & _robots_held()


def _robots_on_feet() -> bool:
    met = True
    print("| robot | accelerations | derivatives | impacts |\n|-|-|-|-|")
    for feet in CASES:
        found = on_feet(feet)
        met &= max(found) < AGREEMENT
        print(f"| {feet.name} | " + " | ".join(f"{x:.0e}" for x in found) + " |", flush=True)
    return met


def _robots_held() -> bool:
    met = True
    print("\n| two random frames held | rows | accelerations | impacts |\n|-|-|-|-|")
    compared, skipped = 0, []
    for file in urdf_files():
        try:
            found = held_anywhere(file)
        except Skipped as why:
            skipped.append(f"{file}: {why}")
            continue
        compared += 1
        word = "" if max(found) < AGREEMENT else " MISSED"
        met &= not word
        print(
            f"| {file} | {2 * _two_frames(file).rows} | {found[0]:.0e} | {found[1]:.0e}{word} |",
            flush=True,
        )
    print(f"\n{compared} files compared, {len(skipped)} not:", *skipped, sep="\n- ")
    return met


def mujoco() -> bool:
    """Print the differences from MuJoCo's limit; whether all are small. A warning is an error."""
    print("| mechanism | rows | accelerations |\n|-|-|-|")
    met = True
    for name, text in {**MODELS, **LIKE_MENAGERIE}.items():
        mechanism = Mechanism(mjcf(text))
        robot = mechanism.robot
        q = robot.constraints.assemble(near(robot, 7))
        tau = np.random.default_rng(7).standard_normal(robot.nv)
        mechanism.move_to(q)
        error = difference(
            robot.forward_dynamics(q, np.zeros(robot.nv), tau), mechanism.acceleration(tau)
        )
        met &= error < STIFF
        print(f"| {name} | {len(robot.constraints.rows)} | {error:.0e} |", flush=True)
    return met


def embedding() -> bool:
    """Print how embedded robots differ from constrained ones; whether all are within 1e-10."""
    print("| mechanism | velocities | independent | loops | accelerations |\n|-|-|-|-|-|")
    met = True
    for name, robot, at in _mechanisms():
        loops, error, count = embedded_difference(robot, at)
        met &= max(loops, error) < EMBEDDED
        print(f"| {name} | {robot.nv} | {count} | {loops:.0e} | {error:.0e} |", flush=True)
    return met


def embedded_difference(robot: kt.Robot, at: Any, count: int = 20) -> tuple[float, float, int]:
    """The errors of loops, the difference of accelerations, and how many velocities are left.

    Arguments:
        robot: with constraints.
        at: a configuration to assemble it near.
        count: how many random states.
    """
    free = robot.without("armature", "damping", "friction")
    e = free.constraints.embed(at=at)
    rng = np.random.default_rng(0)
    y = e.robot.random(rng, count)
    yd, force = rng.standard_normal((2, count, e.robot.nv))
    q, v = e.full(y), e.full_velocity(y, yd)
    tau = np.zeros((count, robot.nv))
    columns = [robot.labels.v.index(name) for name in e.robot.labels.v]
    tau[:, columns] = force
    a, _, _ = free.constraints.forward_dynamics(q, v, tau)
    embedded = e.robot.forward_dynamics(y, yd, force)
    loops = float(np.abs(free.constraints.errors(q)).max())
    return loops, difference(embedded, a[:, columns]), e.robot.nv


def _mechanisms() -> Iterator[tuple[str, kt.Robot, Any]]:
    """Names, robots and configurations to assemble them near."""
    for name in ("four_bar", "slider_crank", "parallel_ankle", "squeezer"):
        yield f"kt.robots.{name}", getattr(kt.robots, name)(), None
    for name, (make, _) in MECHANISMS.items():
        yield name, *make()


def _interpreted(kernel: Any, *arrays: Any) -> Any:
    return interpret(kernel.program, *(list(x) for x in arrays))
