"""Building robots in Python: what each argument does, and what is refused."""

import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Coupling, LoopJoint, Rod
from kinetree.errors import ModelError, ModelWarning, UnknownNameError
from kinetree.joints import (
    Ball,
    Floating,
    Prismatic,
    Revolute,
    Screw,
    cylindrical,
    euler,
    planar,
    universal,
)
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.tolerances import EXACT, relative_error

BLOCK = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.25)}
AS_INERTIA = Inertia.about_center(
    2.0, Vector3(0.1, 0.2, 0.3), Symmetric3(0.1, 0.2, 0.25, 0.0, 0.0, 0.0)
)


def one(**arguments):
    """A robot of one joint."""
    assembly = kt.Assembly("one")
    assembly.add("link", "base", **{"joint": Revolute("z"), **BLOCK, **arguments})
    return assembly.robot()


# inertias, places, joints


@pytest.mark.parametrize(
    "given",
    [
        BLOCK,
        {**BLOCK, "inertia": np.diag([0.1, 0.2, 0.25])},
        {"inertia": AS_INERTIA, "mass": None, "com": None},
    ],
    ids=["three moments", "a matrix", "an Inertia"],
)
def test_an_inertia_is_given_by_numbers_or_as_one(given):
    assert one(**given).model.bodies[0].inertia == AS_INERTIA


def test_a_link_without_numbers_has_no_inertia_and_one_with_a_mass_alone_is_a_point():
    assembly = kt.Assembly("two", mass=3.0)
    assembly.add("ghost", "base", Revolute("z"))
    assembly.add("point", "ghost", Revolute("x"), at=(0, 0, 1), mass=2.0, com=(0.0, 0.5, 0.0))
    model = assembly.model()
    assert model.base_inertia.mass == 3.0
    assert model.bodies[0].inertia == Inertia.zero()
    assert model.bodies[1].inertia.rotational.xx == 0.5


@pytest.mark.parametrize(
    "at",
    [
        (1.0, 2.0, 3.0),
        Vector3(1.0, 2.0, 3.0),
        Transform(Rotation.identity(), Vector3(1.0, 2.0, 3.0)),
        [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]],
    ],
    ids=["a point", "a vector", "a transform", "a matrix"],
)
def test_a_place_is_given_in_any_way(at):
    assert one(at=at).pose([0.0], "link")[:3, 3].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("axis", "unit"),
    [
        ("x", (1, 0, 0)),
        ("-y", (0, -1, 0)),
        ((0, 0, 5), (0, 0, 1)),
        ([3, 0, 4], (0.6, 0, 0.8)),
        (np.array([0.0, -2.0, 0.0]), (0, -1, 0)),
        (Vector3(3.0, 0.0, 4.0), (0.6, 0, 0.8)),
        ((1e-200, 0, 0), (1, 0, 0)),
    ],
)
def test_an_axis_is_a_letter_or_a_direction(axis, unit):
    for joint in (Revolute(axis), Prismatic(axis), Screw(axis, 0.1)):
        assert tuple(joint.axis) == pytest.approx(unit)
    assert cylindrical(axis) == cylindrical(Vector3(*map(float, Revolute(axis).axis)))
    assert universal(axis, "z").parts[0] == Revolute(axis)


def test_a_unit_vector_is_not_touched():
    axis = Vector3(0.1, 0.2, 0.3) * (1.0 / np.sqrt(0.14))
    assert Revolute(axis).axis is axis


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Revolute((0, 0, 0)), "is zero: a direction is expected, such as 'z'"),
        (lambda: Prismatic(Vector3.zero()), "is zero: a direction is expected"),
        (lambda: Screw("w", 0.1), "an axis has no direction 'w': valid are 'x', 'y', 'z'"),
        (lambda: Revolute((0, 1)), r"axis must be three numbers .*, got \(0, 1\)"),
        (lambda: Revolute((0, 0, np.nan)), "axis must be finite"),
        (lambda: Revolute(None), "axis must be three numbers .*, got None"),
        (lambda: planar("x", "x"), "is zero: a direction is expected"),
        (lambda: euler("xxz"), "'xxz' is no sequence of Euler angles"),
    ],
)
def test_what_is_no_axis_is_refused(make, message):
    with pytest.raises((ModelError, UnknownNameError), match=message):
        make()


@pytest.mark.parametrize(
    ("joint", "nq", "nv"),
    [
        (Revolute("x"), 1, 1),
        (Prismatic("x"), 1, 1),
        (Screw("x", 0.1), 1, 1),
        (Ball(), 4, 3),
        (Floating(), 7, 6),
        (planar(), 3, 3),
        (planar("y", "z"), 3, 3),
        (universal("x", "y"), 2, 2),
        (cylindrical("z"), 2, 2),
        (euler("zyx"), 3, 3),
    ],
)
def test_every_joint_makes_a_robot(joint, nq, nv):
    robot = one(joint=joint)
    assert (robot.nq, robot.nv) == (nq, nv)
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, nv))
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-9


