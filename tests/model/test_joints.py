"""The joints: subspace, chart, limits and lumped inertia of each against its own transform."""

import math
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import rnea
from kinetree.errors import ModelError
from kinetree.model.joints import (
    EULER_SEQUENCES,
    Ball,
    Custom,
    Dependent,
    ExponentialBall,
    Floating,
    Joint,
    Mimic,
    Prismatic,
    Revolute,
    Screw,
    cylindrical,
    euler,
    free_motion,
    planar,
    universal,
)
from kinetree.model.model import Drive
from kinetree.model.prepare import Preparation, prepared
from kinetree.scalar import cos, sin
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Twist, Vector3
from tests.random_models import JOINTS, coordinates, directions, inertias, numbers
from tests.spatial.dense import inertia as dense_inertia
from tests.spatial.dense import leaves, vec
from tests.tolerances import EXACT, relative_error

ON_AN_AXIS = ("revolute", "prismatic")


@st.composite
def velocities(draw, joint):
    """Velocities of a joint that turn it by less than half a turn."""
    v = [draw(numbers(-1.0, 1.0)) for _ in range(joint.nv)]
    if joint.nq != joint.nv:
        v[-3:] = draw(directions()) * draw(st.one_of(numbers(0.0, 3.14), numbers(0.0, 1e-6)))
    return v


every_joint = pytest.mark.parametrize("kind", JOINTS)


@given(st.data())
def test_every_kind_of_joint_is_tested_here(data):
    def kinds(base):
        for kind in base.__subclasses__():
            yield kind
            yield from kinds(kind)

    tested = {type(data.draw(strategy)) for strategy in JOINTS.values()}
    ours = [kind for kind in kinds(Joint) if kind.__module__.startswith("kinetree.")]
    concrete = {kind for kind in ours if not kind.__abstractmethods__}
    # a mimic is what it copies, and tested with the reader; dependent joints with embeddings
    assert concrete - {Mimic, Dependent} == tested


@every_joint
@given(st.data())
def test_the_subspace_is_the_rate_of_the_transform_seen_from_the_body(kind, data):
    joint = data.draw(JOINTS[kind])
    q = data.draw(coordinates(joint))
    Phi = joint.subspace(q)
    assert len(Phi) == joint.nv
    back = np.linalg.inv(joint.transform(q).matrix())
    h = 1e-30
    for k, axis in enumerate(Phi):
        step = [complex(0.0, h) if i == k else 0j for i in range(joint.nv)]
        moved = np.array(joint.transform(joint.integrate(q, step)).matrix(), dtype=complex)
        rate = back @ moved.imag / h  # [[[w], v], [0, 0]]
        expected = np.zeros((4, 4))
        expected[:3, :3] = np.cross(vec(axis.angular), np.eye(3)).T
        expected[:3, 3] = vec(axis.linear)
        assert relative_error(rate, expected) < EXACT


@every_joint
@given(st.data())
def test_moving_along_a_velocity_takes_the_body_along_its_screw(kind, data):
    # X(q + v dt) = X(q) exp([Phi v] dt): the rate above, at every moment of the motion
    joint = data.draw(JOINTS[kind])
    q, v = data.draw(coordinates(joint)), data.draw(velocities(joint))
    halfway = joint.integrate(q, [c * 0.5 for c in v])
    at_once, twice = joint.integrate(q, v), joint.integrate(halfway, [c * 0.5 for c in v])
    one, two = (joint.transform(x).matrix() for x in (at_once, twice))
    assert relative_error(one, two) < EXACT


@pytest.mark.slow
@every_joint
@given(st.data())
def test_the_subspace_rate_is_the_derivative_of_the_subspace(kind, data):
    joint = data.draw(JOINTS[kind])
    q, v = data.draw(coordinates(joint)), data.draw(velocities(joint))
    moved = joint.subspace(joint.integrate(q, [c * 1e-6 for c in v]))
    for before, after, rate in zip(
        joint.subspace(q), moved, joint.subspace_rate(q, v), strict=True
    ):
        assert relative_error((vec(after) - vec(before)) / 1e-6, vec(rate)) < 1e-5


@every_joint
@given(st.data())
def test_difference_gives_back_the_velocity_that_was_integrated(kind, data):
    joint = data.draw(JOINTS[kind])
    q, v = data.draw(coordinates(joint)), data.draw(velocities(joint))
    assert relative_error(joint.difference(q, joint.integrate(q, v)), v) < EXACT


