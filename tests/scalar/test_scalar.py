"""The functions of a scalar: one answer on every scalar type, and the right type back."""

import cmath
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from kinetree import scalar
from kinetree.compiler.graph import Expression, Trace, interpret, trace
from kinetree.errors import TraceError
from kinetree.scalar import atan2, cos, known, less, select, sin, sqrt
from kinetree.scalar.dual import Dual
from kinetree.scalar.structure import Constant, put_together, scalar_count, take_apart
from tests.tolerances import EPS, EXACT, relative_error

UNARY = [(sin, math.sin), (cos, math.cos), (sqrt, math.sqrt)]
QUADRANTS = [(2.0, 1.5), (2.0, -1.5), (-2.0, -1.5), (-2.0, 1.5)]
ON_AXES = [(0.0, 3.0), (3.0, 0.0), (0.0, -3.0), (-3.0, 0.0)]
unary = pytest.mark.parametrize(("function", "real"), UNARY, ids=["sin", "cos", "sqrt"])


def traced_inputs(n):
    t = Trace()
    return [t.input("x", i) for i in range(n)]


# sine, cosine, root


@unary
@pytest.mark.parametrize("x", [0.0, 0.7, 2.25])
def test_a_function_of_a_float_is_that_of_math(function, real, x):
    assert function(x) == real(x)
    assert type(function(x)) is float


@unary
def test_a_function_of_an_integer_is_a_float(function, real):
    assert function(2) == real(2)
    assert type(function(2)) is float


@unary
def test_a_function_of_a_complex_number_is_analytic(function, real):
    z = 0.7 + 0.3j
    assert function(z) == getattr(cmath, real.__name__)(z)
    h = 1e-30
    difference = (real(0.7 + 1e-6) - real(0.7 - 1e-6)) / 2e-6
    assert abs(function(complex(0.7, h)).imag / h - difference) < 1e-9


@unary
def test_a_function_of_an_array_is_taken_of_each_element(function, real):
    x = np.array([[0.1, 0.7], [1.3, 2.25]])
    expected = [[real(e) for e in row] for row in x]
    assert relative_error(function(x), expected) <= EPS
    assert type(function(x)) is np.ndarray


@unary
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.complex128])
def test_a_function_of_a_numpy_number_keeps_its_type(function, real, kind):
    assert type(function(kind(0.7))) is kind
    assert abs(function(kind(0.7)) - real(0.7)) < 4 * np.finfo(kind).eps


@unary
def test_a_function_of_a_fraction_is_the_nearest_double_as_a_fraction(function, real):
    x = Fraction(9, 4)
    assert function(x) == Fraction(real(2.25))
    assert type(function(x)) is Fraction


def test_the_root_of_a_square_fraction_is_exact():
    assert sqrt(Fraction(9, 4)) == Fraction(3, 2)


@unary
def test_a_function_of_a_symbol_is_symbolic(function, real):
    x = sympy.Symbol("x", positive=True)
    assert function(x) == getattr(sympy, real.__name__)(x)
    assert function(sympy.Rational(9, 4)) == getattr(sympy, real.__name__)(sympy.Rational(9, 4))


@unary
def test_a_function_of_a_traced_scalar_is_a_node(function, real):
    (x,) = traced_inputs(1)
    assert isinstance(function(x), Expression)
    assert (function(x).op, function(x).args) == (real.__name__, (x,))
    program = trace("f", lambda x: {"y": [function(x[0])]}, {"x": (1,)})
    assert interpret(program, [0.7])[0] == [real(0.7)]


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "atan2", "less", "select"])
def test_every_function_is_documented_under_its_own_name(name):
    function = getattr(scalar, name)
    assert function.__name__ == name
    assert function.__doc__


@unary
@pytest.mark.parametrize("value", ["0.7", None, [0.7], object()])
def test_a_function_of_an_unknown_type_says_so(function, real, value):
    with pytest.raises(TraceError, match=f"{real.__name__} of a {type(value).__name__}"):
        function(value)


# the angle of a point


@pytest.mark.parametrize(("y", "x"), QUADRANTS + ON_AXES)
def test_atan2_is_the_angle_on_every_number_type(y, x):
    angle = math.atan2(y, x)
    assert atan2(y, x) == angle
    assert atan2(np.float64(y), np.float64(x)) == angle
    assert relative_error(atan2(np.array([y, 2 * y]), np.array([x, 2 * x])), [angle] * 2) <= EPS
    assert atan2(Fraction(y), Fraction(x)) == Fraction(angle)
    assert type(atan2(Fraction(y), Fraction(x))) is Fraction
    assert abs(atan2(complex(y), complex(x)) - angle) <= 2 * EPS


