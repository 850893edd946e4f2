"""Embedded robots against the same mechanisms under constraints."""

from functools import cache

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HeldFrame, KnifeEdge
from kinetree.errors import KinetreeError
from tests.constrained_robots import four_bar
from tests.embedded_robots import MECHANISMS, driven_four_bar
from tests.tolerances import relative_error

STATES = 7
SAME = 1e-10
mechanisms = pytest.mark.parametrize("name", MECHANISMS)


@cache
def embedded(name):
    make, independent = MECHANISMS[name]
    robot, at = make()
    found = robot.constraints.embed(independent, at=at)
    assert list(found.independent) == independent
    return found


def states(robot, seed=1):
    rng = np.random.default_rng(seed)
    y = 0.9 * robot.random(rng, STATES)
    return y, rng.standard_normal((STATES, robot.nv)), rng.standard_normal((STATES, robot.nv))


def velocity_map(e, y):
    """A: the velocities of all joints for each unit velocity, (states, all, independent)."""
    units = np.eye(e.robot.nv)
    return np.stack([e.full_velocity(y, np.broadcast_to(u, y.shape)) for u in units], axis=-1)


def differences(function, x, h=1e-6):
    """Derivatives by central differences along each coordinate, on the last axis."""
    steps = np.eye(x.shape[-1]) * h
    return np.stack([(function(x + s) - function(x - s)) / (2 * h) for s in steps], axis=-1)


@mechanisms
def test_accelerations_are_those_under_constraints(name):
    e = embedded(name)
    y, yd, tau = states(e.robot)
    q, v = e.full(y), e.full_velocity(y, yd)
    assert np.abs(e.original.constraints.errors(q)).max() < 1e-13
    np.testing.assert_allclose(e.reduced(q), y)
    np.testing.assert_allclose(e.reduced_velocity(v), yd)
    forces = np.zeros((STATES, e.original.nv))
    at = [e.original.labels.v.index(x) for x in e.robot.labels.v]
    forces[:, at] = tau
    a, _, _ = e.original.constraints.forward_dynamics(q, v, forces)
    found = e.robot.forward_dynamics(y, yd, tau)
    assert relative_error(found, a[:, at]) < SAME
    assert relative_error(e.robot.inverse_dynamics(y, yd, found), tau) < SAME


@mechanisms
def test_positions_velocities_energies_and_inertia_are_those_of_all_joints(name):
    e = embedded(name)
    y, yd, _ = states(e.robot)
    q, v, A = e.full(y), e.full_velocity(y, yd), velocity_map(e, y)
    np.testing.assert_allclose(A, differences(e.full, y), atol=1e-8)
    M = np.swapaxes(A, -1, -2) @ e.original.mass_matrix(q) @ A
    assert relative_error(e.robot.mass_matrix(y), M) < SAME
    for body in e.original.bodies:
        assert relative_error(e.robot.pose(y, body), e.original.pose(q, body)) < SAME
    for energy in ("kinetic_energy", "potential_energy"):
        args = (y, yd) if energy == "kinetic_energy" else (y,)
        full = (q, v) if energy == "kinetic_energy" else (q,)
        found = getattr(e.robot, energy)(*args)
        assert relative_error(found, getattr(e.original, energy)(*full)) < SAME


@pytest.mark.slow
@mechanisms
def test_coriolis_matrices_regressors_and_derivatives_agree_with_their_definitions(name):
    e = embedded(name)
    robot = e.robot
    y, yd, a = states(robot)
    C = robot.coriolis_matrix(y, yd)
    rate = np.einsum("nijk,nk->nij", differences(robot.mass_matrix, y), yd)
    np.testing.assert_allclose(C + np.swapaxes(C, -1, -2), rate, atol=1e-6)
    assert relative_error((C @ yd[..., None])[..., 0], robot.coriolis_forces(y, yd)) < SAME
    bare = robot.without("armature", "damping", "friction", "springs")
    Y = bare.regressor(y, yd, a)
    tau = Y @ bare.regressors.parameters
    assert relative_error(tau, bare.inverse_dynamics(y, yd, a)) < SAME
    dq, dv, M = robot.inverse_dynamics_derivatives(y, yd, a)
    wanted = differences(lambda x: robot.inverse_dynamics(x, yd, a), y)
    np.testing.assert_allclose(dq, wanted, atol=1e-7 * (1 + np.abs(wanted).max()))
    wanted = differences(lambda x: robot.inverse_dynamics(y, x, a), yd)
    np.testing.assert_allclose(dv, wanted, atol=1e-7 * (1 + np.abs(wanted).max()))
    assert relative_error(M, robot.mass_matrix(y)) < SAME
    dq, _, _ = robot.forward_dynamics_derivatives(y, yd, a)
    wanted = differences(lambda x: robot.forward_dynamics(x, yd, a), y)
    np.testing.assert_allclose(dq, wanted, atol=1e-6 * (1 + np.abs(wanted).max()))


