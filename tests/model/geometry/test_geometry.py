"""Colliders and contact pairs of a model: what is refused, and what edits keep."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.geometry import (
    Box,
    Capsule,
    Collider,
    ContactPair,
    ConvexMesh,
    Ellipsoid,
    HeightField,
    Plane,
    Sphere,
)
from kinetree.model.prepare import Preparation, prepared

BALL, FLOOR = Collider("ball", "tool", Sphere(0.05)), Collider("floor", None, Plane())
ELBOW = Collider("elbow", "link3", Capsule(0.04, 0.1), (0.0, 0.0, 0.1))
PAIRS = (ContactPair("floor", "ball"), ContactPair("elbow", "ball"))


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm().collide(*PAIRS, FLOOR, BALL, ELBOW)


def names(robot):
    return [x.name for x in robot.model.colliders], [x.name for x in robot.model.contacts]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sphere(0.0), r"sphere: radius=0.0: more than zero is expected, m"),
        (lambda: Capsule(0.1, -1), r"capsule: half_length=-1.0: more than zero"),
        (lambda: Box((1, 0, 1)), r"box: half_edges=\(1.0, 0.0, 1.0\): three lengths above zero"),
        (lambda: Ellipsoid((1, 1)), r"ellipsoid: half_axes must be three numbers"),
        (lambda: ConvexMesh(np.eye(3)), r"mesh: its 3 vertices lie in one plane"),
        (lambda: ConvexMesh(np.zeros((5, 3))), r"mesh: its 5 vertices lie in one plane"),
        (lambda: ConvexMesh("no"), r"mesh: vertices must be finite points"),
        (lambda: HeightField([[0.0]], 1, 1), r"height field: heights must be finite numbers"),
        (lambda: HeightField(np.zeros((2, 2)), 0, 1), r"height field: half_x=0.0: more than zero"),
        (lambda: Collider("", None, Plane()), r"the name of a collider is ''"),
        (lambda: Collider("a", None, 3), r"collider 'a': shape=3: one of kinetree.geometry"),
        (lambda: Collider("a", 4, Plane()), r"collider 'a': frame=4: the name of a frame"),
        (lambda: Collider("a", None, Plane(), (1, 2)), r"collider 'a': at must be three numbers"),
        (lambda: ContactPair("a", "b", condim=2), r"pair 'a/b': condim=2: 1, 3, 4 or 6"),
        (lambda: ContactPair("a", 2), r"second=2: the name of a collider is expected"),
        (
            lambda: ContactPair("a", "b", friction=-1.0),
            r"friction=\(-1.0,\): numbers of at least 0",
        ),
        (lambda: ContactPair("a", "b", friction=(1, 2)), r"friction=\(1, 2\): 1 or 3 or 5 finite"),
        (lambda: ContactPair("a", "b", solref=1.0), r"solref=1.0: 2 finite number"),
        (lambda: ContactPair("a", "b", margin=-1.0), r"margin=-1.0: at least 0 is expected, m"),
    ],
)
def test_bad_geometry_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([BALL, BALL], r"two colliders are named 'ball'"),
        ([Collider("x", "hand", Sphere(1))], r"collider 'x': .*frame 'hand'"),
        ([ContactPair("ball", "flor"), BALL, FLOOR], r"pair 'ball/flor': .*collider 'flor'"),
        ([BALL, ContactPair("ball", "ball")], r"a collider cannot touch itself"),
        ([BALL, FLOOR, PAIRS[0], ContactPair("ball", "floor")], r"given twice"),
        ([BALL, Collider("b", "link7", Sphere(1)), ContactPair("b", "ball")], r"nothing moves"),
        ([3], r"3: a Collider or a ContactPair of kinetree.geometry is expected"),
    ],
)
def test_bad_contacts_are_refused(parts, message):
    with pytest.raises(ModelError, match=message):
        kt.robots.arm().collide(*parts)


def test_friction_becomes_five_numbers():
    assert ContactPair("a", "b").friction == (1.0, 1.0, 0.005, 0.0001, 0.0001)
    assert ContactPair("a", "b", friction=0.5).friction == (0.5, 0.5, 0.005, 0.0001, 0.0001)
    assert ContactPair("a", "b", friction=(3, 2, 1)).friction == (3.0, 3.0, 2.0, 1.0, 1.0)


def test_points_inside_a_hull_are_left_out():
    corners = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
    assert ConvexMesh([*corners, (0.0, 0.1, 0.2)]).vertices == tuple(corners)


def test_contacts_are_part_of_the_digest_and_pickled(arm):
    bare = kt.robots.arm()
    seen = {bare.model.digest, arm.model.digest, bare.collide(FLOOR, BALL).model.digest}
    assert len(seen) == 3
    assert pickle.loads(pickle.dumps(arm.model)).digest == arm.model.digest


def test_contacts_survive_preparation_and_reordering(arm):
    kept = arm.model.contacts, arm.model.colliders
    for way in Preparation:
        model = prepared(arm.model, way)
        assert (model.contacts, model.colliders) == kept
    other = arm.edit.reorder(arm.joints[::-1])
    assert (other.model.contacts, other.model.colliders) == kept


def test_without_contacts_there_are_colliders_alone(arm):
    assert names(arm.without("contacts")) == (["floor", "ball", "elbow"], [])


def test_pairs_between_which_nothing_moves_are_dropped_when_joints_are_locked(arm):
    below = [b.joint_name for b in arm.model.bodies[3:]]
    locked = arm.edit.lock(dict.fromkeys(below, 0.0))
    assert names(locked) == (["floor", "ball", "elbow"], ["floor/ball"])


def test_a_subtree_has_its_own_colliders(arm):
    assert names(arm.edit.subtree("link3")) == (["ball", "elbow"], ["elbow/ball"])
    assert names(arm.edit.subtree("link5")) == (["ball"], [])


def test_an_attached_robot_brings_its_colliders_without_the_world(arm):
    both = arm.edit.attach(arm, "tool", prefix="b_")
    kept = ["floor", "ball", "elbow", "b_ball", "b_elbow"]
    assert names(both) == (kept, ["floor/ball", "elbow/ball", "b_elbow/b_ball"])
    with pytest.raises(ModelError, match=r"collider|link"):
        arm.edit.attach(arm, "tool")


def test_a_new_root_keeps_shapes_where_they_were_relative_to_each_other(arm):
    turned = arm.edit.reroot("tool").edit.reorder(arm.joints)
    assert names(turned) == names(arm)
    floor = turned.model.colliders[0]
    q = arm.random(np.random.default_rng(0))
    apart = np.linalg.inv(arm.pose(q, "tool"))
    back = np.linalg.inv(turned.pose(q, "tool")) @ turned.pose(q, floor.frame)
    np.testing.assert_allclose(back @ np.array(floor.at.matrix(), float), apart, atol=1e-12)


def test_a_floating_robot_keeps_its_world_when_its_root_changes():
    dog = kt.robots.quadruped()
    foot = dog.frames[-1]
    dog = dog.collide(FLOOR, Collider("foot", foot, Sphere(0.02)), ContactPair("floor", "foot"))
    turned = dog.edit.reroot(foot)
    assert turned.model.colliders == dog.model.colliders


def test_a_mount_moves_the_robot_not_the_floor(arm):
    assert arm.edit.with_mount((0, 0, 1)).model.colliders == arm.model.colliders
