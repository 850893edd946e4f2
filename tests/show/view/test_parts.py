"""Surfaces: the right size, closed, in the right place."""

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelWarning
from kinetree.model.formats.meshes import STL
from kinetree.model.formats.packages import find_file
from kinetree.model.model import WORLD
from kinetree.show.view.geometry import (
    box,
    capsule,
    cylinder,
    ellipsoid,
    inertia_box,
    primitive,
)
from kinetree.show.view.painted import painted_mesh
from kinetree.show.view.parts import along, center, parts
from kinetree.show.view.pictures import bars, heat_map
from tests.capture.skeletons import walker

URDF = """<robot name="r"><link name="base"/><joint name="j" type="continuous"><parent link="base"/>
<child link="l"/><axis xyz="0 0 1"/></joint><link name="l"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15"/></inertial><visual><origin xyz="0 0 0.5"/><geometry>
{}</geometry></visual></link></robot>"""


def volume(surface):
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        (box(1, 2, 3), 6.0),
        (cylinder(0.5, 2), np.pi / 2),
        (ellipsoid(1, 2, 3), 8 * np.pi),
        (capsule(1, 2), np.pi * (2 + 4 / 3)),
        (primitive("sphere", (2.0,)), 4 / 3 * np.pi * 8),
    ],
)
def test_surfaces_are_closed_with_outward_normals_and_have_their_volume(surface, expected):
    assert volume(surface) == pytest.approx(expected, rel=0.03)


def test_the_box_of_a_body_has_its_inertia():
    body = kt.robots.human().model.bodies[3]
    _, rotational = center(body)
    mass = float(body.inertia.mass)
    edges, axes = inertia_box(mass, rotational)
    squares = edges**2
    again = axes @ np.diag(mass / 12 * (squares.sum() - squares)) @ axes.T
    assert np.allclose(again, rotational, rtol=1e-12, atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1)


def test_a_body_without_shapes_is_a_box_and_one_with_shapes_is_not():
    chain = kt.robots.chain(7)
    assert {p.body for p in parts(chain.model).surfaces if p.source == "inertia"} == set(range(7))
    (part,) = parts(kt.load(URDF.format('<sphere radius="0.1"/>')).model).surfaces
    assert part.source == "primitive"
    assert part.pose[2, 3] == 0.5


def test_meshes_are_found_beside_the_robot_file(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "pkg" / "meshes").mkdir(parents=True)
    (tmp_path / "pkg" / "urdf").mkdir()
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    mesh = tmp_path / "pkg" / "meshes" / "a.obj"
    mesh.write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    folder = tmp_path / "pkg" / "urdf"
    for name in ("package://pkg/meshes/a.obj", "../meshes/a.obj"):
        assert find_file(name, folder).resolve() == mesh
    assert find_file("package://pkg/meshes/b.obj", folder) is None
    robot = kt.load(URDF.format('<mesh filename="../meshes/a.obj" scale="2 2 2"/>'))
    (part,) = parts(robot.model, folder).surfaces
    assert part.source == "mesh"
    assert volume(part.triangles) == pytest.approx(8 / 6)
    with pytest.warns(ModelWarning, match=r"mesh '../meshes/a.obj' is not drawn: it is in none"):
        assert [p.source for p in parts(robot.model).surfaces] == ["inertia"]
    mesh.write_text("nothing")
    assert painted_mesh(mesh, ()) == []


SOLID = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_meshes_outside_the_robots_folders_and_packages_are_not_opened(tmp_path, monkeypatch):
    secret, folder = tmp_path / "secret" / "s.obj", tmp_path / "home" / "robot"
    for place in (secret, folder / "a.obj"):
        place.parent.mkdir(parents=True)
        place.write_text(SOLID)
    (folder / "link.obj").symlink_to(secret)
    outside = [str(secret), f"file://{secret}", "../../secret/s.obj", "link.obj", "a.obj\0"]
    outside += ["package://secret/s.obj", "package://../secret/s.obj", "package://home/../x"]
    outside += [f"package://{tmp_path.name}/secret/s.obj", "package:///secret/s.obj", "", "."]
    for name in outside:
        assert find_file(name, folder) is None, name
        assert find_file(name, None) is None, name
    named = ("package://robot/a.obj", "package:///robot/a.obj", "package://any/a.obj")
    for name in ("a.obj", str(folder / "a.obj"), *named):
        assert find_file(name, folder) == folder / "a.obj"
    assert find_file("secret/s.obj", tmp_path) == secret
    (secret.parent / "package.xml").write_text("<package/>")  # the name of a package, then
    assert find_file("package://secret/s.obj", folder) == secret
    (secret.parent / "package.xml").unlink()
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert find_file("package://secret/s.obj", folder) == secret


