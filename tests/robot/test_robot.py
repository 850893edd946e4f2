"""Robot: its names, configurations, kernels and messages."""

import operator
import pickle
from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.joints import Prismatic
from kinetree.robot.elsewhere import ELSEWHERE
from tests.tolerances import EXACT, relative_error


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


def test_it_names_its_parts(arm):
    assert arm.bodies == tuple(f"link{i}" for i in range(1, 8))
    assert arm.joints == tuple(f"joint{i}" for i in range(1, 8))
    assert arm.frames == ("base", *arm.bodies, "tool")
    assert repr(arm) == "<Robot 'arm': 7 bodies, nq=7, nv=7>"


def test_every_coordinate_and_velocity_has_a_name_and_a_unit(arm):
    assert arm.labels.q == arm.labels.v == arm.joints
    assert arm.labels.q_units == ("rad",) * 7
    assert arm.labels.v_units == ("rad/s",) * 7
    robot = kt.robots.arm(base="floating").edit.reorder([*arm.joints, "root_joint"])
    base = ("x", "y", "z", "qx", "qy", "qz", "qw")
    assert robot.labels.q == (*arm.joints, *(f"root_joint.{x}" for x in base))
    assert robot.labels.q_units[7:] == ("m",) * 3 + ("",) * 4
    base = ("vx", "vy", "vz", "wx", "wy", "wz")
    assert robot.labels.v == (*arm.joints, *(f"root_joint.{x}" for x in base))
    assert robot.labels.v_units[7:] == ("m/s",) * 3 + ("rad/s",) * 3


def test_a_joint_that_follows_another_has_no_coordinate_to_name():
    assembly = kt.Assembly("gripper")
    assembly.add("left", "base", Prismatic("x"), mass=1.0, name="grip")
    assembly.add("right", "base", Prismatic("-x"), mass=1.0, mimic="grip")
    robot = assembly.robot()
    assert robot.labels.q == robot.labels.v == ("grip",)
    assert robot.labels.q_units == ("m",)


def test_limits_are_arrays_of_the_coordinates(arm):
    assert arm.limits.lower.tolist() == [-2.9, -2.0] * 3 + [-2.9]
    assert arm.limits.effort[0] == 180.0
    floating = kt.robots.arm(base="floating")
    assert floating.limits.upper.shape == (14,)
    assert floating.limits.velocity.shape == (13,)
    assert np.isinf(floating.limits.upper[:7]).all()


def test_neutral_is_where_every_joint_is_at_rest():
    robot = kt.robots.arm(base="floating")
    q = robot.neutral()
    assert q.tolist() == [0, 0, 0, 0, 0, 0, 1] + [0] * 7
    assert robot.pose(q, "tool")[:3, 3] == pytest.approx([0.0, 0.0, 0.34 + 0.40 + 0.39 + 0.10])


def test_random_configurations_are_reproducible_within_limits_and_of_unit_quaternion():
    robot = kt.robots.arm(base="floating")
    q = robot.random(5, (3, 4))
    assert q.shape == (3, 4, 14)
    assert (q == robot.random(np.random.default_rng(5), (3, 4))).all()
    assert (robot.random(None) != robot.random(None)).any()
    assert np.linalg.norm(q[..., 3:7], axis=-1) == pytest.approx(np.ones((3, 4)))
    limits = robot.limits
    assert ((limits.lower <= q) & (q <= limits.upper)).all()
    chain = kt.robots.chain(3).random(0, 1000)
    assert np.abs(chain).max() <= np.pi
    assert np.abs(chain).max() > 3.0


def test_it_can_be_pickled(arm):
    again = pickle.loads(pickle.dumps(arm))
    q = arm.random(0)
    assert (again.mass_matrix(q) == arm.mass_matrix(q)).all()


def test_the_frames_of_external_wrenches_become_arguments(arm):
    q, (v, a) = arm.random(0, 9), np.random.default_rng(0).standard_normal((2, 9, 7))
    rng = np.random.default_rng(1)
    wrenches = {"tool": rng.standard_normal((9, 6)), "link3": rng.standard_normal(6)}
    together = arm.inverse_dynamics(q, v, a, external=wrenches)
    free = arm.inverse_dynamics(q, v, a)
    parts = [arm.inverse_dynamics(q, v, a, external={k: w}) - free for k, w in wrenches.items()]
    assert relative_error(together - free, sum(parts)) < EXACT
    bias = arm.bias_forces(q, v, external=wrenches)
    assert relative_error(bias, arm.inverse_dynamics(q, v, 0 * a, external=wrenches)) < EXACT
    kernel = arm.kernel("inverse_dynamics", external=("tool", "link3"))
    assert kernel.gufunc.signature == "(7),(7),(7),(6),(6)->(7)"
    assert arm.inverse_dynamics(q, v, a, external={}).tolist() == free.tolist()


