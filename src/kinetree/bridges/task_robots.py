"""The robots of tasks: joints with the inertia of motors; a humanoid, a hopper, a gripper."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, pi

from kinetree.geometry import Box, Capsule, Collider, ContactPair, Plane
from kinetree.joints import Floating, Prismatic, Revolute
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import BLUE, DARK, LIGHT, Y, box, rod, turned
from kinetree.spatial import Vector3

SOLE = (0.11, 0.05, 0.025)
"""Half the edges of the humanoid's feet, m."""
BLOCK = 0.03
"""Half the edge of the block that the gripper lifts, m."""
PAD = 0.012
"""The radius of the gripper's fingers, m."""


def driven(robot: Robot, armature: float, damping: float) -> Robot:
    """The same robot; its joints that have effort limits have the inertia and friction of motors.

    Arguments:
        robot: any.
        armature: the rotor inertia at the joint, kg m^2 (or kg).
        damping: viscous friction, N m s (or N s/m).

    Returns:
        A new robot.
    """
    model = robot.model
    bodies = tuple(
        replace(b, drive=replace(b.drive, armature=armature, damping=damping))
        if isfinite(b.limits.effort)
        else b
        for b in model.bodies
    )
    return Robot(replace(model, bodies=bodies))


def humanoid() -> Robot:
    """A humanoid of 46 kg on two legs of five joints, with a joint at each shoulder.

    Returns:
        The robot, on the ground, its feet boxes.
    """
    figure = Assembly("humanoid", "torso", box(24.0, 0.18, 0.3, 0.5, Vector3(0.0, 0.0, 0.3)))
    figure.add_shape("torso", "box", (0.18, 0.3, 0.5), (0.0, 0.0, 0.3), color=LIGHT)
    figure.add_shape("torso", "sphere", (0.1,), (0.0, 0.0, 0.68), color=LIGHT)
    for side, y in (("left", 1.0), ("right", -1.0)):
        _add_leg(figure, side, y)
        arm = f"{side}_arm"
        at = (0.0, 0.21 * y, 0.5)
        limits = Limits(-1.5, 1.5, 12.0, 40.0)
        figure.add(arm, "torso", Revolute("y"), at, rod(2.0, 0.04, -0.5), limits=limits)
        half = Vector3(0.0, 0.0, -0.25)
        figure.add_shape(arm, "capsule", (0.04, 0.42), half, color=BLUE)
    feet = [
        Collider(f"{side}_foot", f"{side}_foot", Box(SOLE), (0.03, 0.0, -0.06))
        for side in ("left", "right")
    ]
    robot = driven(figure.robot("floating"), 0.05, 0.5)
    return robot.collide(*feet).on_ground(friction=0.9)


def _add_leg(figure: Assembly, side: str, y: float) -> None:
    hip, thigh, shank, ankle, foot = (
        f"{side}_{part}" for part in ("hip", "thigh", "shank", "ankle", "foot")
    )
    half = Vector3(0.0, 0.0, -0.2)
    out, turn = Limits(-0.5, 0.5, 10.0, 120.0), Limits(-1.6, 1.0, 12.0, 150.0)
    knee, tip = Limits(0.0, 2.2, 12.0, 150.0), Limits(-0.8, 0.8, 12.0, 80.0)
    figure.add(
        hip, "torso", Revolute("x"), (0.0, 0.09 * y, 0.0), box(1.0, 0.08, 0.08, 0.08), limits=out
    )
    figure.add(thigh, hip, Revolute("y"), (0.0, 0.0, 0.0), rod(4.5, 0.06, -0.4), limits=turn)
    figure.add(shank, thigh, Revolute("y"), (0.0, 0.0, -0.4), rod(2.5, 0.045, -0.4), limits=knee)
    figure.add(
        ankle, shank, Revolute("y"), (0.0, 0.0, -0.4), box(0.4, 0.05, 0.05, 0.05), limits=tip
    )
    length, width, height = edges = tuple(2.0 * x for x in SOLE)
    sole = box(0.9, length, width, height, Vector3(0.03, 0.0, -0.06))
    roll = Limits(-0.5, 0.5, 12.0, 40.0)
    figure.add(foot, ankle, Revolute("x"), (0.0, 0.0, 0.0), sole, limits=roll)
    figure.add_shape(thigh, "capsule", (0.06, 0.3), half, color=LIGHT)
    figure.add_shape(shank, "capsule", (0.045, 0.32), half, color=DARK)
    figure.add_shape(foot, "box", edges, (0.03, 0.0, -0.06), color=BLUE)


