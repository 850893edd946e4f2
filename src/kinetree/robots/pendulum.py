"""The two mechanisms of every textbook."""

from __future__ import annotations

from kinetree.model.joints import Prismatic, Revolute
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.robots.building import Assembly, X, Y, box, rod
from kinetree.spatial import Inertia, Vector3


def double_pendulum(base: str = "fixed") -> Robot:
    """Two uniform rods of 1 kg and 1 m, hanging, swinging in the plane of x and z."""
    assembly = Assembly("double_pendulum", "pivot", Inertia.zero())
    assembly.add("upper", rod(1.0, 0.02, -1.0), "pivot", Revolute(Y), Vector3(0.0, 0.0, 0.0))
    assembly.add("lower", rod(1.0, 0.02, -1.0), "upper", Revolute(Y), Vector3(0.0, 0.0, -1.0))
    return assembly.robot(base)


def cart_pole(base: str = "fixed") -> Robot:
    """A cart of 1 kg on a rail along x, and a pole of 0.1 kg and 1 m standing on it."""
    assembly = Assembly("cart_pole", "rail", Inertia.zero())
    assembly.add(
        "cart",
        box(1.0, 0.3, 0.2, 0.15),
        "rail",
        Prismatic(X),
        Vector3(0.0, 0.0, 0.0),
        Limits(-2.4, 2.4),
        "slide",
    )
    at = Vector3(0.0, 0.0, 0.0)
    assembly.add("pole", rod(0.1, 0.01, 1.0), "cart", Revolute(Y), at, name="hinge")
    return assembly.robot(base)
