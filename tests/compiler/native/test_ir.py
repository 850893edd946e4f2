"""Values with operators: each becomes the instruction that it reads as."""

import ctypes

import pytest
from llvmlite import ir

from kinetree.compiler.native.ir import I8, I32, I64, PTR, Value, function, loop
from kinetree.compiler.runtime.cpu.host import host

OPERATORS = {
    "sum": (lambda x, y: x + y, lambda x, y: x + y),
    "difference": (lambda x, y: x - y, lambda x, y: x - y),
    "product": (lambda x, y: x * y, lambda x, y: x * y),
    "quotient": (lambda x, y: x // y, lambda x, y: x // y),
    "remainder": (lambda x, y: x % y, lambda x, y: x % y),
    "and": (lambda x, y: x & y, lambda x, y: x & y),
    "or": (lambda x, y: x | y, lambda x, y: x | y),
    "negative": (lambda x, y: -x, lambda x, y: -x),
    "number on the right": (lambda x, y: x + 3, lambda x, y: x + 3),
    "numbers on the left": (lambda x, y: 100 - x + 1 // y, lambda x, y: 100 - x + 1 // y),
    "less": (lambda x, y: x.b.zext(x < y, I64), lambda x, y: x < y),
    "less or equal": (lambda x, y: x.b.zext(x <= 7, I64), lambda x, y: x <= 7),
    "greater": (lambda x, y: x.b.zext(x > y, I64), lambda x, y: x > y),
    "greater or equal": (lambda x, y: x.b.zext(x >= y, I64), lambda x, y: x >= y),
    "equal": (lambda x, y: x.b.zext(x == y, I64), lambda x, y: x == y),
    "unequal": (lambda x, y: x.b.zext(x != 7, I64), lambda x, y: x != 7),
}


def compiled(types, write):
    """A function of generated code, called by ctypes; `write` gives its 64-bit result."""
    module = ir.Module("test")
    b = function(module, "f", I64, types)
    b.ret(write(b, *b.arguments))
    loaded = host().load([host().compile(str(module))])
    kinds = [ctypes.c_void_p if t is PTR else ctypes.c_int64 for t in types]
    called = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(loaded.address("f"))
    called.loaded = loaded  # as long as it is called
    return called


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_its_instruction(name):
    write, meant = OPERATORS[name]
    f = compiled([I64, I64], lambda b, x, y: write(x, y))
    for x, y in ((7, 2), (2, 7), (7, 7), (100, 3)):
        assert f(x, y) == int(meant(x, y))


def test_comparison_is_signed():
    f = compiled([I64], lambda b, x: b.zext(x < 0, I64))
    assert (f(-1), f(1)) == (1, 0)


def test_an_address_is_an_array_of_the_type_that_is_asked_for():
    def write(b, p):
        p[2] = p[0] + p[1]
        p.of(I32)[6] = I32(5)
        p[4] = I8(1)  # the type of the value: one byte, at the fifth
        return p.of(I64).at(1).get(I64) + (p + 8).get(I64)

    numbers = (ctypes.c_int64 * 5)(3, 4, 0, 0, 0)
    assert compiled([PTR], write)(ctypes.addressof(numbers)) == 8
    assert list(numbers) == [3 + (1 << 32), 4, 7, 5, 0]


def test_a_loop_counts():
    def write(b, n):
        total = b.alloca(I64)
        total.set(0)
        with loop(b, 1, n, 2) as i:
            total.set(total.get() + i)
        return total.get()

    f = compiled([I64], write)
    assert [f(n) for n in (0, 1, 2, 6, 7)] == [0, 0, 1, 1 + 3 + 5, 1 + 3 + 5]


def test_an_address_is_a_number_too():
    f = compiled([PTR], lambda b, p: p.address & 7)
    assert f(0x1003) == 3


def test_what_is_not_computed_with_is_llvms_own():
    b = function(ir.Module("test"), "f", I64, [I64])
    (x,) = b.arguments
    assert isinstance(x, Value)
    assert isinstance(b.add(x, x), Value)
    assert isinstance(b.append_basic_block("next"), ir.Block)


def test_a_value_has_no_truth_value():
    b = function(ir.Module("test"), "f", I64, [I64])
    (x,) = b.arguments
    with pytest.raises(TypeError, match=r"use b\.select or b\.if_then"):
        bool(x == 0)
