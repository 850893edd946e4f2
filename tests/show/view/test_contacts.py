"""Contacts in the viewer: what is drawn of them, and robots that stand and are pushed."""

import numpy as np
import pytest

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
from kinetree.model.model import WORLD
from kinetree.show.view.colliders import collider_surfaces, grounds, solid_surface
from kinetree.show.view.contacts import GRAVITY, Contacts
from kinetree.show.view.live import Live, above_ground
from kinetree.show.view.pull import Pull
from kinetree.show.view.scene import Scene
from kinetree.show.view.trajectory import Trajectory
from kinetree.show.view.viewer import Viewer
from tests.show.view.test_viewer import Recorder

DOG = kt.robots.quadruped().on_ground(friction=0.6)
WEIGHT = 12.0 * GRAVITY


def ball(*, ground_first, condim=3):
    """A ball of 2 kg, and a plane of the world at the height 0.5 m."""
    a = kt.Assembly("ball")
    a.add("ball", "base", kt.joints.Floating(), mass=2.0, inertia=[0.01, 0.01, 0.01])
    pair = ("floor", "skin") if ground_first else ("skin", "floor")
    return a.robot().collide(
        Collider("floor", None, Plane(), (0.0, 0.0, 0.5)),
        Collider("skin", "ball", Sphere(0.1)),
        ContactPair(*pair, condim=condim, friction=0.4),
    )


@pytest.mark.parametrize("ground_first", [True, False])
def test_the_marks_of_a_touch_are_the_force_on_the_robot_its_normal_and_its_cone(ground_first):
    robot = ball(ground_first=ground_first)
    q = np.array([0.3, 0.2, 0.599, 0.0, 0.0, 0.0, 1.0])
    force = robot.contact.forces(q, np.zeros(6), np.zeros(6))
    marks = Contacts(robot, 2.0).marks(q, force)
    assert np.allclose(marks.points, [[0.3, 0.2, 0.4995]], atol=1e-6)
    start, end = marks.forces[0]
    assert np.allclose(start, marks.points[0])
    assert end[2] - start[2] == pytest.approx(4.0 * abs(force[0, 2]) / (2.0 * GRAVITY), rel=1e-5)
    (up,) = marks.normals[:, 1] - marks.normals[:, 0]
    assert up[2] > 0.0
    assert np.allclose(up[:2], 0.0)
    rim = marks.cones[:24, 0] - marks.points[0]
    assert np.allclose(np.linalg.norm(rim[:, :2], axis=1), 0.4 * rim[:, 2], atol=1e-6)


def test_what_does_not_touch_has_no_marks_and_what_has_no_friction_no_cone():
    robot = ball(ground_first=True, condim=1)
    q = np.array([0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0])
    assert all(len(x) == 0 for x in Contacts(robot, 1.0).marks(q, np.zeros((1, 3))))
    q[2] = 0.59
    marks = Contacts(robot, 1.0).marks(q, np.ones((1, 3)))
    assert [len(x) for x in marks] == [1, 1, 1, 0]


def test_forces_of_all_feet_have_one_scale():
    q = above_ground(DOG, DOG.neutral())
    q[2] -= 1e-3
    forces = DOG.contact.forces(q, np.zeros(DOG.nv), np.zeros(DOG.nv))
    marks = Contacts(DOG, 0.5).marks(q, forces)
    lengths = np.linalg.norm(marks.forces[:, 1] - marks.forces[:, 0], axis=1)
    assert np.allclose(lengths, 1.0 / WEIGHT * np.linalg.norm(forces, axis=1), rtol=1e-4)


def test_contacts_and_colliders_are_layers_of_a_scene():
    recorder = Recorder()
    scene = Scene(recorder, DOG)
    colliders = [node for name, node in recorder.nodes.items() if "/collider" in name]
    marks = [node for name, node in recorder.nodes.items() if name.startswith("/robot/contacts")]
    assert len(colliders) == 5
    assert len(marks) == 4
    assert not any(node.visible for node in colliders + marks)
    scene.show("contacts", True)
    scene.show("colliders", True)
    assert all(node.visible for node in colliders + marks)
    q = above_ground(DOG, DOG.neutral())
    q[2] -= 1e-4
    scene.update(q, np.ones((4, 3)))
    feet = recorder.nodes["/robot/contacts/points"].points
    assert np.allclose(feet, DOG.contact.touches(q)[1], atol=1e-6)


