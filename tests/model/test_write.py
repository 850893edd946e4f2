"""Writing robots, and reading them back."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import rnea
from kinetree.errors import FileFormatError, ModelError, ModelWarning
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.disassemble import disassemble
from kinetree.model.edit import without
from kinetree.model.formats.write_mjcf import write_mjcf
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.model.joints import (
    EULER_SEQUENCES,
    Ball,
    Composite,
    ExponentialBall,
    Floating,
    Joint,
    Mimic,
    Prismatic,
    Revolute,
    Screw,
    cylindrical,
    euler,
    free_motion,
    planar,
)
from kinetree.model.limits import BallRange
from kinetree.model.model import STANDARD_GRAVITY, Drive, Limits, Shape
from kinetree.model.orientation import roll_pitch_yaw
from kinetree.model.plane import plane_axes
from kinetree.robot.load import load_model
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.peers import pinocchio_oracle
from tests.peers.test_mujoco import FILES as MJCF_FILES
from tests.peers.test_mujoco import PYBULLET
from tests.peers.test_pinocchio import DEFECTIVE, MIMICS_NOBODY
from tests.random_models import (
    AXES,
    directions,
    drives,
    inertias,
    mimicries,
    models,
    rotations,
    transforms,
    universals,
)
from tests.random_models import numbers as floats
from tests.robots.test_robots import ROBOTS
from tests.tolerances import EPS, relative_error

ULPS = 16 * EPS
FORCES = 1e-12
X, Y, Z = AXES
HERE = Transform.identity()
THERE = Transform(Rotation.rpy(0.3, -0.2, 0.7), Vector3(0.1, -0.4, 0.2))
SOLID = Inertia.about_center(2.0, Vector3(0.1, 0.2, 0.3), Symmetric3(0.2, 0.3, 0.4, 0.0, 0.0, 0.0))


# what is the same


def entries(value):
    """The numbers of a value of spatial algebra, as an array."""
    rows = value.rows if isinstance(value, (Rotation, Symmetric3)) else [value]
    return np.array([list(row) for row in rows], float)


def close(a, b, size=1.0):
    """Equal but for a few roundings of numbers of that size."""
    return np.abs(entries(a) - entries(b)).max() <= ULPS * size


def same_pose(a, b):
    return a.translation == b.translation and close(a.rotation, b.rotation)


def same_inertia(a, b):
    about = np.abs(entries(a.rotational)).max()
    return (
        a.mass == b.mass
        and close(a.moment, b.moment, np.abs(entries(a.moment)).max())
        and close(a.rotational, b.rotational, about)
    )


def same_joint(a, b):
    if isinstance(a, Mimic):
        return replace(a, joint=b.joint) == b and same_joint(a.joint, b.joint)
    if isinstance(a, Composite):
        return all(same_joint(p, r) for p, r in zip(a.parts, b.parts, strict=True))
    if isinstance(a, (Revolute, Prismatic)):
        exact = sorted(abs(x) for x in a.axis) == [0.0, 0.0, 1.0]
        return type(a) is type(b) and (a == b if exact else close(a.axis, b.axis))
    return a == b


def check_tree(model, again):
    """Two models are the same, bodies and frames in the same order."""
    assert again.name == model.name
    assert [b.name for b in again.bodies] == [b.name for b in model.bodies]
    for body, other in zip(model.bodies, again.bodies, strict=True):
        for what in ("joint_name", "parent", "limits", "drive", "follows"):
            assert getattr(other, what) == getattr(body, what), (body.name, what)
        assert (other.mount.link, other.mount.joint_name) == (body.mount.link, body.joint_name)
        assert same_pose(body.mount.placement, other.mount.placement)
        assert same_joint(body.joint, other.joint)
        assert same_inertia(body.inertia, other.inertia)
    assert [f.name for f in again.frames] == [f.name for f in model.frames]
    for frame, other in zip(model.frames, again.frames, strict=True):
        assert other.body == frame.body
        if frame.mount is not None:
            assert same_pose(frame.mount.placement, other.mount.placement)
    assert again.coordinate_order == model.coordinate_order
    check_shapes(model.shapes, again.shapes)


def check_shapes(shapes, again):
    found = {}
    for shape in again:
        found.setdefault((shape.link, shape.role), []).append(shape)
    assert len(shapes) == len(again)
    for shape in shapes:
        other = found[shape.link, shape.role].pop(0)
        assert replace(shape, placement=other.placement) == other
        assert same_pose(shape.placement, other.placement)


def check_forces(model, again):
    """The same states take the same forces."""
    rng = np.random.default_rng(0)
    q = kt.Robot(model).random(rng).tolist()
    v, a = rng.standard_normal((2, model.nv)).tolist()
    assert (again.nq, again.nv) == (model.nq, model.nv)
    assert relative_error(rnea(again, q, v, a), rnea(model, q, v, a)) < FORCES


def as_written(model):
    """What URDF keeps: no rotors, no springs, standard gravity."""
    return replace(without(model, "armature", "springs"), gravity=STANDARD_GRAVITY)


def base_of(model):
    return "floating" if model.frame("root").body == 0 else "fixed"


# random robots

ROUND = (
    Shape("root", "visual", "sphere", (0.3,), THERE),
    Shape("link0", "collision", "box", (0.1, 0.2, 0.7), THERE),
    Shape("link0", "visual", "cylinder", (0.1, 0.3), HERE),
    Shape("link0", "collision", "capsule", (0.1, 0.3), HERE),
)


@st.composite
def limits(draw):
    if draw(st.booleans()):
        return Limits()
    lower, upper = sorted((draw(floats(-3.0, 3.0)), draw(floats(3.5, 6.0))))
    return Limits(lower, upper, effort=draw(floats(0.1, 100.0)))


def as_mujoco(drive, joint):
    """A drive whose spring rests at no turned ball; what is neutral is not spelled out."""
    upright = (0.0, 0.0, 0.0, 1.0)
    turned = drive.rest and joint.nq != joint.nv
    rest = (*drive.rest[:-4], *upright) if turned else drive.rest
    return replace(drive, rest=() if rest == joint.neutral() else rest)


@st.composite
def robots(draw, *kinds, fixed=True):
    """A tree of bodies on joints of these kinds, with limits and shapes."""
    links, connections = [Link("root", draw(inertias()))], []
    for i in range(draw(st.integers(1, 6))):
        parent = draw(st.sampled_from(links)).name
        links.append(Link(f"link{i}", draw(inertias())))
        choice = st.one_of(*kinds, st.none()) if i and fixed else st.one_of(*kinds)
        joint, single = draw(choice), False
        if joint is not None:
            single = joint.nq == 1
        connections.append(
            Connection(
                f"joint{i}",
                parent,
                f"link{i}",
                draw(transforms()),
                joint,
                draw(limits()) if single else Limits(),
                drive=as_mujoco(draw(drives(joint)), joint) if joint else Drive(),
                mimicry=draw(mimicries(connections)) if single else None,
            )
        )
    base = draw(st.sampled_from(("fixed", "floating")))
    whole = Description("random", links, connections, shapes=ROUND)
    return assemble(whole, base=base)


SINGLE = (st.builds(Revolute, directions()), st.builds(Prismatic, directions()))
SERIES = (
    st.builds(cylindrical, directions()),
    universals(),
    st.builds(euler, st.sampled_from(EULER_SEQUENCES)),
)
# near the opposite of z the axes of a plane hang on the last digits of its normal
NORMALS = directions().filter(lambda normal: normal.z > -0.5 or normal == -Z)
PLANAR = NORMALS.map(lambda normal: planar(*plane_axes(normal)))
OFF_AXIS = st.builds(Joint.relocated, SINGLE[0], transforms())


@given(robots(*SINGLE, PLANAR, st.just(Floating())))
def test_a_robot_written_as_urdf_is_the_same_robot(model):
    model = as_written(model)
    again = load_model(write_urdf(model), base=base_of(model))
    check_tree(model, again)
    check_forces(model, again)


@given(robots(*SINGLE, *SERIES, OFF_AXIS, PLANAR, st.just(free_motion(euler("xyz")))))
def test_joints_that_urdf_has_no_word_for_are_written_as_several(model):
    model = as_written(model)
    again = load_model(write_urdf(model), base=base_of(model))
    assert set(again.frame_numbers) >= set(model.frame_numbers)
    check_forces(model, again)


@given(robots(*SINGLE, st.just(Ball()), OFF_AXIS))
def test_a_robot_written_as_mjcf_is_the_same_robot(model):
    again = load_model(write_mjcf(model))
    assert set(again.frame_numbers) == {*model.frame_numbers, "world"}
    others = {body.joint_name: body for body in again.bodies}
    for body in model.bodies:
        other = others[body.joint_name]
        assert (other.name, other.limits, other.drive) == (body.name, body.limits, body.drive)
        assert same_pose(body.mount.placement, other.mount.placement)
        assert same_joint(body.joint, other.joint)
        assert same_inertia(body.inertia, other.inertia)
    check_shapes(model.shapes, again.shapes)
    check_forces(model, again)


@pytest.mark.slow
@given(robots(*SINGLE, *SERIES, st.just(Ball()), st.just(free_motion(Ball()))))
def test_joints_in_series_are_several_of_one_body_in_mjcf(model):
    text = write_mjcf(model)
    assert text.count("<body ") == len({*model.frame_numbers}) - text.count("<site ")
    check_forces(model, load_model(text))


@pytest.mark.parametrize(
    "rest", [(), (0.1, -2.0, 0.3, 0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0, 0.6, 0.0, 0.8)]
)
def test_the_spring_of_a_free_base_rests_at_the_pose_of_its_body_in_mjcf(rest):
    model = kt.robots.chain(2, base="floating").model
    base = replace(model.bodies[0], drive=Drive(0.1, 0.2, 0.3, 4.0, rest))
    model = replace(model, bodies=(base, *model.bodies[1:]))
    again = load_model(write_mjcf(model))
    assert again.bodies[0].drive == base.drive
    check_forces(model, again)


def test_the_springs_of_joints_in_series_rest_each_at_its_own_coordinate_in_mjcf():
    rest = (0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0)
    model = chain(free_motion(Ball()), drive=Drive(stiffness=2.0, rest=rest))
    drives = [body.drive for body in load_model(write_mjcf(model)).bodies]
    assert [drive.stiffness for drive in drives] == [2.0] * 4
    assert [drive.rest for drive in drives] == [(0.1,), (0.2,), (0.3,), ()]


@given(models())
def test_a_model_taken_apart_and_assembled_is_the_same(model):
    assert assemble(disassemble(model)) == model


@given(models())
def test_a_model_in_another_order_taken_apart_and_assembled_is_the_same(model):
    backwards = [model.bodies[i].joint_name for i in reversed(model.coordinate_order)]
    model = model.reordered(backwards)
    assert assemble(disassemble(model)) == model


# robots of files

FILES = [f for f in pinocchio_oracle.urdf_files() if f not in DEFECTIVE and f not in MIMICS_NOBODY]

# MuJoCo compiles no bodies that move without mass
MASSLESS = {
    "bluevolta_description/urdf/bluevolta_bravo7_gripper.urdf",
    "bravo7_description/urdf/bravo7_gripper.urdf",
    "falcon_description/urdf/falcon_bravo7_gripper.urdf",
    "romeo_description/urdf/romeo.urdf",
}
# nor inertias that break the triangle inequality
UNPHYSICAL = {
    "icub_description/robots/icub.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "romeo_description/urdf/romeo_laas_small.urdf",
    "romeo_description/urdf/romeo_small.urdf",
}


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("file", FILES)
def test_a_urdf_file_written_again_is_the_same_robot(file, base):
    model = load_model(pinocchio_oracle.ROBOTS / file, base=base)
    again = load_model(write_urdf(model), base=base)
    check_tree(model, again)
    if model.nv:
        check_forces(model, again)


FLOATING = [
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "hector_description/robots/quadrotor_base.urdf",
]


@pytest.mark.parametrize(
    ("file", "base"),
    [(file, "fixed") for file in sorted({*FILES} - MASSLESS - UNPHYSICAL)]
    + [(file, "floating") for file in FLOATING],
)
def test_a_urdf_file_written_as_mjcf_is_the_same_robot(file, base):
    model = load_model(pinocchio_oracle.ROBOTS / file, base=base)
    again = load_model(write_mjcf(model))
    assert [b.joint_name for b in again.bodies] == [b.joint_name for b in model.bodies]
    if model.nv:
        check_forces(model, again)


@pytest.mark.parametrize("file", sorted(MASSLESS))
def test_mujoco_takes_no_bodies_that_move_without_mass(file):
    with pytest.raises(FileFormatError, match="mass and inertia of moving bodies"):
        load_model(write_mjcf(load_model(pinocchio_oracle.ROBOTS / file)))


@pytest.mark.parametrize("file", sorted(UNPHYSICAL))
def test_mujoco_takes_no_inertias_that_no_body_has(file):
    with pytest.raises(FileFormatError, match="inertia must satisfy"):
        load_model(write_mjcf(load_model(pinocchio_oracle.ROBOTS / file)))


@pytest.mark.parametrize("ending", [".urdf", ".xml"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_built_in_robot_saved_and_loaded_is_the_same(name, ending, tmp_path):
    robot, file = ROBOTS[name](), tmp_path / f"robot{ending}"
    balls = [b.joint_name for b in robot.model.bodies if isinstance(b.joint, Ball)]
    if balls and ending == ".urdf":
        robot = robot.edit.rechart("zyx", *balls)
    robot.save(file)
    free = ending == ".urdf" and "root_joint" in robot.joints
    again = kt.load(file, base="floating" if free else "fixed")
    assert [joint for joint in again.joints if joint in robot.joints] == list(robot.joints)
    check_forces(robot.model, again.model)


# what cannot be written


def test_mjcf_has_no_moving_link_named_world():
    file = pinocchio_oracle.ROBOTS / "ur_description/urdf/ur5_robot.urdf"
    with pytest.raises(ModelError, match="link 'world' has the name"):
        write_mjcf(load_model(file, base="floating"))


def chain(*joints, inertia=SOLID, between=SOLID, **more):
    """Links in a row, l0 l1 ..., on joints j1 j2 ..."""
    names = [f"l{i}" for i in range(len(joints) + 1)]
    last = names[-1]
    links = [Link(name, inertia if name == last else between) for name in names]
    connections = [
        Connection(f"j{i + 1}", names[i], names[i + 1], THERE, joint, **more)
        for i, joint in enumerate(joints)
    ]
    return assemble(Description("chain", links, connections))


@pytest.mark.parametrize("joint", [Ball(), ExponentialBall(), Screw(Z, 0.1)])
def test_a_joint_that_urdf_cannot_say_is_named(joint):
    kind = type(joint).__name__
    with pytest.raises(ModelError, match=f"'j1' is a {kind}, which URDF does not have.*rechart"):
        write_urdf(chain(joint))


@pytest.mark.parametrize("joint", [ExponentialBall(), Screw(Z, 0.1), Floating()])
def test_a_joint_that_mjcf_cannot_say_is_named(joint):
    kind = type(joint).__name__
    with pytest.raises(ModelError, match=f"'j1' is a {kind}, which MJCF does not have.*rechart"):
        write_mjcf(chain(joint))


def test_euler_angles_can_be_written_where_balls_cannot():
    for joint, chart, write in (
        (Ball(), "zyx", write_urdf),
        (ExponentialBall(), "quaternion", write_mjcf),
        (Floating(), "zyx", write_mjcf),
    ):
        model = kt.Robot(chain(joint)).edit.rechart(chart).model
        check_forces(model, load_model(write(model)))


def test_mjcf_cannot_turn_a_ball_further_on_the_same_body():
    with pytest.raises(ModelError, match="'j1_2' follows the ball joint 'j1' without a link"):
        write_mjcf(chain(Composite((Ball(), Revolute(X)))))


def test_the_ending_says_the_kind_of_file(tmp_path):
    robot = kt.robots.cart_pole()
    with pytest.raises(ModelError, match=r"robot\.sdf: the file name must end with"):
        robot.save(tmp_path / "robot.sdf")
    robot.save(tmp_path / "robot.URDF")
    robot.save(str(tmp_path / "robot.mjcf"))
    assert "<robot" in (tmp_path / "robot.URDF").read_text()
    assert "<mujoco" in (tmp_path / "robot.mjcf").read_text()


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text("precious")
    with pytest.raises(ModelError):
        kt.Robot(chain(Ball())).save(file)
    assert file.read_text() == "precious"


# what is lost


def saved(model, ending, tmp_path):
    """The robot saved and loaded, and what was said of losses."""
    file = tmp_path / f"robot{ending}"
    with pytest.warns(ModelWarning) as caught:
        kt.Robot(model).save(file)
    (warning,) = caught
    assert warning.filename == __file__
    return kt.load(file), str(warning.message)


MESH = Shape("l1", "visual", "mesh", (1.0, 1.0, 2.0), THERE, "package://robot/l1.stl")
EGG = Shape("l1", "visual", "ellipsoid", (0.1, 0.2, 0.3), THERE)
HINGE = chain(Revolute(Z))
LOSSES = {
    "the armature of joint 'j1'": (".urdf", chain(Revolute(Z), drive=Drive(0.1))),
    "the spring of joint 'j1', 'j2', 'j3' and 1 more": (
        ".urdf",
        chain(*[Revolute(Z)] * 4, drive=Drive(stiffness=0.1)),
    ),
    "gravity (0.0, 0.0, -1.62)": (".urdf", replace(HINGE, gravity=Vector3(0.0, 0.0, -1.62))),
    "the order of the coordinates": (
        ".urdf",
        chain(Revolute(Z), Revolute(X)).reordered(["j2", "j1"]),
    ),
    "ellipsoids": (".urdf", replace(HINGE, shapes=(EGG,))),
    "meshes without their files": (".xml", replace(HINGE, shapes=(MESH,))),
    "limits of velocity": (".xml", chain(Revolute(Z), limits=Limits(velocity=2.0))),
    "limits on one side or without room, and swings, twists and efforts of balls": (
        ".xml",
        chain(Revolute(Z), Ball(), limits=Limits(lower=0.0, ball=BallRange(swing=0.5))),
    ),
    "links between joints of one body ('l1'...)": (
        ".xml",
        chain(Revolute(Z), Revolute(X), between=Inertia.zero()),
    ),
    "a ball's spring that rests at another orientation, of joint 'j1'": (
        ".xml",
        chain(Ball(), drive=Drive(stiffness=1.0, rest=(0.0, 0.6, 0.0, 0.8))),
    ),
    "this order of coordinates": (".xml", chain(Revolute(Z), Revolute(X)).reordered(["j2", "j1"])),
}


@pytest.mark.parametrize("what", LOSSES)
def test_a_loss_is_one_warning(what, tmp_path):
    ending, model = LOSSES[what]
    word = "URDF" if ending == ".urdf" else "MJCF"
    again, message = saved(model, ending, tmp_path)
    assert message == f"robot 'chain': {word} cannot express {what}; not written"
    assert set(again.joints) == {b.joint_name for b in model.bodies}


def test_several_losses_are_one_warning(tmp_path):
    model = replace(chain(Revolute(Z), drive=Drive(0.1)), shapes=(EGG,))
    _, message = saved(model, ".urdf", tmp_path)
    assert "armature" in message
    assert "ellipsoids" in message


def test_a_chart_of_the_base_is_lost_in_urdf_and_kept_in_mjcf(tmp_path):
    robot = kt.robots.chain(2, base="floating").edit.rechart("zyx")
    with pytest.warns(ModelWarning, match="how the base moves"):
        robot.save(tmp_path / "robot.urdf")
    robot.save(tmp_path / "robot.xml")
    check_forces(robot.model, kt.load(tmp_path / "robot.xml").model)


@pytest.mark.parametrize("joint", [Revolute(Z), Prismatic(Z)])
@pytest.mark.parametrize(
    "limits", [Limits(), Limits(-1.0, 2.0), Limits(0.0, 0.0, 1.0, 2.0), Limits(lower=-1.0)]
)
def test_no_limit_comes_from_writing(joint, limits):
    for write in (write_urdf, write_mjcf):
        (body,) = load_model(write(chain(joint, limits=limits))).bodies
        for what in ("lower", "upper", "velocity", "effort"):
            read = getattr(body.limits, what)
            assert read == getattr(limits, what) or math.isinf(read)


# names and numbers


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "\"quoted\" 'so'",
        "<a>&amp;b]]>",
        "two\nlines\r\tand",
        "bras à 关节 \U0001f9be",
        "\x85",
    ],
)
def test_names_survive(name, write):
    links = [Link("base", SOLID), Link(name, SOLID), Link(name + "'", Inertia.zero())]
    joint = Connection(name, "base", name, THERE, Revolute(Z))
    fixed = Connection(name + "'", name, name + "'", THERE, None)
    model = assemble(Description(name, links, [joint, fixed]))
    again = load_model(write(model))
    assert (again.name, again.bodies[0].name, again.bodies[0].joint_name) == (name, name, name)
    assert {frame.name for frame in again.frames} >= {"base", name, name + "'"}


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_characters_that_xml_has_not_are_refused(character):
    for write in (write_urdf, write_mjcf):
        with pytest.raises(ModelError, match="has characters that XML cannot represent"):
            write(replace(HINGE, name=f"a{character}"))


def test_names_that_writers_make_up_are_free():
    model = chain(cylindrical(Z), Revolute(X))
    bodies = [replace(b, joint_name=n) for b, n in zip(model.bodies, ("j", "j_2"), strict=True)]
    model = replace(model, bodies=tuple(bodies))
    for write in (write_urdf, write_mjcf):
        again = load_model(write(model))
        assert len({b.joint_name for b in again.bodies}) == 3
        check_forces(model, again)


@given(rotations(), rotations())
def test_roll_pitch_and_yaw_give_the_rotation_back(one, other):
    for R in (one, one @ other, one @ Rotation.rpy(0.4, math.pi / 2 - 1e-9, 0.3)):
        assert close(Rotation.rpy(*roll_pitch_yaw(R)), R)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
def test_at_a_right_pitch_there_is_no_roll(pitch):
    roll, *_ = roll_pitch_yaw(Rotation.rpy(0.3, pitch, 0.2))
    assert roll == 0.0


# mjcf, read and written


@pytest.mark.parametrize("file", MJCF_FILES)
def test_an_mjcf_file_written_again_is_the_same_robot(file):
    model = load_model(PYBULLET / file)
    again = load_model(write_mjcf(model))
    assert [b.joint_name for b in again.bodies] == [b.joint_name for b in model.bodies]
    check_forces(model, again)


@pytest.mark.parametrize("file", MJCF_FILES)
def test_an_mjcf_file_written_as_urdf_is_the_same_robot(file):
    robot = kt.load(PYBULLET / file).without("armature", "springs").edit.rechart("quaternion")
    model = replace(robot.model, gravity=STANDARD_GRAVITY)
    again = load_model(write_urdf(model), joints=kt.Robot(model).joints)
    check_forces(model, again)


def test_a_joint_beside_its_bodys_origin_that_follows_another_is_written():
    links = [Link(name, SOLID) for name in ("base", "one", "two")]
    off = Revolute(Y).relocated(THERE)
    model = assemble(
        Description(
            "mimic",
            links,
            [
                Connection("leader", "base", "one", THERE, off),
                Connection("copy", "one", "two", THERE, off, mimicry=Mimicry("leader", -2.0, 0.1)),
            ],
        )
    )
    for write in (write_urdf, write_mjcf):
        check_forces(model, load_model(write(model)))


# what the files look like

ROD = Inertia.about_center(2.0, Vector3(0.5, 0.0, 0.0), Symmetric3(0.25, 0.5, 0.5, 0.0, 0.0, 0.0))
LOOK = assemble(
    Description(
        "look",
        [Link("base", Inertia.zero()), Link("arm", ROD), Link("tool", Inertia.zero())],
        [
            Connection(
                "hinge",
                "base",
                "arm",
                Transform(Rotation.identity(), Vector3(0.0, 0.0, 0.5)),
                Revolute(Y),
                Limits(-1.5, 1.5, 2.0, 30.0),
                drive=Drive(0.0, 0.25, 0.0),
            ),
            Connection(
                "grasp", "arm", "tool", Transform(Rotation.identity(), Vector3(1, 0, 0)), None
            ),
        ],
        shapes=[Shape("arm", "visual", "box", (1.0, 0.1, 0.1), HERE)],
    )
)

LOOK_URDF = """\
<?xml version="1.0"?>
<robot name="look">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.5 0 0" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.25" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual>
      <geometry>
        <box size="1 0.1 0.1"/>
      </geometry>
    </visual>
  </link>
  <link name="tool"/>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0 0 0.5" rpy="0 0 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" velocity="2" effort="30"/>
    <dynamics damping="0.25" friction="0"/>
  </joint>
  <joint name="grasp" type="fixed">
    <parent link="arm"/>
    <child link="tool"/>
    <origin xyz="1 0 0" rpy="0 0 0"/>
  </joint>
