"""Editing a robot: each edit by what it does to motions and forces."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.errors import ModelError, UnknownNameError
from kinetree.model import edit
from kinetree.model.arguments import given_inertia
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.joints import Ball, Floating, Revolute, Screw
from kinetree.model.model import WORLD, Drive, Limits
from kinetree.quantities import posedness
from kinetree.robot.editing import Edit
from kinetree.robot.load import load_model
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.random_models import JOINTS, inertias, joints, models, transforms
from tests.spatial.dense import inertia as dense_inertia
from tests.tolerances import EXACT, relative_error, solved

SEEDS = st.integers(0, 2**32 - 1)
ARM, HUMAN, DOG = kt.robots.arm().model, kt.robots.human().model, kt.robots.quadruped().model
X, _, Z = (Vector3(*row) for row in np.eye(3).tolist())
SOLID = Inertia.about_center(2.0, Vector3(0.0, 0.1, 0.0), Symmetric3(0.1, 0.2, 0.3, 0, 0, 0))


def state(model, seed):
    rng = np.random.default_rng(seed)
    v, a = rng.standard_normal((2, model.nv)).tolist()
    return kt.Robot(model).random(rng).tolist(), v, a


def pick(items, seed):
    return items[seed % len(items)]


def owners(model):
    """The joints that have coordinates, in the order of these."""
    return [model.bodies[i].joint_name for i in model.coordinate_order]


def places(model, names, kind="v_slices"):
    """Where the coordinates of joints stand."""
    at = dict(zip([b.joint_name for b in model.bodies], getattr(model, kind), strict=True))
    return [k for name in names for k in range(at[name].start, at[name].stop)]


def taken(values, model, other, kind="v_slices"):
    """The values of the joints of another model, in its order, from those of a model."""
    return [values[k] for k in places(model, owners(other), kind)]


def held(model, q, names=None):
    """Joints with the values at which they stand."""
    names = owners(model) if names is None else names
    return {name: [q[k] for k in places(model, [name], "q_slices")] for name in names}


def masses(model, q):
    return np.array(algorithms.crba(model, q)).reshape(model.nv, model.nv)


def forces(model, q, v, a):
    return np.array(algorithms.rnea(model, q, v, a))


def weight(model, q):
    return forces(model, q, [0.0] * model.nv, [0.0] * model.nv)


def pose(model, q, frame):
    return np.array(algorithms.frame_pose(model, q, frame).matrix())


def frame_poses(model, q):
    """The poses of all frames, by name."""
    bodies = algorithms.poses(model, q)
    return {
        f.name: np.array(
            (f.placement if f.body == WORLD else bodies[f.body] @ f.placement).matrix()
        )
        for f in model.frames
    }


def forward(model, q, v, tau):
    return np.array(algorithms.forward_crba(model, q, v, tau.tolist()))


def jacobian(model, q, frame):
    """The velocity (linear, angular) of a frame in its own axes, for each unit velocity."""
    back = np.linalg.inv(pose(model, q, frame))
    columns = []
    for unit in (np.eye(model.nv) * 1e-30j).tolist():
        moved = algorithms.frame_pose(model, algorithms.integrate(model, q, unit), frame)
        rate = back @ np.array(moved.matrix(), dtype=complex).imag / 1e-30
        columns.append([*rate[:3, 3], rate[2, 1], rate[0, 2], rate[1, 0]])
    return np.array(columns).reshape(-1, 6).T


def gravity_in(model, X):
    """The model's gravity in the axes of a pose."""
    return Vector3(*(X[:3, :3].T @ list(model.gravity)).tolist())


def same_dynamics(model, other, seed):
    """Whether joint forces and frames of two robots with the same joints agree."""
    q, v, a = state(model, seed)
    q2 = taken(q, model, other, "q_slices")
    v2, a2 = taken(v, model, other), taken(a, model, other)
    expected = taken(forces(model, q, v, a), model, other)
    assert relative_error(forces(other, q2, v2, a2), np.array(expected)) < EXACT
    for frame in model.frames:
        assert relative_error(pose(other, q2, frame.name), pose(model, q, frame.name)) < EXACT
    return True


# all of them


