"""Sine, cosine and arctangent: their accuracy in ulp, their special values, no dependence on place.

An ulp is the distance of the doubles (or singles) around the exact value. The oracle is the C
library's long double where that has 64 bits, mpmath on a sample elsewhere, and for singles the
doubles.
"""

import ctypes
import itertools
import math
from functools import cache

import mpmath
import numpy as np
import pytest
from llvmlite import ir

from kinetree.compiler.emit.llvm import Target
from kinetree.compiler.graph import trace
from kinetree.compiler.native.functions import LIMIT, define_routines
from kinetree.compiler.runtime.cpu.host import host
from kinetree.compiler.runtime.cpu.support import support
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.program_key import ProgramKey
from kinetree.scalar import atan2, cos, sin

ULP = 2.0  # what the routines promise
COUNT = 400_000
SAMPLE = 400
WORST = 6381956970095103 * 2.0**797  # of all doubles, the nearest to a multiple of pi/2
LONG = np.finfo(np.longdouble).nmant >= 63
TYPES = {"double": np.float64, "float": np.float32}

both_types = pytest.mark.parametrize("kind", TYPES)


@cache
def sincos():
    return Kernel(
        ProgramKey("sincos", ("test_routines", "sincos")),
        lambda: trace("sincos", lambda x: {"s": sin(x[0]), "c": cos(x[0])}, {"x": ()}),
    )


@cache
def arctangent():
    return Kernel(
        ProgramKey("atan2", ("test_routines", "atan2")),
        lambda: trace("atan2", lambda y, x: {"a": atan2(y[0], x[0])}, {"y": (), "x": ()}),
    )


# the oracle

NUMPY = {"sin": np.sin, "cos": np.cos, "atan2": np.arctan2}


def exactly(name, *arguments) -> mpmath.mpf:
    """A function of doubles, with a hundred digits left over."""
    with mpmath.workprec(1500):
        return getattr(mpmath, name)(*(mpmath.mpf(float(x)) for x in arguments))


def ulps_by_mpmath(actual, name, *arguments) -> float:
    """The largest error over a sample, in ulp."""
    step = max(1, len(actual) // SAMPLE)
    worst = 0.0
    for a, *x in zip(actual[::step], *(x[::step] for x in arguments), strict=True):
        exact = exactly(name, *x)
        spacing = float(np.spacing(np.abs(actual.dtype.type(exact))))
        with mpmath.workprec(1500):
            worst = max(worst, float(abs(mpmath.mpf(float(a)) - exact) / spacing))
    return worst


def ulps(actual, name, *arguments) -> float:
    """The largest error of some results, in ulp."""
    assert np.isfinite(actual).all()
    kind = actual.dtype.type
    if kind is np.float64 and not LONG:
        return ulps_by_mpmath(actual, name, *arguments)
    wide = np.longdouble if kind is np.float64 else np.float64
    exact = NUMPY[name](*(x.astype(wide) for x in arguments))
    return float((np.abs(actual - exact) / np.spacing(np.abs(exact.astype(kind)))).max())


@pytest.mark.skipif(not LONG, reason="long double is double here")
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_oracle_is_exact_to_a_hundredth_of_an_ulp(name):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-1e5, 1e5, SAMPLE), 10.0 ** rng.uniform(5, 300, SAMPLE)])
    x = np.concatenate([x, multiples_of_half_pi(200), [WORST]])
    for value, exact in zip(x, NUMPY[name](x.astype(np.longdouble)), strict=True):
        high = float(exact)
        with mpmath.workprec(1500):
            error = mpmath.mpf(high) + float(exact - high) - exactly(name, value)
        assert abs(error) < 0.01 * np.spacing(abs(high))


# sine and cosine


def multiples_of_half_pi(count):
    """The doubles nearest to k pi/2, k = 1, 2, ..., count."""
    with mpmath.workprec(300):
        return np.array([float(k * mpmath.pi / 2) for k in range(1, count + 1)])


def around(x):
    """Some numbers, their neighbours on both sides, and all of them negative too."""
    low, high = (np.nextafter(x, x.dtype.type(s * np.inf)) for s in (-1, 1))
    three = np.concatenate([low, x, high])
    return np.concatenate([three, -three])


