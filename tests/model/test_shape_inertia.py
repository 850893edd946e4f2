"""Inertias of shapes: closed forms against fine meshes, meshes against trimesh."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.model.formats.shape_inertia import inertia_of_shapes
from kinetree.model.model import Shape
from kinetree.robot.load import load_model
from kinetree.spatial import Rotation, Transform, Vector3

AT = Transform(Rotation.rpy(0.3, -0.2, 0.7), Vector3(0.1, -0.4, 0.2))
trimesh = pytest.importorskip("trimesh")
MESHES = {
    "box": ((0.4, 0.3, 0.2), lambda: trimesh.creation.box((0.4, 0.3, 0.2))),
    "sphere": ((0.3,), lambda: trimesh.creation.icosphere(5, 0.3)),
    "cylinder": ((0.2, 0.5), lambda: trimesh.creation.cylinder(0.2, 0.5, sections=2000)),
    "capsule": ((0.2, 0.5), lambda: trimesh.creation.capsule(0.5, 0.2, count=[100, 100])),
    "ellipsoid": ((0.3, 0.2, 0.1), None),
}


def numbers(inertia):
    return np.array([inertia.mass, *inertia.moment, *inertia.rotational])


def meshed(kind):
    """The mesh of a shape; an ellipsoid is a stretched sphere."""
    size, make = MESHES[kind]
    if make is not None:
        return make()
    mesh = trimesh.creation.icosphere(5, 1.0)
    mesh.apply_scale(size)
    return mesh


@pytest.mark.parametrize("kind", MESHES)
def test_a_shape_has_the_inertia_of_its_mesh(kind, tmp_path):
    mesh = meshed(kind)
    mesh.export(tmp_path / "m.stl")
    one = Shape("a", "collision", kind, MESHES[kind][0], AT)
    two = Shape("a", "collision", "mesh", (1.0, 1.0, 1.0), AT, "m.stl", str(tmp_path))
    (shape, none), (surface, nothing) = (inertia_of_shapes([(x, 700.0)]) for x in (one, two))
    assert none == nothing == []
    assert np.allclose(numbers(shape), numbers(surface), rtol=2e-3, atol=1e-4)
    mesh.density = 700.0
    assert surface.mass == pytest.approx(mesh.mass, rel=1e-6)


def test_a_mesh_has_the_inertia_that_trimesh_finds(tmp_path):
    mesh = trimesh.creation.annulus(0.1, 0.3, 0.5)
    mesh.apply_transform(trimesh.transformations.rotation_matrix(0.4, [1, 2, 3]))
    mesh.apply_translation([0.3, -0.2, 0.1])
    mesh.density = 700.0
    mesh.export(tmp_path / "m.obj")
    still = Transform.identity()
    shape = Shape("a", "collision", "mesh", (1.0, 1.0, 1.0), still, "m.obj", str(tmp_path))
    found, said = inertia_of_shapes([(shape, 700.0)])
    assert said == []
    center, about = found.center_and_rotational()
    assert found.mass == pytest.approx(mesh.mass)
    assert np.allclose(list(center), mesh.center_mass)
    xx, yy, zz, xy, xz, yz = about
    ours = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert np.allclose(ours, mesh.moment_inertia, rtol=1e-6)


def test_an_open_mesh_counts_as_its_hull_and_a_missing_one_not_at_all(tmp_path):
    mesh = trimesh.creation.box((1, 1, 1))
    mesh.update_faces(np.arange(len(mesh.faces)) > 1)
    mesh.export(tmp_path / "open.stl")
    still = Transform.identity()
    shape = Shape("a", "collision", "mesh", (1.0, 1.0, 1.0), still, "open.stl", str(tmp_path))
    found, (said,) = inertia_of_shapes([(shape, 2.0)])
    assert "not closed" in said
    assert found.mass == pytest.approx(2.0)
    gone = Shape("a", "collision", "mesh", (), still, "gone.stl", str(tmp_path))
    found, (said,) = inertia_of_shapes([(gone, 2.0)])
    assert found.mass == 0
    assert "cannot be read" in said


URDF = """<robot name="r"><link name="a"/><link name="b"><collision><origin xyz="0 0 0.5"/>
<geometry><box size="0.1 0.1 1"/></geometry></collision>
<visual><geometry><sphere radius="5"/></geometry></visual></link>
<link name="c"><inertial><mass value="3"/></inertial><visual><geometry><sphere radius="1"/>
</geometry></visual></link>
<joint name="i" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit effort="1" velocity="1"/></joint>
<joint name="j" type="prismatic"><parent link="a"/><child link="c"/>
<limit effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_links_without_inertia_have_that_of_their_collision_shapes():
    robot = kt.load(URDF, inertia="from geometry", density=500.0)
    masses = [float(body.inertia.mass) for body in robot.model.bodies]
    assert masses == pytest.approx([5.0, 3.0])  # given inertias are kept
    m, half = 5.0, 0.5
    expected = m * half**2 + m * (1.0 + 0.01) / 12
    assert robot.mass_matrix([0.0, 0.0])[0, 0] == pytest.approx(expected)
    assert float(load_model(URDF).bodies[0].inertia.mass) == 0.0


@pytest.mark.parametrize("options", [{"inertia": "guess"}, {"density": 0.0}, {"density": "x"}])
def test_other_inertias_and_densities_are_refused(options):
    with pytest.raises(ModelError, match=r"inertia|density"):
        kt.load(URDF, **options)
