"""The springs of joints on random trees of every joint type: energy, forces, what they enter."""

from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.blocks import stiffness_matrix
from kinetree.algorithms.drives import spring_energy, spring_forces
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.edit import without
from kinetree.model.joints import Ball, Floating, Mimic, Offset, Prismatic, Revolute
from kinetree.model.model import Drive
from kinetree.model.prepare.regroup import regroup
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.algorithms.test_derivatives import slopes, worst
from tests.algorithms.test_identities import SEEDS, forward, state
from tests.algorithms.test_kinematics import along, imaginary
from tests.random_models import models, regular_models
from tests.tolerances import EXACT, relative_error, solved

SOLID = Inertia.about_center(2.0, Vector3(0.1, 0.2, 0.3), Symmetric3(0.2, 0.3, 0.4, 0.0, 0.0, 0.0))
THERE = Transform(Rotation.rpy(0.3, -0.2, 0.7), Vector3(0.1, -0.4, 0.2))
SLANTED = Vector3(0.6, 0.0, 0.8)


def energy(model, q):
    """Of each joint's spring, in the joint's own coordinates, as MuJoCo defines them."""
    total = 0.0
    for body, at in zip(model.bodies, model.q_slices, strict=True):
        joint, own, moves = body.joint, q[at], True
        if isinstance(joint, Mimic):
            moves = body.drive.stiffness * joint.multiplier**2 != 0.0
            joint, own = joint.joint, [joint.multiplier * own[0] + joint.offset]
        rest = body.drive.rest or joint.neutral()
        if moves:  # else its energy does not change, and is left out
            total += 0.5 * body.drive.stiffness * sum(d * d for d in joint.displacement(rest, own))
    return total


def tree(*drives, ratio=1.0, offset=0.0, joint=None):
    """Joints in a row on slanted axes, the second following the first."""
    joint = joint or Revolute(SLANTED)
    links = [Link(f"l{i}", SOLID) for i in range(len(drives) + 1)]
    copied = [None, Mimicry("j0", ratio, offset), *[None] * len(drives)]
    connections = [
        Connection(f"j{i}", f"l{i}", f"l{i + 1}", THERE, joint, drive=drive, mimicry=copied[i])
        for i, drive in enumerate(drives)
    ]
    return assemble(Description("tree", links, connections))


# energy and forces


@given(models(), SEEDS)
def test_the_energy_of_a_spring_is_half_its_stiffness_times_its_displacement_squared(model, seed):
    q, _, _ = state(model, seed)
    assert relative_error([spring_energy(model, q)], [energy(model, q)]) < EXACT
    bare = without(model, "springs")
    both, weight = (algorithms.potential_energy(m, q) for m in (model, bare))
    assert relative_error([both - weight], [energy(model, q)]) < EXACT * max(1.0, abs(both))


@pytest.mark.parametrize("ratio", [0.0, 1e-200, 1e-3])
def test_a_spring_that_its_mimic_joint_hardly_moves_has_its_energy_or_none(ratio):
    model = tree(Drive(stiffness=1.0), Drive(stiffness=1.0), ratio=ratio, offset=1.0)
    assert spring_energy(model, [0.3]) == pytest.approx(energy(model, [0.3]), rel=EXACT)


@given(models(), SEEDS)
def test_spring_forces_are_the_slope_of_the_energy(model, seed):
    q, v, _ = state(model, seed)
    power = imaginary([energy(model, along(model, q, v))])
    forces = np.array(spring_forces(model, q))
    assert abs(power[0] - forces @ v) < EXACT * (np.abs(forces) @ np.abs(v) + 1.0)


@given(models(), SEEDS)
def test_the_stiffness_matrix_is_the_derivative_of_the_forces(model, seed):
    q, _, _ = state(model, seed)
    assert worst([stiffness_matrix(model, q)], slopes(model, spring_forces, q)) < EXACT


@pytest.mark.slow
@given(models(), SEEDS)
def test_springs_add_to_joint_forces_what_holds_them_and_to_nothing_else(model, seed):
    q, v, a = state(model, seed)
    bare, forces = without(model, "springs"), np.array(spring_forces(model, q))
    assert not any(body.drive.stiffness for body in bare.bodies)
    for way in (algorithms.rnea, algorithms.liu_jain, algorithms.balafoutis_patel):
        with_them, alone = (np.array(way(m, q, v, a)) for m in (model, bare))
        assert relative_error(with_them - alone, forces) < EXACT * max(1.0, np.abs(alone).max())
        c, c_bare = (algorithms.coriolis_forces(way)(m, q, v) for m in (model, bare))
        assert c == c_bare
    assert algorithms.crba(model, q) == algorithms.crba(bare, q)
    masses = [algorithms.mass_by_unit_accelerations(m, q) for m in (model, bare)]
    assert masses[0] == masses[1]


@pytest.mark.slow
@given(regular_models(), SEEDS)
def test_a_spring_accelerates_as_the_force_that_holds_it_would_the_other_way(model, seed):
    q, v, tau = state(model, seed)
    forces = np.array(spring_forces(model, q))
    found = forward(model, q, v, tau)
    expected = forward(without(model, "springs"), q, v, (tau - forces).tolist())
    tolerance = solved(algorithms.crba(model, q), np.abs(tau) + np.abs(forces) + 100.0)
    assert relative_error(found, expected) < tolerance


