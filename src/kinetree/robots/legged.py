"""Robots on legs."""

from __future__ import annotations

import math
import random

from kinetree.errors import ModelError
from kinetree.model.geometry import Collider, Sphere
from kinetree.model.joints import Revolute
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import (
    BLUE,
    DARK,
    LIGHT,
    X,
    box,
    random_direction,
    random_inertia,
    random_place,
    rod,
    turned,
)
from kinetree.spatial import Vector3

FOOT = 0.02
"""The radius of the quadruped's feet, m."""


def quadruped(base: str = "floating") -> Robot:
    """A walking robot of twelve joints and 12 kg: on each leg abduction, hip and knee.

    Of the order of today's small quadrupeds: a trunk of 0.4 m, legs of 0.2 m and 0.2 m. Its feet
    are balls; `on_ground` lets them touch the ground.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot.
    """
    assembly = Assembly("quadruped", "trunk", box(6.0, 0.4, 0.2, 0.12))
    assembly.add_shape("trunk", "box", (0.4, 0.2, 0.12), color=LIGHT)
    assembly.add_shape("trunk", "sphere", (0.055,), (0.2, 0.0, 0.03), color=BLUE)  # its head
    feet = []
    for leg, along, side in (
        ("front_left", 1, 1),
        ("front_right", 1, -1),
        ("hind_left", -1, 1),
        ("hind_right", -1, -1),
    ):
        hip, thigh, shank = f"{leg}_hip", f"{leg}_thigh", f"{leg}_shank"
        abduction = box(0.55, 0.1, 0.06, 0.08)
        assembly.add(
            hip,
            "trunk",
            Revolute("x"),
            (0.19 * along, 0.05 * side, 0.0),
            abduction,
            limits=Limits(-0.8, 0.8, 20.0, 24.0),
        )
        assembly.add(
            thigh,
            hip,
            Revolute("y"),
            (0.0, 0.08 * side, 0.0),
            rod(0.8, 0.025, -0.2),
            limits=Limits(-1.0, 3.5, 20.0, 24.0),
        )
        assembly.add(
            shank,
            thigh,
            Revolute("y"),
            (0.0, 0.0, -0.2),
            rod(0.15, 0.012, -0.2),
            limits=Limits(-2.7, -0.6, 20.0, 24.0),
        )
        assembly.add(f"{leg}_foot", shank, None, (0.0, 0.0, -0.2))
        across = turned(X, math.pi / 2, Vector3(0.0, 0.05 * side, 0.0))
        half = Vector3(0.0, 0.0, -0.1)
        assembly.add_shape(hip, "cylinder", (0.045, 0.1), across, color=DARK)
        assembly.add_shape(thigh, "capsule", (0.025, 0.2), half, color=LIGHT)
        assembly.add_shape(shank, "capsule", (0.012, 0.2), half, color=DARK)
        assembly.add_shape(f"{leg}_foot", "sphere", (FOOT,), color=BLUE)
        feet.append(Collider(f"{leg}_foot", f"{leg}_foot", Sphere(FOOT)))
    return assembly.robot(base).collide(*feet)


def legged(limbs: int, joints: int, seed: int = 0, base: str = "fixed") -> Robot:
    """Serial limbs of revolute joints on one base, with random axes and inertias.

    With base="floating", legged(2, 10) and legged(4, 5) are like the biped and the quadruped of
    Echeandia & Wensing's Table 2, which have 20 actuated joints; its other two are like chain(20)
    and tree(20).

    Arguments:
        limbs: how many.
        joints: of each limb.
        seed: of the random axes and inertias.
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot.
    """
    if limbs < 1 or joints < 1:
        raise ModelError(f"legged({limbs}, {joints}): at least one limb and joint are expected")
    rng = random.Random(seed)
    assembly = Assembly(f"legged{limbs}x{joints}", "base", random_inertia(rng))
    digits = max(1, math.ceil(math.log10(max(limbs, joints) + 1)))
    for limb in range(1, limbs + 1):
        parent = "base"
        for k in range(1, joints + 1):
            name = f"limb{limb:0{digits}}_{k:0{digits}}"
            axis = Revolute(random_direction(rng))
            inertia = random_inertia(rng)
            assembly.add(name, parent, axis, random_place(rng), inertia)
            parent = name
    return assembly.robot(base)
