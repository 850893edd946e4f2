"""Derivatives of kernels: right on every chart, cheap, and as well behaved as other kernels."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

import kinetree as kt
from kinetree import algorithms
from kinetree.compiler.graph import interpret
from kinetree.errors import UnknownNameError
from kinetree.model.joints import Ball
from kinetree.quantities import QUANTITIES
from kinetree.quantities.tracing import Tracer
from kinetree.robots.building import X, Z, box
from tests.algorithms.test_identities import SEEDS, state
from tests.algorithms.test_kinematics import STEP, along, imaginary
from tests.random_models import models
from tests.robots.test_robots import ROBOTS
from tests.tolerances import EXACT, SINGLE, relative_error


@cache
def balls():
    """Two bodies on quaternion ball joints: eight coordinates, six velocities."""
    assembly = kt.Assembly("balls", "base", box(1.0, 0.2, 0.2, 0.2))
    assembly.add("upper", "base", Ball(), Z * 0.1, box(2.0, 0.1, 0.2, 0.5, X * 0.1 - Z * 0.2))
    assembly.add("lower", "upper", Ball(), Z * -0.5, box(1.0, 0.2, 0.1, 0.4, X * 0.2 - Z * 0.1))
    return assembly.robot("fixed")


@cache
def chain():
    return kt.robots.chain(3)


arm, quadruped = cache(kt.robots.arm), cache(kt.robots.quadruped)
every_robot = pytest.mark.parametrize("make", [arm, quadruped, chain, balls])


def states(robot, *batch, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, batch), *rng.standard_normal((2, *batch, robot.nv))


def stepped(algorithm, model, arguments, directions):
    """The rates of a result along velocities of q and rates of what else an algorithm takes."""
    (q, *others), (v, *rates) = arguments, directions
    moved = [(np.array(x) + 1j * STEP * d).tolist() for x, d in zip(others, rates, strict=True)]
    return imaginary(algorithm(model, along(model, list(q), v), *moved))


def listed(results):
    return results if isinstance(results, tuple) else (results,)


def names(operands):
    return [name for name, _ in operands]


# values


CASES = [
    (arm, "inverse_dynamics", algorithms.rnea),
    (quadruped, "inverse_dynamics", algorithms.rnea),
    (balls, "inverse_dynamics", algorithms.rnea),
    (chain, "forward_dynamics", algorithms.aba),
    (balls, "forward_dynamics", algorithms.aba),
    (quadruped, "center_of_mass", algorithms.center_of_mass),
    (balls, "kinetic_energy", algorithms.kinetic_energy),
    (balls, "mass_matrix", algorithms.crba),
]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "quantity", "algorithm"), CASES)
def test_derivatives_of_a_kernel_are_those_of_a_complex_step(make, quantity, algorithm):
    robot = make()
    kernel = robot.kernel(quantity)
    arguments = states(robot)[: len(kernel.interface.inputs)]
    rng = np.random.default_rng(1)
    directions = rng.standard_normal((len(arguments), robot.nv))
    weights = rng.standard_normal(kernel.interface.outputs[0][1])
    expected = stepped(algorithm, robot.model, arguments, directions)
    value = kernel(*arguments)
    result, rate = kernel.jvp()(*arguments, *directions)
    assert relative_error(result, value) < EXACT
    assert relative_error(rate, expected) < EXACT

    parts = listed(kernel.jacobian()(*arguments))
    assert [part.shape for part in parts] == [(*np.shape(value), robot.nv)] * len(arguments)
    total = sum(part @ d for part, d in zip(parts, directions, strict=True))
    assert relative_error(total, expected) < EXACT

    gradients = listed(kernel.vjp()(*arguments, weights))
    for gradient, part in zip(gradients, parts, strict=True):
        assert relative_error(gradient, np.tensordot(weights, part, np.ndim(weights))) < EXACT


@pytest.mark.slow
@settings(max_examples=20)
@given(models(max_bodies=3), SEEDS)
def test_derivatives_of_inverse_dynamics_hold_for_every_joint(model, seed):
    kernel = kt.Robot(model).kernel("inverse_dynamics")
    arguments, (w, *directions) = (
        state(model, seed),
        np.random.default_rng(seed).random((4, model.nv)),
    )
    expected = stepped(algorithms.rnea, model, arguments, directions)
    value, rate = interpret(kernel.jvp().program, *arguments, *directions)
    gradients = interpret(kernel.vjp().program, *arguments, w)
    assert relative_error(value, algorithms.rnea(model, *arguments)) < EXACT
    assert relative_error(rate, expected) < EXACT * 10
    assert relative_error(np.vdot(gradients, directions), w @ expected) < EXACT * 10


@pytest.mark.slow
@every_robot
def test_derivatives_of_energies_are_forces_and_momenta_and_theirs_in_turn(make):
    robot = make()
    q, v, _ = states(robot, 4)
    M, weights = robot.mass_matrix(q), np.ones(4)
    force = robot.kernel("potential_energy").vjp()
    assert relative_error(force(q, weights), robot.gravity_forces(q)) < EXACT
    stiffness = force.jacobian("q")(q, weights)
    assert relative_error(stiffness, robot.derivatives.gravity_forces(q)) < EXACT
    momentum = robot.kernel("kinetic_energy").vjp("v")
    assert relative_error(momentum(q, v, weights), np.einsum("nij,nj->ni", M, v)) < EXACT
    assert relative_error(momentum.jacobian("v")(q, v, weights), M) < EXACT


@pytest.mark.slow
@every_robot
def test_the_jacobian_of_inverse_dynamics_is_what_its_own_method_computes(make):
    robot = make()
    arguments = states(robot, 3)
    kernel = robot.kernel("inverse_dynamics").jacobian()
    assert names(kernel.interface.outputs) == ["dtau_dq", "dtau_dv", "dtau_da"]
    expected = robot.inverse_dynamics_derivatives(*arguments)
    for got, part in zip(kernel(*arguments), expected, strict=True):
        assert relative_error(got, part) < EXACT


def test_external_loads_are_arguments_to_differentiate_by():
    robot, point = arm(), kt.Point("tool")
    kernel = robot.kernel("inverse_dynamics", external=("tool", point))
    wrench, force = names(kernel.interface.inputs)[3:]
    assert wrench == "external['tool']"
    assert force == "external[Point(frame='tool')]"
    arguments = (*states(robot), *np.random.default_rng(0).standard_normal((2, 6)))
    arguments[-1][3:] = 0.0  # at the frame's origin
    by_wrench, by_force = kernel.jacobian((wrench, force))(*arguments)
    body, origin = (robot.jacobian(arguments[0], "tool", axes=axes) for axes in ("body", "origin"))
    assert relative_error(by_wrench, -body.T) < EXACT
    assert relative_error(by_force[:, :3], -origin[:3].T) < EXACT
    gradient = kernel.vjp(wrench)(*arguments, np.ones(7))
    assert relative_error(gradient, by_wrench.sum(axis=0)) < EXACT


# calls


def test_a_derivative_broadcasts_as_every_kernel():
    robot = chain()
    arguments, weights = states(robot, 5, 1), np.ones((4, 3))
    kernel = robot.kernel("inverse_dynamics").vjp()
    together = kernel(*arguments, weights)
    assert [x.shape for x in together] == [(5, 4, 3)] * 3
    for i, j in np.ndindex(5, 4):
        alone = kernel(*(x[i, 0] for x in arguments), weights[j])
        for got, expected in zip(alone, together, strict=True):
            assert (got == expected[i, j]).all()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["jvp", "vjp", "jacobian"])
def test_a_derivative_in_single_precision_stays_there(way):
    kernel = getattr(balls().kernel("inverse_dynamics"), way)()
    rng = np.random.default_rng(0)
    arrays = [balls().random(rng, 9)]
    arrays += [rng.standard_normal((9, *shape)) for _, shape in kernel.interface.inputs[1:]]
    arrays = [x.astype(np.float32) for x in arrays]
    exact = kernel(*(x.astype(np.float64) for x in arrays))
    for got, expected in zip(kernel(*arrays), exact, strict=True):
        assert got.dtype == np.float32
        assert relative_error(got, expected) < SINGLE


def test_a_derivative_is_written_where_it_shall_go():
    kernel, arguments = chain().kernel("inverse_dynamics").jacobian(("q", "a")), states(chain(), 6)
    out = np.empty((6, 3, 3)), np.empty((6, 3, 3))
    given_back = kernel(*arguments, out=out)
    assert all(a is b for a, b in zip(given_back, out, strict=True))
    for got, expected in zip(out, kernel(*arguments), strict=True):
        assert (got == expected).all()


def test_only_what_is_asked_for_is_differentiated_by():
    kernel = chain().kernel("inverse_dynamics")
    assert names(kernel.vjp(("a", "q")).interface.outputs) == ["da", "dq"]
    assert names(kernel.jacobian("v").interface.outputs) == ["dtau_dv"]
    assert names(kernel.jvp().interface.inputs) == ["q", "v", "a", "dq", "dv", "da"]
    assert names(kernel.jvp().interface.outputs) == ["tau", "dtau"]
    assert kernel.vjp("a").interface.cost < kernel.vjp().interface.cost


@pytest.mark.parametrize("way", ["vjp", "jacobian"])
@pytest.mark.parametrize("wrt", ["velocity", ("q", "velocity")])
def test_a_wrong_argument_to_differentiate_by_is_named_with_the_valid_ones(way, wrt):
    kernel = chain().kernel("inverse_dynamics")
    with pytest.raises(UnknownNameError, match="no argument 'velocity': valid are 'q', 'v', 'a'"):
        getattr(kernel, way)(wrt)


# kernels are kept


def test_the_same_derivative_is_the_same_kernel():
    kernel = chain().kernel("inverse_dynamics")
    assert kernel.jvp() is kernel.jvp()
    assert kernel.vjp("q") is kernel.vjp(["q"])
    assert kernel.vjp() is kernel.vjp(("q", "v", "a"))
    assert kernel.jacobian() is chain().kernel("inverse_dynamics").jacobian()
    assert len({kernel.vjp(), kernel.vjp("q"), kernel.jacobian("q"), kernel.jvp()}) == 4


def test_a_derivative_known_from_an_earlier_run_is_neither_traced_nor_compiled(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "cache"))

    def call():
        robot = kt.robots.chain(2)
        kernel = robot.kernel("inverse_dynamics").vjp("q").jacobian("v")
        return kernel(*np.ones((3, 2)), np.ones(2))

    def refuse(*_):
        raise AssertionError("traced")

    first = call()
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir()}
    monkeypatch.setattr(Tracer, "program", refuse)
    assert (call() == first).all()
    assert {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir()} == before


# costs


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_gradient_costs_no_more_than_four_results(name, quantity):
    kernel = ROBOTS[name]().kernel(quantity)
    assert kernel.vjp().interface.cost <= 4 * kernel.interface.cost
    assert kernel.jvp().interface.cost <= 4 * kernel.interface.cost


@pytest.mark.slow
@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"]
)
@pytest.mark.parametrize(
    "make", [arm, chain, balls, kt.robots.double_pendulum, kt.robots.cart_pole]
)
def test_the_default_method_of_derivatives_is_the_cheapest_and_says_its_name(make, quantity):
    robot = make()
    costs = {m: robot.kernel(quantity, m).interface.cost for m in QUANTITIES[quantity].methods}
    kernel = robot.kernel(quantity)
    assert kernel.interface.cost == costs[kernel.method] == min(costs.values())


@pytest.mark.slow
def test_the_hessian_of_the_kinetic_energy_is_the_mass_matrix():
    robot = kt.robots.quadruped()
    q, v = robot.random(0), np.ones(robot.nv)
    got = robot.kernel("kinetic_energy").hessian("v")(q, v)
    assert relative_error(got, robot.mass_matrix(q)) < EXACT


def test_the_sparsity_of_a_jacobian_is_that_of_the_tree():
    robot = kt.robots.quadruped()
    found = robot.kernel("inverse_dynamics").jacobian("a").sparsity["dtau_da"]
    M = np.mean([robot.mass_matrix(robot.random(k)) != 0.0 for k in range(5)], axis=0)
    assert (found >= (M > 0)).all()
    assert not found[6, 9]  # two legs
    assert found.sum() < robot.nv**2
