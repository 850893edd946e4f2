"""The model: what it refuses, how it is ordered, named, hashed, and joints held in place."""

import math
import os
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.algorithms import frame_pose, rnea
from kinetree.errors import ModelError, UnknownNameError
from kinetree.model import Body, Drive, Frame, Limits, Model
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link
from kinetree.model.joints import Floating, Prismatic, Revolute, Screw
from kinetree.model.model import WORLD
from kinetree.robot.load import load_model
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.random_models import directions, inertias, models, numbers, transforms
from tests.tolerances import EXACT, relative_error

X = Transform(Rotation.identity(), Vector3(0.1, 0.2, 0.3))
I = Inertia.about_center(2.0, Vector3(0.0, 0.1, 0.0), Symmetric3(0.1, 0.2, 0.3, 0.0, 0.0, 0.0))
Z = Revolute(Vector3(0.0, 0.0, 1.0))


def body(name, parent, joint=Z):
    return Body(name, f"{name}_joint", parent, X, joint, I)


ARM = Model(
    "arm",
    (body("upper", WORLD), body("lower", 0), body("hand", 1, Floating())),
    (Frame("world", WORLD, Transform.identity()), Frame("upper", 0, X), Frame("tool", 2, X)),
)


# what is refused


@pytest.mark.parametrize("parent", [0, 1, 5, -2])
def test_a_parent_must_come_before_its_children(parent):
    with pytest.raises(
        ModelError, match=rf"body 'upper' \(number 0\) has parent {parent}: a parent"
    ):
        Model("bad", (body("upper", parent), body("lower", 0)), ())


def test_joint_names_must_be_unique():
    with pytest.raises(ModelError, match="two joints are named 'upper_joint'"):
        Model("bad", (body("upper", WORLD), body("upper", 0)), ())


def test_frame_names_must_be_unique():
    with pytest.raises(ModelError, match="two frames are named 'tool'"):
        Model("bad", (body("upper", WORLD),), (Frame("tool", 0, X), Frame("tool", WORLD, X)))


@pytest.mark.parametrize("number", [1, -2])
def test_a_frame_must_be_on_a_body_that_exists(number):
    with pytest.raises(
        ModelError, match=rf"frame 'tool' is on body {number}, which does not exist"
    ):
        Model("bad", (body("upper", WORLD),), (Frame("tool", number, X),))


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")]
)
@pytest.mark.parametrize("where", ["placement", "inertia", "joint", "frame", "gravity"])
def test_every_number_must_be_finite(where, value):
    bad = Vector3(0.0, value, 0.0)
    upper = body("upper", WORLD)
    parts = {"bodies": (upper,), "frames": (Frame("tool", 0, X),)}
    if where == "placement":
        parts["bodies"] = (replace(upper, placement=replace(X, translation=bad)),)
    elif where == "inertia":
        parts["bodies"] = (replace(upper, inertia=replace(I, moment=bad)),)
    elif where == "joint":
        parts["bodies"] = (replace(upper, joint=Screw("z", value)),)
    elif where == "frame":
        parts["frames"] = (Frame("tool", 0, replace(X, translation=bad)),)
    else:
        parts["gravity"] = bad
    owner = {"frame": "the placement of frame 'tool'", "gravity": "gravity"}
    what = owner.get(where, f"the {where} of body 'upper'")
    with pytest.raises(ModelError, match=f"^{what} holds .*: every number must be finite"):
        Model("bad", **parts)


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 2), (-1, 0, 1)])
def test_the_coordinate_order_must_name_each_body_once(order):
    with pytest.raises(ModelError, match="coordinate_order must name each body that follows no"):
        replace(ARM, coordinate_order=order)


@pytest.mark.parametrize(
    ("joint", "rest", "message"),
    [
        (Z, (0.1, 0.2), r"at \(0.1, 0.2\): 1 coordinates are expected, or none for the neutral"),
        (Floating(), (0.1,), "7 coordinates are expected"),
        (Floating(), (0.1,) * 3 + (0.0,) * 4, "its quaternion is zero"),
        (Z, (math.nan,), "the drive of body 'upper' holds nan: every number must be finite"),
    ],
)
def test_a_spring_rests_at_a_position_of_its_joint(joint, rest, message):
    with pytest.raises(ModelError, match=message):
        Model("bad", (replace(body("upper", WORLD, joint), drive=Drive(rest=rest)),), ())


