"""Touches of pairs of shapes against MuJoCo's contacts, at random and at special poses."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as R

from kinetree.algorithms.contact import FAR, touches
from kinetree.geometry import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Plane, Sphere
from kinetree.spatial import Transform, Vector3
from tests.algorithms.contact.scenes import (
    Scene,
    check_against,
    computed,
    kernel,
    random_poses,
)

MARGIN = 0.2
SPHERE, CAPSULE, BOX = Sphere(0.1), Capsule(0.05, 0.2), Box((0.1, 0.2, 0.3))
CYLINDER, ELLIPSOID = Cylinder(0.1, 0.15), Ellipsoid((0.1, 0.2, 0.15))
MESH = ConvexMesh(np.random.default_rng(5).normal(size=(30, 3)) * 0.15)
SAME_AS_MUJOCO = [
    (Plane(), SPHERE),
    (Plane(), CAPSULE),
    (Plane(), BOX),
    (Plane(), CYLINDER),
    (Plane(), ELLIPSOID),
    (SPHERE, Sphere(0.2)),
    (SPHERE, CAPSULE),
    (Sphere(0.03), CYLINDER),
    (Sphere(0.03), BOX),
    (CAPSULE, Capsule(0.1, 0.1)),
]
ALL = [*SAME_AS_MUJOCO, (Plane(), MESH), (CAPSULE, BOX), (BOX, Box((0.2, 0.1, 0.15)))]


def kinds(pair):
    return "-".join(shape.kind for shape in pair)


@pytest.mark.parametrize("pair", SAME_AS_MUJOCO, ids=kinds)
def test_touches_are_mujocos_contacts(pair):
    rng = np.random.default_rng(1)
    a, b = random_poses(rng, 1000, 0.4), random_poses(rng, 1000, 0.4)
    assert check_against(*pair, a, b, MARGIN, 1e-12) > 150


@pytest.mark.parametrize("pair", ALL, ids=kinds)
def test_derivatives_are_those_of_differences(pair):
    rng = np.random.default_rng(2)
    a, b = random_poses(rng, 50, 0.4), random_poses(rng, 50, 0.4)
    function, step = kernel(*pair, MARGIN), 1e-6
    J = function.jacobian("b")(a, b)
    ahead = np.stack([function(a, b + step * e) for e in np.eye(7)], axis=-1)
    back = np.stack([function(a, b - step * e) for e in np.eye(7)], axis=-1)
    apart = np.abs((ahead - back) / (2 * step) - J).max(axis=(1, 2, 3))
    assert np.sum(apart > 1e-6) <= 1  # a difference may step over an edge
    assert np.median(apart) < 1e-8


@pytest.mark.parametrize("pair", ALL, ids=kinds)
def test_nothing_is_nan_where_shapes_coincide(pair):
    """Coincident centres, parallel axes, points on edges, all at once."""
    turns = np.array([[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1.0]])
    points = np.array(
        [[0, 0, 0], [0, 0, 0.1], [0.1, 0, 0], [0, 0, 0.3], [0.1, 0.2, 0.3], [1e-16, 0, 0]]
    )
    poses = np.array([[*p, *(t / np.linalg.norm(t))] for p in points for t in turns])
    a, b = (x.reshape(-1, 7) for x in np.broadcast_arrays(poses[:, None], poses[None]))
    found = computed(*pair, a, b, MARGIN)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=-1), 1.0, atol=1e-12)
    for argument in "ab":
        assert np.isfinite(kernel(*pair, MARGIN).jacobian(argument)(a, b)).all()


def test_parallel_capsules_touch_twice():
    turn = np.array([0.3, -0.2, 0.5, 0.8])
    turn /= np.linalg.norm(turn)
    rng = np.random.default_rng(3)
    a = np.concatenate([rng.uniform(-0.3, 0.3, (200, 3)), np.tile(turn, (200, 1))], axis=1)
    b = np.concatenate([rng.uniform(-0.3, 0.3, (200, 3)), np.tile(turn, (200, 1))], axis=1)
    assert check_against(CAPSULE, Capsule(0.1, 0.1), a, b, MARGIN, 1e-12) > 200


def test_a_plane_meets_the_lowest_vertex_of_a_mesh_and_others_that_are_apart():
    rng = np.random.default_rng(4)
    b = random_poses(rng, 300, 0.3)
    floor = np.tile([0.0, 0, 0, 0, 0, 0, 1], (300, 1))
    found, scene = computed(Plane(), MESH, floor, b, MARGIN), Scene(Plane(), MESH, MARGIN)
    for i in range(300):
        contacts = scene.contacts(floor[i], b[i])
        if len(contacts):
            ours = found.distance[i, 0], *found.point[i, 0]
            np.testing.assert_allclose(ours, contacts[0, :4], atol=1e-6)  # MuJoCo's are floats
    apart = np.linalg.norm(found.point[:, :1] - found.point[:, 1:], axis=-1)
    used = found.distance[:, 1:] < FAR
    assert used.any()
    assert (apart[used] > 0.05).all()


def test_a_capsule_and_a_box_touch_as_in_mujoco_where_the_segment_is_outside():
    rng = np.random.default_rng(6)
    a, b = random_poses(rng, 20_000, 0.4), random_poses(rng, 20_000, 0.4)
    margin = 0.002
    found, scene = computed(CAPSULE, BOX, a, b, margin), Scene(CAPSULE, BOX, margin)
    shallow = np.flatnonzero((found.distance[:, 0] > -0.03) & (found.distance[:, 0] < margin))
    same = []
    for i in shallow:
        expected = scene.contacts(a[i], b[i])
        rows = np.c_[found.distance[i], found.point[i], found.normal[i]]
        ours = rows[rows[:, 0] <= margin]
        apart = np.abs(expected[:, None] - ours[None]).max(axis=-1)
        assert apart[:, 0].min() < 1e-9
        same.append(len(ours) == len(expected) and apart.min(axis=0).max() < 1e-9)
    assert len(same) > 700
    assert np.mean(same) > 0.99


def test_a_capsule_in_a_box_touches_at_the_shortest_way_out():
    """Moved out by the depth, it only touches; along no other direction is the overlap less."""
    rng = np.random.default_rng(6)
    a, b = random_poses(rng, 5000, 0.25), random_poses(rng, 5000, 0.25)
    found = computed(CAPSULE, BOX, a, b)
    depth = -found.distance[:, 0]
    deep = np.flatnonzero(depth > CAPSULE.radius)
    assert len(deep) > 1000
    a, b, depth, normal = a[deep], b[deep], depth[deep], found.normal[deep, 0]
    out = np.c_[a[:, :3] - normal * depth[:, None], a[:, 3:]]
    np.testing.assert_allclose(computed(CAPSULE, BOX, out, b).distance[:, 0], 0.0, atol=1e-14)

    turns = R.from_quat(b[:, 3:])
    middle = turns.inv().apply(a[:, :3] - b[:, :3])
    half = turns.inv().apply(R.from_quat(a[:, 3:]).apply([0.0, 0.0, CAPSULE.half_length]))
    ways = rng.normal(size=(2000, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    extent = np.abs(ways) @ BOX.half_edges + CAPSULE.radius
    overlaps = extent + np.abs(half @ ways.T) - middle @ ways.T
    assert (overlaps.min(axis=1) - depth).min() > -1e-14

    second = found.distance[deep, 1]
    along_a_face = np.abs(turns.inv().apply(normal)).max(axis=1) > 1 - 1e-12
    assert ((second <= 0.0) == along_a_face).all()
    assert (second[along_a_face] >= -depth[along_a_face] - 1e-14).all()


def share_of_states_as_in_mujoco(first, second, a, b, chosen, margin=0.0):
    found, scene = computed(first, second, a, b, margin), Scene(first, second, margin)
    same = []
    for i in np.flatnonzero(chosen(found.distance.min(axis=1))):
        expected = scene.contacts(a[i], b[i])
        rows = np.c_[found.distance[i], found.point[i], found.normal[i]]
        ours = rows[rows[:, 0] <= margin]
        apart = np.abs(expected[:, None] - ours[None]).max(axis=-1)
        same.append(len(ours) == len(expected) and apart.min(axis=0).max() < 1e-8)
    assert len(same) > 500
    return np.mean(same)


def test_boxes_touch_as_in_mujoco():
    """Where a face and two edges separate almost equally well, MuJoCo may take the other one."""
    rng = np.random.default_rng(8)
    a, b = random_poses(rng, 15_000, 0.4), random_poses(rng, 15_000, 0.4)
    pair = Box((0.1, 0.15, 0.2)), Box((0.2, 0.1, 0.15))
    assert share_of_states_as_in_mujoco(*pair, a, b, lambda d: (d > -0.03) & (d < 0.0)) > 0.95


def test_stacked_boxes_touch_as_in_mujoco():
    rng = np.random.default_rng(9)
    turn, n = rng.uniform(-3, 3, 1000), 1000
    a = np.tile([0.0, 0, 0, 0, 0, 0, 1], (n, 1))
    place = np.c_[rng.uniform(-0.2, 0.2, (n, 2)), 0.35 - rng.uniform(0, 0.01, n)]
    b = np.c_[place, np.zeros((n, 2)), np.sin(turn / 2), np.cos(turn / 2)]
    pair = Box((0.1, 0.15, 0.2)), Box((0.2, 0.1, 0.15))
    assert share_of_states_as_in_mujoco(*pair, a, b, lambda d: d < 0.0) == 1.0


def test_a_box_on_an_equal_box_touches_at_its_four_corners():
    box = Box((0.1, 0.1, 0.1))
    a = np.array([[0.0, 0, 0, 0, 0, 0, 1]])
    above = np.array([[0.0, 0, 0.199, 0, 0, 0, 1]])
    found = computed(box, box, a, above)
    used = found.distance[0] < 0.0
    assert used.sum() == 4
    np.testing.assert_allclose(found.distance[0][used], -0.001, atol=1e-12)
    corners = {tuple(np.round(p, 9)) for p in found.point[0][used]}
    assert corners == {(x, y, 0.0995) for x in (-0.1, 0.1) for y in (-0.1, 0.1)}


@pytest.mark.parametrize(
    "pair",
    [(SPHERE, CAPSULE), (CAPSULE, Capsule(0.1, 0.1)), (SPHERE, BOX), (CAPSULE, BOX)],
    ids=kinds,
)
def test_the_first_distance_is_that_of_the_shapes(pair):
    rng = np.random.default_rng(7)
    a, b = random_poses(rng, 1000, 0.6), random_poses(rng, 1000, 0.6)
    found, scene = computed(*pair, a, b), Scene(*pair)
    apart = np.flatnonzero(found.distance[:, 0] > 0)
    expected = [scene.distance(a[i], b[i])[0] for i in apart]
    assert len(apart) > 500
    np.testing.assert_allclose(found.distance[apart, 0], expected, atol=1e-6)


def test_either_order_is_the_same_touch_with_the_normal_reversed():
    X = Transform.identity()
    Y = Transform(X.rotation, Vector3(0.1, 0.0, 0.15))
    (there,), (back,) = touches(SPHERE, X, CAPSULE, Y), touches(CAPSULE, Y, SPHERE, X)
    assert back == there.reversed()


@pytest.mark.parametrize("pair", [(CAPSULE, BOX), (BOX, CAPSULE)], ids=kinds)
def test_a_capsule_beside_a_box_whose_edges_it_is_parallel_to_has_touches_of_numbers(pair):
    beside = Transform(Transform.identity().rotation, Vector3(1.0, 1.0, 1.0))
    for ends in ((Transform.identity(), beside), (beside, Transform.identity())):
        found = touches(pair[0], ends[0], pair[1], ends[1], MARGIN)  # as compile-time constants
        assert len(found) == 2
        assert all(np.isfinite(float(t.distance)) for t in found)
    at = np.linspace(-0.4, 0.4, 9)
    places = np.stack(np.meshgrid(at, at, at), axis=-1).reshape(-1, 3)
    poses = np.concatenate([places, np.tile([0.0, 0, 0, 1], (len(places), 1))], axis=1)
    function, origin = kernel(*pair, MARGIN), np.array([0.0, 0, 0, 0, 0, 0, 1])
    assert np.isfinite(function(origin, poses)).all()
    assert np.isfinite(function.jacobian("b")(origin, poses)).all()


def test_a_capsule_along_a_face_touches_it_at_the_ends_of_the_part_in_the_box():
    turned = Transform.identity().rotation
    lies = type(turned)(Vector3(0.0, 0.0, 1.0), Vector3(0.0, 1.0, 0.0), Vector3(-1.0, 0.0, 0.0))
    for shift, ends in ((0.0, [-0.1, 0.1]), (0.95, [-0.05, 0.1])):
        at = Transform(lies, Vector3(shift, 0.0, 0.28))
        found = touches(Capsule(0.02, 1.0), at, BOX, Transform.identity())
        assert [t.distance for t in found] == pytest.approx([-0.04, -0.04])
        assert sorted(t.point.x for t in found) == pytest.approx(ends)