# limits, drives, mimics, frames


def test_limits_and_drives_are_those_given():
    limits = kt.Limits(-1.0, 2.0, velocity=3.0, effort=4.0)
    robot = one(limits=limits, drive={"armature": 0.5, "damping": 0.25})
    assert robot.model.bodies[0].limits == limits
    assert robot.model.bodies[0].drive == kt.Drive(0.5, 0.25, 0.0)
    assert one(drive=kt.Drive(friction=1.0)).model.bodies[0].drive.friction == 1.0
    pair = one(limits=(-1, 2))
    assert (pair.limits.lower.tolist(), pair.limits.upper.tolist()) == ([-1.0], [2.0])
    open_ended = one(limits=(0.0, np.inf))
    assert np.isinf(open_ended.limits.upper).all()


@pytest.mark.parametrize(
    ("mimic", "expected"),
    [("first", 0.3), (("first", -2.0), -0.6), (("first", 2, 1), 1.6)],
)
def test_a_joint_follows_another(mimic, expected):
    assembly = kt.Assembly("gripper")
    assembly.add("one", "base", Prismatic("x"), name="first", **BLOCK)
    assembly.add("two", "base", Prismatic("x"), mimic=mimic, **BLOCK)
    robot = assembly.robot()
    assert robot.joints == ("first",)
    assert robot.pose([0.3], "two")[0, 3] == pytest.approx(expected)


def test_a_frame_and_a_fixed_link_are_carried_along():
    assembly = kt.Assembly("arm")
    assembly.add("upper", "base", Revolute("z"), **BLOCK)
    assembly.add("camera", "upper", at=(1.0, 0.0, 0.0), mass=0.1)
    assembly.add_frame("lens", "camera", at=(0.1, 0.0, 0.0))
    robot = assembly.robot()
    assert robot.bodies == ("upper",)
    assert robot.frames == ("base", "upper", "camera", "lens")
    assert robot.total_mass == pytest.approx(2.1)
    assert robot.pose([np.pi / 2], "lens")[:3, 3] == pytest.approx([0.0, 1.1, 0.0])


def test_gravity_and_base_are_chosen():
    assembly = kt.Assembly("block", gravity=(0.0, 0.0, -1.62), **BLOCK)
    robot = assembly.robot(base="floating")
    assert robot.gravity.tolist() == [0.0, 0.0, -1.62]
    assert robot.nv == 6
    assert robot.total_mass == 2.0
    with pytest.raises(ModelError, match="base must be 'fixed' or 'floating'"):
        assembly.robot(base="free")


def test_more_can_be_added_after_a_robot_was_made():
    assembly = kt.Assembly("chain")
    assembly.add("a", "base", Revolute("z"), **BLOCK)
    first = assembly.robot()
    assembly.add("b", "a", Revolute("z"), at=(1, 0, 0), **BLOCK)
    assert (first.nv, assembly.robot().nv) == (1, 2)


def test_a_doubtful_robot_is_a_warning_at_the_users_call():
    assembly = kt.Assembly("idle")
    assembly.add("ghost", "base", Revolute("z"))
    with pytest.warns(ModelWarning, match="'ghost_joint': it moves without moving any") as caught:
        assembly.robot()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one()


def test_a_built_robot_is_the_one_of_the_file_it_writes(tmp_path):
    robot = one(limits=(-1.0, 1.0), at=(1, 2, 3))
    robot.save(tmp_path / "one.urdf")
    again = kt.load(tmp_path / "one.urdf")
    assert again.frames == robot.frames
    q, v, a = robot.random(0), np.ones(1), np.ones(1)
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(again.inverse_dynamics(q, v, a), tau) < EXACT