EDITS = {
    "without": lambda m: edit.without(m, "gravity", "limits"),
    "reorder": lambda m: m.reordered(owners(m)[::-1]),
    "lock": lambda m: edit.lock(m, {owners(m)[-1]: 0.3}),
    "subtree": lambda m: edit.subtree(m, m.bodies[1].name),
    "attach_payload": lambda m: edit.attach_payload(m, m.bodies[-1].name, 1.0),
    "replace_inertia": lambda m: edit.replace_inertia(m, m.bodies[-1].name, 1.0),
    "add_frame": lambda m: edit.add_frame(m, "tip", m.bodies[-1].name, (0.0, 0.0, 0.1)),
    "attach": lambda m: edit.attach(m, ARM, m.bodies[-1].name, prefix="second_"),
    "reroot": lambda m: edit.reroot(m, m.bodies[-1].name),
    "rechart": lambda m: edit.rechart(m, "zyx"),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("model", [ARM, DOG], ids=["arm", "dog"])
def test_an_edit_leaves_its_model_as_it_is(name, model):
    before = copy.deepcopy(model)
    edited = EDITS[name](model)
    assert model == before
    assert model.digest == before.digest
    assert (edited == model) == (name == "rechart" and model is ARM)


@pytest.mark.parametrize("name", EDITS)
def test_every_edit_is_a_method_of_a_robot(name):
    renamed = {"mounted": "with_mount"}.get(name, name)
    assert (getattr(kt.Robot, renamed, None) or getattr(Edit, renamed)).__doc__


@given(models(), SEEDS)
def test_an_edit_that_adds_nothing_changes_nothing(model, seed):
    frame = pick(model.frames, seed).name
    assert same_dynamics(model, edit.attach_payload(model, frame, 0.0), seed)
    assert same_dynamics(model, edit.lock(model, {}), seed)


@given(models(), st.randoms(use_true_random=False), SEEDS)
def test_the_order_of_coordinates_is_kept_through_edits(model, random, seed):
    names = owners(model)
    random.shuffle(names)
    assume(names != owners(model))
    model, last = model.reordered(names), names[-1]
    frame, q = pick(model.frames, seed).name, kt.Robot(model).neutral()
    assert owners(edit.attach_payload(model, frame, 1.0)) == names
    assert owners(edit.add_frame(model, "tip", frame)) == names
    assert owners(edit.reroot(edit.without(model, "springs"), frame)) == names
    assert owners(edit.rechart(model, "zyx")) == names
    assert owners(edit.lock(model, held(model, q, [last]))) == names[:-1]
    both = edit.attach(model, model, frame, prefix="b_")
    kept = [name for name in names if f"b_{name}" in owners(both)]
    assert owners(both) == [*names, *(f"b_{name}" for name in kept)]


def test_edits_compose_and_the_result_can_be_saved(tmp_path):
    hand = edit.subtree(DOG, DOG.bodies[1].name)
    robot = kt.Robot(ARM).edit.attach(
        kt.Robot(hand), ARM.frames[-1].name, at=(0.0, 0.1, 0.0), prefix="hand_"
    )
    robot = robot.edit.lock({"joint2": 0.4, "joint4": -0.7}).edit.attach_payload(
        ARM.frames[-1].name, 0.5
    )
    robot = robot.edit.reroot(f"hand_{hand.bodies[-1].name}").edit.add_frame(
        "eye", "link5", at=(0.1, 0.0, 0.0)
    )
    robot = robot.edit.reorder(sorted(robot.joints, reverse=True))
    for file in (tmp_path / "robot.urdf", tmp_path / "robot.xml"):
        robot.save(file)
        saved = kt.load(file, joints=robot.joints).model
        q, v, a = state(robot.model, 0)
        tau = forces(edit.without(robot.model, "armature"), q, v, a)
        assert relative_error(forces(saved, q, v, a), tau) < 10 * EXACT
        assert relative_error(pose(saved, q, "eye"), pose(robot.model, q, "eye")) < EXACT


# lock


@given(models(), SEEDS)
def test_a_locked_robot_moves_as_the_whole_with_that_joint_held(model, seed):
    name = pick(owners(model), seed)
    q, v, a = state(model, seed)
    for k in places(model, [name]):
        v[k] = a[k] = 0.0
    locked = edit.lock(model, held(model, q, [name]))
    assert set(owners(locked)) == set(owners(model)) - {name}
    rest = places(model, owners(locked))
    q2, v2, a2 = taken(q, model, locked, "q_slices"), np.array(v)[rest], np.array(a)[rest]
    tau = forces(model, q, v, a)
    scale = max(1.0, np.abs(tau).max(initial=0.0))
    assert relative_error(masses(locked, q2), masses(model, q)[np.ix_(rest, rest)]) < EXACT
    moved = forces(locked, q2, v2.tolist(), a2.tolist())
    assert relative_error(moved / scale, tau[rest] / scale) < EXACT
    for frame in model.frames:
        assert relative_error(pose(locked, q2, frame.name), pose(model, q, frame.name)) < EXACT


@pytest.mark.parametrize("kind", JOINTS)
@given(st.data())
def test_every_kind_of_joint_can_be_locked(kind, data):
    joint = data.draw(JOINTS[kind])
    links = [Link("root", SOLID), Link("end", SOLID)]
    place = data.draw(transforms())
    one = assemble(Description("one", links, [Connection("j", "root", "end", place, joint)]))
    q, _, _ = state(one, 0)
    locked = edit.lock(one, {"j": q})
    assert (locked.nq, locked.bodies) == (0, ())
    assert relative_error(pose(locked, [], "end"), pose(one, q, "end")) < EXACT


def test_a_whole_human_can_be_locked_joint_by_joint():
    q, _, _ = state(HUMAN, 1)
    model = HUMAN
    for name in owners(HUMAN):
        model = edit.lock(model, held(HUMAN, q, [name]))
    assert model.bodies == ()
    assert model.base_inertia.mass == pytest.approx(sum(b.inertia.mass for b in HUMAN.bodies))
    for frame in HUMAN.frames:
        assert relative_error(pose(model, [], frame.name), pose(HUMAN, q, frame.name)) < EXACT


def gripper():
    """A finger that moves, one that copies it, and one that copies that."""
    copied = [None, Mimicry("j0", -1.0, 0.1), Mimicry("j1", 2.0, 0.0)]
    links = [Link("palm", SOLID), *(Link(f"finger{i}", SOLID) for i in range(3))]
    connections = [
        Connection(
            f"j{i}",
            "palm",
            f"finger{i}",
            Transform(Rotation.identity(), X * i),
            Revolute(Z),
            Limits(-1.0, 1.0),
            drive=Drive(0.1, 0.2, 0.3),
            mimicry=copied[i],
        )
        for i in range(3)
    ]
    return assemble(Description("gripper", links, connections))


def angles(model, q):
    """How far each finger of a gripper is turned."""
    turned = [pose(model, q, f"finger{i}") for i in range(3)]
    return [math.atan2(turn[1, 0], turn[0, 0]) for turn in turned]


def test_what_copies_a_locked_joint_is_locked_with_it():
    locked = edit.lock(gripper(), {"j0": 0.3})
    assert locked.bodies == ()
    assert relative_error(angles(locked, []), [0.3, -0.2, -0.4]) < EXACT


def test_a_joint_that_copies_another_can_be_locked_alone():
    locked = edit.lock(gripper(), {"j1": 0.5})
    assert owners(locked) == ["j0"]
    assert relative_error(angles(locked, [0.3]), [0.3, 0.5, -0.4]) < EXACT


# subtree


@given(models(), SEEDS)
def test_a_subtree_moves_as_the_whole_with_the_rest_standing_still(model, seed):
    frame = pick(model.frames, seed)
    try:
        part = edit.subtree(model, frame.name)
    except ModelError as e:
        assert "lock one of them first" in str(e)  # noqa: PT017
        return
    outside = [b for b in model.bodies if b.joint_name not in {c.joint_name for c in part.bodies}]
    leaders = {model.bodies[b.follows].joint_name for b in outside if b.follows is not None}
    assume(leaders.isdisjoint(owners(part)))  # what they carry is not in the subtree
    q, v, a = state(model, seed)
    rest = places(model, owners(part))
    for k in set(range(model.nv)) - set(rest):
        v[k] = a[k] = 0.0
    q2, v2, a2 = taken(q, model, part, "q_slices"), taken(v, model, part), taken(a, model, part)
    root = np.eye(4) if frame.body == WORLD else pose(model, q, model.bodies[frame.body].name)
    for f in part.frames:
        expected = np.linalg.inv(root) @ pose(model, q, f.name)
        assert relative_error(pose(part, q2, f.name), expected) < EXACT
    assert relative_error(masses(part, q2), masses(model, q)[np.ix_(rest, rest)]) < EXACT
    part = replace(part, gravity=gravity_in(model, root))
    tau = forces(model, q, v, a)
    scale = max(1.0, np.abs(tau).max())
    assert relative_error(forces(part, q2, v2, a2) / scale, tau[rest] / scale) < EXACT


@given(models(mimic=False), SEEDS)
def test_a_floating_subtree_has_the_momentum_of_its_part_of_the_robot(model, seed):
    body = pick(model.bodies, seed)
    fixed, floating = (edit.subtree(model, body.name, base) for base in ("fixed", "floating"))
    q, _, _ = state(fixed, seed)
    M = masses(floating, [*Floating().neutral(), *q])
    assert relative_error(M[6:, 6:], masses(fixed, q)) < EXACT
    rigid = edit.lock(fixed, held(fixed, q)).base_inertia
    assert relative_error(M[:6, :6], dense_inertia(rigid)) < EXACT


def test_a_leg_of_a_dog_is_its_subtree():
    leg = edit.subtree(DOG, DOG.bodies[2].name)
    assert len(leg.bodies) == 1
    assert edit.subtree(ARM, ARM.frames[0].name) is ARM
    assert edit.subtree(DOG, DOG.bodies[0].name, "floating") == DOG


def test_a_subtree_cannot_follow_what_is_outside():
    links = [Link(f"l{i}", SOLID) for i in range(4)]
    connections = [
        Connection(f"j{i}", f"l{i}", f"l{i + 1}", Transform.identity(), Revolute(Z))
        for i in range(3)
    ]
    connections[2] = replace(connections[2], mimicry=Mimicry("j0", 1.0, 0.0))
    model = assemble(Description("chain", links, connections))
    message = "joint 'j2' mimics 'j0', which is not in the subtree of 'l1': lock one of them first"
    with pytest.raises(ModelError, match=message):
        edit.subtree(model, "l1")
    for name in ("j0", "j2"):
        assert owners(edit.subtree(edit.lock(model, {name: 0.1}), "l1")) == ["j1"]


# inertias


@given(models(), SEEDS, inertias())
def test_a_payload_weighs_and_moves_as_its_own_inertia_at_the_frame(model, seed, load):
    frame = pick(model.frames, seed).name
    center, about = load.center_and_rotational()
    rows = [list(row) for row in about.rows]
    loaded = edit.attach_payload(model, frame, load.mass, list(center), rows)
    q, _, _ = state(model, seed)
    J = jacobian(model, q, frame)
    M = masses(model, q) + J.T @ dense_inertia(load) @ J
    assert relative_error(masses(loaded, q), M) < EXACT
    fall = np.array([*gravity_in(model, pose(model, q, frame)), 0.0, 0.0, 0.0])
    expected = weight(model, q) - J.T @ dense_inertia(load) @ fall
    assert relative_error(weight(loaded, q), expected) < EXACT


def test_a_point_mass_in_the_hand_is_held_with_its_weight():
    q, _, _ = state(ARM, 3)
    frame = ARM.frames[-1].name
    more = weight(edit.attach_payload(ARM, frame, 2.0), q) - weight(ARM, q)
    height = (pose(ARM, q, frame)[:3, :3] @ jacobian(ARM, q, frame)[:3])[2]
    assert relative_error(more, 2.0 * 9.81 * height) < EXACT


@given(models(), SEEDS, inertias())
def test_a_replaced_inertia_is_all_that_its_body_has(model, seed, new):
    body = pick(model.bodies, seed)
    center, about = new.center_and_rotational()
    rows = [list(row) for row in about.rows]
    other = edit.replace_inertia(model, body.name, new.mass, list(center), rows)
    q, _, _ = state(model, seed)
    J = jacobian(model, q, body.name)
    change = dense_inertia(new) - dense_inertia(body.inertia)
    M = masses(model, q) + J.T @ change @ J
    assert relative_error(masses(other, q), M) < EXACT


def test_an_inertia_that_is_turned_is_symmetric_but_for_rounding():
    R = np.array([list(row) for row in Rotation.rpy(0.0, math.pi / 2, math.pi).rows])
    turned = R @ np.diag([0.1, 0.2, 0.25]) @ R.T
    turned[0, 1] += 1e-18
    assert edit.attach_payload(ARM, "link7", 1.0, inertia=turned).nq == ARM.nq


# add_frame


@given(models(), SEEDS, transforms())
def test_a_new_frame_is_where_its_parent_carries_it(model, seed, at):
    parent = pick(model.frames, seed).name
    q, _, _ = state(model, seed)
    expected = pose(model, q, parent) @ np.array(at.matrix(), float)
    for form in (at, np.array(at.matrix(), float), at.matrix()):
        new = edit.add_frame(model, "new", parent, form)
        assert relative_error(pose(new, q, "new"), expected) < EXACT
    point = edit.add_frame(model, "new", parent, list(at.translation))
    assert relative_error(pose(point, q, "new")[:, 3], expected[:, 3]) < EXACT
    assert (pose(point, q, "new")[:3, :3] == pose(model, q, parent)[:3, :3]).all()
    loaded = edit.attach_payload(new, "new", 1.0)
    assert relative_error(pose(loaded, q, "new"), expected) < EXACT


# attach


@given(models(max_bodies=3), models(max_bodies=3), transforms(), SEEDS)
def test_an_attached_robot_rides_on_the_frame_that_carries_it(model, other, at, seed):
    if edit._floating_base(other) is not None:  # its root has no mass: with one it does not float
        other = replace(other, base_inertia=given_inertia(1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.2)))
    frame = pick(model.frames, seed).name
    both = edit.attach(model, other, frame, at, prefix="b_")
    assert all(b.joint_name != "b_root_joint" for b in both.bodies)
    # the other one free to move, and moved by the frame: v = T v_both
    free = edit.subtree(other, "root", "floating")
    q, _, _ = state(both, seed)
    names = [f"b_{name}" for name in owners(free)[1:]]
    mine, theirs = places(both, owners(model)), places(both, names)
    assert sorted(mine + theirs) == list(range(both.nv))
    q_own = [q[k] for k in places(both, owners(model), "q_slices")]
    q_free = [*Floating().neutral(), *(q[k] for k in places(both, names, "q_slices"))]
    marked = edit.add_frame(model, "mount", frame, at)
    T = np.zeros((model.nv + free.nv, both.nv))
    T[: model.nv, mine] = np.eye(model.nv)
    T[model.nv : model.nv + 6, mine] = jacobian(marked, q_own, "mount")
    T[model.nv + 6 :, theirs] = np.eye(len(theirs))
    M = np.zeros((len(T), len(T)))
    M[: model.nv, : model.nv] = masses(model, q_own)
    M[model.nv :, model.nv :] = masses(free, q_free)
    assert relative_error(masses(both, q), T.T @ M @ T) < EXACT
    mount = pose(marked, q_own, "mount")
    free = replace(free, gravity=gravity_in(model, mount))
    weights = np.concatenate([weight(model, q_own), weight(free, q_free)])
    assert relative_error(weight(both, q), T.T @ weights) < EXACT
    for f in model.frames:
        assert relative_error(pose(both, q, f.name), pose(model, q_own, f.name)) < EXACT
    for f in other.frames:
        expected = mount @ pose(free, q_free, f.name)
        assert relative_error(pose(both, q, f"b_{f.name}"), expected) < EXACT
    kept = {b.joint_name: (b.drive, b.limits) for b in both.bodies}
    for b in other.bodies:
        assert kept.get(f"b_{b.joint_name}", (b.drive, b.limits)) == (b.drive, b.limits)