# joints that follow others


@pytest.mark.parametrize("ratio", [-1.5, 0.0, 1e-3, 1e-170, 2.0])
@pytest.mark.parametrize("joint", [Revolute(SLANTED), Prismatic(SLANTED)])
def test_a_follower_s_spring_is_felt_by_its_leader(joint, ratio):
    own, k, rest = Drive(stiffness=2.0, rest=(-0.4,)), 3.0, 0.7
    model = tree(own, Drive(stiffness=k, rest=(rest,)), ratio=ratio, offset=0.1, joint=joint)
    for q in (-0.3, 0.0, 1.1):
        (force,) = spring_forces(model, [q])
        expected = 2.0 * (q + 0.4) + k * ratio * (ratio * q + 0.1 - rest)
        assert force == pytest.approx(expected, rel=1e-14)


def test_nothing_that_is_zero_becomes_anything_else_by_a_large_ratio():
    (_, felt) = tree(Drive(), Drive(), ratio=1e200).drives
    assert felt == Drive()


def test_frames_turned_about_a_joint_s_axis_leave_its_spring_relaxed_where_it_was():
    # regrouping adds an angle to joints between slanted axes, those of followers too
    drives = (Drive(stiffness=2.0), Drive(stiffness=3.0, rest=(0.7,)), Drive(stiffness=4.0))
    model = tree(*drives, ratio=-1.5, offset=0.1)
    regrouped = regroup(model)
    leader, follower, last = (body.joint for body in regrouped.bodies)
    assert all(isinstance(joint, Offset) for joint in (leader, follower.joint, last))
    q = [0.3, -0.8]
    assert relative_error(spring_forces(regrouped, q), spring_forces(model, q)) < EXACT


# compiled


@pytest.mark.slow
def test_a_compiled_robot_has_its_springs_in_every_quantity():
    links = [Link(name, SOLID) for name in ("trunk", "upper", "lower", "hand")]
    turned = tuple(Ball().integrate(Ball().neutral(), [0.4, -0.3, 0.2]))
    connections = [
        Connection("shoulder", "trunk", "upper", THERE, Ball(), drive=Drive(0, 0, 0, 5.0, turned)),
        Connection("elbow", "upper", "lower", THERE, Revolute(SLANTED), drive=Drive(0, 0, 0, 7.0)),
        Connection("wrist", "lower", "hand", THERE, Revolute(SLANTED)),
    ]
    model = assemble(Description("puppet", links, connections), base="floating")
    held = replace(model.bodies[0], drive=Drive(stiffness=9.0, rest=(0.1, 0.2, 0.3, *turned)))
    assert isinstance(held.joint, Floating)
    robot = kt.Robot(replace(model, bodies=(held, *model.bodies[1:])))
    bare = robot.without("springs")
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
    forces = np.array(spring_forces(robot.model, q.tolist()))
    assert (forces[:10] != 0.0).all()
    assert forces[10] == 0.0

    def change(quantity, *arguments):
        call = attrgetter(quantity)
        return call(robot)(*arguments) - call(bare)(*arguments)

    for quantity, *arguments in (
        ("inverse_dynamics", q, v, a),
        ("bias_forces", q, v),
        ("gravity_forces", q),
        ("coriolis.passivity_forces", q, v, v, a),
    ):
        assert relative_error(change(quantity, *arguments), forces) < EXACT * 10, quantity
    assert change("potential_energy", q) == pytest.approx(spring_energy(robot.model, q.tolist()))
    assert not change("coriolis_forces", q, v).any()
    zero = np.zeros(robot.nv)
    _, rate = robot.coriolis.momentum_observer(q, v, zero, zero)
    assert (
        relative_error(rate - bare.coriolis.momentum_observer(q, v, zero, zero)[1], -forces)
        < EXACT * 10
    )
    tau = robot.inverse_dynamics(q, v, a)
    found_a, found_tau = robot.hybrid_dynamics(q, v, a, tau, ["shoulder", "wrist"])
    assert relative_error(found_a, a) < EXACT * 100
    assert relative_error(found_tau, tau) < EXACT * 100

    K = np.array(stiffness_matrix(robot.model, q.tolist()))
    for method in ("analytic", "balafoutis-patel", "graph"):
        dq, *others = robot.inverse_dynamics_derivatives(q, v, a, method=method)
        bare_dq, *bare_others = bare.inverse_dynamics_derivatives(q, v, a, method=method)
        assert relative_error(dq - bare_dq, K) < EXACT * 100, method
        assert worst(others, bare_others) < EXACT * 100
    assert relative_error(change("derivatives.gravity_forces", q), K) < EXACT * 100
    analytic = robot.forward_dynamics_derivatives(q, v, tau, method="analytic")
    graph = robot.forward_dynamics_derivatives(q, v, tau, method="graph")
    assert worst(analytic, graph) < 1e-10
