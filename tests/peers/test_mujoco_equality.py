"""Agreement with MuJoCo on equality constraints, small mechanisms of each kind.

MuJoCo's rows differ from ours in sign and axes, so what both forbid is compared: the row spaces of
the Jacobians, where errors vanish, and accelerations. Its constraints are soft: the compliance is
(1 - d) / d with the impedance d, at most 0.9999. Accelerations at five impedances are extrapolated
to none. It leaves out the rate of the Jacobian, so accelerations are compared at rest.
"""

import warnings

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree import joints as j
from kinetree.constraints import Coupling, LoopJoint
from kinetree.errors import ModelError, ModelWarning
from kinetree.robot.load import check_file
from tests.peers.mujoco_oracle import Peer
from tests.tolerances import relative_error

BAR = '<inertial pos="0.25 0.01 0.02" mass="1.5" diaginertia="0.002 0.03 0.031"/>'
SMALL = '<inertial pos="0 0.01 0.03" mass="0.2" diaginertia="1e-4 2e-4 2.5e-4"/>'
LEAST = 1.01e-4
"""A compliance that MuJoCo takes: the impedance is below 0.9999."""


def mjcf(inside: str) -> str:
    return f'<mujoco model="m"><compiler angle="radian"/>{inside}</mujoco>'


FOUR_BAR = f"""
    <worldbody><body name="crank" pos="0 0 1"><joint name="a" axis="0 1 0"/>{BAR}
        <body name="coupler" pos="0.5 0 0"><joint name="b" axis="0 1 0"/>{BAR}
            <site name="tip" pos="1.1 0.1 0"/></body></body>
      <body name="rocker" pos="1 0 1"><joint name="c" axis="0 1 0"/>{BAR}
        <site name="end" pos="0.8 0.1 0"/></body></worldbody>"""
GRIPPER = f"""
    <worldbody><body name="palm"><joint name="wrist" axis="1 0 0"/>{BAR}
      <body name="left" pos="0.1 0.05 0"><joint name="l" axis="0 0 1" ref="0.2"/>{SMALL}
        <body name="left_tip" pos="0 0 0.1"><joint name="lt" axis="0 0 1"/>{SMALL}</body></body>
      <body name="right" pos="0.1 -0.05 0"><joint name="r" axis="0 0 1" ref="-0.1"/>{SMALL}
      <body name="finger"><joint name="s" type="slide" axis="0 1 0" ref="0.3"/>{SMALL}</body>
      </body></body></worldbody>"""
FREE = f"""
    <worldbody><body name="one" pos="1 2 3" euler="0.1 0.2 0.3"><freejoint/>{BAR}</body>
      <body name="two" pos="1.2 2.5 3" euler="0.5 0 -0.3"><freejoint/>{BAR}
        <body name="arm" pos="0.1 0 0"><joint name="elbow" type="ball"/>{BAR}
        <site name="hand" pos="0.1 0.2 0.3" euler="0.4 0.2 0"/></body></body>
      <site name="wall" pos="0.3 0.2 2" euler="0 0.3 0.1"/></worldbody>"""
LEG = f"""
    <worldbody><body name="pelvis" pos="0 0 1"><freejoint name="base"/>{BAR}
      <body name="thigh" pos="0.1 0 0"><joint name="hip" axis="0 1 0"/>{BAR}
        <body name="knee" pos="0.4 0 0"><joint name="knee" axis="0 1 0"/>{SMALL}
          <body name="shin" pos="0.05 0 0">
            <joint name="shin" axis="0 1 0" stiffness="50" damping="0.1"/>{BAR}
            <body name="tarsus" pos="0.4 0 0"><joint name="ankle" axis="0 1 0"/>{BAR}
              <body name="heel" pos="-0.05 0 0">
                <joint name="heel" axis="0 1 0" stiffness="80" springref="0.05"/>{SMALL}</body>
              <body name="crank" pos="0.05 0 0"><joint name="crank" axis="0 1 0"/>{SMALL}
                <body name="plantar" pos="0.1 0 0"><joint name="plantar" axis="0 1 0"/>{SMALL}
                </body></body>
              <body name="foot" pos="0.3 0 0"><joint name="toe" axis="0 1 0"/>{SMALL}</body>
            </body></body></body>
        <body name="rod" pos="0 0.05 0"><joint name="rod" type="ball"/>{BAR}</body>
      </body></body></worldbody>"""