@given(models(max_bodies=3), joints(), transforms(), SEEDS)
def test_a_robot_attached_by_a_joint_is_fixed_once_that_is_locked(model, joint, at, seed):
    frame = pick(model.frames, seed).name
    both = edit.attach(model, gripper(), frame, at, joint=joint)
    q, _, _ = state(both, seed)
    value = held(both, q, ["palm_mount"])
    fixed = edit.attach(model, gripper(), frame, at @ joint.transform(value["palm_mount"]))
    assert same_dynamics(fixed, edit.lock(both, value), seed)


def test_what_mimics_inside_an_attached_robot_goes_on_mimicking():
    both = edit.attach(ARM, gripper(), "link7", prefix="g_")
    assert owners(both) == [*owners(ARM), "g_j0"]
    q, _, _ = state(both, 0)
    for name in ("finger0", "finger1", "finger2"):
        rides = pose(both, q, "g_palm") @ pose(gripper(), q[-1:], name)
        assert relative_error(pose(both, q, f"g_{name}"), rides) < EXACT


def test_a_robot_that_floats_in_a_file_with_a_world_is_attached_by_the_body_that_floats():
    other = load_model(FREE_IN_A_WORLD)
    both = edit.attach(ARM, other, "link7", prefix="b_")
    assert owners(both) == [*owners(ARM), "b_hip"]
    q, _, _ = state(both, 0)
    assert relative_error(pose(both, q, "b_torso"), pose(both, q, "link7")) < EXACT


