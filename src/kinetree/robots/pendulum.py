"""Textbook mechanisms: the double pendulum and the cart-pole."""

from __future__ import annotations

from kinetree.model.joints import Prismatic, Revolute
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import box, rod


def double_pendulum(base: str = "fixed") -> Robot:
    """Two uniform rods of 1 kg and 1 m that hang and swing in the plane of x and z.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 2.
    """
    assembly = Assembly("double_pendulum", "pivot")
    assembly.add("upper", "pivot", Revolute("y"), (0.0, 0.0, 0.0), rod(1.0, 0.02, -1.0))
    assembly.add("lower", "upper", Revolute("y"), (0.0, 0.0, -1.0), rod(1.0, 0.02, -1.0))
    return assembly.robot(base)


def cart_pole(base: str = "fixed") -> Robot:
    """A cart of 1 kg on a rail along x, and a pole of 0.1 kg and 1 m standing on it.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 2: the cart's position, m, and the pole's angle, rad.
    """
    assembly = Assembly("cart_pole", "rail")
    cart = box(1.0, 0.3, 0.2, 0.15)
    rail = Prismatic("x")
    assembly.add("cart", "rail", rail, inertia=cart, name="slide", limits=(-2.4, 2.4))
    assembly.add("pole", "cart", Revolute("y"), inertia=rod(0.1, 0.01, 1.0), name="hinge")
    return assembly.robot(base)
