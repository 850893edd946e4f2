"""Contact against closed forms: a block on a slope, balls that roll and bounce, a tower."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.geometry import Box, Collider, ContactPair, Plane, Sphere

G = 9.81
ELLIPTIC = kt.ContactSolver(cone="elliptic")
FRICTION = 0.3


def body(shape: Any, slope: float = 0.0, inertia: float = 0.01, **pair: Any) -> kt.Robot:
    """A free body of 1 kg and a plane, inclined about y."""
    robot = kt.Assembly("body", "body", mass=1.0, inertia=(inertia,) * 3).robot("floating")
    c, s = np.cos(slope), np.sin(slope)
    plane = np.eye(4)
    plane[:3, :3] = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
    return robot.collide(
        Collider("plane", None, Plane(), plane),
        Collider("shape", "body", shape),
        ContactPair("plane", "shape", **pair),
    )


def slope_line(slope: float) -> str:
    """A block on a slope: how far it is from where Coulomb's friction would have it after 1 s."""
    block, height = body(Box((0.1, 0.1, 0.05)), slope, friction=FRICTION), 0.05
    c, s = np.cos(slope), np.sin(slope)
    start = np.r_[s * height, 0.0, c * height, 0.0, np.sin(slope / 2), 0.0, np.cos(slope / 2)]
    motion = block.simulate(start, np.zeros(6), time=1.0, dt=0.0005, contact=ELLIPTIC)
    way = float((motion.q[-1, :3] - start[:3]) @ [c, 0.0, -s])
    expected = 0.5 * G * max(0.0, s - FRICTION * c)
    cone = np.arctan(FRICTION)
    name = "below" if slope < cone else "above"
    return (
        f"block on a slope {name} the cone ({slope:.2f} rad, cone {cone:.2f}): {way:.4f} m after "
        f"1 s, Coulomb {expected:.4f} (asked: sticks below, slides above)"
    )


def rolling_line() -> str:
    """A ball that slides begins to roll at 5/7 of its speed."""
    radius, speed = 0.1, 2.0
    ball = body(Sphere(radius), inertia=0.4 * radius**2, friction=FRICTION)
    start = np.r_[0.0, 0.0, radius - 1e-4, 0.0, 0.0, 0.0, 1.0]
    v = np.r_[speed, 0.0, 0.0, 0.0, 0.0, 0.0]
    motion = ball.simulate(start, v, time=1.0, dt=0.0005, contact=ELLIPTIC)
    last = (motion.q[-1, 0] - motion.q[-101, 0]) / (motion.times[-1] - motion.times[-101])
    return f"ball that slides at {speed} m/s: rolls at {last:.4f}, 5/7 are {5 * speed / 7:.4f}"


def bounce_line() -> str:
    """A ball on a contact without damping comes back to its height."""
    height = 1.0
    spring = {"solref": (-1e4, 0.0), "solimp": (0.99, 0.99, 0.001, 0.5, 2.0)}
    ball = body(Sphere(0.1), condim=1, **spring)
    start = np.r_[0.0, 0.0, 0.1 + height, 0.0, 0.0, 0.0, 1.0]
    motion = ball.simulate(start, np.zeros(6), time=1.2, dt=0.0005, method="rk4")
    touched = int(np.argmin(motion.q[:, 2]))
    found = float(motion.q[touched:, 2].max()) - 0.1
    return f"ball that falls {height} m on a spring: comes back to {found:.4f} m"


def tower_line() -> str:
    """Ten boxes on each other, once they have settled: how far they move in 10 s."""
    assembly = kt.Assembly("tower", "ground")
    for i in range(10):
        joint = kt.joints.Floating()
        assembly.add(f"box{i}", "ground", joint, mass=1.0, inertia=(1 / 150,) * 3)
    shapes = [Collider(f"c{i}", f"box{i}", Box((0.1, 0.1, 0.1))) for i in range(10)]
    pairs = [ContactPair("plane", "c0")]
    pairs += [ContactPair(f"c{i}", f"c{i + 1}") for i in range(9)]
    tower = assembly.robot("fixed").collide(Collider("plane", None, Plane()), *shapes, *pairs)
    q = tower.neutral().reshape(10, 7)
    q[:, 2] = 0.1 + 0.2 * np.arange(10)
    settled = tower.simulate(q.ravel(), np.zeros(tower.nv), time=2.0, dt=0.002)
    motion = tower.simulate(settled.q[-1], settled.v[-1], time=10.0, dt=0.002, every=500)
    moved = float(np.abs(motion.q - motion.q[0]).max())
    return f"tower of ten boxes: moves by {moved:.0e} m in 10 s (asked 1e-04)"


def closed_form_lines() -> Iterator[str]:
    """A line for each closed form."""
    yield slope_line(0.2)
    yield slope_line(0.5)
    yield rolling_line()
    yield bounce_line()
    yield tower_line()