def test_an_attached_robot_keeps_its_order():
    names = owners(ARM)[::-1]
    both = edit.attach(ARM, ARM.reordered(names), "link7", prefix="b_")
    assert owners(both) == [*owners(ARM), *(f"b_{name}" for name in names)]


# reroot


FREE_IN_A_WORLD = """<mujoco><worldbody><site name='door' pos='1 2 3'/>
  <body name='torso' pos='0 0 1'><freejoint name='free'/><geom size='.1'/>
    <body name='leg' pos='0 0 .2'><joint name='hip' axis='1 0 0'/><geom size='.1' pos='0 .1 0'/>
    </body></body></worldbody></mujoco>"""


@given(models(), SEEDS)
def test_a_rerooted_robot_has_the_same_shape_and_goes_back(model, seed):
    model = edit.without(edit.subtree(model, "root", "fixed"), "springs")
    q, _, _ = state(model, seed)
    check_shape(*check_shape(model, q, pick(model.frames, seed).name), "root")


def check_shape(model, q, link):
    """Where all frames are after rerooting; returns the other robot and its coordinates.

    A fixed robot keeps its coordinates, and is seen from the new root. One that floats is where it
    was: the coordinates of its base are those of the new root.
    """
    other, free = edit.reroot(model, link), edit._floating_base(model)
    before, q2 = frame_poses(model, q), np.array(taken(q, model, other, "q_slices"))
    seen_from = np.linalg.inv(before[link])
    if free is not None and model.frame(link).body != WORLD:
        at = free.placement.inverse() @ algorithms.frame_pose(model, q, link)
        q2[places(other, [free.joint_name], "q_slices")] = free.joint.coordinates_at(at)
        seen_from = np.eye(4)
    after = frame_poses(other, q2.tolist())
    for name, here in before.items():
        assert relative_error(after[name], seen_from @ here) < EXACT
    return other, q2.tolist()


