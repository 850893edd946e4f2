"""Free orientations as rotation vectors and Euler angles, against the same as quaternions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.drives import spring_energy
from kinetree.errors import SingularChartError
from kinetree.model import edit
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link
from kinetree.model.joints import (
    EULER_SEQUENCES,
    Ball,
    ExponentialBall,
    Floating,
    Revolute,
    euler,
    free_motion,
    planar,
)
from kinetree.model.model import Drive
from kinetree.robot.load import load_model
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.random_models import directions, rotations
from tests.tolerances import EXACT, relative_error, solved

CHARTS = ("exponential", *EULER_SEQUENCES)
HUMAN = kt.robots.human()
SOLID = Inertia.about_center(2.0, Vector3(0.1, 0.2, 0.0), Symmetric3(0.1, 0.2, 0.25, 0, 0, 0.01))


def puppet(base="floating"):
    """A free body, on it an arm by a ball, a hinge and another ball."""
    at = Transform(Rotation.rpy(0.3, -0.4, 0.5), Vector3(0.1, 0.2, 0.3))
    hinge = Revolute(Vector3(0.6, 0.0, 0.8))
    links = [Link(name, SOLID) for name in ("trunk", "upper", "lower", "hand")]
    connections = [
        Connection("shoulder", "trunk", "upper", at, Ball()),
        Connection("elbow", "upper", "lower", at, hinge),
        Connection("wrist", "lower", "hand", at, Ball()),
    ]
    return assemble(Description("puppet", links, connections), base=base)


PUPPET = puppet()


def quaternion(R):
    """The unit quaternion (x, y, z, w) of a rotation: the eigenvector of Bar-Itzhack's matrix."""
    (a, b, c), (d, e, f), (g, h, i) = np.array([list(row) for row in R.rows])
    K = [
        [a - e - i, d + b, g + c, h - f],
        [d + b, e - a - i, h + f, c - g],
        [g + c, h + f, i - a - e, d - b],
        [h - f, c - g, d - b, a + e + i],
    ]
    return np.linalg.eigh(K)[1][:, -1].tolist()


def change(model, chart_model, q, v):
    """From a chart to quaternions: q, the matrix T(q) with v_quat = T v, and its rate times v."""
    q_quat, T, drift = [0.0] * model.nq, np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    for i, (body, other) in enumerate(zip(chart_model.bodies, model.bodies, strict=True)):
        own, rates = q[chart_model.q_slices[i]], v[chart_model.v_slices[i]]
        at = model.v_slices[i]
        if body.joint == other.joint:
            q_quat[model.q_slices[i]] = own
            T[at, at] = np.eye(other.joint.nv)
            continue
        X = body.joint.transform(own)
        place = list(X.translation) if isinstance(other.joint, Floating) else []
        q_quat[model.q_slices[i]] = [*place, *quaternion(X.rotation)]
        rows = slice(6 - other.joint.nv, 6)  # a ball does not slide
        Phi, Phi_rate = (
            np.array([[*m.linear, *m.angular] for m in columns]).T[rows]
            for columns in (body.joint.subspace(own), body.joint.subspace_rate(own, rates))
        )
        T[at, at], drift[at] = Phi, Phi_rate @ rates
    return q_quat, T, drift


def check(model, chart_model, q, v, a):
    """Poses, forces, masses, energies and accelerations of a robot in two charts."""
    q2, T, drift = change(model, chart_model, q, v)
    v2, a2 = T @ v, T @ a + drift
    for frame in model.frames:
        X, Y = (algorithms.frame_pose(m, x, frame.name) for m, x in ((chart_model, q), (model, q2)))
        assert relative_error(X.matrix(), Y.matrix()) < EXACT
    tau2 = np.array(algorithms.rnea(model, q2, v2.tolist(), a2.tolist()))
    tau = np.array(algorithms.rnea(chart_model, q, v, a))
    assert relative_error(tau, T.T @ tau2) < EXACT
    M2, M = np.array(algorithms.crba(model, q2)), np.array(algorithms.crba(chart_model, q))
    assert relative_error(M, T.T @ M2 @ T) < EXACT
    assert relative_error(v @ M @ v, v2 @ M2 @ v2) < EXACT
    # a rounding of tau is divided by M, of which the chart makes the smallest eigenvalue smaller
    # by the square of the distance to its singularity
    bias = np.abs(algorithms.rnea(chart_model, q, v, [0.0] * model.nv))
    tolerance = solved(M, np.abs(tau) + bias) * max(1.0, np.abs(a).max())
    rates = np.array(algorithms.aba(chart_model, q, v, tau.tolist()))
    assert relative_error(T @ rates + drift, a2) < tolerance


