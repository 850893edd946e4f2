"""Closed forms, against textbooks and against numbers."""

import math

import numpy as np
import pytest
import sympy

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError, UnknownNameError
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link
from kinetree.model.joints import Revolute
from kinetree.robot.symbolic import closed_form, nonzero
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.cli.test_app import invoke
from tests.mixed_robots import ROBOTS, random_state
from tests.tolerances import EXACT, relative_error

Y = Vector3(0, 1, 0)
m1, m2, l1, c1, c2, I1, I2 = sympy.symbols("m1 m2 l1 c1 c2 I1 I2", positive=True)


def two_links():
    """The planar arm of the textbooks: links along x, turning about -y, centres at c1 and c2."""

    def link(name, m, c, I):
        about = Symmetric3(0, I, 0, 0, 0, 0)
        return Link(name, Inertia.about_center(m, Vector3(c, 0, 0), about))

    elbow = Transform(Rotation.identity(), Vector3(l1, 0, 0))
    return assemble(
        Description(
            "two links",
            [Link("base", Inertia.zero()), link("one", m1, c1, I1), link("two", m2, c2, I2)],
            [
                Connection("a", "base", "one", Transform.identity(), Revolute(Y)),
                Connection("b", "one", "two", elbow, Revolute(Y)),
            ],
        )
    )


def test_a_closed_form_takes_a_robot_or_its_model():
    robot = kt.robots.double_pendulum()
    assert closed_form(robot, "gravity_forces") == closed_form(robot.model, "gravity_forces")
    with pytest.raises(
        KinetreeError, match=r"closed_form of 'arm': a Robot or a Model is expected"
    ):
        closed_form("arm", "gravity_forces")


def test_the_two_link_arm_is_the_textbooks():
    # Siciliano et al., Robotics: Modelling, Planning and Control, example 7.2; Murray, Li & Sastry
    # (4.11): with h = -m2 l1 c2 sin q2, C = [[h q2', h (q1' + q2')], [-h q1', 0]]
    model = two_links()
    q2, v1, v2 = sympy.symbols("q2 v1 v2")
    h = -m2 * l1 * c2 * sympy.sin(q2)
    C = closed_form(model, "coriolis_matrix").entries
    expected = [[h * v2, h * (v1 + v2)], [-h * v1, 0]]
    for row, wanted in zip(C, expected, strict=True):
        for entry, value in zip(row, wanted, strict=True):
            assert sympy.simplify(entry - value) == 0
    a = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2)
    b, d = m2 * l1 * c2 * sympy.cos(q2), I2 + m2 * c2**2
    M = closed_form(model, "mass_matrix").entries
    for row, wanted in zip(M, [[a + 2 * b, d + b], [d + b, d]], strict=True):
        for entry, value in zip(row, wanted, strict=True):
            assert sympy.simplify(entry - value) == 0
    Gamma = closed_form(model, "christoffel_symbols").entries
    found = {indices: sympy.simplify(e) for indices, e in nonzero(Gamma)}
    assert found == {(1, 1, 2): h, (1, 2, 1): h, (1, 2, 2): h, (2, 1, 1): -h}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cart_pole", "double_pendulum"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "coriolis_matrix", "christoffel_symbols"])
def test_closed_forms_are_what_kernels_compute(name, quantity):
    robot = getattr(kt.robots, name)()
    form = closed_form(robot.model, quantity)
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(2) for _ in form.symbols]
    names = [s for group in form.symbols.values() for s in group]
    at = dict(zip(names, np.concatenate(values), strict=True))
    expected = robot.kernel(quantity)(*values)
    got = np.array(sympy.Array(form.entries).subs(at).tolist(), dtype=float)
    assert relative_error(got, expected) < EXACT


def test_the_command_prints_text_and_latex():
    result = invoke("symbolic", "double_pendulum", "christoffel")
    assert result.exit_code == 0, result.output
    assert "Gamma_1,1,2 = -sin(q2)/2" in result.output
    assert "Gamma_2,1,1 = sin(q2)/2" in result.output
    result = invoke("symbolic", "cart_pole", "coriolis", "--latex")
    assert r"C_{1,2} = - \frac{v_{2} \sin{\left(q_{2} \right)}}{20}" in result.output


def test_what_is_too_large_or_unknown_is_said():
    assert "7 degrees of freedom" in invoke("symbolic", "arm").output
    result = invoke("symbolic", "cart_pole", "christofel_symbols")
    assert result.exit_code == 1
    assert "did you mean 'christoffel_symbols'" in result.output
    for listed in ("jacobian", "mass_matrix", "gravity_forces"):
        assert listed in result.output


def test_every_setting_of_a_quantity_has_its_option():
    rows = kt.quantities.QUANTITIES.values()
    words = [(name, valid[0]) for row in rows for name, valid in row.settings.items()]
    settings = {name for name, first in words if isinstance(first, str)}
    shown = invoke("symbolic", "--help").output
    assert all(f"--{name}" in shown for name in settings), settings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["jacobian", "--frame", "pole"], ["J_1,1 = 1", "J_5,2 = 1"]),
        (
            ["jacobian", "--frame", "pole", "--axes", "body"],
            ["J_1,1 = cos(q2)", "J_3,1 = sin(q2)", "J_5,2 = 1"],
        ),
        (
            ["acceleration", "--frame", "pole", "--axes", "body", "--kind", "spatial"],
            ["acceleration_1 = a1*cos(q2) - v1*v2*sin(q2)", "acceleration_5 = a2"],
        ),
        (["hybrid_dynamics", "--accelerated", "slide, hinge"], ["a_1 = a1", "a_2 = a2"]),
    ],
)
def test_a_quantity_takes_its_settings_as_options(arguments, lines):
    result = invoke("symbolic", "cart_pole", *arguments)
    assert result.exit_code == 0, result.output
    for line in lines:
        assert line in result.output.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("quantity", list(kt.quantities.QUANTITIES))