def test_atan2_of_integers_is_a_float():
    assert atan2(1, -1) == 0.75 * math.pi
    assert type(atan2(0, 1)) is float


def test_atan2_of_symbols_is_symbolic():
    x, y = sympy.symbols("x y", real=True)
    assert atan2(y, x) == sympy.atan2(y, x)
    assert atan2(1, x) == sympy.atan2(1, x)
    assert atan2(y, 1) == sympy.atan2(y, 1)
    assert atan2(sympy.Integer(1), sympy.Integer(-1)) == 3 * sympy.pi / 4


def test_atan2_of_traced_scalars_is_a_node():
    y, x = traced_inputs(2)
    assert (atan2(y, x).op, atan2(y, x).args) == ("atan2", (y, x))
    assert (atan2(y, 1.0).op, atan2(1.0, x).op) == ("atan2", "atan2")


MIXED = {
    "float": 0.8,
    "int": 1,
    "numpy float": np.float64(0.8),
    "complex": 0.8 + 0j,
    "array": np.array([0.8, 0.8]),
    "symbol": sympy.Float(0.8),
    "traced": 0.8,
}


@pytest.mark.parametrize("second", ["complex", "array", "symbol", "traced"])
@pytest.mark.parametrize("first", ["float", "int", "numpy float"])
@pytest.mark.parametrize("swapped", [False, True], ids=["number first", "number second"])
def test_atan2_takes_a_number_beside_any_other_scalar(first, second, swapped):
    def angle(of):
        return atan2(of, MIXED[first]) if swapped else atan2(MIXED[first], of)

    expected = math.atan2(*((0.8, MIXED[first]) if swapped else (MIXED[first], 0.8)))
    if second == "traced":
        program = trace("f", lambda x: {"y": [angle(x[0])]}, {"x": (1,)})
        actual = interpret(program, [0.8])[0]
    else:
        actual = angle(MIXED[second])
    assert np.abs(np.asarray(actual, dtype=complex) - expected).max() <= 2 * EPS


def derivatives(y, x):
    """Of the angle, by y and by x."""
    return x / (x * x + y * y), -y / (x * x + y * y)


COMPLEX = {
    "complex": complex,
    "numpy complex": np.complex128,
    "complex array": lambda z: np.array([z]),
}


@pytest.mark.parametrize("make", COMPLEX.values(), ids=COMPLEX)
@pytest.mark.parametrize(("y", "x"), QUADRANTS + ON_AXES)
def test_the_complex_step_derivative_of_atan2_is_right_all_around(y, x, make):
    h = 1e-30
    by_y = atan2(make(complex(y, h)), make(complex(x)))
    by_x = atan2(make(complex(y)), make(complex(x, h)))
    assert np.abs(np.real(by_y) - math.atan2(y, x)) <= 2 * EPS
    steps = np.hstack([np.imag(by_y), np.imag(by_x)]) / h
    assert relative_error(steps, derivatives(y, x)) < EXACT


@pytest.mark.parametrize(("y", "x"), QUADRANTS)
def test_the_complex_step_of_atan2_takes_the_other_argument_real(y, x):
    h = 1e-30
    steps = [atan2(complex(y, h), x).imag / h, atan2(y, complex(x, h)).imag / h]
    assert relative_error(steps, derivatives(y, x)) < EXACT