MODELS = {
    "a four-bar with a connect of bodies": FOUR_BAR
    + '<equality><connect body1="coupler" body2="rocker" anchor="0.9 0.1 0.3"/></equality>',
    "a four-bar with a connect of sites": FOUR_BAR
    + '<equality><connect site1="tip" site2="end"/></equality>',
    "a connect to the world": FOUR_BAR
    + '<equality><connect body1="coupler" anchor="0.4 0 0.1"/></equality>',
    "a connect from the world": FOUR_BAR
    + '<equality><connect body1="world" body2="coupler" anchor="1.2 0 0.9"/></equality>',
    "a parallel gripper": GRIPPER
    + """<equality><joint joint1="r" joint2="l" polycoef="0.1 -1 0 0 0"/>
        <joint joint1="lt" joint2="l" polycoef="0.05 -0.5 0.7 -0.3 0.2"/>
        <joint joint1="s" joint2="l" polycoef="0.01 0.1 0.2 0 0"/></equality>""",
    "a joint that is held, and one with two leaders": GRIPPER
    + """<equality><joint joint1="wrist" polycoef="0.3 5 5 5 5"/>
        <joint joint1="r" joint2="l" polycoef="0.1 -1 0 0 0"/>
        <joint joint1="r" joint2="lt" polycoef="0 2 0 0 0"/></equality>""",
    "belts between fixed tendons": GRIPPER
    + """<tendon><fixed name="t1"><joint joint="l" coef="0.4"/><joint joint="wrist" coef="-0.3"/>
        </fixed><fixed name="t2"><joint joint="r" coef="1"/><joint joint="l" coef="0.2"/></fixed>
        </tendon><equality><tendon tendon1="t1" tendon2="t2" polycoef="0.05 -0.7 0 0 0"/>
        <tendon tendon1="t2" polycoef="0.1 3 3 3 3"/></equality>""",
    "a welded pair": FREE + '<equality><weld body1="one" body2="arm"/></equality>',
    "a weld with a pose": FREE
    + """<equality><weld body1="one" body2="two" relpose="0.1 0.2 0.3 0.9 0.1 -0.2 0.3"
        anchor="0.05 0.1 -0.2"/></equality>""",
    "a weld of sites": FREE + '<equality><weld site1="hand" site2="wall"/></equality>',
    "a weld without a torque": FREE
    + '<equality><weld body1="arm" body2="one" torquescale="0"/></equality>',
    "a leg with two rods and springs": LEG
    + """<equality><connect name="achilles" body1="rod" body2="heel" anchor="0.8 -0.05 0"/>
        <connect name="plantar" body1="plantar" body2="foot" anchor="0.2 0 0.1"/></equality>""",
}


def loaded(text: str) -> kt.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        return kt.load(text)