def test_a_model_cannot_be_changed():
    for value, field in ((ARM, "name"), (ARM.bodies[0], "parent"), (ARM.frames[0], "body")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field, 0)


# coordinates


def test_coordinates_stand_in_the_order_of_the_bodies_by_default():
    assert (ARM.nq, ARM.nv) == (9, 8)
    assert ARM.q_slices == (slice(0, 1), slice(1, 2), slice(2, 9))
    assert ARM.v_slices == (slice(0, 1), slice(1, 2), slice(2, 8))


def test_reordered_coordinates_stand_in_the_order_asked_for():
    model = ARM.reordered(["hand_joint", "upper_joint", "lower_joint"])
    assert model.q_slices == (slice(7, 8), slice(8, 9), slice(0, 7))
    assert model.v_slices == (slice(6, 7), slice(7, 8), slice(0, 6))
    assert model.bodies == ARM.bodies
    assert model.reordered([b.joint_name for b in ARM.bodies]) == ARM


@given(models(mimic=False), st.randoms(use_true_random=False))
def test_reordering_permutes_the_joint_forces_and_nothing_else(model, random):
    names = [b.joint_name for b in model.bodies]
    random.shuffle(names)
    other = model.reordered(names)
    rng = np.random.default_rng(random.randrange(1000))
    q, v, a = np.zeros(model.nq), *rng.uniform(-1.0, 1.0, (2, model.nv))
    q2, v2, a2 = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
    for i, b in enumerate(model.bodies):
        q[model.q_slices[i]] = q2[other.q_slices[i]] = b.joint.neutral()
        v2[other.v_slices[i]], a2[other.v_slices[i]] = v[model.v_slices[i]], a[model.v_slices[i]]
    tau, tau2 = (
        np.array(rnea(m, *map(list, x))) for m, x in ((model, (q, v, a)), (other, (q2, v2, a2)))
    )
    for i in range(len(model.bodies)):
        np.testing.assert_array_equal(tau[model.v_slices[i]], tau2[other.v_slices[i]])


@pytest.mark.parametrize(
    ("joints", "error", "message"),
    [
        (["upper_joint", "lower_joint"], ModelError, "its 3 moving joints once; 'hand_joint' is m"),
        (
            ["upper_joint", "lower_joint", "hand_joint", "upper_joint"],
            ModelError,
            "one is named twice",
        ),
        (
            ["uper_joint", "lower_joint", "hand_joint"],
            UnknownNameError,
            "robot 'arm' has no moving joint 'uper_joint': did you mean 'upper_joint'",
        ),
        ([], ModelError, "'upper_joint' is missing"),
    ],
    ids=["one missing", "one twice", "one unknown", "none"],
)
def test_an_order_must_name_each_moving_joint_once(joints, error, message):
    with pytest.raises(error, match=message):
        ARM.reordered(joints)


def test_the_joints_option_of_a_file_is_the_reordered_model():
    text = chain(4)
    names = ["j2", "j0", "j1"]
    assert load_model(text, joints=names) == load_model(text).reordered(names)


# names


def test_a_frame_is_found_by_its_name():
    assert ARM.frame("tool") is ARM.frames[2]
    assert ARM.frame("world").body == WORLD


def test_an_unknown_frame_suggests_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"robot 'arm' has no frame 'tol': did you mean 'tool'"
    ):
        ARM.frame("tol")
    with pytest.raises(UnknownNameError, match="valid are 'world', 'upper', 'tool'"):
        ARM.frame("qqq")
    with pytest.raises(UnknownNameError, match="there is none"):
        Model("empty", (), ()).frame("tool")
    with pytest.raises(UnknownNameError, match=r"no frame \['tool'\]"):
        ARM.frame(["tool"])


# the digest


def variants(value):
    """Every value that differs in one number, by one rounding unit, or in one name."""
    if is_dataclass(value):
        for f in fields(value):
            if f.name in ("parent", "body", "coordinate_order", "cone", "integrator"):
                continue  # structure or a choice, not a number
            for other in variants(getattr(value, f.name)):
                yield replace(value, **{f.name: other})
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            for other in variants(item):
                yield (*value[:i], other, *value[i + 1 :])
    elif isinstance(value, (float, int)):
        yield math.nextafter(value, 7.0)
    elif isinstance(value, str):
        yield value + "'"