def test_every_quantity_is_printed_or_refused_with_a_message(quantity):
    row = kt.quantities.QUANTITIES[quantity]
    options = {"frame": ["--frame", "pole"], "accelerated": ["--accelerated", "hinge"]}
    options |= {"actuated": ["--actuated", "hinge"]}
    given = [word for name in row.settings for word in options.get(name, [])]
    result = invoke("symbolic", "cart_pole", quantity, "--no-simplify", *given)
    derived = all(hasattr(how, "build") for how in row.methods.values())
    refused = derived or not row.closed_form or row.constrained
    assert result.exit_code == int(refused), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_number_is_printed_without_an_index():
    result = invoke("symbolic", "cart_pole", "potential_energy", "--latex")
    assert result.output.startswith("energy = ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jacobian"], "jacobian needs --frame, one of rail, cart, pole"),
        (["jacobian", "--frame", "poll"], "did you mean 'pole'"),
        (["jacobian", "--frame", "pole", "--axes", "up"], "valid are 'origin', 'body', 'world'"),
        (["jacobian", "--frame", "pole", "--about", "origin"], "has no setting 'about'"),
        (["hybrid_dynamics"], "needs --accelerated"),
        (["mass", "--method", "magic"], "mass_matrix has no method 'magic'"),
    ],
)
def test_a_wrong_setting_is_a_message(arguments, message):
    result = invoke("symbolic", "cart_pole", *arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


# matrices, LaTeX, code


def test_a_closed_form_is_a_matrix():
    M = closed_form(kt.robots.double_pendulum(), "mass_matrix").matrix
    assert isinstance(M, sympy.Matrix)
    assert M.T == M
    tau = closed_form(kt.robots.double_pendulum(), "gravity_forces").matrix
    assert tau.shape == (2, 1)
    gamma = closed_form(kt.robots.double_pendulum(), "christoffel_symbols").matrix
    assert gamma.shape == (2, 2, 2)
    assert closed_form(kt.robots.double_pendulum(), "potential_energy").matrix.is_Add


def test_several_results_are_several_matrices():
    form = closed_form(kt.robots.cart_pole(), "mass_and_coriolis", simplify=False)
    assert [m.shape for m in form.matrices.values()] == [(2, 2)] * 3
    with pytest.raises(KinetreeError, match="there are 3 results"):
        form.matrix  # noqa: B018


def test_a_whole_matrix_is_printed_as_latex():
    text = closed_form(kt.robots.cart_pole(), "mass_matrix").latex()
    assert text.startswith(r"M = \left[\begin{matrix}")
    assert r"\cos{\left(q_{2} \right)}" in text


@pytest.mark.slow
def test_a_closed_form_prints_itself_in_every_language():
    form = closed_form(kt.robots.double_pendulum(), "inverse_dynamics")
    values = {"q1": 0.1, "q2": 0.2, "v1": 0.3, "v2": 0.4, "a1": 0.5, "a2": 0.6}
    known = {"math": math, **values}
    exec(form.source("python"), known)
    q, v, a = ([values[f"{x}1"], values[f"{x}2"]] for x in "qva")
    expected = kt.robots.double_pendulum().inverse_dynamics(q, v, a)
    assert relative_error([known["tau_0"], known["tau_1"]], expected) < EXACT
    assert relative_error(form.function()(q, v, a).ravel(), expected) < EXACT
    assert "const double tau_1 = " in form.source("c")
    assert "let tau_0 = " in form.source("rust")
    for language in ("julia", "matlab", "fortran"):
        assert "tau_2 = " in form.source(language)
    with pytest.raises(UnknownNameError, match="valid are 'c', 'fortran'"):
        form.source("cobol")


@pytest.mark.parametrize(
    ("name", "quantity"),
    # what grows beyond measure in closed form is left out: the turret has a rotation vector
    [("gripper", "inverse_dynamics"), ("rider", "inverse_dynamics"), ("turret", "gravity_forces")],
)
def test_kernels_called_with_symbols_give_matrices(name, quantity):
    robot = ROBOTS[name]()
    kernel = robot.kernel(quantity)
    arrays = random_state(robot, kernel)
    groups = [
        sympy.symbols(f"{name}:{len(x)}")
        for (name, _), x in zip(kernel.interface.inputs, arrays, strict=True)
    ]
    found = kernel(*map(sympy.Matrix, groups))
    assert isinstance(found, sympy.Matrix)
    numbers = sympy.lambdify(groups, found)(*arrays).ravel()
    assert relative_error(numbers, kernel(*arrays)) < 1e-12


def test_symbols_of_the_wrong_number_are_refused():
    with pytest.raises(ShapeError, match="q has 3 elements; 2 are expected"):
        kt.robots.double_pendulum().mass_matrix(sympy.Matrix([1, 2, 3]))