@every_joint
@given(st.data())
def test_integrating_the_difference_leads_to_the_same_place(kind, data):
    joint = data.draw(JOINTS[kind])
    q0, q1 = data.draw(coordinates(joint)), data.draw(coordinates(joint))
    reached = joint.integrate(q0, joint.difference(q0, q1))
    # the place, not the coordinates: a quaternion and its negative are one
    assert relative_error(joint.transform(reached).matrix(), joint.transform(q1).matrix()) < EXACT


@every_joint
@given(st.data())
def test_integrating_no_velocity_stays(kind, data):
    joint = data.draw(JOINTS[kind])
    q = data.draw(coordinates(joint))
    assert relative_error(joint.integrate(q, [0.0] * joint.nv), q) < EXACT
    assert relative_error(joint.difference(q, q), [0.0] * joint.nv) < EXACT


@every_joint
@given(st.data())
def test_a_displacement_is_the_slope_of_half_its_square(kind, data):
    joint = data.draw(JOINTS[kind])
    rest, q = data.draw(coordinates(joint)), data.draw(coordinates(joint))
    d = joint.displacement(rest, q)
    assert len(d) == joint.nv
    h = 1e-30
    for k, entry in enumerate(d):
        step = [complex(0.0, h) if i == k else 0j for i in range(joint.nv)]
        moved = joint.displacement(rest, joint.integrate(q, step))
        slope = sum(complex(x) * x for x in moved).imag / (2 * h)
        assert relative_error([slope], [entry]) < EXACT


@every_joint
@given(st.data())
def test_a_displacement_vanishes_where_the_spring_rests_and_only_there(kind, data):
    joint = data.draw(JOINTS[kind])
    rest, q = data.draw(coordinates(joint)), data.draw(coordinates(joint))
    assert relative_error(joint.displacement(rest, rest), [0.0] * joint.nv) < EXACT
    apart = np.array(joint.transform(rest).matrix()) - np.array(joint.transform(q).matrix())
    assert np.abs(joint.displacement(rest, q)).max() > 0.1 * np.abs(apart).max() - EXACT


def test_a_floating_displacement_is_apart_in_position_and_orientation():
    # half a turn about z, and one metre along the world's y: along -y of the body
    d = Floating().displacement(Floating().neutral(), [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1e-12])
    assert relative_error(d, [0.0, -1.0, 0.0, 0.0, 0.0, math.pi]) < 1e-11


@every_joint
@given(st.data())
def test_the_neutral_coordinates_give_the_identity(kind, data):
    joint = data.draw(JOINTS[kind])
    assert len(joint.neutral()) == joint.nq
    X = joint.transform(joint.neutral())
    if kind == "moved":  # there and back again
        assert relative_error(X.matrix(), Transform.identity().matrix()) < EXACT
    else:
        assert Transform.identity() == X


@every_joint
@given(st.data())
def test_a_transform_is_a_rotation_and_a_point(kind, data):
    joint = data.draw(JOINTS[kind])
    R = joint.transform(data.draw(coordinates(joint))).rotation
    assert relative_error(leaves(R @ R.T), leaves(Rotation.identity())) < EXACT


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
def test_euler_angles_turn_about_carried_axes(sequence):
    angles = (0.3, -0.7, 1.1)
    expected = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        axis = Vector3(*(1.0 if letter == name else 0.0 for name in "xyz"))
        expected = expected @ np.array([list(r) for r in Rotation.about(axis, angle).rows])
    turned = euler(sequence).transform(angles).rotation
    assert relative_error([list(r) for r in turned.rows], expected) < EXACT


def test_a_sequence_that_turns_twice_about_one_axis_is_refused():
    with pytest.raises(ValueError, match="'xxy' is no sequence of Euler angles: valid are xyx"):
        euler("xxy")


@given(st.data())
def test_the_exponential_map_agrees_with_the_quaternion_it_stands_for(data):
    r = Vector3(*data.draw(velocities(Ball())))
    quat = Ball().integrate(Ball().neutral(), list(r))
    X, Y = ExponentialBall().transform(list(r)), Ball().transform(quat)
    assert relative_error(X.matrix(), Y.matrix()) < EXACT