def state(model, seed):
    rng = np.random.default_rng(seed)
    v, a = rng.standard_normal((2, model.nv)).tolist()
    return kt.Robot(model).random(rng).tolist(), v, a


def every_orientation(model, q, coordinates):
    """The configuration with these coordinates in every chart of an orientation."""
    for i in algorithms.charts(model):
        stop = model.q_slices[i].stop
        q[stop - 3 : stop] = coordinates
    return q


def singular(chart, distance=0.0):
    """Coordinates at a distance from a singularity."""
    if chart == "exponential":
        axis = np.array([2.0, -1.0, 2.0]) / 3.0
        return ((2.0 * math.pi - distance) * axis).tolist()
    proper = chart[0] == chart[2]
    return [0.4, (0.0 if proper else math.pi / 2) + distance, -0.7]


# the same motion


@pytest.mark.slow
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("model", [PUPPET, HUMAN.model], ids=["puppet", "human"])
def test_a_chart_changes_coordinates_and_nothing_else(model, chart):
    other = edit.rechart(model, chart)
    assert (other.nq, other.nv) == (model.nv, model.nv)
    for seed in range(3):
        check(model, other, *state(other, seed))


@given(st.sampled_from(CHARTS), st.sampled_from(PUPPET.frames), st.integers(0, 1000))
def test_a_chart_of_a_rerooted_robot_changes_nothing_else_either(chart, frame, seed):
    model = edit.reroot(PUPPET, frame.name)
    other = edit.rechart(model, chart)
    assert other.nq == model.nv
    assert edit.reroot(edit.rechart(PUPPET, chart), frame.name) == other
    assert edit.rechart(other, "quaternion") == model
    q, v, a = state(other, seed)
    tau, back = algorithms.rnea(other, q, v, a), edit.reroot(other, "trunk")
    M = np.array(algorithms.crba(back, q))
    energy = v @ np.array(algorithms.crba(edit.rechart(PUPPET, chart), q)) @ v
    assert relative_error(v @ M @ v, energy) < EXACT
    assert relative_error(algorithms.aba(other, q, v, tau), a) < solved(
        algorithms.crba(other, q), tau
    )


@given(directions(), st.sampled_from([0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.1]))
def test_a_rotation_vector_is_smooth_at_the_identity(axis, angle):
    other = edit.rechart(PUPPET, "exponential")
    q, v, a = state(other, 0)
    check(PUPPET, other, every_orientation(other, q, list(axis * angle)), v, a)


@given(directions(), st.sampled_from([1.0, 2.0, math.pi, 2.0 * math.pi / 3.0]))
def test_a_rotation_vector_has_no_jump(axis, angle):
    # 1 is where the series end; pi is where quaternions change their sign
    joint, v = ExponentialBall(), [0.3, -0.8, 0.5]
    below, above = (list(axis * (angle * (1.0 + step))) for step in (-1e-15, 1e-15))
    for values in (
        lambda q: np.array(joint.transform(q).matrix()),
        lambda q: np.array([list(m.angular) for m in joint.subspace(q)]),
        lambda q: np.array([list(m.angular) for m in joint.subspace_rate(q, v)]),
    ):
        assert relative_error(values(above), values(below)) < EXACT


@given(directions(), st.sampled_from([0.0, 1e-12, 1e-8, 1e-3]), st.booleans())
def test_a_rotation_vector_of_half_a_turn_is_like_any_other(axis, distance, beyond):
    other = edit.rechart(PUPPET, "exponential")
    angle = math.pi + (distance if beyond else -distance)
    q, v, a = state(other, 1)
    check(PUPPET, other, every_orientation(other, q, list(axis * angle)), v, a)


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("distance", [1e-1, 1e-2, -1e-2, 1e-4])
def test_a_chart_is_right_up_to_its_singularity(chart, distance):
    other = edit.rechart(PUPPET, chart)
    q, v, a = state(other, 2)
    check(PUPPET, other, every_orientation(other, q, singular(chart, distance)), v, a)


# which joints


