"""SDF beside Drake's parser, and DART's: the same document, mass matrices and poses.

Drake is not in the test extra, because it brings versions of other packages: pip install drake.
"""

import numpy as np
import pytest

import kinetree as kt
from tests.model.sdf_texts import DOCUMENTS
from tests.tolerances import PEER, relative_error

pytest.importorskip("pydrake", reason="Drake is not installed")
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

ON_THE_WORLD = [name for name in DOCUMENTS if name not in ("a world", "joints of several axes")]


@pytest.mark.parametrize("name", ON_THE_WORLD)
def test_drake_reads_the_same_robot(name):
    robot = kt.load(DOCUMENTS[name])
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(DOCUMENTS[name], "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joints = [plant.GetJointByName(joint.split("::")[-1]) for joint in robot.joints]
    order = [joint.velocity_start() for joint in joints]
    for q in robot.random(0, 10):
        plant.SetPositions(context, q[np.argsort(order)])
        M = plant.CalcMassMatrix(context)[np.ix_(order, order)]
        assert relative_error(robot.mass_matrix(q), M) < PEER
        gravity = -plant.CalcGravityGeneralizedForces(context)[order]
        assert relative_error(robot.without("springs").gravity_forces(q), gravity) < PEER
        for frame in robot.frames:
            theirs = plant.GetFrameByName(frame.split("::")[-1])
            pose = theirs.CalcPoseInWorld(context).GetAsMatrix4()
            assert np.allclose(robot.pose(q, frame), pose, atol=1e-9), frame
