"""Traced scalars: sharing, numbers, and what they refuse."""

import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from kinetree import scalar
from kinetree.compiler.graph import Expression, Trace
from kinetree.errors import TraceError


@pytest.fixture
def t():
    return Trace()


@pytest.fixture
def x(t):
    return t.input("x", 0)


@pytest.fixture
def y(t):
    return t.input("y", 0)


BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "less": operator.lt,
    "atan2": scalar.atan2,
}
UNARY = {"neg": operator.neg, "sqrt": scalar.sqrt, "sin": scalar.sin, "cos": scalar.cos}


# sharing


@pytest.mark.parametrize("op", BINARY)
def test_the_same_operation_on_the_same_arguments_is_one_node(op, t, x, y):
    made = BINARY[op](x, y)
    before = len(t.nodes)
    assert BINARY[op](x, y) is made
    assert (made.op, made.args) == (op, (x, y))
    assert len(t.nodes) == before


@pytest.mark.parametrize("op", UNARY)
def test_the_same_function_of_the_same_argument_is_one_node(op, t, x):
    made = UNARY[op](x)
    before = len(t.nodes)
    assert UNARY[op](x) is made
    assert (made.op, made.args) == (op, (x,))
    assert len(t.nodes) == before


@pytest.mark.parametrize("op", ["add", "mul"])
def test_a_commutative_operation_in_either_order_is_one_node_older_argument_first(op, x, y):
    made = BINARY[op](y, x)
    assert made is BINARY[op](x, y)
    assert made.args == (x, y)


@pytest.mark.parametrize("op", ["div", "less", "atan2"])
def test_the_order_of_the_other_operations_is_kept(op, x, y):
    assert BINARY[op](x, y) is not BINARY[op](y, x)
    assert BINARY[op](y, x).args == (y, x)


def test_greater_is_less_with_its_arguments_exchanged(x, y):
    assert (x > y) is (y < x)


def test_select_is_one_node_of_a_condition_and_two_numbers(x, y):
    made = scalar.select(x < y, x, 2.0)
    assert made is scalar.select(scalar.less(x, y), x, 2.0)
    assert made.op == "select"
    assert made.args[:2] == (x < y, x)
    assert made.args[2].value == 2.0


def test_a_select_with_a_number_in_either_place_lifts_it(x, y):
    made = scalar.select(x < y, 3.0, y)
    assert made.args[1].value == 3.0
    assert made.args[2] is y


def test_a_square_is_a_product(x):
    assert x**2 is x * x


def test_a_sum_written_twice_makes_no_node_the_second_time(t, x, y):
    first = scalar.sin(x + y) * (y + x)
    before = len(t.nodes)
    assert (x + y) * scalar.sin(y + x) is first
    assert len(t.nodes) == before


def test_an_input_is_one_node_per_name_and_element(t, x):
    assert t.input("x", 0) is x
    assert t.input("x", 1) is not x
    assert t.input("y", 0) is not x


def test_arguments_are_numbered_before_their_users(t, x, y):
    scalar.atan2(scalar.sin(x * y) - 3.0, scalar.select(x < y, 2.0 * x, -y))
    for number, node in enumerate(t.nodes):
        assert node.number == number
        assert all(a.number < number for a in node.args)


def test_plus_x_is_x(x):
    assert +x is x


# numbers


def test_equal_constants_are_one_node(t):
    assert t.constant(2) is t.constant(2.0)
    assert t.constant(2.0) is not t.constant(3.0)
    assert type(t.constant(2).value) is float


def test_minus_zero_is_kept_as_zero(t):
    zero = t.constant(-0.0)
    assert zero is t.constant(0.0)
    assert math.copysign(1.0, zero.value) == 1.0


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, np.float64(np.inf)])
def test_a_constant_that_is_not_finite_is_refused(value, t):
    with pytest.raises(TraceError, match=r"(inf|nan).*must be finite"):
        t.constant(value)
    assert t.nodes == []


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_arithmetic_with_a_number_that_is_not_finite_is_refused_by_its_value(value, x):
    with pytest.raises(TraceError, match=r"(inf|nan).*must be finite"):
        x * value


def test_an_integer_beyond_the_doubles_is_refused(x):
    with pytest.raises(TraceError):
        x + 10**400


NUMBERS = [2.5, 3, np.float64(2.5), np.float32(2.5), np.int64(3), np.uint8(3), Fraction(5, 2)]


