"""Writing constraints to MJCF, and reading them back."""

import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree import constraints as c
from kinetree import joints as j
from kinetree.errors import ModelWarning
from kinetree.model.formats.write_mjcf import write_mjcf
from kinetree.spatial import Rotation, Transform, Vector3
from tests.constrained_robots import BOX, four_bar

SHIFT = (0.1, 0.2, 0.3)
TURNED = np.array([[0, 0, 1, 0.1], [1, 0, 0, 0.2], [0, 1, 0, 0.3], [0, 0, 0, 1.0]])


def arms() -> kt.Robot:
    """Two chains of joints that MJCF has."""
    a = kt.Assembly("arms", mass=2.0, inertia=(0.1, 0.2, 0.25))
    for side, sign in (("left", 1), ("right", -1)):
        parent = "base"
        for k, joint in enumerate((j.Ball(), j.Revolute("y"), j.Prismatic((1, 1, 0)))):
            at = (0.1, 0.2 * sign, 0.05)
            a.add(f"{side}{k}", parent, joint, at, BOX, mass=1.0, com=(0.1, 0.02, 0.03))
            parent = f"{side}{k}"
        a.add_frame(f"{side}_tip", parent, SHIFT)
    return a.robot("floating")


ELSEWHERE = Transform(Rotation.identity(), Vector3(*SHIFT))
WRITTEN = {
    "weld": [c.LoopJoint("loop", "left2", "right2", at_frame=SHIFT, at_base=TURNED)],
    "weld to the world": [c.LoopJoint("loop", "left_tip", at_base=TURNED)],
    "ball": [c.LoopJoint("loop", "left_tip", "right_tip", j.Ball(), at_frame=SHIFT)],
    "ball elsewhere": [c.LoopJoint("loop", "left2", "right2", j.Ball().relocated(ELSEWHERE))],
    "ball of angles": [c.LoopJoint("loop", "left2", "right2", j.euler("zyx"))],
    "hinge": [c.LoopJoint("loop", "left2", "right2", j.Revolute((1, 2, 3)), at_base=TURNED)],
    "held": [c.HeldFrame("loop", "left2", at_base=TURNED, at_frame=SHIFT)],
    "held point": [c.HeldFrame("loop", "left_tip", "right0", rows=("z", "x", "y"))],
    "two of them": [
        c.LoopJoint("loop", "left2", "right2", j.Revolute("x")),  # takes two connects
        c.Coupling("loop_2", {"left1_joint": [-0.1, 1]}),
    ],
    "gear with a polynomial": [
        c.Coupling("loop", {"left1_joint": [1, 2, 0, 4], "right1_joint": [0.5, -2]})],
    "gear of one joint": [c.Coupling("loop", {"left1_joint": [1, 2]})],
}  # fmt: skip


def loaded(text: str) -> kt.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        return kt.load(text)


def row_space(robot: kt.Robot, q) -> np.ndarray:
    _, values, right = np.linalg.svd(robot.constraints.jacobian(q))
    rank = int((values > 1e-9 * values[0]).sum())
    return right[:rank].T @ right[:rank]


@pytest.mark.parametrize("what", WRITTEN)
def test_a_constraint_that_is_written_is_the_same_when_it_is_read(what):
    robot = arms().constrain(*WRITTEN[what])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        text = write_mjcf(robot.model)
    again = loaded(text)
    assert again.joints == robot.joints
    assert set(robot.constraints.names) <= set(again.constraints.names)
    dq = 0.2 * np.random.default_rng(0).standard_normal(robot.nv)
    q = robot.constraints.assemble(robot.integrate(robot.neutral(), dq))
    assert np.abs(again.constraints.errors(q)).max() < 1e-10
    assert np.abs(row_space(again, q) - row_space(robot, q)).max() < 1e-9
    assert write_mjcf(again.model) == text  # from then on nothing changes


def test_a_linear_gear_is_read_as_a_mimic():
    gear = c.Coupling("gear", {"left1_joint": [0, 2], "right1_joint": [0.5, -1]})
    again = loaded(write_mjcf(arms().constrain(gear).model))
    assert again.model.constraints == ()
    (follower,) = [b for b in again.model.bodies if b.follows is not None]
    assert follower.joint.transmission[1:] == (0.5, -0.25)


LOST = {
    "rod": c.Rod("rod", "left2", "right2", length=1.0),
    "slider": c.LoopJoint("slider", "left2", "right2", j.Prismatic("x")),
    "wheel": c.RollingWheel("wheel", "left2", radius=0.1),
    "stance": c.HeldFrame("stance", "left2", anywhere=True),
    "sole": c.HeldFrame("sole", "left2", rows=("z", "rx")),
    "differential": c.Coupling(
        "differential", {"left1_joint": [0, 1], "right1_joint": [0, 1], "left2_joint": [0, 1]}
    ),
    "cam": c.Coupling("cam", {"left1_joint": [0, 1, 1], "right1_joint": [0, 1, 1]}),
    "high": c.Coupling("high", {"left1_joint": [0, 1], "right1_joint": [0, 0, 0, 0, 0, 1]}),
}


@pytest.mark.parametrize("name", LOST)
def test_a_constraint_that_mjcf_cannot_express_is_a_warning_that_names_it(name, tmp_path):
    kept = c.LoopJoint("kept", "left1", "right1", j.Ball())
    robot = arms().constrain(LOST[name], kept)
    with pytest.warns(ModelWarning, match=f"MJCF cannot express constraint '{name}'; not written"):
        robot.save(tmp_path / "robot.xml")
    assert loaded((tmp_path / "robot.xml").read_text()).constraints.names == ("kept",)


def test_a_loop_on_a_link_between_joints_of_one_body_is_not_written(tmp_path):
    a = kt.Assembly("universal")
    a.add("cross", "base", j.Revolute("x"))
    a.add("arm", "cross", j.Revolute("y"), mass=1.0, inertia=BOX)
    a.add("other", "base", j.Ball(), mass=1.0, inertia=BOX)
    a.constrain(c.LoopJoint("loop", "cross", "other", j.Ball(), at_base=SHIFT, at_frame=SHIFT))
    with pytest.warns(ModelWarning, match=r"'cross'.*constraint 'loop'; not written"):
        a.robot().save(tmp_path / "robot.xml")
    assert kt.load(tmp_path / "robot.xml").constraints.names == ()


def test_urdf_has_no_constraints_and_a_warning_names_them(tmp_path):
    robot = four_bar()
    with pytest.warns(ModelWarning, match="URDF cannot express constraint 'loop'; not written"):
        robot.save(tmp_path / "robot.urdf")
