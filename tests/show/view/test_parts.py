"""Surfaces: the right size, closed, in the right place."""

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.model import WORLD
from kinetree.show.view.geometry import (
    STL,
    box,
    capsule,
    cylinder,
    ellipsoid,
    find_mesh,
    inertia_box,
    load_mesh,
    primitive,
)
from kinetree.show.view.parts import along, center, parts
from kinetree.show.view.pictures import bars, heat_map

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
    arm = kt.robots.arm()
    assert {p.body for p in parts(arm.model) if p.source == "inertia"} == set(range(7))
    (part,) = parts(kt.load(URDF.format('<sphere radius="0.1"/>')).model)
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
        assert find_mesh(name, folder).resolve() == mesh
    assert find_mesh("package://pkg/meshes/b.obj", folder) is None
    robot = kt.load(URDF.format('<mesh filename="../meshes/a.obj" scale="2 2 2"/>'))
    (part,) = parts(robot.model, folder)
    assert part.source == "mesh"
    assert volume(part.triangles) == pytest.approx(8 / 6)
    assert [p.source for p in parts(robot.model)] == ["inertia"]
    mesh.write_text("nothing")
    assert load_mesh(mesh, ()) is None


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
        assert find_mesh(name, folder) is None, name
        assert find_mesh(name, None) is None, name
    for name in ("a.obj", str(folder / "a.obj"), "package://robot/a.obj", "package://any/a.obj"):
        assert find_mesh(name, folder) == folder / "a.obj"
    assert find_mesh("secret/s.obj", tmp_path) == secret
    (secret.parent / "package.xml").write_text("<package/>")  # the name of a package, then
    assert find_mesh("package://secret/s.obj", folder) == secret
    (secret.parent / "package.xml").unlink()
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert find_mesh("package://secret/s.obj", folder) == secret


def test_a_mesh_opens_no_other_file_and_is_of_a_known_format(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "a.obj").write_text("mtllib b.mtl\nusemtl m\n" + SOLID)
    (tmp_path / "b.mtl").write_text("newmtl m\nmap_Kd c.png\n")
    (tmp_path / "c.png").write_bytes(b"no picture")
    opened = []
    sys.addaudithook(lambda event, given: opened.append(given) if event == "open" else None)
    assert load_mesh(tmp_path / "a.obj", ()) is not None
    names = {str(given[0]) for given in opened if str(given[0]).startswith(str(tmp_path))}
    assert names == {str(tmp_path / "a.obj")}
    (tmp_path / "a.xyz").write_text("0 0 0\n")
    assert load_mesh(tmp_path / "a.xyz", ()) is None


def test_a_robot_from_a_file_finds_its_meshes_by_itself(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "meshes" / "a.obj").write_text(mesh)
    (tmp_path / "r.urdf").write_text(URDF.format('<mesh filename="meshes/a.obj"/>'))
    robot = kt.load(tmp_path / "r.urdf")
    assert [p.source for p in parts(robot.model)] == ["mesh"]
    attached = kt.robots.arm().edit.attach(robot, "tool", prefix="hand_")
    assert "mesh" in [p.source for p in parts(attached.model)]


def test_a_binary_stl_file_has_its_volume_and_each_corner_once(tmp_path):
    solid = box(1.0, 2.0, 3.0)
    records = np.zeros(len(solid.faces), STL)
    records["corners"] = solid.vertices[solid.faces]
    count = len(records).to_bytes(4, "little")
    (tmp_path / "a.stl").write_bytes(bytes(80) + count + records.tobytes())
    found = load_mesh(tmp_path / "a.stl", (2.0, 1.0, 1.0))
    assert volume(found) == pytest.approx(12.0)
    assert len(found.vertices) == 8


def test_bones_end_at_the_joints_of_children():
    model = kt.robots.human().model
    for part in parts(model):
        if part.source == "bone" and part.body != WORLD:
            ends = part.pose[:3, 3] * 2
            places = [b.placement.matrix() for b in model.bodies if b.parent == part.body]
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
