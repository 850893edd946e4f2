"""Packages: where files are found that a robot file names, and where not."""

import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.model.formats.packages import find_file

URDF = """<robot name="r"><link name="a"><visual><geometry>
<mesh filename="package://parts/meshes/a.stl"/></geometry></visual></link></robot>"""


@pytest.fixture
def robot_file(tmp_path):
    """A robot in a folder of its own, and a package elsewhere."""
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere" / "parts" / "meshes").mkdir(parents=True)
    (tmp_path / "elsewhere" / "parts" / "meshes" / "a.stl").write_text("x")
    file = tmp_path / "home" / "r.urdf"
    file.write_text(URDF)
    return file


def found(robot):
    (shape,) = robot.model.shapes
    return find_file(shape.file, kt.kinds.path("folder", shape.folder))


def test_a_package_is_found_where_the_user_says(robot_file, tmp_path):
    package = tmp_path / "elsewhere" / "parts"
    mesh = (package / "meshes" / "a.stl").resolve()
    assert found(kt.load(robot_file)) is None
    assert found(kt.load(robot_file, packages={"parts": package})) == mesh
    assert found(kt.load(robot_file, packages=[tmp_path / "elsewhere"])) == mesh
    assert found(kt.load(robot_file, packages=tmp_path / "elsewhere")) == mesh
    assert found(kt.load(robot_file, packages={"other": package})) is None


def test_a_package_is_found_in_the_paths_of_ros(robot_file, tmp_path, monkeypatch):
    package = tmp_path / "elsewhere" / "parts"
    mesh = (package / "meshes" / "a.stl").resolve()
    with monkeypatch.context() as patch:
        patch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'elsewhere'}")
        assert found(kt.load(robot_file)) == mesh
    prefix = tmp_path / "install"
    (prefix / "share").mkdir(parents=True)
    package.rename(prefix / "share" / "parts")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(prefix))
    assert found(kt.load(robot_file)) is None  # the index does not have it
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "parts").write_text("")
    assert found(kt.load(robot_file)) == (prefix / "share/parts/meshes/a.stl").resolve()


def test_models_are_found_in_the_paths_of_gazebo(robot_file, tmp_path, monkeypatch):
    folder, mesh = robot_file.parent, tmp_path / "elsewhere" / "parts" / "meshes" / "a.stl"
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "elsewhere"))
    assert find_file("model://parts/meshes/a.stl", folder) == mesh.resolve()
    assert find_file("package://parts/meshes/a.stl", folder) is None
    assert find_file("model://parts/../../home/r.urdf", folder) == robot_file.resolve()
    assert find_file("model://../secret", folder) is None


@pytest.mark.parametrize("given", [3, {"a": 3}, [3], {"a": "/no/such/folder"}, "/no/such/folder"])
def test_packages_that_are_no_folders_are_refused(given, robot_file):
    with pytest.raises(ModelError, match="packages"):
        kt.load(robot_file, packages=given)