class Mechanism:
    """A mechanism here and in MuJoCo, with its equalities, softer or stiffer."""

    def __init__(self, text: str) -> None:
        self.robot = loaded(text)
        self.m = mujoco.MjModel.from_xml_string(text)
        self.peer = Peer(self.robot, self.m)
        self.m.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.m.opt.tolerance, self.m.opt.iterations = 0.0, 200
        if hasattr(self.m.opt, "ls_iterations"):
            self.m.opt.ls_iterations = 200

    def move_to(self, q: np.ndarray) -> None:
        self.peer.move_to(np.asarray(q), np.zeros(self.robot.nv))
        mujoco.mj_makeConstraint(self.m, self.peer.d)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """MuJoCo's errors, and its Jacobian in our velocities."""
        d = self.peer.d
        J = np.zeros((d.nefc, self.m.nv))
        if mujoco.mj_isSparse(self.m):
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        else:
            J[:] = d.efc_J.reshape(d.nefc, self.m.nv)
        return d.efc_pos.copy(), J @ self.peer.T

    def acceleration(self, tau: np.ndarray) -> np.ndarray:
        """Of MuJoCo, extrapolated to no compliance."""
        d = self.peer.d
        d.qfrc_applied[:] = np.linalg.lstsq(self.peer.T.T, tau, rcond=None)[0]
        total = np.zeros(self.robot.nv)
        for k, weight in enumerate((5, -10, 10, -5, 1), 1):  # Lagrange's, at 1 to 5 times the least
            self.m.eq_solimp[:, :2] = 1.0 / (1.0 + k * LEAST)
            mujoco.mj_forward(self.m, d)
            total += weight * np.linalg.lstsq(self.peer.T, d.qacc, rcond=None)[0]
        return total


def row_space(J: np.ndarray) -> np.ndarray:
    """The projection onto the space that the rows of a matrix span."""
    _, values, right = np.linalg.svd(J)
    rank = int((values > 1e-9 * values[0]).sum())
    return right[:rank].T @ right[:rank]


@pytest.fixture(scope="module", params=MODELS)
def mechanism(request) -> Mechanism:
    return Mechanism(mjcf(MODELS[request.param]))


def near(robot: kt.Robot, seed: int) -> np.ndarray:
    dq = 0.1 * np.random.default_rng(seed).standard_normal(robot.nv)
    return np.asarray(robot.integrate(robot.neutral(), dq))


def test_errors_vanish_where_those_of_mujoco_do(mechanism):
    robot = mechanism.robot
    for seed in range(3):
        open_ = near(robot, seed)
        closed = robot.constraints.assemble(open_)
        mechanism.move_to(closed)
        assert np.abs(mechanism.rows()[0]).max() < 1e-9
        mechanism.move_to(open_)
        there = np.abs(mechanism.rows()[0]).max()
        assert there > 1e-3
        assert np.abs(robot.constraints.errors(open_)).max() > 1e-3


def test_what_is_forbidden_is_what_mujoco_forbids(mechanism):
    robot = mechanism.robot
    q = robot.constraints.assemble(near(robot, 5))
    mechanism.move_to(q)
    ours, theirs = robot.constraints.jacobian(q), mechanism.rows()[1]
    assert relative_error(row_space(ours), row_space(theirs)) < 1e-8


def test_accelerations_at_rest_are_the_limit_of_mujocos(mechanism):
    robot = mechanism.robot
    rng = np.random.default_rng(7)
    q = robot.constraints.assemble(near(robot, 7))
    tau = rng.standard_normal(robot.nv)
    mechanism.move_to(q)
    wanted = mechanism.acceleration(tau)
    found = robot.forward_dynamics(q, np.zeros(robot.nv), tau)
    assert relative_error(found, wanted) < 1e-5


def test_each_kind_of_equality_has_its_constraint():
    robot = loaded(mjcf(MODELS["a leg with two rods and springs"]))
    assert [type(x) for x in robot.model.constraints] == [LoopJoint, LoopJoint]
    assert [x.name for x in robot.model.constraints] == ["achilles", "plantar"]
    assert robot.model.constraints[0].joint == j.Ball()
    robot = loaded(mjcf(MODELS["a joint that is held, and one with two leaders"]))
    # r mimics l, so that the second equality of r is one of l and lt
    assert [x.joints for x in robot.model.constraints] == [("wrist",), ("l", "lt")]
    assert all(isinstance(x, Coupling) for x in robot.model.constraints)
    assert "r" not in robot.joints


