"""Constrained dynamics beside Pinocchio's, on the same states in the same process.

The rows of `python -m benchmarks.constraints --only speed`: feet that are held, their accelerations
and derivatives, checked for agreement before anything is timed. Times are those of the processor,
one thread, so that other programs on it do not count. `--only cold`: how long the first call of a
fresh process takes that finds no cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.pinocchio_rows import BATCH, ROBOTS
from benchmarks.timing import on_the_quietest, seconds_in_turn
from kinetree.constraints import Constraint, HeldFrame, LoopJoint

AGREEMENT = 1e-8
STATES = 64
"""Different states, repeated in the batch."""


@dataclass(frozen=True)
class Feet:
    """A robot that stands.

    rows: how many each foot has: six (held flat) or three (a point).
    asked: how many times faster than Pinocchio's call a state in a batch, a single call, and the
        derivatives of a state in a batch shall be.
    """

    name: str
    file: str
    frames: tuple[str, ...]
    rows: int
    asked: tuple[float, float, float]

    def robot(self, mimic: bool = True) -> kt.Robot:
        """Ours, without what Pinocchio leaves out.

        Arguments:
            mimic: as in `kinetree.load`.
        """
        free = kt.load(ROBOTS / self.file, base="floating", mimic=mimic).without(
            "armature", "damping", "friction"
        )
        held: list[Constraint] = [
            LoopJoint(name, name)
            if self.rows == 6
            else HeldFrame(name, name, rows=("x", "y", "z"), anywhere=True)
            for name in self.frames
        ]
        return free.constrain(*held)


CASES = (
    Feet(
        "Talos, 2 x 6 rows",
        "talos_data/robots/talos_reduced.urdf",
        ("leg_left_6_link", "leg_right_6_link"),
        6,
        (30.0, 5.0, 10.0),
    ),
    Feet(
        "G1, 2 x 6 rows",
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        ("left_ankle_roll_link", "right_ankle_roll_link"),
        6,
        (30.0, 5.0, 10.0),
    ),
    Feet(
        "Go1, 4 x 3 rows",
        "go1_description/urdf/go1.urdf",
        ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
        3,
        (30.0, 5.0, 10.0),
    ),
)


class Peer:
    """The same robot in Pinocchio, with the same feet held."""

    def __init__(self, feet: Feet) -> None:
        self.model = pin.buildModelFromUrdf(str(ROBOTS / feet.file), pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        kind = pin.ContactType.CONTACT_6D if feet.rows == 6 else pin.ContactType.CONTACT_3D
        self.contacts = pin.StdVec_RigidConstraintModel()
        for name in feet.frames:
            frame = self.model.frames[self.model.getFrameId(name)]
            place = (frame.parentJoint, frame.placement, 0, pin.SE3.Identity(), pin.LOCAL)
            self.contacts.append(pin.RigidConstraintModel(kind, self.model, *place))
        self.contact_data = pin.StdVec_RigidConstraintData()
        for contact in self.contacts:
            self.contact_data.append(contact.createData())
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.contact_data)

    def accelerations(self, q: Any, v: Any, tau: Any) -> Any:
        return pin.constraintDynamics(
            self.model, self.data, q, v, tau, self.contacts, self.contact_data, self.settings
        )

    def derivatives(self, q: Any, v: Any, tau: Any) -> Any:
        self.accelerations(q, v, tau)
        pin.computeConstraintDynamicsDerivatives(
            self.model, self.data, self.contacts, self.contact_data, self.settings
        )
        return self.data.ddq_dq, self.data.ddq_dv, self.data.ddq_dtau

    def impact(self, q: Any, v: Any, restitution: float) -> Any:
        return pin.impulseDynamics(
            self.model,
            self.data,
            q,
            v,
            self.contacts,
            self.contact_data,
            restitution,
            self.settings,
        )


def states(robot: kt.Robot, count: int) -> tuple[Any, Any, Any]:
    """Random states and joint forces."""
    rng = np.random.default_rng(0)
    v, tau = rng.standard_normal((2, count, robot.nv))
    return robot.random(rng, count), v, 10.0 * tau


def agreement(robot: kt.Robot, peer: Peer, given: tuple[Any, Any, Any]) -> tuple[float, float]:
    """The largest relative differences of accelerations and of their derivatives."""
    ours, _, _ = robot.constraints.forward_dynamics(*given)
    slopes = robot.constraints.forward_dynamics_derivatives(*given)[:3]
    worst = [0.0, 0.0]
    for k, state in enumerate(zip(*given, strict=True)):
        theirs = peer.accelerations(*state)
        worst[0] = max(worst[0], difference(ours[k], theirs))
        for mine, other in zip(slopes, peer.derivatives(*state), strict=True):
            worst[1] = max(worst[1], difference(mine[k], other))
    return worst[0], worst[1]


def speed() -> bool:
    """Print a row for each robot; whether everything that is asked is met."""
    met = True
    for feet in CASES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            robot, peer = feet.robot(), Peer(feet)
        few = states(robot, STATES)
        errors = agreement(robot, peer, few)
        assert max(errors) < AGREEMENT, errors
        met &= _measure(feet, robot, peer, few, errors)
    return met


def _measure(
    feet: Feet, robot: kt.Robot, peer: Peer, few: Any, errors: tuple[float, float]
) -> bool:
    many = tuple(np.tile(x, (BATCH // STATES, 1)) for x in few)
    one = tuple(x[0] for x in few)
    dynamics = robot.kernel("constrained_dynamics")
    slopes = robot.kernel("constrained_dynamics_derivatives")
    outs = {kernel: kernel(*many) for kernel in (dynamics, slopes)}

    def theirs(function: Callable[..., Any]) -> Callable[[], None]:
        def run() -> None:
            for state in zip(*few, strict=True):
                function(*state)

        return run

    calls = [
        lambda: dynamics(*many, out=outs[dynamics]),
        lambda: dynamics(*one),
        lambda: slopes(*many, out=outs[slopes]),
        theirs(peer.accelerations),
        theirs(peer.derivatives),
    ]
    with on_the_quietest(calls[0]):
        batch, single, slope, peer_call, peer_slope = seconds_in_turn(
            calls, clock=time.process_time
        )
    batch, slope = batch / len(many[0]), slope / len(many[0])
    peer_call, peer_slope = peer_call / STATES, peer_slope / STATES
    ratios = peer_call / batch, peer_call / single, peer_slope / slope
    words = [
        f"{feet.name}: {sum(dynamics.operations.values())} operations, differs by {errors[0]:.0e}",
        f"batch {1e6 * batch:.2f} us, {ratios[0]:.0f} x Pinocchio's {1e6 * peer_call:.1f} "
        f"(asked {feet.asked[0]:.0f})",
        f"one call {1e6 * single:.2f} us, {ratios[1]:.1f} x (asked {feet.asked[1]:.0f})",
        f"derivatives {1e6 * slope:.2f} us, {ratios[2]:.1f} x {1e6 * peer_slope:.1f} "
        f"(asked {feet.asked[2]:.0f}; differ by {errors[1]:.0e})",
    ]
    print("; ".join(words), flush=True)
    return all(ratio >= asked for ratio, asked in zip(ratios, feet.asked, strict=True))


FIRST_CALL = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from benchmarks.constraint_speed import CASES
robot = CASES[int(sys.argv[1])].robot()
still = np.zeros(robot.nv)
started = time.perf_counter(), time.process_time()
robot.constraints.forward_dynamics(robot.neutral(), still, still)
print(time.perf_counter() - started[0], time.process_time() - started[1])
"""
COLD = 4.0
"""Seconds of the processor that a first call may take."""


def cold() -> bool:
    """Print how long first calls take without a cache; whether all are short enough."""
    print("| first call, no cache | wall | processor |\n|-|-|-|")
    met = True
    for k, feet in enumerate(CASES):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", FIRST_CALL, str(k)]
            settings = {**os.environ, "KINETREE_CACHE": folder}
            done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
        wall, used = map(float, done.stdout.split())
        met &= used <= COLD
        print(f"| {feet.name} | {wall:.2f} s | {used:.2f} s |", flush=True)
    return met


def difference(a: Any, b: Any) -> float:
    """The largest difference of two arrays, relative to the largest entry, or to one."""
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