def test_the_digest_changes_with_every_number_and_name():
    held = replace(ARM.bodies[2], drive=Drive(rest=(0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8)))
    arm = replace(ARM, bodies=(*ARM.bodies[:2], held))
    digests = [m.digest for m in variants(arm)]
    # per body: 2 names, 12 of the placement, 3 or no axis, 10 of the inertia, 4 limits, 4 of the
    # drive, 15 of the softness and, of the last, 7 of where its spring rests; 6 of the options
    expected = 1 + 3 * (2 + 12 + 10 + 4 + 4 + 15) + 7 + 2 * 3 + 3 * (1 + 12) + 3 + 10 + 6
    assert len(digests) == expected
    assert len({arm.digest, *digests}) == len(digests) + 1


def test_the_digest_changes_with_structure():
    upper, lower, hand = ARM.bodies
    others = [
        replace(ARM, bodies=(upper, replace(lower, parent=WORLD), hand)),
        replace(ARM, bodies=(upper, replace(lower, joint=Prismatic(Z.axis)), hand)),
        replace(ARM, frames=ARM.frames[:2]),
        replace(ARM, frames=(*ARM.frames[:2], replace(ARM.frames[2], body=1))),
        ARM.reordered(["hand_joint", "upper_joint", "lower_joint"]),
    ]
    assert len({ARM.digest, *(m.digest for m in others)}) == len(others) + 1


def test_the_same_robot_has_the_same_digest():
    text = chain(4)
    assert load_model(text).digest == load_model(text).digest
    assert replace(ARM).digest == ARM.digest


def test_the_digest_is_the_same_in_another_process():
    code = f"from kinetree.robot.load import load_model as f; print(f({chain(4)!r}).digest)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == load_model(chain(4)).digest


# joints held in place


def three_links(joint, placement, below, link_inertias, *, fixed_at=None, **options):
    """root - joint -> middle - turn -> end, the first joint replaced by a fixed one if asked."""
    first = placement if fixed_at is None else placement @ joint.transform(fixed_at)
    connections = [
        Connection(
            "joint", "root", "middle", first, joint if fixed_at is None else None, Limits(), ""
        ),
        Connection("turn", "middle", "end", below, Z, Limits(), ""),
    ]
    links = [Link(n, i, "") for n, i in zip(("root", "middle", "end"), link_inertias, strict=True)]
    return assemble(Description("three", links, connections), **options)


def numbers_of(model):
    return [
        *(e for b in model.bodies for e in (*np.ravel(b.placement.matrix()), b.inertia.mass)),
        *(e for b in model.bodies for e in (*b.inertia.moment, *b.inertia.rotational)),
        *(e for f in model.frames for e in np.ravel(f.placement.matrix())),
    ]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@given(
    st.one_of(st.builds(Revolute, directions()), st.builds(Prismatic, directions())),
    numbers(-3.0, 3.0),
    transforms(),
    transforms(),
    st.tuples(inertias(), inertias(), inertias()),
)
def test_a_locked_joint_is_a_fixed_one_at_that_place(base, joint, value, placement, below, three):
    parts = (joint, placement, below, three)
    locked = three_links(*parts, base=base, locked={"joint": value})
    fixed = three_links(*parts, base=base, fixed_at=(value,))
    assert [b.joint_name for b in locked.bodies] == [b.joint_name for b in fixed.bodies]
    assert [(f.name, f.body) for f in locked.frames] == [(f.name, f.body) for f in fixed.frames]
    assert relative_error(numbers_of(locked), numbers_of(fixed)) < EXACT


@given(st.builds(Revolute, directions()), numbers(-3.0, 3.0), transforms(), numbers(-3.0, 3.0))
def test_frames_of_a_locked_robot_are_where_the_free_one_has_them(joint, value, placement, angle):
    parts = (joint, placement, X, (I, I, I))
    locked = frame_pose(three_links(*parts, locked={"joint": value}), [angle], "end")
    free = frame_pose(three_links(*parts), [value, angle], "end")
    assert relative_error(locked.matrix(), free.matrix()) < EXACT


