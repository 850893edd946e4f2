"""Numbers of a model as arguments: values and derivatives, on every joint type."""

import numpy as np
import pytest
from hypothesis import given, settings

import kinetree as kt
from kinetree import algorithms
from kinetree.errors import KinetreeError, ModelError, ShapeError, UnknownNameError
from kinetree.model.parameters import with_numbers
from kinetree.quantities import QUANTITIES
from tests.algorithms.test_identities import SEEDS, forward, state
from tests.random_models import regular_models
from tests.tolerances import EXACT, relative_error

STEP = 1e-30
ROBOT = kt.robots.arm()
PARAMETERS = (kt.Inertial("link4"), kt.Payload("tool"), kt.Placement("joint3"))
FAMILY = ROBOT.parametric(PARAMETERS)


def complex_step(function, p):
    """The derivative of a function of p, its directions as a last axis."""
    columns = []
    for k in range(len(p)):
        moved = [complex(x, STEP if i == k else 0.0) for i, x in enumerate(p)]
        columns.append(np.array(function(moved), dtype=complex).imag / STEP)
    return np.stack(columns, axis=-1)


def motion(batch=()):
    rng = np.random.default_rng(5)
    return ROBOT.random(rng, batch), *rng.standard_normal((2, *batch, ROBOT.nv))


def off_nominal():
    rng = np.random.default_rng(6)
    return FAMILY.parameters + 0.05 * rng.standard_normal(len(FAMILY.parameters))


def test_with_its_own_numbers_it_is_the_robot_itself():
    q, v, a = motion((5,))
    p = FAMILY.parameters
    for ours, robots in (
        (FAMILY.inverse_dynamics(q, v, a, p), ROBOT.inverse_dynamics(q, v, a)),
        (FAMILY.mass_matrix(q, p), ROBOT.mass_matrix(q)),
    ):
        assert relative_error(ours, robots) < EXACT
    tau = ROBOT.inverse_dynamics(q, v, a)
    assert relative_error(FAMILY.forward_dynamics(q, v, tau, p), a) < 1e-9


def test_with_other_numbers_it_is_another_robot():
    q, v, a = motion()
    p = off_nominal()
    other = kt.Robot(FAMILY.with_numbers(p))
    got = FAMILY.inverse_dynamics(q, v, a, p)
    assert relative_error(got, other.inverse_dynamics(q, v, a)) < EXACT
    got = FAMILY.kernel("jacobian", frame="tool")(q, p)
    assert relative_error(got, other.jacobian(q, "tool")) < EXACT


def test_one_state_goes_with_many_robots():
    q, v, a = motion()
    many = FAMILY.parameters * np.linspace(1.0, 1.1, 7)[:, None]
    got = FAMILY.inverse_dynamics(q, v, a, many)
    assert got.shape == (7, ROBOT.nv)
    assert relative_error(got[3], FAMILY.inverse_dynamics(q, v, a, many[3])) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("p", [FAMILY.parameters, off_nominal()], ids=["nominal", "off"])
def test_derivatives_by_parameters_are_those_of_complex_steps(p):
    q, v, a = (x.tolist() for x in motion())

    def inverse(p):
        return algorithms.rnea(with_numbers(ROBOT.model, PARAMETERS, p), q, v, a)

    def accelerations(p):
        return algorithms.aba(with_numbers(ROBOT.model, PARAMETERS, p), q, v, a)

    got = FAMILY.inverse_dynamics_derivative(q, v, a, p)
    assert relative_error(got, complex_step(inverse, p)) < EXACT
    got = FAMILY.forward_dynamics_derivative(q, v, a, p)
    assert relative_error(got, complex_step(accelerations, p)) < 1e-9


WITHOUT_MASS = {
    "nothing": [0.0] * 10,
    "a rotational inertia": [0.0] * 4 + [0.1, 0.2, 0.3, 0.01, -0.02, 0.03],
    "a first moment": [0.0, 0.1, -0.2, 0.3] + [0.0] * 6,
}