def test_a_mesh_opens_only_materials_beside_it_and_is_of_a_known_format(tmp_path):
    pytest.importorskip("trimesh")
    folder = tmp_path / "meshes"
    folder.mkdir()
    (folder / "a.obj").write_text("mtllib b.mtl\nusemtl m\n" + SOLID)
    (folder / "b.mtl").write_text("newmtl m\nmap_Kd ../c.png\nmap_Ks d.txt\n")
    (folder / "link.mtl").symlink_to(tmp_path / "secret.mtl")
    (folder / "e.obj").write_text("mtllib link.mtl\nusemtl m\n" + SOLID)
    for name in ("c.png", "meshes/d.txt", "secret.mtl"):
        (tmp_path / name).write_text("newmtl m\nKd 1 0 0\n")
    opened = []
    sys.addaudithook(lambda event, given: opened.append(given) if event == "open" else None)
    assert painted_mesh(folder / "a.obj", ())
    assert [part.color for part in painted_mesh(folder / "e.obj", ())] == [()]
    names = {str(given[0]) for given in opened if str(given[0]).startswith(str(tmp_path))}
    assert names == {str(folder / name) for name in ("a.obj", "b.mtl", "e.obj")}
    (tmp_path / "a.xyz").write_text("0 0 0\n")
    assert painted_mesh(tmp_path / "a.xyz", ()) == []


def test_the_materials_of_a_mesh_are_parts_of_their_colours(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "m.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    corners, *faces = SOLID.partition("f 1 3 2\n")
    (tmp_path / "a.obj").write_text(
        f"mtllib m.mtl\n{corners}usemtl red\n{faces[0]}usemtl blue\n{faces[1]}"
    )
    found = {
        part.color: part.triangles for part in painted_mesh(tmp_path / "a.obj", (2.0, 2.0, 2.0))
    }
    assert {color: len(x.faces) for color, x in found.items()} == {
        (1.0, 0.0, 0.0, 1.0): 1,
        (0.0, 0.0, 1.0, 1.0): 3,
    }
    assert sum(volume(x) for x in found.values()) == pytest.approx(8 / 6)


SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0.1\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
SQUARE_FACES = "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n"
MJCF = """<mujoco><asset><texture name="t" type="2d" file="b.png"/><material name="m" texture="t"/>
<mesh name="a" file="a.obj" inertia="shell"/></asset><worldbody><body><freejoint/>
<geom type="mesh" mesh="a" material="m" mass="1"/></body></worldbody></mujoco>"""


def picture(path, lower, upper):
    """Write a picture of two colours, one above the other."""
    image = pytest.importorskip("PIL.Image")
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4], pixels[4:] = upper, lower
    image.fromarray(pixels).save(path)