@pytest.mark.parametrize(
    "value", [1, 0.5, [0.5], (0.5,), np.float64(0.5), np.float32(0.5), np.int64(1), np.array(0.5)]
)
def test_a_joint_of_one_coordinate_is_locked_by_any_real_number(value):
    model = load_model(chain(3), locked={"j0": value})
    assert [b.joint_name for b in model.bodies] == ["j1"]
    expected = Transform(Rotation.about(Z.axis, float(np.ravel(value)[0])), Vector3(0.0, 0.0, 0.1))
    assert model.frame("l1").placement == expected


def test_a_floating_joint_is_locked_by_its_seven_coordinates():
    text = chain(3).replace("revolute", "floating", 1)
    model = load_model(text, locked={"j0": [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]})
    assert model.frame("l1").placement.translation == Vector3(1.0, 2.0, 3.1)


def test_a_floating_joint_is_locked_at_a_rotation_whatever_its_quaternions_length():
    text = chain(3).replace("revolute", "floating", 1)
    model = load_model(text, locked={"j0": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]})
    R = model.frame("l1").placement.rotation
    assert relative_error([list(row) for row in R.rows], [[1, 0, 0], [0, 0, -1], [0, 1, 0]]) < EXACT
    with pytest.raises(ModelError, match="joint 'j0'"):
        load_model(text, locked={"j0": [0.0] * 7})


def test_all_joints_may_be_locked():
    model = load_model(chain(3), locked={"j0": 0.1, "j1": 0.2})
    assert (model.nq, model.bodies) == (0, ())


@pytest.mark.parametrize(
    ("locked", "error", "message"),
    [
        ({"fre": 0.0}, UnknownNameError, "'chain' has no moving joint 'fre': did you mean 'free'"),
        ({"weld": 0.0}, UnknownNameError, "has no moving joint 'weld'"),
        ({"j0": [0.1, 0.2]}, ModelError, "joint 'j0' is locked with 2 values; it has 1"),
        ({"j0": []}, ModelError, "joint 'j0' is locked with 0 values; it has 1"),
        ({"free": 0.0}, ModelError, "joint 'free' is locked with 1 values; it has 7"),
        ({"j0": math.nan}, ModelError, "nan"),
        ({"j0": math.inf}, ModelError, "inf"),
        ({"j0": "half"}, ModelError, "joint 'j0'"),
        ({"j0": None}, ModelError, "joint 'j0'"),
    ],
    ids=["unknown", "a fixed joint", "two", "none", "one of seven", "nan", "inf", "text", "None"],
)
def test_a_joint_is_locked_by_name_with_as_many_numbers_as_it_has(locked, error, message):
    extra = """<link name='w'/><link name='f'/>
        <joint name='weld' type='fixed'><parent link='l0'/><child link='w'/></joint>
        <joint name='free' type='floating'><parent link='l0'/><child link='f'/></joint></robot>"""
    with pytest.raises(error, match=message):
        load_model(chain(3).replace("</robot>", extra), locked=locked)


def test_the_root_joint_of_a_floating_base_is_not_taken_for_one_of_the_file():
    text = chain(3).replace("'j0'", "'root_joint'")
    with pytest.raises(ModelError, match="root_joint"):
        load_model(text, base="floating")
    model = load_model(text, base="floating", locked={"root_joint": 0.5})
    assert [b.joint for b in model.bodies] == [Floating(), Z]


def test_the_base_is_fixed_or_floating():
    with pytest.raises(ModelError, match="base must be 'fixed' or 'floating', not 'foo'"):
        load_model(chain(2), base="foo")


def chain(count):
    """The URDF of a chain of links l0, l1, ... joined by j0, j1, ... about z."""
    inertial = """<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"""
    links = [f"<link name='l{i}'>{inertial}</link>" for i in range(count)]
    joints = [
        f"<joint name='j{i}' type='revolute'><parent link='l{i}'/><child link='l{i + 1}'/>"
        f"<origin xyz='0 0 0.1'/><axis xyz='0 0 1'/></joint>"
        for i in range(count - 1)
    ]
    return "\n".join(["<robot name='chain'>", *links, *joints, "</robot>"])