ANGLES = {
    "within a turn": lambda rng: rng.uniform(-7.0, 7.0, COUNT),
    "to 1e5": lambda rng: rng.uniform(-1e5, 1e5, COUNT),
    "of every size to 1e5": lambda rng: 10.0 ** rng.uniform(-30.0, 5.0, COUNT),
    "to the limit": lambda rng: rng.uniform(-LIMIT, LIMIT, COUNT),
    "across the limit": lambda rng: np.concatenate(
        [rng.uniform(0.999 * LIMIT, 1.001 * LIMIT, COUNT // 4), around(np.array([LIMIT]))]
    ),
    "of every size to 1e38": lambda rng: 10.0 ** rng.uniform(5.0, 38.0, COUNT // 4),
}


def assert_accurate(x):
    with np.errstate(all="ignore"):
        s, c = sincos()(x)
    assert s.dtype == c.dtype == x.dtype
    assert ulps(s, "sin", x) <= ULP
    assert ulps(c, "cos", x) <= ULP


@both_types
@pytest.mark.parametrize("angles", ANGLES.values(), ids=ANGLES)
def test_sine_and_cosine_are_accurate_to_2_ulp(angles, kind):
    assert_accurate(angles(np.random.default_rng(1)).astype(TYPES[kind]))


def test_sine_and_cosine_of_huge_doubles_are_accurate_to_2_ulp():
    assert_accurate(10.0 ** np.random.default_rng(2).uniform(38.0, 300.0, COUNT // 4))


@both_types
def test_sine_and_cosine_near_multiples_of_half_pi_are_accurate_to_2_ulp(kind):
    assert_accurate(around(multiples_of_half_pi(60_000).astype(TYPES[kind])))


def test_sine_and_cosine_near_multiples_of_half_pi_up_to_the_limit_are_accurate_to_2_ulp():
    k = np.arange(60_000, int(LIMIT / (math.pi / 2)))
    half_pi = np.longdouble(math.pi / 2) + np.longdouble(math.cos(math.pi / 2))
    assert_accurate(around((k * half_pi).astype(np.float64)))


@pytest.mark.parametrize("x", [float.fromhex("0x1.39c6fd67805a7p+18"), 1e22, 1e300])
def test_sine_and_cosine_of_the_hardest_doubles_are_accurate_to_2_ulp(x):
    with np.errstate(all="ignore"):
        s, c = sincos()(np.array([x, 1.0]))
    assert ulps_by_mpmath(s[:1], "sin", np.array([x])) <= ULP
    assert ulps_by_mpmath(c[:1], "cos", np.array([x])) <= ULP


def test_the_cosine_nearest_to_zero_is_the_c_librarys_and_right_to_ten_ulp():
    # glibc's own is 7.95 ulp off here, so 2 ulp cannot be asked for beyond the limit
    with np.errstate(all="ignore"):
        s, c = sincos()(np.array([WORST, -WORST]))
    assert (s == [1.0, -1.0]).all()
    assert (c == math.cos(WORST)).all()
    assert ulps_by_mpmath(c, "cos", np.array([WORST, -WORST])) <= 10.0


def test_sine_and_cosine_beyond_the_limit_are_those_of_the_c_library():
    x = 10.0 ** np.random.default_rng(2).uniform(6.0, 300.0, 1000)
    with np.errstate(all="ignore"):
        s, c = sincos()(x)
    np.testing.assert_array_equal(s, [math.sin(v) for v in x])
    np.testing.assert_array_equal(c, [math.cos(v) for v in x])


@both_types
def test_sine_and_cosine_of_infinities_and_of_nan_are_nan(kind):
    x = np.array([np.inf, -np.inf, np.nan], dtype=TYPES[kind])
    with np.errstate(invalid="ignore"):
        s, c = sincos()(x)
    assert np.isnan(s).all()
    assert np.isnan(c).all()


@both_types
def test_the_sine_of_a_zero_is_that_zero(kind):
    s, c = sincos()(np.array([0.0, -0.0], dtype=TYPES[kind]))
    assert (s == 0.0).all()
    assert np.signbit(s).tolist() == [False, True]
    assert (c == 1.0).all()


@both_types
def test_the_sine_of_a_tiny_number_is_that_number(kind):
    info = np.finfo(TYPES[kind])
    tiny = [info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny / 3, info.tiny]
    x = np.array([*tiny, *(-t for t in tiny)], dtype=TYPES[kind])
    s, c = sincos()(x)
    np.testing.assert_array_equal(s, x)
    assert (c == 1.0).all()


@both_types
def test_the_sine_is_odd_and_the_cosine_even_to_the_bit(kind):
    x = np.random.default_rng(3).uniform(0.0, 1e5, 10_000).astype(TYPES[kind])
    (s, c), (s_minus, c_minus) = sincos()(x), sincos()(-x)
    np.testing.assert_array_equal(s_minus, -s)
    np.testing.assert_array_equal(c_minus, c)


@both_types
def test_sines_of_large_finite_angles_give_no_floating_point_warning(kind):
    largest = np.finfo(TYPES[kind]).max
    x = np.array([LIMIT * 1.5, 1e10, 1e30, largest / 4, largest], dtype=TYPES[kind])
    with np.errstate(all="raise", under="ignore"):
        s, c = sincos()(x)
    assert np.hypot(s, c) == pytest.approx(np.ones(5), rel=1e-6)


# arctangent

TAN = math.tan(math.pi / 8)  # where the routine changes its formula


def signs(rng, count=COUNT):
    return rng.choice([-1.0, 1.0], count)


POINTS = {
    "all round": lambda rng: rng.normal(size=(2, COUNT)),
    "of every size": lambda rng: 10.0 ** rng.uniform(-15, 15, (2, COUNT)) * signs(rng, (2, COUNT)),
    "near the diagonals": lambda rng: _beside(rng, 1.0, 1e-3),
    "near a sixteenth of a turn": lambda rng: _beside(rng, TAN, 1e-2),
    "near three sixteenths of a turn": lambda rng: _beside(rng, 1.0 / TAN, 1e-2),
    "just above a sixteenth of a turn": lambda rng: _beside(rng, TAN + 0.05, 0.1),
    "near the axes": lambda rng: _beside(rng, 0.0, 1e-6),
    "on whole numbers": lambda rng: rng.integers(-50, 51, (2, COUNT)) + 0.5,
}


def _beside(rng, slope, spread):
    x = rng.normal(size=COUNT)
    y = x * (slope + spread * rng.uniform(-1.0, 1.0, COUNT)) * signs(rng)
    return np.stack([y, x])


@both_types
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_the_arctangent_is_accurate_to_2_ulp(points, kind):
    y, x = points(np.random.default_rng(4)).astype(TYPES[kind])
    angle = arctangent()(y, x)
    assert angle.dtype == x.dtype
    assert ulps(angle, "atan2", y, x) <= ULP


@both_types
def test_the_arctangent_of_numbers_near_overflow_is_accurate_to_2_ulp(kind):
    info = np.finfo(TYPES[kind])
    scales = np.array([1.0, 0.99, 0.9, 0.7, 0.5, 0.45, 0.3, 0.1, 1e-10], dtype=TYPES[kind])
    y, x = np.array(list(itertools.product(scales, scales))).T * info.max
    for sign_y, sign_x in itertools.product([1, -1], repeat=2):
        with np.errstate(all="raise", under="ignore"):
            angle = arctangent()(sign_y * y, sign_x * x)
        assert ulps(angle, "atan2", sign_y * y, sign_x * x) <= ULP


@both_types
def test_the_arctangent_of_tiny_numbers_is_accurate_to_2_ulp(kind):
    info = np.finfo(TYPES[kind])
    least = info.smallest_subnormal
    scales = np.array([least, 2 * least, 3 * least, 1000 * least, info.tiny, 1.5 * info.tiny])
    y, x = np.array(list(itertools.product(scales, scales)), dtype=TYPES[kind]).T
    for sign_y, sign_x in itertools.product([1, -1], repeat=2):
        angle = arctangent()(sign_y * y, sign_x * x)
        assert ulps(angle, "atan2", sign_y * y, sign_x * x) <= ULP


@both_types
def test_the_arctangent_underflows_gradually(kind):
    info = np.finfo(TYPES[kind])
    y = np.array([info.tiny, info.tiny * 0.75, info.tiny / 8], dtype=TYPES[kind])
    for x in (1.0, 2.0, 3.0):
        angle = arctangent()(y, TYPES[kind](x))
        assert np.abs(angle - y / TYPES[kind](x)).max() <= info.smallest_subnormal


@both_types
def test_the_arctangent_of_zeros_axes_infinities_and_nan_is_that_of_c(kind):
    values = [0.0, 1.0, 2.5, math.inf]
    values = [*values, *(-v for v in values), math.nan]
    y, x = np.array(list(itertools.product(values, values)), dtype=TYPES[kind]).T
    with np.errstate(invalid="ignore"):
        angle = arctangent()(y, x)
    expected = np.array([math.atan2(*p) for p in zip(y, x, strict=True)], dtype=TYPES[kind])
    np.testing.assert_array_max_ulp(angle, expected, 1, dtype=TYPES[kind])
    np.testing.assert_array_equal(np.isnan(angle), np.isnan(expected))
    exact = (y == 0.0) | (x == 0.0) | np.isinf(y) | np.isinf(x)  # multiples of pi/4, and zeros
    np.testing.assert_array_equal(angle[exact], expected[exact])
    there = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(angle[there]), np.signbit(expected[there]))


@both_types
def test_the_arctangent_is_odd_to_the_bit(kind):
    y, x = np.random.default_rng(5).normal(size=(2, 10_000)).astype(TYPES[kind])
    np.testing.assert_array_equal(arctangent()(-y, x), -arctangent()(y, x))


# no dependence on place


def bits(array):
    return array.view(f"i{array.itemsize}")


@both_types
@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 100])
def test_results_do_not_depend_on_the_place_in_a_batch_nor_on_its_size(size, kind):
    rng = np.random.default_rng(6)
    x = rng.uniform(-100.0, 100.0, 100).astype(TYPES[kind])
    x[::13] *= TYPES[kind](1e6)  # beyond the limit: computed another way, beside others
    x[5], x[50] = 0.0, LIMIT
    y = rng.permutation(x)
    with np.errstate(all="ignore"):
        all_at_once = [*sincos()(x), arctangent()(y, x)]
        for start in range(101 - size):
            part = slice(start, start + size)
            results = [*sincos()(x[part]), arctangent()(y[part], x[part])]
            for result, expected in zip(results, all_at_once, strict=True):
                np.testing.assert_array_equal(bits(result), bits(expected[part]))


# other targets than this machine's own


@cache
def compiled(kind, lanes, fma):
    """(sincos, atan2) on arrays, compiled for some number of lanes, with or without fma."""
    support(kind)  # the C library's functions
    target = Target(kind, lanes, fma)
    module = ir.Module("test_routines")
    define_routines(module, target)
    loaded = host().load([host().compile(str(module), optimise=True)])
    routine = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def call(name, results, *arguments):
        rows = np.ascontiguousarray(np.stack(arguments))
        out = np.empty((results, rows.shape[1]), dtype=rows.dtype)
        address = loaded.address(target.routine(name))
        routine(address)(rows.ctypes.data, out.ctypes.data, rows.shape[1])
        return out

    return lambda x: call("sincos", 2, x), lambda y, x: call("atan2", 1, y, x)[0], loaded


@both_types
@pytest.mark.parametrize("lanes", [2, 8])
def test_without_fma_the_routines_are_accurate_to_2_ulp(lanes, kind):
    turn, angle, _ = compiled(kind, lanes, fma=False)
    rng = np.random.default_rng(7)
    for x in (rng.uniform(-7.0, 7.0, COUNT), rng.uniform(-1e5, 1e5, COUNT)):
        x = x.astype(TYPES[kind])
        s, c = turn(x)
        assert ulps(s, "sin", x) <= ULP
        assert ulps(c, "cos", x) <= ULP
    near = around(multiples_of_half_pi(20_000).astype(TYPES[kind]))
    s, c = turn(near[: len(near) // lanes * lanes])
    assert ulps(s, "sin", near[: len(s)]) <= ULP
    assert ulps(c, "cos", near[: len(c)]) <= ULP
    y, x = rng.normal(size=(2, COUNT)).astype(TYPES[kind])
    assert ulps(angle(y, x), "atan2", y, x) <= ULP


@pytest.mark.skipif(not host().fma, reason="without fma on this machine")
@both_types
@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_every_width_gives_the_same_bits(lanes, kind):
    turn, angle, _ = compiled(kind, lanes, fma=True)
    rng = np.random.default_rng(8)
    x = rng.uniform(-1e6, 1e6, 1600).astype(TYPES[kind])
    y = rng.permutation(x)
    with np.errstate(all="ignore"):
        expected = [*sincos()(x), arctangent()(y, x)]
    for result, wanted in zip([*turn(x), angle(y, x)], expected, strict=True):
        np.testing.assert_array_equal(bits(result), bits(wanted))