def test_a_link_beside_others_hangs_on_a_floating_joint_that_is_reversed():
    """The robot is fixed: a floating joint places one of its links relative to the others."""
    rail = Transform(Rotation.identity(), Vector3(1.0, 0.0, 0.0))
    model = assemble(
        Description(
            "scene",
            [Link("room", Inertia.zero()), Link("cart", SOLID), Link("ball", SOLID)],
            [
                Connection("rail", "room", "cart", rail, Revolute(X)),
                Connection("fly", "room", "ball", Transform.identity(), Floating()),
            ],
        )
    )
    q, _, _ = state(model, 0)
    other = edit.reroot(model, "ball")
    before = frame_poses(model, q)
    after = frame_poses(other, taken(q, model, other, "q_slices"))
    for name in ("room", "cart", "ball"):
        expected = np.linalg.inv(before["ball"]) @ before[name]
        assert relative_error(after[name], expected) < EXACT


@given(models(), SEEDS)
def test_a_floating_robot_is_the_same_from_whichever_link_it_is_seen(model, seed):
    model = edit.subtree(model, "root", "floating")
    assume(not posedness.findings(model))  # a joint that armature held may now turn freely
    check_rerooted(model, pick(model.frames, seed).name, seed)


def test_a_spring_that_holds_the_root_holds_no_other_link():
    held = replace(HUMAN.bodies[0], drive=Drive(stiffness=1.0))
    model = replace(HUMAN, bodies=(held, *HUMAN.bodies[1:]))
    with pytest.raises(ModelError, match="would hold 'head' if that became the root; remove the"):
        edit.reroot(model, "head")
    assert edit.reroot(model, held.name) == model
    assert edit.reroot(edit.without(model, "springs"), "head") == edit.reroot(HUMAN, "head")


