"""Uneven ground: exact on slopes, the heights of a file, no NaN at points of the grid."""

import mujoco
import numpy as np

import kinetree as kt
from kinetree.geometry import Capsule, HeightField, Plane, Sphere
from tests.algorithms.contact.scenes import computed, kernel, random_poses

X, Y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-0.8, 0.8, 4))
SLOPE = HeightField(0.2 * X - 0.1 * Y + 0.05, 1.0, 0.8)


def test_an_even_slope_is_a_plane():
    rng = np.random.default_rng(0)
    b = random_poses(rng, 300, 0.5)
    ground = np.tile([0.0, 0, 0, 0, 0, 0, 1], (300, 1))
    normal = np.array([-0.2, 0.1, 1.0]) / np.linalg.norm([-0.2, 0.1, 1.0])
    axis = np.cross([0, 0, 1], normal)
    half = np.arcsin(np.linalg.norm(axis)) / 2
    turn = [*(axis / np.linalg.norm(axis) * np.sin(half)), np.cos(half)]
    plane = np.tile([0.0, 0, 0.05, *turn], (300, 1))
    for shape in (Sphere(0.1), Capsule(0.05, 0.1)):
        ours, exact = computed(SLOPE, shape, ground, b), computed(Plane(), shape, plane, b)
        np.testing.assert_allclose(ours.distance, exact.distance, atol=1e-12)
        np.testing.assert_allclose(ours.point, exact.point, atol=1e-12)
        np.testing.assert_allclose(ours.normal, exact.normal, atol=1e-12)


def test_derivatives_are_finite_at_points_of_the_grid_and_outside():
    points = [(x, y, 0.3) for x in (-1, -0.5, 0, 1, 2) for y in (-0.8, 0.8, 3)]
    b = np.array([[*p, 0, 0, 0, 1] for p in points], float)
    a = np.tile([0.0, 0, 0, 0, 0, 0, 1], (len(b), 1))
    assert np.isfinite(kernel(SLOPE, Sphere(0.1)).jacobian("b")(a, b)).all()


def test_heights_are_where_mujoco_has_them():
    heights = np.random.default_rng(1).uniform(0, 1, (4, 5))
    heights.flat[0], heights.flat[-1] = 0.0, 1.0
    listed = " ".join(map(str, heights.ravel()))
    text = f"""<mujoco><asset><hfield name="h" nrow="4" ncol="5" size="1 0.8 0.3 0.1"
      elevation="{listed}"/></asset><worldbody><geom name="field" type="hfield" hfield="h"/>
      <body name="ball"><freejoint/><geom name="ball" size="0.1"/></body></worldbody></mujoco>"""
    robot = kt.load(text)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[2] = 5.0
    mujoco.mj_forward(m, d)
    assert robot.contact.pairs == ("field/ball",)
    for x, y in ((-0.5, 0.8 / 3), (0.0, -0.8 / 3), (0.5, 0.8 / 3)):
        found = np.zeros(1, np.int32)
        start, down = np.array([x, y, 2.0]), np.array([0.0, 0.0, -1.0])
        depth = mujoco.mj_ray(m, d, start, down, None, 1, -1, found, None)
        distances, _, normals = robot.contact.touches([x, y, 2.0, 0, 0, 0, 1])
        np.testing.assert_allclose(distances[0], depth * normals[0, 2] - 0.1, atol=1e-6)
