"""Every URDF of the package pybullet_data loads, or is refused for its true defect."""

from pathlib import Path

import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.robot.load import check_file

pybullet_data = pytest.importorskip("pybullet_data")

ROOT = Path(pybullet_data.getDataPath())
FILES = sorted(file.relative_to(ROOT).as_posix() for file in ROOT.rglob("*.urdf"))

# PyBullet's own reader takes the numbers in front of what it does not understand
DEFECTIVE = {
    "bicycle/bike.urdf": r":103: <origin>: xyz='0\.07,' is not a number",
    "biped/biped2d_pybullet.urdf": r":115: <limit>: lower='-1\.57\.' is not a number",
    "humanoid/humanoid.urdf": r":288: not well-formed XML: .* at b'\\x00'",
    "quadruped/microtaur/microtaur.urdf": r":300: <origin>: rpy='.*' has 4 numbers; 3 are expected",
    "torus_deform.urdf": r"robot 'torus' has no link",  # only something soft
}


def test_the_package_holds_the_files_this_list_speaks_of():
    assert len(FILES) == 1095
    assert set(FILES) >= set(DEFECTIVE)


@pytest.mark.parametrize("file", DEFECTIVE)
def test_a_defective_file_is_refused_for_its_true_defect(file):
    with pytest.raises(ModelError, match=DEFECTIVE[file]):
        kt.load(ROOT / file)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_other_file_loads(base):
    for file in FILES:
        if file not in DEFECTIVE:
            assert kt.load(ROOT / file, base=base).frames, file


def test_every_file_can_be_checked():
    for file in FILES:
        errors = [p.message for p in check_file(ROOT / file) if p.element == "the file"]
        assert bool(errors) == (file in DEFECTIVE), file
