"""Quaternions of any length: every quantity is that of the unit quaternion, and zero is NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.constraints import HeldFrame
from kinetree.equipment import (
    Actuator,
    Affine,
    Filter,
    Place,
    Sensor,
    SpatialTendon,
    TendonTransmission,
    Via,
    motor,
)
from kinetree.errors import StateError
from kinetree.geometry import Box, Capsule, Collider, ContactPair
from kinetree.model.joints import Ball, Prismatic, Relocated
from kinetree.quantities import QUANTITIES
from kinetree.quantities.row import Kind
from kinetree.robots.building import box, rod
from kinetree.spatial import Rotation, Transform, Vector3
from tests.algorithms.test_identities import SEEDS, state
from tests.marks import slow_if
from tests.mixed_robots import interpreted
from tests.random_models import models
from tests.spatial.dense import leaves
from tests.tolerances import EXACT, relative_error

ASIDE = Transform(Rotation.rpy(0.3, -0.2, 0.5), Vector3(0.1, 0.2, 0.3))
QUATERNIONS = (slice(3, 7), slice(7, 11), slice(12, 16))
LENGTHS = (2.5, 0.01, 1e6)


def mechanism() -> kt.Robot:
    """A floating base, a ball, a slide, and a ball that is not at its body's origin."""
    assembly = kt.Assembly("mechanism", "base", box(2.0, 0.3, 0.2, 0.1))
    assembly.add("arm", "base", Ball(), ASIDE, rod(1.0, 0.05, 0.4))
    assembly.add("slide", "arm", Prismatic("x"), ASIDE, box(0.5, 0.1, 0.2, 0.1))
    assembly.add("hand", "slide", Relocated(Ball(), ASIDE), ASIDE, rod(0.4, 0.05, 0.2))
    return assembly.robot("floating")


ROBOT = mechanism()
HELD = ROBOT.constrain(HeldFrame("grip", "hand", at_base=(0.5, 0.0, 0.2)))
TOUCHING = ROBOT.collide(
    Collider("fist", "hand", Capsule(0.05, 0.1)),
    Collider("wall", None, Box((0.1, 0.2, 0.3)), (1.0, 0.2, 0.3)),
    ContactPair("fist", "wall"),
)

EQUIPPED = ROBOT.edit.equip(
    SpatialTendon(name="string", path=(Via("base"), Via("hand")), stiffness=1.5, damping=0.4),
    motor("motor", "slide_joint", 3.0),
    Actuator(
        name="winch",
        transmission=TendonTransmission("string", -2.0),
        gain=Affine(1.0, 0.2, 0.1),
        activation=Filter(0.1),
    ),
    Sensor(name="imu", kind="accelerometer", place=Place("hand")),
    Sensor(name="stretch", kind="tendonpos", of="string"),
)


def robot_of(row):
    """A robot that has what a quantity needs."""
    if row.equipped:
        return EQUIPPED
    return HELD if row.constrained else TOUCHING if row.touching else ROBOT


def stretched(q, lengths=LENGTHS):
    """The same configurations, their quaternions of other lengths."""
    other = np.array(q, float)
    for at, length in zip(QUATERNIONS, lengths, strict=True):
        other[..., at] *= length
    return other


def arguments(row, seed=0):
    """Random arguments of a quantity, and the same with other quaternions."""
    rng = np.random.default_rng(seed)
    given, other = [], []
    for _, kind in row.arguments:
        configuration = kind is Kind.CONFIGURATION
        shape = kind.shape(EQUIPPED.model if row.equipped else HELD.model)
        x = HELD.random(rng) if configuration else rng.standard_normal(shape)
        x = np.abs(x) if kind in (Kind.RATIO, Kind.WEIGHT) else x
        x = 0.01 if kind is Kind.TIME else x  # implicit steps of a second have no answer
        given.append(x)
        other.append(stretched(x) if configuration else x)
    return given, other


def settings(row):
    known = {"frame": "hand", "accelerated": ("slide_joint",), "actuated": ROBOT.joints[1:]}
    return {name: known[name] for name in row.settings if name in known}


# rates of coordinates grow with the quaternion; the last is for robots without any
OTHERS = {"coordinate_rates", "velocity_of_rates", "chart_volumes", "coriolis_by_energy"}
TESTED = sorted(QUANTITIES.keys() - OTHERS)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", slow_if(lambda name: "derivatives" in name, TESTED))
def test_a_quantity_is_that_of_the_unit_quaternion(quantity):
    row = QUANTITIES[quantity]
    given, other = arguments(row)
    for method in row.methods:
        kernel = robot_of(row).kernel(quantity, method, **settings(row))
        for a, b in zip(interpreted(kernel, given), interpreted(kernel, other), strict=True):
            assert relative_error(b, a) < 100 * EXACT, method


