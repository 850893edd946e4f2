"""Andrews' squeezing mechanism: seven bodies, three loops, one motor and a spring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kinetree.model.constraints import LoopJoint
from kinetree.model.joints import Revolute
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import Z, box, place, turned
from kinetree.scalar import Scalar, cos, sin, sqrt
from kinetree.spatial import Inertia, Symmetric3, Vector3

# the letters are those of Hairer & Wanner, m, kg, N
A, B, C = Vector3(-0.06934, -0.00227, 0.0), Vector3(-0.03635, 0.03273, 0.0), (0.014, 0.072)
D, DA, E, EA = 0.028, 0.0115, 0.02, 0.01421
RR, RA = 0.007, 0.00092
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
ZF, ZT, FA = 0.02, 0.04, 0.01421
TA, TB, U, UA, UB = 0.02308, 0.00916, 0.04, 0.01228, 0.00449
STIFFNESS, REST = 4530.0, 0.07785
MOTOR = 0.033
BETA, THETA, GAMMA = -0.0617138900142764, 0.0, 0.455279819163070
PHI, DELTA = 0.222668390165886, 0.487364979543843
OMEGA, EPSILON = -0.222668390165886, 1.23054744454982
RIGHT = math.pi / 2.0
HINGE = Revolute("z")


def squeezer(base: str = "fixed") -> Robot:
    """Andrews' squeezing mechanism in the plane of x and y: a motor turns bodies of centimetres.

    Seven bodies K1 to K7 whose three chains meet at one point: K1 and K2 from the motor's axis at
    the origin, K3 from the point B, K5 and K4, K7 and K6 from the point A. It is problem A03 of the
    Library of Computational Benchmark Problems, as in `four_bars`; equations and data are those of
    E. Hairer & G. Wanner, Solving Ordinary Differential Equations II (1996), section VII.7. There
    is no gravity. `squeezer_forces` gives the forces of the motor and the spring.

    The neutral configuration is the published start, where the loops are closed. The published
    angles are q plus those at the start: beta, Theta, delta, Phi, epsilon, Omega, gamma =
    -0.0617138900142764, 0, 0.487364979543843, 0.222668390165886, 1.23054744454982,
    -0.222668390165886, 0.455279819163070.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 7, with joints "beta", "Theta", "delta", "Phi", "epsilon", "Omega", "gamma"
        and three loops: the hinges between K2 and K3, K4 and K6. One degree of freedom remains.
    """
    assembly = Assembly("squeezer", "ground", box(1.0, 0.2, 0.2, 0.01), gravity=(0.0, 0.0, 0.0))
    for body, parent, joint, angle, (x, y), mass, com, moment in (
        ("K1", "ground", "beta", BETA, (0.0, 0.0), 0.04325, (RA, 0.0), 2.194e-6),
        ("K2", "K1", "Theta", THETA, (RR, 0.0), 0.00365, (-DA, 0.0), 4.41e-7),
        ("K3", "ground", "gamma", GAMMA, (B.x, B.y), 0.02373, (SB, -SA), 5.255e-6),
        ("K5", "ground", "delta", DELTA, (A.x, A.y), 0.0705, (TA, TB), 1.169e-5),
        ("K4", "K5", "Phi", PHI, (ZT, 0.0), 0.00706, (0.0, EA - E), 5.667e-7),
        ("K7", "ground", "epsilon", EPSILON, (A.x, A.y), 0.05498, (-UB, -UA), 1.912e-5),
        ("K6", "K7", "Omega", OMEGA, (0.0, -U), 0.00706, (ZF - FA, 0.0), 5.667e-7),
    ):
        pose = turned(Z, angle, Vector3(x, y, 0.0))
        assembly.add(body, parent, HINGE, pose, _flat(mass, com, moment), name=joint)
    meeting = {"K3": place(0.0, -SS), "K4": place(0.0, -E), "K6": place(ZF)}
    loops = [
        LoopJoint(f"K2-{body}", body, "K2", HINGE, at_frame=point, at_base=place(-D))
        for body, point in meeting.items()
    ]
    return assembly.robot(base).constrain(*loops)


def squeezer_forces(t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], p: Any) -> list[Scalar]:
    """The motor's torque of 0.033 N m on K1, and that of the spring between K3 and the point C.

    A controller for `squeezer()` on a fixed base.

    Arguments:
        t: the time, s; without effect.
        q, v: configuration and velocity, (7,).
        p: without effect.

    Returns:
        Joint forces, (7,).
    """
    gamma = q[6] + GAMMA
    arm = Vector3(SD * cos(gamma) + SC * sin(gamma), SD * sin(gamma) - SC * cos(gamma), 0)
    x, y = B.x + arm.x - C[0], B.y + arm.y - C[1]
    length = sqrt(x * x + y * y)
    tension = (length - REST) * -STIFFNESS / length
    torque = (arm.x * y - arm.y * x) * tension
    return [MOTOR, 0.0, 0.0, 0.0, 0.0, 0.0, torque]


def _flat(mass: float, com: tuple[float, float], moment: float) -> Inertia:
    """A plate in the plane of x and y with a moment of inertia about z."""
    moments = Symmetric3(0.6 * moment, 0.6 * moment, moment, 0.0, 0.0, 0.0)
    return Inertia.about_center(mass, Vector3(*com, 0.0), moments)