@pytest.mark.parametrize("value", NUMBERS, ids=lambda v: f"{type(v).__name__} {v}")
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "less"])
def test_arithmetic_takes_numbers_of_every_real_type_on_either_side(op, value, t, x):
    number = float(value)
    assert BINARY[op](x, value) is BINARY[op](x, number)
    assert BINARY[op](value, x) is BINARY[op](number, x)


@pytest.mark.parametrize("value", NUMBERS, ids=lambda v: f"{type(v).__name__} {v}")
def test_atan2_takes_numbers_of_every_real_type_on_either_side(value, t, x):
    number = t.constant(float(value))
    assert scalar.atan2(x, value) is t.node("atan2", x, number)
    assert scalar.atan2(value, x) is t.node("atan2", number, x)


def test_a_fraction_becomes_the_nearest_double(x):
    assert (x + Fraction(1, 3)).args[1].value == 1.0 / 3.0


# what is refused


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_arithmetic_with_an_array_takes_its_elements(op, x):
    numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
    for found, expected in (
        (op(x, numbers), [[op(x, n) for n in row] for row in numbers.tolist()]),
        (op(numbers, x), [[op(n, x) for n in row] for row in numbers.tolist()]),
        (op(np.array([x, 2.0], object), x), [op(x, x), op(2.0, x)]),
        (op(np.float64(3.0), x), op(3.0, x)),
    ):
        assert np.array_equal(
            np.ravel(np.array(found, object)), np.ravel(np.array(expected, object))
        )


def test_comparisons_with_numbers_of_numpy_are_traced(x):
    assert (np.float64(2.0) < x) is (x > 2.0)
    assert (np.float64(2.0) >= x) is (x <= 2.0)


@pytest.mark.parametrize("value", ["abc", "1.5", b"1.5", None, 1j, [1.0]])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_what_is_no_real_number_is_refused_by_its_type(op, value, x):
    for a, b in ((x, value), (value, x)):
        with pytest.raises(TraceError, match=f"a {type(value).__name__} in arithmetic"):
            BINARY[op](a, b)


def test_the_truth_of_a_traced_scalar_is_refused_and_select_is_offered(x, y):
    for traced in (x, x < y, x + 1.0):
        with pytest.raises(TraceError, match=r"truth value.*scalar\.select\(a < b, x, y\)"):
            bool(traced)
    with pytest.raises(TraceError, match="branch"):
        max(x, y)


def test_the_float_of_a_traced_scalar_is_refused(x):
    with pytest.raises(TraceError, match=r"no value yet.*float\(\) or math"):
        float(x)
    with pytest.raises(TraceError, match=r"no value yet.*float\(\) or math"):
        math.sin(x)


def test_an_array_of_floats_refuses_a_traced_scalar_and_says_what_can_hold_it(x):
    out = np.zeros(2)
    with pytest.raises(TraceError, match=r"np\.zeros\(n, dtype=object\)"):
        out[0] = x


@pytest.mark.parametrize("rounded", [round, int, math.floor, math.ceil, lambda x: round(x, 2)])
def test_a_traced_scalar_is_not_rounded(rounded, x):
    with pytest.raises(TraceError, match="cannot be rounded"):
        rounded(x)


def test_a_remainder_is_refused_and_sines_are_offered(x):
    for remainder in (lambda: x % 2.0, lambda: 2.0 % x, lambda: x // 2.0):
        with pytest.raises(TraceError, match=r"kinetree\.scalar\.sin"):
            remainder()


@pytest.mark.parametrize("op", BINARY)
def test_scalars_of_two_traces_do_not_mix(op, x):
    stranger = Trace().input("x", 0)
    for a, b in ((x, stranger), (stranger, x)):
        with pytest.raises(TraceError, match="of one program was used in another"):
            BINARY[op](a, b)


def test_a_select_between_two_traces_is_refused(x, y):
    with pytest.raises(TraceError, match="of one program was used in another"):
        scalar.select(x < y, x, Trace().input("x", 0))


@pytest.mark.parametrize("exponent", [3, 0.5, -1])
def test_a_power_other_than_two_is_refused_by_its_exponent(exponent, x):
    with pytest.raises(TraceError, match=f"to the power {exponent}: write it as products"):
        x**exponent


# texts


def test_a_node_is_shown_as_its_operation_and_the_numbers_of_its_arguments(t, x, y):
    assert repr(x) == "x[0]"
    assert repr(t.input("external['tool']", 5)) == "external['tool'][5]"
    assert repr(t.constant(2.5)) == "2.5"
    assert repr(x / y) == f"div(%{x.number}, %{y.number})"
    assert isinstance(x, Expression)