def test_a_wrench_on_the_world_moves_nothing(arm):
    q, v, a = arm.random(0), np.ones(7), np.ones(7)
    pushed = arm.inverse_dynamics(q, v, a, external={"base": np.ones(6)})
    assert (pushed == arm.inverse_dynamics(q, v, a)).all()


def test_a_wrench_of_the_wrong_size_is_named(arm):
    with pytest.raises(kt.errors.ShapeError, match=r"external\['tool'\] has shape \(3,\)"):
        arm.inverse_dynamics(*np.zeros((3, 7)), external={"tool": np.zeros(3)})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.pose(np.zeros(7), "tol"), r"no frame 'tol': did you mean 'tool'\?"),
        (lambda r: r.pose(np.zeros(7), 3), r"no frame 3"),
        (lambda r: r.inverse_dynamics(*np.zeros((3, 7)), method="magic"), r"no method 'magic'"),
        (
            lambda r: r.inverse_dynamics(*np.zeros((3, 7)), external={"hand": np.zeros(6)}),
            r"no frame 'hand'",
        ),
        (lambda r: r.kernel("inverse_dynamic"), r"did you mean 'inverse_dynamics'"),
    ],
)
def test_an_unknown_name_lists_what_is_near(arm, call, message):
    with pytest.raises(UnknownNameError, match=message):
        call(arm)


def test_a_quantity_that_feels_no_wrench_refuses_it(arm):
    with pytest.raises(KinetreeError, match="takes no external forces"):
        arm.kernel("mass_matrix", external=("tool",))


def test_a_joint_without_inertia_is_named_instead_of_dividing_by_zero():
    text = """
    <robot name="r"><link name="base"/>
      <joint name="swing" type="continuous"><parent link="base"/><child link="ghost"/></joint>
      <link name="ghost"/>
    </robot>"""
    robot = kt.load(text)
    assert robot.mass_matrix([0.3]).tolist() == [[0.0]]
    with pytest.raises(
        kt.errors.SingularModelError, match=r"'swing': it moves without moving any.*'ghost'"
    ):
        robot.forward_dynamics([0.0], [0.0], [1.0])


def test_joints_that_are_idle_only_together_are_named_together():
    text = """
    <robot name="r"><link name="base"/>
      <joint name="swing" type="continuous"><parent link="base"/><child link="bob"/></joint>
      <link name="bob">
        <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
      </link>
    </robot>"""
    with pytest.raises(
        kt.errors.SingularModelError, match=r"'root_joint': .* while joint 'swing' moves against it"
    ):
        kt.load(text, base="floating").forward_dynamics(
            [0, 0, 0, 0, 0, 0, 1, 0.1], np.zeros(7), np.zeros(7)
        )


def test_kernels_are_kept_and_count_their_operations(arm):
    kernel = arm.kernel("inverse_dynamics")
    assert kernel is arm.kernel("inverse_dynamics", "balafoutis-patel")
    assert kernel.operations == dict(kernel.program.operations)
    assert kernel.operations["sin"] == kernel.operations["cos"]


def test_operation_counts_do_not_creep_up(arm):
    """What the design promises is fewer operations than anybody: a regression shows here."""
    counts = {
        name: sum(arm.kernel(name).operations.values())
        for name in ("poses", "inverse_dynamics", "mass_matrix", "forward_dynamics")
    }
    most = {"poses": 121, "inverse_dynamics": 335, "mass_matrix": 241, "forward_dynamics": 1068}
    assert all(counts[name] <= most[name] for name in most), counts


# what is asked for wrongly


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: kt.Robot("arm.urdf"), r"Robot\('arm.urdf'\): a Model is .* kinetree.load"),
        (lambda r: r.edit.attach("hand.urdf", "tool"), "other='hand.urdf': a robot is expected"),
        (
            lambda r: r.inverse_dynamics(*np.zeros((3, 7)), external=np.zeros(6)),
            "external is a ndarray; expected a mapping of frame names",
        ),
        (
            lambda r: r.hybrid_dynamics(*np.zeros((4, 7)), "jiont3"),
            "no moving joint 'jiont3': did you mean 'joint3'",
        ),
        (lambda r: r.hybrid_dynamics(*np.zeros((4, 7)), 3), "accelerated: the names of joints"),
        (lambda r: r.random(0, batch=2.5), "batch=2.5: a whole number of states"),
        (lambda r: r.random(0, batch=-1), "batch=-1: a whole number"),
        (lambda r: r.random(0, batch="3"), "batch='3': a whole number"),
        (lambda r: r.random("seed"), "rng='seed': a NumPy generator, a seed"),
        (lambda r: r.random(-1), "rng=-1: a NumPy generator, a seed"),
        (lambda r: kt.load(7), "7 is not a robot file: expected its path"),
        (
            lambda r: kt.load(PENDULUM.format("revolute", ""), locked=["swing"]),
            r"a mapping of names.* got \['swing'\]",
        ),
        (lambda r: r.edit.lock(["joint1"]), r"a mapping of names.* got \['joint1'\]"),
        (
            lambda r: r.kernel("chart_volumes"),
            "no joint of robot 'arm' has coordinates with a sing",
        ),
    ],
)
def test_a_wrong_call_is_an_error_that_says_what_was_expected(arm, call, message):
    with pytest.raises(KinetreeError, match=message):
        call(arm)