def test_a_simulation_keeps_its_energy_and_its_loops_closed():
    robot, at = driven_four_bar(drive={"armature": 0.05, "stiffness": 0.7})
    e = robot.without("damping").constraints.embed(["crank_joint"], at=at)
    y, yd = e.reduced(e.original.constraints.assemble(at)), np.array([2.0])
    energy = lambda: e.robot.kinetic_energy(y, yd) + e.robot.potential_energy(y)  # noqa: E731
    before = energy()
    for _ in range(500):
        y, yd = e.robot.step(y, yd, np.zeros(1), 1e-3, method="rk4")
    assert abs(y[0] - at[0]) > 0.5
    assert abs(energy() - before) < 1e-9
    assert np.abs(e.original.constraints.errors(e.full(y))).max() < 1e-13


def test_a_linkage_that_cannot_turn_gets_the_limits_within_which_it_closes():
    robot = four_bar((1.0, 0.9, 0.5, 0.8))
    e = robot.constraints.embed(["crank_joint"], at=[0.5, 1.2, -1.0])
    lower, upper = e.robot.limits.lower[0], e.robot.limits.upper[0]
    # the crank's tip is at most coupler + rocker = 1.3 away from the rocker's pivot
    farthest = np.arccos((1.0 + 0.81 - 1.69) / 1.8)
    assert 0.9 * farthest < max(abs(lower), abs(upper)) < farthest
    y = np.linspace(lower, upper, 50)[:, None]
    assert np.abs(robot.constraints.errors(e.full(y))).max() < 1e-12


def test_loops_with_a_formula_are_solved_by_it():
    stages = {
        name: [
            type(stage).__name__ for stage in embedded(name).robot.model.bodies[-1].joint.map.stages
        ]
        for name in MECHANISMS
    }
    assert stages == {
        "four_bar": ["Triangle"],
        "serial_four_bar": ["Newton"],
        "slider_crank": ["Slider"],
        "ankle": ["Triangle", "Triangle"],
        "gear_train": ["Coupled", "Coupled"],
    }


def test_the_library_prefers_motors_and_joints_near_the_base():
    robot, at = driven_four_bar()
    assert robot.constraints.embed(at=at).independent == ("rocker_joint",)  # it has an armature
    robot, at = driven_four_bar(drive=None)
    assert robot.constraints.embed(at=at).independent == ("crank_joint",)


def test_joints_outside_of_the_loops_may_be_named_as_independent():
    names = ("hip", "knee", "left_motor", "right_motor")
    assert kt.robots.parallel_ankle().constraints.embed(names).independent == names


def test_constraints_that_are_not_embedded_remain():
    robot, at = driven_four_bar(drive=None)
    held = robot.constrain(HeldFrame("stop", "rocker", rows=("x",), anywhere=True))
    e = held.constraints.embed(["crank_joint"], at=at, constraints="pin")
    assert e.robot.constraints.names == ("stop",)


@pytest.mark.parametrize(
    ("independent", "message"),
    [
        (["crank_joint", "rocker_joint"], "has 2 velocities; the constraints leave 1"),
        ([], "has 0 velocities; the constraints leave 1"),
        (["piston"], "no moving joint 'piston'"),
    ],
)
def test_a_wrong_choice_of_independent_joints_is_refused(independent, message):
    robot, at = driven_four_bar(drive=None)
    with pytest.raises(KinetreeError, match=message):
        robot.constraints.embed(independent, at=at)


def test_what_cannot_be_embedded_is_refused_by_name():
    robot, at = driven_four_bar(drive=None)
    with pytest.raises(KinetreeError, match="'blade' forbids velocities"):
        robot.constrain(KnifeEdge("blade", "rocker")).constraints.embed(at=at)
    with pytest.raises(KinetreeError, match="cannot be assembled"):
        four_bar((1.0, 0.1, 0.2, 0.1)).constraints.embed()
    with pytest.raises(KinetreeError, match="no constraints to embed"):
        robot.without("constraints").constraints.embed()
    with pytest.raises(KinetreeError, match="no constraint 'pim'"):
        robot.constraints.embed(at=at, constraints="pim")
    with pytest.raises(KinetreeError, match="follows others as a loop demands"):
        robot.constraints.embed(["crank_joint"], at=at).robot.edit.lock({"crank_joint": 0.1})