def test_atan2_at_the_origin_is_zero_on_complex_numbers():
    assert atan2(0j, 0j) == 0.0
    assert atan2(np.zeros(2, complex), np.zeros(2, complex)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("arguments", [("1", 2.0), (None, 2.0), ([1.0], [2.0]), (1.0, "2")])
def test_atan2_of_an_unknown_type_says_so(arguments):
    with pytest.raises(TraceError, match="this scalar type is not supported"):
        atan2(*arguments)


def test_atan2_names_the_argument_that_is_unknown():
    with pytest.raises(TraceError, match="atan2 of a str"):
        atan2(1.0, "2")


# conditions


@pytest.mark.parametrize("kind", [float, int, np.float64, Fraction, complex, np.complex128])
def test_less_compares_numbers_of_every_type(kind):
    assert less(kind(1), kind(2))
    assert not less(kind(2), kind(1))
    assert not less(kind(1), kind(1))


@pytest.mark.parametrize("other", [float, int, np.float64, Fraction])
def test_less_compares_complex_numbers_by_their_real_parts_with_any_number(other):
    assert less(1 + 9j, other(2))
    assert not less(2 - 9j, other(2))
    assert less(other(1), 2 + 9j)
    assert not less(other(2), 2 + 9j)


def test_less_of_arrays_is_an_array_of_truth_values():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    assert less(a, b).tolist() == [True, False, False]
    assert less(a, 2.5).tolist() == [True, True, False]
    assert less(2.5, a).tolist() == [False, False, True]


def test_less_of_complex_arrays_compares_real_parts():
    a = np.array([1 + 5j, 2 - 5j, 3 + 0j])
    assert less(a, np.array([2.0, 2.0, 2.0])).tolist() == [True, False, False]
    assert less(np.float64(2.0), a).tolist() == [False, False, True]
    assert less(2.0, np.array([2 + 5j])).tolist() == [False]


def test_less_of_symbols_is_a_relation():
    x = sympy.Symbol("x", real=True)
    assert less(x, 1) == (x < 1)
    assert less(1, x) == sympy.StrictLessThan(1, x)


def test_less_of_traced_scalars_is_a_node():
    a, b = traced_inputs(2)
    assert (less(a, b).op, less(a, b).args) == ("less", (a, b))
    for number in (1.0, 1, np.float64(1.0), Fraction(1)):
        assert less(number, a).args[1] is a
        assert less(a, number).args[0] is a


@pytest.mark.parametrize("kind", [float, int, np.float64, Fraction, complex, sympy.Integer])
def test_select_takes_the_first_where_the_condition_holds(kind):
    a, b = kind(1), kind(2)
    assert select(less(a, b), a, b) is a
    assert select(less(b, a), a, b) is b


def test_select_on_arrays_chooses_for_each_element():
    x = np.array([-1.0, 2.0, -3.0])
    assert select(less(x, 0.0), -x, x).tolist() == [1.0, 2.0, 3.0]
    assert select(less(x, 0.0), 0.0, x).tolist() == [0.0, 2.0, 0.0]


def test_select_on_symbols_is_piecewise():
    x = sympy.Symbol("x", real=True)
    magnitude = select(less(x, 0), -x, x)
    assert [magnitude.subs(x, value) for value in (-2, 0, 3)] == [2, 0, 3]


def test_select_on_traced_scalars_is_a_node():
    a, b = traced_inputs(2)
    node = select(less(a, b), a, 1.0)
    assert (node.op, node.args[1]) == ("select", a)
    program = trace("f", lambda x: {"y": [select(less(x[0], 0.0), -x[0], x[0])]}, {"x": (1,)})
    assert interpret(program, [[-2.0], [3.0]])[0].tolist() == [[2.0], [3.0]]


def test_a_traced_condition_is_no_truth_value():
    a, b = traced_inputs(2)
    with pytest.raises(TraceError, match=r"write kinetree\.scalar\.select"):
        bool(less(a, b))


def test_a_traced_scalar_of_another_program_is_refused():
    (a,), (b,) = traced_inputs(1), traced_inputs(1)
    with pytest.raises(TraceError, match="one program was used in another"):
        atan2(a, b)


def test_a_number_is_known_whatever_stands_for_it():
    traced = []

    def look(q):
        traced.extend(known(x) for x in (q[0] * 0.0, q[0] * 0.0 + 1.0, q[0]))
        return {"out": [q[0]]}

    trace("look", look, {"q": (1,)})
    assert traced == [0.0, 1.0, None]
    assert [known(x) for x in (2, 0.5, np.float64(3.0))] == [2.0, 0.5, 3.0]
    assert known(Dual(1.0, 0)) == 1.0
    assert known(Dual(Dual(1.0, 0), Dual(0, 0))) == 1.0


@pytest.mark.parametrize(
    "scalar", [Dual(1.0, 1.0), Fraction(1), 1 + 0j, np.ones(2), sympy.Symbol("x")], ids=repr
)
def test_what_may_change_or_is_no_float_is_not_known(scalar):
    assert known(scalar) is None


@pytest.mark.parametrize("function", [sin, cos])
def test_at_infinity_the_functions_of_an_angle_are_nan_as_on_every_target(function):
    assert math.isnan(function(math.inf))
    assert math.isnan(function(-math.inf))


def test_constants_belong_to_a_structure_by_their_value():
    def structure_of(places, scalars):
        return take_apart([1.0, Constant(places), (2.0, None)], scalars)

    scalars = []
    structure = structure_of((0, 2), scalars)
    assert scalars == [1.0, 2.0]
    assert structure == structure_of((0, 2), [])
    assert structure != structure_of((0, 1), [])
    assert put_together(structure, iter([3.0, 4.0])) == [3.0, Constant((0, 2)), (4.0, None)]
    assert scalar_count(structure) == 2
