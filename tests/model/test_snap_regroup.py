"""Snapping takes away rounding noise and no more; regrouping changes no joint force."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kinetree import algorithms, robots
from kinetree.algorithms import aba, crba, rnea
from kinetree.algorithms.kinematics import frame_pose
from kinetree.model import Body, Frame, Model
from kinetree.model.joints import Floating, Prismatic, Revolute
from kinetree.model.model import NO_INERTIA, WORLD
from kinetree.model.prepare.reframe import align, align_common_normals, recenter, reframe
from kinetree.model.prepare.regroup import regroup
from kinetree.model.prepare.snap import snap
from kinetree.quantities.posedness import findings
from kinetree.robot.load import load_model
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.random_models import models
from tests.spatial.dense import leaves
from tests.tolerances import EPS, EXACT, relative_error, solved

NOISE = 6e-17
NEARLY_ONE = 1.0 - 2.0**-53
X, Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 0.0, 1.0)
UNIT = Inertia(1.0, Vector3(0.1, 0.2, 0.3), Symmetric3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3))


def one_body(placement=None, joint=None, inertia=UNIT, frame=None):
    placement = placement or Transform.identity()
    return Model(
        "one",
        (Body("b", "j", WORLD, placement, joint or Revolute(Z), inertia),),
        (Frame("f", 0, frame or Transform.identity()),),
    )


# snap


def test_a_right_angle_becomes_exact():
    quarter = Rotation.rpy(math.pi / 2, 0.0, -math.pi / 2)
    assert any(0.0 < abs(e) < 1e-15 for e in leaves(quarter))
    placement = Transform(quarter, Vector3(0.1, 0.2, 0.3))
    model = snap(one_body(placement=placement, frame=placement))
    for snapped in (model.bodies[0].placement, model.frames[0].placement):
        assert set(leaves(snapped.rotation)) == {0.0, 1.0, -1.0}
        assert snapped.translation == Vector3(0.1, 0.2, 0.3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_noise_becomes_zero_and_nearly_one_becomes_one(sign):
    rotation = Rotation(
        Vector3(NEARLY_ONE * sign, NOISE, -NOISE),
        Vector3(-NOISE, NEARLY_ONE, NOISE),
        Vector3(NOISE, -NOISE, NEARLY_ONE * sign),
    )
    axis = Vector3(NOISE, -NOISE, NEARLY_ONE * sign)
    model = snap(one_body(Transform(rotation, Vector3.zero()), Revolute(axis)))
    snapped = model.bodies[0]
    assert leaves(snapped.placement.rotation) == [sign, 0, 0, 0, 1.0, 0, 0, 0, sign]
    assert leaves(snapped.joint) == [0.0, 0.0, sign]


def test_noise_beside_larger_numbers_becomes_zero():
    inertia = Inertia(
        1.0,
        Vector3(0.5, 0.5 * NOISE, -NOISE),
        Symmetric3(1e-3, 2e-3, 3e-3, 1e-3 * NOISE, -1e-3 * NOISE, 1e-4),
    )
    placement = Transform(Rotation.identity(), Vector3(0.3, NOISE, 0.0))
    body = snap(one_body(placement, Prismatic(X), inertia)).bodies[0]
    assert leaves(body.placement.translation) == [0.3, 0.0, 0.0]
    assert leaves(body.inertia.moment) == [0.5, 0.0, 0.0]
    assert leaves(body.inertia.rotational) == [1e-3, 2e-3, 3e-3, 0.0, 0.0, 1e-4]


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1e-6, 1.0, 1e6, 1e15])
def test_snapping_does_not_depend_on_units(scale):
    inertia = Inertia(
        1e-3 * scale,
        Vector3(0.1 * scale, 1e-20 * scale, 0.2 * scale),
        Symmetric3(scale, 2.0 * scale, 3.0 * scale, 0.25 * scale, -1e-20 * scale, 0.0),
    )
    placement = Transform(Rotation.identity(), Vector3(0.3 * scale, -1e-20 * scale, 0.0))
    body = snap(one_body(placement, Prismatic(X), inertia)).bodies[0]
    expected = Inertia(
        1e-3 * scale,
        Vector3(0.1 * scale, 0.0, 0.2 * scale),
        Symmetric3(scale, 2.0 * scale, 3.0 * scale, 0.25 * scale, 0.0, 0.0),
    )
    assert body.inertia == expected
    assert body.placement.translation == Vector3(0.3 * scale, 0.0, 0.0)


@pytest.mark.parametrize("small", [1e-6, 1e-9, 1e-12])
def test_small_numbers_that_are_meant_are_kept(small):
    rotation = Rotation.about(Z, small)
    placement = Transform(rotation, Vector3(1.0, small, 0.0))
    inertia = replace(UNIT, rotational=Symmetric3(1.0, 1.0, 1.0, small, 0.0, 0.0))
    body = snap(one_body(placement, Revolute(Z), inertia)).bodies[0]
    assert body.placement.rotation.b.x == math.sin(small)
    assert body.placement.translation == Vector3(1.0, small, 0.0)
    assert body.inertia.rotational.xy == small


def test_a_moment_is_never_snapped_and_a_product_beside_the_moments_it_lies_between():
    slender = Symmetric3(1e-20, 1.0, 2.0, 1e-12, 1e-26, 1e-16)
    body = snap(one_body(inertia=replace(UNIT, rotational=slender))).bodies[0]
    assert leaves(body.inertia.rotational) == [1e-20, 1.0, 2.0, 1e-12, 0.0, 0.0]
    flat = Symmetric3(0.0, 1.0, 1.0, 1e-17, 0.0, 0.0)
    body = snap(one_body(inertia=replace(UNIT, rotational=flat))).bodies[0]
    assert leaves(body.inertia.rotational) == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("axis", [X, Z])
def test_regrouping_keeps_a_tiny_moment_about_the_axis(axis):
    about = Symmetric3(1e-20, 1.0, 1.0, 0.0, 0.0, 0.0) if axis == X else None
    about = about or Symmetric3(1.0, 1.0, 1e-20, 0.0, 0.0, 0.0)
    body = regroup(one_body(joint=Revolute(axis), inertia=replace(UNIT, rotational=about))).bodies[
        0
    ]
    assert axis.dot(body.inertia.rotational @ axis) == 1e-20


@given(models())
def test_snapping_leaves_the_given_model_unchanged_and_moves_nothing_by_more_than_noise(model):
    before = model.digest
    snapped = snap(model)
    assert replace(model).digest == before
    for old, new in zip(model.bodies, snapped.bodies, strict=True):
        assert relative_error(leaves(new.placement), leaves(old.placement)) <= 1e-13
        assert relative_error(leaves(new.inertia), leaves(old.inertia)) <= 1e-13
        assert type(new.joint) is type(old.joint)
        assert (new.name, new.parent, new.limits) == (old.name, old.parent, old.limits)
    assert snapped.coordinate_order == model.coordinate_order
    assert snapped.gravity == model.gravity


@given(models())
def test_snapping_twice_is_snapping_once(model):
    once = snap(model)
    assert snap(once) == once


def test_a_floating_joint_has_no_axis_to_snap():
    assert snap(one_body(joint=Floating())).bodies[0].joint == Floating()


# reframe and regroup


@st.composite
def states(draw):
    """A model, a configuration, and two vectors of joint size."""
    model = draw(models())
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    q = np.zeros(model.nq)
    for body, at in zip(model.bodies, model.q_slices, strict=True):
        nq = body.joint.nq
        q[at] = body.joint.sample(rng, (), np.full(nq, -1.0), np.full(nq, 1.0))
    return (model, list(q), *(list(rng.uniform(-1.0, 1.0, model.nv)) for _ in range(2)))


@given(states())
def test_other_frames_change_no_force_and_no_named_frame(state):
    model, q, v, a = state
    moved = reframe(model)
    assert relative_error(rnea(moved, q, v, a), rnea(model, q, v, a)) < EXACT
    assert relative_error(crba(moved, q), crba(model, q)) < EXACT
    for frame in model.frames:
        found, expected = (leaves(frame_pose(m, q, frame.name)) for m in (moved, model))
        assert relative_error(found, expected) < EXACT


def test_between_slanted_axes_there_is_a_turn_about_x_and_no_step_along_z():
    bodies = reframe(robots.chain(6, seed=3).model).bodies
    for body in bodies[1:]:
        across, (_, _, step) = body.placement.rotation.rows, body.placement.translation
        assert relative_error(leaves(across[0]), [1.0, 0.0, 0.0]) < EXACT
        assert abs(across[1].x) < EXACT
        assert abs(across[2].x) < EXACT
        assert abs(step) < EXACT
    tree = reframe(robots.tree(7, seed=3).model).bodies
    assert all(abs(body.placement.rotation.rows[2].x) < EXACT for body in tree)


@pytest.mark.parametrize("name", ["arm", "human"])
def test_frames_whose_rotations_are_plain_stay(name):
    model = getattr(robots, name)().model
    assert align_common_normals(model) == model


@given(states())
def test_regrouping_changes_no_joint_force(state):
    model, q, v, a = state
    assert relative_error(rnea(regroup(model), q, v, a), rnea(model, q, v, a)) < EXACT


@given(states())
def test_regrouping_does_not_change_the_mass_matrix(state):
    model, q, _, _ = state
    assert relative_error(crba(regroup(model), q), crba(model, q)) < EXACT


@given(states())
def test_regrouping_changes_no_acceleration(state):
    model, q, v, tau = state
    assume(all(body.follows is None for body in model.bodies) and not findings(model))
    expected = aba(model, q, v, tau)
    tolerance = solved(crba(model, q), rnea(model, q, v, expected))
    assert relative_error(aba(regroup(model), q, v, tau), expected) < tolerance


@given(models())
def test_a_revolute_leaf_is_left_massless_and_a_prismatic_one_without_rotational_inertia(model):
    model = align(recenter(model))
    regrouped = regroup(model).bodies
    parents = {b.parent for b in model.bodies}
    for i, (old, new) in enumerate(zip(model.bodies, regrouped, strict=True)):
        if i in parents:
            continue
        if isinstance(old.joint, Revolute):
            assert new.inertia.mass == 0.0
            along = old.joint.axis.dot(new.inertia.moment)
            assert abs(along) <= 8 * EPS * max(1.0, old.inertia.mass)
        elif isinstance(old.joint, Prismatic):
            assert list(new.inertia.rotational) == [0.0] * 6
            assert new.inertia.mass == old.inertia.mass
        elif isinstance(old.joint, Floating):
            assert new.inertia == old.inertia


@given(models())
def test_mass_moves_inwards_past_every_revolute_joint(model):
    for body in regroup(model).bodies:
        if isinstance(body.joint, Revolute):
            assert body.inertia.mass == 0.0


@given(models())
def test_beyond_its_frames_regrouping_changes_inertias_only(model):
    before = model.digest
    regrouped = regroup(model)
    assert replace(model).digest == before
    model = reframe(model)
    kept = [replace(b, inertia=UNIT) for b in model.bodies]
    assert [replace(b, inertia=UNIT) for b in regrouped.bodies] == kept
    assert (regrouped.frames, regrouped.gravity) == (model.frames, model.gravity)


@given(states())
def test_regrouping_without_dropping_keeps_the_composite_inertia_of_the_robot(state):
    model, q, _, _ = state
    whole = regroup(model, drop=False)
    found, expected = (total_inertia(m, q) for m in (whole, model))
    assert relative_error(leaves(found), leaves(expected)) < EXACT


def total_inertia(model, q):
    """The inertia of all bodies about the world's origin."""
    poses = algorithms.poses(model, q)
    return sum(
        (X.to_parent(body.inertia) for X, body in zip(poses, model.bodies, strict=True)),
        start=NO_INERTIA,
    )


def test_regrouping_keeps_the_total_mass_where_a_floating_base_carries_all():
    text = """<robot name='r'><link name='a'><inertial><mass value='3'/></inertial></link>
        <link name='b'><inertial><origin xyz='1 0 0'/><mass value='2'/></inertial></link>
        <joint name='j' type='revolute'><parent link='a'/><child link='b'/>
        <origin xyz='0 0 1'/><axis xyz='0 0 1'/></joint></robot>"""
    base, arm = regroup(load_model(text, base="floating")).bodies
    assert (base.inertia.mass, arm.inertia.mass) == (5.0, 0.0)
    assert base.inertia.moment == Vector3(0.0, 0.0, 2.0)
    assert arm.inertia.moment == Vector3(2.0, 0.0, 0.0)