# what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": None}, "a link that has com or inertia needs its mass, too"),
        ({"inertia": AS_INERTIA}, "an Inertia already contains mass and com"),
        ({"mass": -1.0}, "mass must not be negative"),
        ({"com": (0, 0)}, r"com must be three numbers .*, got \(0, 0\)"),
        ({"inertia": (0.1, -0.1, 0.1)}, "the negative principal moment -0.1"),
        ({"at": "here"}, "at must be three numbers .*, got 'here'"),
        ({"joint": "revolute"}, r"joint='revolute': a joint of kinetree.joints is expected"),
        ({"joint": Ball}, "joint=<class .*: a joint of kinetree.joints is expected"),
        ({"joint": None, "limits": (0, 1)}, "link 'link' is fixed: limits, drive and mimic need"),
        ({"limits": (1, 0)}, r"limits=\(1, 0\): two numbers \(lower, upper\) are expected"),
        ({"limits": 3}, "limits=3: two numbers"),
        ({"limits": (0, 1, 2)}, "two numbers"),
        ({"drive": 0.1}, "drive=0.1: numbers by name are expected: armature, damping, friction"),
        ({"drive": {"armature": "big"}}, "armature must be a number, got 'big'"),
        ({"mimic": (1, 2)}, r"mimic=\(1, 2\): the name of a joint is expected"),
        ({"mimic": 3}, "mimic=3: the name of a joint is expected"),
        ({"mimic": ("a", "b")}, "mimic must be a number, got 'b'"),
        ({"mimic": "nobody"}, "mimics 'nobody': the file has no joint 'nobody'"),
        ({"name": 3}, "the name of a joint is 3: a nonempty string is expected"),
    ],
)
def test_a_wrong_argument_is_said_with_what_was_expected(arguments, message):
    with pytest.raises(ModelError, match=message):
        one(**arguments)


def test_names_are_unique_and_parents_come_first():
    assembly = kt.Assembly("arm")
    with pytest.raises(UnknownNameError, match=r"assembly 'arm' has no link 'bse': did you mean"):
        assembly.add("link", "bse", Revolute("z"), **BLOCK)
    with pytest.raises(UnknownNameError, match="a drive has no number 'armatur': did you mean"):
        assembly.add("link", "base", Revolute("z"), drive={"armatur": 1.0}, **BLOCK)
    assembly.add("link", "base", Revolute("z"), **BLOCK)
    with pytest.raises(ModelError, match="assembly 'arm' already has a link named 'link'"):
        assembly.add("link", "base", Revolute("z"), name="other", **BLOCK)
    with pytest.raises(ModelError, match="assembly 'arm' already has a joint named 'link_joint'"):
        assembly.add("second", "base", Revolute("z"), name="link_joint", **BLOCK)
    assert assembly.robot().frames == ("base", "link")  # what was refused is not there
    for root in ("", 7):
        with pytest.raises(ModelError, match="the name of a link is"):
            kt.Assembly("arm", root)


def crank_and_rocker() -> kt.Assembly:
    a = kt.Assembly("linkage")
    for name, x in (("crank", 0.0), ("rocker", 1.0)):
        a.add(name, "base", Revolute("y"), at=(x, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    return a


def test_an_assembly_is_constrained_as_a_robot_is():
    rod = Rod("rod", "crank", "rocker", at_frame=(0.5, 0, 0), at_base=(0.5, 0, 0), length=1.0)
    gear = Coupling("gear", {"crank_joint": [0, 1], "rocker_joint": [0, -1]})
    a = crank_and_rocker()
    a.constrain(rod)
    a.constrain(gear)
    assert a.robot().model == crank_and_rocker().robot().constrain(rod, gear).model


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (
            Rod("rod", "crnk", "rocker", length=1.0),
            "'rod': assembly 'linkage' has no link 'crnk': .*'crank'",
        ),
        (Coupling("gear", {"rocker": [0, 1]}), "constraint 'gear': .*'rocker'.*'rocker_joint'"),
        ("loop", "constraint 'loop': one of kinetree.constraints is expected"),
        (Rod("old", "crank", "rocker", length=1.0), "already has a constraint named 'old'"),
    ],
)
def test_a_constraint_that_an_assembly_cannot_have_is_refused(constraint, message):
    a = crank_and_rocker()
    a.constrain(Rod("old", "crank", "rocker", length=1.0))
    with pytest.raises(ModelError, match=message):
        a.constrain(constraint)


def test_a_loop_of_a_body_with_itself_is_refused_by_name():
    a = crank_and_rocker()
    a.add_frame("tip", "crank", (0.5, 0, 0))
    a.constrain(LoopJoint("loop", "tip", "crank"))
    with pytest.raises(ModelError, match="'loop': both of its frames are fixed in body 'crank'"):
        a.robot()


def test_a_coupling_of_a_mimic_is_one_of_its_leader():
    a = crank_and_rocker()
    a.add(
        "copy", "base", Revolute("y"), mass=1.0, inertia=(1, 1, 1), mimic=("crank_joint", 2.0, 0.5)
    )
    a.constrain(Coupling("gear", {"copy_joint": [0, 1], "rocker_joint": [0, -1]}))
    (gear,) = a.robot().model.constraints
    assert gear.polynomials == (("crank_joint", (0.5, 2.0)), ("rocker_joint", (0.0, -1.0)))
