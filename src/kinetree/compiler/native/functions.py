"""Sine with cosine, and arctangent, for many arguments at once, as LLVM IR.

    void kinetree_sincos_T(T *x, T *results, i64 n)    results: n sines, then n cosines
    void kinetree_atan2_T(T *yx, T *results, i64 n)    arguments: n y's, then n x's

n is a whole number of vectors. Both are accurate to 2 ulp (the tests measure them). The same
instructions serve every lane, so a value does not depend on its place.

Polynomials are minimax, from tools/minimax.py. The reduction of x by multiples of pi/2 takes two
or three parts of pi/2 whose products with the multiple are exact (Cody & Waite); it holds for
|x| <= LIMIT, beyond which, and for infinities and NaN, the C library's double routines are called.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from kinetree.compiler.emit.llvm import Target
from kinetree.compiler.emit.sine import COS, HALF_PI, SIN
from kinetree.compiler.emit.sine import SINE_LIMIT as LIMIT
from kinetree.compiler.graph.schedule import RESULTS
from kinetree.compiler.native.ir import (
    I64,
    PTR,
    VOID,
    Builder,
    external,
    function,
    loop,
    splat,
)
from kinetree.compiler.native.layout import WRITTEN_ROUTINES

ATAN = {
    "double": (
        -0.333333333333332,
        0.19999999999953202,
        -0.142857142801619,
        0.11111110781914757,
        -0.09090897718143301,
        0.07692059587641416,
        -0.06663097692734658,
        0.05847848033815157,
        -0.05039138739690716,
        0.03806080156616967,
        -0.017903547675442295,
    ),
    "float": (
        -0.3333331518027304,
        0.1999847096389945,
        -0.14243522236901432,
        0.10593726965226598,
        -0.060779907032555175,
    ),
}

# pi/4 as the nearest number of each type, and the remainder
QUARTER_PI = {
    "double": (0.7853981633974483, 3.061616997868383e-17),
    "float": (0.7853981852531433, -2.1855694143368964e-08),
}
# outside these bounds, an arctangent's arguments are scaled by a power of two
TINY = {"double": (2.0**-900, 2.0**100), "float": (2.0**-80, 2.0**40)}
HUGE = {"double": 2.0**1000, "float": 2.0**100}
MAGIC = 1.5 * 2.0**52  # added to a double, it leaves the rounded integer in the low bits


class _Vectors:
    """The arithmetic of vectors of one type, with or without fused instructions."""

    def __init__(self, b: Builder, target: Target, kind: str, lanes: int) -> None:
        scalar = ir.DoubleType() if kind == "double" else ir.FloatType()
        self.b, self.target = b, target
        self.type = ir.VectorType(scalar, lanes)
        self.bits = ir.VectorType(ir.IntType(64 if kind == "double" else 32), lanes)
        self.top_bit = splat(self.bits, 1 << (self.bits.element.width - 1))

    def number(self, value: float) -> Any:
        return splat(self.type, value)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        if self.target.fma:
            name = f"llvm.fma.v{self.type.count}f{self.bits.element.width}"
            fused = external(self.b.module, name, self.type, [self.type] * 3)
            return self.b.call(fused, [x, y, z])
        return self.b.fadd(self.b.fmul(x, y), z)

    def polynomial(self, z: Any, coefficients: tuple[float, ...]) -> Any:
        total = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = self.fma(total, z, self.number(c))
        return total

    def absolute(self, x: Any) -> Any:
        ones = splat(self.bits, (1 << (self.bits.element.width - 1)) - 1)
        return self.b.bitcast(self.b.and_(self.b.bitcast(x, self.bits), ones), self.type)

    def sign(self, x: Any) -> Any:
        """The sign bit of each lane, as bits."""
        return self.b.and_(self.b.bitcast(x, self.bits), self.top_bit)

    def flip(self, x: Any, sign: Any) -> Any:
        """x, its sign changed where a sign bit is set."""
        return self.b.bitcast(self.b.xor(self.b.bitcast(x, self.bits), sign), self.type)


def define_routines(module: ir.Module, target: Target) -> None:
    """Add the routines for one type to a module."""
    _define_sincos(module, target)
    _define_atan2(module, target)
    for name in sorted(RESULTS.keys() - WRITTEN_ROUTINES):
        _define_by_libm(module, target, name)


def _define_by_libm(module: ir.Module, target: Target, name: str) -> None:
    """A routine that calls the C library's double function for each argument."""
    b = function(module, target.routine(name), VOID, [PTR, PTR, I64])
    xs, results, n = b.arguments
    scalar = ir.DoubleType() if target.type == "double" else ir.FloatType()
    with loop(b, 0, n) as i:
        x = xs.of(scalar)[i]
        results[i] = _libm(b, module, name, x)
    b.ret_void()