def test_a_joint_given_only_by_its_transform_is_the_joint_it_imitates():
    axis = Vector3(0.6, 0.0, 0.8)
    real, imitation = Screw(axis, 0.2), Custom(Screw(axis, 0.2).transform, 1)
    assert relative_error(vec(imitation.subspace([0.7])[0]), vec(real.subspace([0.7])[0])) < EXACT
    assert relative_error(vec(imitation.subspace_rate([0.7], [2.0])[0]), np.zeros(6)) < EXACT


def test_a_quaternion_stays_of_length_one_over_many_steps():
    joint, q = Floating(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    for _ in range(1000):
        q = joint.integrate(q, [0.1, 0.0, 0.0, 0.3, -0.2, 0.1])
    assert abs(sum(c * c for c in q[3:]) - 1.0) < EXACT


def test_a_floating_velocity_is_in_the_bodys_own_frame():
    # turned a quarter about z, the body's x points along the world's y
    quarter = [0.0, 0.0, 0.0, 0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]
    moved = Floating().integrate(quarter, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert relative_error(moved[:3], [0.0, 1.0, 0.0]) < EXACT


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
@pytest.mark.parametrize("kind", ON_AN_AXIS)
def test_samples_are_within_the_limits_and_fill_them(kind, batch):
    joint = {"revolute": Revolute, "prismatic": Prismatic}[kind](Vector3(0.0, 0.0, 1.0))
    rng = np.random.default_rng(0)
    lower, upper = np.array([-0.5]), np.array([2.0])
    sample = joint.sample(rng, batch, lower, upper)
    assert sample.shape == (*batch, 1)
    many = joint.sample(rng, (1000,), lower, upper)
    assert many.min() >= -0.5
    assert many.max() <= 2.0
    assert many.max() - many.min() > 2.4


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_samples_of_a_floating_joint_are_in_the_box_with_unit_quaternions(batch):
    rng = np.random.default_rng(0)
    lower = np.array([-1.0, 0.0, 2.0, *[-1.0] * 4])
    upper = np.array([1.0, 0.5, 3.0, *[1.0] * 4])
    assert Floating().sample(rng, batch, lower, upper).shape == (*batch, 7)
    many = Floating().sample(rng, (1000,), lower, upper)
    assert (many[:, :3] >= lower[:3]).all()
    assert (many[:, :3] <= upper[:3]).all()
    assert (np.ptp(many[:, :3], axis=0) > 0.95 * (upper - lower)[:3]).all()
    assert np.abs(np.linalg.norm(many[:, 3:], axis=1) - 1.0).max() < EXACT
    # of every direction alike: no mean, and the same spread along each
    assert np.abs(many[:, 3:].mean(axis=0)).max() < 0.1
    assert np.abs((many[:, 3:] ** 2).mean(axis=0) - 0.25).max() < 0.05


@every_joint
@given(st.data(), inertias())
def test_the_lumped_inertia_gets_no_momentum_from_the_joint(kind, data, inertia):
    joint = data.draw(JOINTS[kind])
    part = joint.lumped(inertia)
    for axis in joint.subspace(data.draw(coordinates(joint))):
        assert relative_error(vec(part @ axis), np.zeros(6)) < EXACT


@every_joint
@given(st.data(), inertias())
def test_the_lumped_inertia_is_unchanged_by_the_joints_motion(kind, data, inertia):
    joint = data.draw(JOINTS[kind])
    part = joint.lumped(inertia)
    moved = joint.transform(data.draw(coordinates(joint))).to_parent(part)
    assert relative_error(dense_inertia(moved), dense_inertia(part)) < EXACT


@given(directions(), inertias())
def test_a_revolute_joint_lumps_all_mass_and_a_prismatic_one_all_rotational_inertia(axis, inertia):
    assert Revolute(axis).lumped(inertia).mass == inertia.mass
    assert Prismatic(axis).lumped(inertia).rotational == inertia.rotational
    assert Floating().lumped(inertia) == Inertia.zero()


@given(directions(), numbers(-3.0, 3.0))
def test_joints_on_an_axis_turn_about_it_and_slide_along_it(axis, value):
    assert Revolute(axis).transform([value]) == Transform(
        Rotation.about(axis, value), Vector3.zero()
    )
    assert Prismatic(axis).transform([value]) == Transform(Rotation.identity(), axis * value)
    assert Revolute(axis).subspace([value]) == (Twist(Vector3.zero(), axis),)
    assert Prismatic(axis).subspace([value]) == (Twist(axis, Vector3.zero()),)


@pytest.mark.parametrize("joint", [Revolute("x"), Prismatic("y"), Floating()])
def test_joints_cannot_be_changed(joint):
    with pytest.raises(FrozenInstanceError):
        joint.axis = Vector3(1.0, 0.0, 0.0)


# names of coordinates


@every_joint
@given(st.data())
def test_every_coordinate_and_velocity_has_a_name_of_its_own_and_a_unit(kind, data):
    joint = data.draw(JOINTS[kind])
    for labels, count in (
        (joint.coordinate_labels(), joint.nq),
        (joint.velocity_labels(), joint.nv),
    ):
        assert len({label.name for label in labels}) == len(labels) == count
    assert {label.unit for label in joint.velocity_labels()} <= {"rad/s", "m/s"}
    if joint.nq == joint.nv:
        rates = [f"{label.unit}/s" for label in joint.coordinate_labels()]
        assert [label.unit for label in joint.velocity_labels()] == rates


@pytest.mark.parametrize(
    ("joint", "coordinates", "velocities"),
    [
        (Revolute("x"), "angle", "rate"),
        (Prismatic("x"), "distance", "speed"),
        (Ball(), "qx qy qz qw", "wx wy wz"),
        (Floating(), "x y z qx qy qz qw", "vx vy vz wx wy wz"),
        (planar(), "x y angle", "vx vy rate"),
        (cylindrical("z"), "angle distance", "rate speed"),
        (universal("x", "y"), "angle1 angle2", "rate1 rate2"),
        (free_motion(ExponentialBall()), "x y z rx ry rz", "vx vy vz rx_rate ry_rate rz_rate"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Joint) else "",
)
def test_coordinates_are_called_what_they_are(joint, coordinates, velocities):
    assert [label.name for label in joint.coordinate_labels()] == coordinates.split()
    assert [label.name for label in joint.velocity_labels()] == velocities.split()


# a joint that only this file knows


@dataclass(frozen=True)
class Cam(Joint):
    """A carriage that turns and rises as it is pushed, and tilts."""

    radius: float
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    def transform(self, q):
        turn = Rotation.about(Vector3(0, 0, 1), q[0])
        place = Vector3(sin(q[0]) * self.radius, (1 - cos(q[0])) * self.radius, q[1] * 0.2)
        return Transform(turn @ Rotation.about(Vector3(1, 0, 0), q[1]), place)


def solid(mass):
    about = Symmetric3(0.2, 0.3, 0.4, 0.01, 0.02, 0.03)
    return Inertia.about_center(mass, Vector3(0.1, 0.2, 0.3), about)


def with_a_cam(kind=Cam):
    """An arm of slanted axes with a joint nobody has a file for, with a spring, in its middle."""
    place = Transform(Rotation.rpy(0.3, -0.5, 0.7), Vector3(0.2, 0.1, 0.4))
    drive = Drive(armature=0.1, damping=0.2, stiffness=3.0, rest=(0.1, -0.2))
    assembly = kt.Assembly("odd", "base", solid(1.0))
    assembly.add("upper", "base", Revolute((0.6, 0.0, 0.8)), place, solid(2.0), name="shoulder")
    assembly.add("carriage", "upper", kind(0.3), place, solid(3.0), name="cam", drive=drive)
    assembly.add("hand", "carriage", Revolute((0.0, 0.6, 0.8)), place, solid(1.5), name="wrist")
    return assembly.robot("fixed")


STATE = [0.3, -0.4, 0.5, 0.2], [0.5, 1.0, -0.7, 0.3], [1.0, -2.0, 0.4, 0.9]


@pytest.mark.parametrize("preparation", Preparation)
def test_a_joint_that_is_defined_elsewhere_is_prepared_like_any_other(preparation):
    model = with_a_cam().model
    same = prepared(model, preparation)
    assert relative_error(rnea(same, *STATE), rnea(model, *STATE)) < EXACT
    assert same.bodies[1].joint == Cam(0.3)


def test_a_joint_that_is_defined_elsewhere_moves_with_the_energy_of_its_bodies():
    robot = with_a_cam()
    q, v, _ = map(np.array, STATE)
    h = 1e-6
    poses, ahead, behind = (robot.poses(x) for x in (q, q + h * v, q - h * v))
    energy = 0.5 * 0.1 * (v[1] ** 2 + v[2] ** 2)  # of the rotors
    for body, X, rate in zip(robot.model.bodies, poses, (ahead - behind) / (2 * h), strict=True):
        twist = np.linalg.inv(X) @ rate
        w = Vector3(twist[2, 1], twist[0, 2], twist[1, 0])
        V = Twist(Vector3(*twist[:3, 3]), w)
        energy += 0.5 * V.dot(body.inertia @ V)
    assert relative_error(robot.kinetic_energy(q, v), energy) < 1e-8
    assert relative_error(v @ robot.mass_matrix(q) @ v / 2, energy) < 1e-8
    gradient = [
        (robot.potential_energy(q + h * e) - robot.potential_energy(q - h * e)) / (2 * h)
        for e in np.eye(4)
    ]
    assert relative_error(robot.gravity_forces(q), gradient) < 1e-8
    springs = np.array([0.0, 3.0 * (q[1] - 0.1), 3.0 * (q[2] + 0.2), 0.0])
    weight = robot.without("springs").gravity_forces(q)
    assert relative_error(weight + springs, gradient) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rnea", "liu-jain", "balafoutis-patel"])
def test_a_joint_that_is_defined_elsewhere_has_dynamics_and_derivatives(method):
    robot = with_a_cam()
    q, v, a = map(np.array, STATE)
    tau = robot.inverse_dynamics(q, v, a, method=method)
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-12
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a)
    h = 1e-6
    for k, e in enumerate(np.eye(4) * h):
        for matrix, steps in ((by_q, (e, 0, 0)), (by_v, (0, e, 0)), (M, (0, 0, e))):
            ahead, behind = (
                robot.inverse_dynamics(q + s * steps[0], v + s * steps[1], a + s * steps[2])
                for s in (1, -1)
            )
            assert relative_error(matrix[:, k], (ahead - behind) / (2 * h)) < 1e-7


def test_a_joint_that_is_defined_elsewhere_can_be_edited():
    robot = with_a_cam()
    q = np.array(STATE[0])
    between = np.linalg.inv(robot.pose(q, "base")) @ robot.pose(q, "hand")
    back = robot.edit.reroot("hand")
    at = dict(zip(robot.labels.q, q, strict=True))
    p = [at[name] for name in back.labels.q]
    turned_round = np.linalg.inv(back.pose(p, "base")) @ back.pose(p, "hand")
    assert relative_error(turned_round, between) < EXACT
    locked = robot.edit.lock({"cam": [-0.4, 0.5]})
    assert relative_error(locked.pose([0.3, 0.2], "hand"), robot.pose(q, "hand")) < EXACT
    assert robot.edit.rechart("zyx").model == robot.model
    two = robot.edit.attach(with_a_cam(), "hand", prefix="second_")
    assert two.nv == 8
    assert robot.edit.subtree("carriage").nv == 1
    assert robot.random(1, 5).shape == (5, 4)
    assert not robot.problems()


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_a_joint_that_no_format_has_is_refused_by_name(ending, tmp_path):
    with pytest.raises(ModelError, match=r"joint 'cam' is a Cam, which .* does not have"):
        with_a_cam().save(tmp_path / f"odd.{ending}")


def test_a_joint_that_is_defined_elsewhere_has_names_for_its_coordinates():
    robot = with_a_cam()
    assert robot.labels.q == ("shoulder", "cam.q1", "cam.q2", "wrist")
    assert robot.labels.v == ("shoulder", "cam.v1", "cam.v2", "wrist")
    assert robot.labels.q_units == ("rad", "rad", "rad", "rad")


def test_joints_of_one_name_and_other_code_are_told_apart():
    @dataclass(frozen=True)
    class Other(Cam):
        pass

    Other.__name__ = "Cam"
    assert with_a_cam(Other).model.digest != with_a_cam().model.digest
    assert with_a_cam().model.digest == with_a_cam().model.digest


def test_a_joint_that_is_no_dataclass_is_refused():
    class Loose(Joint):
        nq = nv = 1

        def __init__(self, radius):
            self.radius = radius

        def transform(self, q):
            return Transform(Rotation.identity(), Vector3(q[0] * self.radius, 0, 0))

    with pytest.raises(ModelError, match=r"joint 'cam' is a Loose, which is not a dataclass"):
        with_a_cam(Loose)