@pytest.mark.parametrize("link", ["right_hand", "head", "left_foot"])
def test_a_human_is_the_same_from_head_to_foot(link):
    check_rerooted(HUMAN, link, 0)


def check_rerooted(model, link, seed):
    """Velocities go over by v_new = T v, with the new root's own velocity; forces by T^T."""
    other = edit.reroot(model, link)
    q, v, a = state(model, seed)
    root, rest = pose(model, q, link), places(model, owners(other)[1:])
    assert owners(other)[0] == owners(model)[0] == "root_joint"
    q2 = [*Floating().neutral(), *taken(q, model, other, "q_slices")[7:]]
    T = np.zeros((model.nv, model.nv))
    T[:6] = jacobian(model, q, link)
    T[range(6, model.nv), rest] = 1.0
    M, M2 = masses(model, q), masses(other, q2)
    assert relative_error(T.T @ M2 @ T, M) < EXACT
    turned = replace(other, gravity=gravity_in(model, root))
    assert relative_error(T.T @ weight(turned, q2), weight(model, q)) < EXACT
    tau = forces(model, q, v, a)
    tau2 = np.linalg.solve(T.T, tau)
    rates = forward(turned, q2, (T @ v).tolist(), tau2)
    size = np.abs(tau2) + np.abs(forces(turned, q2, (T @ v).tolist(), [0.0] * model.nv))
    assert relative_error(rates[6:], np.array(a)[rest]) < solved(M2, size)
    for f in model.frames:
        expected = np.linalg.inv(root) @ pose(model, q, f.name)
        assert relative_error(pose(other, q2, f.name), expected) < EXACT