def _libm(b: Builder, module: ir.Module, name: str, x: Any) -> Any:
    """A function of the C library, for doubles or floats."""
    single = x.type == ir.FloatType()
    called = external(module, name, ir.DoubleType(), [ir.DoubleType()])
    y = b.call(called, [b.fpext(x, ir.DoubleType()) if single else x])
    return b.fptrunc(y, ir.FloatType()) if single else y


def _define_sincos(module: ir.Module, target: Target) -> None:
    b = function(module, target.routine("sincos"), VOID, [PTR, PTR, I64])
    xs, results, n = b.arguments
    v = _Vectors(b, target, target.type, target.lanes)
    with loop(b, 0, n, target.lanes) as i:
        x = _load(b, v, xs, i)
        sine, cosine, exact = _sincos(b, target, v, x)
        _store(b, v, sine, results, i)
        _store(b, v, cosine, results, i + n)
        inexact = b.not_(_all(b, exact))
        with b.if_then(inexact, likely=False), loop(b, 0, target.lanes) as lane:
            at = i + lane
            x_lane = xs.of(v.type.element)[at]
            wide = b.fpext(x_lane, ir.DoubleType()) if target.type == "float" else x_lane
            with b.if_then(b.not_(_within(b, module, wide))):
                for name, place in (("sin", at), ("cos", at + n)):
                    results[place] = _libm(b, module, name, x_lane)
    b.ret_void()


def _sincos(b: Builder, target: Target, v: _Vectors, x: Any) -> tuple[Any, Any, Any]:
    """(sin x, cos x, whether each lane is within LIMIT)."""
    wide = _Vectors(b, target, "double", target.lanes)
    y = b.fpext(x, wide.type) if target.type == "float" else x
    sign, y = v.sign(x), wide.absolute(y)
    exact = b.fcmp_ordered("<=", y, wide.number(LIMIT))
    y = b.select(exact, y, wide.number(0.0))  # beyond LIMIT, replaced later: keep finite
    r, tail, quadrant = _reduce(b, target, v, wide, y)
    z = b.fmul(r, r)
    s = b.fadd(r, v.fma(b.fmul(z, r), v.polynomial(z, SIN[target.type]), tail))
    half = v.fma(z, v.number(-0.5), v.number(1.0))
    c = v.fma(b.fmul(z, z), v.polynomial(z, COS[target.type]), b.fneg(b.fmul(r, tail)))
    c = b.fadd(half, c)
    # odd quadrants swap the two; the second bit of k is sin's sign, that of k + 1 is cos's
    odd = quadrant & splat(v.bits, 1) != splat(v.bits, 0)
    sine, cosine = b.select(odd, c, s), b.select(odd, s, c)
    top = splat(v.bits, v.bits.element.width - 2)
    two = splat(v.bits, 2)
    sine = v.flip(sine, b.xor(sign, b.shl(quadrant & two, top)))
    cosine = v.flip(cosine, b.shl(quadrant + splat(v.bits, 1) & two, top))
    return sine, cosine, exact


def _reduce(
    b: Builder, target: Target, v: _Vectors, wide: _Vectors, y: Any
) -> tuple[Any, Any, Any]:
    """(r, tail, quadrant): y - k pi/2 = r + tail, k the nearest integer, the quadrant its low bits.

    Arguments:
        wide: vectors of doubles, in which a float is reduced.
    """
    shifted = wide.fma(y, wide.number(2.0 / math.pi), wide.number(MAGIC))
    k = b.fsub(shifted, wide.number(MAGIC))
    quadrant = b.bitcast(shifted, wide.bits)
    r = wide.fma(k, wide.number(-HALF_PI[0]), y)
    if target.type == "float":
        for part in HALF_PI[1:3]:
            r = wide.fma(k, wide.number(-part), r)
        return b.fptrunc(r, v.type), v.number(0.0), b.trunc(quadrant, v.bits)
    lost = []  # the rounding errors of the subtractions
    for part in HALF_PI[1:3]:
        product = b.fmul(k, wide.number(part))
        less = b.fsub(r, product)
        lost.append(b.fsub(b.fsub(r, less), product))
        r = less
    return r, wide.fma(k, wide.number(-HALF_PI[3]), b.fadd(*lost)), quadrant


def _define_atan2(module: ir.Module, target: Target) -> None:
    b = function(module, target.routine("atan2"), VOID, [PTR, PTR, I64])
    yx, results, n = b.arguments
    v = _Vectors(b, target, target.type, target.lanes)
    with loop(b, 0, n, target.lanes) as i:
        y, x = _load(b, v, yx, i), _load(b, v, yx, i + n)
        _store(b, v, _atan2(b, target, v, y, x), results, i)
    b.ret_void()