</robot>
"""

LOOK_MJCF = """\
<?xml version="1.0"?>
<mujoco model="look">
  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="base">
      <body name="arm" pos="0 0 0.5">
        <joint name="hinge" type="hinge" axis="0 1 0" range="-1.5 1.5" \
actuatorfrcrange="-30 30" damping="0.25"/>
        <inertial pos="0.5 0 0" mass="2" diaginertia="0.25 0.5 0.5"/>
        <geom type="box" size="0.5 0.05 0.05" contype="0" conaffinity="0"/>
        <site name="tool" pos="1 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_files_are_as_one_would_write_them():
    assert write_urdf(LOOK) == LOOK_URDF
    assert write_mjcf(LOOK) == LOOK_MJCF


@pytest.mark.parametrize("joint", [Revolute(Z), Prismatic(Z)])
@pytest.mark.parametrize(
    "limits", [Limits(), Limits(effort=3.0), Limits(lower=-1.0), Limits(upper=2.0, velocity=4.0)]
)
def test_urdf_keeps_limits_on_one_side_or_none(joint, limits):
    text = write_urdf(chain(joint, limits=limits))
    assert load_model(text).bodies[0].limits == limits
    if 'type="continuous"' not in text:  # what other readers ask for
        assert all(f"{key}=" in text for key in ("lower", "upper", "velocity", "effort"))


def test_a_fixed_joint_may_be_named_as_the_one_of_a_free_base():
    text = write_urdf(chain(Revolute(Z)))
    text = text.replace("</robot>", '<link name="tip"/>' + FIXED_ROOT + "</robot>")
    model = load_model(text, base="floating")
    assert model.bodies[0].joint_name == "root_joint"
    assert assemble(disassemble(model)) == model


FIXED_ROOT = """<joint name="root_joint" type="fixed">
<parent link="l1"/><child link="tip"/></joint>"""