def test_a_coupling_of_a_slide_is_in_metres():
    robot = loaded(mjcf(MODELS["a parallel gripper"]))
    assert [label.unit for label in robot.constraints.rows] == ["rad", "m"]


def test_a_loop_at_the_world_is_closed_on_the_world():
    for kind in ("to", "from"):
        (loop,) = loaded(mjcf(MODELS[f"a connect {kind} the world"])).model.constraints
        assert (loop.frame, loop.base) == ("coupler", "world")


def test_a_loop_of_a_file_goes_with_the_mount():
    text = mjcf(MODELS["a connect to the world"])
    robot, moved = loaded(text), kt.load(text, mount=(0.1, 0.2, 0.3))
    q = near(robot, 1)
    assert relative_error(moved.constraints.errors(q), robot.constraints.errors(q)) < 1e-14


def test_joints_that_follow_each_other_in_a_circle_are_one_joint():
    circle = '<joint joint1="l" joint2="lt"/><joint joint1="lt" joint2="l"/>'
    robot = loaded(mjcf(f"{GRIPPER}<equality>{circle}</equality>"))
    assert robot.joints == ("wrist", "lt", "r", "s")
    assert robot.model.constraints == ()


def test_joints_that_cannot_follow_each_other_in_a_circle_are_refused_by_name():
    circle = """<joint joint1="l" joint2="lt"/>
        <joint name="back" joint1="lt" joint2="l" polycoef="0.5 1 0 0 0"/>"""
    wanted = "constraint 'back': since its joints mimic each other nothing in it can move, and its "
    with pytest.raises(ModelError, match=f"{wanted}sum is -0.5 rad instead of 0"):
        kt.load(mjcf(f"{GRIPPER}<equality>{circle}</equality>"))


def test_linear_equalities_are_passed_over_if_asked_and_others_are_not():
    text = mjcf(MODELS["a parallel gripper"])
    assert loaded(text).constraints.names == ("joint1", "joint2")
    robot = kt.load(text, mimic=False)
    assert "r" in robot.joints
    assert robot.constraints.names == ("joint1", "joint2")


def test_a_joint_locked_in_a_file_is_a_number_in_its_couplings():
    robot = kt.load(mjcf(MODELS["a parallel gripper"]), locked={"l": 0.2})
    assert [x.joints for x in robot.model.constraints] == [("lt",), ("s",)]


def test_an_equality_that_is_not_active_is_a_note():
    text = mjcf(FOUR_BAR + '<equality><connect site1="tip" site2="end" active="false"/></equality>')
    robot = loaded(text)
    assert robot.model.constraints == ()
    notes = [str(p) for p in check_file(text) if "equality" in p.element]
    assert notes == [
        "<string>: note: equality 'connect0': it is left out, since it is not active at the start"
    ]


def floating(equality: str) -> kt.Robot:
    """A free body beside a site of the world."""
    free = f'<body name="box" pos="0 0 1"><freejoint/>{BAR}</body><site name="wall" pos="1 2 3"/>'
    return loaded(mjcf(f"<worldbody>{free}</worldbody><equality>{equality}</equality>"))


def test_what_a_free_body_is_tied_to_stays_in_the_world_when_the_body_is_attached():
    box = floating('<connect name="tie" body1="box" anchor="0.1 0.2 0.3"/>')
    both = kt.robots.arm().edit.attach(box, "tool")
    (tie,) = both.model.constraints
    assert tie.base is None
    assert np.allclose(list(tie.at_base.translation), [0.1, 0.2, 1.3])


def test_a_frame_of_the_world_that_is_not_attached_cannot_be_held():
    held = LoopJoint("held", "wall", "box", j.Ball())
    with pytest.raises(ModelError, match="'held' holds link 'wall', which is fixed in the world"):
        kt.robots.arm().edit.attach(floating("").constrain(held), "tool")
