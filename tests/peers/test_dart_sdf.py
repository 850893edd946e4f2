"""SDF files of packages beside DART's parser, and Cassie's loops."""

from pathlib import Path

import dartpy as dart
import numpy as np
import pytest

import kinetree as kt
from kinetree.robot.load import check_file
from tests.model.sdf_texts import link, sdf
from tests.peers import pinocchio_oracle as oracle
from tests.tolerances import relative_error

CASSIE = oracle.ROBOTS / "cassie_description/robots"
ARM = f"""<model name="arm">{link("base")}{link("upper", "<pose>0.1 0 0.3 0.2 0 0.1</pose>")}
{link("lower", "<pose>0.1 0.4 0.3 0 0.3 0</pose>")}
<joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="i" type="revolute"><parent>base</parent><child>upper</child>
<axis><xyz>0 0.6 0.8</xyz></axis></joint>
<joint name="j" type="prismatic"><pose>0 0 0.1 0 0 0</pose><parent>upper</parent>
<child>lower</child><axis><xyz>1 0 0</xyz></axis></joint></model>"""


def skeleton(path):
    loader = dart.utils.SdfParser
    return loader.readSkeleton(str(path))


def test_dart_reads_the_same_arm(tmp_path):
    text = ARM.replace("0.3 0.2 0.1</pose><mass>", "0 0 0</pose><mass>")
    assert text != ARM  # DART does not turn inertias
    (tmp_path / "arm.sdf").write_text(sdf(text, "1.6"))
    robot, peer = kt.load(tmp_path / "arm.sdf"), skeleton(tmp_path / "arm.sdf")
    names = [peer.getDof(i).getName() for i in range(peer.getNumDofs())]
    order = [names.index(joint) for joint in robot.joints]
    assert len(names) == robot.nv == 2
    for q in robot.random(0, 10):
        peer.setPositions(q[np.argsort(order)])
        M = peer.getMassMatrix()[np.ix_(order, order)]
        assert relative_error(robot.mass_matrix(q), M) < 1e-9
        for frame in ("base", "upper", "lower"):
            pose = peer.getBodyNode(frame).getWorldTransform().matrix()
            assert np.allclose(robot.pose(q, frame), pose, atol=1e-9)


@pytest.mark.parametrize("file", sorted(CASSIE.glob("*.sdf")), ids=lambda x: x.stem)
@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_cassie_loads_with_its_loops_and_nothing_that_moves_it_is_lost(file: Path):
    robot = kt.load(file)
    loops = [c for c in robot.model.constraints if c.frames]
    assert len(loops) >= 4
    assert robot.nv >= 22
    lost = [p for p in check_file(file) if "lost" in p.message or "left out" in p.message]
    assert all(p.severity == "note" for p in lost), lost