SOLIDS = [
    (Sphere(0.2), (0.2, 0.2, 0.2)),
    (Capsule(0.1, 0.3), (0.1, 0.1, 0.4)),
    (Cylinder(0.1, 0.3), (0.1, 0.1, 0.3)),
    (Box((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)),
    (Ellipsoid((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)),
    (ConvexMesh([(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)]), (1, 2, 3)),
    (HeightField([[-0.5, 0.1, 0.2], [0.0, 0.5, 0.0]], 2.0, 1.0), (2.0, 1.0, 0.5)),
    (Plane(), (3.0, 3.0, 0.0)),
]


@pytest.mark.parametrize(("solid", "half"), SOLIDS, ids=[x.kind for x, _ in SOLIDS])
def test_a_surface_has_the_extent_of_its_shape(solid, half):
    vertices, faces = solid_surface(solid, 6.0)
    assert np.allclose(vertices.max(axis=0), half, atol=1e-9)
    assert np.allclose(vertices.min(axis=0), -np.array(half), atol=1e-9)
    assert faces.shape[1] == 3
    assert faces.max() < len(vertices)


def test_colliders_are_where_the_robot_has_them_and_planes_of_the_world_are_grounds():
    robot = ball(ground_first=True)
    assert [part.body for part in collider_surfaces(robot.model)] == [WORLD, 0]
    (ground,) = grounds(robot.model)
    assert ground[:3, 3].tolist() == [0.0, 0.0, 0.5]
    assert grounds(kt.robots.arm().model) == []


def test_a_floating_robot_is_lifted_out_of_its_ground_also_if_it_slopes():
    q = above_ground(DOG, DOG.neutral())
    assert DOG.distances(q).min() == pytest.approx(0.0, abs=1e-8)
    slope = np.eye(4)
    slope[:3, :3] = [[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]]
    free = DOG.without("contacts").collide(
        Collider("slope", None, Plane(), slope), ContactPair("slope", "hind_left_foot")
    )
    raised = above_ground(free, free.neutral())
    assert free.distances(raised)[0] == pytest.approx(0.0, abs=1e-8)
    arm = kt.robots.arm()
    assert (above_ground(arm, arm.neutral()) == arm.neutral()).all()


def test_joint_forces_of_a_trajectory_are_those_of_the_last_state_before():
    arm, tau = kt.robots.arm(), np.arange(21.0).reshape(3, 7)
    path = Trajectory(arm, {"q": np.zeros((3, 7)), "tau": tau, "times": [0.0, 1.0, 2.0]})
    assert [path.tau_at(t)[0] for t in (0.0, 0.9, 1.0, 2.0)] == [0.0, 0.0, 7.0, 14.0]
    assert not Trajectory(arm, {"q": np.zeros((3, 7))}).tau_at(0.0).any()


@pytest.mark.slow
def test_a_robot_stands_on_its_ground_and_is_pushed_by_the_mouse():
    pull = Pull(None, DOG, lambda: None)
    live, q, v = Live(DOG, pull), above_ground(DOG, DOG.neutral()), np.zeros(DOG.nv)
    assert live.stands
    q, v = live.step(q, v, 1.5, 0.5, hold=True)
    assert 0.40 < q[2] < 0.421
    assert np.abs(v).max() < 0.01
    resting = live.contact_forces(q, v)
    assert resting.sum(axis=0) == pytest.approx([0.0, 0.0, WEIGHT], abs=0.02 * WEIGHT)
    assert (resting[:, 2] > 0.1 * WEIGHT).all()

    trunk = DOG.pose(q, DOG.bodies[0])[:3, 3]
    pull.take(DOG.bodies[0], q, trunk)
    pull.to(trunk + np.array([0.0, 0.1, 0.0]))
    pushed, _ = live.step(q, v, 0.5, 0.5, hold=True)
    assert pushed[1] - q[1] > 0.02
    assert DOG.distances(pushed).min() > -0.01
    pull.release()

    limp, _ = live.step(q, v, 0.5, 0.5, hold=False)
    assert limp[2] < q[2] - 0.05


@pytest.mark.filterwarnings("ignore")
def test_the_page_simulates_with_contacts_and_draws_their_forces():
    pytest.importorskip("viser")
    viewer = Viewer(DOG, port=8295, run=False)
    try:
        assert viewer._hold.value
        viewer._simulate.value = True
        viewer.layer("contacts")
        for _ in range(8):
            viewer.tick(0.025)
        assert viewer.q[2] > 0.40
        _, _, forces, cones = viewer.scene._contacts.handles
        assert forces.points.shape == (4, 2, 3)
        assert (forces.points[:, 1, 2] > 0.01).all()
        assert len(cones.points)
        viewer.set(viewer.q)
        assert viewer._live._posture is None
    finally:
        viewer.close()
