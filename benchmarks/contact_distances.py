"""Distances of every pair of shapes at random poses, against MuJoCo's mj_geomDistance.

A tenth of the poses are on a grid, turned by right angles: axes are parallel there, and centres,
edges and faces coincide. Where MuJoCo's distance differs by more than is asked for, a third opinion
is taken: the depth of the origin in the hull of the differences of two polyhedra, by SciPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import mujoco
import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.geometry import (
    Box,
    Capsule,
    Collider,
    ContactPair,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Sphere,
)

CHUNK = 20_000
REACH = 0.5
"""m: how far shapes are from the origin."""
GRID = 0.05
"""m: that of poses turned by right angles."""
ALIGNED = 10
"""One of so many poses is on the grid."""
ASKED = 1e-6
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
    turns = Rotation.random(count * bodies, rng=rng).as_quat().reshape(count, bodies, 4)
    places = rng.uniform(-REACH, REACH, (count, bodies, 3))
    few = -(-count // ALIGNED)
    places[:few] = GRID * np.round(places[:few] / GRID)
    right_angles = Rotation.create_group("O").as_quat()
    turns[:few] = right_angles[rng.integers(len(right_angles), size=(few, bodies))]
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


def distance_lines(states: int, compared: int, pairs: Sequence[str] = ()) -> Iterator[str]:
    """A line for each pair: whether all is finite, and the largest difference from MuJoCo's.

    Arguments:
        states: of each pair.
        compared: how many of them are compared with MuJoCo.
        pairs: those compared, such as "capsule-box"; by default all.
    """
    for one, two in combinations_with_replacement(SHAPES, 2):
        if (pairs and f"{one}-{two}" not in pairs) or one == two == "plane":
            continue
        robot = two_bodies(SHAPES[one], SHAPES[two])
        if robot is None:
            yield f"{one}, {two}: no function; a capsule takes the place of one when loaded"
        else:
            yield f"{one}, {two}: {_compared(robot, states, compared)}"
    for kind in ("sphere", "capsule"):
        if not pairs or f"field-{kind}" in pairs:
            yield f"height field, {kind}: {_on_a_slope(SHAPES[kind], states)}"


def _compared(robot: kt.Robot, states: int, compared: int) -> str:
    """What a line says of a pair."""
    m = peer(robot)
    d, ends = mujoco.MjData(m), np.zeros(6)
    rng, bodies = np.random.default_rng(0), robot.nq // 7
    order = [7 * b + k for b in range(bodies) for k in (0, 1, 2, 6, 3, 4, 5)]
    worst, apart, finite = 0.0, 0, True
    doubted: list[tuple[float, float]] = []
    for begin in range(0, states, CHUNK):
        q = random_poses(rng, min(CHUNK, states - begin), bodies)
        found, points, normals = robot.contact.touches(q)
        finite = finite and all(np.isfinite(x).all() for x in (found, points, normals))
        distance = found.min(axis=1)[: max(0, compared - begin)]
        apart += int((distance > 0.0).sum())
        for k, (state, ours) in enumerate(zip(q[:, order], distance, strict=False)):
            d.qpos[:] = state
            mujoco.mj_kinematics(m, d)
            theirs = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, ends)
            if abs(ours - theirs) > ASKED and (truth := hull_depth(robot, q[k])) is not None:
                doubted.append((abs(ours - truth), abs(theirs - truth)))
            else:
                worst = max(worst, abs(ours - theirs))
    line = (
        f"{states} states, {'all finite' if finite else 'NOT FINITE'}; of {compared} {apart} "
        f"apart, distance differs by {worst:.0e} (asked {ASKED:.0e})"
    )
    if doubted:
        ours, theirs = np.max(doubted, axis=0)
        line += (
            f"; but {len(doubted)} in which the hull's depth differs from MuJoCo's by up to "
            f"{theirs:.0e} m, from ours by {ours:.0e}"
        )
    return line


def hull_depth(robot: kt.Robot, q: Any) -> float | None:
    """The negative depth of two polyhedra with radii; None if they are apart or others."""
    sides, radius = [], 0.0
    for c in robot.model.colliders:
        shape = c.shape
        if isinstance(shape, Box):
            corners = np.array(list(product((-1.0, 1.0), repeat=3))) * shape.half_edges
        elif isinstance(shape, Capsule):
            corners = np.array([[0.0, 0.0, -shape.half_length], [0.0, 0.0, shape.half_length]])
            radius += shape.radius
        else:
            return None
        pose = robot.pose(q, c.frame) if c.frame else np.eye(4)
        sides.append(corners @ pose[:3, :3].T + pose[:3, 3])
    offsets = ConvexHull((sides[1][:, None] - sides[0]).reshape(-1, 3)).equations
    depth = float(offsets[:, 3].max())
    return depth - radius if depth < 0.0 else None


def _on_a_slope(shape: Any, states: int) -> str:
    """A height field that is an inclined plane, against the plane; MuJoCo has no distance of it."""
    assembly = kt.Assembly("one", "world_link")
    assembly.add("b", "world_link", kt.joints.Floating(), mass=1.0, inertia=(0.01,) * 3)
    steps = np.linspace(-1.0, 1.0, 9)
    field = HeightField(0.3 * steps - 0.2 * steps[:, None], 1.0, 1.0)
    up = np.array([-0.3, 0.2, 1.0]) / np.linalg.norm([-0.3, 0.2, 1.0])
    turn, _ = Rotation.align_vectors([up], [[0.0, 0.0, 1.0]])
    pose = np.eye(4)
    pose[:3, :3] = turn.as_matrix()
    base, ball = assembly.robot("fixed"), Collider("shape", "b", shape)
    pair = ContactPair("ground", "shape")
    bent = base.collide(Collider("ground", None, field), ball, pair)
    flat = base.collide(Collider("ground", None, Plane(), pose), ball, pair)
    q = random_poses(np.random.default_rng(0), states, 1)
    worst, finite = 0.0, True
    for begin in range(0, states, CHUNK):
        found = bent.contact.touches(q[begin : begin + CHUNK])
        finite = finite and all(np.isfinite(x).all() for x in found)
        there = flat.distances(q[begin : begin + CHUNK])
        worst = max(worst, float(np.abs(found[0] - there).max()))
    return (
        f"{states} states, {'all finite' if finite else 'NOT FINITE'}; an inclined field differs "
        f"from the plane by {worst:.0e} (asked {ASKED:.0e})"
    )