def test_one_joint_can_be_recharted_alone():
    robot = HUMAN.edit.rechart("zyx", "root_joint")
    changed = [
        b.joint_name
        for b, old in zip(robot.model.bodies, HUMAN.model.bodies, strict=True)
        if b.joint != old.joint
    ]
    assert changed == ["root_joint"]
    assert robot.model.bodies[0].joint == free_motion(euler("zyx"))


@pytest.mark.parametrize("chart", CHARTS)
def test_going_back_to_quaternions_gives_the_same_robot(chart):
    assert edit.rechart(edit.rechart(PUPPET, chart), "quaternion") == PUPPET
    assert edit.rechart(edit.rechart(PUPPET, "xyz"), chart) == edit.rechart(PUPPET, chart)


def sprung(model, rest):
    """The robot with springs on all of its joints; those of orientations rest at a rotation."""
    turned = tuple(quaternion(rest))
    at = {1: (), 3: turned, 6: (0.1, -0.2, 0.3, *turned)}
    bodies = [replace(b, drive=Drive(stiffness=2.0, rest=at[b.joint.nv])) for b in model.bodies]
    return replace(model, bodies=tuple(bodies))


NEARLY_ABOUT_Y = Rotation(
    a=Vector3(x=0.5403023058681398, y=1.8390932474480855e-08, z=0.8414709848078963),
    b=Vector3(x=0.0, y=0.9999999999999998, z=-2.185569414336896e-08),
    c=Vector3(x=-0.8414709848078965, y=1.1808681942011047e-08, z=0.5403023058681397),
)


@pytest.mark.parametrize("frame", ["trunk", "hand"])
@given(st.sampled_from(CHARTS), st.sampled_from(CHARTS), rotations())
@example("exponential", "yzy", NEARLY_ABOUT_Y)
def test_a_spring_rests_at_the_same_orientation_in_every_chart(frame, chart, other, rest):
    model = sprung(edit.reroot(PUPPET, frame), rest)
    ways = [edit.rechart(model, chart), edit.rechart(edit.rechart(model, other), chart)]
    ways.append(edit.rechart(ways[0], "quaternion"))
    for way in ways:
        for body, old in zip(way.bodies, model.bodies, strict=True):
            assert body.drive.stiffness == 2.0
            if body.drive.rest:
                X, Y = (b.joint.transform(b.drive.rest).matrix() for b in (body, old))
                assert relative_error(X, Y) < EXACT


@given(st.integers(0, 1000))
def test_a_spring_of_a_rotation_vector_that_rests_at_zero_has_the_quaternion_s_energy(seed):
    bodies = [replace(b, drive=Drive(stiffness=2.0)) for b in PUPPET.bodies]
    model = replace(PUPPET, bodies=tuple(bodies))
    other = edit.rechart(model, "exponential")
    assert [b.drive for b in other.bodies] == [b.drive for b in model.bodies]
    q, v, a = state(other, seed)
    check(model, other, q, v, a)
    energies = spring_energy(other, q), spring_energy(model, change(model, other, q, v)[0])
    assert relative_error(*energies) < EXACT


def test_a_chart_that_is_asked_for_again_leaves_the_spring_as_it_is():
    model = sprung(PUPPET, Rotation.rpy(0.3, 0.2, 0.1))
    assert edit.rechart(model, "quaternion") == model


def test_a_chart_can_be_asked_for_when_loading():
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    text = f"""<robot name='r'><link name='a'>{inertial}</link><link name='b'>{inertial}</link>
        <joint name='j' type='floating'><parent link='a'/><child link='b'/></joint></robot>"""
    model = load_model(text, base="floating")
    for chart in CHARTS:
        other = load_model(text, base="floating", chart=chart)
        assert other == edit.rechart(model, chart)
        check(model, other, *state(other, 0))
    assert load_model(text, base="floating", chart="quaternion") == model


def test_robots_without_such_charts_pay_nothing():
    for robot in (HUMAN, kt.robots.arm(), kt.robots.quadruped(), kt.robots.cart_pole()):
        assert robot.kernel("forward_dynamics")._guard is None
    assert HUMAN.edit.rechart("exponential").kernel("forward_dynamics")._guard is not None
    assert HUMAN.edit.rechart("exponential").kernel("inverse_dynamics")._guard is None


# where there is no answer