@pytest.mark.slow
@pytest.mark.parametrize("wrt", ["q", "v"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "velocities", "poses"])
def test_derivatives_of_kernels_are_those_of_the_unit_quaternion(quantity, wrt):
    kernel, row = ROBOT.kernel(quantity), QUANTITIES[quantity]
    if wrt not in dict(row.arguments):
        pytest.skip("there is no such argument")
    given, other = arguments(row)
    for derived in (kernel.jacobian(wrt), kernel.hessian(wrt)):
        for a, b in zip(interpreted(derived, given), interpreted(derived, other), strict=True):
            assert relative_error(b, a) < 100 * EXACT


@given(models(), SEEDS, st.floats(0.1, 10.0))
def test_rates_of_coordinates_keep_the_length_and_move_the_configuration(model, seed, length):
    q, v, _ = state(model, seed)
    longer = list(q)
    for i in model.coordinate_order:
        joint, at = model.bodies[i].joint, model.q_slices[i]
        unit = np.array(joint.normalized(q[at]))
        doubled = np.array(joint.normalized((2.0 * unit).tolist()))
        quaternion = np.isclose(unit, doubled) & (joint.nq != joint.nv)
        longer[at] = np.where(quaternion, length * unit, unit).tolist()
    h = 1e-6
    ends = []
    for sign in (1.0, -1.0):
        rates = algorithms.coordinate_rates(model, longer, v)
        moved = [x + sign * h * rate for x, rate in zip(longer, rates, strict=True)]
        expected = algorithms.integrate(model, longer, [sign * h * x for x in v])
        ends.append([leaves(X) for m in (moved, expected) for X in algorithms.poses(model, m)])
    slopes = (np.array(ends[0]) - np.array(ends[1])) / (2 * h)
    half = len(model.bodies)
    assert relative_error(slopes[:half], slopes[half:]) < 1e-7


# zero


def with_zero(at):
    q = ROBOT.random(0, 3)
    q[1, at] = 0.0
    return q


@pytest.mark.slow
@pytest.mark.parametrize("at", QUATERNIONS)
def test_a_zero_quaternion_is_nan_in_its_own_state(at):
    q = with_zero(at)
    v = np.ones(ROBOT.nv)
    with np.errstate(all="ignore"):
        for call in (
            ROBOT.poses,
            ROBOT.gravity_forces,
            lambda q: ROBOT.inverse_dynamics(q, v, v),
            lambda q: ROBOT.forward_dynamics(q, v, v),
            lambda q: ROBOT.integrate(q, v),
            lambda q: ROBOT.difference(q, ROBOT.random(1)),
            lambda q: ROBOT.difference(ROBOT.random(1), q),
            lambda q: ROBOT.charts.coordinate_rates(q, v),
            lambda q: ROBOT.jacobian(q, "hand"),
            lambda q: ROBOT.center_of_mass(q),
            lambda q: ROBOT.inverse_dynamics_derivatives(q, v, v)[0],
        ):
            found = call(q).reshape(3, -1)
            assert np.isnan(found[1]).any()
            assert np.isfinite(found[[0, 2]]).all()


def test_normalizing_gives_unit_quaternions_and_changes_nothing_else():
    q = stretched(ROBOT.random(0, (2, 3)))
    unit = ROBOT.normalize(q)
    for at in QUATERNIONS:
        assert np.linalg.norm(unit[..., at], axis=-1) == pytest.approx(np.ones((2, 3)))
    others = [0, 1, 2, 11]
    assert (unit[..., others] == q[..., others]).all()
    assert relative_error(ROBOT.poses(unit), ROBOT.poses(q)) < EXACT
    arm = kt.robots.arm()
    assert (arm.normalize(arm.random(0, 4)) == arm.random(0, 4)).all()


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_what_has_no_direction_is_named_with_its_joint_and_state(value):
    q = ROBOT.random(0, (2, 3))
    q[1, 2, 7:11] = value
    with np.errstate(all="ignore"):
        with pytest.raises(StateError, match=r"state \(1, 2\): joint 'arm_joint' has the coord"):
            ROBOT.normalize(q)
        with pytest.raises(StateError, match=r"^joint 'arm_joint' has .* nonzero quaternion$"):
            ROBOT.normalize(q[1, 2])