def hopper() -> Robot:
    """One leg in the plane y = 0: a body of 4 kg, a thigh, a shank and a foot.

    Its first three coordinates are the place x and the height z of the hip, and the pitch.

    Returns:
        The robot, on the ground; the foot is a capsule along x.
    """
    leg = Assembly("hopper", "world")
    leg.add("along", "world", Prismatic("x"))
    leg.add("up", "along", Prismatic("z"))
    leg.add("body", "up", Revolute("y"), inertia=rod(4.0, 0.06, 0.35))
    turn = Limits(-1.5, 1.0, 15.0, 60.0)
    leg.add("thigh", "body", Revolute("y"), inertia=rod(1.5, 0.04, -0.3), limits=turn)
    bend = Limits(0.0, 2.4, 15.0, 60.0)
    leg.add("shank", "thigh", Revolute("y"), (0.0, 0.0, -0.3), rod(0.8, 0.03, -0.3), limits=bend)
    tip = Limits(-0.9, 0.9, 15.0, 30.0)
    sole = box(0.3, 0.2, 0.06, 0.04, Vector3(0.04, 0.0, -0.02))
    leg.add("foot", "shank", Revolute("y"), (0.0, 0.0, -0.3), sole, limits=tip)
    for name, radius, length, color in (
        ("body", 0.06, 0.3, LIGHT),
        ("thigh", 0.04, -0.25, LIGHT),
        ("shank", 0.03, -0.26, DARK),
    ):
        middle = Vector3(0.0, 0.0, length / 2.0)
        leg.add_shape(name, "capsule", (radius, abs(length)), middle, color=color)
    lying = turned(Y, pi / 2, Vector3(0.04, 0.0, -0.02))
    leg.add_shape("foot", "capsule", (0.03, 0.16), lying, color=BLUE)
    robot = driven(leg.robot(), 0.02, 0.2)
    return robot.collide(Collider("foot", "foot", Capsule(0.03, 0.08), lying)).on_ground()


def gripper() -> Robot:
    """A palm that moves up and down, two fingers that close along y, and a block on the ground.

    Returns:
        The robot; the block is a free body of 0.3 kg.
    """
    hand = Assembly("gripper", "world")
    rise, close = Limits(0.0, 0.5, 1.0, 60.0), Limits(-0.06, 0.06, 0.5, 30.0)
    hand.add("palm", "world", Prismatic("z"), inertia=box(1.0, 0.06, 0.2, 0.04), limits=rise)
    hand.add_shape("palm", "box", (0.06, 0.2, 0.02), (0.0, 0.0, 0.12), color=LIGHT)
    parts: list[Collider | ContactPair] = [
        Collider("floor", None, Plane()),
        Collider("block", "block", Box((BLOCK, BLOCK, BLOCK))),
        ContactPair("floor", "block"),
    ]
    lying = turned(Y, pi / 2, Vector3(0.0, 0.0, 0.0))
    for side, axis, y in (("left", "-y", 0.07), ("right", "y", -0.07)):
        finger = f"{side}_finger"
        at = (0.0, y, 0.0)
        solid = box(0.2, 0.04, 0.02, 0.1, Vector3(0.0, 0.0, 0.05))
        hand.add(finger, "palm", Prismatic(axis), at, solid, limits=close)
        hand.add_shape(finger, "box", (0.03, 0.015, 0.11), (0.0, 0.0, 0.055), color=DARK)
        hand.add_shape(finger, "capsule", (PAD, 0.04), lying, color=BLUE)
        parts.append(Collider(finger, finger, Capsule(PAD, 0.02), lying))
        parts.append(ContactPair(finger, "block", condim=4, friction=(1.0, 0.01, 0.0001)))
    edge = 2.0 * BLOCK
    hand.add("block", "world", Floating(), inertia=box(0.3, edge, edge, edge))
    hand.add_shape("block", "box", (edge, edge, edge), color=(0.77, 0.38, 0.23))
    return driven(hand.robot(), 0.05, 1.0).collide(*parts)
