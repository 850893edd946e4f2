"""Two shapes at random poses, computed by a compiled kernel and by MuJoCo."""

from dataclasses import dataclass

import mujoco
import numpy as np

import kinetree as kt
from kinetree.algorithms.contact import slot_count, touches
from kinetree.geometry import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Sphere,
)
from kinetree.spatial import Rotation, Transform, Vector3

POSE = 7
"""A point and a quaternion (x, y, z, w)."""


@dataclass(frozen=True)
class Found:
    """distance (n, slots), point and normal (n, slots, 3)."""

    distance: np.ndarray
    point: np.ndarray
    normal: np.ndarray


def pose(x):
    return Transform(Rotation.quat_xyzw(*x[3:]), Vector3(*x[:3]))


def kernel(first, second, margin=0.0):
    """The kernel from two poses to rows of distance, point and normal."""

    def compute(model, a, b):
        found = touches(first, pose(a), second, pose(b), margin)
        return [[t.distance, *t.point, *t.normal] for t in found]

    return kt.robots.chain(1).custom_kernel(compute, {"a": POSE, "b": POSE})


def computed(first, second, a, b, margin=0.0):
    rows = kernel(first, second, margin)(a, b)
    assert np.isfinite(rows).all()
    assert rows.shape[-2] == slot_count(first, second)
    return Found(rows[..., 0], rows[..., 1:4], rows[..., 4:])


def random_poses(rng, n, reach):
    """n poses within reach of the origin."""
    points = rng.uniform(-reach, reach, (n, 3))
    turns = rng.normal(size=(n, 4))
    return np.concatenate([points, turns / np.linalg.norm(turns, axis=1)[:, None]], axis=1)


def geom(shape, name):
    """The attributes of a shape's geom, and the asset that it needs.

    MuJoCo moves a mesh to its centre and turns it to its axes, and places the geom accordingly.
    """
    if isinstance(shape, Plane):
        return f'name="{name}" type="plane" size="5 5 1"', ""
    if isinstance(shape, Sphere):
        return f'name="{name}" type="sphere" size="{shape.radius}"', ""
    if isinstance(shape, (Capsule, Cylinder)):
        size = f"{shape.radius} {shape.half_length}"
        return f'name="{name}" type="{shape.kind}" size="{size}"', ""
    if isinstance(shape, (Box, Ellipsoid)):
        lengths = shape.half_edges if isinstance(shape, Box) else shape.half_axes
        size = " ".join(map(str, lengths))
        return f'name="{name}" type="{shape.kind}" size="{size}"', ""
    if isinstance(shape, ConvexMesh):
        points = " ".join(str(x) for v in shape.vertices for x in v)
        asset = f'<mesh name="{name}" vertex="{points}"/>'
        return f'name="{name}" type="mesh" mesh="{name}"', asset
    assert isinstance(shape, HeightField)
    raise NotImplementedError


class Scene:
    """Two geoms in MuJoCo: the first on a mocap body, the second on a free one."""

    def __init__(self, first, second, margin=0.0):
        (one, asset1), (two, asset2) = geom(first, "first"), geom(second, "second")
        self.model = mujoco.MjModel.from_xml_string(f"""
        <mujoco><option><flag nativeccd="enable"/></option>
        <asset>{asset1}{asset2}</asset>
        <worldbody><body mocap="true"><geom {one}/></body>
        <body><freejoint/><geom {two} mass="1"/></body></worldbody>
        <contact><pair geom1="first" geom2="second" margin="{margin}"/></contact>
        </mujoco>""")
        self.data = mujoco.MjData(self.model)

    def place(self, a, b):
        self.data.mocap_pos[0], self.data.mocap_quat[0] = a[:3], a[[6, 3, 4, 5]]
        self.data.qpos[:3], self.data.qpos[3:] = b[:3], b[[6, 3, 4, 5]]
        mujoco.mj_kinematics(self.model, self.data)

    def contacts(self, a, b):
        """Rows of distance, point and normal."""
        self.place(a, b)
        mujoco.mj_collision(self.model, self.data)
        return np.array([[c.dist, *c.pos, *c.frame[:3]] for c in self.data.contact]).reshape(-1, 7)

    def distance(self, a, b, most=10.0):
        """The distance, and the points on the two surfaces."""
        self.place(a, b)
        ends = np.zeros(6)
        return mujoco.mj_geomDistance(self.model, self.data, 0, 1, most, ends), ends


def check_against(first, second, a, b, margin, tolerance):
    """Compare every touch within the margin with MuJoCo's contacts; their number."""
    found, scene = computed(first, second, a, b, margin), Scene(first, second, margin)
    rows = np.concatenate([found.distance[..., None], found.point, found.normal], axis=-1)
    count = 0
    for i in range(len(a)):
        expected = scene.contacts(a[i], b[i])
        ours = rows[i][rows[i, :, 0] <= margin]
        assert len(ours) == len(expected), (a[i], b[i])
        if len(expected):
            apart = np.abs(expected[:, None] - ours[None]).max(axis=-1)
            assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) <= tolerance
        count += len(expected)
    return count