@pytest.mark.slow
@pytest.mark.parametrize("numbers", WITHOUT_MASS.values(), ids=WITHOUT_MASS)
def test_bodies_without_mass_are_the_same_by_every_method(numbers):
    family = ROBOT.parametric([kt.Inertial("link4")])
    q, v, a = motion((3,))
    for quantity, arrays in (
        ("inverse_dynamics", (q, v, a)),
        ("gravity_forces", (q,)),
        ("bias_forces", (q, v)),
        ("coriolis_forces", (q, v)),
        ("mass_matrix", (q,)),
    ):
        expected = family.kernel(quantity, "rnea")(*arrays, numbers)
        assert np.isfinite(expected).all()
        for method in QUANTITIES[quantity].methods:
            found = family.kernel(quantity, method)(*arrays, numbers)
            assert relative_error(found, expected) < EXACT, method
    C = [family.kernel("coriolis_matrix", m)(q, v, numbers) for m in ("spatial", "lagrange")]
    assert relative_error(*(matrix @ v[..., None] for matrix in C)) < EXACT


def test_joint_forces_are_linear_in_inertial_parameters():
    q, v, a = motion()
    family = ROBOT.parametric([kt.Inertial(name) for name in ROBOT.bodies])
    p = family.parameters
    D = family.inverse_dynamics_derivative(q, v, a, p)
    assert relative_error(D @ p, ROBOT.inverse_dynamics(q, v, a)) < EXACT
    assert relative_error(family.inverse_dynamics_derivative(q, v, a, 3 * p), D) < EXACT


@pytest.mark.slow
def test_derivatives_by_the_state_of_a_robot_with_parameters():
    q, v, a = motion()
    p = FAMILY.parameters
    got = FAMILY.kernel("inverse_dynamics_derivatives")(q, v, a, p)
    for ours, robots in zip(got, ROBOT.inverse_dynamics_derivatives(q, v, a), strict=True):
        assert relative_error(ours, robots) < EXACT


@pytest.mark.slow
@settings(max_examples=25)
@given(regular_models(max_bodies=3), SEEDS)
def test_parameters_of_every_joint_type(model, seed):
    q, v, a = state(model, seed)
    last = model.bodies[-1]
    parameters = [kt.Inertial(last.name), kt.Payload(last.name), kt.Placement(last.joint_name)]
    p = [float(x) for part in parameters for x in part.nominal(model)]
    assert relative_error(
        forward(with_numbers(model, parameters, p), q, v, a), forward(model, q, v, a)
    ) < EXACT * max(1.0, np.linalg.cond(np.array(algorithms.crba(model, q))))
    # a payload is felt as the same inertia in the body is
    D = complex_step(lambda p: algorithms.rnea(with_numbers(model, parameters, p), q, v, a), p)
    placed = model.frame(last.name).placement.translation
    if not any(placed):
        assert relative_error(D[:, :10], D[:, 10:20]) < EXACT


def test_numbers_are_named():
    assert FAMILY.labels[:2] == ("link4.mass", "link4.hx")
    assert len(FAMILY.labels) == len(FAMILY.parameters) == 26


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ([], KinetreeError, "no parameter is given"),
        (["link4"], KinetreeError, r"a list of Inertial\(body\).* got \['link4'\]"),
        ([kt.Inertial("link44")], UnknownNameError, "did you mean 'link4'"),
        ([kt.Payload("tol")], UnknownNameError, "did you mean 'tool'"),
        ([kt.Payload("base")], ModelError, "fixed to the world"),
        ([kt.Placement("joint33")], UnknownNameError, "did you mean 'joint3'"),
    ],
)
def test_what_is_no_parameter_is_an_error(parameters, error, words):
    with pytest.raises(error, match=words):
        ROBOT.parametric(parameters)


def test_one_parameter_needs_no_list():
    one, listed = (ROBOT.parametric(x) for x in (kt.Payload("tool"), [kt.Payload("tool")]))
    assert one.labels == listed.labels
    with pytest.raises(KinetreeError, match=r"parameters: a list of .* got 7"):
        ROBOT.parametric(7)


def test_too_few_numbers_are_an_error():
    with pytest.raises(ShapeError, match="p has shape"):
        FAMILY.inverse_dynamics(*motion(), FAMILY.parameters[:-1])