def test_a_texture_stays_a_picture_and_colours_the_triangles_of_offscreen_pictures(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd a.png\n")
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\n{SQUARE}usemtl m\n{SQUARE_FACES}")
    picture(tmp_path / "a.png", (255, 0, 0), (0, 0, 255))
    (part,) = painted_mesh(tmp_path / "a.obj", (2.0, 2.0, 2.0))
    assert part.texture.image.size == (8, 8)
    corners = {(0, 0): (0, 0), (2, 0): (1, 0), (2, 2): (1, 1), (0, 2): (0, 1)}
    for vertex, place in zip(part.triangles.vertices, part.texture.places, strict=True):
        assert corners[tuple(vertex[:2])] == tuple(place)
    # the middles of the triangles are at heights of 1/3 and 2/3
    assert part.texture.colors.tolist() == [[255, 0, 0], [0, 0, 255]]


PAINTED = """<mujoco><asset><material name="m" texture="t" rgba="0.5 1 1 1"/>
<texture name="t" type="2d" builtin="flat" rgb1="0.8 0.2 0.4" width="8" height="8"/></asset>
<worldbody><body><freejoint/><geom size="1" material="m"/></body></worldbody></mujoco>"""


def test_a_primitive_of_an_mjcf_file_has_the_mean_colour_of_its_texture():
    pytest.importorskip("mujoco")
    (part,) = [x for x in parts(kt.load(PAINTED).model).surfaces if x.source == "primitive"]
    assert part.color == pytest.approx((0.4, 0.2, 0.4, 1.0), abs=0.01)


def test_textures_that_urdf_and_mjcf_files_put_on_a_mesh_are_drawn_and_kept(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "a.obj").write_text(f"mtllib none.mtl\n{SQUARE}usemtl m\n{SQUARE_FACES}")
    picture(tmp_path / "b.png", (0, 255, 0), (0, 255, 0))
    text = URDF.format('<mesh filename="a.obj"/>').replace(
        "</visual>", '<material name="m"><texture filename="b.png"/></material></visual>'
    )
    (tmp_path / "r.urdf").write_text(text)
    (tmp_path / "r.xml").write_text(MJCF)
    for file in ("r.urdf", "r.xml"):
        robot = kt.load(tmp_path / file)
        (part,) = [x for x in parts(robot.model).surfaces if x.source == "mesh"]
        assert (part.texture.colors == (0, 255, 0)).all()
        assert (kt.plot.picture(robot).reshape(-1, 3) @ (-1, 2, -1) > 300).any()
    kt.load(tmp_path / "r.urdf").save(tmp_path / "again.urdf")
    assert kt.load(tmp_path / "again.urdf").model.shapes[0].texture == "b.png"


COLLADA = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"
version="1.4.1"><asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_effects>
<effect id="e"><profile_COMMON><technique sid="t"><lambert><diffuse><color>0 1 0 1</color></diffuse>
</lambert></technique></profile_COMMON></effect></library_effects><library_materials>
<material id="m"><instance_effect url="#e"/></material></library_materials><library_geometries>
<geometry id="g"><mesh><source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1
</float_array><technique_common><accessor source="#pa" count="4" stride="3"><param name="X"
type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>
</technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="m" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes><scene>
<instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_collada_file_has_its_volume_and_colour(tmp_path):
    pytest.importorskip("collada")
    (tmp_path / "a.dae").write_text(COLLADA)
    (part,) = painted_mesh(tmp_path / "a.dae", (1.0, 1.0, 3.0))
    assert volume(part.triangles) == pytest.approx(3 / 6)
    assert part.color == (0.0, 1.0, 0.0, 1.0)


def test_collision_shapes_are_drawn_where_no_visual_can_be_read(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "a.dae").write_text("nothing")
    mesh = '<mesh filename="a.dae"/></geometry></visual><visual><geometry><mesh filename="a.dae"/>'
    text = URDF.format(mesh).replace(
        "</link></robot>",
        '<collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>',
    )
    (tmp_path / "r.urdf").write_text(text)
    with pytest.warns(ModelWarning, match=r"'a.dae' is not drawn: a.dae cannot be read") as said:
        found = parts(kt.load(tmp_path / "r.urdf").model)
    assert len(said) == 1
    assert [p.source for p in found.surfaces] == ["primitive"]
    assert list(found.failed) == ["a.dae"]


@pytest.mark.parametrize(
    ("material", "expected"),
    [
        ('<material name="x"><color rgba="0.1 0.2 0.3 0.4"/></material>', (0.1, 0.2, 0.3, 0.4)),
        ('<material name="paint"/>', (1.0, 0.5, 0.0, 1.0)),
        ('<material name="unknown"/>', ()),
        ('<material name="x"><color rgba="1 2"/></material>', ()),
        ("", ()),
    ],
)
def test_a_urdf_files_materials_are_colours(material, expected):
    text = URDF.format('<box size="1 1 1"/>').replace("</geometry>", "</geometry>" + material)
    paint = '<material name="paint"><color rgba="1 0.5 0 7"/></material></robot>'
    robot = kt.load(text.replace("</robot>", paint))
    (part,) = parts(robot.model).surfaces
    assert part.color == expected


def test_colours_are_kept_in_both_formats(tmp_path):
    pytest.importorskip("mujoco")
    a = kt.Assembly("r")
    a.add("l", "base", kt.joints.Revolute("z"), mass=1.0, inertia=[1.0, 1.0, 1.0])
    a.add_shape("l", "capsule", (0.1, 0.4), (0.0, 0.0, 0.2), color=(1.0, 0.5, 0.25))
    a.add_shape("l", "sphere", (0.1,))
    robot = a.robot()
    for file in ("r.urdf", "r.xml"):
        robot.save(tmp_path / file)
        again = kt.load(tmp_path / file).model.shapes
        assert [s.color for s in again] == [(1.0, 0.5, 0.25, 1.0), ()]
        assert [s.kind for s in again] == ["capsule", "sphere"]


def test_the_human_has_two_sides():
    found = parts(kt.robots.human().model).surfaces
    assert {p.source for p in found} == {"primitive"}
    robot = kt.robots.human()
    colors = {robot.bodies[p.body]: p.color for p in found}
    assert len(colors) == 16
    assert colors["left_shank"] == colors["left_hand"] != colors["right_shank"]


def test_bones_reach_to_the_ends_of_a_skeleton(tmp_path):
    (tmp_path / "w.bvh").write_text(walker())
    robot = kt.read_bvh(tmp_path / "w.bvh", units="cm", up="y").robot
    drawn = {robot.bodies[p.body] for p in parts(robot.model).surfaces}
    assert {"Head", "LeftHand", "LeftForeArm"} <= drawn


def test_a_robot_from_a_file_finds_its_meshes_by_itself(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "meshes" / "a.obj").write_text(mesh)
    (tmp_path / "r.urdf").write_text(URDF.format('<mesh filename="meshes/a.obj"/>'))
    robot = kt.load(tmp_path / "r.urdf")
    assert [p.source for p in parts(robot.model).surfaces] == ["mesh"]
    attached = kt.robots.arm().edit.attach(robot, "tool", prefix="hand_")
    assert "mesh" in [p.source for p in parts(attached.model).surfaces]


def test_a_binary_stl_file_has_its_volume_and_each_corner_once(tmp_path):
    solid = box(1.0, 2.0, 3.0)
    records = np.zeros(len(solid.faces), STL)
    records["corners"] = solid.vertices[solid.faces]
    count = len(records).to_bytes(4, "little")
    (tmp_path / "a.stl").write_bytes(bytes(80) + count + records.tobytes())
    found = painted_mesh(tmp_path / "a.stl", (2.0, 1.0, 1.0))[0].triangles
    assert volume(found) == pytest.approx(12.0)
    assert len(found.vertices) == 8


def test_bones_end_at_the_joints_of_children():
    model = kt.robots.tree(9).model
    for part in parts(model).surfaces:
        if part.source == "bone" and part.body != WORLD:
            ends = part.pose[:3, 3] * 2
            places = [b.placement.matrix() for b in model.bodies if b.parent == part.body]
            places = places or [f.placement.matrix() for f in model.frames if f.body == part.body]
            assert any(np.allclose(ends, np.array(p, float)[:3, 3]) for p in places)


def test_along_is_a_rotation_to_a_direction():
    direction = np.array([0.6, 0.0, -0.8])
    R = along(direction)[:3, :3]
    assert np.allclose(R.T @ R, np.eye(3))
    assert np.allclose(R[:, 2], direction)


def test_pictures_are_white_at_zero_red_above_and_blue_below():
    picture = heat_map(np.array([[1.0, 0.0], [-1.0, 0.25]]), 2)
    assert picture.shape == (2, 2, 3)
    red, white, blue = picture[0, 0], picture[0, 1], picture[1, 0]
    assert red[0] > 150 > red[2]
    assert (white == 247).all()
    assert blue[2] > 150 > blue[0]
    bar = bars(np.array([0.5, -1.0]), np.array([1.0, np.inf]), 100)
    assert bar.shape == (24, 100, 3)
    assert bar[6, 60, 0] > bar[6, 60, 2]
    assert (bar[6, 90] == 235).all()
    assert bar[18, 10, 2] > bar[18, 10, 0]


def test_numbers_that_are_not_finite_have_no_colour():
    wrong = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert (heat_map(wrong.reshape(2, 2), 2)[0] == 247).all()
    assert (bars(wrong, np.ones(4)) == bars(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4))).all()
    assert heat_map(np.zeros((1, 1))).shape[2] == 3
