"""Drake as a witness: it loads what an identification found, and moves it as Kinetree does.

Drake is not in the test extra, because it brings versions of other packages: pip install drake.
"""

import pytest

import kinetree as kt
from kinetree.identify import Parameters, fit
from tests.identify.motions import changed, made_log
from tests.tolerances import PEER, relative_error

pytest.importorskip("pydrake", reason="Drake is not installed")
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

COMPLAINT = "did not pass the test CouldBePhysicallyValid"


def plant_of(path):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    return plant


def rubbing(robot):
    parameters = Parameters(robot, ("damping", "friction"))
    theta = parameters.nominal
    theta[parameters.inertial_count :] = 0.3
    return parameters.applied(theta)


@pytest.mark.parametrize("method", ["log-cholesky", "lmi"])
def test_drake_loads_what_noisy_data_gave_and_has_the_same_mass_matrix(method, tmp_path, caplog):
    if method == "lmi":
        pytest.importorskip("cvxpy")
    robot = kt.robots.arm()
    log = made_log(robot, rubbing(changed(robot)), noise=0.3)
    found = fit(robot, log, method=method)
    found.save(tmp_path / "arm.urdf")
    plant = plant_of(tmp_path / "arm.urdf")
    assert COMPLAINT not in caplog.text
    bodies = [plant.GetBodyByName(name) for name in robot.bodies]
    context = plant.CreateDefaultContext()
    assert plant.num_velocities() == robot.nv
    for body in bodies:
        assert body.CalcSpatialInertiaInBodyFrame(context).IsPhysicallyValid()
    q = robot.random(0)
    plant.SetPositions(context, q)
    M = plant.CalcMassMatrix(context)
    assert relative_error(found.robot.mass_matrix(q), M) < PEER


def test_drake_complains_of_what_least_squares_alone_gave(tmp_path, caplog):
    robot = kt.robots.arm()
    found = fit(robot, made_log(robot, rubbing(changed(robot)), noise=0.3), method="base")
    assert found.impossible
    found.save(tmp_path / "arm.urdf")
    plant_of(tmp_path / "arm.urdf")  # Drake takes other numbers then
    assert COMPLAINT in caplog.text
