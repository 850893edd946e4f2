"""Gravity and mounting: where a robot stands and what pulls at it, whatever is done to it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree import algorithms
from kinetree.errors import ModelError, ModelWarning
from kinetree.model import edit
from kinetree.model.assemble import assemble
from kinetree.model.disassemble import disassemble
from kinetree.model.model import WORLD
from kinetree.spatial import Rotation, Transform, Vector3
from tests.algorithms.test_identities import SEEDS, state
from tests.random_models import models, transforms
from tests.tolerances import EXACT, relative_error

ARM = kt.robots.arm().model
WALL = Transform(Rotation.rpy(0.0, np.pi / 2, 0.3), Vector3(0.5, -0.2, 1.3))
CEILING = Transform(Rotation.rpy(np.pi, 0.0, 0.0), Vector3(0.0, 0.0, 2.5))


def fixed(model):
    """Whether nothing moves freely."""
    return edit._floating_base(model) is None


def stands():
    return models().filter(fixed)


def poses(model, q):
    """The pose of every frame by its name."""
    return {
        f.name: np.array(algorithms.frame_pose(model, q, f.name).matrix()) for f in model.frames
    }


def same_poses(a, b, q, names=None):
    one, two = poses(a, q), poses(b, q)
    return all(relative_error(one[name], two[name]) < EXACT for name in names or one)


# gravity


def test_gravity_is_what_it_is_set_to():
    arm = kt.robots.arm()
    assert arm.gravity.tolist() == [0.0, 0.0, -9.81]
    moon = arm.edit.with_gravity((0.0, 0.0, -1.62))
    assert moon.gravity.tolist() == [0.0, 0.0, -1.62]
    q = arm.random(0)
    assert moon.gravity_forces(q) == pytest.approx(arm.gravity_forces(q) * 1.62 / 9.81)
    for vector in (np.array([1.0, 2.0, 3.0]), [1, 2, 3], Vector3(1.0, 2.0, 3.0)):
        assert arm.edit.with_gravity(vector).gravity.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("wrong", [9.81, (0.0, 0.0), "down", None])
def test_what_is_no_gravity_is_refused(wrong):
    with pytest.raises(ModelError, match=r"gravity must be three numbers .*, got"):
        edit.with_gravity(ARM, wrong)


def test_gravity_must_be_finite():
    with pytest.raises(ModelError, match=r"gravity must be finite"):
        edit.with_gravity(ARM, (0.0, 0.0, np.nan))


# mounting


@given(stands(), transforms(), SEEDS)
def test_mounting_moves_the_whole_robot(model, X, seed):
    q, v, a = state(model, seed)
    there = edit.mounted(model, X)
    before, after = poses(model, q), poses(there, q)
    assert before.keys() == after.keys()
    for name, pose in before.items():
        assert relative_error(after[name], np.array(X.matrix()) @ pose) < EXACT
    # it feels a field that is turned the other way
    turned = replace(model, gravity=X.rotation.T @ model.gravity)
    tau = algorithms.rnea(turned, q, v, a)
    assert relative_error(algorithms.rnea(there, q, v, a), tau) < EXACT * 10
    center = there.base_inertia.moment
    moved = X.to_parent(model.base_inertia).moment
    assert relative_error(list(center), list(moved)) < EXACT


@given(stands(), transforms(), transforms(), SEEDS)
def test_the_last_mount_counts(model, first, last, seed):
    q, _, _ = state(model, seed)
    assert same_poses(edit.mounted(edit.mounted(model, first), last), edit.mounted(model, last), q)
    home = edit.mounted(edit.mounted(model, first), Transform.identity())
    assert same_poses(home, model, q)


@given(stands(), transforms(), SEEDS)
def test_a_mounted_robot_is_taken_apart_and_put_together_again(model, X, seed):
    q, v, a = state(model, seed)
    there = edit.mounted(model, X)
    again = assemble(disassemble(there))
    assert [f.name for f in again.frames] == [f.name for f in there.frames]
    assert same_poses(again, there, q)
    assert relative_error(algorithms.rnea(again, q, v, a), algorithms.rnea(there, q, v, a)) < EXACT


def test_a_pose_is_a_matrix_a_transform_or_a_point():
    for pose in (WALL, np.array(WALL.matrix()), WALL.matrix()):
        assert same_poses(edit.mounted(ARM, pose), edit.mounted(ARM, WALL), [0.1] * 7)
    assert edit.mounted(ARM, (1.0, 2.0, 3.0)).frame("base").placement.translation == Vector3(
        1, 2, 3
    )
    with pytest.raises(
        ModelError, match="pose is not a pose: its upper left 3x3 block is not a rot"
    ):
        edit.mounted(ARM, 2.0 * np.eye(4))
    with pytest.raises(ModelError, match=r"pose must be three numbers .*, got 'wall'"):
        edit.mounted(ARM, "wall")


def test_a_robot_on_a_ceiling_hangs():
    arm = kt.robots.arm()
    hung = arm.edit.with_mount(CEILING)
    q = arm.random(0)
    assert hung.gravity_forces(q) == pytest.approx(-arm.gravity_forces(q))
    assert hung.pose(q, "base")[2, 3] == 2.5


def test_what_floats_cannot_be_mounted():
    for made in (kt.robots.human, kt.robots.quadruped):
        with pytest.raises(
            ModelError, match=r"has a free base: its pose .* joint 'root_joint'; only a"
        ):
            made().edit.with_mount((0.0, 0.0, 1.0))


# what is done to it afterwards


MOUNTED = edit.mounted(ARM, WALL)
Q = kt.Robot(ARM).random(3).tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda m: edit.attach_payload(m, "tool", 1.0),
        lambda m: edit.add_frame(m, "camera", "link3", (0.1, 0.0, 0.0)),
        lambda m: edit.replace_inertia(m, "link3", 1.0),
        lambda m: edit.without(m, "gravity"),
        lambda m: edit.with_gravity(m, (0.0, 0.0, -1.62)),
        lambda m: edit.attach(m, kt.robots.double_pendulum().model, "tool").reordered(
            [f"joint{i}" for i in range(1, 8)] + ["upper_joint", "lower_joint"]
        ),
        lambda m: assemble(disassemble(m)),
        lambda m: edit.subtree(m, "base"),
    ],
)
def test_a_robot_stays_where_it_is_mounted(change):
    changed = change(MOUNTED)
    one, two = poses(changed, [*Q, *[0.2] * (changed.nq - 7)]), poses(MOUNTED, Q)
    assert all(relative_error(one[name], two[name]) < EXACT for name in two)


def test_a_locked_joint_stays_there_too():
    locked = edit.lock(MOUNTED, {"joint3": Q[2]})
    q = Q[:2] + Q[3:]
    one, two = poses(locked, q), poses(MOUNTED, Q)
    assert all(relative_error(one[name], two[name]) < EXACT for name in two)


def test_another_root_stands_where_the_old_one_did():
    rooted = edit.reroot(MOUNTED, "link4")
    assert rooted.frame("link4").placement == WALL
    alone = poses(edit.reroot(ARM, "link4"), Q)
    for name, pose in poses(rooted, Q).items():
        assert relative_error(pose, np.array(WALL.matrix()) @ alone[name]) < EXACT


def test_a_mounted_robot_that_is_attached_stands_where_it_is_attached():
    hand = kt.robots.double_pendulum().model
    one = edit.attach(ARM, edit.mounted(hand, WALL), "tool")
    two = edit.attach(ARM, hand, "tool")
    assert same_poses(one, two, [*Q, 0.1, 0.2])


def test_a_floating_base_that_is_locked_is_mounted_there():
    dog = kt.robots.quadruped()
    q = dog.random(0)
    stands = dog.edit.lock({"root_joint": q[:7]})
    again = kt.Robot(assemble(disassemble(stands.model)))
    assert again.frames == stands.frames == dog.frames
    assert again.poses(q[7:]) == pytest.approx(dog.poses(q)[1:])
    home = stands.edit.with_mount((0.0, 0.0, 0.0))
    assert home.frames == dog.frames
    assert home.pose(q[7:], "trunk") == pytest.approx(np.eye(4))


# files


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["urdf", "xml"])
@pytest.mark.parametrize("made", [kt.robots.arm, kt.robots.cart_pole, lambda: kt.robots.tree(12)])
def test_a_file_says_where_a_robot_is_mounted(tmp_path, made, ending):
    path, hung = tmp_path / f"robot.{ending}", made().edit.with_mount(CEILING)
    hung.save(path)
    again = kt.load(path)
    q = hung.random(0)
    for name in hung.frames:
        assert relative_error(again.pose(q, name), hung.pose(q, name)) < EXACT
    assert relative_error(again.gravity_forces(q), hung.gravity_forces(q)) < EXACT
    assert again.model.frame("world").body == WORLD
    again.save(path)  # once more, though its root is now the world's own link
    assert relative_error(kt.load(path).poses(q), hung.poses(q)) < EXACT


def test_a_link_named_world_that_is_mounted_elsewhere_can_be_written_as_urdf(tmp_path):
    path = tmp_path / "arm.urdf"
    kt.robots.arm().edit.with_mount(CEILING).save(path)
    twice = kt.load(path).edit.with_mount(WALL)
    twice.save(path)
    q = twice.random(0)
    assert relative_error(kt.load(path).poses(q), twice.poses(q)) < EXACT
    with pytest.raises(
        ModelError, match="link 'world' has the name that MJCF reserves for the world"
    ):
        twice.save(tmp_path / "arm.xml")


def test_urdf_has_no_word_for_gravity_and_mjcf_has(tmp_path):
    moon = kt.robots.arm().edit.with_gravity((0.0, 0.0, -1.62))
    with pytest.warns(ModelWarning, match="gravity"):
        moon.save(tmp_path / "arm.urdf")
    moon.save(tmp_path / "arm.xml")
    assert kt.load(tmp_path / "arm.xml").gravity.tolist() == [0.0, 0.0, -1.62]


def test_a_file_is_loaded_where_and_in_what_field_one_says(tmp_path):
    path = tmp_path / "arm.urdf"
    kt.robots.arm().save(path)
    arm = kt.load(path, gravity=(0.0, 0.0, -1.62), mount=CEILING)
    expected = kt.robots.arm().edit.with_gravity((0.0, 0.0, -1.62)).edit.with_mount(CEILING)
    q = arm.random(0)
    assert relative_error(arm.poses(q), expected.poses(q)) < EXACT
    assert relative_error(arm.gravity_forces(q), expected.gravity_forces(q)) < EXACT
    with pytest.raises(ModelError, match="only a fixed base can be mounted"):
        kt.load(path, base="floating", mount=CEILING)
    with pytest.raises(ModelError, match=r"mount must be three numbers .*, got 'wall'"):
        kt.load(path, mount="wall")
