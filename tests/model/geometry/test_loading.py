"""Contact on load: URDF shapes, ground, pairs of links, self-collision, meshes; and writing."""

import struct

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError, ModelWarning
from kinetree.geometry import Capsule, ConvexMesh, Plane, Sphere

LEG = """
<robot name="leg">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  {limbs}
</robot>"""
LIMB = """
  <joint name="{s}_hip" type="continuous"><parent link="base"/><child link="{s}_thigh"/>
    <axis xyz="0 1 0"/></joint>
  <link name="{s}_thigh"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><cylinder radius="0.05" length="0.3"/></geometry></collision></link>
  <joint name="{s}_knee" type="continuous"><parent link="{s}_thigh"/><child link="{s}_shank"/>
    <axis xyz="0 1 0"/></joint>
  <link name="{s}_shank"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><capsule radius="0.04" length="0.3"/></geometry></collision></link>
  <joint name="{s}_ankle" type="fixed"><parent link="{s}_shank"/><child link="{s}_foot"/>
    <origin xyz="0 0 -0.2"/></joint>
  <link name="{s}_foot"><collision><geometry>{foot}</geometry></collision></link>
"""
BALL = '<sphere radius="0.03"/>'


def text(foot=BALL):
    return LEG.format(limbs="".join(LIMB.format(s=s, foot=foot) for s in ("left", "right")))


def pairs(robot):
    return sorted(c.name for c in robot.model.contacts)


def write_stl(path, corners):
    """A binary STL file of some triangles over corners."""
    faces = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    body = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(x for i in f for x in corners[i]), 0) for f in faces
    )
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(faces)) + body)


def test_collision_elements_become_colliders_that_touch_nothing():
    robot = kt.load(text())
    assert len(robot.model.colliders) == 7
    assert robot.model.contacts == ()


def test_feet_touch_the_ground():
    robot = kt.load(text(), ground=True, base="floating")
    assert pairs(robot) == ["ground/left_foot_collision", "ground/right_foot_collision"]
    ground = robot.model.colliders[-1]
    assert (ground.name, ground.frame, ground.shape) == ("ground", None, Plane())


def test_pairs_are_named_by_links():
    robot = kt.load(text(), contact=[("left_foot", "ground"), ("left_shank", "right_shank")])
    assert pairs(robot) == [
        "ground/left_foot_collision",
        "left_shank_collision/right_shank_collision",
    ]


def test_a_cylinder_touches_a_capsule_as_a_capsule():
    with pytest.warns(ModelWarning, match="'right_thigh_collision', a cylinder, touches some"):
        robot = kt.load(text(), contact=[("left_shank", "right_thigh")])
    assert pairs(robot) == ["left_shank_collision/right_thigh_collision_capsule"]
    assert robot.model.colliders[-1].shape == Capsule(0.05, 0.15 - 0.05)


def test_a_robot_touches_itself_but_not_its_neighbours():
    with pytest.warns(ModelWarning, match="touches some shapes as a capsule"):
        robot = kt.load(text(), self_collision=True, base="floating")
    names = [name.replace("_collision", "").replace("_capsule", "") for name in pairs(robot)]
    found = {frozenset(name.split("/")) for name in names}
    assert frozenset(("left_foot", "right_foot")) in found
    assert frozenset(("base", "left_shank")) in found
    assert frozenset(("base", "left_thigh")) not in found
    assert frozenset(("left_shank", "left_foot")) not in found
    assert len(found) == 4 + 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"contact": "left_foot"}, r"contact='left_foot': True, False, or pairs of names"),
        ({"contact": [("left_foot",)]}, r"pairs of names are expected"),
        ({"contact": [("left_foot", "grund")]}, r"no frame 'grund'"),
        ({"ground": np.zeros(2)}, r"ground: True or False is expected"),
    ],
)
def test_bad_requests_are_refused(arguments, message):
    with pytest.raises((ModelError, kt.errors.KinetreeError), match=message):
        kt.load(text(), **arguments)


def test_the_softness_of_ground_is_chosen():
    robot = kt.robots.quadruped().on_ground(solref=(0.1, 0.9), solimp=(0.8, 0.9, 0.01, 0.5, 2))
    assert {pair.solref for pair in robot.model.contacts} == {(0.1, 0.9)}
    assert {pair.solimp for pair in robot.model.contacts} == {(0.8, 0.9, 0.01, 0.5, 2.0)}


def test_a_robot_without_shapes_cannot_stand():
    with pytest.raises(ModelError, match="no link at the end of its tree has a collision shape"):
        kt.robots.chain(3).on_ground()
    with pytest.raises(ModelError, match="link 'tool' has no collision shape: add one"):
        kt.robots.arm().on_ground(["tool"])