def test_one_joint_may_be_named_without_a_list(arm):
    rng = np.random.default_rng(0)
    q, (v, a) = arm.random(rng), rng.standard_normal((2, 7))
    tau = arm.inverse_dynamics(q, v, a)
    one = arm.hybrid_dynamics(q, v, a, tau, "joint3")
    for ours, listed in zip(one, arm.hybrid_dynamics(q, v, a, tau, ["joint3"]), strict=True):
        assert (ours == listed).all()
    for names in ("joint3", ["joint3"]):
        assert (arm.kernel("hybrid_dynamics", accelerated=names)(q, v, a, tau)[0] == one[0]).all()


def test_a_batch_may_be_any_whole_number(arm):
    for batch in (3, 3.0, np.int64(3), (3,), [3.0]):
        assert (arm.random(0, batch) == arm.random(0, 3)).all()
    assert arm.random(0, 1e3).shape == (1000, 7)
    assert arm.random(0, (2.0, 3)).shape == (2, 3, 7)


# limits

PENDULUM = """<robot name="r"><link name="base"/><link name="bob">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="swing" type="{}"><parent link="base"/><child link="bob"/>{}</joint></robot>"""


@pytest.mark.parametrize(
    ("kind", "limits", "low", "high"),
    [
        ("revolute", (-1.0, 2.0), -1.0, 2.0),
        ("revolute", (2.0, -1.0), -1.0, 2.0),  # in reverse
        ("revolute", (5.0, np.inf), 5.0, 5.0 + np.pi),
        ("revolute", (-np.inf, -9.0), -9.0 - np.pi, -9.0),
        ("prismatic", (5.0, np.inf), 5.0, 6.0),
        ("revolute", (-np.inf, np.inf), -np.pi, np.pi),
        ("revolute", (np.inf, -np.inf), -np.pi, np.pi),
        ("revolute", (np.inf, np.inf), -np.pi, np.pi),
        ("revolute", (-1e308, 1e308), -1e308, 1e308),
        ("revolute", (0.5, 0.5), 0.5, 0.5),
    ],
)
def test_random_configurations_lie_within_limits_of_any_kind(kind, limits, low, high):
    model = kt.load(PENDULUM.format(kind, "<limit lower='-1' upper='1'/>")).model
    body = replace(model.bodies[0], limits=kt.Limits(*limits))
    q = kt.Robot(replace(model, bodies=(body,))).random(0, 1000)
    assert ((low <= q) & (q <= high)).all()
    assert np.ptp(q) >= 0.9 * (high - low) or not np.isfinite(high - low)


def test_the_ancestors_of_a_body_lead_to_the_root():
    robot = kt.robots.quadruped()
    thigh = ("hind_right_thigh", "hind_right_hip", "trunk")
    assert robot.ancestors("hind_right_thigh") == thigh
    assert robot.ancestors("hind_right_foot") == ("hind_right_shank", *thigh)  # a frame of it
    assert robot.ancestors("trunk") == ("trunk",)
    assert kt.robots.arm().ancestors(kt.robots.arm().frames[0]) == ()  # stands on the ground
    with pytest.raises(kt.errors.UnknownNameError, match="hind_right_thigh"):
        robot.ancestors("hind_right_tigh")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rnea", "use robot.inverse_dynamics"),
        ("lock", "use robot.edit.lock"),
        ("lowerPositionLimit", "use robot.limits.lower"),
        ("createData", "a robot stores no state"),
        ("inverse_kinematics", r"use kinetree\.control\.InverseKinematics"),
        ("nothing", "no attribute 'nothing'$"),
    ],
)
def test_a_name_that_is_elsewhere_is_said_to_be_there(name, message):
    robot = kt.robots.double_pendulum()
    assert not hasattr(robot, name)
    with pytest.raises(AttributeError, match=message):
        getattr(robot, name)


def test_names_of_other_libraries_lead_to_what_there_is():
    robot = kt.robots.double_pendulum()
    for name, where in ELSEWHERE.items():
        assert name not in dir(robot)
        if " " not in where:
            assert operator.attrgetter(where)(robot) is not None