@pytest.mark.parametrize("kind", JOINTS)
@given(st.data())
def test_rerooting_twice_gives_back_the_joint(kind, data):
    joint, at = data.draw(JOINTS[kind]), data.draw(transforms())
    two = assemble(
        Description(
            "two",
            [Link("root", SOLID), Link("middle", SOLID), Link("end", SOLID)],
            [
                Connection("turn", "root", "middle", Transform.identity(), Revolute(X)),
                Connection("j", "middle", "end", at, joint),
            ],
        )
    )
    back = edit.reroot(edit.reroot(two, "end"), "root").bodies[1].joint
    if kind in ("ball", "exponential ball", "euler ball", "floating", "free motion", "custom"):
        assert back == joint
    q = state(two, 0)[0][1:]
    for old, new in zip(joint.subspace(q), back.subspace(q), strict=True):
        assert relative_error([*new.linear, *new.angular], [*old.linear, *old.angular]) < EXACT


def test_a_robot_that_floats_in_a_file_with_a_world_floats_at_its_new_root():
    model = load_model(FREE_IN_A_WORLD)
    other = edit.reroot(model, "leg")
    assert [(b.name, b.joint_name, b.parent) for b in other.bodies] == [
        ("leg", "free", WORLD),
        ("torso", "hip", 0),
    ]
    q = [0.1, 0.2, 0.3, *Ball().neutral(), 0.4]
    here, there = (np.linalg.inv(pose(m, q, "leg")) @ pose(m, q, "torso") for m in (model, other))
    assert relative_error(there, here) < EXACT
    assert pose(other, q, "door")[:3, 3].tolist() == [1.0, 2.0, 3.0]


def test_a_fixed_robot_stands_on_its_new_root_with_its_base_in_the_air():
    hanging = edit.reroot(ARM, "link7")
    assert hanging.bodies[-1].name == ARM.frames[0].name
    assert hanging.bodies[-1].inertia == ARM.base_inertia
    assert owners(hanging) == owners(ARM)[::-1]


# what cannot be