def _atan2(b: Builder, target: Target, v: _Vectors, y: Any, x: Any) -> Any:
    """The angle of (x, y): that within an octant, then turned to the point's octant."""
    ay, ax = v.absolute(y), v.absolute(x)
    steep = b.fcmp_ordered(">", ay, ax)
    high, low = b.select(steep, ay, ax), b.select(steep, ax, ay)
    low, high = _scale(b, target, v, *_replace_infinities(b, v, low, high))
    far, t, tail = _octant_angle(b, target, v, low, high)
    behind = v.sign(x) != splat(v.bits, 0)
    eighths = _eighths(b, v, far, steep, behind)
    minus = b.select(b.xor(steep, behind), v.top_bit, splat(v.bits, 0))
    t, tail = v.flip(t, minus), v.flip(tail, minus)
    whole, part = (v.number(c) for c in QUARTER_PI[target.type])
    angle = v.fma(eighths, whole, b.fadd(t, v.fma(eighths, part, tail)))
    angle = v.flip(angle, v.sign(y))
    return b.select(b.fcmp_unordered("uno", y, x), b.fadd(y, x), angle)


def _replace_infinities(b: Builder, v: _Vectors, low: Any, high: Any) -> tuple[Any, Any]:
    """Replace infinities by one, finite values next to them by zero, and two zeros by 0 and 1."""
    zero, one = v.number(0.0), v.number(1.0)
    infinite = b.fcmp_ordered("==", high, v.number(math.inf))
    low = b.select(infinite, b.select(b.fcmp_ordered("==", low, high), one, zero), low)
    high = b.select(infinite, one, high)
    return low, b.select(b.fcmp_ordered("==", high, zero), one, high)


def _scale(b: Builder, target: Target, v: _Vectors, low: Any, high: Any) -> tuple[Any, Any]:
    """Both multiplied by a power of two, away from overflow and underflow."""
    tiny, scale = TINY[target.type]
    factor = b.select(b.fcmp_ordered("<", high, v.number(tiny)), v.number(scale), v.number(1.0))
    factor = b.select(
        b.fcmp_ordered(">", high, v.number(HUGE[target.type])), v.number(0.25), factor
    )
    return b.fmul(low, factor), b.fmul(high, factor)


def _octant_angle(
    b: Builder, target: Target, v: _Vectors, low: Any, high: Any
) -> tuple[Any, Any, Any]:
    """(far, t, tail): atan(low / high) = t + tail, and pi/4 more where far.

    Above tan(pi/8), atan(low/high) = pi/4 + atan((low - high) / (low + high)).
    """
    zero, one = v.number(0.0), v.number(1.0)
    far = b.fcmp_ordered(">", low, b.fmul(high, v.number(math.tan(math.pi / 8))))
    first, second = b.select(far, b.fneg(high), low), b.select(far, low, zero)
    numerator, denominator = b.fadd(first, second), b.fadd(high, second)
    # the rounding errors of the two sums, and with fma of the quotient
    lost = b.fadd(b.fsub(first, numerator), second)
    lost_below = b.fadd(b.fsub(high, denominator), second)
    inverse = b.fdiv(one, denominator)
    if target.fma:
        t = b.fmul(numerator, inverse)
        lost = b.fadd(lost, v.fma(b.fneg(t), denominator, numerator))
    else:
        t = b.fdiv(numerator, denominator)
    tail = b.fmul(b.fsub(lost, b.fmul(t, lost_below)), inverse)
    z = b.fmul(t, t)
    return far, t, v.fma(b.fmul(z, t), v.polynomial(z, ATAN[target.type]), tail)


def _eighths(b: Builder, v: _Vectors, far: Any, steep: Any, behind: Any) -> Any:
    """m from 0 to 4: the angle in the upper half plane is m pi/4 plus or minus (t + tail)."""
    zero, one, two, four = (v.number(n) for n in (0.0, 1.0, 2.0, 4.0))
    m = b.select(far, one, zero)
    m = b.select(steep, b.fsub(two, m), m)
    return b.select(behind, b.fsub(four, m), m)


def _load(b: Builder, v: _Vectors, base: Any, index: Any) -> Any:
    at = b.gep(base, [index], source_etype=v.type.element)
    return b.load(at, typ=v.type, align=v.bits.element.width // 8)


def _store(b: Builder, v: _Vectors, value: Any, base: Any, index: Any) -> None:
    at = b.gep(base, [index], source_etype=v.type.element)
    b.store(value, at, align=v.bits.element.width // 8)


def _all(b: Builder, conditions: Any) -> Any:
    """Whether every lane holds."""
    packed = b.bitcast(conditions, ir.IntType(conditions.type.count))
    return packed == ir.Constant(packed.type, -1)


def _within(b: Builder, module: ir.Module, x: Any) -> Any:
    fabs = module.declare_intrinsic("llvm.fabs", [x.type])
    return b.fcmp_ordered("<=", b.call(fabs, [x]), ir.Constant(x.type, LIMIT))
