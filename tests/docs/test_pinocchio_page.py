"""docs/pinocchio.md: each row of its table of calls, evaluated as it stands there."""

import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.peers import pinocchio_oracle as oracle
from tests.tolerances import PEER, relative_error

PAGE = Path(__file__).parents[2] / "docs/pinocchio.md"
SECTION = PAGE.read_text().split("## Names of calls")[1].split("\n## ")[0]
CALLS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", SECTION, re.MULTILINE)
SOLVED = 1e-8  # accelerations of feet that weigh grams


def built_in(robot: kt.Robot, folder: Path) -> Path:
    robot.save(folder / "robot.urdf")
    return folder / "robot.urdf"


ROBOTS = {
    "arm": (lambda folder: built_in(kt.robots.arm(), folder), "fixed", "tool"),
    "quadruped": (
        lambda folder: built_in(kt.robots.quadruped(), folder),
        "floating",
        "hind_right_foot",
    ),
    "talos": (
        lambda folder: oracle.ROBOTS / "talos_data/robots/talos_reduced.urdf",
        "floating",
        "gripper_left_base_link",
    ),
}


@pytest.fixture(scope="module", params=ROBOTS)
def names(request, tmp_path_factory) -> dict:
    """What the expressions of the table speak of."""
    make, base, frame = ROBOTS[request.param]
    file = make(tmp_path_factory.mktemp("urdf"))
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    model = pin.buildModelFromUrdf(str(file), *root)
    robot = kt.load(file, base=base, mimic=False).without("damping", "friction")
    rng = np.random.default_rng(3)
    q0, q = robot.random(rng, 2)
    v, a, tau = rng.standard_normal((3, robot.nv))
    wrench, i = rng.standard_normal(6), model.getFrameId(frame, pin.BODY)
    fext = [pin.Force.Zero() for _ in range(model.njoints)]
    fext[model.frames[i].parentJoint] = model.frames[i].placement.act(pin.Force(wrench))
    data = model.createData()
    return {
        "pin": pin,
        "kt": kt,
        "model": model,
        "data": data,
        "fext": fext,
        "i": i,
        "robot": robot,
        "frame": frame,
        "wrench": wrench,
        "q0": q0,
        "q": q,
        "v": v,
        "a": a,
        "tau": tau,
    }


def numbers(value):
    """Whatever either gives, as arrays."""
    if isinstance(value, pin.SE3):
        return value.homogeneous
    if isinstance(value, (pin.Motion, pin.Force)):
        return value.vector
    if isinstance(value, (tuple, pin.StdVec_SE3)):
        return np.array([numbers(part) for part in value])
    return np.asarray(value)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        pytest.param(*call, id=call[0][:60], marks=[pytest.mark.slow] * ("Derivatives" in call[0]))
        for call in CALLS
    ],
)
def test_a_call_and_its_counterpart_agree(names, theirs, ours):
    model, data, (q, v, a) = names["model"], names["data"], (names[x] for x in "qva")
    pin.computeAllTerms(model, data, q, v)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    expected, found = (numbers(eval(text, dict(names))) for text in (theirs, ours))
    if expected.dtype.kind == "U":
        assert (expected == found).all()
        return
    scale = max(1.0, float(np.abs(expected).max()))
    assert relative_error(found / scale, expected / scale) < (
        SOLVED if "aba" in theirs.lower() else PEER
    )


def test_the_table_is_read():
    assert len(CALLS) > 30


def test_pinocchios_dynamics_use_armature_and_nothing_else_of_a_drive():
    model = pin.buildModelFromXML(
        re.search(r'"""(<robot.+?</robot>)"""', PAGE.read_text(), re.S)[1]
    )
    assert model.damping[0] == 0.5
    assert model.friction[0] == 0.2
    data, q, v, a = model.createData(), pin.neutral(model), np.ones(2), np.full(2, 3.0)
    before = pin.rnea(model, data, q, v, a).copy()
    for name in ("damping", "friction", "rotorInertia", "rotorGearRatio"):
        setattr(model, name, np.full(2, 7.0))
    assert (pin.rnea(model, data, q, v, a) == before).all()
    assert pin.aba(model, data, q, v, before) == pytest.approx(a)
    model.armature = np.full(2, 10.0)
    assert pin.rnea(model, data, q, v, a) == pytest.approx(before + 30.0)
