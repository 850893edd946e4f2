"""The text of C code: names, what the header says, what the source may contain."""

import re

import pytest

import kinetree as kt
from kinetree.compiler.emit import c
from kinetree.compiler.emit.c_names import identifier, is_identifier
from kinetree.compiler.graph import trace
from kinetree.compiler.graph.lower import lower
from kinetree.scalar import cos, exp, sin
from tests.mixed_robots import rider


def lowered(function, shapes, kind="double"):
    return lower(trace("f", function, shapes), c.style(kind))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mass_matrix", "mass_matrix"),
        ("external['left foot']", "external_left_foot"),
        ("3d", "x_3d"),
        ("double", "x_double"),
        ("sin", "x_sin"),
        ("_Bool", "Bool"),
        ("größe", "gr_e"),
        ("", "x_"),
    ],
)
def test_any_name_becomes_an_identifier(name, expected):
    assert identifier(name) == expected
    assert is_identifier(expected)


def test_an_argument_and_a_result_of_one_name_are_two_parameters():
    text = c.source(lowered(lambda q: {"q": [q[0] * 2.0]}, {"q": (1,)}), "twice")
    assert "void twice(const double *restrict q, double *restrict q_out)" in text


def test_every_function_of_a_source_begins_with_its_name():
    text = c.source(lowered(lambda x: {"y": [sin(x[0]) * cos(x[1])]}, {"x": (2,)}), "wave")
    defined = re.findall(r"\bvoid (\w+)\(", text)
    assert defined[-1] == "wave"
    assert len(defined) > 2
    assert all(name.startswith("wave") for name in defined)


@pytest.mark.parametrize("kind", ["double", "float"])
def test_a_source_includes_math_alone_and_has_no_variable_outside_of_functions(kind):
    text = c.source(lowered(lambda x: {"y": [exp(x[0]) * 0.1]}, {"x": (1,)}, kind), "f")
    assert re.findall(r"#include (\S+)", text) == ["<math.h>", '"f.h"']
    assert not re.search(r"\b(malloc|calloc|realloc|free|static (const )?(double|float))\b", text)
    outside = [line for line in text.splitlines() if re.match(r"(const |static )?\w+ \w+.*;", line)]
    assert outside == []


def test_numbers_of_a_float_function_are_floats():
    text = c.source(lowered(lambda x: {"y": [x[0] * 0.1 + 2.0]}, {"x": (1,)}, "float"), "f")
    numbers = re.findall(r"\d+\.\d+(?:e[-+]\d+)?(\w?)", text)
    assert numbers
    assert set(numbers) == {"f"}
    assert "double" not in text


def test_a_header_names_every_element_with_its_unit_in_its_order():
    header = rider().kernel("forward_dynamics", external=("hand",)).c_code().header
    lines = [line.strip(" *") for line in header.splitlines()]
    start = lines.index("in  q[8]: configuration")
    assert lines[start + 1 : start + 9] == [
        "[0] root_joint.x, m",
        "[1] root_joint.y, m",
        "[2] root_joint.z, m",
        "[3] root_joint.qx",
        "[4] root_joint.qy",
        "[5] root_joint.qz",
        "[6] root_joint.qw",
        "[7] hand_joint, rad",
    ]
    assert "[5] root_joint.wz, rad/s" in lines
    assert "[0] root_joint.vx, N" in lines
    assert "[6] hand_joint, rad/s^2" in lines
    assert any(x.startswith("in  external_hand[6]: wrench on a frame") for x in lines)
    assert "The acceleration that joint forces give (robot rider, method aba)." in lines


def test_a_long_prototype_has_a_parameter_a_line():
    header = rider().kernel("inverse_dynamics", external=("hand", "base")).c_code().header
    assert "void inverse_dynamics(\n    const double *q,\n    const double *v,\n" in header
    assert "    double *tau);\n" in header


def test_a_header_tells_a_slide_from_a_turn():
    header = kt.robots.cart_pole().kernel("inverse_dynamics").c_code().header
    assert "rad/s^2" in header
    assert "m/s^2" in header
    assert "N m\n" in header
    assert "N\n" in header


def test_a_name_of_a_joint_cannot_end_the_comment_of_a_header():
    a = kt.Assembly("odd */ int x;")
    a.add("arm", "base", kt.joints.Revolute("x"), inertia=[1, 1, 1], mass=1.0, name="j*/ int y;")
    header = a.robot().kernel("mass_matrix").c_code().header
    assert header.count("*/") == 2  # of the two comments of every header


@pytest.mark.parametrize("derivative", ["jvp", "vjp", "jacobian"])
def test_a_derivative_says_what_its_operands_are(derivative):
    kernel = getattr(kt.robots.double_pendulum().kernel("mass_matrix"), derivative)()
    header = kernel.c_code(name="f").header
    for name in (*kernel.interface.inputs, *kernel.interface.outputs):
        operand = re.search(rf"(in |out) {identifier(name[0])}\S*: (.+)", header)
        assert operand is not None
        assert len(operand[2].split()) > 1 or operand[2] == "configuration"