NAN = math.nan
SKEWED = np.eye(4) * 2.0
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
PROJECTIVE = np.eye(4) + np.eye(4)[[3]].T @ np.eye(4)[[0]]


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (
            (1.0, 2.0),
            r"at must be three numbers \(x, y, z\) or a homogeneous 4x4 .*got \(1.0, 2.0\)",
        ),
        (np.eye(3), "or a homogeneous 4x4 matrix, got"),
        ([[1.0, 0.0], [0.0]], r"at must be three numbers .*, got \[\[1.0, 0.0\], \[0.0\]\]"),
        (None, "at must be three numbers .*, got None"),
        ("here", "at must be three numbers .*, got 'here'"),
        ((0.0, NAN, 0.0), "must be finite"),
        (np.full((4, 4), NAN), "must be finite"),
        (SKEWED, "its upper left 3x3 block is not a rotation"),
        (MIRROR, "its upper left 3x3 block is not a rotation"),
        (PROJECTIVE, r"its last row is \[1.0, 0.0, 0.0, 1.0\], not \(0, 0, 0, 1\)"),
        (Transform(Rotation.identity(), Vector3(NAN, 0.0, 0.0)), "must be finite"),
    ],
)
def test_a_place_is_a_point_or_a_pose(at, message):
    with pytest.raises(ModelError, match=message):
        edit.add_frame(ARM, "tip", "link7", at)
    with pytest.raises(ModelError, match=message):
        edit.attach(ARM, gripper(), "link7", at)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": -1.0}, "mass must not be negative, got -1.0"),
        ({"mass": NAN}, "mass must be finite, got nan"),
        ({"mass": "heavy"}, "mass must be a number, got 'heavy'"),
        ({"mass": [1.0]}, r"mass must be a number, got \[1.0\]"),
        ({"mass": 1.0, "com": (0.0, 0.1)}, r"com must be three numbers .*, got \(0.0, 0.1\)"),
        ({"mass": 1.0, "com": (0.0, math.inf, 0.0)}, "com must be finite"),
        ({"mass": 1.0, "inertia": (0.1, 0.1)}, "inertia must be .*a 3x3 matrix, got"),
        (
            {"mass": 1.0, "inertia": np.diag([0.1, NAN, 0.1])},
            "inertia must be finite",
        ),
        (
            {"mass": 1.0, "inertia": [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
            r"inertia must be symmetric, got \[\[1.0, 0.1",
        ),
        (
            {"mass": 1.0, "inertia": np.diag([0.1, -0.2, 0.1])},
            "negative principal moment -0.2",
        ),
    ],
)
@pytest.mark.parametrize("change", [edit.attach_payload, edit.replace_inertia])
def test_an_inertia_must_be_one_of_a_body(change, arguments, message):
    with pytest.raises(ModelError, match=message):
        change(ARM, "link7", **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: edit.lock(m, {"jiont1": 0.0}), "'arm' has no moving joint 'jiont1': did you m"),
        (lambda m: edit.subtree(m, "lnk7"), "'arm' has no frame 'lnk7': did you mean 'link7'"),
        (lambda m: edit.attach_payload(m, "lnk7", 1.0), "has no frame 'lnk7'"),
        (lambda m: edit.replace_inertia(m, "base", 1.0), "'arm' has no body 'base'"),
        (lambda m: edit.add_frame(m, "tip", "lnk7"), "has no frame 'lnk7'"),
        (lambda m: edit.attach(m, ARM, "lnk7"), "has no frame 'lnk7'"),
        (lambda m: edit.reroot(m, "lnk7"), "has no frame 'lnk7'"),
        (lambda m: edit.rechart(m, "zyy"), "a free orientation has no chart 'zyy': did you mean"),
        (
            lambda m: edit.rechart(m, "zyx", "joint1"),
            "'arm' has no ball or floating joint 'joint1': there is none",
        ),
        (lambda m: edit.without(m, "weight"), "has no effect 'weight'"),
    ],
)
def test_an_unknown_name_is_said_with_those_there_are(change, message):
    with pytest.raises(UnknownNameError, match=message):
        change(ARM)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: edit.lock(ARM, {"joint1": [0.1, 0.2]}), "'joint1' is locked with 2 values; it ha"),
        (lambda: edit.lock(ARM, {"joint1": NAN}), "joint 'joint1' is locked at nan: a finite numb"),
        (lambda: edit.lock(ARM, "joint1"), "a mapping of names to values.* got 'joint1'"),
        (lambda: edit.lock(ARM, ["joint1"]), r"such as \{'elbow': 0.5\}"),
        (lambda: edit.lock(HUMAN, {"root_joint": [0.0] * 7}), "its quaternion is zero"),
        (lambda: edit.subtree(ARM, "link3", "free"), "base must be 'fixed' or 'floating', not 'fr"),
        (lambda: edit.add_frame(ARM, "link3", "link7"), "two frames are named 'link3'"),
        (lambda: edit.attach(ARM, ARM, "link7"), "both robots have a link named .*give the .* a p"),
        (
            lambda: edit.attach(HUMAN, named_like_a_root(), "head"),
            "both robots have a joint named 'root_joint': give the attached one a prefix",
        ),
        (
            lambda: edit.attach(ARM, gripper(), "link7", joint="revolute"),
            "joint='revolute': a joint of kinetree.joints is expected, or None",
        ),
    ],
)
def test_a_wrong_argument_is_said_with_what_would_be_right(change, message):
    with pytest.raises(ModelError, match=message):
        change()


def named_like_a_root():
    links = [Link("plate", SOLID), Link("needle", SOLID)]
    turn = Connection("root_joint", "plate", "needle", Transform.identity(), Screw(Z, 0.1))
    return assemble(Description("dial", links, [turn]))