LEG = kt.Robot(edit.subtree(PUPPET, "trunk", "fixed"))
"""Ball, hinge, ball."""


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["exponential", "zyx", "zxz"])
def test_at_a_singularity_there_is_no_forward_dynamics_and_the_joint_is_named(chart):
    robot = LEG.edit.rechart(chart)
    q, (v, tau) = np.full(7, 0.3), np.ones((2, 7))
    assert np.isfinite(robot.forward_dynamics(q, v, tau)).all()
    q[4:] = singular(chart)
    with pytest.raises(SingularChartError, match=r"^the coordinates of joint 'wrist' are sing.*qu"):
        robot.forward_dynamics(q, v, tau)
    q[4:] = singular(chart, 0.1)
    assert np.isfinite(robot.forward_dynamics(q, v, tau)).all()


def test_of_a_batch_the_state_is_named():
    robot = LEG.edit.rechart("zyx")
    q, (v, tau) = np.full((6, 7), 0.3), np.ones((2, 7))
    q[4, :3] = singular("zyx")
    with pytest.raises(SingularChartError, match=r"^state 4: the coordinates of joint 'shoulder'"):
        robot.forward_dynamics(q, v, tau)
    with pytest.raises(SingularChartError, match=r"^state \(2, 0\): the coordinates of joint 'sho"):
        robot.forward_dynamics(q.reshape(3, 2, 7), v, tau)
    for options in ({"method": "crba"}, {"external": {"hand": np.zeros(6)}}):
        with pytest.raises(SingularChartError, match=r"^state 4: "):
            robot.forward_dynamics(q, v, tau, **options)
    q[4, :3] = np.nan
    with np.errstate(invalid="ignore"):
        rates = robot.forward_dynamics(q, v, tau)
    assert np.isfinite(np.delete(rates, 4, axis=0)).all()


@pytest.mark.parametrize("chart", CHARTS)
def test_at_a_singularity_inverse_dynamics_still_answers(chart):
    other = edit.rechart(PUPPET, chart)
    q, v, a = state(other, 3)
    q = every_orientation(other, q, singular(chart))
    assert max(algorithms.chart_volumes(other, q)) < 1e-13
    q2, T, drift = change(PUPPET, other, q, v)
    tau2 = algorithms.rnea(PUPPET, q2, (T @ v).tolist(), (T @ a + drift).tolist())
    assert relative_error(np.array(algorithms.rnea(other, q, v, a)), T.T @ tau2) < EXACT
    assert relative_error(algorithms.crba(other, q), T.T @ algorithms.crba(PUPPET, q2) @ T) < EXACT


@pytest.mark.parametrize("chart", CHARTS)
def test_the_neutral_configuration_is_singular_if_the_first_axis_is_the_last(chart):
    robot = LEG.edit.rechart(chart)
    volumes = algorithms.chart_volumes(robot.model, robot.neutral().tolist())
    assert (max(volumes) == 0.0) == (chart[0] == chart[2])


def test_a_robot_in_a_singular_neutral_configuration_says_so():
    robot = LEG.edit.rechart("zxz")
    with pytest.raises(SingularChartError, match=r"'shoulder' are singular there.*rechart"):
        robot.forward_dynamics(robot.neutral(), np.zeros(7), np.zeros(7))


@pytest.mark.parametrize("base", ["planar", "floating"])
def test_from_where_a_joint_is_seen_makes_no_chart_singular(base):
    joint = planar() if base == "planar" else Floating()
    links = [Link(name, SOLID) for name in ("root", "cart", "tool")]
    connections = [
        Connection("inner", "root", "cart", Transform.identity(), joint),
        Connection("outer", "cart", "tool", Transform.identity(), euler("zyx")),
    ]
    model = edit.reroot(assemble(Description("r", links, connections)), "tool")
    names = [model.bodies[i].joint_name for i in algorithms.charts(model)]
    assert ("inner" in names) == (base == "planar")
    q = np.zeros(model.nq)
    for i in model.coordinate_order:
        q[model.q_slices[i]] = model.bodies[i].joint.neutral()
    far = q.copy()
    inner = next(i for i, b in enumerate(model.bodies) if b.joint_name == "inner")
    far[model.q_slices[inner].start] = 1000.0
    near = algorithms.chart_volumes(model, q.tolist())
    assert relative_error(algorithms.chart_volumes(model, far.tolist()), near) < EXACT
