"""Distances of every pair of shapes at random poses, against MuJoCo's mj_geomDistance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import mujoco
import numpy as np

import kinetree as kt
from kinetree.geometry import (
    Box,
    Capsule,
    Collider,
    ContactPair,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    Plane,
    Sphere,
)

CHUNK = 20_000
REACH = 0.5
"""m: how far shapes are from the origin."""
SHAPES: dict[str, Any] = {
    "plane": Plane(),
    "sphere": Sphere(0.1),
    "capsule": Capsule(0.05, 0.2),
    "cylinder": Cylinder(0.1, 0.15),
    "ellipsoid": Ellipsoid((0.1, 0.2, 0.15)),
    "box": Box((0.1, 0.2, 0.3)),
    "mesh": ConvexMesh(np.random.default_rng(5).normal(size=(30, 3)) * 0.15),
}


def two_bodies(first: Any, second: Any) -> kt.Robot | None:
    """Two free bodies with a shape each, or one and a plane; None if they cannot touch."""
    assembly = kt.Assembly("two", "world_link")
    bodies = ["b"] if isinstance(first, Plane) else ["a", "b"]
    for name in bodies:
        assembly.add(name, "world_link", kt.joints.Floating(), mass=1.0, inertia=(0.01,) * 3)
    try:
        return assembly.robot("fixed").collide(
            Collider("first", "a" if "a" in bodies else None, first),
            Collider("second", "b", second),
            ContactPair("first", "second"),
        )
    except kt.errors.KinetreeError:
        return None


def random_poses(rng: Any, count: int, bodies: int) -> Any:
    """Places and quaternions (x, y, z, w), (count, 7 bodies)."""
    turns = rng.normal(size=(count, bodies, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    places = rng.uniform(-REACH, REACH, (count, bodies, 3))
    return np.concatenate([places, turns], axis=-1).reshape(count, -1)


def peer(robot: kt.Robot) -> Any:
    """The same two bodies in MuJoCo."""
    model = robot.model
    geoms, assets = [], ""
    for c in model.colliders:
        attributes, asset = _geom(c.shape, c.name)
        assets += asset
        joint = "" if c.frame is None else "<freejoint/>"
        geoms.append(f"<body>{joint}<geom {attributes} mass='1'/></body>")
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{assets}</asset><worldbody>{''.join(geoms)}</worldbody></mujoco>"
    )


def _geom(shape: Any, name: str) -> tuple[str, str]:
    asset, size = "", ""
    if isinstance(shape, Plane):
        size = "5 5 1"
    elif isinstance(shape, Sphere):
        size = f"{shape.radius}"
    elif isinstance(shape, (Capsule, Cylinder)):
        size = f"{shape.radius} {shape.half_length}"
    elif isinstance(shape, ConvexMesh):
        points = " ".join(str(x) for v in shape.vertices for x in v)
        asset = f"<mesh name='{name}' vertex='{points}'/>"
        return f"name='{name}' type='mesh' mesh='{name}'", asset
    else:
        size = " ".join(map(str, shape.half_edges if isinstance(shape, Box) else shape.half_axes))
    return f"name='{name}' type='{shape.kind}' size='{size}'", asset


def distance_lines(states: int, compared: int) -> Iterator[str]:
    """A line for each pair: whether all is finite, and the largest difference of those apart.

    Arguments:
        states: of each pair.
        compared: how many of them are compared with MuJoCo.
    """
    for one, two in combinations_with_replacement(SHAPES, 2):
        robot = two_bodies(SHAPES[one], SHAPES[two])
        if robot is None:
            if one != "plane" or two != "plane":
                yield f"{one}, {two}: no function; a capsule takes the place of one when loaded"
            continue
        m = peer(robot)
        d, ends = mujoco.MjData(m), np.zeros(6)
        rng, bodies = np.random.default_rng(0), robot.nq // 7
        worst, apart, finite = 0.0, 0, True
        for begin in range(0, states, CHUNK):
            q = random_poses(rng, min(CHUNK, states - begin), bodies)
            found, points, normals = robot.contact.touches(q)
            finite = finite and all(np.isfinite(x).all() for x in (found, points, normals))
            distance = found.min(axis=1)
            order = [7 * b + k for b in range(bodies) for k in (0, 1, 2, 6, 3, 4, 5)]
            few = slice(max(0, min(CHUNK, compared - begin)))
            for qpos, ours in zip(q[few][:, order], distance[few], strict=True):
                if ours <= 0.0:
                    continue
                d.qpos[:] = qpos
                mujoco.mj_kinematics(m, d)
                theirs = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, ends)
                worst, apart = max(worst, abs(ours - theirs)), apart + 1
        yield (
            f"{one}, {two}: {states} states, {'all finite' if finite else 'NOT FINITE'}; of "
            f"{compared} {apart} apart, distance differs by {worst:.0e} (asked 1e-06)"
        )