def test_a_degenerate_shape_to_stand_on_is_named():
    file = """<robot name="ball"><link name="ball"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial>
      <collision><geometry><sphere radius="0"/></geometry></collision></link></robot>"""
    message = r"\(link 'ball' has a collision shape that cannot touch: sphere: radius=0.0: more"
    with pytest.raises(ModelError, match="no link .* to stand on " + message):
        kt.load(file, base="floating", ground=True)
    with pytest.raises(ModelError, match="link 'ball' has no collision shape " + message):
        kt.load(file, base="floating", contact=[("ball", "ground")])


def test_meshes_touch_planes_with_their_hulls_and_others_with_capsules(tmp_path):
    corners = [(0.1, 0, 0), (-0.1, 0.05, 0), (-0.1, -0.05, 0), (0, 0, 0.1)]
    write_stl(tmp_path / "foot.stl", corners)
    file = tmp_path / "leg.urdf"
    file.write_text(text('<mesh filename="foot.stl"/>'))
    robot = kt.load(file, ground=True, base="floating")
    assert pairs(robot) == ["ground/left_foot_mesh", "ground/right_foot_mesh"]
    shapes = {c.name: c.shape for c in robot.model.colliders}
    assert isinstance(shapes["left_foot_mesh"], ConvexMesh)
    assert len(shapes["left_foot_mesh"].vertices) == 4
    with pytest.warns(ModelWarning, match="_foot_mesh', a mesh, touches some shapes as a capsule"):
        robot = kt.load(file, contact=[("left_foot", "right_foot")])
    assert pairs(robot) == ["left_foot_mesh_capsule/right_foot_mesh_capsule"]
    around = {c.name: c for c in robot.model.colliders}["left_foot_mesh_capsule"]
    back = np.linalg.inv(np.array(around.at.matrix(), float))
    local = (np.c_[corners, np.ones(4)] @ back.T)[:, :3]
    assert isinstance(around.shape, Capsule)
    beyond = np.maximum(np.abs(local[:, 2]) - around.shape.half_length, 0.0)
    assert (
        np.hypot(np.hypot(local[:, 0], local[:, 1]), beyond) <= around.shape.radius + 1e-9
    ).all()


def test_a_missing_mesh_is_said_with_its_path(tmp_path):
    file = tmp_path / "leg.urdf"
    file.write_text(
        text('<mesh filename="nowhere/foot.stl"/>').replace(
            '<mesh filename="nowhere/foot.stl"/>', BALL, 1
        )
    )
    with pytest.warns(ModelWarning, match=r"right_foot.*'nowhere/foot.stl' is missing"):
        robot = kt.load(file, contact=[("left_foot", "ground"), ("right_foot", "ground")])
    assert "ground/left_foot_collision" in pairs(robot)


def test_built_in_robots_stand_on_their_feet():
    dog = kt.robots.quadruped().on_ground(friction=0.7, height=-0.1)
    assert len(dog.model.contacts) == 4
    assert {c.friction[:2] for c in dog.model.contacts} == {(0.7, 0.7)}
    ground = dog.model.colliders[-1]
    assert ground.at.translation.z == -0.1
    one = kt.robots.quadruped().on_ground(["front_left_foot"])
    assert pairs(one) == ["ground/front_left_foot"]
    human = kt.robots.human().on_ground(["left_foot", "right_foot"])
    assert len(human.model.contacts) == 4


def test_mjcf_keeps_colliders_pairs_options_and_softness(tmp_path):
    dog = kt.robots.quadruped().on_ground(friction=0.7, condim=4)
    file = tmp_path / "dog.xml"
    dog.save(file)
    back = kt.load(file)
    assert pairs(back) == pairs(dog)
    assert {c.name: c.shape for c in back.model.colliders} == {
        c.name: c.shape for c in dog.model.colliders
    }
    assert back.model.contacts[0].friction == dog.model.contacts[0].friction
    again = tmp_path / "again.xml"
    back.save(again)
    assert len(kt.load(again).model.colliders) == 5


def test_urdf_keeps_the_shapes_of_links(tmp_path):
    dog = kt.robots.quadruped().on_ground()
    file = tmp_path / "dog.urdf"
    with pytest.warns(ModelWarning, match="contact pair 'ground/front_left_foot'"):
        dog.save(file)
    back = kt.load(file, base="floating", ground=True)
    assert [c.shape for c in back.model.colliders[:-1]] == [Sphere(0.02)] * 4
    assert len(back.model.contacts) == 4


def test_coloured_geoms_are_written_once(tmp_path):
    geom = '<geom name="{0}" size="0.1" rgba="1 0 0 1"/>'
    body = f'<body name="{{0}}" pos="{{1}} 0 1"><freejoint/>{geom}</body>'
    bodies = "".join(body.format(name, x) for x, name in enumerate("abc"))
    robot = kt.load(
        f"<mujoco><worldbody>{bodies}</worldbody>"
        '<contact><exclude body1="a" body2="b"/></contact></mujoco>'
    )
    robot.save(tmp_path / "balls.xml")
    back = kt.load(tmp_path / "balls.xml")
    assert pairs(back) == pairs(robot) == ["a/c", "b/c"]
    assert (tmp_path / "balls.xml").read_text().count('rgba="1 0 0 1"') == 3
